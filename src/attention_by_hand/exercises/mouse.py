"""The exercises of the track mouse."""

import math
from functools import partial
from itertools import count

import torch

from attention_by_hand.attention import attention
from attention_by_hand.examples import sentence
from attention_by_hand.exercises.judge import Exercise
from attention_by_hand.exercises.light import projection_inputs
from attention_by_hand.exercises.mistakes import (
    MISTAKES,
    attend,
    exercise,
    matrix,
    queries,
    scale,
    weigh,
)

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


def _mouse_03_inputs():
    """Two in which no two of T, d_model, d_k and d_v are equal."""
    found = []
    for number in (0, 1):
        X, W_Q, W_K, W_V = projection_inputs()[number]
        found.append((X, W_Q, W_K, W_V.repeat(1, 6 // W_V.shape[1]), 1 - number))
    return found


def _mouse_03_patched(wrong=None, word=4, mixed=None, asks=2, kept=0):
    """mouse in the cat sentence, its weights as they are, one value exchanged for keyboard's."""
    X = sentence("cat").X
    V = X.clone()
    V[word] = matrix(0, 2, 0) + kept * X[word]
    asked = V if mixed == "keys too" else X
    return attend(asked, asked, X if mixed == "none" else V, wrong)[asks]


# mouse/04


def _mouse_04_heads(X, W_Q, W_K, W_V, W_O, wrong=None):
    (H, d_model, d_k), d_v, T = W_Q.shape, W_V.shape[-1], len(X)
    divisor = {"by √d_v": d_v, "by √d_model": d_model, "by √H": H}.get(wrong, d_k)
    heads = attend(X @ W_Q * math.sqrt(d_k / divisor), X @ W_K, X @ W_V, wrong)  # (H, T, d_v)
    alone = {"by head": heads, "first": heads[0]}
    alone |= {"added": heads.sum(dim=0), "averaged": heads.mean(dim=0)}
    if wrong in alone:
        return alone[wrong]
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
    "by √H": "You divided by √H, of the number of heads; the divisor is √d_k, of a key.",
    "by head": "Your heads still lie one behind the other; set them side by side, then use W_O.",
    "added": "You added the heads; set them side by side, then use W_O.",
    "averaged": "You averaged the heads; set them side by side, then use W_O.",
    "first": "This is the first head alone.",
    "not transposed": "You merged the heads without moving the tokens to the front first.",
    "interleaved": "You dealt out the heads' numbers in turn; each head's numbers stay together.",
    "reversed": "You set the heads side by side in the wrong order: W_O begins with head 0.",
    "residual": "You added X as well; the joined heads alone are asked.",
    "no W_O": "These are the heads side by side; the product with W_O is missing.",
}


def _mouse_04_inputs():
    """Three heads whose scores are not symmetric, all sizes different; then those of the lesson."""

    def pattern(*shape):
        return (torch.arange(math.prod(shape)) * 5 % 7 - 3.0).reshape(shape) / 4

    light, cat = sentence("light", "It's a shine bright light a shine").X, sentence("cat").X
    animal, tech, grammar = torch.eye(3).split(1, dim=1)
    W_Q = torch.stack([animal, tech])
    W_V = torch.stack([torch.cat([animal, grammar], dim=1), torch.cat([tech, grammar], dim=1)])
    W_O = torch.cat([animal, grammar, tech, grammar], dim=1).T
    return [
        (light, pattern(3, 4, 6), pattern(3, 4, 6).flip(1), pattern(3, 4, 5), pattern(15, 4)),
        (cat, W_Q, W_Q - W_Q.flip(0), W_V, W_O),
    ]


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
            "These are weights; the scores themselves are asked.": (
                lambda Q, K: attention(Q, K, K).weights
            ),
            "You divided the scores; they are asked as they are.": scale,
        },
        inputs=_mouse_01_inputs,
    ),
    "mouse/01/layers": Exercise(
        right=_mouse_01_layers,
        mistakes={
            "A layer adds one side of the window, without its middle; you counted more of it.": (
                lambda distance, window: math.ceil(distance / (window - 1))
            ),
            "You divided by the whole window; one side of it is what a layer adds.": (
                lambda distance, window: math.ceil(distance / window)
            ),
            "You took two words off the window; take off its middle, and count one side.": (
                lambda distance, window: math.ceil(distance / (window - 2))
            ),
            "You divided the whole view by the whole window; the middle is counted once.": (
                lambda distance, window: math.ceil((2 * distance + 1) / window)
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
        inputs=lambda: [(17, 3), (29, 5), (10, 7), (2, 5)],
    ),
    # mouse/02
    "mouse/02/weights": exercise(
        _mouse_02_weights,
        "unscaled, by d_k, by √T, no exp, no sum",
        None,
        {
            "A score of 0 gets a weight as well: exp(0) is 1.": _mouse_02_skipped,
            "These are the scores; scale them, then make weights of them with softmax.": (
                lambda: matrix(2, 0, 0.5, 0.5)
            ),
            "These are the scaled scores; make weights of them with softmax.": (
                lambda: matrix(2, 0, 0.5, 0.5) / math.sqrt(3)
            ),
        },
    ),
    "mouse/02/output": exercise(
        _mouse_02_output,
        "unscaled, by d_k, by √T, not mixed, scores mixed, equally mixed, rounded",
        _mouse_02_inputs,
        {
            "You took column i of the weights, or the softmax of the columns; word i asks in row "
            "i.": partial(_mouse_02_output, wrong="columns"),
            "You mixed with scores, not scaled either: scale them, then make weights of them.": (
                lambda X, i: X @ X[i] @ X
            ),
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
            "So many are enough in the plain average; attention weighs.": partial(
                _mouse_02_outvoted, lambda X: X.mean(dim=0)
            ),
            "You counted all words of the sentence; how many of them are useful?": lambda: (
                _mouse_02_outvoted() + 2
            ),
            "So many are needed if the scores are not scaled; with √d_k, fewer will do.": partial(
                _mouse_02_outvoted, lambda X: attend(X, X, X, "unscaled")[1]
            ),
            "So many are enough if you divide by d_k; with √d_k, animal is still ahead.": partial(
                _mouse_02_outvoted, lambda X: attend(X, X, X, "by d_k")[1]
            ),
        },
        otherwise=lambda number, right: (
            "Words come in whole numbers."
            if number != number.round()
            else "With so many, animal is still ahead of tech."
            if number < right
            else "With so many, tech is ahead of animal, but a smaller whole number will do."
        ),
    ),
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
            "These are weights; the scores come before the softmax.": lambda: torch.softmax(
                _mouse_03_scores(divisor=math.sqrt(2)), dim=-1
            ),
        },
    ),
    "mouse/03/output": exercise(
        _mouse_03_output,
        "unscaled, by d_k, by √d_model, by √T, transposed, columns, keys mixed, not mixed, "
        "scores mixed, equally mixed, rounded",
        _mouse_03_inputs,
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
            "This is the output of word 2; the word at `position` is asked.": (
                lambda X, W_Q, W_K, W_V, position: attend(X @ W_Q, X @ W_K, X @ W_V)[2]
            ),
            "You divided by √d_v, the width of a value; the divisor is √d_k, of a key.": (
                lambda X, W_Q, W_K, W_V, position: attend(
                    X @ W_Q * math.sqrt(W_K.shape[1] / W_V.shape[1]), X @ W_K, X @ W_V
                )[position]
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
            "You exchanged the value of mouse; friends is word 4.": partial(
                _mouse_03_patched, word=2
            ),
            "This is the output of friends; the output of mouse is asked.": partial(
                _mouse_03_patched, asks=4
            ),
            "You added the value of keyboard to that of friends; put it in its place.": partial(
                _mouse_03_patched, kept=1
            ),
        },
    ),
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
            "Your content is animal alone; add tech.": lambda: matrix([0, 1], [0, 0], [1, 0]),
            "Your content is tech alone; add animal.": lambda: matrix([0, 0], [0, 1], [1, 0]),
            "This is the matrix of the lesson, which makes animal and tech of each word.": (
                lambda: matrix([1, 0], [0, 1], [0, 0])
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
            "W_O gives d_model numbers for each token; the number of tokens is not in it.": (
                lambda: [[6, 6], [6, 15], [15, 6]]
            ),
            "The weights are one number for each pair of tokens; d_k is gone.": (
                lambda: [[6, 4], [6, 15], [15, 8]]
            ),
            "The heads need not be d_model wide together; W_O brings them back.": (
                lambda: [[6, 6], [6, 8], [8, 8]]
            ),
        },
        form="A list of three pairs",
        otherwise=lambda pairs, right: (
            "Not right: pair "
            + ", pair ".join(
                str(n) for n, same in enumerate((pairs == right).all(dim=1), 1) if not same
            )
            + "."
        ),
    ),
    "mouse/04/heads": exercise(
        _mouse_04_heads,
        "unscaled, by d_k, by √T, transposed, columns, equally mixed, rounded",
        _mouse_04_inputs,
        {said: partial(_mouse_04_heads, wrong=name) for name, said in MOUSE_04_HEADS.items()},
    ),
}
