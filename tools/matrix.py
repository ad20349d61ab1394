"""Check the course with other versions of what it stands on: `make matrix`.

The list of cells is the one in .github/workflows/test.yml. Each cell that this machine can have
gets an environment under build/matrix/, which is kept: the tested set with the cell's versions in
place. There every notebook is run again and compared, and every test but those in a browser and
in Colab's stand-in. The others are named at the end, each with the reason. On GitHub the variable
CELL holds one cell as JSON, and that one is run.
"""

import json
import os
import shutil
import subprocess
import sys
import tomllib

import course

WORKFLOW = course.ROOT / ".github" / "workflows" / "test.yml"
FOLDER = course.ROOT / "build" / "matrix"
SYSTEM = {"linux": "ubuntu", "darwin": "macos", "win32": "windows"}.get(sys.platform)
# Browsers and Colab's stand-in have versions of their own.
PYTEST = (*course.PYTEST, "--ignore=tests/browser", "--ignore=tests/colab")
PASSED, FAILED, NOT_INSTALLED = "passed", "failed", "not installed"


class NotHere(Exception):
    """Why a cell cannot be run on this machine."""


def listed():
    """The cells of the workflow, each a dictionary: os, python and the versions of packages."""
    import yaml  # only here: a cell on GitHub is run before anything is installed

    jobs = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]
    return jobs["versions"]["strategy"]["matrix"]["include"]


def name(cell):
    return ", ".join(" ".join(item) for item in cell.items())


def requirements(cell):
    """What pip is asked for: what the helper and its tests require, in the tested versions or,
    where the cell names one, in the cell's."""
    project = tomllib.loads((course.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    required = project["dependencies"] + project["optional-dependencies"]["test"]
    lines = {package: course.pin(package) for package in (line.split(">=")[0] for line in required)}
    own = {key: version for key, version in cell.items() if key not in ("os", "python")}
    for package, version in own.items():
        lines[package] = package if version == "newest" else f"{package}=={version}"
    return lines


def python(version):
    """A Python of this version."""
    ask = "import sys; print(*sys.version_info[:2], sep='.')"
    for found in filter(None, (sys.executable, shutil.which(f"python{version}"))):
        run = subprocess.run([found, "-Ic", ask], capture_output=True, text=True)
        if run.stdout.strip() == version:
            return found
    raise NotHere(f"there is no Python {version} here")


def environment(cell):
    """The Python of the cell's environment, with everything installed.

    torch is asked of its index for CPUs alone, and of what this machine keeps itself: its usual
    index would send gigabytes for graphics cards.
    """
    if cell["os"] != SYSTEM:
        raise NotHere(f"this system is {SYSTEM}")
    folder = FOLDER / "-".join(cell.values())
    inside = folder / course.PYTHON.relative_to(course.VENV)
    base = python(cell["python"])
    if not inside.exists():
        subprocess.run([base, "-m", "venv", folder], check=True)
    pip = [inside, "-m", "pip", "install", "--quiet", "--upgrade", "--disable-pip-version-check"]
    asked = requirements(cell)
    torch = asked.pop("torch")
    from_index = ["--no-deps", "--retries", "1", "--index-url", course.CPU_INDEX, torch]
    if subprocess.run([*pip, *from_index], stderr=subprocess.DEVNULL).returncode:
        raise NotHere(f"no build of {torch} for CPUs can be had for Python {cell['python']}")
    subprocess.run([*pip, *asked.values(), "-e", ".[test]"], cwd=course.ROOT, check=True)
    return inside


def outcome(cell):
    """In a word and a reason, what became of a cell."""
    course.say(name(cell))
    try:
        inside = environment(cell)
        subprocess.run([inside, *PYTEST], cwd=course.ROOT, check=True)
    except NotHere as reason:
        return f"not run ({reason})"
    except subprocess.CalledProcessError as error:
        return FAILED if "pytest" in error.cmd else NOT_INSTALLED
    return PASSED


def main():
    given = os.environ.get("CELL")
    cells = [json.loads(given)] if given else listed()
    outcomes = [outcome(cell) for cell in cells]
    for cell, told in zip(cells, outcomes, strict=True):
        course.say(f"{told}: {name(cell)}")
    if PASSED not in outcomes:
        return "==> No cell was run and passed."
    return int(FAILED in outcomes or NOT_INSTALLED in outcomes)


if __name__ == "__main__":
    sys.exit(main())
