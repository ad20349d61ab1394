"""The mistakes that many exercises know, and the steps of attention with each of them built in."""

import math
from functools import partial

import torch

from attention_by_hand.exercises.judge import Exercise

# What is said of each.
MISTAKES = {
    "unscaled": "The scaling is missing: divide the scores by √d_k before the softmax.",
    "scaled again": "You divided once more; these scores are scaled already.",
    "by d_k": "You divided by d_k, the width of a key; the divisor is its square root.",
    "by √d_model": "You divided by √d_model, the width of X; the divisor is √d_k, of a key.",
    "by √T": "You divided by √T, the number of tokens; the divisor is √d_k, of a key.",
    "transposed": "Your scores are transposed, or Q and K exchanged: it is Q times K transposed.",
    "mask after": "You masked after the softmax, so the rows no longer sum to 1: mask before it.",
    "times mask": "You set blocked scores to 0, but exp(0) is 1: set them to -inf.",
    "finite fill": "You filled with a finite number, and a real score was lower still: use -inf.",
    "no maximum": "exp of a large negative number is 0: subtract the row's maximum first.",
    "no mask": "You left the mask out.",
    "masked twice": "What is blocked went into the softmax, or into its maximum: mask before both, "
    "or a row can be left with 0 / 0.",
    "inverted": "Your mask is upside down: True must mean may attend.",
    "transposed mask": "You kept the future and hid the past.",
    "one too many": "You let each query see one key of its future.",
    "one too few": "Token 0 sees nothing, so its row is NaN: keep the diagonal.",
    "top left": "You counted from the top left: the last query must see every key.",
    "shifted left": "You moved the diagonal to the left: tril(n) with n > 0 moves it to the right.",
    "rows blocked": "You blocked rows (queries); padding must be blocked as columns (keys).",
    "columns": "Your columns sum to 1, not your rows: the softmax ran over the wrong axis.",
    "batches": "The softmax ran over dim 0, the batch; it must run along each row.",
    "no exp": "You divided the scores by their sum; take exp first.",
    "no softmax": "These are the masked scores; the softmax is missing.",
    "no sum": "You took exp but did not divide by the sum.",
    "whole sum": "You divided by the sum of the whole matrix; each row has a sum of its own.",
    "rounded": "You rounded on the way; keep every digit and round once, at the end.",
    "keys mixed": "You mixed the keys; the weights mix the values.",
    "scores mixed": "You mixed with scores; turn them into weights with softmax first.",
    "not mixed": "These are the weights; the last step is missing: mix the rows with them.",
    "equally mixed": "This is the plain average of all rows; use the weights.",
    "cut by view": "One view cuts across tokens: split the last axis, then exchange T and H.",
    "every H-th": "Your head takes every H-th column; it has d_head columns side by side.",
    "X cut": "You gave each head a slice of X; cut Q, K and V instead, made from all of X.",
    "one head": "You did not split: this is one head of the full width.",
    "merged as it lies": "You merged without the transpose: exchange H and T before the reshape.",
    "all by view": "You split and merged with view alone: both need the transpose of T and H.",
    "added": "You added the heads; put them side by side, then multiply by W_O.",
    "averaged": "You averaged the heads; put them side by side, then multiply by W_O.",
    "no W_O": "W_O is missing: the merged heads are multiplied by it.",
    "W_O transposed": "You used W_O transposed; here it is used as it stands.",
    "W transposed": "You used W_Q, W_K and W_V transposed; here they are used as they stand.",
}


def scale(Q, K, wrong=None):
    if wrong == "transposed":
        Q, K = K, Q
    d_k, T = Q.shape[-1], Q.shape[-2]
    divisor = {"unscaled": 1.0, "by d_k": d_k, "by √T": math.sqrt(T)}.get(wrong, math.sqrt(d_k))
    return Q @ K.transpose(-2, -1) / divisor


def weigh(scaled, allowed=None, wrong=None):
    if allowed is None or wrong == "no mask":
        allowed = torch.ones_like(scaled, dtype=torch.bool)
    if wrong == "inverted":
        allowed = ~allowed
    if wrong == "rows blocked":
        allowed = allowed.transpose(-2, -1)
    if wrong == "scaled again":
        scaled = scaled / math.sqrt(scaled.shape[-1])
    fill = {"finite fill": -1e9}.get(wrong, -torch.inf)
    masked = scaled * allowed if wrong == "times mask" else scaled.masked_fill(~allowed, fill)
    if wrong in ("mask after", "masked twice"):
        kept = torch.softmax(scaled, dim=-1) * allowed
        return kept if wrong == "mask after" else kept / kept.sum(dim=-1, keepdim=True)
    if wrong == "no exp":
        return masked / masked.sum(dim=-1, keepdim=True)
    if wrong == "no softmax":
        return masked
    if wrong == "no sum":
        return torch.exp(masked)
    if wrong == "no maximum":
        return torch.exp(masked) / torch.exp(masked).sum(dim=-1, keepdim=True)
    if wrong == "whole sum":
        return torch.exp(masked) / torch.exp(masked).sum()
    return torch.softmax(masked, dim={"columns": -2, "batches": 0}.get(wrong, -1))


def attend(Q, K, V, wrong=None, allowed=None):
    """One attention with at most one mistake in it."""
    scaled = scale(Q, K, wrong)
    weights = weigh(scaled, allowed, wrong)
    if wrong == "rounded":
        weights = weights.round(decimals=3)
    if wrong == "keys mixed":
        V = K
    if wrong == "not mixed":
        return weights
    if wrong == "equally mixed":
        return V.mean(dim=-2, keepdim=True).expand(*weights.shape[:-1], -1)
    return (scaled if wrong == "scores mixed" else weights) @ V


def causal(queries, keys, wrong=None):
    """A causal mask, or one of the masks that people write in its place."""
    everything = torch.ones(queries, keys, dtype=torch.bool)
    shift = keys - queries
    if wrong == "transposed mask":
        return everything.triu(shift)
    off = {"one too many": 1, "one too few": -1, "top left": -shift, "shifted left": -2 * shift}
    return everything.tril(shift + off.get(wrong, 0))


def weigh_causal(scaled, wrong=None):
    return weigh(scaled, causal(*scaled.shape, wrong), wrong)


def queries(X, W_Q, wrong=None):
    """X @ W_Q, shrunk so that √d_k divides it as √d_model would, where that is the mistake."""
    d_model, d_k = W_Q.shape
    return X @ W_Q * (math.sqrt(d_k / d_model) if wrong == "by √d_model" else 1)


def exercise(answer, wrong, inputs=None, others=None):
    """An Exercise whose mistakes are made by its own answer, told to go wrong.

    answer: a function of the inputs and `wrong`. wrong: keys of MISTAKES, separated by commas.
    others: mistakes of this exercise alone, as in Exercise.
    """
    mistakes = {MISTAKES[name]: partial(answer, wrong=name) for name in wrong.split(", ")}
    return Exercise(answer, mistakes | (others or {}), inputs)


def matrix(*rows):
    return torch.tensor(rows, dtype=torch.float32)
