"""Check that what a lesson's Markdown says in numbers is what its code computed.

Checked are numbers one by one, chains such as `6 / 3 = 2`, whole matrices, lists and tables,
shapes, and names such as `float16`. A number must have been computed near the place that states
it: in the same section, or in the code cell before or after. All compare intervals: a printed
decimal stands for every value that rounds to it.
"""

import ast
import itertools
import re
from collections.abc import Iterable, Iterator

import numpy as np
import torch
from arithmetic import (
    MATRIX,
    NUMBER,
    RELATION,
    Interval,
    chains,
    evaluate,
    interval,
    numbers_in,
    places,
    split,
)
from computed import NAME_WITH_DIGIT, Numbers, Trace
from facts import EVERYWHERE

from notebooks import SOLUTION, pieces

# (notebook, the number, name, list or shape as printed, or the first line of a table): its source.
LITERATURE: dict[tuple[str, str], str] = {
    ("bank/01_one_row_two_meanings", "word2vec"): "Mikolov and others, 2013",
    ("light/01_five_steps", "0.0005"): "half a unit of the third decimal: what rounding can change",
}

PRINTED_NUMBER = re.compile(rf"(?<![\w.])(?:(?<![\w)}}\]])-)?{NUMBER}(?!\.?\d)")
WHOLE = re.compile(r"(?<![\w.])\d{1,3}(?:,\d{3})+(?!,?\w|\.\d)|(?<![\w.])\d+(?!\w|\.\d)")
SEQUENCE = re.compile(rf"-?{NUMBER}(?:(?:, *| +)-?{NUMBER})+")
SERIES = re.compile(rf"(?<![\w.,[(-])-?{NUMBER}(?:(?:,|,? and) -?{NUMBER}){{2,}}(?!\w)")
ENTRIES = r"[-\d.,\s]"
BRACKETS = re.compile(
    rf"(?<![\w)\]])\[(?:{ENTRIES}|\[(?:{ENTRIES}|\[{ENTRIES}*\])*\])+\]"  # three deep at most
)
SHAPES = [
    re.compile(r"(?<![\w)\]}])\( *[1-9]\d*(?: *, *[1-9]\d*)*(?: *,)? *\)"),
    re.compile(r"(?<![\w)\]}])\( *[A-Za-z]\w* *= *\d+(?: *, *[A-Za-z]\w* *= *\d+)+ *\)"),
    re.compile(r"(?<![\w.,·×*+/=-])(?<![·×*+/=≈-] )\d+(?: ?× ?\d+)+(?![\w.,]*\d| ?[·×*+/=≈-])"),
]
PRODUCT = rf"-?{NUMBER}\s*(?:[·×*]|\\cdot|\\times)\s*-?{NUMBER}"
PRODUCTS = re.compile(rf"{PRODUCT}(?:\s*\+\s*{PRODUCT})+")
TABLE = re.compile(r"(?:^ *\|.*\| *(?:\n|$))+", re.MULTILINE)
ITEM = r"(?m)^(\d+)\. "
MINUTES = re.compile(r"\*\*Time:\*\*.*|(?m:^\|.*\.ipynb\).*\|$)")  # a test of their own
FACT = re.compile(r"<<(.+?)>>")

Claims = Iterator[tuple[str, str]]  # the claim as printed, and what is wrong with it or ""


def number_claims(text: str, computed: Numbers) -> Claims:
    """Decimals: with three or more places they are rounded; shorter ones must be exactly so."""
    for match in PRINTED_NUMBER.finditer(text):
        percent = bool(re.match(r"\s?\\?%", text[match.end() :]))
        if "." not in match[0] and "e" not in match[0] and not percent:
            continue
        stated = interval(match[0], exact=places(match[0]) + 2 * percent < 3)
        values = np.concatenate([computed.values, computed.values * 100 if percent else []])
        wrong = ""
        if not stated.meets(values).any():
            nearest = min(values, key=lambda v: abs(v - stated.lo), default=0)
            rounded = f"{nearest:.{places(match[0])}f}"
            wrong = f"was not computed; the nearest number, {nearest:.6g}, rounds to {rounded}"
        yield match[0], wrong


def block_claims(kind: str, text: str, plain: str, computed: Numbers) -> Claims:
    """Matrices in math; bracketed lists everywhere; code spans that hold numbers only."""
    found = []
    for match in MATRIX.finditer(text):
        rows = [row.split("&") for row in re.split(r"\\\\(?:\[.*?\])?", match[2]) if row.strip()]
        cells = [[evaluate(cell) for cell in row] for row in rows]
        if len({len(row) for row in cells}) > 1:
            yield match[0], "has rows of different lengths"
        elif cells and all(cell is not None for row in cells for cell in row):
            block = Interval.stack(*(Interval.stack(*row) for row in cells))
            if match[3]:
                block = Interval(block.lo.T, block.hi.T)
            found.append((match[0], block))
            name = re.search(r"(\w+) *= *$", text[: match.start()])
            named = computed.named.get(name[1], []) if name and not match[3] else []
            if named and not any(block.equals(Interval(array, array)) for array in named):
                yield f"{name[0]}{match[0]}", f"is not the {name[1]} of the code near here"
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
            yield match[0], "" if known or even(parts) else "stands in no computed row or column"
    for claim, block in found:
        right = computed.hold(block)
        if block.lo.ndim == 1:  # it may be a column, or a shape, too
            right = right or computed.hold(block.upright()) or tuple(block.lo) in computed.shapes
        yield claim, "" if right else "is no computed array, nor rows or columns of one"


def even(series: Interval) -> bool:
    """Whether the series counts in even steps, such as 3, 5, 7."""
    steps = np.diff(series.lo)
    return bool((steps == steps[0]).all() and steps[0])


def literal(text: str) -> Interval | None:
    """`[[1, .5], [0, 2]]`, also with spaces alone between the entries."""
    commas = re.sub(r"(?<=[\d\]])\s+(?=[-.\d\[])", ", ", text)
    entries = re.sub(r"-?(?:\d*\.\d+|\d+\.?)", lambda m: repr(m[0].rstrip(".")), commas)
    try:
        lists = np.array(ast.literal_eval(entries))
    except (ValueError, SyntaxError):
        return None
    parts = [interval(n, exact=places(n) < 3) for n in lists.ravel()]
    lo, hi = np.array([p.lo for p in parts]), np.array([p.hi for p in parts])
    return Interval(lo.reshape(lists.shape), hi.reshape(lists.shape))


def table_claims(markdown: str, computed: Numbers) -> Claims:
    """The numeric cells of a table are one computed tensor, or each column of them is one.

    So rows keep their order. Only columns and rows with two numeric cells or more count.
    """
    for match in TABLE.finditer(markdown):
        lines = [re.split(r"(?<!\\)\|", line.strip())[1:-1] for line in match[0].splitlines()]
        title = match[0].splitlines()[0].strip()
        body = [[table_cell(cell) for cell in line] for line in lines[2:]]
        rows = [[cell for cell in row if cell is not None] for row in body]
        rows = [Interval.stack(*row) for row in rows if len(row) > 1]
        if not rows:
            continue
        columns = [[row[j] for row in body if j < len(row)] for j in range(len(body[0]))]
        columns = [[cell for cell in column if cell is not None] for column in columns]
        columns = [Interval.stack(*column).upright() for column in columns if len(column) > 1]
        known = len({row.lo.shape for row in rows}) == 1 and computed.hold(Interval.stack(*rows))
        wrong = ""
        if not known and not (columns and all(map(computed.hold, columns))):
            wrong = "is a table whose numbers are neither one computed tensor nor computed columns"
            for row in rows:
                if not computed.hold(row):
                    wrong += f"; nor was the row {row.lo.tolist()} computed"
                    break
        yield title, wrong


def table_cell(text: str) -> Interval | None:
    return evaluate(split(text.strip(" *_`$"), RELATION)[-1].strip(" *_`$"))


def shape_claims(text: str, computed: Numbers) -> Claims:
    plain = re.sub(r"\\times\b", "×", text)
    for pattern in SHAPES:
        for match in pattern.finditer(plain):
            shape = tuple(int(n) for n in re.findall(r"(?<![\w])\d+", match[0]))
            vector = Interval(shape, shape)
            known = shape in computed.shapes or ("(" in match[0] and computed.hold(vector))
            yield match[0], "" if known else f"no tensor of shape {shape} has existed near here"


def name_claims(kind: str, text: str, whole: Numbers) -> Claims:
    """`float16` or *d3*: a name with a digit in it is one that the code or an output has."""
    if kind != "math":
        for name in NAME_WITH_DIGIT.findall(text):
            known = name in whole.names or hasattr(torch, name) or hasattr(torch.nn, name)
            yield name, "" if known else "is a name that neither code nor an output has"


def whole_claims(markdown: str, computed: Numbers) -> Claims:
    """A whole number that no other claim covers is one that stands in the code or outputs nearby.

    Those in the checked chains and lists of the same cell are near, too.
    """
    rest, near = [], set(computed.wholes)
    items = [int(number) for number in re.findall(ITEM, markdown)]
    in_order = all(item in (1, before + 1) for before, item in itertools.pairwise([0, *items]))
    yield "a numbered list", "" if in_order else f"counts {items}"
    markdown = re.sub(ITEM, "", markdown)
    for kind, text in pieces(markdown):
        text = visible(text) if kind == "prose" else text
        for part, covered in [*lists(kind, text), *proven(kind, text)]:
            near.update(int(n.replace(",", "")) for n in covered)
            whole_part = rf"(?<![\w.,]){re.escape(part)}(?!\w|[.,]\d)"
            text = re.sub(whole_part, lambda _, p=part, c=covered: without(p, c), text, count=1)
        if kind == "math":  # 2n is 2 times n
            text = re.sub(r"(?<=\d)(?=[A-Za-z\\])|_", " ", text.replace("{,}", ","))
        rest.append(text)
    for text in rest:
        for match in WHOLE.finditer(text):
            after = re.match(r" [a-z]+", text[match.end() :])
            claim = match[0] + (after[0] if after else "")
            known = int(match[0].replace(",", "")) in near and not re.match(r"0\d", match[0])
            yield claim, "" if known else "is a number that neither code nor outputs near here show"


def lists(kind: str, text: str) -> Iterator[tuple[str, list[str]]]:
    """Matrices, lists, shapes and series, which have claims of their own, and their numbers."""
    patterns = [MATRIX, BRACKETS, *SHAPES, *[SERIES] * (kind == "prose")]
    for match in (match for pattern in patterns for match in pattern.finditer(text)):
        if len(WHOLE.findall(match[0])) > 1:
            yield match[0], WHOLE.findall(match[0])


def proven(kind: str, text: str) -> Iterator[tuple[str, list[str]]]:
    """The sides of chains, and those of their numbers with which alone the chain is right."""
    for numeric in chains(chain_text(kind, text)):
        for side, _ in numeric:
            others = [value for other, value in numeric if other is not side]
            yield side, [match[0] for match in WHOLE.finditer(side) if decides(match, others)]


def decides(number: re.Match, others: list[Interval]) -> bool:
    """Whether the other sides of the chain differ as soon as this number of a side is another."""
    other_number = str(int(number[0].replace(",", "")) + 1)
    side = number.string[: number.start()] + other_number + number.string[number.end() :]
    value = evaluate(side)
    return any(value is None or not value.equals(other) for other in others)


def without(text: str, numbers: list[str]) -> str:
    for number in numbers:
        text = re.sub(rf"(?<![\w.,]){number}(?![\w.,]*\d)", " ", text, count=1)
    return text


def proven_by_facts(
    markdown: str, templates: Iterable[str], worth: list[dict]
) -> tuple[str, list[tuple[str, str]]]:
    """The text with blanks for the numbers that a fact vouches for, and the claims of the facts.

    Where two facts fit, the one that holds counts.
    """
    matches = [(fact, match) for fact in templates for match in pattern_of(fact).finditer(markdown)]
    right, wrong = set(), {}
    for fact, match in matches:
        for expression, span in zip(FACT.findall(fact), match.regs[1:], strict=True):
            number = markdown[slice(*span)]
            values = {there[expression] for there in worth if expression in there}
            if any(interval(number, "." not in number).meets(value) for value in values):
                right.add(span)
            else:
                expected = " or ".join(f"{value:g}" for value in sorted(values)) or "not computed"
                wrong[span] = f"says {number}, but {expression} is {expected}"
    letters = list(markdown)
    for start, end in right:
        letters[start:end] = " " * (end - start)
    claims = []
    for _, match in matches:
        faults = [wrong[span] for span in match.regs[1:] if span in wrong and span not in right]
        claims.append((re.sub(r"\s+", " ", match[0]), "; ".join(faults)))
    return "".join(letters), claims


def pattern_of(fact: str) -> re.Pattern:
    """The fact's words, any space between them, and a group for each number."""
    found = ""
    for words, expression in itertools.zip_longest(FACT.split(fact)[::2], FACT.findall(fact)):
        found += r"\s+".join(re.escape(part) for part in re.split(r"\s+", words))
        if expression:  # a bare digit stands for a whole number alone
            found += r"(-?\d+)(?!\.?\d)" if expression.isdigit() else rf"(-?{NUMBER})(?!\.?\d)"
    return re.compile(rf"(?<![\d.]){found}" if fact.startswith("<<") else found)


def claims(
    markdown: str,
    near: Numbers,
    whole: Numbers | None = None,
    facts: Iterable[str] = (),
    worth: Iterable[dict[str, float]] = (),
) -> Claims:
    near = Numbers(near)
    near.add_results(results(markdown))
    for kind, text in pieces(markdown):
        yield from chain_claims(chain_text(kind, text), near)
    unproven, found = proven_by_facts(MINUTES.sub("", markdown), facts, list(worth))
    yield from found
    yield from table_claims(unproven, near)
    yield from whole_claims(unproven, near)
    for kind, text in pieces(unproven):
        plain = text
        if kind == "math":
            plain = re.sub(r"(?<=\d)(?:\{,\}|\\,)(?=\d{3}(?!\d))", ",", text.strip("$"))
            plain = re.sub(r"\\[a-zA-Z]+|\\[,;!: ]", " ", plain)
        elif kind == "prose":
            plain = text = visible(text)
        yield from number_claims(plain, near)
        yield from block_claims(kind, text, plain, near)
        yield from shape_claims(text, near)
        yield from name_claims(kind, text, whole or near)


def chain_claims(text: str, computed: Numbers) -> Claims:
    for numeric in chains(text):
        for side, _ in numeric:
            yield from factor_claims(side, computed)
        for (left, a), (right, b) in itertools.combinations(numeric, 2):
            middle = np.round((a.lo + a.hi) / 2, 6).tolist()
            yield f"{left} = {right}", "" if b.equals(a) else f"is wrong: the left side is {middle}"


def pencil_values(markdown: str) -> Iterator[float]:
    """What exact arithmetic in a chain comes to, such as `e^{1} + e^{0.5}` before a sign."""
    for sides in chain_sides(markdown):
        for value, calculated in sides:
            exact = np.allclose(value.lo, value.hi, rtol=0, atol=1e-9)
            if calculated and exact and len(sides) > 1:
                yield value.lo


def results(markdown: str) -> Iterator[float]:
    """What stands alone beside a calculation that comes to it: `1.6487 + 1 = 2.6487`."""
    for sides in chain_sides(markdown):
        for alone, calculated in itertools.product(sides, sides):
            middle = (calculated[0].lo + calculated[0].hi) / 2
            if calculated[1] and not alone[1] and alone[0].equals(Interval(middle, middle)):
                yield middle


def chain_sides(markdown: str) -> Iterator[list[tuple[Interval, bool]]]:
    """The values of each chain's sides, and whether a side calculates something."""
    for kind, text in pieces(markdown):
        for numeric in chains(chain_text(kind, text)):
            yield [(v, bool(re.search(r"[\^+*/·×√\\]|\d *-", side))) for side, v in numeric]


def factor_claims(side: str, computed: Numbers) -> Claims:
    """`1·0 + 0·1 + 2·3` spells out a dot product: its factors are two computed rows or columns.

    Without a zero it need not: an author may leave such terms out.
    """
    if PRODUCTS.fullmatch(side):
        factors = numbers_in(side)
        if any(factor.meets(0) for factor in factors):
            for vector in (Interval.stack(*factors[::2]), Interval.stack(*factors[1::2])):
                known = computed.hold(vector) or computed.hold(vector.upright())
                yield side, "" if known else "multiplies what is no computed row or column"


def plain(markdown: str) -> str:
    """Without the code of solutions, which run, and with one sign for minus."""
    return SOLUTION.sub(lambda m: m[0].replace(m[1], ""), markdown).replace("−", "-")


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
    trace: Trace,
    facts: Iterable[str] = (),
    literature: Iterable[tuple[str, str]] = LITERATURE,
) -> list[str]:
    notebook = trace.notebook
    allowed = {claim for name, claim in literature if name == notebook.name}
    used, found, pencil = set(), [], Numbers()
    texts = {index: plain(cell.source) for index, cell in notebook.of_type("markdown")}
    for text in texts.values():
        pencil.add_results(pencil_values(text))
    whole = Numbers(trace.whole, pencil)
    for index, text in texts.items():
        near, worth = Numbers(trace.near(index), pencil), trace.worth_near(index)
        for claim, wrong in claims(text, near, whole, (*EVERYWHERE, *facts), worth):
            if claim in allowed:
                used.add(claim)
            elif wrong:
                found.append(notebook.at(index, f"{claim} {wrong}"))
    idle = [f"{claim} is allowed but does not occur" for claim in sorted(allowed - used)]
    lost = [fact for fact in facts if not any(map(pattern_of(fact).search, texts.values()))]
    idle += [f"no text reads {fact!r}, as tests/facts.py has it" for fact in lost]
    return found + [f"{notebook.name}: {sentence}" for sentence in idle]


def expressions(facts: Iterable[str]) -> frozenset[str]:
    return frozenset(e for fact in (*EVERYWHERE, *facts) for e in FACT.findall(fact))
