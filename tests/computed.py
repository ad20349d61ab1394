"""What a notebook computed: every number and array, in all and near each cell."""

import contextlib
import dataclasses
import itertools
import numbers
import re
import types

import numpy as np
import torch
from arithmetic import Interval

from notebooks import Notebook, solved_source, texts

SIZE = 500  # of a longer array only the shape is kept: its values would confirm anything
OUTPUT_NUMBER = re.compile(r"(?<![\w.])-?(?:\d+\.?\d*|\.\d+)(?:e[-+]\d+)?|-?\binf\b")
CODE_NUMBER = re.compile(r"(?<![\w.])(?:\d[\d_]*\.?\d*|\.\d+)(?:e[-+]?\d+)?(?!\w)")
NAME_WITH_DIGIT = re.compile(r"\b(?=\w*[A-Za-z])\w*\d\w*")


class Numbers:
    """Every number, array and shape that was seen."""

    def __init__(self, *parts: "Numbers"):
        self.arrays: dict[tuple, np.ndarray] = {}
        self.shapes: set[tuple[int, ...]] = set()
        self.wholes: set[int] = set()  # what the code writes, an output shows, or a scalar is
        self.names: set[str] = set()  # such as float16
        self.named: dict[str, list[np.ndarray]] = {}  # what the code cells beside a text assign
        for part in parts:
            self.arrays |= part.arrays
            self.shapes |= part.shapes
            self.wholes |= part.wholes
            self.names |= part.names
            self.named |= part.named
        self._sorted = None

    def add_variables(self, variables: dict) -> None:
        for name, value in variables.items():
            if not name.startswith("_") and name not in ("In", "Out"):
                self.add(value)

    def add(self, value) -> None:
        """Take in a number, a tensor, a module's weights, or a container of such."""
        if isinstance(value, type | types.ModuleType):
            return
        if isinstance(value, torch.Tensor):
            if not value.is_complex():
                self._keep(as_array(value))
        elif isinstance(value, np.ndarray | np.generic | numbers.Real):
            with contextlib.suppress(ValueError, TypeError):  # an array of words, say
                self._keep(np.asarray(value).astype(float))
        elif hasattr(value, "state_dict"):
            self.add(dict(value.state_dict()))
        elif dataclasses.is_dataclass(value):
            self.add([getattr(value, field.name) for field in dataclasses.fields(value)])
        elif isinstance(value, dict):
            self.add(list(value.values()))
        elif isinstance(value, list | tuple | set):
            items = list(value)
            for item in items:
                self.add(item)
            with contextlib.suppress(ValueError, TypeError, RuntimeError):  # ragged, or no numbers
                self._keep(np.array(items, dtype=float))

    def add_printed(self, text: str) -> None:
        """Take in each line's numbers as a row, and lines with equally many as a matrix."""
        self.names.update(NAME_WITH_DIGIT.findall(text))
        rows = [[float(n) for n in OUTPUT_NUMBER.findall(line)] for line in text.splitlines()]
        for length, group in itertools.groupby(rows, len):
            if length:
                matrix = np.array(list(group))
                self._keep(matrix, is_tensor=False)
                for row in matrix.tolist():
                    self._keep_row(row)

    def add_results(self, values) -> None:
        """Take in what pencil arithmetic came to."""
        for value in values:
            self._keep(value, is_tensor=False)

    def add_source(self, source: str) -> None:
        """Take in what the code writes: whole numbers, and each line's numbers as a row."""
        self.names.update(NAME_WITH_DIGIT.findall(source))
        for line in source.splitlines():
            self._keep_row([float(n.replace("_", "")) for n in CODE_NUMBER.findall(line)])

    def _keep_row(self, row: list[float]) -> None:
        self.wholes.update(abs(int(n)) for n in row if n.is_integer())
        if row:
            self._keep(np.array(row), is_tensor=False)

    def _keep(self, array: np.ndarray, is_tensor: bool = True) -> None:
        if is_tensor:
            self.shapes.add(array.shape)
            self.wholes.update(array.shape)
            if array.ndim == 0 and float(array).is_integer():
                self.wholes.add(abs(int(array)))
        if 0 < array.size <= SIZE:
            self.arrays[array.shape, array.tobytes()] = array
            self._sorted = None

    @property
    def values(self) -> np.ndarray:
        if self._sorted is None:
            flat = [a.ravel() for a in self.arrays.values()] or [np.empty(0)]
            self._sorted = np.unique(np.concatenate(flat))
            self._sorted = self._sorted[np.isfinite(self._sorted)]
        return self._sorted

    def hold(self, block: Interval, part: bool = False) -> bool:
        """Is the block a whole vector, or a matrix's rows in full, or its columns in full?

        With a decimal in it, or if `part`, it may be any part without gaps.
        """
        while block.lo.ndim < 2:
            block = Interval(block.lo[None], block.hi[None])
        if block.lo.ndim > 2:
            return all(
                self.hold(Interval(lo, hi)) for lo, hi in zip(block.lo, block.hi, strict=True)
            )
        rows, columns = block.lo.shape
        part = part or (block.hi > block.lo).any()
        for array in self.arrays.values():
            views = [array.reshape(1, 1, -1), array.reshape(1, -1, 1)]
            if array.ndim >= 2:
                views = [array.reshape(-1, *array.shape[-2:])]
            for view in views:
                _, height, width = view.shape
                full = (columns == width and (array.ndim > 1 or rows == height)) or (
                    rows == height > 1
                )
                if rows > height or columns > width or not (full or part):
                    continue
                windows = np.lib.stride_tricks.sliding_window_view(view, (1, rows, columns))
                if block.meets(windows).all(axis=(-1, -2)).any():
                    return True
        return False


def as_array(tensor: torch.Tensor) -> np.ndarray:
    """A copy, since the lesson may go on and change the tensor in place."""
    return tensor.detach().double().numpy().copy()


class Trace:
    """What a run of a notebook computed, cell by cell.

    `expressions` are evaluated after each cell: what they were worth there stands in `worth`.
    """

    def __init__(self, notebook: Notebook, given: dict, expressions: frozenset[str] = frozenset()):
        self.notebook, self.expressions = notebook, expressions
        self.whole = Numbers()
        self.whole.add_variables(given)
        self.cells: dict[int, Numbers] = {}
        self.worth: dict[int, dict[str, float]] = {}
        self.assigned: dict[int, dict[str, np.ndarray]] = {}

    def after_cell(self, index: int, variables: dict) -> None:
        source, here = solved_source(self.notebook, index), Numbers()
        used = set(re.findall(r"[^\W\d]\w*", source)) & variables.keys()
        here.add_variables({name: variables[name] for name in used})
        targets = " ".join(re.findall(r"(?m)^([\w, ]+?) = ", source))
        self.assigned[index] = {
            name: as_array(variables[name])
            for name in used & set(targets.replace(",", " ").split())
            if isinstance(variables[name], torch.Tensor)
        }
        here.add_source(source)
        for output in self.notebook.cells[index].outputs:
            for text in texts(output):
                here.add_printed(text)
        self.cells[index], self.worth[index] = here, {}
        self.whole.add_variables(variables)
        for expression in self.expressions:
            # It may name what comes later, or fail anyhow; a trained number is a number, too.
            with contextlib.suppress(Exception), torch.no_grad():
                self.worth[index][expression] = float(eval(expression, variables))

    def finish(self) -> None:
        self.whole = Numbers(self.whole, *self.cells.values())

    def near(self, index: int) -> Numbers:
        """Of a Markdown cell: its section's code, and the code cells before and after it.

        The opening and the ending speak of the whole notebook.
        """
        if index in (0, len(self.notebook.cells) - 1):
            return self.whole
        heads = [i for i, c in self.notebook.of_type("markdown") if re.search("(?m)^## ", c.source)]
        first = max((head for head in heads if head <= index), default=0)
        end = min((head for head in heads if head > index), default=len(self.notebook.cells))
        section = {i for i in self.cells if first < i < end}
        found = Numbers(*(self.cells[i] for i in sorted(section | self.beside(index))))
        for i in self.beside(index):
            for name, value in self.assigned[i].items():
                found.named.setdefault(name, []).append(value)
        return found

    def worth_near(self, index: int) -> list[dict[str, float]]:
        """What the expressions were worth before and after a Markdown cell, and at the end."""
        return [self.worth[i] for i in {*self.beside(index), max(self.cells)}]

    def beside(self, index: int) -> set[int]:
        before = [i for i in self.cells if i < index][-1:]
        return {*before, *[i for i in self.cells if i > index][:1]}
