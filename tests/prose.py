"""Check that what a lesson's Markdown says in numbers is what its code computed.

Checked are numbers one by one, chains such as `6 / 3 = 2`, whole matrices, lists and tables, and
shapes. All compare intervals: a printed decimal stands for every value that rounds to it.
"""

import ast
import contextlib
import dataclasses
import itertools
import math
import numbers
import re
import types
from collections.abc import Iterable, Iterator
from decimal import Decimal

import numpy as np

from notebooks import SOLUTION, Notebook, pieces, texts

# (notebook, the number, list or shape as printed, or the first line of a table): its source.
LITERATURE: dict[tuple[str, str], str] = {
    ("light/01_five_steps", "0.0005"): "half a unit of the third decimal: what rounding can change",
}

SIZE = 5_000  # of a longer array only the shape is kept: its values would confirm anything
NUMBER = r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d*\.\d+|\d+)(?:e[-+]?\d+)?"
PRINTED_NUMBER = re.compile(rf"(?<![\w.])(?:(?<![\w)}}\]])-)?{NUMBER}(?!\.?\d)")
OUTPUT_NUMBER = re.compile(r"(?<![\w.])-?(?:\d+\.?\d*|\.\d+)(?:e[-+]\d+)?|-?\binf\b")
SEQUENCE = re.compile(rf"-?{NUMBER}(?:(?:, *| +)-?{NUMBER})+")
NOT_COMPUTED = r"\d+ minutes|\| *\d+ *(?=\|)"  # a table's whole numbers are table_claims' matter
SERIES = re.compile(rf"(?<![\w.,[(-])-?{NUMBER}(?:(?:,|,? and) -?{NUMBER}){{3,}}(?!\w)")
ENTRIES = r"[-\d.,\s]"
BRACKETS = re.compile(
    rf"(?<![\w)\]])\[(?:{ENTRIES}|\[(?:{ENTRIES}|\[{ENTRIES}*\])*\])+\]"  # three deep at most
)
SHAPES = [
    re.compile(r"(?<![\w)\]}])\( *[1-9]\d*(?: *, *[1-9]\d*)*(?: *,)? *\)"),
    re.compile(r"(?<![\w)\]}])\( *[A-Za-z]\w* *= *\d+(?: *, *[A-Za-z]\w* *= *\d+)+ *\)"),
    re.compile(r"(?<![\w.,·×*+/=-])(?<![·×*+/=≈-] )\d+(?: ?× ?\d+)+(?![\w.,]*\d| ?[·×*+/=≈-])"),
]
MATRIX = re.compile(
    r"\\begin\{([bpv]?matrix)\}(.*?)\\end\{\1\}(\s*\^\s*\{?\s*(?:\\top|T)\b)?", re.DOTALL
)
PRODUCT = rf"-?{NUMBER}\s*(?:[·×*]|\\cdot|\\times)\s*-?{NUMBER}"
PRODUCTS = re.compile(rf"{PRODUCT}(?:\s*\+\s*{PRODUCT})+")
TABLE = re.compile(r"(?:^ *\|.*\| *(?:\n|$))+", re.MULTILINE)
STATEMENT_ENDS = re.compile(
    r"\\\\|\n|[;:<>→⇒≠≤≥]|\\(?:q?quad|to|[Rr]ightarrow|[Ll]ongrightarrow|implies|iff|mapsto"
    r"|neq?|leq?|geq?|lt|gt|in)\b"
)
RELATION = r"=|≈|\\(?:approx|simeq)(?![a-zA-Z])"
COMMA = r"(?<!\d),|,(?!\d{3}(?!\d))"


class Interval:
    """All values between lo and hi, elementwise; the usual rules of interval arithmetic."""

    def __init__(self, lo, hi):
        self.lo, self.hi = np.asarray(lo, float), np.asarray(hi, float)

    @classmethod
    def stack(cls, *parts):
        return cls(np.stack([p.lo for p in parts]), np.stack([p.hi for p in parts]))

    def corners(self, other, operator):
        with np.errstate(all="ignore"):
            found = [operator(a, b) for a in (self.lo, self.hi) for b in (other.lo, other.hi)]
        return Interval(np.minimum.reduce(found), np.maximum.reduce(found))

    def __neg__(self):
        return Interval(-self.hi, -self.lo)

    def __pos__(self):
        return self

    def __add__(self, other):
        return self.corners(other, np.add)

    def __sub__(self, other):
        return self.corners(other, np.subtract)

    def __mul__(self, other):  # two vectors: their dot product
        product = self.corners(other, np.multiply)
        both = self.lo.ndim and other.lo.ndim
        return Interval(product.lo.sum(), product.hi.sum()) if both else product

    def __truediv__(self, other):
        return self.corners(other, np.divide)

    def __pow__(self, other):
        return self.corners(other, np.power)

    def upright(self):
        return Interval(self.lo[..., None], self.hi[..., None])

    def map(self, function):  # of an increasing function
        return Interval(function(self.lo), function(self.hi))

    def meets(self, lo, hi=None) -> np.ndarray:
        """Elementwise: does [lo, hi] touch this? With room for float32's own error."""
        lo = np.asarray(lo, float)
        hi = lo if hi is None else np.asarray(hi, float)
        slack = 2e-7 * np.maximum(1, np.abs(np.where(np.isfinite(lo), lo, 1)))
        return (lo <= self.hi + slack) & (hi >= self.lo - slack)


def interval(text: str, exact: bool) -> Interval:
    value = Decimal(text.replace(",", ""))
    half = Decimal(0) if exact else Decimal((0, (5,), value.as_tuple().exponent - 1))
    return Interval(float(value - half), float(value + half))


def numbers_in(text: str) -> list[Interval]:
    return [interval(n, "." not in n) for n in re.findall(rf"-?{NUMBER}", text)]


def places(text: str) -> int:
    return max(0, -Decimal(text.replace(",", "")).as_tuple().exponent)


# --- arithmetic ---------------------------------------------------------------------------------

REWRITES = [
    (r"\\(?:left|right|[bB]igg?[lr]?)(?![a-zA-Z])|\\displaystyle", ""),
    (r"(?<=\d)(?:\{,\}|\\,|,)(?=\d{3}(?!\d))", ""),
    (r"\\(?:cdot|times)(?![a-zA-Z])|[·×]", "*"),
    (r"\\div(?![a-zA-Z])|÷", "/"),
    (r"\\[,;!: ]|~", " "),
    (r"\\math(?:rm|it)\s*\{e\}", "e"),
    (r"\\(exp|ln|log|max|sqrt|infty)(?![a-zA-Z])", r" \1 "),
    (r"∞|\binfty\b", "inf"),
    (r"√", " sqrt "),
    (r"\*\*", "^"),
    (r"\\[dt]?frac\s*(\d)\s*(\d)", r"((\1)/(\2))"),
    (r"\b(sqrt|ln|log|exp)\s*(\d+(?:\.\d+)?)", r"\1(\2)"),
]
INNERMOST = [
    (r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}", r"((\1)/(\2))"),
    (r"\bsqrt\s*\{([^{}]*)\}", r"sqrt(\1)"),
    (r"\^\s*\{([^{}]*)\}", r"^(\1)"),
    (r"(?<!\\frac)(?<![\w}])\{([^{}]*)\}(?!\s*\{)", r"(\1)"),
]
TOKEN = re.compile(r"\s*(\d+(?:\.\d+)?|\.\d+|exp|ln|log|sqrt|max|inf|e(?![a-z])|[-+*/^()\[\],])")
FUNCTIONS = {
    "exp": lambda x: x.map(np.exp),
    "ln": lambda x: x.map(np.log),
    "log": lambda x: x.map(np.log),
    "sqrt": lambda x: x.map(np.sqrt),
    "max": lambda *xs: Interval(max(x.lo for x in xs), max(x.hi for x in xs)),
    "vector": Interval.stack,
    "group": lambda *xs: xs[0] if len(xs) == 1 else Interval.stack(*xs),
    "inf": Interval(np.inf, np.inf),
    "e": Interval(math.e, math.e),
}


def is_number(token: str) -> bool:
    return token[:1].isdigit() or token[:1] == "."


def ends_operand(token: str) -> bool:
    return is_number(token) or token in (")", "]", "e", "inf")


def evaluate(text: str, approximate: bool = False) -> Interval | None:
    """The value of a purely numeric expression in LaTeX or plain signs; None if it is not one.

    A number that stands alone is a result: with decimals (or after ≈) it is any value that rounds
    to it. Inside an expression a number with three or more decimals has been rounded, too; one with
    fewer (0.5, 1.25) is exact.
    """
    text = text.replace("−", "-").strip().rstrip(".,")
    for pattern, replacement in REWRITES:
        text = re.sub(pattern, replacement, text)
    before = None
    while text != before:
        before = text
        for pattern, replacement in INNERMOST:
            text = re.sub(pattern, replacement, text)
    tokens, end = [], 0
    while match := TOKEN.match(text, end):
        tokens.append(match[1])
        end = match.end()
    if text[end:].strip() or not any(is_number(t) or t == "inf" for t in tokens):
        return None
    alone = not any(
        t in ("*", "/", "^") or t in FUNCTIONS or (t in "+-" and ends_operand(before))
        for before, t in itertools.pairwise(["", *tokens])
    )
    code, last = "", ""
    for token in tokens:
        if ends_operand(last):
            if is_number(token) and last not in (")", "]"):
                return None  # two numbers side by side are no product
            code += "*" * (is_number(token) or token in ("(", "[") or token in FUNCTIONS)
        if is_number(token):
            exact = places(token) < 3 if not alone else "." not in token and not approximate
            code += f"number({token!r}, {exact})"
        elif token == "(":
            code += "(" if last in FUNCTIONS and last not in ("e", "inf") else "group("
        else:
            code += {"[": "vector(", "]": ")", "^": "**"}.get(token, token)
        last = token
    try:  # only tokens of our own stand in the code
        result = eval(code, {"__builtins__": {}, "number": interval, **FUNCTIONS})
    except (SyntaxError, TypeError, ValueError, AttributeError, NameError):
        return None
    return result if isinstance(result, Interval) and not np.isnan(result.lo).any() else None


def split(text: str, pattern: str) -> list[str]:
    """Like re.split with the separators kept, but never inside brackets."""
    masked, before = text, None
    while masked != before:
        before = masked
        masked = re.sub(r"[(\[{][^()\[\]{}]*[)\]}]", lambda m: "_" * len(m[0]), masked)
    cuts = [0, *(cut for m in re.finditer(pattern, masked) for cut in m.span()), len(text)]
    return [text[a:b] for a, b in itertools.pairwise(cuts)]


def balanced(side: str) -> str:
    side = side.strip().rstrip(".")
    while side.endswith(")") and side.count(")") > side.count("("):
        side = side[:-1].rstrip()
    while side.startswith("(") and side.count("(") > side.count(")"):
        side = side[1:].lstrip()
    return side


def chains(text: str) -> Iterator[list[tuple[str, Interval]]]:
    """The numeric sides of each chain of equal signs; sides with names are passed over."""
    text = re.sub(r"[=!<>]=", ";", MATRIX.sub(" M ", text))
    text = re.sub(r"\\(?:begin|end)\{[a-z*]+\}|&|\\(?:no)?tag\{.*?\}", " ", text)
    text = re.sub(r"(?:\\\\(?:\[.*?\])?|\n)\s*(?==|≈|\\approx)", " ", text)
    text = re.sub(r"(=|≈|\\approx)\s*\n", r"\1 ", text)
    for statement in STATEMENT_ENDS.split(text):
        for chain in split(statement, COMMA)[::2]:
            first, *rest = split(chain, RELATION)
            sides = [("=", first), *zip(rest[::2], rest[1::2], strict=True)]
            values = [
                (balanced(side), evaluate(balanced(side), sign != "=")) for sign, side in sides
            ]
            yield [(side, value) for side, value in values if value is not None]


def chain_claims(text: str, computed: "Numbers") -> Iterator[tuple[str, str]]:
    for numeric in chains(text):
        for side, _ in numeric:
            yield from factor_claims(side, computed)
        for (left, a), (right, b) in itertools.combinations(numeric, 2):
            equal = a.lo.shape == b.lo.shape and b.meets(a.lo, a.hi).all()
            middle = np.round((a.lo + a.hi) / 2, 6).tolist()
            yield f"{left} = {right}", "" if equal else f"is wrong: the left side is {middle}"


def pencil_values(markdown: str) -> Iterator[np.ndarray]:
    """What exact arithmetic in a chain comes to, such as `e^{1} + e^{0.5}` before a sign."""
    for kind, text in pieces(markdown.replace("−", "-")):
        for numeric in chains(chain_text(kind, text)):
            for side, value in numeric:
                written_out = re.search(r"[\^+*/·×√\\]|\d *-", side) and len(numeric) > 1
                if written_out and np.allclose(value.lo, value.hi, rtol=0, atol=1e-9):
                    yield value.lo


def factor_claims(side: str, computed: "Numbers") -> Iterator[tuple[str, str]]:
    """`1·0 + 0·1 + 2·3` spells out a dot product: its factors are two computed rows or columns.

    Without a zero it need not: an author may leave such terms out.
    """
    if PRODUCTS.fullmatch(side):
        factors = numbers_in(side)
        if any(factor.meets(0) for factor in factors):
            for vector in (Interval.stack(*factors[::2]), Interval.stack(*factors[1::2])):
                known = computed.hold(vector) or computed.hold(vector.upright())
                yield side, "" if known else "multiplies what is no computed row or column"


# --- what the notebook computed -----------------------------------------------------------------


class Numbers:
    """Every number, array and shape that was seen."""

    def __init__(self):
        self.arrays: dict[tuple, np.ndarray] = {}
        self.shapes: set[tuple[int, ...]] = set()
        self.literals: set[str] = set()  # the whole numbers in the code
        self._sorted = None

    def add_variables(self, variables: dict) -> None:
        for name, value in variables.items():
            if not name.startswith("_") and name not in ("In", "Out"):
                self.add(value)

    def add(self, value) -> None:
        """Take in a number, a tensor, a module's weights, or a container of such."""
        if isinstance(value, type | types.ModuleType):
            return
        if hasattr(value, "detach"):
            if not value.is_complex():
                self._keep(value.detach().double().numpy())
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
        rows = [[float(n) for n in OUTPUT_NUMBER.findall(line)] for line in text.splitlines()]
        for length, group in itertools.groupby(rows, len):
            if length:
                matrix = np.array(list(group))
                for array in [matrix, *matrix]:
                    self._keep(array, is_tensor=False)

    def _keep(self, array: np.ndarray, is_tensor: bool = True) -> None:
        if is_tensor:
            self.shapes.add(array.shape)
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


# --- claims: pairs of (the claim as printed, what is wrong with it or "") -------------------------


def number_claims(kind: str, text: str, computed: Numbers) -> Iterator[tuple[str, str]]:
    """Decimals, and in prose whole numbers from 10 on, which may also stand in the code.

    Decimals with three or more places are rounded; shorter ones must be exactly so.
    """
    for match in PRINTED_NUMBER.finditer(text):
        percent = bool(re.match(r"\s?\\?%", text[match.end() :]))
        whole = "." not in match[0] and "e" not in match[0]
        if whole and (kind != "prose" or len(match[0].lstrip("-")) < 2):
            continue
        stated = interval(match[0], exact=places(match[0]) + 2 * percent < 3)
        values = np.concatenate([computed.values, computed.values * 100 if percent else []])
        if not stated.meets(values).any() and not (whole and match[0] in computed.literals):
            near = min(values, key=lambda v: abs(v - stated.lo), default=0)
            digits = f"{near:.{places(match[0])}f}"
            wrong = f"was not computed; the nearest number, {near:.6g}, is {digits} when rounded"
            yield match[0], wrong
        else:
            yield match[0], ""


def block_claims(kind: str, text: str, plain: str, computed: Numbers) -> Iterator[tuple[str, str]]:
    """Matrices in math; bracketed lists everywhere; code spans that hold numbers only."""
    found = []
    for match in MATRIX.finditer(text):
        rows = [row.split("&") for row in re.split(r"\\\\(?:\[.*?\])?", match[2]) if row.strip()]
        cells = [[evaluate(cell) for cell in row] for row in rows]
        if len({len(row) for row in cells}) > 1:
            yield match[0], "has rows of different lengths"
        elif all(cell is not None for row in cells for cell in row):
            block = Interval.stack(*(Interval.stack(*row) for row in cells))
            if match[3]:
                block = Interval(block.lo.T, block.hi.T)
            found.append((match[0], block))
    for match in BRACKETS.finditer(plain):
        block = literal(match[0])
        if block is not None and block.lo.size > 1:
            found.append((match[0], block))
    if kind == "code" and SEQUENCE.fullmatch(text.strip("` ")):
        found.append((text, Interval.stack(*numbers_in(text))))
    if kind == "prose":
        for match in SERIES.finditer(plain):
            parts = Interval.stack(*numbers_in(match[0]))
            known = computed.hold(parts, part=True) or computed.hold(parts.upright(), part=True)
            yield match[0], "" if known else "stands in no computed row or column"
    for claim, block in found:
        right = computed.hold(block)
        if block.lo.ndim == 1:  # it may be a column, or a shape, too
            right = right or computed.hold(block.upright()) or tuple(block.lo) in computed.shapes
        yield claim, "" if right else "is no computed array, nor rows or columns of one"


def literal(text: str) -> Interval | None:
    """`[[1, .5], [0, 2]]`, also with spaces alone between the entries."""
    commas = re.sub(r"(?<=[\d\]])\s+(?=[-.\d\[])", ", ", text)
    entries = re.sub(r"-?(?:\d*\.\d+|\d+\.?)", lambda m: repr(m[0].rstrip(".")), commas)
    try:
        lists = np.array(ast.literal_eval(entries))
    except (ValueError, SyntaxError):
        return None
    parts = [interval(n, "." not in n) for n in lists.ravel()]
    lo, hi = np.array([p.lo for p in parts]), np.array([p.hi for p in parts])
    return Interval(lo.reshape(lists.shape), hi.reshape(lists.shape))


def table_claims(markdown: str, computed: Numbers) -> Iterator[tuple[str, str]]:
    """Each numeric cell must belong to a row or to a column that was computed as a whole.

    A row counts from two numeric cells on, a column from two. Label columns are passed over.
    """
    for match in TABLE.finditer(markdown):
        lines = [re.split(r"(?<!\\)\|", line.strip())[1:-1] for line in match[0].splitlines()]
        title = match[0].splitlines()[0].strip()
        body = [[table_cell(cell) for cell in line] for line in lines[2:]]
        rows = [[cell for cell in row if cell is not None] for row in body]
        if not any(len(row) > 1 for row in rows):
            continue
        good_columns = set()
        for j in range(max(len(row) for row in body)):
            column = [row[j] for row in body if j < len(row) and row[j] is not None]
            if len(column) > 1 and computed.hold(Interval.stack(*column).upright()):
                good_columns.add(j)
        wrong = ""
        for line, row, cells in zip(lines[2:], body, rows, strict=True):
            stray = any(c is not None and j not in good_columns for j, c in enumerate(row))
            if len(cells) > 1 and stray and not computed.hold(Interval.stack(*cells)):
                wrong = wrong or f"the row |{'|'.join(line)}| was not computed, nor its columns"
        yield title, wrong


def table_cell(text: str) -> Interval | None:
    return evaluate(split(text.strip(" *_`$"), RELATION)[-1].strip(" *_`$"))


def shape_claims(text: str, computed: Numbers) -> Iterator[tuple[str, str]]:
    plain = re.sub(r"\\times\b", "×", text)
    for pattern in SHAPES:
        for match in pattern.finditer(plain):
            shape = tuple(int(n) for n in re.findall(r"(?<![\w])\d+", match[0]))
            vector = Interval(shape, shape)
            known = shape in computed.shapes or ("(" in match[0] and computed.hold(vector))
            yield match[0], "" if known else f"no tensor of shape {shape} has existed"


def claims(markdown: str, computed: Numbers) -> Iterator[tuple[str, str]]:
    markdown = SOLUTION.sub(lambda m: m[0].replace(m[1], ""), markdown).replace("−", "-")
    yield from table_claims(markdown, computed)
    for kind, text in pieces(markdown):
        plain = text
        if kind == "math":
            plain = re.sub(r"(?<=\d)(?:\{,\}|\\,)(?=\d{3}(?!\d))", ",", text.strip("$"))
            plain = re.sub(r"\\[a-zA-Z]+|\\[,;!: ]", " ", plain)
        elif kind == "prose":
            plain = text = visible(text)
        yield from number_claims(kind, re.sub(NOT_COMPUTED, " ", plain), computed)
        yield from block_claims(kind, text, plain, computed)
        yield from shape_claims(text, computed)
        yield from chain_claims(chain_text(kind, text), computed)


def visible(prose: str) -> str:
    """Without the targets of links and without tags, except an image's, for its alt text."""
    return re.sub(r"\]\([^)]*\)|<(?!img)[^>]+>", " ", prose)


def chain_text(kind: str, text: str) -> str:
    if kind == "prose":  # words end a chain; so do bullets, emphasis and the end of a sentence
        text = visible(text)
        text = re.sub(r"(?m)^\s*(?:[-+*]|\d+\.)\s|\.(?=\s)|\n\s*\n", ";", text)
        text = re.sub(r"[^\d.,+\-/·×÷√()\[\]=≈^ \n]+", ";", text)
    return text.strip("$`") if kind == "fence" else text.strip("$`").replace("\n", " ")


def complaints(
    notebook: Notebook, computed: Numbers, literature: Iterable[tuple[str, str]] = LITERATURE
) -> list[str]:
    allowed = {claim for name, claim in literature if name == notebook.name}
    used, found = set(), []
    for _, cell in notebook.of_type("markdown"):
        computed.add(list(pencil_values(cell.source)))
    for index, cell in notebook.of_type("markdown"):
        for claim, wrong in claims(cell.source, computed):
            if claim in allowed:
                used.add(claim)
            elif wrong:
                found.append(notebook.at(index, f"{claim} {wrong}"))
    unused = sorted(allowed - used)
    return found + [f"{notebook.name}: {claim} is allowed but does not occur" for claim in unused]


def add_cells(notebook: Notebook, computed: Numbers) -> None:
    """Take in what the notebook's code says and what its outputs show."""
    for _, cell in notebook.of_type("code"):
        computed.literals.update(re.findall(r"(?<![\w.])\d+(?![\w.])", cell.source))
        for text in (t for output in cell.outputs for t in texts(output)):
            computed.add_printed(text)
