"""Exercises: the right answer passes, each mistake is named, no sentence tells the answer."""

import math
import re
import warnings
from fractions import Fraction
from itertools import combinations

import fingerprints
import numpy as np
import pytest
import torch
import torch.nn.functional as F

from attention_by_hand import attention, check, sentence
from attention_by_hand.exercises import EXERCISES
from attention_by_hand.exercises.judge import TOLERANCE, verdict
from attention_by_hand.exercises.mistakes import MISTAKES

STORED = fingerprints.stored(fingerprints.ANSWERS)
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
    "bank/02/score": 22,  # [3, 1] times [6, 4]
    # 1 / (1 + e^-s) · 1 / (1 + e^s) for s = 6 and s = 6 / √4
    "bank/02/gradients": [math.exp(s) / (1 + math.exp(s)) ** 2 for s in (6, 3)],
    "bank/03/row": [1 / (1 + math.sqrt(math.e)), 1 / (1 + 1 / math.sqrt(math.e)), 0],
    # bank in "money money bank": scaled scores 0, 0, 1/√2 over the rows 02, 02, 10.
    "bank/04/output": [
        math.exp(math.sqrt(0.5)) / (2 + math.exp(math.sqrt(0.5))),
        4 / (2 + math.exp(math.sqrt(0.5))),
    ],
    # bank/05
    # scores 2, 4, 1, 3, 0 of head 1, over √2
    "bank/05/weights": [
        math.exp(s / math.sqrt(2)) / sum(math.exp(t / math.sqrt(2)) for t in (2, 4, 1, 3, 0))
        for s in (2, 4, 1, 3, 0)
    ],
    # bank/06
    # The query turns by 2 and by .02 against the key: 2 (cos 2 + sin 2), and -3 · 2 sin .02.
    "bank/06/score": 2 * (math.cos(2) + math.sin(2)) - 6 * math.sin(0.02),
    # bank/07
    "bank/07/guess": (math.log(27) - math.log(4)) / 3,  # -ln of 2/3 · 2/3 · 1/3 = 4/27
    # averages (.9 · .5 + .005) / 1.9 and (.999 · .25 + .000025) / 1.999
    "bank/07/adam": 0.455 / 1.9 / math.sqrt(0.249775 / 1.999),
    # bank/08
    "bank/08/rows": [10 + 11 + 12 + 13 + 14, 10 + 4],
    "bank/08/memory": 288,  # K and V, 18 layers, 8 heads of 64 numbers of 4 bytes: 72 KiB a token
    # mouse/01
    # mouse/02
    # scores 2, 0, 1/2, 1/2 over √3
    "mouse/02/weights": [
        math.exp(score / math.sqrt(3))
        / (math.exp(2 / math.sqrt(3)) + 1 + 2 * math.exp(0.5 / math.sqrt(3)))
        for score in (2, 0, 0.5, 0.5)
    ],
    # 3 e^(2/√3) of animal against e^(2/√3) + n/2 · e^(1/2/√3) of tech
    "mouse/02/outvoted": 1 + math.floor(4 * math.exp(1.5 / math.sqrt(3))),
    # mouse/03
    # queries [0, 2], [1, 2], [0, 1/2] and keys [4, 0], [2, 1], [1, 0]
    "mouse/03/scores": [[0, 2, 0], [4, 4, 1], [0, 0.5, 0]],
    # scores 2, 0, 2, 0, 1/2 over √3; values 200, 001, 110, 001 and 020
    "mouse/03/patched": [
        sum(math.exp(s / math.sqrt(3)) * v for s, v in zip((2, 0, 2, 0, 0.5), column, strict=True))
        / (2 * math.exp(2 / math.sqrt(3)) + 2 + math.exp(0.5 / math.sqrt(3)))
        for column in ((2, 0, 1, 0, 0), (0, 0, 1, 0, 2), (0, 1, 0, 1, 0))
    ],
    # mouse/04
    "mouse/04/matrix": [[0, 1], [0, 1], [1, 0]],
    "mouse/04/shapes": [[6, 6], [6, 3 * 5], [3 * 5, 8]],
}


def sdpa(Q, K, V, **rest):
    return F.scaled_dot_product_attention(Q, K, V, **rest)


def hide_the_future(scaled):
    T_q, T_k = scaled.shape
    rows = [
        [scaled[q, k] if k <= q + T_k - T_q else -torch.inf for k in range(T_k)] for q in range(T_q)
    ]
    return torch.softmax(torch.tensor(rows), dim=1)


def head_by_head(X, matrices, H):
    """The heads of bank/05 side by side, each from its own columns of the matrices."""
    pieces = zip(*(W.chunk(H, dim=1) for W in matrices), strict=True)
    return torch.cat([sdpa(*(X @ W for W in piece), is_causal=True) for piece in pieces], dim=2)


def last_queries(X, K, V):
    """The rows of X, which are queries, keys and values, after the kept K and V."""
    seen = [range(len(K) + 1 + i) for i in range(len(X))]
    K, V = torch.cat([K, X]), torch.cat([V, X])
    return torch.stack([sdpa(x[None], K[s], V[s])[0] for x, s in zip(X, seen, strict=True)])


def positions(T, d_model):
    if d_model % 2:
        raise ValueError(f"The width {d_model} is odd.")
    rows = torch.zeros(T, d_model)
    for i in range(T):
        for r in range(d_model // 2):
            turn = complex(math.e) ** (1j * i * 10000 ** (-2 * r / d_model))
            rows[i, 2 * r], rows[i, 2 * r + 1] = turn.imag, turn.real
    return rows


def turned(X):
    """Each row times the matrix that turns its pairs."""
    rows = [
        torch.block_diag(*(torch.tensor([[c, s], [-s, c]]) for s, c in waves.view(-1, 2).tolist()))
        for waves in positions(*X.shape)
    ]
    return torch.einsum("ti,tij->tj", X, torch.stack(rows))


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
    "bank/05/packed": lambda packed, H: torch.stack(
        [torch.stack(part.chunk(H, dim=2), dim=1) for part in packed.chunk(3, dim=2)]
    ),
    "bank/05/multihead": lambda X, W_Q, W_K, W_V, W_O, H: head_by_head(X, (W_Q, W_K, W_V), H) @ W_O,
    # bank/06
    "bank/06/positions": positions,
    "bank/06/attention": lambda Q, K, V: sdpa(turned(Q), turned(K), V, is_causal=True),
    # bank/07
    "bank/07/loss": lambda logits, targets, real: F.cross_entropy(
        logits.flatten(0, 1), targets.masked_fill(~real, -100).flatten(), ignore_index=-100
    ),
    # bank/08
    "bank/08/output": lambda rows, places, K, V: last_queries(
        rows + places[len(K) :][: len(rows)], K, V
    ),
    # mouse/01
    "mouse/01/scores": lambda Q, K: torch.einsum("qd,kd->qk", Q, K),
    "mouse/01/layers": lambda distance, window: next(
        n for n in range(1, 99) if n * (window // 2) >= distance
    ),
    # mouse/02
    "mouse/02/output": lambda X, i: sdpa(X, X, X)[i],
    # mouse/03
    "mouse/03/output": lambda X, W_Q, W_K, W_V, position: sdpa(
        X[position : position + 1] @ W_Q, X @ W_K, X @ W_V
    )[0],
    # mouse/04
    "mouse/04/heads": lambda X, W_Q, W_K, W_V, W_O: sum(
        sdpa(X @ q, X @ k, X @ v) @ o
        for q, k, v, o in zip(W_Q, W_K, W_V, W_O.split(W_V.shape[2]), strict=True)
    ),
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


@pytest.mark.parametrize("decimals", [2, 3])
def test_how_far_a_rounded_number_is_right_is_said(decimals):
    number = round(VALUES["bank/07/guess"], decimals)
    assert said("bank/07/guess", number).startswith(f"not yet. It is right to {decimals} decimals;")


# --- wrong ----------------------------------------------------------------------------------------


@each_exercise
def test_no_answer_has_changed_or_gone(name):
    found = fingerprints.of_exercise(EXERCISES[name])
    assert list(found) == list(STORED[name])
    for mistake, numbers in STORED[name].items():
        assert found[mistake] == pytest.approx(numbers, **fingerprints.TOLERANCE), mistake


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


def heads_of(X, W_Q, W_K, W_V, width=None):
    """The heads side by side, their scores divided by the root of `width`."""
    scale = (W_K.shape[2] if width is None else width) ** -0.5
    return torch.cat([*sdpa(X @ W_Q, X @ W_K, X @ W_V, scale=scale)], dim=1)


def cut(scaled):
    T_q, T_k = scaled.shape
    return scaled.masked_fill(torch.ones(T_q, T_k).tril(T_k - T_q) == 0, -torch.inf)


def by_hand(scaled):
    """The recipe of light/01, which takes no maximum."""
    return scaled.exp() / scaled.exp().sum(dim=-1, keepdim=True)


def row_by_row(scaled):
    """The loop of bank/03, for the last queries."""
    T_q, T_k = scaled.shape
    weights = torch.zeros(T_q, T_k)
    for q in range(T_q):
        powers = torch.exp(scaled[q, : q + 1 + T_k - T_q])
        weights[q, : len(powers)] = powers / powers.sum()
    return weights


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
    ("bank/01/picker", lambda ids, rows: F.one_hot(ids), "not the largest id"),
    ("bank/02/score", 4, "This is query money, key bank"),
    ("bank/02/score", 20, "You put the matrix first"),
    ("bank/02/score", 16, "You multiplied W_Q by W_K"),
    ("bank/02/score", 10, "This is river bank"),
    ("bank/02/score", 22 / math.sqrt(2), "You divided by √d_k"),
    ("bank/02/score", [[24, 4], [22, 5]], "This is the whole table"),
    ("bank/02/gradients", softmax(torch.tensor([[6.0, 0], [3, 0]]))[:, 0], "These are the weights"),
    ("bank/02/gradients", [0.0024665, 0.0451767 / 2], "You divided the second number as well"),
    ("bank/02/scaled", lambda X, q, k: X @ q @ (X @ k).T, "unscaled"),
    ("bank/02/scaled", lambda X, q, k: X @ q @ (X @ k).T / k.shape[1], "by d_k"),
    ("bank/02/scaled", lambda X, q, k: X @ q @ (X @ k).T / len(k) ** 0.5, "by √d_model"),
    ("bank/02/scaled", lambda X, q, k: X @ k @ (X @ q).T / k.shape[1] ** 0.5, "transposed"),
    ("bank/03/row", softmax(torch.tensor([0.5, 1, 2])), "no mask"),
    ("bank/03/row", softmax(torch.tensor([0.5, 1, 0])), "times mask"),
    ("bank/03/row", [1 / 3, 2 / 3, 0], "no exp"),
    ("bank/03/row", [1 / (1 + math.e**0.5), 1 / (1 + math.e**-0.5)], "The blocked key has"),
    ("bank/03/causal", lambda s: row_by_row(s), "no maximum"),
    ("bank/03/causal", lambda s: softmax(cut(s) / s.shape[1] ** 0.5), "scaled again"),
    ("bank/03/causal", lambda s: cut(s), "no softmax"),
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
    ("bank/04/last", lambda q, K, V: sdpa(q[None], K[:-1], V[:-1])[0], "You left out the last key"),
    (
        "bank/04/last",
        lambda q, K, V: attention(q[None], K, V),
        "such as .scores, .weights or .output",
    ),
    # bank/05
    ("bank/05/weights", softmax(torch.tensor([2.0, 4, 1, 3, 0])), "unscaled"),
    ("bank/05/weights", softmax(torch.tensor([2.0, 4, 1, 3, 0]) / 2), "by d_k"),
    ("bank/05/weights", softmax(torch.tensor([2.0, 4, 1, 3, 0]) / math.sqrt(3)), "divided by √H"),
    ("bank/05/weights", softmax(torch.tensor([2.0, 4, 1, 3, 0]) / math.sqrt(5)), "by √T"),
    (
        "bank/05/weights",
        softmax(torch.tensor([2.0, 4, 1, 3, 0]) / math.sqrt(6)),
        "divided by √d_model",
    ),
    ("bank/05/weights", softmax(torch.tensor([12.0, 15, 5, 6, 8]) / math.sqrt(6)), "one head"),
    ("bank/05/weights", softmax(torch.tensor([6.0, 11, 4, 1, 6]) / math.sqrt(3)), "H columns wide"),
    (
        "bank/05/packed",
        lambda P, H: P.view(3, P.shape[0], H, P.shape[1], -1),
        "first cut the last axis",
    ),
    ("bank/05/packed", lambda P, H: P.unflatten(2, (3, H, -1)), "These are all the axes"),
    ("bank/05/packed", lambda P, H: P.unflatten(2, (3, H, -1)).movedim(2, 0), "T still stands"),
    (
        "bank/05/packed",
        lambda P, H: P.unflatten(2, (-1, 3)).movedim(3, 0).unflatten(3, (H, -1)).transpose(2, 3),
        "every third column",
    ),
    (
        "bank/05/packed",
        lambda P, H: P.reshape(3, *P.shape[:2], -1).unflatten(3, (H, -1)).transpose(2, 3),
        "cut the last axis into thirds",
    ),
    (
        "bank/05/packed",
        lambda P, H: [p.unflatten(2, (H, -1)).transpose(1, 2) for p in P.chunk(3, 2)],
        "These are 3 tensors; give the one that is asked",
    ),
    ("bank/05/multihead", lambda X, q, k, v, o, H: head_by_head(X, (q, k, v), H), "no W_O"),
    ("bank/05/multihead", lambda X, q, k, v, o, H: head_by_head(X, (q, k, v), 1) @ o, "one head"),
    (
        "bank/05/multihead",
        lambda X, q, k, v, o, H: (
            torch.stack(head_by_head(X, (q, k, v), H).chunk(H, 2), 1).flatten(2).view(X.shape) @ o
        ),
        "merged as it lies",
    ),
    (
        "bank/05/multihead",
        lambda X, q, k, v, o, H: head_by_head(X, (q.T, k.T, v.T), H) @ o,
        "W transposed",
    ),
    (
        "bank/05/multihead",
        lambda X, q, k, v, o, H: sum(head_by_head(X, (q, k, v), H).chunk(H, 2)) / H,
        "averaged",
    ),
    (
        "bank/05/multihead",
        lambda X, q, k, v, o, H: head_by_head(X, (q / (H / len(q) * H) ** 0.5, k, v), H) @ o,
        "divided by √H",
    ),
    ("bank/05/multihead", lambda X, q, k, v, o, H: head_by_head(X, (q, v, k), H) @ o, "W_K and"),
    ("bank/05/multihead", lambda X, q, k, v, o, H: head_by_head(X, (k, q, v), H) @ o, "transposed"),
    (
        "bank/05/multihead",
        lambda X, q, k, v, o, H: (
            torch.stack(head_by_head(X, (q, k, v), H).chunk(H, 2), 3).flatten(2) @ o
        ),
        "first columns side by side",
    ),
    (
        "bank/05/multihead",
        lambda X, q, k, v, o, H: (
            torch.stack(head_by_head(X, (q, k, v), H).chunk(H, 2), 1).mT.reshape(X.shape) @ o
        ),
        "exchanged the last two axes",
    ),
    # bank/06
    ("bank/06/positions", lambda T, d: positions(T + 1, d)[1:], "count from 1"),
    (
        "bank/06/positions",
        lambda T, d: positions(T, d).view(T, -1, 2).flip(2).flatten(1),
        "exchanged",
    ),
    ("bank/06/positions", lambda T, d: positions(T, 2).repeat(1, d // 2), "turns at one speed"),
    (
        "bank/06/positions",
        lambda T, d: torch.cat(positions(T, d).view(T, -1, 2).unbind(2), dim=1),
        "All sines stand first",
    ),
    (
        "bank/06/positions",
        lambda T, d: torch.stack(
            [(torch.sin, torch.cos)[c % 2](torch.arange(T) / 10000 ** (c / d)) for c in range(d)],
            dim=1,
        ),
        "must not count anew",
    ),
    ("bank/06/score", 2, "distance 0"),
    (
        "bank/06/score",
        [2 * (math.cos(2) + math.sin(2)) - 6 * math.sin(0.02)],
        "one number inside a list",
    ),
    ("bank/06/score", 2 * (math.cos(2) - math.sin(2)) + 6 * math.sin(0.02), "the wrong sign"),
    ("bank/06/score", 2 * (math.cos(2) + math.sin(2)) - 6 * math.sin(2), "divide its angle"),
    ("bank/06/attention", lambda Q, K, V: sdpa(Q, K, V, is_causal=True), "Nothing has been turned"),
    (
        "bank/06/attention",
        lambda Q, K, V: sdpa(turned(Q), turned(K), turned(V), is_causal=True),
        "You turned the values",
    ),
    (
        "bank/06/attention",
        lambda Q, K, V: turned(sdpa(turned(Q), turned(K), V, is_causal=True)),
        "You turned the output",
    ),
    ("bank/06/attention", lambda Q, K, V: sdpa(turned(Q), turned(K), V), "no mask"),
    (
        "bank/06/attention",
        lambda Q, K, V: sdpa(turned(Q), turned(K), V, is_causal=True, scale=V.shape[1] ** -0.5),
        "You divided by √d_v",
    ),
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
    (
        "bank/07/loss",
        lambda x, t, real: F.cross_entropy(softmax(x)[real], t[real]),
        "You took the softmax twice",
    ),
    ("bank/07/guess", math.log(2), "This is ln 2"),
    ("bank/07/guess", 0.9183, "base 2"),
    ("bank/07/guess", -math.log(2 / 3), "after river bank alone"),
    ("bank/07/guess", 2 / 3, "best probability"),
    ("bank/07/adam", 1, "forgets the first gradient"),
    ("bank/07/adam", 0.005 / 0.3535, "You divided the new gradient alone"),
    ("bank/07/adam", 0.0455 / math.sqrt(0.001 * 0.249775), "left out the divisors"),
    ("bank/07/adam", 0.0203, "You multiplied by 0.03"),
    # bank/08
    ("bank/08/rows", [sum(range(1, 15)), 14], "read as one chunk"),
    ("bank/08/rows", [14, 60], "The order is exchanged"),
    ("bank/08/rows", [sum(range(10, 16)), 15], "there is no pass over it"),
    ("bank/08/rows", [11 + 12 + 13 + 14 + 15, 15], "The first pass reads the prompt alone"),
    ("bank/08/rows", [11 + 12 + 13 + 14 + 15, 14], "The first pass reads the prompt alone"),
    ("bank/08/rows", [10 + 11 + 12 + 13 + 14, 10], "you counted the prompt alone"),
    ("bank/08/rows", [1 + 2 + 3 + 4 + 5, 5], "You left the prompt out"),
    ("bank/08/memory", 18 * 8 * 64 * 4 * 4096 / 2**20, "Half of it is missing"),
    ("bank/08/memory", 2 * 18 * 1536 * 4 * 4096 / 2**20, "You counted the query heads (or"),
    ("bank/08/memory", 2 * 18 * 8 * 64 * 4 * 4096 / 1e6, "These are MB"),
    ("bank/08/memory", 2 * 18 * 8 * 1536 * 4 * 4096 / 2**20, "You took d_model as the width"),
    (
        "bank/08/output",
        lambda rows, places, K, V: last_queries(rows + places[: len(rows)], K, V),
        "Your positions start at 0 again",
    ),
    (
        "bank/08/output",
        lambda rows, places, K, V: sdpa(
            (x := rows + places[len(K) :][: len(rows)]),
            torch.cat([K, x]),
            torch.cat([V, x]),
            is_causal=True,
        ),
        "top left",
    ),
    (
        "bank/08/output",
        lambda rows, places, K, V: sdpa(
            *[rows + places[len(K) :][: len(rows)]] * 3, is_causal=True
        ),
        "You left out what is kept",
    ),
    (
        "bank/08/output",
        lambda rows, places, K, V: last_queries(rows + places[len(rows) :][: len(rows)], K, V),
        "at the number of new tokens",
    ),
    (
        "bank/08/output",
        lambda rows, places, K, V: last_queries(rows + places[len(K)], K, V),
        "one position; each has its own",
    ),
    (
        "bank/08/output",
        lambda rows, places, K, V: last_queries(
            rows + places[len(K) :][: len(rows)], K + places[: len(K)], V + places[: len(V)]
        ),
        "they already hold theirs",
    ),
    # mouse/01
    ("mouse/01/scores", lambda Q, K: K @ Q.T, "transposed"),
    ("mouse/01/scores", lambda Q, K: Q @ Q.T, "You compared the words that ask"),
    ("mouse/01/scores", lambda Q, K: Q @ K.T / Q.shape[1] ** 0.5, "You divided the scores"),
    ("mouse/01/scores", lambda Q, K: softmax(Q @ K.T / Q.shape[1] ** 0.5), "These are weights"),
    ("mouse/01/scores", lambda Q, K: attention(Q, K, K), "such as .scores"),
    ("mouse/01/layers", lambda distance, window: -(-distance // window), "by the whole window"),
    (
        "mouse/01/layers",
        lambda distance, window: -(-distance // (window - 1)),
        "you counted more of it",
    ),
    ("mouse/01/layers", lambda d, w: -(-d // ((w + 1) // 2)), "you counted more of it"),
    ("mouse/02/outvoted", 9.7, "Words come in whole numbers"),
    ("light/03/weight", lambda W: W.reshape(W.shape[1], W.shape[0]), "kept the order"),
    ("bank/01/picker", lambda ids, rows: F.one_hot(ids, rows), "make them floats"),
    ("light/02/weights", lambda s, a: softmax(s.masked_fill(~a[:1], -math.inf)), "of the first"),
    ("light/02/weights", lambda s, a: by_hand(s.masked_fill(~a, -math.inf)), "no maximum"),
    (
        "bank/03/causal",
        lambda s: by_hand(cut(s - s.amax(-1, keepdim=True))),
        "masked twice",
    ),
    (
        "mouse/04/heads",
        lambda X, W_Q, W_K, W_V, W_O: (
            torch.cat(
                [
                    *F.scaled_dot_product_attention(
                        X @ W_Q, X @ W_K, X @ W_V, scale=len(W_Q) ** -0.5
                    )
                ],
                dim=1,
            )
            @ W_O
        ),
        "You divided by √H",
    ),
    ("mouse/01/layers", lambda distance, window: distance // (window // 2), "rounded down"),
    ("mouse/01/layers", lambda distance, window: distance / (window // 2), "round up"),
    ("mouse/01/layers", lambda distance, window: distance, "This fits a window of 3"),
    (
        "mouse/01/layers",
        lambda distance, window: -(-distance // (window - 2)),
        "You took two words",
    ),
    (
        "mouse/01/layers",
        lambda distance, window: -(-(2 * distance + 1) // window),
        "You divided the whole view",
    ),
    # mouse/02
    ("mouse/02/weights", softmax(torch.tensor([2, 0, 0.5, 0.5])), "unscaled"),
    ("mouse/02/weights", softmax(torch.tensor([2, 0, 0.5, 0.5]) / 3), "by d_k"),
    ("mouse/02/weights", [2 / 3, 0, 1 / 6, 1 / 6], "no exp"),
    ("mouse/02/weights", [2, 0, 0.5, 0.5], "These are the scores;"),
    ("mouse/02/weights", [1.1547, 0, 0.2887, 0.2887], "These are the scaled scores;"),
    ("mouse/02/output", lambda X, i: (X @ X.T @ X)[i], "You mixed with scores, not scaled"),
    (
        "mouse/02/output",
        lambda X, i: sdpa(*[sentence("cat").X] * 3)[i] if X.shape[1] == 3 else X[i],
        "is a size or a sentence of the lesson",
    ),
    ("mouse/02/output", lambda X, i: softmax(scores_of(X) / 3**0.5)[i] @ X, "√3 fits rows"),
    ("mouse/02/output", lambda X, i: softmax(scores_of(X) / X.shape[1] ** 0.5)[i], "not mixed"),
    (
        "mouse/02/output",
        lambda X, i: softmax(scores_of(X) / X.shape[1] ** 0.5)[:, i] @ X,
        "You took column i",
    ),
    ("mouse/02/output", lambda X, i: X.mean(dim=0), "equally mixed"),
    ("mouse/02/outvoted", 5, "So many are enough in the plain average"),
    ("mouse/02/outvoted", 12, "You counted all words"),
    ("mouse/02/outvoted", 7, "So many are enough if you divide by d_k"),
    ("mouse/02/outvoted", 18, "So many are needed if the scores are not scaled"),
    # mouse/03
    ("mouse/03/scores", [[0, 4, 0], [2, 4, 0.5], [0, 1, 0]], "It is transposed"),
    ("mouse/03/scores", [[4, 2, 1], [2, 2, 0.5], [1, 0.5, 0.25]], "You left out both matrices"),
    (
        "mouse/03/scores",
        torch.softmax(torch.tensor([[0, 2, 0], [4, 4, 1], [0, 0.5, 0]]) / 2**0.5, dim=-1),
        "These are weights",
    ),
    (
        "mouse/03/output",
        lambda X, q, k, v, i: sdpa(X[i] @ q[None], X @ k, X @ v, scale=1.0)[0],
        "unscaled",
    ),
    ("mouse/03/output", lambda X, q, k, v, i: sdpa(X @ k, X @ q, X @ v)[i], "transposed"),
    ("mouse/03/output", lambda X, q, k, v, i: sdpa(X @ q, X @ k, X)[i], "You mixed X itself"),
    ("mouse/03/output", lambda X, q, k, v, i: (X @ v).mean(0), "equally mixed"),
    (
        "mouse/03/output",
        lambda X, q, k, v, i: sdpa(X @ q, X @ k, X @ v, scale=v.shape[1] ** -0.5)[i],
        "You divided by √d_v",
    ),
    ("mouse/03/output", lambda X, q, k, v, i: sdpa(X @ q, X @ k, X @ v)[2], "the output of word 2"),
    ("mouse/03/patched", [1.0522, 0.3278, 0.2066], "This is the output without the exchange"),
    ("mouse/03/patched", [1.0522, 0.6035, 0.2066], "You added the value of keyboard"),
    ("mouse/03/patched", [0.7245, 0.6555, 0.2066], "You exchanged the value of mouse"),
    # mouse/04
    ("mouse/04/matrix", torch.tensor([[0, 1], [0, 1], [1, 0]]).T, "It is transposed"),
    ("mouse/04/matrix", [[1, 0], [1, 0], [0, 1]], "The order is exchanged"),
    ("mouse/04/matrix", [[1, 0], [0, 1], [0, 0]], "This is the matrix of the lesson"),
    ("mouse/04/matrix", [[0, 1], [0, 0], [1, 0]], "Your content is animal alone"),
    ("mouse/04/shapes", [torch.Size([6, 6]), torch.Size([6, 5]), (5, 8)], "You forgot to set"),
    ("mouse/04/shapes", [(6, 6), (6, 15), (8, 15)], "W_O is transposed"),
    ("mouse/04/shapes", [(6, 6), (6, 15), (15, 6)], "the number of tokens is not in it"),
    ("mouse/04/heads", lambda X, q, k, v, o: heads_of(X, q, k, v, v.shape[2]) @ o, "by √d_v"),
    ("mouse/04/heads", lambda X, q, k, v, o: heads_of(X, q, k, v, X.shape[1]) @ o, "√d_model, the"),
    ("mouse/04/heads", lambda X, q, k, v, o: heads_of(X, q, k, v, 1) @ o, "unscaled"),
    ("mouse/04/heads", lambda X, q, k, v, o: heads_of(X, q, k, v), "product with W_O is missing"),
    ("mouse/04/heads", lambda X, q, k, v, o: sdpa(X @ q, X @ k, X @ v).sum(0), "You added"),
    ("mouse/04/heads", lambda X, q, k, v, o: sdpa(X @ q, X @ k, X @ v), "one behind the other"),
    ("mouse/04/heads", lambda X, q, k, v, o: sdpa(X @ q, X @ k, X @ v).mean(0), "You averaged"),
    (
        "mouse/04/heads",
        lambda X, q, k, v, o: sdpa(X @ q, X @ k, X @ v).reshape(len(X), -1) @ o,
        "without moving the tokens",
    ),
    ("mouse/04/heads", lambda X, q, k, v, o: heads_of(X, k, q, v) @ o, "transposed"),
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
    special = {
        "light/02/allowed": MISTAKES["inverted"],
        "mouse/02/outvoted": "Words come in whole numbers.",
        "mouse/04/shapes": "Not right: pair 1, pair 2, pair 3.",
    }
    if name in special:
        assert said(name, wrong) == f"not yet. {special[name]}"
    elif results(name, EXERCISES[name].right)[0].ndim == 0:
        assert said(name, wrong).startswith("not yet. This number is not right.")
    else:
        assert re.match(
            r"not yet\. The shape is right, but (\d+) of \1 numbers are not\.", said(name, wrong)
        )


def test_a_wrong_number_is_told_what_it_was_given():
    assert said("start/dot", 3.5) == "not yet. This number is not right."
    found = said("mouse/01/layers", lambda distance, window: distance if window == 3 else 99)
    assert found == (
        "not yet. This number is not right. "
        "(It was given 29, 5: is a size or a sentence of the lesson written into it?)"
    )


@pytest.mark.parametrize("number", [0, 1, 6, 8, 9, 11, 30])
def test_a_guess_is_told_on_which_side_it_lies(number):
    ahead = "animal is still ahead" if number < 10 else "tech is ahead of animal, but a smaller"
    assert said("mouse/02/outvoted", number).startswith(f"not yet. With so many, {ahead}")


def test_the_wrong_pair_is_named():
    assert said("mouse/04/shapes", [(6, 6), (15, 6), (15, 8)]) == "not yet. Not right: pair 2."
    assert said("mouse/04/shapes", [(3, 6, 6), (6, 15), (15, 8)]).startswith(
        "not yet. A list of three pairs is needed"
    )


def test_no_size_of_the_heads_is_the_same_twice():
    """So that an answer with a size of the lesson written into it fails."""
    sizes = [
        (*W_Q.shape, *X.shape, W_V.shape[2])
        for X, W_Q, _, W_V, _ in EXERCISES["mouse/04/heads"].inputs()
    ]
    assert all(one != other for one, other in zip(*sizes, strict=True))


def test_a_size_is_blamed_only_if_the_answer_was_right_for_another():
    hint = "is a size or a sentence of the lesson written into it?"

    def two_wide(Q, K):
        return Q @ K.T / math.sqrt(2)

    assert hint in said("bank/02/scaled", lambda X, W_Q, W_K: two_wide(X @ W_Q, X @ W_K))
    assert hint in said("bank/04/attention", lambda Q, K, V: softmax(cut(two_wide(Q, K))) @ V)
    for name in FUNCTIONS:
        always = map_answer(name, lambda t: ~t if t.dtype == torch.bool else t.double() + 1.2345)
        assert hint not in said(name, always)


@each_exercise
def test_a_wrong_shape_is_said(name):
    first = results(name, EXERCISES[name].right)[0]
    wrong = map_answer(name, lambda t: t[None, None])
    shapes = f"{(1, 1, *first.shape)}; {tuple(first.shape)}"
    expected = f"The shape is {shapes} is needed."
    if first.ndim == 0:
        expected = "This is one number inside a list or tensor; give the number itself."
    assert said(name, wrong) == f"not yet. {expected}"


@pytest.mark.parametrize(
    "name", sorted(EXERCISES.keys() - {"light/02/allowed"})
)  # no boolean is NaN
def test_nan_is_said(name):
    found = said(name, map_answer(name, lambda t: t.double() * torch.nan))
    assert found.startswith("not yet. There is a NaN, as 0 / 0, ")


@each_exercise
@pytest.mark.parametrize("junk", ["text", {"a": 1}, {1, 2}, [[1, 2], [3]], [..., 1], object])
def test_what_is_no_number_gets_a_sentence(name, junk):
    answer = junk if name in VALUES else lambda *arguments: junk
    assert said(name, answer) == (
        f"not yet. {EXERCISES[name].form} is needed, but this {type(junk).__name__} is not one."
    )


def test_numbers_are_no_booleans():
    found = said("light/02/allowed", map_answer("light/02/allowed", torch.Tensor.int))
    assert found == "not yet. True and False are needed, but these are numbers (torch.int32)."


@each_function
@pytest.mark.parametrize("value", [3, [1, 2], torch.ones(2), "text"])
def test_a_value_is_no_function(name, value):
    kind = type(value).__name__
    assert said(name, value) == f"not yet. The answer is a function, but this is a {kind}."


@pytest.mark.parametrize(
    ("width", "found"),
    [
        (lambda d: 1 / (d % 2 == 0), "A ValueError is needed, not ZeroDivisionError."),
        (lambda d: [][d % 2 :], "This must be refused with a ValueError."),
        (lambda d: positions(1, 2 + d % 2), "Your ValueError does not name 7."),
    ],
)
def test_what_must_be_refused_is_tried(width, found):
    """The width 7 of odd positions; `width` is met first and does nothing for an even one."""

    def answer(T, d_model):
        width(d_model)
        return positions(T, d_model - d_model % 2)

    assert said("bank/06/positions", answer) == f"not yet. {found} (It was given 4, 7.)"


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
    assert STORED.keys() == EXERCISES.keys()
    assert ANSWERS.keys() == EXERCISES.keys()


def test_an_unknown_exercise_is_refused():
    with pytest.raises(ValueError, match=r"^There is no exercise 'light/9/x'\.$"):
        check("light/9/x", 1)


class TestEveryKindOfNumber:
    @pytest.mark.parametrize(
        "answer",
        [
            np.array([2.0, 3])[::-1],
            np.broadcast_to(np.array([3, 2]), (1, 2))[0],
            np.array([3, 2], dtype=object),
            np.array([3, 2], dtype=np.longdouble),
            np.array([3, 2], dtype=np.uint16),
            [Fraction(3), 2],
            [torch.tensor(3.0, requires_grad=True), torch.tensor(2)],
            (np.float32(3), 2),
            torch.tensor([3.0, 2]).to_sparse(),
            torch.tensor([3.0, 2], requires_grad=True),
            torch.tensor([3, 2], dtype=torch.bfloat16),
        ],
    )
    def test_right_is_right(self, answer):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert said("start/average", answer) == "right."

    @pytest.mark.parametrize(
        ("name", "answer", "sentence"),
        [
            ("start/dot", 11 + 5j, "These are complex numbers"),
            ("start/dot", torch.tensor(11 + 0j), "These are complex numbers"),
            ("start/dot", 10**20, "This number is not right."),
            ("start/dot", [11], "one number inside a list"),
            ("start/average", [None, 2], "A number, a tensor or a list of numbers is needed"),
            ("start/average", ["3", "2"], "A number, a tensor or a list of numbers is needed"),
            ("start/average", [10**400, 2], "A number, a tensor or a list of numbers is needed"),
            ("start/average", torch.tensor([3.0, 2], device="meta"), "this Tensor is not one"),
            ("start/average", [torch.tensor([3.0, 2])], "with one tensor; give the tensor itself"),
            ("bank/01/changed", [1, 3], "1 of 2 numbers is not."),
            ("light/01/attention", lambda X: (X, X @ X.T), "These are 2 tensors; give the one"),
            (
                "light/01/attention",
                lambda X: F.scaled_dot_product_attention(X.half(), X.half(), X.half()),
                "You computed in torch.float16, which has few digits",
            ),
        ],
    )
    def test_wrong_gets_a_sentence(self, name, answer, sentence):
        assert sentence in said(name, answer)


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("bank/05/multihead", lambda X, q, k, v, o, H: multihead(X, q, k, v, o, H, 2**-0.5)),
        ("mouse/03/output", lambda X, q, k, v, i: sdpa(X @ q, X @ k, X @ v, scale=3**-0.5)[i]),
        ("bank/04/attention", lambda Q, K, V: sdpa(Q, K, V, is_causal=True, scale=2**-0.5)),
    ],
)
def test_a_width_of_the_lesson_is_not_taken_for_another_size(name, answer):
    assert "is a size or a sentence of the lesson written into it?" in said(name, answer)


def test_the_root_of_the_width_of_a_value_is_no_other_size():
    found = said(
        "bank/04/attention",
        lambda Q, K, V: sdpa(Q, K, V, is_causal=True, scale=V.shape[-1] ** -0.5),
    )
    assert found.startswith("not yet. The shape is right, but ")


def multihead(X, W_Q, W_K, W_V, W_O, H, scale):
    Q, K, V = ((X @ W).unflatten(-1, (H, -1)).transpose(1, 2) for W in (W_Q, W_K, W_V))
    return sdpa(Q, K, V, is_causal=True, scale=scale).transpose(1, 2).flatten(2) @ W_O
