"""The exercises of the track bank."""

import math
from functools import partial

import torch

from attention_by_hand.attention import causal_mask
from attention_by_hand.examples import sentence
from attention_by_hand.exercises.judge import Exercise
from attention_by_hand.exercises.light import projection_inputs
from attention_by_hand.exercises.mistakes import (
    MISTAKES,
    attend,
    causal,
    exercise,
    matrix,
    queries,
    scale,
    weigh,
    weigh_causal,
)

# bank/01


def _bank_01_changed(wrong=None):
    allowed = causal_mask(4)
    if wrong == "no mask":
        allowed = torch.ones_like(allowed)
    return (allowed.T if wrong == "mirrored" else allowed)[:, 2].nonzero().flatten()


def _bank_01_memory(B=4, T=1024, d_model=768, size=2, unit=1024 * 1024):
    return B * T * d_model * size / unit


# bank/02


def _bank_02_score(query="bank", key="money", ask="Q", answer="K"):
    row = dict(zip(["money", "bank"], sentence("money").X, strict=True))
    matrices = {
        "Q": matrix([1, 1], [2, 0]),
        "K": matrix([3, 0], [3, 1]),
        "identity": torch.eye(2),
    }
    return row[query] @ matrices[ask] @ (row[key] @ matrices[answer])


def _bank_02_gradients(first=1.0, second=2.0, given=lambda w: w * (1 - w)):
    """The scores 6 and 0 over the divisors `first` and `second`, and what is given of a weight."""
    weights = torch.softmax(matrix([6 / first, 0], [6 / second, 0]), dim=-1)
    return given(weights[:, 0])


def _bank_02_scaled(X, W_Q, W_K, wrong=None):
    return scale(queries(X, W_Q, wrong), X @ W_K, wrong)


def _bank_02_inputs():
    """Two in which T, d_model and d_k differ and the scores are not symmetric."""
    return [inputs[:3] for inputs in projection_inputs()[:2]]


# bank/03


def _bank_03_row(wrong=None):
    scaled, allowed = matrix([0.5, 1, 2]), torch.tensor([[True, True, False]])
    if wrong == "no exp":
        kept = scaled * allowed
        return (kept / kept.sum())[0]
    return weigh(scaled, allowed, wrong)[0]


# bank/04


def _bank_04_output(wrong=None):
    X = sentence("money", "money money bank").X
    return attend(X, X, X, wrong)[2]


def _bank_04_attention(Q, K, V, wrong=None):
    return attend(Q, K, V, wrong, causal(len(Q), len(K), wrong))


def _bank_04_last(q, K, V, wrong=None):
    return attend(q[None], K, V, wrong, causal(1, len(K), wrong))[0]


def _bank_04_inputs():
    """Scores that are not symmetric and three different widths, then the lesson's own phrases."""
    Q = matrix([2, 0, 1], [0, 1, 1], [1, 2, 0], [1, 0, 2])
    K = matrix([1, 1, 0], [0, 2, 1], [2, 0, 0], [1, 0, 1])
    V = matrix([1, 0], [0, 2], [3, 1], [2, 2])
    return [(Q, K, V), *((X, X, X) for X in (sentence("river").X, sentence("money").X))]


# bank/05


# bank/06


def _bank_06_positions(T, d_model, wrong=None):
    column = torch.arange(d_model, dtype=torch.float64)
    pair = column if wrong == "angle each" else column.div(2, rounding_mode="floor")
    power = 10000 ** ((1 if wrong == "half exponent" else 2) * pair / d_model)
    position = torch.arange(T, dtype=torch.float64)[:, None] + (wrong == "from one")
    angles = {"one speed": position * power**0, "multiplied": position * power}.get(
        wrong, position / power
    )
    if wrong == "degrees":
        angles = torch.deg2rad(angles)
    waves = torch.where(column % 2 == (wrong == "exchanged"), angles.sin(), angles.cos())
    if wrong == "in blocks":
        waves = torch.cat([waves[:, 0::2], waves[:, 1::2]], dim=1)
    return waves


def _turn(x, position, halves=False, one_speed=False):
    """Turn the pairs of the last axis: neighbors, or with `halves` one number of each half."""
    width = x.shape[-1]
    speeds = 10000 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    angles = position * (speeds**0 if one_speed else speeds)
    pairs = (x[..., : width // 2], x[..., width // 2 :]) if halves else (x[..., ::2], x[..., 1::2])
    a, b = (half.double() for half in pairs)
    turned = [a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()]
    return torch.cat(turned, dim=-1) if halves else torch.stack(turned, dim=-1).flatten(-2)


def _bank_06_score(query=1002, key=1000, divisor=1.0, **how):
    q, k = matrix([2, 0, 0, 3], [1, 1, 2, 0])
    return _turn(q, query, **how) @ _turn(k, key, **how) / divisor


def _bank_06_attention(Q, K, V, wrong=None):
    position = torch.arange(len(K), dtype=torch.float64)[:, None]
    if wrong == "wrong way":
        position = -position
    halves = wrong == "in halves"
    if wrong == "added":
        Q, K = (x + _bank_06_positions(*x.shape) for x in (Q, K))
    elif wrong != "not turned":
        Q = Q if wrong == "key alone" else _turn(Q, position, halves)
        K = K if wrong == "query alone" else _turn(K, position, halves)
    V = _turn(V, position) if wrong == "values turned" else V.double()
    output = attend(Q.double(), K.double(), V, wrong, causal(len(Q), len(K), wrong))
    return _turn(output, position) if wrong == "turned after" else output


def _bank_06_inputs():
    """Sizes that differ, and scores that are not symmetric."""
    return [
        (
            matrix([2, 0, 1, 1], [0, 1, 1, 0], [1, 2, 0, 1]),
            matrix([1, 1, 0, 2], [0, 2, 1, 0], [2, 0, 1, 1]),
            matrix([1, 0], [0, 2], [3, 1]),
        ),
        (
            matrix([1, 2], [2, 0], [0, 1], [1, 1]),
            matrix([0, 1], [1, 1], [2, 1], [1, 0]),
            matrix([1, 0, 2, 0], [0, 2, 1, 0], [3, 1, 0, 1], [2, 2, 0, 0]),
        ),
    ]


# bank/07


# bank/08


BANK = {
    # bank/01
    "bank/01/picker": Exercise(
        right=lambda ids, rows: torch.eye(rows)[ids],
        mistakes={
            "It is transposed: one row per token, one column per row of the table.": (
                lambda ids, rows: torch.eye(rows)[:, ids]
            ),
            "Your ids count from 1; id 0 means the first row, so the first column.": (
                lambda ids, rows: torch.eye(rows)[ids - 1]
            ),
            "Each token must pick one row; here each picks all the rows of the phrase.": (
                lambda ids, rows: torch.eye(rows)[ids].sum(dim=0).expand(len(ids), -1)
            ),
            "You kept the order of the table; the rows must follow the order of the ids.": (
                lambda ids, rows: torch.eye(rows)[ids.sort().values]
            ),
            "You gave the identity matrix, which picks every row once.": (
                lambda ids, rows: torch.eye(rows)
            ),
        },
        inputs=lambda: [
            (torch.tensor([1, 2]), 3),
            (torch.tensor([3, 0, 3, 1, 2]), 4),
        ],
    ),
    "bank/01/changed": Exercise(
        right=_bank_01_changed,
        mistakes={
            "A position does not see what comes after it: the mask is missing.": partial(
                _bank_01_changed, "no mask"
            ),
            "You read the row of token 2, whom it sees; who sees it stands in its column.": partial(
                _bank_01_changed, "mirrored"
            ),
            "Later positions see token 2 as well.": lambda: [2],
            "A position also sees itself.": lambda: [3],
            "Count the positions from 0.": lambda: _bank_01_changed() + 1,
            "These are True and False; give the positions that are True.": (
                lambda: causal_mask(4)[:, 2]
            ),
        },
    ),
    "bank/01/memory": Exercise(
        right=_bank_01_memory,
        mistakes={
            "A number in float16 takes 2 bytes, not 4.": partial(_bank_01_memory, size=4),
            "A number in float16 has 16 bits, and 8 bits are one byte.": partial(
                _bank_01_memory, size=16
            ),
            "You counted numbers, not bytes.": partial(_bank_01_memory, size=1),
            "This is one text; the batch has B of them.": partial(_bank_01_memory, B=1),
            "A MiB is 1024 · 1024 bytes; you divided by a million.": partial(
                _bank_01_memory, unit=1_000_000
            ),
            "These are KiB; divide by 1024 once more.": partial(_bank_01_memory, unit=1024),
            "These are bytes; a MiB is 1024 · 1024 of them.": partial(_bank_01_memory, unit=1),
        },
    ),
    # bank/02
    "bank/02/score": Exercise(
        right=_bank_02_score,
        mistakes={
            "money asked bank; here bank asks, so it is the query.": partial(
                _bank_02_score, "money", "bank"
            ),
            "You left out the matrices.": partial(
                _bank_02_score, ask="identity", answer="identity"
            ),
            "You left out W_Q; the query is the row times W_Q.": partial(
                _bank_02_score, ask="identity"
            ),
            "You left out W_K; the key is the row times W_K.": partial(
                _bank_02_score, answer="identity"
            ),
            "Both met W_Q; the word that answers meets W_K.": partial(_bank_02_score, answer="Q"),
            "Both met W_K; the word that asks meets W_Q.": partial(_bank_02_score, ask="K"),
            "This is the score of bank with itself.": partial(_bank_02_score, key="bank"),
            "You divided by √d_k; the score itself is asked.": (
                lambda: _bank_02_score() / math.sqrt(2)
            ),
        },
    ),
    "bank/02/gradients": Exercise(
        right=_bank_02_gradients,
        mistakes={
            "The order is exchanged: first without the division, then with it.": partial(
                _bank_02_gradients, 2.0, 1.0
            ),
            MISTAKES["by d_k"]: partial(_bank_02_gradients, second=4.0),
            "You did not divide the second time.": partial(_bank_02_gradients, second=1.0),
            "These are the weights; the gradient is w (1 - w).": partial(
                _bank_02_gradients, given=lambda w: w
            ),
            "These are the second weights, 1 - w; multiply them by w.": partial(
                _bank_02_gradients, given=lambda w: 1 - w
            ),
            "This is how w changes with the other score; its own score gives w (1 - w).": partial(
                _bank_02_gradients, given=lambda w: w * (w - 1)
            ),
            "You divided the gradient; divide the scores, before the softmax.": (
                lambda: _bank_02_gradients(second=1.0) / matrix(1, 2)
            ),
        },
    ),
    "bank/02/scaled": exercise(
        _bank_02_scaled,
        "unscaled, by d_k, by √d_model, by √T, transposed",
        _bank_02_inputs,
        {
            "You compared the rows of X; compare X @ W_Q with X @ W_K.": lambda X, W_Q, W_K: (
                X @ X.T / math.sqrt(W_K.shape[1])
            ),
            "You used W_Q for both; the keys come from W_K.": lambda X, W_Q, W_K: scale(
                X @ W_Q, X @ W_Q
            ),
            "You used W_K for both; the queries come from W_Q.": lambda X, W_Q, W_K: scale(
                X @ W_K, X @ W_K
            ),
        },
    ),
    # bank/03
    "bank/03/row": exercise(_bank_03_row, "mask after, times mask, no mask, no exp, no sum"),
    "bank/03/causal": exercise(
        weigh_causal,
        "mask after, masked twice, finite fill, times mask, no mask, columns, inverted, "
        "transposed mask, one too many, top left, one too few",
        lambda: [
            (matrix([0, 4, 2], [8, 0, 6], [4, 2, 4]),),
            (matrix([0.43, -0.21, 0.99], [0.32, -0.35, 0.04]),),
            (matrix([1, 0, 2, 1]),),
            (matrix([-2e9, 3], [3, -2e9]),),
        ],
    ),
    # bank/04
    "bank/04/output": exercise(
        _bank_04_output,
        "unscaled, by d_k, by √T, not mixed, scores mixed, equally mixed, rounded",
        None,
        {
            "You counted money once; it stands there twice, and each position is a key.": lambda: (
                attend(*[sentence("money").X] * 3)[1]
            )
        },
    ),
    "bank/04/attention": exercise(
        _bank_04_attention,
        "mask after, times mask, no mask, inverted, transposed mask, one too many, one too few, "
        "unscaled, by d_k, by √T, transposed, columns, keys mixed, not mixed, scores mixed, "
        "rounded",
        _bank_04_inputs,
    ),
    "bank/04/last": exercise(
        _bank_04_last,
        "top left, unscaled, by d_k, columns, keys mixed, not mixed, scores mixed, "
        "equally mixed, rounded",
        lambda: [(Q[-1], K, V) for Q, K, V in _bank_04_inputs()],
    ),
    # bank/05
    # bank/06
    "bank/06/positions": Exercise(
        _bank_06_positions,
        {
            said: partial(_bank_06_positions, wrong=wrong)
            for wrong, said in {
                "exchanged": "Sine and cosine are exchanged: the sine stands in the even column.",
                "from one": "Your positions count from 1; the first row is that of position 0.",
                "one speed": "Every pair turns at one speed: divide the angle.",
                "multiplied": "You multiplied the position by the power of 10000; divide it.",
                "half exponent": "Your exponent is half of what it should be: 2 · pair / d_model.",
                "angle each": "The two columns of a pair share one angle; yours have one each.",
                "in blocks": "All sines stand first; they must take turns with the cosines.",
                "degrees": "You took the angles as degrees; they are radians.",
            }.items()
        },
        inputs=lambda: [(3, 4), (5, 6), (2, 2)],
        refused=lambda: [((4, 7), "7")],
    ),
    "bank/06/score": Exercise(
        _bank_06_score,
        {
            "This is the score without any turn.": partial(_bank_06_score, 0, 0),
            "The distance has the wrong sign: the query stands after the key.": partial(
                _bank_06_score, 1000, 1002
            ),
            "You turned the query alone.": partial(_bank_06_score, key=0),
            "You turned the key alone.": partial(_bank_06_score, query=0),
            "You added the positions; the distance is their difference.": partial(
                _bank_06_score, 1002, -1000
            ),
            "The second pair turned as fast as the first; divide its angle.": partial(
                _bank_06_score, one_speed=True
            ),
            "You turned in halves; here neighbors make a pair.": partial(
                _bank_06_score, halves=True
            ),
            "You took the angles as degrees; they are radians.": partial(
                _bank_06_score, math.radians(1002), math.radians(1000)
            ),
            "You divided by √d_k; the score itself is asked.": partial(_bank_06_score, divisor=2.0),
        },
    ),
    "bank/06/attention": exercise(
        _bank_06_attention,
        "unscaled, by d_k, transposed, no mask, mask after, columns, keys mixed, not mixed, "
        "scores mixed",
        _bank_06_inputs,
        {
            said: partial(_bank_06_attention, wrong=wrong)
            for wrong, said in {
                "not turned": "Nothing has been turned: give each row its position.",
                "query alone": "You turned the queries alone; the keys turn as well.",
                "key alone": "You turned the keys alone; the queries turn as well.",
                "wrong way": "You turned the wrong way, by the negative angle.",
                "in halves": "You turned in halves; here neighbors make a pair.",
                "values turned": "You turned the values, too; they stay as they are.",
                "turned after": "You turned the output, too; it stays as it is.",
                "added": "You added sinusoidal positions; here queries and keys are turned.",
            }.items()
        },
    ),
    # bank/07
    # bank/08
}
