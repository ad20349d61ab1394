"""The exercises of bank/01 to bank/04: one attention, step by step."""

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


_W_Q, _W_K = matrix([3, 1], [2, 0]), matrix([1, 2], [3, 2])


def _bank_02_row(word):
    return sentence("river", word).X[0]


def _bank_02_score(query="bank", key="money", W_Q=_W_Q, W_K=_W_K):
    return _bank_02_row(query) @ W_Q @ (_bank_02_row(key) @ W_K)


def _bank_02_table():
    words = ["money", "bank"]
    return torch.stack([torch.stack([_bank_02_score(q, k) for k in words]) for q in words])


def _bank_02_gradients(first=1.0, second=2.0, given=lambda w: w * (1 - w)):
    """The scores 6 and 0 over the divisors `first` and `second`, and what is given of a weight."""
    weights = torch.softmax(matrix([6 / first, 0], [6 / second, 0]), dim=-1)
    return given(weights[:, 0])


def _bank_02_scaled(X, W_Q, W_K, wrong=None):
    return scale(queries(X, W_Q, wrong), X @ W_K, wrong)


def _bank_02_inputs():
    """Two in which T, d_model and d_k differ and the scores are not symmetric.

    d_k is that of the lesson, 2, then 3.
    """
    W_Q, W_K = matrix([1, 0], [0, 1], [1, 1]), matrix([0, 1], [2, 0], [1, 0])
    return [(sentence("cat").X, W_Q, W_K), projection_inputs()[0][:3]]


# bank/03


def _bank_03_row(wrong=None):
    scaled, allowed = matrix([0.5, 1, 2]), torch.tensor([[True, True, False]])
    if wrong == "transposed mask":
        allowed = torch.tensor([[False, True, True]])
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
    """Scores that are not symmetric, keys of the lesson's width, then wider; then its phrases."""
    Q = matrix([2, 0, 1], [0, 1, 1], [1, 2, 0], [1, 0, 2])
    K = matrix([1, 1, 0], [0, 2, 1], [2, 0, 0], [1, 0, 1])
    V = matrix([1, 0], [0, 2], [3, 1], [2, 2])
    narrow = (Q[:3, :2], K[:3, :2], torch.cat([V, Q], dim=1)[:3])
    return [narrow, (Q, K, V), *((X, X, X) for X in (sentence("river").X, sentence("money").X))]


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
            "The table decides how many columns there are, `rows`, not the largest id.": (
                lambda ids, rows: torch.eye(int(ids.max()) + 1)[ids]
            ),
            "You gave the identity matrix, which picks every row once.": (
                lambda ids, rows: torch.eye(rows)
            ),
        },
        inputs=lambda: [
            (torch.tensor([2, 1]), 4),
            (torch.tensor([3, 0, 3, 1, 2]), 4),
            (torch.tensor([0, 1]), 3),
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
            "Position 1 does not see token 2.": lambda: [1, 2, 3],
            "Give the positions in rising order.": lambda: [3, 2],
            "Give a list of positions.": lambda: 2,
            "Give a list of positions, not how many or the last.": lambda: 3,
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
            "This is query money, key bank, or the two matrices are exchanged.": partial(
                _bank_02_score, "money", "bank"
            ),
            "You left out the matrices.": partial(
                _bank_02_score, W_Q=torch.eye(2), W_K=torch.eye(2)
            ),
            "You left out W_Q; the query is the row times W_Q.": partial(
                _bank_02_score, W_Q=torch.eye(2)
            ),
            "You left out W_K; the key is the row times W_K.": partial(
                _bank_02_score, W_K=torch.eye(2)
            ),
            "Both met W_Q; the word that answers meets W_K.": partial(_bank_02_score, W_K=_W_Q),
            "Both met W_K; the word that asks meets W_Q.": partial(_bank_02_score, W_Q=_W_K),
            "You put the matrix first; the row comes first, then the matrix.": partial(
                _bank_02_score, W_Q=_W_Q.T, W_K=_W_K.T
            ),
            "You multiplied W_Q by W_K; the key is a row times W_K, of its own.": (
                lambda: _bank_02_row("bank") @ _W_Q @ _W_K @ _bank_02_row("money")
            ),
            "This is the score of bank with itself.": partial(_bank_02_score, key="bank"),
            "This is river bank; take money bank.": partial(_bank_02_score, key="river"),
            "You divided by √d_k; the score itself is asked.": (
                lambda: _bank_02_score() / math.sqrt(2)
            ),
            "You divided by d_k; the score itself is asked.": lambda: _bank_02_score() / 2,
            "This is the whole table; one number is asked.": _bank_02_table,
            "This is a whole row; one number is asked.": lambda: _bank_02_table()[1],
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
            "You divided by √2; these keys have the width 4.": partial(
                _bank_02_gradients, second=math.sqrt(2)
            ),
            "You divided the second number as well; only w (1 - w) is asked.": (
                lambda: _bank_02_gradients() / matrix(1, 2)
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
            "You multiplied by √d_k; divide by it.": lambda X, W_Q, W_K: (
                scale(X @ W_Q, X @ W_K) * W_K.shape[1]
            ),
            "You took the softmax; the scaled scores are asked.": lambda X, W_Q, W_K: weigh(
                scale(X @ W_Q, X @ W_K)
            ),
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
    "bank/03/row": exercise(
        _bank_03_row,
        "mask after, times mask, no mask, no exp, no sum, transposed mask",
        None,
        {
            "The blocked key has a weight, too: 0.": lambda: _bank_03_row()[:2],
            "This is position 0; position 1 is the second token.": lambda: [1, 0, 0],
        },
    ),
    "bank/03/causal": exercise(
        weigh_causal,
        "mask after, masked twice, finite fill, times mask, no mask, columns, inverted, "
        "transposed mask, one too many, top left, one too few, shifted left, no softmax, "
        "scaled again, no maximum",
        lambda: [
            (matrix([0, 4, 2], [8, 0, 6], [4, 2, 4]),),
            (matrix([0.43, -0.21, 0.99], [0.32, -0.35, 0.04]),),
            (matrix([1, 0, 2, 1]),),
            (matrix([3, 1], [-2000, -2001]),),
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
            ),
            "The two numbers are exchanged; d0 comes first.": lambda: _bank_04_output().flip(0),
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
        {
            "You left out the last key; a position sees itself as well.": (
                lambda q, K, V: _bank_04_last(q, K[:-1], V[:-1])
            )
        },
    ),
}
