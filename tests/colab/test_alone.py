"""The notebooks of `make colab`, each alone in an empty folder, with Colab's versions."""

import re
import subprocess
import zipfile

import colab
import nbformat
import pytest
import runtime
from nbclient.exceptions import CellExecutionError

from notebooks import FOLDER, all_paths, differences, links, read

PLACES = [path.relative_to(FOLDER).as_posix() for path in all_paths()]
START = "00_start_here.ipynb"
every_notebook = pytest.mark.parametrize("place", PLACES)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Where `make colab` has written."""
    folder = tmp_path_factory.mktemp("built")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(colab, "COLAB", folder / "colab")
        colab.main()
    return folder / "colab"


@pytest.fixture(scope="module", autouse=True)
def nothing_is_installed():
    """Around all tests here: the same packages in the same versions before and after."""
    before = runtime.installed()
    assert not [line for line in before if re.match("attention|jupyterlab==", line)]
    yield
    assert runtime.installed() == before


@pytest.fixture(scope="module")
def kernel(nothing_is_installed):
    with runtime.warm() as command:
        yield command


@every_notebook
def test_alone_in_a_folder(place, built, kernel, tmp_path):
    executed = nbformat.read(built / place, nbformat.NO_CONVERT)
    runtime.execute(executed, tmp_path, kernel)
    assert differences(read(FOLDER / place), executed) == []


@every_notebook
def test_what_is_built(place, built):
    """At most 120 KB more than the source, folded, and nothing leads to where it is not."""
    assert (built / place).stat().st_size <= (FOLDER / place).stat().st_size + 120_000
    source, alone = read(FOLDER / place), read(built / place)
    setup = alone.cells[1]
    assert setup.metadata.cellView == "form" and setup.source.startswith("# @title ")
    assert [cell.id for cell in alone.cells] == [cell.id for cell in source.cells]
    assert [c.get("outputs") for c in alone.cells] == [c.get("outputs") for c in source.cells]
    for index, cell in enumerate(alone.cells):
        if cell.cell_type == "code":
            assert index == 1 or cell.source == source.cells[index].source
        else:
            assert not [link for link in links(cell.source) if "://" not in link]


def test_the_zip_holds_them_all(built):
    with zipfile.ZipFile(built / f"{colab.ZIP}.zip") as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
        assert sorted(names) == PLACES
        assert all(archive.read(name) == (built / name).read_bytes() for name in names)


def test_without_the_helper_a_lesson_says_how_to_get_it(tmp_path):
    notebook = nbformat.read(FOLDER / START, nbformat.NO_CONVERT)
    notebook.cells[1].source = colab.links.setup("", "")
    with pytest.raises(CellExecutionError, match="Run `make lab` in the course's folder"):
        runtime.execute(notebook, tmp_path, runtime.cold())


def test_pip_would_install_the_helper_alone(tmp_path):
    """Here with its dependencies, which the set-up cell does not even ask for."""
    wheel = colab.wheel_in(tmp_path)
    command = [runtime.PYTHON, "-m", "pip", "install", "--dry-run", wheel]
    run = subprocess.run(command, env=runtime.variables(), capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    (would,) = re.findall(r"Would install (.*)", run.stdout)
    assert re.fullmatch(r"attention[-_]by[-_]hand-[\d.]+", would)
