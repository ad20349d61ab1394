"""Install the course into .venv, then open it or check it: the work behind the Makefile.

    python tools/course.py lab        open the notebooks in JupyterLab
    python tools/course.py test       check everything
    python tools/course.py lint       style and spelling only
    python tools/course.py refresh    run the notebooks again and store what they print
    python tools/course.py html       write the course as web pages
    python tools/course.py bench      time the notebooks' check, and the explorers in a browser
    python tools/course.py colab      write notebooks that carry the helper with them
    python tools/course.py links      write the repository's address into the notebooks
    python tools/course.py mutants    make small faults and see whether the tests notice
    python tools/course.py matrix     check with other versions of Python and the packages
    python tools/course.py steady     check under other circumstances

Words after the command go to the tool behind it. Standard library only, because it runs before
anything is installed; on Windows, write `py -3` for `python`.
"""

import hashlib
import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STAMP = VENV / "course.json"
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
FIRST_PAGE = "notebooks/00_start_here.ipynb"
# JupyterLab's defaults, changed for this .venv alone: no pop-up about news or new versions, and
# the state of explorers saved with a notebook, or it would show "model not found" when reopened.
LAB_DEFAULTS = VENV / "share/jupyter/lab/settings/overrides.json"
LAB_SETTINGS = {
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyter-widgets/jupyterlab-manager:plugin": {"saveState": True},
}

LINT = (
    ("-m", "ruff", "check", "src", "tests", "tools", "notebooks"),
    ("-m", "codespell_lib"),
)
# One kernel per notebook, one worker per processor; more than four gain nothing and cost memory.
# In the order of the files, because those of the browser come first and take longest.
PYTEST = ("-m", "pytest", "--numprocesses=logical", "--maxprocesses=4", "--dist=loadscope")
PYTEST += ("--no-loadscope-reorder",)
BROWSER = ("tools/browser.py",)
RUNTIME = ("tools/runtime.py",)
# What each command needs installed, and what it runs, in order.
COMMANDS = {
    "lab": ({"lab"}, ()),
    "test": ({"lab", "test"}, (*LINT, BROWSER, RUNTIME, PYTEST)),
    "lint": ({"test"}, LINT),
    "refresh": ({"test"}, (("tests/fingerprints.py",), ("tools/refresh.py",))),
    "bench": ({"lab", "test"}, (BROWSER, RUNTIME, ("tools/bench.py",))),
    "colab": ({"test"}, (("tools/colab.py",),)),
    "links": ({"test"}, (("tools/links.py",),)),
    "mutants": ({"lab", "test", "mutants"}, (("tools/mutants.py",),)),
    "matrix": ({"test"}, (("tools/matrix.py",),)),
    "steady": ({"test"}, (("tools/steady.py",),)),
    "html": ({"lab", "test"}, (("tools/export.py",),)),
}

NOT_INSTALLED = (
    "The installation did not finish; pip's lines above say why. If they speak of "
    "connections or of no version found, check the network, then run this again: "
    "it goes on where it stopped."
)


class Stop(Exception):
    """The sentence a reader gets in place of a traceback."""


def say(text):
    print(f"==> {text}", flush=True)


# --- the virtual environment -------------------------------------------------------------------


def python_version():
    """The version of .venv's Python as text, or "" where there is none that runs."""
    ask = "import sys; print(*sys.version_info[:3], sep='.')"
    try:
        run = subprocess.run([PYTHON, "-ISc", ask], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return run.stdout.strip()


def usable(version):
    """Whether .venv can be installed into: its Python is new enough and has pip."""
    if not version or [int(part) for part in version.split(".")] < [3, 11]:
        return False
    return subprocess.run([PYTHON, "-Ic", "import pip"], capture_output=True).returncode == 0


def fingerprint(version):
    """Changes whenever an installation made earlier no longer fits."""
    told = hashlib.sha256(f"{ROOT} {version}".encode())
    for name in ("pyproject.toml", "requirements.txt"):
        told.update((ROOT / name).read_bytes())
    return told.hexdigest()


def installed_extras(mark):
    """The extras that a finished installation with this fingerprint has put into .venv."""
    try:
        stamp = json.loads(STAMP.read_text())
        return set(stamp["extras"]) if stamp["fingerprint"] == mark else set()
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def make_venv():
    if importlib.util.find_spec("venv") is None or importlib.util.find_spec("ensurepip") is None:
        raise Stop(
            "This Python cannot make virtual environments; "
            "on Debian and Ubuntu, `sudo apt install python3-venv` adds what is missing."
        )
    import venv  # only now: where it is missing, the sentence above is what the reader needs

    if VENV.exists():
        say("The .venv here does not work; making it again.")
        shutil.rmtree(VENV)
    else:
        say("Making a virtual environment in .venv.")
    try:
        venv.create(VENV, with_pip=True, symlinks=os.name != "nt")
    except (OSError, subprocess.CalledProcessError) as error:
        raise Stop(f"The virtual environment could not be made: {error}.") from None


def pip(*args, python=PYTHON, **kwargs):
    """Install by pip, into .venv unless another environment's Python is named; True: it worked."""
    # By environment, because it also reaches the pip that pip runs to build the helper.
    brief = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_RETRIES": "2"}
    command = [python, "-m", "pip", "install", *args]
    return subprocess.run(command, cwd=ROOT, env=brief | os.environ, **kwargs).returncode == 0


def pin(name):
    """The line of requirements.txt for a package."""
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    return next(line.strip() for line in lines if line.startswith(f"{name}=="))


def has_torch(python):
    ask = "from importlib.metadata import version; print(version('torch'))"
    run = subprocess.run([python, "-Ic", ask], capture_output=True, text=True)
    return f"torch=={run.stdout.strip().partition('+')[0]}" == pin("torch")


def install_torch(python=PYTHON):
    """Install the build for CPUs by itself, where it can be had."""
    if has_torch(python):
        return
    say(f"Installing {pin('torch')}, the build for CPUs (about 200 MB; a minute or two).")
    from_index = ("--no-deps", "--retries", "1", "--index-url", CPU_INDEX, pin("torch"))
    # Its errors are no news: the sentence below says what follows from them.
    if not pip(*from_index, python=python, stderr=subprocess.DEVNULL):
        say(
            f"torch could not be had from {CPU_INDEX}; it comes with the rest from pip's "
            "usual index, which on Linux is a much larger download (some gigabytes)."
        )


def install(extras):
    """Put the package, its dependencies and the extras into .venv, unless they are there."""
    version = python_version()
    mark = fingerprint(version)
    extras = set(extras) | installed_extras(mark)
    if extras == installed_extras(mark):
        return
    if not usable(version):
        make_venv()
        mark = fingerprint(python_version())
    STAMP.unlink(missing_ok=True)  # an interrupted installation must not look finished

    install_torch()
    say("Installing the rest (a minute or two).")
    target = f".[{','.join(sorted(extras))}]"
    if not pip("--quiet", "-c", "requirements.txt", "-e", target):
        raise Stop(NOT_INSTALLED)
    if "lab" in extras:
        LAB_DEFAULTS.parent.mkdir(parents=True, exist_ok=True)
        LAB_DEFAULTS.write_text(json.dumps(LAB_SETTINGS))
    STAMP.write_text(json.dumps({"fingerprint": mark, "extras": sorted(extras)}))


# --- JupyterLab --------------------------------------------------------------------------------


def chosen_port(text):
    """The port that PORT names, as a number, once it is known to be free."""
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= 65535):
        raise Stop(f"PORT must be a number from 1 to 65535, and it is {text!r}.")
    with socket.socket() as probe:
        if os.name != "nt":  # there, this option would let two servers share a port
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", int(text)))
        except OSError as error:
            raise Stop(
                f"Port {text} cannot be used ({error.strerror}): name another with PORT, "
                "or leave PORT out to take the next free one."
            ) from None
    return int(text)


def has_display():
    if sys.platform != "linux":
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def lab_options():
    options = [
        "--ServerApp.log_level=ERROR",  # leaves the address, and what goes wrong
        "--LabApp.log_level=ERROR",
        "--ServerApp.ip=localhost",
        "--ServerApp.answer_yes=True",  # one Ctrl-C ends it
        f"--ServerApp.root_dir={ROOT}",
        f"--LabApp.default_url=/lab/tree/{FIRST_PAGE}",
        "--KernelManager.transport_encryption=auto",  # or each kernel warns that it has none
    ]
    if os.environ.get("PORT"):
        port = chosen_port(os.environ["PORT"])
        options += [f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        say("You are root, which JupyterLab refuses unless told otherwise: telling it so.")
        options.append("--allow-root")
    if has_display():
        say("Starting JupyterLab; your browser opens in a moment. Ctrl-C here ends it.")
    else:
        say(
            "Starting JupyterLab; there is no display, so open the address below yourself "
            "(one of the last two lines). Ctrl-C here ends it."
        )
        options.append("--no-browser")
    return options


# --- the commands ------------------------------------------------------------------------------


def run(args):
    """Run .venv's Python to its end and return its exit code; Ctrl-C is the child's to handle."""
    # In a virtual environment its own kernel goes before one that the user installed elsewhere.
    environment = os.environ | {"JUPYTER_PREFER_ENV_PATH": "1"}
    child = subprocess.Popen([PYTHON, *args], cwd=ROOT, env=environment)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return child.wait()
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def main(argv):
    if sys.version_info < (3, 11):  # noqa: UP036 (an older Python may well be running this)
        raise Stop(f"Python 3.11 or newer is needed, and this is {sys.version.split()[0]}.")
    if not argv or argv[0] not in COMMANDS:
        raise Stop(f"Say what to do: {', '.join(COMMANDS)}.")
    command, *rest = argv
    extras, steps = COMMANDS[command]
    if command == "lab" and os.environ.get("PORT"):
        chosen_port(os.environ["PORT"])  # told before a long installation, not after
    install(extras)
    if command == "lab":
        steps = [("-m", "jupyterlab", *lab_options())]
    for number, step in enumerate(steps, 1):
        code = run([*step, *(rest if number == len(steps) else ())])
        if code:
            return code
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Stop as stop:
        sys.exit(f"==> {stop}")
    except KeyboardInterrupt:
        sys.exit("\n==> Stopped. Run the same command to go on.")
