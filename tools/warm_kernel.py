"""Kernels that need not import torch again: each is forked from a Python that has.

    python -P warm_kernel.py DOOR              import, say so, and wait at this socket
    python -IS warm_kernel.py DOOR -f FILE     ask for a kernel; ends with it

The first ends when its standard input does. Linux only: elsewhere a fork is not safe here.
"""

import importlib
import json
import os
import select
import signal
import socket
import sys
import threading

IMPORTED = ("torch", "matplotlib.figure", "ipywidgets", "ipykernel.kernelapp")


def wait_at(door):
    for name in IMPORTED:
        importlib.import_module(name)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(door)
        listening.listen()
        print("ready", flush=True)
        os.dup2(2, 1)  # nobody reads what comes after
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for a kernel that has ended
        while sys.stdin not in select.select([listening, sys.stdin], [], [])[0]:
            asking, _ = listening.accept()
            if os.fork() == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                listening.close()
                become_kernel(asking)
            asking.close()


def become_kernel(asking):
    """Run until the kernel is shut down, or the process that asked for it is ended."""
    asked = json.loads(asking.makefile().readline())
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["variables"])
    threading.Thread(target=lambda: os._exit(len(asking.recv(1))), daemon=True).start()
    kernel = importlib.import_module("ipykernel.kernelapp").IPKernelApp
    kernel.launch_instance(argv=asked["arguments"])
    os._exit(0)  # what is left are threads


def ask_at(door, *arguments):
    with socket.socket(socket.AF_UNIX) as asking:
        asking.connect(door)
        asked = {"arguments": arguments, "folder": os.getcwd(), "variables": dict(os.environ)}
        asking.sendall(json.dumps(asked).encode() + b"\n")
        asking.recv(1)


if __name__ == "__main__":
    (ask_at if len(sys.argv) > 2 else wait_at)(*sys.argv[1:])
