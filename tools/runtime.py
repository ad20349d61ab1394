"""A stand-in for Colab in build/runtime: an environment with its versions, without the helper.

python tools/runtime.py     make it, unless it is there and made from the same pins
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import course
from jupyter_client import AsyncKernelManager
from jupyter_client.kernelspec import KernelSpecManager
from nbclient import NotebookClient

ROOT = course.ROOT
PINS = ROOT / "tests" / "colab" / "requirements.txt"
RUNTIME = ROOT / "build" / "runtime"
PYTHON = RUNTIME / course.PYTHON.relative_to(course.VENV)
STAMP = RUNTIME / "made-from"
SECONDS_PER_CELL = 120
# Not Colab's: the torch of the course, and what tests the explorers.
ADDED = [course.pin(name) for name in ("torch", "hypothesis", "pytest")]


def fingerprint():
    """Changes whenever an environment made earlier no longer fits."""
    return "\n".join([sys.version, str(RUNTIME), *ADDED, PINS.read_text()])


def make():
    course.say("Making an environment with Colab's versions in build/runtime (some minutes).")
    shutil.rmtree(RUNTIME, ignore_errors=True)
    venv.create(RUNTIME, with_pip=True, symlinks=os.name != "nt")
    course.install_torch(PYTHON)
    if not course.pip("--quiet", *ADDED, "-r", PINS, python=PYTHON):
        raise course.Stop(course.NOT_INSTALLED)
    STAMP.write_text(fingerprint())


def variables(**added):
    """The environment variables of a process in the runtime: nothing leads to the helper here."""
    return {name: text for name, text in os.environ.items() if name != "PYTHONPATH"} | added


def installed(python=PYTHON):
    """What `pip freeze` says, line by line."""
    command = [python, "-m", "pip", "freeze", "--all"]
    run = subprocess.run(command, env=variables(), capture_output=True, text=True, check=True)
    return set(run.stdout.splitlines())


def fresh(folder):
    """A runtime of its own in this folder: it sees what build/runtime has. Gives its Python."""
    venv.create(folder, symlinks=os.name != "nt")
    python = folder / PYTHON.relative_to(RUNTIME)
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    theirs, own = (
        subprocess.run([name, "-Ic", ask], capture_output=True, text=True, check=True).stdout
        for name in (PYTHON, python)
    )
    Path(own.strip(), "runtime.pth").write_text(theirs)
    return python


def cold(python=PYTHON):
    """The command of a kernel that imports everything itself, as Colab's."""
    launcher = [python, "-Xfrozen_modules=off", "-m", "ipykernel_launcher", "-f"]
    return [*map(str, launcher), "{connection_file}"]


@contextlib.contextmanager
def warm(python=PYTHON):
    """The command of a kernel that finds torch imported: less than half of the time."""
    if sys.platform != "linux":
        yield cold(python)
        return
    tool = Path(__file__).with_name("warm_kernel.py")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "env": variables()}
    with tempfile.TemporaryDirectory() as folder:
        door = Path(folder, "door")
        waiting = [python, "-P", "-Xfrozen_modules=off", tool, door]
        with subprocess.Popen(waiting, **pipes) as process:
            assert process.stdout.readline() == b"ready\n"
            yield [*map(str, [python, "-IS", tool, door]), "-f", "{connection_file}"]


def execute(notebook, folder, argv, **added):
    """Run a notebook in a kernel that this command starts, in this folder; in place.

    added: environment variables. Each cell's metadata tells when it ran.
    """
    with tempfile.TemporaryDirectory() as specs:
        spec = Path(specs, "python3", "kernel.json")
        spec.parent.mkdir()
        spec.write_text(json.dumps({"argv": argv, "display_name": "", "language": "python"}))
        found = KernelSpecManager(kernel_dirs=[specs])
        client = NotebookClient(
            notebook,
            km=AsyncKernelManager(kernel_name="python3", kernel_spec_manager=found),
            timeout=SECONDS_PER_CELL,
            store_widget_state=False,
            extra_arguments=["--log-level=ERROR"],
        )
        client.execute(cleanup_kc=True, cwd=str(folder), env=variables(**added))


def main():
    if not STAMP.exists() or STAMP.read_text() != fingerprint():
        make()


if __name__ == "__main__":
    try:
        main()
    except course.Stop as stop:
        sys.exit(f"==> {stop}")
