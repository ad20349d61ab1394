"""The exercises of the track mouse."""

import math
from functools import partial

import torch

from attention_by_hand.examples import sentence
from attention_by_hand.exercises.judge import Exercise
from attention_by_hand.exercises.mistakes import attend, exercise, matrix

# mouse/01


# mouse/02


# mouse/03


# mouse/04


def _mouse_04_heads(X, W_Q, W_K, W_V, W_O, wrong=None):
    (H, d_model, d_k), d_v, T = W_Q.shape, W_V.shape[-1], len(X)
    divisor = {"by √d_v": d_v, "by √d_model": d_model}.get(wrong, d_k)
    heads = attend(X @ W_Q * math.sqrt(d_k / divisor), X @ W_K, X @ W_V, wrong)  # (H, T, d_v)
    if wrong in ("by head", "added", "first"):
        return {"by head": heads, "added": heads.sum(dim=0), "first": heads[0]}[wrong]
    merged = {
        "not transposed": heads.reshape(T, H * d_v),
        "interleaved": heads.permute(1, 2, 0).reshape(T, H * d_v),
        "reversed": torch.cat([*heads.flip(0)], dim=1),
    }.get(wrong, torch.cat([*heads], dim=1))
    if wrong == "residual":
        return X + merged @ W_O
    return merged if wrong == "no W_O" else merged @ W_O


# What is said of the mistakes that this exercise alone knows.
MOUSE_04_HEADS = {
    "by √d_v": "You divided by √d_v, the width of a value; the divisor is √d_k, of a key.",
    "by √d_model": "You divided by √d_model, the width of X; the divisor is √d_k, of a key.",
    "by head": "Your heads still lie one behind the other; set them side by side, then use W_O.",
    "added": "You added the heads; set them side by side, then use W_O.",
    "first": "This is the first head alone.",
    "not transposed": "You merged the heads without moving the tokens to the front first.",
    "interleaved": "You dealt out the heads' numbers in turn; each head's numbers stay together.",
    "reversed": "You set the heads side by side in the wrong order: W_O begins with head 0.",
    "residual": "You added X as well; the joined heads alone are asked.",
    "no W_O": "These are the heads side by side; the product with W_O is missing.",
}


def _mouse_04_inputs():
    """Three heads whose scores are not symmetric, then the two of the lesson."""

    def pattern(*shape):
        return (torch.arange(math.prod(shape)) * 5 % 7 - 3.0).reshape(shape) / 4

    light, cat = sentence("light").X, sentence("cat").X
    animal, tech, grammar = torch.eye(3).split(1, dim=1)
    W_Q = torch.stack([animal, tech])
    W_V = torch.stack([torch.cat([animal, grammar], dim=1), torch.cat([tech, grammar], dim=1)])
    W_O = torch.cat([animal, grammar, tech, grammar], dim=1).T
    return [
        (light, pattern(3, 4, 3), pattern(3, 4, 3).flip(1), pattern(3, 4, 2), pattern(6, 4)),
        (cat, W_Q, W_Q - W_Q.flip(0), W_V, W_O),
    ]


MOUSE = {
    # mouse/01
    # mouse/02
    # mouse/03
    # mouse/04
    "mouse/04/matrix": Exercise(
        right=lambda: matrix([0, 1], [0, 1], [1, 0]),
        mistakes={
            "It is transposed: one row per dimension of X, one column per number of a value.": (
                lambda: matrix([0, 0, 1], [1, 1, 0])
            ),
            "The order is exchanged: the first column makes the first number, grammar.": (
                lambda: matrix([1, 0], [1, 0], [0, 1])
            ),
            "You took the difference of animal and tech; add them.": (
                lambda: matrix([0, 1], [0, -1], [1, 0])
            ),
            "You took the difference of tech and animal; add them.": (
                lambda: matrix([0, -1], [0, 1], [1, 0])
            ),
            "You took the mean of animal and tech; add them.": (
                lambda: matrix([0, 0.5], [0, 0.5], [1, 0])
            ),
            "You kept three numbers; animal and tech become one.": (
                lambda: matrix([0, 1, 0], [0, 0, 1], [1, 0, 0])
            ),
            "These are values; give the matrix that makes them.": (
                lambda: sentence("cat").X @ matrix([0, 1], [0, 1], [1, 0])
            ),
        },
    ),
    "mouse/04/shapes": Exercise(
        right=lambda: [[6, 6], [6, 15], [15, 8]],
        mistakes={
            "You forgot to set the heads side by side: H of them, each d_v wide.": (
                lambda: [[6, 6], [6, 5], [5, 8]]
            ),
            "The heads pass on values, so the width is H · d_v, not H · d_k.": (
                lambda: [[6, 6], [6, 12], [12, 8]]
            ),
            "Heads are set side by side, not one below the other.": (
                lambda: [[6, 6], [18, 5], [5, 8]]
            ),
            "W_O is transposed: it takes H · d_v numbers and gives d_model.": (
                lambda: [[6, 6], [6, 15], [8, 15]]
            ),
            "W_O has to give d_model numbers, so that X can be added.": (
                lambda: [[6, 6], [6, 15], [15, 15]]
            ),
            "The weights are one number for each pair of tokens; d_k is gone.": (
                lambda: [[6, 4], [6, 15], [15, 8]]
            ),
            "The heads need not be d_model wide together; W_O brings them back.": (
                lambda: [[6, 6], [6, 8], [8, 8]]
            ),
        },
    ),
    "mouse/04/heads": exercise(
        _mouse_04_heads,
        "unscaled, by d_k, by √T, transposed, columns, equally mixed, rounded",
        _mouse_04_inputs,
        {said: partial(_mouse_04_heads, wrong=name) for name, said in MOUSE_04_HEADS.items()},
    ),
}
