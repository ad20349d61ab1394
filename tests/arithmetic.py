"""Pencil arithmetic as it stands in Markdown, worked out with intervals.

A printed decimal stands for every value that rounds to it.
"""

import itertools
import math
import re
from collections.abc import Iterator
from decimal import Decimal

import numpy as np

NUMBER = r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d*\.\d+|\d+)(?:e[-+]?\d+)?"
MATRIX = re.compile(
    r"\\begin\{([bpv]?matrix)\}(.*?)\\end\{\1\}(\s*\^\s*\{?\s*(?:\\top|T)\b)?", re.DOTALL
)
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

    def map(self, function):  # of a function that rises or falls all the way between lo and hi
        ends = function(self.lo), function(self.hi)
        return Interval(np.minimum(*ends), np.maximum(*ends))

    def meets(self, lo, hi=None, error=2e-7) -> np.ndarray:
        """Elementwise: does [lo, hi] touch this? With room for the error of float32."""
        lo = np.asarray(lo, float)
        hi = lo if hi is None else np.asarray(hi, float)
        slack = error * np.maximum(1, np.abs(np.where(np.isfinite(lo), lo, 1)))
        return (lo <= self.hi + slack) & (hi >= self.lo - slack)

    def equals(self, other: "Interval") -> bool:
        """Whether the two may stand for the same numbers."""
        same_shape = self.lo.shape == other.lo.shape
        return same_shape and bool(self.meets(other.lo, other.hi, error=1e-9).all())


def interval(text: str, exact: bool) -> Interval:
    value = Decimal(text.replace(",", ""))
    half = Decimal(0) if exact else Decimal((0, (5,), value.as_tuple().exponent - 1))
    return Interval(float(value - half), float(value + half))


def numbers_in(text: str) -> list[Interval]:
    """As they stand in a list: with three places or more they are rounded."""
    return [interval(n, exact=places(n) < 3) for n in re.findall(rf"-?{NUMBER}", text)]


def places(text: str) -> int:
    return max(0, -Decimal(text.replace(",", "")).as_tuple().exponent)


REWRITES = [
    (r"\\(?:left|right|[bB]igg?[lr]?)(?![a-zA-Z])|\\displaystyle", ""),
    (r"(?<=\d)(?:\{,\}|\\,|,)(?=\d{3}(?!\d))", ""),
    (r"\\(?:cdot|times)(?![a-zA-Z])|[·×]", "*"),
    (r"\\div(?![a-zA-Z])|÷", "/"),
    (r"\\[,;!: ]|~", " "),
    (r"\\math(?:rm|it)\s*\{e\}", "e"),
    (r"\\(exp|ln|log|sin|cos|max|sqrt|infty)(?![a-zA-Z])", r" \1 "),
    (r"∞|\binfty\b", "inf"),
    (r"√", " sqrt "),
    (r"\*\*", "^"),
    (r"\\[dt]?frac\s*(\d)\s*(\d)", r"((\1)/(\2))"),
    (r"\b(sqrt|ln|log|exp|sin|cos)\s*(\d+(?:\.\d+)?)", r"\1(\2)"),
]
INNERMOST = [
    (r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}", r"((\1)/(\2))"),
    (r"\bsqrt\s*\{([^{}]*)\}", r"sqrt(\1)"),
    (r"\^\s*\{([^{}]*)\}", r"^(\1)"),
    (r"(?<!\\frac)(?<![\w}])\{([^{}]*)\}(?!\s*\{)", r"(\1)"),
]
TOKEN = re.compile(
    r"\s*(\d+(?:\.\d+)?|\.\d+|exp|ln|log|sin|cos|sqrt|max|inf|e(?![a-z])|[-+*/^()\[\],])"
)
FUNCTIONS = {
    "exp": lambda x: x.map(np.exp),
    "ln": lambda x: x.map(np.log),
    "log": lambda x: x.map(np.log),
    "sqrt": lambda x: x.map(np.sqrt),
    "sin": lambda x: x.map(np.sin),
    "cos": lambda x: x.map(np.cos),
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
