"""Exercises: the right answer passes, each mistake is named, no sentence tells the answer."""

import math
import re
from itertools import combinations

import pytest
import torch
import torch.nn.functional as F

from attention_by_hand import check
from attention_by_hand.exercises import EXERCISES
from attention_by_hand.exercises.judge import TOLERANCE, verdict
from attention_by_hand.exercises.mistakes import MISTAKES

# The right answers, written apart from the helper.
VALUES = {
    "start/dot": 11,
    "start/average": [3, 2],
    "light/01/weights": (torch.tensor([math.e, math.e, 1]) / (2 * math.e + 1)).tolist(),
    # It's in "It's a shine": scaled scores 1, 0, 1/2 over the rows 1010, 0101, 1100.
    "light/01/output": [
        (math.e + math.sqrt(math.e)) / (math.e + 1 + math.sqrt(math.e)),
        (1 + math.sqrt(math.e)) / (math.e + 1 + math.sqrt(math.e)),
        math.e / (math.e + 1 + math.sqrt(math.e)),
        1 / (math.e + 1 + math.sqrt(math.e)),
    ],
    "bank/01/changed": [2, 3],
    "bank/01/memory": 6,
    "bank/02/score": 8,  # [1, 1] times [6, 2]
    # 1 / (1 + e^-s) · 1 / (1 + e^s) for s = 6 and s = 6 / √4
    "bank/02/gradients": [math.exp(s) / (1 + math.exp(s)) ** 2 for s in (6, 3)],
    "bank/03/row": [1 / (1 + math.sqrt(math.e)), 1 / (1 + 1 / math.sqrt(math.e)), 0],
    # bank in "money money bank": scaled scores 0, 0, 1/√2 over the rows 02, 02, 10.
    "bank/04/output": [
        math.exp(math.sqrt(0.5)) / (2 + math.exp(math.sqrt(0.5))),
        4 / (2 + math.exp(math.sqrt(0.5))),
    ],
    # bank/05
    # bank/06
    # bank/07
    "bank/07/guess": (math.log(27) - math.log(4)) / 3,  # -ln of 2/3 · 2/3 · 1/3 = 4/27
    "bank/07/patched": [0.75, 2.25],
    # bank/08
    # mouse/01
    # mouse/02
    # mouse/03
    # mouse/04
}


def sdpa(Q, K, V, **rest):
    return F.scaled_dot_product_attention(Q, K, V, **rest)


def hide_the_future(scaled):
    T_q, T_k = scaled.shape
    rows = [
        [scaled[q, k] if k <= q + T_k - T_q else -torch.inf for k in range(T_k)] for q in range(T_q)
    ]
    return torch.softmax(torch.tensor(rows), dim=1)


FUNCTIONS = {
    "light/01/attention": lambda X: sdpa(X, X, X),
    "light/02/scaled": lambda X: torch.einsum("bqd,bkd->bqk", X, X) / X.shape[2] ** 0.5,
    "light/02/allowed": lambda lengths, T: [[[k < n for k in range(T)]] for n in lengths],
    "light/02/weights": lambda scaled, allowed: torch.softmax(
        torch.where(allowed, scaled, -torch.inf), dim=2
    ),
    "light/03/attention": lambda X, W_Q, W_K, W_V: sdpa(X @ W_Q, X @ W_K, X @ W_V),
    "light/03/weight": lambda W: W.transpose(0, 1),
    "light/03/causal": hide_the_future,
    "bank/01/picker": lambda ids, rows: F.one_hot(ids, rows).float(),
    "bank/02/scaled": lambda X, W_Q, W_K: (
        torch.einsum("qm,mi,ni,kn->qk", X, W_Q, W_K, X) / W_K.shape[1] ** 0.5
    ),
    "bank/03/causal": hide_the_future,
    "bank/04/attention": lambda Q, K, V: sdpa(Q, K, V, is_causal=True),
    "bank/04/last": lambda q, K, V: sdpa(q[None], K, V)[0],
    # bank/05
    # bank/06
    # bank/07
    "bank/07/loss": lambda logits, targets, real: F.cross_entropy(
        logits.flatten(0, 1), targets.masked_fill(~real, -100).flatten(), ignore_index=-100
    ),
    # bank/08
    # mouse/01
    # mouse/02
    # mouse/03
    # mouse/04
}
ANSWERS = VALUES | FUNCTIONS

each_exercise = pytest.mark.parametrize("name", EXERCISES)
each_value = pytest.mark.parametrize("name", VALUES)
each_function = pytest.mark.parametrize("name", FUNCTIONS)
each_mistake = pytest.mark.parametrize(
    ("name", "mistake"), [(name, m) for name, e in EXERCISES.items() for m in e.mistakes]
)


def said(name, answer):
    return verdict(EXERCISES[name], answer)


def map_answer(name, change):
    """The right answer of an exercise, each result changed."""
    answer = ANSWERS[name]
    if callable(answer):
        return lambda *arguments: change(torch.as_tensor(answer(*arguments)))
    return change(torch.as_tensor(answer))


def results(name, function):
    """What a function gives on every input of its exercise, or a value as the only one."""
    exercise = EXERCISES[name]
    inputs = exercise.inputs() if exercise.inputs else [()]
    return [torch.as_tensor(function(*arguments)).double() for arguments in inputs]


def differ(some, others):
    return any(
        a.shape != b.shape or not torch.allclose(a, b, rtol=0, atol=2 * TOLERANCE, equal_nan=True)
        for a, b in zip(some, others, strict=True)
    )


# --- right ----------------------------------------------------------------------------------------


@each_exercise
def test_the_right_answer_is_right(name):
    assert said(name, ANSWERS[name]) == "right."
    assert said(name, map_answer(name, lambda t: t.tolist())) == "right."
    assert said(name, map_answer(name, lambda t: t.numpy())) == "right."
    if ANSWERS[name] is not FUNCTIONS.get("light/02/allowed"):
        assert said(name, map_answer(name, lambda t: t.double())) == "right."
        assert said(name, map_answer(name, lambda t: t.float().requires_grad_())) == "right."


@each_exercise
def test_four_printed_decimals_pass_and_two_do_not(name):
    def rounded(decimals):
        return map_answer(
            name, lambda t: t if t.dtype == torch.bool else t.double().round(decimals=decimals)
        )

    assert said(name, rounded(4)) == "right."
    exact = all(torch.equal(r, r.round(decimals=2)) for r in results(name, EXERCISES[name].right))
    assert (said(name, rounded(2)) == "right.") == exact


# --- wrong ----------------------------------------------------------------------------------------


@each_mistake
def test_each_mistake_is_named(name, mistake):
    exercise = EXERCISES[name]
    wrong = exercise.mistakes[mistake]
    assert said(name, wrong if exercise.inputs else wrong()) == f"not yet. {mistake}"


@each_exercise
def test_no_mistake_gives_the_right_answer_or_that_of_another(name):
    exercise = EXERCISES[name]
    functions = {"right": exercise.right} | exercise.mistakes
    found = {mistake: results(name, function) for mistake, function in functions.items()}
    assert len(found) > 1
    for one, other in combinations(found, 2):
        assert differ(found[one], found[other]), f"{one} / {other}"


def softmax(x, dim=-1):
    return torch.softmax(x, dim)


def scores_of(X):
    return X @ X.transpose(-2, -1)


# Wrong answers as people write them, and which mistake they are.
WRITTEN = [
    ("start/dot", 2 + 4 + 1 + 3, "You added all the numbers"),
    ("start/average", [2, 4], "This is the plain average"),
    ("light/01/weights", softmax(torch.tensor([2.0, 2, 0])), "unscaled"),
    ("light/01/weights", softmax(torch.tensor([0.5, 0.5, 0])), "by d_k"),
    ("light/01/weights", [0.5, 0.5, 0], "no exp"),
    ("light/01/weights", [math.e, math.e, 1], "no sum"),
    ("light/01/attention", lambda X: softmax(scores_of(X)) @ X, "unscaled"),
    ("light/01/attention", lambda X: softmax(scores_of(X) / X.shape[1]) @ X, "by d_k"),
    ("light/01/attention", lambda X: softmax(scores_of(X) / len(X) ** 0.5) @ X, "by √T"),
    ("light/01/attention", lambda X: softmax(scores_of(X) / X.shape[1] ** 0.5, 0) @ X, "columns"),
    ("light/01/attention", lambda X: softmax(scores_of(X) / X.shape[1] ** 0.5), "not mixed"),
    ("light/02/scaled", scores_of, "unscaled"),
    ("light/02/scaled", lambda X: scores_of(X) / X.shape[-1], "by d_k"),
    ("light/02/weights", lambda s, a: softmax(s) * a, "mask after"),
    ("light/02/weights", lambda s, a: softmax(s * a), "times mask"),
    ("light/02/weights", lambda s, a: softmax(s.masked_fill(a, -torch.inf)), "inverted"),
    ("light/02/weights", lambda s, a: softmax(s.masked_fill(~a, -torch.inf), 1), "columns"),
    ("light/02/weights", lambda s, a: softmax(s), "no mask"),
    ("light/02/weights", lambda s, a: softmax(s.masked_fill(~a, -1e5)), "finite fill"),
    ("light/03/attention", lambda X, q, k, v: sdpa(X @ q, X @ k, X @ v, scale=1.0), "unscaled"),
    ("light/03/attention", lambda X, q, k, v: sdpa(X @ q, X @ k, X @ v, scale=0.5), "by √d_model"),
    ("light/03/attention", lambda X, q, k, v: sdpa(X @ k, X @ q, X @ v), "transposed"),
    ("light/03/attention", lambda X, q, k, v: sdpa(X @ q, X @ k, X @ k), "keys mixed"),
    ("light/03/attention", lambda X, q, k, v: sdpa(X @ q, X @ k, X), "You mixed X itself"),
    ("light/03/weight", lambda W: W, "you stored W"),
    ("light/03/causal", lambda s: softmax(s) * torch.ones_like(s).tril(), "mask after"),
    ("light/03/causal", lambda s: softmax(s * torch.ones_like(s).tril()), "times mask"),
    ("light/03/causal", lambda s: softmax(s), "no mask"),
    ("bank/01/changed", [3, 4], "Count the positions from 0"),
    ("bank/01/changed", [0, 1, 2], "You read the row of token 2"),
    ("bank/01/memory", 4 * 1024 * 768 * 4 / 2**20, "takes 2 bytes, not 4"),
    ("bank/01/memory", 4 * 1024 * 768 * 2 / 1e6, "divided by a million"),
    ("bank/01/picker", lambda ids, rows: F.one_hot(ids, rows).T, "It is transposed"),
    ("bank/02/score", 12, "money asked bank"),
    ("bank/02/score", 8 / math.sqrt(2), "You divided by √d_k"),
    ("bank/02/gradients", softmax(torch.tensor([[6.0, 0], [3, 0]]))[:, 0], "These are the weights"),
    ("bank/02/scaled", lambda X, q, k: X @ q @ (X @ k).T, "unscaled"),
    ("bank/02/scaled", lambda X, q, k: X @ q @ (X @ k).T / k.shape[1], "by d_k"),
    ("bank/02/scaled", lambda X, q, k: X @ q @ (X @ k).T / len(k) ** 0.5, "by √d_model"),
    ("bank/02/scaled", lambda X, q, k: X @ k @ (X @ q).T / k.shape[1] ** 0.5, "transposed"),
    ("bank/03/row", softmax(torch.tensor([0.5, 1, 2])), "no mask"),
    ("bank/03/row", softmax(torch.tensor([0.5, 1, 0])), "times mask"),
    ("bank/03/row", [1 / 3, 2 / 3, 0], "no exp"),
    (
        "bank/03/causal",
        lambda s: softmax(s.masked_fill(torch.ones_like(s).tril() == 0, -torch.inf)),
        "top left",
    ),
    (
        "bank/03/causal",
        lambda s: softmax(s + torch.full_like(s, -1e5).triu(1 + s.shape[1] - s.shape[0])),
        "finite fill",
    ),
    ("bank/04/attention", lambda Q, K, V: sdpa(Q, K, V), "no mask"),
    ("bank/04/attention", lambda Q, K, V: sdpa(Q, K, V, is_causal=True, scale=1.0), "unscaled"),
    ("bank/04/attention", lambda Q, K, V: sdpa(Q, K, K, is_causal=True), "keys mixed"),
    ("bank/04/last", lambda q, K, V: sdpa(q[None], K, V, is_causal=True)[0], "top left"),
    ("bank/04/last", lambda q, K, V: softmax(q @ K.T) @ V, "unscaled"),
    # bank/05
    # bank/06
    # bank/07
    ("bank/07/loss", lambda x, t, real: F.cross_entropy(x[:, -1], t[:, -1]), "position alone"),
    ("bank/07/loss", lambda x, t, real: F.cross_entropy(x.mT, t), "You counted the padding"),
    (
        "bank/07/loss",
        lambda x, t, real: (F.cross_entropy(x.mT, t, reduction="none") * real).mean(),
        "divided by the number of all positions",
    ),
    (
        "bank/07/loss",
        lambda x, t, real: F.cross_entropy(x[real], t[real], reduction="sum"),
        "You added up",
    ),
    (
        "bank/07/loss",
        lambda x, t, real: F.nll_loss(softmax(x)[real], t[real]),
        "mean of the probabilities",
    ),
    ("bank/07/loss", lambda x, t, real: F.nll_loss(x[real], t[real]), "These are the logits"),
    ("bank/07/guess", math.log(2), "This is ln 2"),
    ("bank/07/guess", 0.9183, "base 2"),
    ("bank/07/guess", -math.log(2 / 3), "after river bank alone"),
    ("bank/07/patched", [0.25 * 4 + 0.75 * 1, 0.75], "before the patch"),
    ("bank/07/patched", [0.25 * 4, 0.75 * 6], "You patched the value of bank"),
    ("bank/07/patched", [0, 6], "place of the whole output"),
    # bank/08
    # mouse/01
    # mouse/02
    # mouse/03
    # mouse/04
]


@pytest.mark.parametrize("number", range(len(WRITTEN)))
def test_mistakes_as_people_write_them(number):
    name, answer, mistake = WRITTEN[number]
    found = said(name, answer)
    assert found.startswith("not yet. ")
    assert MISTAKES.get(mistake, mistake) in found


@each_exercise
def test_other_wrong_numbers_are_counted(name):
    wrong = map_answer(name, lambda t: ~t if t.dtype == torch.bool else t.double() + 1.2345)
    if name == "light/02/allowed":
        assert said(name, wrong) == f"not yet. {MISTAKES['inverted']}"
    else:
        assert re.match(
            r"not yet\. The shape is right, but (\d+) of \1 numbers are not\.", said(name, wrong)
        )


@each_exercise
def test_a_wrong_shape_is_said(name):
    first = results(name, EXERCISES[name].right)[0]
    wrong = map_answer(name, lambda t: t[None, None])
    shapes = f"{(1, 1, *first.shape)}; {tuple(first.shape)}"
    assert said(name, wrong) == f"not yet. The shape is {shapes} is needed."


@pytest.mark.parametrize(
    "name", sorted(EXERCISES.keys() - {"light/02/allowed"})
)  # no boolean is NaN
def test_nan_is_said(name):
    found = said(name, map_answer(name, lambda t: t.double() * torch.nan))
    assert found.startswith("not yet. There is a NaN: ")


@each_exercise
@pytest.mark.parametrize("junk", ["text", {"a": 1}, {1, 2}, [[1, 2], [3]], [..., 1], object])
def test_what_is_no_number_gets_a_sentence(name, junk):
    answer = junk if name in VALUES else lambda *arguments: junk
    assert said(name, answer) == (
        "not yet. A number, a tensor or a list of numbers is needed, "
        f"but this {type(junk).__name__} is none of them."
    )


def test_numbers_are_no_booleans():
    found = said("light/02/allowed", map_answer("light/02/allowed", torch.Tensor.int))
    assert found == "not yet. True and False are needed, but these are numbers (torch.int32)."


@each_function
@pytest.mark.parametrize("value", [3, [1, 2], torch.ones(2), "text"])
def test_a_value_is_no_function(name, value):
    kind = type(value).__name__
    assert said(name, value) == f"not yet. The answer is a function, but this is a {kind}."


# --- blanks and failures --------------------------------------------------------------------------


@each_exercise
def test_blanks(name):
    assert said(name, ...) == said(name, None) == "not answered yet."
    if name in FUNCTIONS:
        assert said(name, lambda *arguments: ...) == "not answered yet."
        returns_nothing = "not yet. Your function returns None: does it end with return?"
        assert said(name, lambda *arguments: None) == returns_nothing


@each_function
@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ValueError("two\nlines"), "ValueError: two"),
        (AssertionError(), "AssertionError"),
        (KeyError("key"), "KeyError: 'key'"),
        (NotImplementedError(), "NotImplementedError"),
    ],
)
def test_a_function_that_stops_gets_one_sentence(name, error, expected):
    def stops(*arguments):
        raise error

    found = said(name, stops)
    assert found.startswith(f"not yet. It stops with {expected} (It was given ")
    assert "\n" not in found
    assert "Traceback" not in found


@each_function
def test_a_function_of_other_arguments_gets_one_sentence(name):
    assert said(name, lambda: 1).startswith("not yet. It stops with TypeError: ")


@each_function
def test_changing_the_input_spoils_nothing(name):
    def clear(arguments):
        for argument in arguments:
            if isinstance(argument, torch.Tensor):
                argument.zero_()
            elif isinstance(argument, list):
                argument.clear()

    def answers_and_clears(*arguments):
        right = torch.as_tensor(FUNCTIONS[name](*arguments)).clone()
        clear(arguments)
        return right

    def clears_and_answers(*arguments):
        shape = torch.as_tensor(FUNCTIONS[name](*arguments)).shape
        clear(arguments)
        return torch.zeros(shape, dtype=torch.bool if name == "light/02/allowed" else None)

    assert said(name, answers_and_clears) == "right."
    assert said(name, clears_and_answers).startswith("not yet. ")
    assert said(name, FUNCTIONS[name]) == "right."


# --- what is printed ------------------------------------------------------------------------------


@each_exercise
def test_no_sentence_tells_the_answer(name):
    exercise = EXERCISES[name]
    numbers = {f"{x:.4f}" for r in results(name, exercise.right) for x in r.flatten().tolist()}
    junk = [0, [1, 2], "text", torch.zeros(2, 2), map_answer(name, lambda t: t[None])]
    wrong = [w if exercise.inputs else w() for w in exercise.mistakes.values()]
    for answer in [*junk, *wrong]:
        found = said(name, answer)
        assert found != "right."
        assert not any(number in found for number in numbers)


@each_exercise
def test_check_prints_exactly_one_line(name, capsys):
    for answer, start in (
        (ANSWERS[name], "right."),
        (..., "not answered yet."),
        ("x", "not yet. "),
    ):
        assert check(name, answer) is None
        printed = capsys.readouterr()
        assert printed.out.startswith(f"{name}: {start}")
        assert printed.out.count("\n") == 1
        assert printed.out.endswith("\n")
        assert printed.err == ""


def test_every_exercise_has_an_answer_here():
    assert ANSWERS.keys() == EXERCISES.keys()


def test_an_unknown_exercise_is_refused():
    with pytest.raises(ValueError, match=r"^There is no exercise 'light/9/x'\.$"):
        check("light/9/x", 1)
