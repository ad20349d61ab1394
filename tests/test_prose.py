"""The checker of numbers in prose: it passes what is right and catches what is not."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from arithmetic import evaluate
from computed import Numbers, Trace
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from prose import claims, complaints, expressions, plain

from notebooks import Notebook

X = [[1, 0, 1, 0], [0, 1, 0, 1], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 1]]
scaled = np.array(X) @ np.array(X).T / 2
exps = np.exp(scaled)
weights = exps / exps.sum(axis=-1, keepdims=True)
context = weights @ np.array(X)
VARIABLES = {
    "X": X,
    "scaled": scaled,
    "exps": exps,
    "sums": exps.sum(axis=-1),
    "weights": weights,
    "context": context,
    "masked": np.where(np.tri(2, dtype=bool), np.sqrt([[8, 2], [2, 0.5]]), -np.inf),
    "batch": np.zeros((2, 5, 4)),
    "ratio": 16.5396,
    "parameters": [36864, 524288],
}

DECIMALS = """
It's keeps .3137 of itself, gives 0.1154 to *a* and `.1903` to each of the others; its row sums
to 8.664. In context: $.6943$, **.3057**, .504 and .496, a ratio of 16.540.
"""
CHAINS = r"""
The score is 1·1 + 0·0 + 1·1 + 0·0 = 2, and 2 / √4 = 1.
$$e^{1} + e^{0} + 3 \cdot e^{0.5} \approx 8.6644, \quad \frac{e^{1}}{8.6644} \approx .3137$$
$\text{scaled} = \frac{2}{\sqrt{4}} = 1$ and $\left(1 + 3\right) \times 2^2 = 16$, `3 * 4 = 12`.
$$\begin{aligned} z &= 0.5 \cdot 4 + 2 \\ &= 4 \end{aligned}$$
$2 \cdot [1, 0, 1, 0] + [0, 1, 0, 1] = [2, 1, 2, 1]$ and $[1,0,1,0] \cdot [1, 1, 0, 0] = 1$.
$\frac{36{,}864}{2} = 18{,}432$
"""
BLOCKS = r"""
$$X = \begin{bmatrix} 1 & 0 & 1 & 0 \\ 0 & 1 & 0 & 1 \\ 1 & 1 & 0 & 0 \end{bmatrix}, \quad
\begin{pmatrix} 2\sqrt{2} & -\infty \\ \sqrt{2} & .7071 \end{pmatrix}$$

Its row is `[.3137, .1154, .1903, .1903, .1903]`, or `[.6943 .3057 .5040 .4960]` once mixed.
"""
TABLE = """
| token | id | to It's | to a | word |
|:--|--:|--:|--:|---|
| It's | 1001 | .3137 | .1154 | one |
| a | 1002 | .1154 | **.3137** | two |
| shine | 1003 | .1903 | .1903 | |
"""
SHAPES = r"X is `(5, 4)`, a batch `[2, 5, 4]` (B=2, T=5, d=4), weights 5 × 5 or $5 \times 5$."
RIGHT = {
    "decimals": DECIMALS,
    "chains": CHAINS,
    "blocks": BLOCKS,
    "table": TABLE,
    "shapes": SHAPES,
}


@pytest.fixture(scope="module")
def computed():
    numbers = Numbers()
    numbers.add_variables(VARIABLES | {"ids": [1001, 1002, 1003], "half": 0.5, "z": [2, 1, 2, 1]})
    return numbers


def wrong(text, computed, *facts_and_worth):
    found = claims(plain(text), computed, computed, *facts_and_worth)
    return [f"{claim} {why}" for claim, why in found if why]


@pytest.mark.parametrize("kind", RIGHT)
def test_right_text_gives_no_complaint(kind, computed):
    assert wrong(RIGHT[kind], computed) == []


def mutants(text):
    """The text with one digit changed: each digit in turn, to the next and to the one before."""
    for i, sign in enumerate(text):
        for digit in {(int(sign) + 1) % 10, (int(sign) - 1) % 10} if sign.isdigit() else ():
            yield f"{text[:i]}{digit}{text[i + 1 :]}"


@pytest.mark.parametrize(
    ("kind", "share"),
    [("decimals", 0.97), ("chains", 1), ("blocks", 1), ("table", 1), ("shapes", 0.8)],
)  # a shape may turn into another true one, and .504 into another number that was computed
def test_a_changed_digit_is_caught(kind, share, computed):
    changed = list(mutants(RIGHT[kind]))
    missed = [text for text in changed if not wrong(text, computed)]
    assert len(missed) <= (1 - share) * len(changed), missed


def test_a_tables_rows_keep_their_order(computed):
    head, line, first, second, third = TABLE.strip().splitlines()
    assert wrong("\n".join([head, line, second, first, third]), computed)


@pytest.mark.parametrize(
    "text",
    [
        "It's is .305 in context.",  # .3057 cut off, not rounded
        "minus −.3137",
        "a share of 31.3%",
        r"$\sqrt{2} = 1.415$",
        r"$e^1 \approx 3 \approx 2.8$",
        r"$\frac{1}{4} = \text{a quarter} = .31$",
        r"$2 \cdot .1903 = .3137$",
        "so 2 + 2 = 5.",
        "about .32 of it",  # .3137 to two places would be .31, and that was not computed either
        "its id is 1004",
        "the first column is 1, 0, 1, 1, 1",
        r"$1 \cdot 1 + 1 \cdot 0 + 1 \cdot 0 + 1 \cdot 0 = 1$",  # true, but no such row
        "`[0, 1, 0]` is a part of a row only",
        "```\n  1*1 + 0*1\n= 2\n```",
        "rows of `[0, 0, 0, 1]`",
        "`.3137 .1903 .1154`",
        r"$\begin{bmatrix} 1 & 0 \\ 0 & 1 & 0 \end{bmatrix}$",
        r"$\begin{bmatrix} 0 & 1 & 0 & 0 \\ 1 & 0 & 1 & 0 \end{bmatrix}$",  # rows exchanged
        "| | a | b |\n|-|-|-|\n| It's | .3137 | .3137 |",
        "of shape (4, 5)",
        "(B=5, T=2, d=4)",
    ],
)
def test_wrong_text_is_caught(text, computed):
    assert wrong(text, computed)


@pytest.mark.parametrize(
    "text",
    [
        "It's is .306 in context, that is 31.4% of `a`.",
        "Python 4 has 36,864 cells, see [here](http://a.b/2.5).",
        r"$\text{scaled} = Z = A$, $d_k = 4$, `dim=-1`, `X.sum(dim=-1) = 4`",
        "**Time:** 15 minutes\n\nid 1003; the first column is 1, 0, 1, 0 and 1",
        r"$2 < 3 = 3$, $1 = 1 \Rightarrow 2 = 2$, $a = 1, b = 2$, $1 \ne 2 = 2$",
        r"$.1903 + .3137 = .504$",  # .5040 exactly, within the roundings of its parts
        r"$\begin{bmatrix} q_1 \\ 2 \end{bmatrix}$",
        r"$\begin{bmatrix} 1 \\ 0 \\ 1 \\ 0 \\ 1 \end{bmatrix}$",
        r"$\begin{bmatrix} 1 & 0 & 1 & 0 & 1 \\ 0 & 1 & 1 & 0 & 0 \end{bmatrix}^\top$",
        "| word | minutes |\n|-|-|\n| [one](a.ipynb) | 15 |",
        "<details><summary>Solution</summary>\n\n```python\nx = .777\n```\n\n</details>",
    ],
)
def test_right_text_is_passed(text, computed):
    assert wrong(text, computed) == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r"\frac{1}{2}", 0.5),
        (r"\tfrac12", 0.5),
        (r"\frac{e^{2}}{\sqrt{4} + 1}", 2.463019),
        (r"2\left(1 + 3\right)", 8),
        (r"-2^2 + \exp(0)", -3),
        (r"\max(1, 3) - \ln(1)", 3),
        (r"36{,}864 / 2", 18432),
        ("√4 · 2", 4),
        (r"\text{two}", None),
        (r"x + 2", None),
        ("2 3", None),
    ],
)
def test_evaluate(text, value):
    result = evaluate(text)
    assert result is None if value is None else result.meets(value)


def code_cell(source, text=""):
    outputs = [new_output("stream", text=text)] if text else []
    return new_code_cell(source, outputs=outputs)


def trace_of(cells, variables, facts=()):
    """The trace of a run in which each code cell leaves the variables behind."""
    notebook = Notebook(Path("01_blend.ipynb"), new_notebook(cells=cells))
    trace = Trace(notebook, {}, expressions(facts))
    for index, _ in notebook.of_type("code"):
        trace.after_cell(index, variables)
    trace.finish()
    return trace


def test_output_and_containers_count():
    variables = {"steps": Steps(np.array([[0.125]])), "_hidden": 0.375, "w": {"a": [1.5]}}
    trace = trace_of([code_cell("steps, w", "a  .25 3\nb  .75 4\n")], variables)
    text = r"`.25 3`, .125, 1.5, $\begin{bmatrix} .25 & 3 \\ .75 & 4 \end{bmatrix}$"
    assert wrong(text, trace.whole) == []
    assert wrong(".375", trace.whole)


@dataclass
class Steps:
    weights: np.ndarray


MARKDOWN = new_markdown_cell


def test_complaints_name_the_place_and_the_nearest_number():
    cells = [code_cell("context"), MARKDOWN("## Round once\n\nIt's is .305."), MARKDOWN("End")]
    trace = trace_of(cells, VARIABLES)
    assert complaints(trace, literature={}) == [
        "01_blend, cell 2 ('## Round once'): .305 was not computed; "
        "the nearest number, 0.3057, rounds to 0.306"
    ]
    assert complaints(trace, literature={("01_blend", ".305"): "a paper"}) == []
    assert complaints(trace, literature={("01_blend", ".3"): "a paper"})[1:] == [
        "01_blend: .3 is allowed but does not occur"
    ]


def test_a_number_must_be_near():
    def cells(middle):
        said = [MARKDOWN("# Count"), MARKDOWN("## Early"), code_cell("early", "7")]
        return [*said, MARKDOWN("## Late"), code_cell("1"), MARKDOWN(middle), code_cell("2"), END]

    assert complaints(trace_of(cells("There are 2."), {}), literature={}) == []
    assert "7 is a number that neither code" in complaints(trace_of(cells("7"), {}))[0]
    assert complaints(trace_of(cells("7 tokens"), {}), [], {("01_blend", "7 tokens"): "me"}) == []


END = MARKDOWN("## In short\n\nIn all 7, then 1.")


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("It scores 2 with itself, 0 with *a*.", True),
        ("It scores 2 with\nitself, 0 with *a*.", True),
        ("It scores 1 with itself, 0 with *a*.", False),
        ("It scores 2 with itself, 2 with *a*.", False),
        ("It has 2 of itself.", None),
    ],
)
def test_facts_are_computed(text, right):
    facts = ["scores <<scaled[0, 0] * 2>> with itself, <<scaled[0, 1]>> with *a*"]
    trace = trace_of(
        [MARKDOWN("# Score"), code_cell("0, 1, 2"), MARKDOWN(text), END], VARIABLES, facts
    )
    found = [line for line in complaints(trace, facts, {}) if "cell 4" not in line]
    assert "no text reads" in found[0] if right is None else bool(found) != right, found


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("1. one\n2. two", True),
        ("1. one\n3. two", False),
        ("float16 and `conv1d`", True),
        ("`float23`", False),
        (r"$\frac{0}{\sqrt{4}} = 0$", True),
        (r"$\frac{0}{\sqrt{7}} = 0$", False),  # true, but nothing has to do with 7
        ("04 of 5", False),
    ],
)
def test_small_rules(text, right, computed):
    computed.names.add("conv1d")
    assert bool(wrong(text, computed)) != right


def test_a_named_matrix_is_the_one_that_the_cell_beside_assigns():
    import torch

    text = r"$W = \begin{bmatrix} 1 & 0 \\ 0 & 1 \end{bmatrix}$"
    identity, other = torch.eye(2), torch.ones(2, 2)
    for W, right in [(identity, True), (other, False)]:
        cells = [MARKDOWN("# Name"), MARKDOWN(text), code_cell("W = other\nidentity"), END]
        found = complaints(trace_of(cells, {"W": W, "identity": identity}), literature={})
        assert any("is not the W" in line for line in found) != right


def test_exact_arithmetic_in_the_prose_counts_as_computed():
    text = r"$e^{1} + e^{0} = 3.7183$, so $\frac{e^{1}}{3.7183} = 0.7311$"
    cells = [MARKDOWN("# Add"), code_cell("0, 1"), MARKDOWN(text), MARKDOWN("End")]
    assert complaints(trace_of(cells, {}), literature={}) == []
    cells[2].source = text.replace("$e^{1} + e^{0} = 3.7183$", "it is 3.7183")
    assert len(complaints(trace_of(cells, {}), literature={})) == 2
