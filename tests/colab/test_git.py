"""The notebooks after `make links`, their set-up cell as it is, with Colab's versions.

git takes the address in the cell for a copy of this checkout; pip does not notice.
"""

import shutil
import subprocess
import sys

import nbformat
import pytest
import runtime

from notebooks import FOLDER, ROOT, all_paths, differences, read

PLACES = [path.relative_to(FOLDER).as_posix() for path in all_paths()]
REPOSITORY, TAG = "owner/attention-by-hand", "v1.0"
ADDRESS = f"https://github.com/{REPOSITORY}"
GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@b.c")


@pytest.fixture(scope="module")
def linked(tmp_path_factory):
    """A released copy of the course after `make links`."""
    copy = tmp_path_factory.mktemp("git")
    for name in ("notebooks", "src", "tools"):
        left_out = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
        shutil.copytree(ROOT / name, copy / name, ignore=left_out)
    for name in ("README.md", "LICENSE", "pyproject.toml"):
        shutil.copy(ROOT / name, copy)
    for words in (["init"], ["add", "."], ["commit", "-m", "1.0"], ["tag", TAG]):
        subprocess.run([*GIT, *words], cwd=copy, check=True, capture_output=True)
    links = [sys.executable, "tools/links.py", REPOSITORY]
    subprocess.run(links, cwd=copy, check=True, capture_output=True)
    return copy


def test_the_linter_is_content_with_the_links(linked):
    lint = [sys.executable, "-m", "ruff", "check", "--no-cache", "notebooks"]
    run = subprocess.run(lint, cwd=linked, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout


@pytest.fixture(scope="module")
def lead(linked):
    """Environment variables by which the address leads git to the copy."""
    return {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{linked.as_posix()}.insteadOf",
        "GIT_CONFIG_VALUE_0": ADDRESS,
    }


@pytest.fixture(scope="module")
def python(linked, lead, tmp_path_factory):
    """A runtime in which the first notebook has been run, and so has installed the helper."""
    python = runtime.fresh(tmp_path_factory.mktemp("runtime"))
    before = runtime.installed(python)
    empty = tmp_path_factory.mktemp("empty")
    run_and_compare(PLACES[0], linked, runtime.cold(python), empty, lead)
    (added,) = runtime.installed(python) - before
    assert added.startswith(f"attention-by-hand @ git+{ADDRESS}@")
    assert before < runtime.installed(python)  # nothing went, and nothing changed its version
    return python


def run_and_compare(place, linked, kernel, folder, lead):
    executed = nbformat.read(linked / "notebooks" / place, nbformat.NO_CONVERT)
    assert f"git+{ADDRESS}@{TAG}" in executed.cells[1].source
    runtime.execute(executed, folder, kernel, **lead)
    assert differences(read(FOLDER / place), executed) == []


def test_the_setup_cell_installs_the_helper_alone(python):
    assert any("attention-by-hand" in line for line in runtime.installed(python))


@pytest.fixture(scope="module")
def kernel(python):
    with runtime.warm(python) as command:
        yield command


@pytest.mark.parametrize("place", PLACES[1:])
def test_by_git(place, linked, kernel, tmp_path):
    run_and_compare(place, linked, kernel, tmp_path, {})
