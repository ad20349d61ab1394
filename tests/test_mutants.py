"""The maker of faults and the judge of tests: each kind makes one small change, in a copy only."""

import random
import sys

import faults
import mutants
import nbformat
import pytest

OF_COSMIC_RAY = {"operator", "comparison", "boundary", "constant", "logic"}  # has tests of its own
KINDS = [
    kind
    for kind in (*faults.NOTEBOOK_KINDS, *faults.HELPER_KINDS)
    if kind.partition(": ")[2] not in {*OF_COSMIC_RAY, "broken"}
]


def cells_of(text):
    return [(c.source, c.get("outputs")) for c in nbformat.reads(text, as_version=4).cells]


@pytest.mark.parametrize("kind", KINDS)
def test_a_fault_is_small_and_in_one_place(kind):
    made = faults.mutants(3, 1, [kind])
    assert made == faults.mutants(3, 1, [kind]) != faults.mutants(3, 2, [kind])
    for mutant in made:
        original = faults.text_of(mutant.path)
        assert mutant.text != original and mutant.before != mutant.after
        if mutant.path.endswith(".ipynb"):
            pairs = zip(cells_of(original), cells_of(mutant.text), strict=True)
            changed = [pair for pair in pairs if pair[0] != pair[1]]
            places = {"cell: reordered": [2, 3, 4, 5], "cell: un-executed": [0, 1]}.get(kind, [1])
            assert len(changed) in places


def test_a_kind_that_has_no_more_faults_is_left_out(monkeypatch):
    few, many = iter([1, None, 2] + [2] * faults.TRIES), iter(range(10, 99))
    monkeypatch.setattr(faults, "in_notebook", lambda rng, kind: next(few))
    monkeypatch.setattr(faults, "in_helper", lambda rng, kind: next(many))
    assert faults.mutants(6, 1, ["prose: table", "helper: axis"]) == [1, 10, 2, 11, 12, 13]
    assert faults.mutants(6, 1, []) == []


def test_a_digit_is_changed_and_nothing_else():
    text = "a 12 b 3.4 c"
    for seed in range(20):
        other = faults.other_digit(random.Random(seed), text, [(5, len(text))])
        differing = [(a, b) for a, b in zip(text, other, strict=True) if a != b]
        assert len(differing) == 1 and text.index("b") < 7 and other.startswith("a 12")
        assert all(digit.isdigit() for digit in differing[0])


def test_prose_is_neither_code_nor_mathematics_nor_a_link():
    source = "is 1 `2` $3$ [4](5.md)\n\n| 6 |\n\n```\n7\n```\n"
    assert [source[a:b] for a, b in faults.prose(source)] == ["1", "4"]


def test_a_mistake_is_left_out():
    code = 'x = {"a": Exercise(f, mistakes={"One.": g, **more}), "b": exercise(f, "c, d")}\n'
    made = {faults.without_a_mistake(random.Random(seed), code) for seed in range(40)}
    one = ("={** more}", '={"One.": g}', "'d'", "'c'")
    assert len(made) == 4 and all(any(part in text for text in made) for part in one)


TRIAL = "import os\n\n\ndef test_it():\n    assert os.path.exists('there')\n"


@pytest.mark.skipif(sys.platform == "win32", reason="forks")
def test_a_part_of_the_tests_runs_in_a_child(tmp_path, monkeypatch):
    (tmp_path / "test_trial.py").write_text(TRIAL)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "there"
    file.write_text("1")
    assert mutants.pytest_code(tmp_path, ("test_trial.py",)) == 0
    assert mutants.pytest_code(tmp_path, ("test_trial.py",), file.unlink) == 1
    assert "1 failed" in (tmp_path / mutants.SAID).read_text()


def test_a_fault_is_made_in_a_copy_and_taken_back(tmp_path):
    copy = mutants.copy_to(tmp_path / "copy")
    (mutant,) = faults.mutants(1, 1, ["picture: alt text"])
    with mutants.changed(copy / mutant.path, mutant.text):
        assert (copy / mutant.path).read_text("utf-8") == mutant.text
        assert (faults.ROOT / mutant.path).read_text("utf-8") == faults.text_of(mutant.path)
    assert (copy / mutant.path).read_text("utf-8") == faults.text_of(mutant.path)
    assert not (copy / ".git").exists()


@pytest.mark.parametrize(
    ("caught", "entry", "code", "said"),
    [
        (True, None, 0, "1 /   1"),
        (False, None, 1, "SURVIVED a kind, Makefile\n- help:\n+ helpless:"),
        (
            False,
            {"path": "Makefile", "line": "help:", "after": ["help less:"]},
            0,
            "and 1 explained",
        ),
        (
            False,
            {"path": "Makefile", "line": "help:", "after": ["helpless:"]},
            0,
            "EQUIVALENT a kind, Makefile\n- help:\n+ helpless:",
        ),
        (False, {"path": "Makefile", "line": "help:", "after": ["hello:"]}, 1, "SURVIVED"),
        (True, {"path": "Makefile", "line": "no such line"}, 1, "no line of Makefile reads"),
    ],
)
def test_the_report(caught, entry, code, said, monkeypatch, capsys):
    monkeypatch.setattr(mutants, "equivalents", lambda: [entry] if entry else [])
    mutant = faults.Mutant("a kind", "Makefile", "", "help:", "helpless:", ())
    mutants.tell(mutant, caught)
    assert mutants.report([(mutant, caught)]) == code
    assert said in capsys.readouterr().out


def test_each_equivalent_has_its_line_and_a_reason():
    for entry in mutants.equivalents():
        assert mutants.occurs(entry)
        assert len(entry["why"].split()) > 3
