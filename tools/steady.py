"""Run the suite under circumstances that are not ours: `make steady`, on Linux and as root.

A copy of the course, in a folder with spaces and letters of other scripts, is checked twice with
the same environment; only the tests in a browser and in Colab's stand-in are left out:

1. with one thread, a German locale, Nepal's time, and all files in reverse order;
2. with two threads, no locale, Newfoundland's time, without a network, and by an ordinary user
   who may read the course and not write into it. It takes root to arrange this.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import course
import matrix

PYTEST = (sys.executable, *matrix.PYTEST, "-p", "no:cacheprovider")
NOT_COPIED = shutil.ignore_patterns(".git", ".venv", "build", ".*_cache", "__pycache__")
NOBODY = 65534
# A new network has no loopback until it is told to, and kernels speak through it. Nobody may
# read everything, because root's Python may lie in root's home, and write nothing.
AS_NOBODY_OFFLINE = (
    *("unshare", "--net", "sh", "-c", 'ip link set lo up && exec setpriv "$@"', "setpriv"),
    *("--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"),
    *("--inh-caps", "+dac_read_search", "--ambient-caps", "+dac_read_search"),
)


def backwards(folder):
    """Every file of the suite in reverse order."""
    files = [*folder.glob("tests/test_*.py"), *folder.glob("notebooks/**/*.ipynb")]
    return [path.relative_to(folder) for path in sorted(files, reverse=True)]


def passes(title, folder, home, command, **environment):
    """Whether the suite passes in the folder."""
    course.say(title)
    environment |= {"HOME": home, "PYTHONPATH": folder / "src"}
    return subprocess.run(command, cwd=folder, env=os.environ | environment).returncode == 0


def main():
    if sys.platform != "linux" or os.geteuid():
        return "==> On Linux, as root: sudo .venv/bin/python tools/steady.py"
    with tempfile.TemporaryDirectory() as parent:
        folder, home = Path(parent, "a course, 注意 & Übung"), Path(parent, "home")
        shutil.copytree(course.ROOT, folder, ignore=NOT_COPIED)
        home.mkdir()
        first = passes(
            "One thread, de_DE.UTF-8, Asia/Kathmandu, in reverse order.",
            folder,
            home,
            [*PYTEST, *backwards(folder)],
            OMP_NUM_THREADS="1",
            LC_ALL="de_DE.UTF-8",
            TZ="Asia/Kathmandu",
        )
        Path(parent).chmod(0o755)
        nobodys = Path(parent, "nobody")
        nobodys.mkdir()
        os.chown(nobodys, NOBODY, NOBODY)
        second = passes(
            "Two threads, C, America/St_Johns, offline, by an ordinary user who may not write.",
            folder,
            nobodys,
            [*AS_NOBODY_OFFLINE, *PYTEST],
            OMP_NUM_THREADS="2",
            LC_ALL="C",
            TZ="America/St_Johns",
        )
    course.say(f"{first + second} of 2 runs passed.")
    return int(not (first and second))


if __name__ == "__main__":
    sys.exit(main())
