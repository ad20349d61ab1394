"""The exercises of the track mouse."""

import math
from functools import partial

from attention_by_hand.examples import sentence
from attention_by_hand.exercises.judge import Exercise
from attention_by_hand.exercises.light import projection_inputs
from attention_by_hand.exercises.mistakes import attend, exercise, matrix, queries

# mouse/01


# mouse/02


# mouse/03


def _mouse_03_scores(ask="Q", answer="K", divisor=1.0):
    X = sentence("cat", "keyboard mouse useful").X
    rows = {
        "X": X,
        "Q": X @ matrix([1, 1], [0, 1], [0, 0]),
        "K": X @ matrix([0, 1], [2, 0], [0, 0]),
    }
    return rows[ask] @ rows[answer].T / divisor


def _mouse_03_output(X, W_Q, W_K, W_V, position, wrong=None):
    return attend(queries(X, W_Q, wrong), X @ W_K, X @ W_V, wrong)[position]


def _mouse_03_patched(wrong=None, word=4, mixed=None):
    """mouse in the cat sentence, its weights as they are, one value exchanged for keyboard's."""
    X = sentence("cat").X
    V = X.clone()
    V[word] = matrix(0, 2, 0)
    asked = V if mixed == "keys too" else X
    return attend(asked, asked, X if mixed == "none" else V, wrong)[2]


# mouse/04

MOUSE = {
    # mouse/01
    # mouse/02
    # mouse/03
    "mouse/03/scores": Exercise(
        right=_mouse_03_scores,
        mistakes={
            "It is transposed: the word that asks meets W_Q, the one that answers W_K.": partial(
                _mouse_03_scores, "K", "Q"
            ),
            "Both met W_Q; the word that answers meets W_K.": partial(_mouse_03_scores, answer="Q"),
            "Both met W_K; the word that asks meets W_Q.": partial(_mouse_03_scores, ask="K"),
            "You left out both matrices.": partial(_mouse_03_scores, "X", "X"),
            "You divided by √d_k; the scores themselves are asked.": partial(
                _mouse_03_scores, divisor=math.sqrt(2)
            ),
            "You divided by √d_model; the scores themselves are asked.": partial(
                _mouse_03_scores, divisor=math.sqrt(3)
            ),
        },
    ),
    "mouse/03/output": exercise(
        _mouse_03_output,
        "unscaled, by d_k, by √d_model, by √T, transposed, columns, keys mixed, not mixed, "
        "scores mixed, equally mixed, rounded",
        lambda: [(*projection_inputs()[number], 1 - number) for number in (0, 1)],
        {
            "You mixed X itself; the weights mix the values, X @ W_V.": (
                lambda X, W_Q, W_K, W_V, position: attend(X @ W_Q, X @ W_K, X)[position]
            ),
            "You compared the rows of X; compare X @ W_Q with X @ W_K.": (
                lambda X, W_Q, W_K, W_V, position: attend(X, X, X @ W_V)[position]
            ),
            "These are the outputs of all words; give the row of the one asked for.": (
                lambda X, W_Q, W_K, W_V, position: attend(X @ W_Q, X @ W_K, X @ W_V)
            ),
            "This is another word's output: position counts from 0.": (
                lambda X, W_Q, W_K, W_V, position: attend(X @ W_Q, X @ W_K, X @ W_V)[position - 1]
            ),
        },
    ),
    "mouse/03/patched": exercise(
        _mouse_03_patched,
        "unscaled, by d_k, by √T, rounded, equally mixed",
        None,
        {
            "This is the output without the exchange.": partial(_mouse_03_patched, mixed="none"),
            "You exchanged the whole row, so the key changed, too; the weights stay.": partial(
                _mouse_03_patched, mixed="keys too"
            ),
            "You exchanged the value of cat; friends is word 4.": partial(
                _mouse_03_patched, word=0
            ),
            "You exchanged the value of are; friends is word 4.": partial(
                _mouse_03_patched, word=3
            ),
        },
    ),
    # mouse/04
}
