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


# bank/07


def _bank_07_loss(logits, targets, real, axis=-1, mean=lambda right, real: -right[real].mean()):
    logs = torch.log_softmax(logits, dim=axis)
    return mean(logs.gather(-1, targets[..., None])[..., 0], real)


def _bank_07_inputs():
    """A padded batch, then one without padding and with other sizes."""
    padded = torch.stack(
        [
            matrix([2, 0, 1, -1], [0, 3, 1, 1], [1, 0, 0, 2]),
            matrix([0, 1, 2, 0], [1, 1, 4, 0], [3, 0, 1, 1]),
        ]
    )
    real = torch.tensor([[True, True, True], [True, False, False]])
    full = matrix([1, 0, 2], [0, 1, 0])[None]
    return [
        (padded, torch.tensor([[0, 1, 3], [1, 2, 3]]), real),
        (full, torch.tensor([[2, 0]]), torch.ones(1, 2, dtype=torch.bool)),
    ]


def _bank_07_guess(shore=2 / 3, phrases=(2 / 3, 1 / 3), log=math.log):
    """The loss of a model that gives `shore` to shore and the rest to loan, always."""
    return -(phrases[0] * log(shore) + phrases[1] * log(1 - shore))


def _bank_07_patched(weights=(0.25, 0.75), first=(0, 6), second=(1, 1)):
    return matrix(weights)[0] @ matrix(first, second)


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
    # bank/07
    "bank/07/loss": Exercise(
        right=_bank_07_loss,
        mistakes={
            said: partial(_bank_07_loss, **wrong)
            for said, wrong in {
                "You counted the padding; only the real positions have a next word.": {
                    "mean": lambda right, real: -right.mean()
                },
                "You took the last position alone; every real position counts.": {
                    "mean": lambda right, real: -right[:, -1].mean()
                },
                "You divided by the number of all positions; divide by that of the real ones.": {
                    "mean": lambda right, real: -(right * real).mean()
                },
                "You took the mean in each phrase first; take one mean over all real positions.": {
                    "mean": lambda right, real: (
                        -((right * real).sum(dim=1) / real.sum(dim=1)).mean()
                    )
                },
                "You added up; divide by the number of real positions.": {
                    "mean": lambda right, real: -right[real].sum()
                },
                "The sign is missing: a logarithm of a probability is negative.": {
                    "mean": lambda right, real: right[real].mean()
                },
                "You took the mean of the probabilities; take the logarithm of each.": {
                    "mean": lambda right, real: -right[real].exp().mean()
                },
                "You took the logarithm of the mean; take the mean of the logarithms.": {
                    "mean": lambda right, real: -right[real].exp().mean().log()
                },
                "This is the logarithm to base 2; take the natural one, ln.": {
                    "mean": lambda right, real: -right[real].mean() / math.log(2)
                },
                "The softmax ran over the positions; it runs over the words.": {"axis": 1},
                "The softmax ran over the phrases; it runs over the words.": {"axis": 0},
            }.items()
        }
        | {
            "These are the logits; a softmax makes probabilities of them.": (
                lambda logits, targets, real: (
                    -logits.gather(-1, targets[..., None])[..., 0][real].mean()
                )
            )
        },
        inputs=_bank_07_inputs,
    ),
    "bank/07/guess": Exercise(
        right=_bank_07_guess,
        mistakes={
            "This is ln 2, for one half each; two of the three phrases want shore.": partial(
                _bank_07_guess, shore=1 / 2
            ),
            "This is ln 3, a guess among three words; only two words are wanted.": (
                lambda: math.log(3)
            ),
            "This is ln 5, a guess among five words; only two words are wanted.": (
                lambda: math.log(5)
            ),
            "This is the logarithm to base 2; take the natural one, ln.": partial(
                _bank_07_guess, log=math.log2
            ),
            "You gave the two words equal say; two phrases want shore and one wants loan.": partial(
                _bank_07_guess, phrases=(1 / 2, 1 / 2)
            ),
            "This is the loss after river bank alone; one phrase in three wants loan.": partial(
                _bank_07_guess, phrases=(1, 0)
            ),
            "You exchanged the probabilities; shore is wanted more often.": partial(
                _bank_07_guess, shore=1 / 3
            ),
            "This is the sum over the three phrases; take the mean.": lambda: 3 * _bank_07_guess(),
            "You took the logarithm of the mean; take the mean of the logarithms.": (
                lambda: -math.log(2 / 3 * 2 / 3 + 1 / 3 * 1 / 3)
            ),
            "Always saying shore costs an infinite loss after money bank.": lambda: math.inf,
            "The sign is missing: a logarithm of a probability is negative.": (
                lambda: -_bank_07_guess()
            ),
        },
    ),
    "bank/07/patched": Exercise(
        right=_bank_07_patched,
        mistakes={
            "This is the output before the patch.": partial(_bank_07_patched, first=(4, 0)),
            "You patched the value of bank; it is the value of river that goes.": partial(
                _bank_07_patched, first=(4, 0), second=(0, 6)
            ),
            "You put the value in the place of the whole output; it goes in by its weight.": (
                lambda: [0, 6]
            ),
            "You exchanged the weights; the place of river keeps its 0.25.": partial(
                _bank_07_patched, weights=(0.75, 0.25)
            ),
            "You added the new value; it takes the place of the old one.": partial(
                _bank_07_patched, first=(4, 6)
            ),
            "This is what the patch adds to the output; the output itself is asked.": partial(
                _bank_07_patched, first=(-4, 6), second=(0, 0)
            ),
            "You left the value of bank out.": partial(_bank_07_patched, second=(0, 0)),
        },
    ),
    # bank/08
}
