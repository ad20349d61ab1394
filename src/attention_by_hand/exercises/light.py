"""The exercises of the first page and of the track light."""

import math

import torch

from attention_by_hand.attention import padding_mask
from attention_by_hand.examples import sentence
from attention_by_hand.exercises.judge import Exercise
from attention_by_hand.exercises.mistakes import (
    MISTAKES,
    attend,
    exercise,
    matrix,
    queries,
    scale,
    weigh,
    weigh_causal,
)


def _light():
    return sentence("light").X


def _batch():
    return torch.stack([_light(), sentence("light", "a bright light [pad] [pad]").X])


def _projections():
    """The integer matrices of light/03: W_Q, W_K and W_V."""
    W_Q = matrix([1, 0], [0, 1], [1, 0], [0, 1])
    return W_Q, W_Q.flip(1), matrix([1, 0], [0, 1], [0, 1], [1, 0])


def _light_01_weights(wrong=None):
    scores, d_k = matrix([2, 2, 0]), 4
    divisor = {"unscaled": 1, "by d_k": d_k}.get(wrong, math.sqrt(d_k))
    return weigh(scores / divisor, None, wrong)[0]


def _light_01_output(wrong=None):
    X = sentence("light", "It's a shine").X
    return attend(X, X, X, wrong)[0]


def _light_01_attention(X, wrong=None):
    return attend(X, X, X, wrong)


def _light_02_scaled(X, wrong=None):
    return scale(X, X, wrong)


def _light_02_inputs():
    """One sentence; a batch whose second mask differs; rows in which a blocked score is far larger,
    then one in which an allowed score is far below 0."""
    row = matrix([0.43, -0.21, 0.99, 0.32, -0.35, 0.04])
    batch = _batch().flip(0)
    return [
        (row.repeat(1, 6, 1), padding_mask([3], 6)),
        (scale(batch, batch), padding_mask([3, 5])),
        (matrix([0, 200], [1, 300])[None], padding_mask([1], 2)),
        (matrix([3, -2e9], [-2e9, 3])[None], padding_mask([1], 2)),
    ]


def _light_03_attention(X, W_Q, W_K, W_V, wrong=None):
    return attend(queries(X, W_Q, wrong), X @ W_K, X @ W_V, wrong)


def projection_inputs():
    """Two whose scores are not symmetric, so that a transpose shows, then the lesson's own."""
    W_Q, own, W_V = _projections()
    W_K = matrix([0, 1, 1], [1, 0, 0], [0, 2, 1], [1, 0, 2])
    return [
        (_light(), torch.cat([W_Q, W_V[:, :1]], dim=1), W_K, W_V),
        (_light(), W_Q, W_V, W_K),
        (_light(), W_Q, own, W_V),
    ]


LIGHT = {
    "start/dot": Exercise(
        right=lambda: 11,
        mistakes={
            "You added all the numbers; multiply pair by pair, then add.": lambda: 10,
            "You paired the wrong numbers; pair first with first.": lambda: 14,
            "You multiplied but did not add; a dot product is one number.": lambda: [8, 3],
        },
    ),
    "start/average": Exercise(
        right=lambda: [3, 2],
        mistakes={
            "This is the plain average; use the two weights.": lambda: [2, 4],
            "You gave each row the other row's weight.": lambda: [1, 6],
            "You added the rows without weighting them.": lambda: [4, 8],
            "You weighted the rows but did not add them.": lambda: [[3, 0], [0, 2]],
        },
    ),
    "light/01/weights": exercise(_light_01_weights, "unscaled, by d_k, no exp, no sum"),
    "light/01/output": exercise(
        _light_01_output,
        "rounded, unscaled, by d_k, columns, not mixed, scores mixed, equally mixed",
    ),
    "light/01/attention": exercise(
        _light_01_attention,
        "unscaled, by d_k, by √T, columns, no exp, no sum, whole sum, "
        "not mixed, scores mixed, equally mixed, rounded",
        lambda: [(_light(),), (sentence("cat").X,), (sentence("river").X,)],
    ),
    "light/02/scaled": exercise(
        _light_02_scaled,
        "unscaled, by d_k, by √T",
        lambda: [(_batch(),), (sentence("cat").X[None],)],
        {
            "You compared dimensions, not tokens: the transposed X comes second.": lambda X: (
                X.transpose(-2, -1) @ X / math.sqrt(X.shape[-1])
            )
        },
    ),
    "light/02/allowed": Exercise(
        right=padding_mask,
        mistakes={
            MISTAKES["inverted"]: lambda lengths, T: ~padding_mask(lengths, T),
            MISTAKES["rows blocked"]: lambda lengths, T: padding_mask(lengths, T).transpose(1, 2),
            "The query axis is missing: the shape must be (B, 1, T).": lambda lengths, T: (
                padding_mask(lengths, T)[:, 0]
            ),
            "You let one padding token through: positions count from 0.": lambda lengths, T: (
                torch.arange(T) <= torch.tensor(lengths)[:, None, None]
            ),
        },
        inputs=lambda: [([5, 3], 5), ([1, 4, 2], 4), ([2, 3], 5)],
    ),
    "light/02/weights": exercise(
        weigh,
        "mask after, no maximum, masked twice, times mask, finite fill, no mask, inverted, "
        "rows blocked, columns, batches",
        _light_02_inputs,
        {
            "You gave every sentence the mask of the first; each has its own.": (
                lambda scaled, allowed: weigh(scaled, allowed[:1])
            )
        },
    ),
    "light/03/attention": exercise(
        _light_03_attention,
        "keys mixed, transposed, unscaled, by d_k, by √d_model, by √T, columns, not mixed, "
        "scores mixed, rounded",
        projection_inputs,
        {
            "You mixed X itself; the weights mix the values, X @ W_V.": lambda X, W_Q, W_K, W_V: (
                attend(X @ W_Q, X @ W_K, X)
            )
        },
    ),
    "light/03/weight": Exercise(
        right=lambda W: W.T,
        mistakes={
            "nn.Linear uses the transpose of what it stores; you stored W itself.": lambda W: W,
            "You changed the shape and kept the order of the numbers; rows must become columns.": (
                lambda W: W.reshape(*W.T.shape)
            ),
        },
        inputs=lambda: [(matrix([1, 2], [3, 4], [5, 6]),), (matrix([1, 2], [3, 4]),)],
    ),
    "light/03/causal": exercise(
        weigh_causal,
        "mask after, times mask, no mask, columns, inverted, "
        "transposed mask, one too many, one too few",
        lambda: [(scale(_light(), _light()),), (matrix([0, 4, 2], [8, 0, 6], [4, 2, 4]),)],
    ),
}
