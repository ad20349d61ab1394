"""The exercises of the track mouse."""

import math
from functools import partial
from itertools import count

import torch

from attention_by_hand.attention import attention
from attention_by_hand.examples import sentence
from attention_by_hand.exercises.judge import Exercise
from attention_by_hand.exercises.mistakes import MISTAKES, attend, exercise, scale, weigh

# mouse/01


def _mouse_01_inputs():
    """Two pairs of sequences: the words that ask, and more words, or fewer, that are asked."""
    asking, asked = sentence("cat", "mouse friends"), sentence("cat", "keyboard are mouse useful")
    return [(asking.X, asked.X), (sentence("light").X, sentence("light", "a shine").X)]


def _mouse_01_layers(distance, window, rounded=math.ceil):
    return rounded(distance / ((window - 1) / 2))


# mouse/02


def _mouse_02_weights(wrong=None):
    X = sentence("cat", "mouse and useful friends").X
    return weigh(scale(X, X, wrong), None, wrong)[0]


def _mouse_02_skipped():
    """The weights of the words with a score, and none for the word without."""
    X = sentence("cat", "mouse and useful friends").X
    scaled = scale(X, X)[0]
    return torch.softmax(scaled.masked_fill(scaled == 0, -torch.inf), dim=-1)


def _mouse_02_output(X, i, wrong=None):
    return attend(X, X, X, wrong)[i]


def _mouse_02_inputs():
    mixed = sentence("cat", "keyboard mouse useful friends")
    return [(sentence("cat").X, 0), (mixed.X, 1), (sentence("light").X, 4)]


def _mouse_02_outvoted(mix=lambda X: attention(X, X, X).output[1]):
    """How many useful it takes until tech is larger than animal in the mixed row."""
    for number in count():
        animal, tech, _ = mix(sentence("cat", "cat mouse" + " useful" * number).X).tolist()
        if tech > animal:
            return number


# mouse/03


# mouse/04

MOUSE = {
    # mouse/01
    "mouse/01/scores": Exercise(
        right=lambda Q, K: Q @ K.T,
        mistakes={
            MISTAKES["transposed"]: lambda Q, K: K @ Q.T,
            "You compared the words that ask with each other; compare them with those asked.": (
                lambda Q, K: Q @ Q.T
            ),
            "You compared the words that are asked with each other; the queries are in Q.": (
                lambda Q, K: K @ K.T
            ),
            "These are weights; the scores come before the softmax.": (
                lambda Q, K: attention(Q, K, K).weights
            ),
            "You divided by √d_k; the scores themselves are asked.": scale,
        },
        inputs=_mouse_01_inputs,
    ),
    "mouse/01/layers": Exercise(
        right=_mouse_01_layers,
        mistakes={
            "You counted both sides of the window; the word lies on one of them.": (
                lambda distance, window: math.ceil(distance / (window - 1))
            ),
            "You divided by the whole window; one side of it is what a layer adds.": (
                lambda distance, window: math.ceil(distance / window)
            ),
            "You made the whole view as wide as the distance; half of it is on the other side.": (
                lambda distance, window: math.ceil((distance - 1) / (window - 1))
            ),
            "You rounded down, so the last part of the way is missing.": partial(
                _mouse_01_layers, rounded=math.floor
            ),
            "You counted the words in between; the word itself must be seen, too.": (
                lambda distance, window: _mouse_01_layers(distance - 1, window)
            ),
            "This is one layer more than is needed.": (
                lambda distance, window: _mouse_01_layers(distance, window) + 1
            ),
            "This fits a window of 3; a wider one adds more to the reach of a layer.": (
                lambda distance, window: distance
            ),
            "A part of a layer is no layer: round up.": (
                lambda distance, window: 2 * distance / (window - 1)
            ),
            "This is the number of words that one layer sees to each side.": (
                lambda distance, window: (window - 1) // 2
            ),
        },
        inputs=lambda: [(17, 3), (7, 5), (10, 7), (2, 5)],
    ),
    # mouse/02
    "mouse/02/weights": exercise(
        _mouse_02_weights,
        "unscaled, by d_k, by √T, no exp, no sum",
        None,
        {"A score of 0 gets a weight as well: exp(0) is 1.": _mouse_02_skipped},
    ),
    "mouse/02/output": exercise(
        _mouse_02_output,
        "unscaled, by d_k, by √T, not mixed, scores mixed, equally mixed, rounded",
        _mouse_02_inputs,
        {
            "You took column i of the weights, or the softmax of the columns; word i asks in row "
            "i.": partial(_mouse_02_output, wrong="columns"),
            "√3 fits rows that are 3 wide; take the width from X.": lambda X, i: (
                torch.softmax(X @ X.T / math.sqrt(3), dim=-1)[i] @ X
            ),
            "These are the outputs of all words; give row i.": lambda X, i: attend(X, X, X),
            "This is the row that went in; give the one that comes out.": lambda X, i: X[i],
        },
    ),
    "mouse/02/outvoted": Exercise(
        right=_mouse_02_outvoted,
        mistakes={
            "That is how many outvote cat in the plain average; attention weighs.": partial(
                _mouse_02_outvoted, lambda X: X.mean(dim=0)
            ),
            "Here animal is still ahead of tech.": lambda: _mouse_02_outvoted() - 1,
            "You counted all words of the sentence; how many of them are useful?": lambda: (
                _mouse_02_outvoted() + 2
            ),
            MISTAKES["unscaled"]: partial(
                _mouse_02_outvoted, lambda X: attend(X, X, X, "unscaled")[1]
            ),
            MISTAKES["by d_k"]: partial(_mouse_02_outvoted, lambda X: attend(X, X, X, "by d_k")[1]),
        },
    ),
    # mouse/03
    # mouse/04
}
