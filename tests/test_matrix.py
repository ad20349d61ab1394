"""The versions the course is checked with: the workflows, their list, and tools/matrix.py."""

import itertools
import json
import subprocess
import sys
import tomllib

import matrix
import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from notebooks import ROOT

CELLS = matrix.listed()
COLUMNS = ("os", "python", "torch", "numpy", "matplotlib", "ipywidgets")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
RANGES = {item.name: item.specifier for item in map(Requirement, PROJECT["dependencies"])}
CELL = {"os": matrix.SYSTEM, "python": "3.11", "torch": "newest", "numpy": "2.1.3"}


def column(name):
    return {cell[name] for cell in CELLS}


def test_workflows_pass_githubs_schema():
    workflows = sorted((ROOT / ".github" / "workflows").iterdir())
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema"]
    command += ["vendor.github-workflows", *workflows]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout


def test_any_two_values_meet_in_a_cell():
    for one, other in itertools.combinations(COLUMNS, 2):
        met = {(cell[one], cell[other]) for cell in CELLS}
        assert met == set(itertools.product(column(one), column(other))), (one, other)


@pytest.mark.parametrize("name", RANGES)
def test_each_package_is_checked_at_both_ends_of_its_range(name):
    (bound,) = RANGES[name]
    oldest, *_ = sorted(map(Version, column(name) - {"newest"}))
    assert bound.operator == ">="
    assert oldest.release[:2] == Version(bound.version).release
    assert "newest" in column(name)


def test_the_list_begins_with_the_oldest_python_and_holds_the_tested_torch():
    assert PROJECT["requires-python"] == f">={min(column('python'), key=Version)}"
    assert column("os") == {"ubuntu", "macos", "windows"}
    assert matrix.course.pin("torch").removeprefix("torch==") in column("torch")


def test_a_cell_takes_the_tested_set_with_its_own_versions():
    asked = matrix.requirements(CELL | {"pyparsing": "3.2.5"})
    own = {"torch": "torch", "numpy": "numpy==2.1.3", "pyparsing": "pyparsing==3.2.5"}
    assert own.items() <= asked.items()
    tested = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert set(asked.values()) - set(own.values()) <= set(tested)
    assert {"matplotlib", "ipywidgets", "nbval", "pytest"} <= asked.keys()


def test_what_this_machine_has_not_is_told():
    with pytest.raises(matrix.NotHere, match=f"this system is {matrix.SYSTEM}"):
        matrix.environment(CELL | {"os": "beos"})
    with pytest.raises(matrix.NotHere, match=r"no Python 2\.0 here"):
        matrix.environment(CELL | {"python": "2.0"})


@pytest.mark.parametrize(
    "outcomes, code",
    [
        (["passed", "not run (why)"], 0),
        (["passed", "failed"], 1),
        (["passed", "not installed"], 1),
        (["not run (why)"], 1),
    ],
    ids=str,
)
def test_only_cells_that_passed_and_cells_not_here_are_well(monkeypatch, capsys, outcomes, code):
    monkeypatch.delenv("CELL", raising=False)
    monkeypatch.setattr(matrix, "listed", lambda: [CELL] * len(outcomes))
    told = iter(outcomes)
    monkeypatch.setattr(matrix, "outcome", lambda cell: next(told))
    assert bool(matrix.main()) == bool(code)
    said = capsys.readouterr().out
    assert all(f"==> {outcome}: os {matrix.SYSTEM}" in said for outcome in outcomes)


def test_on_github_the_one_given_cell_is_run(monkeypatch):
    run = []
    monkeypatch.setenv("CELL", json.dumps(CELL))
    monkeypatch.setattr(matrix, "outcome", lambda cell: run.append(cell) or "passed")
    assert matrix.main() == 0
    assert run == [CELL]
