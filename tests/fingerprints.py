"""What the exercises take for right and for wrong, and what the lessons compute, as stored.

A fingerprint plays for them the part that a stored output plays for a cell: whatever changes them
shows, also where no output depends on it. `make refresh` stores them; `git diff` then tells which
have changed.
"""

import dataclasses
import json
import math
import numbers
import sys
from pathlib import Path

import numpy as np
import torch

sys.path.append(str(Path(__file__).resolve().parent.parent / "tools"))  # as pytest does by itself
import refresh

from attention_by_hand.exercises import EXERCISES
from notebooks import FOLDER, all_paths, read, run_solved

ANSWERS, VALUES = (Path(__file__).with_name(f"{name}.json") for name in ("answers", "values"))
INFINITE, NOT_A_NUMBER = 999.0, 333.0
TOLERANCE = {"rel": 1e-4, "abs": 2e-3}


def flat_tensors(value):
    """The numbers in a tensor, an array, or what holds such, as flat tensors, in order."""
    if isinstance(value, torch.Tensor | np.ndarray | numbers.Real):
        try:
            return [torch.as_tensor(value).detach().double().flatten()]
        except (TypeError, RuntimeError):  # an array of words
            return []
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = [getattr(value, field.name) for field in dataclasses.fields(value)]
    parts = value.values() if isinstance(value, dict) else value
    if not isinstance(parts, list | tuple | type({}.values())):
        return []
    return [found for part in parts for found in flat_tensors(part)]


def fingerprint(value):
    """One number in which each number of the value has a weight of its own, or None."""
    found = flat_tensors(value)
    if not found:
        return None
    flat = torch.cat(found)
    flat = flat.nan_to_num(nan=NOT_A_NUMBER, posinf=INFINITE, neginf=-INFINITE)
    size = max(len(flat), 1) ** 0.5
    weights = torch.cos(torch.arange(len(flat), dtype=torch.float64))
    sum_, typical = float(flat @ weights) / size, float(flat.norm()) / size
    # Once as it is and once as if the numbers were about 1; what is nearly 0 may be rounding.
    return round(sum_ + sum_ / max(typical, 0.05) + math.log1p(len(flat)), 3)


def of_exercise(exercise):
    """The fingerprint of the right answer and of each mistake, for each of the inputs."""
    inputs = [()] if exercise.inputs is None else exercise.inputs()
    answers = {"right": exercise.right, **exercise.mistakes}
    return {
        name: [fingerprint(answer(*arguments)) for arguments in inputs]
        for name, answer in answers.items()
    }


def of_cell(notebook, index, variables, before):
    """The fingerprints of the variables that the cell has made or changed; `before` is updated."""
    found = {}
    for name, value in variables.items():
        mark = None if name.startswith("_") or name in ("In", "Out") else fingerprint(value)
        if mark is not None and before.get(name) != mark:
            found[name] = before[name] = mark
    return {} if refresh.measures(notebook.cells[index]) else found


def of_lesson(path):
    """Cell by cell; a lesson that stops has those of the cells before."""
    notebook, before, found = read(path), {}, {}

    def after_cell(index, variables):
        found[notebook.cells[index].id] = of_cell(notebook, index, variables, before)

    run_solved(notebook, after_cell)
    return found


def stored(file):
    return json.loads(file.read_text(encoding="utf-8"))


def store(file, found):
    """Two levels of lines, so that a difference names what has changed."""
    lines = []
    for key, marks in found.items():
        told = [f"  {json.dumps(k, ensure_ascii=False)}: {json.dumps(v)}" for k, v in marks.items()]
        lines.append(f" {json.dumps(key)}: {{\n" + ",\n".join(told) + "\n }")
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8", newline="\n")


def main():
    store(ANSWERS, {key: of_exercise(EXERCISES[key]) for key in sorted(EXERCISES)})
    lessons = {path.relative_to(FOLDER).as_posix(): of_lesson(path) for path in all_paths()}
    store(VALUES, lessons)


if __name__ == "__main__":
    main()
