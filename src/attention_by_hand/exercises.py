"""check: says whether an answer is right, or names the mistake. It never shows the answer."""

import copy
import math
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch

from attention_by_hand.attention import causal_mask, padding_mask
from attention_by_hand.examples import sentence

# Four printed decimals pass; a result made from numbers rounded to three does not.
TOLERANCE = 2e-4


@dataclass(frozen=True)
class Exercise:
    """A right answer and the wrong ones that people give.

    right: a function that returns the right answer.
    mistakes: what to say -> a function of the same input that returns the wrong answer.
    inputs: returns the argument tuples a learner's function is tried on; None where the answer is
    a value.
    """

    right: Callable
    mistakes: dict[str, Callable]
    inputs: Callable | None = None


def check(name, answer):
    """Print one line: not answered yet, right, or the mistake by name.

    name: an exercise such as "light/01/weights". answer: a value (number, list, array or tensor)
    or, where the exercise asks for one, a function.
    Raises ValueError for an unknown name.
    """
    if name not in EXERCISES:
        raise ValueError(f"There is no exercise {name!r}.")
    print(f"{name}: {verdict(EXERCISES[name], answer)}")


def verdict(exercise, answer):
    """Return the sentence that check() prints after the name."""
    if answer is None or answer is ...:
        return "not answered yet."
    if exercise.inputs is None:
        return _judge(exercise, (), answer)
    if not callable(answer):
        return f"not yet. The answer is a function, but this is a {type(answer).__name__}."
    for arguments in exercise.inputs():
        shown = ", ".join(
            f"a tensor {tuple(a.shape)}" if isinstance(a, torch.Tensor) else f"{a}"
            for a in arguments
        )
        try:
            # A copy: a function that changes its input must not change what it is judged by.
            result = answer(*copy.deepcopy(arguments))
        except Exception as error:
            reason = "".join(traceback.format_exception_only(error)).split("\n")[0]
            return f"not yet. It stops with {reason} (It was given {shown}.)"
        if result is ...:
            return "not answered yet."
        if result is None:
            return "not yet. Your function returns None: does it end with return?"
        said = _judge(exercise, arguments, result)
        if said.startswith("not yet. The shape is right"):
            said += f" (It was given {shown}: is a size of the lesson written into it?)"
        if said != "right.":
            return said
    return "right."


def _judge(exercise, arguments, answer):
    try:
        answer = torch.as_tensor(answer).detach()
    except (TypeError, ValueError, RuntimeError):
        return (
            "not yet. A number, a tensor or a list of numbers is needed, "
            f"but this {type(answer).__name__} is none of them."
        )
    right = torch.as_tensor(exercise.right(*arguments))
    if right.dtype == torch.bool and answer.dtype != torch.bool:
        return f"not yet. True and False are needed, but these are numbers ({answer.dtype})."
    answer, right = answer.double(), right.double()
    if _same(answer, right):
        return "right."
    for mistake, wrong in exercise.mistakes.items():
        if _same(answer, torch.as_tensor(wrong(*arguments)).double()):
            return f"not yet. {mistake}"
    if answer.shape != right.shape:
        return f"not yet. The shape is {tuple(answer.shape)}; {tuple(right.shape)} is needed."
    if answer.isnan().any():
        return (
            "not yet. There is a NaN: a row with nothing to attend to, 0 times -inf, or overflow."
        )
    for decimals in (2, 3):
        if _same(answer, right.round(decimals=decimals)):
            return f"not yet. It is right to {decimals} decimals; give at least four."
    different = int((~torch.isclose(answer, right, rtol=0, atol=TOLERANCE)).sum())
    return f"not yet. The shape is right, but {different} of {right.numel()} numbers are not."


def _same(a, b):
    return a.shape == b.shape and torch.allclose(a, b, rtol=0, atol=TOLERANCE, equal_nan=True)


# The mistakes that many exercises know, and what to say of them.
MISTAKES = {
    "unscaled": "The scaling is missing: divide the scores by √d_k before the softmax.",
    "by d_k": "You divided by d_k, the width of a key; the divisor is its square root.",
    "by √d_model": "You divided by √d_model, the width of X; the divisor is √d_k, of a key.",
    "by √T": "You divided by √T, the number of tokens; the divisor is √d_k, of a key.",
    "transposed": "Your scores are transposed: rows are queries, so it is Q times K transposed.",
    "mask after": "You masked after the softmax, so the rows no longer sum to 1: mask before it.",
    "times mask": "You set blocked scores to 0, but exp(0) is 1: set them to -inf.",
    "finite fill": "You filled with a finite number, and a real score was lower still: use -inf.",
    "no mask": "You left the mask out.",
    "masked twice": "You masked after the softmax and divided again: where nothing is left, 0 / 0.",
    "inverted": "Your mask is upside down: True must mean may attend.",
    "transposed mask": "You kept the future and hid the past.",
    "one too many": "You let each query see one key of its future.",
    "one too few": "Token 0 sees nothing, so its row is NaN: keep the diagonal.",
    "top left": "You counted from the top left: the last query must see every key.",
    "rows blocked": "You blocked rows (queries); padding must be blocked as columns (keys).",
    "columns": "Your columns sum to 1, not your rows: the softmax ran over the wrong axis.",
    "batches": "The softmax ran over dim 0, the batch; it must run along each row.",
    "no exp": "You divided the scores by their sum; take exp first.",
    "no sum": "You took exp but did not divide by the sum.",
    "whole sum": "You divided by the sum of the whole matrix; each row has a sum of its own.",
    "rounded": "You rounded on the way; keep every digit and round once, at the end.",
    "keys mixed": "You mixed the keys; the weights mix the values.",
    "scores mixed": "You mixed with scores; turn them into weights with softmax first.",
    "not mixed": "These are the weights; the last step is missing: mix the rows with them.",
    "equally mixed": "This is the plain average of all rows; use the weights.",
}


def _scale(Q, K, wrong=None):
    if wrong == "transposed":
        Q, K = K, Q
    d_k, T = Q.shape[-1], Q.shape[-2]
    divisor = {"unscaled": 1.0, "by d_k": d_k, "by √T": math.sqrt(T)}.get(wrong, math.sqrt(d_k))
    return Q @ K.transpose(-2, -1) / divisor


def _weigh(scaled, allowed=None, wrong=None):
    if allowed is None or wrong == "no mask":
        allowed = torch.ones_like(scaled, dtype=torch.bool)
    if wrong == "inverted":
        allowed = ~allowed
    if wrong == "rows blocked":
        allowed = allowed.transpose(-2, -1)
    fill = {"finite fill": -1e9}.get(wrong, -torch.inf)
    masked = scaled * allowed if wrong == "times mask" else scaled.masked_fill(~allowed, fill)
    if wrong in ("mask after", "masked twice"):
        kept = torch.softmax(scaled, dim=-1) * allowed
        return kept if wrong == "mask after" else kept / kept.sum(dim=-1, keepdim=True)
    if wrong == "no exp":
        return masked / masked.sum(dim=-1, keepdim=True)
    if wrong == "no sum":
        return torch.exp(masked)
    if wrong == "whole sum":
        return torch.exp(masked) / torch.exp(masked).sum()
    return torch.softmax(masked, dim={"columns": -2, "batches": 0}.get(wrong, -1))


def _attend(Q, K, V, wrong=None, allowed=None):
    """One attention with at most one mistake in it."""
    scaled = _scale(Q, K, wrong)
    weights = _weigh(scaled, allowed, wrong)
    if wrong == "rounded":
        weights = weights.round(decimals=3)
    if wrong == "keys mixed":
        V = K
    if wrong == "not mixed":
        return weights
    if wrong == "equally mixed":
        return V.mean(dim=-2, keepdim=True).expand(*weights.shape[:-1], -1)
    return (scaled if wrong == "scores mixed" else weights) @ V


def _exercise(answer, wrong, inputs=None, others=None):
    """An Exercise whose mistakes are made by its own answer, told to go wrong.

    answer: a function of the inputs and `wrong`. wrong: keys of MISTAKES, separated by commas.
    others: mistakes of this exercise alone, as in Exercise.
    """
    mistakes = {MISTAKES[name]: partial(answer, wrong=name) for name in wrong.split(", ")}
    return Exercise(answer, mistakes | (others or {}), inputs)


def _matrix(*rows):
    return torch.tensor(rows, dtype=torch.float32)


def _light():
    return sentence("light").X


def _batch():
    return torch.stack([_light(), sentence("light", "a bright light [pad] [pad]").X])


def _projections():
    """The integer matrices of light/03: W_Q, W_K and W_V."""
    W_Q = _matrix([1, 0], [0, 1], [1, 0], [0, 1])
    return W_Q, W_Q.flip(1), _matrix([1, 0], [0, 1], [0, 1], [1, 0])


def _light_01_weights(wrong=None):
    scores, d_k = _matrix([2, 2, 0]), 4
    divisor = {"unscaled": 1, "by d_k": d_k}.get(wrong, math.sqrt(d_k))
    return _weigh(scores / divisor, None, wrong)[0]


def _light_01_output(wrong=None):
    X = sentence("light", "It's a shine").X
    return _attend(X, X, X, wrong)[0]


def _light_01_attention(X, wrong=None):
    return _attend(X, X, X, wrong)


def _light_02_scaled(X, wrong=None):
    return _scale(X, X, wrong)


def _queries(X, W_Q, wrong=None):
    """X @ W_Q, shrunk so that √d_k divides it as √d_model would, where that is the mistake."""
    d_model, d_k = W_Q.shape
    return X @ W_Q * (math.sqrt(d_k / d_model) if wrong == "by √d_model" else 1)


def _light_03_attention(X, W_Q, W_K, W_V, wrong=None):
    return _attend(_queries(X, W_Q, wrong), X @ W_K, X @ W_V, wrong)


def _light_03_inputs():
    """Two whose scores are not symmetric, so that a transpose shows, then the lesson's own."""
    W_Q, own, W_V = _projections()
    W_K = _matrix([0, 1, 1], [1, 0, 0], [0, 2, 1], [1, 0, 2])
    return [
        (_light(), torch.cat([W_Q, W_V[:, :1]], dim=1), W_K, W_V),
        (_light(), W_Q, W_V, W_K),
        (_light(), W_Q, own, W_V),
    ]


def _causal(queries, keys, wrong=None):
    """A causal mask, or one of the masks that people write in its place."""
    everything = torch.ones(queries, keys, dtype=torch.bool)
    shift = keys - queries
    if wrong == "transposed mask":
        return everything.triu(shift)
    off = {"one too many": 1, "one too few": -1, "top left": -shift}.get(wrong, 0)
    return everything.tril(shift + off)


def _bank_03_row(wrong=None):
    scaled, allowed = _matrix([0.5, 1, 2]), torch.tensor([[True, True, False]])
    if wrong == "no exp":
        kept = scaled * allowed
        return (kept / kept.sum())[0]
    return _weigh(scaled, allowed, wrong)[0]


def _weigh_causal(scaled, wrong=None):
    return _weigh(scaled, _causal(*scaled.shape, wrong), wrong)


def _bank_04_output(wrong=None):
    X = sentence("money", "money money bank").X
    return _attend(X, X, X, wrong)[2]


def _bank_04_attention(Q, K, V, wrong=None):
    return _attend(Q, K, V, wrong, _causal(len(Q), len(K), wrong))


def _bank_04_last(q, K, V, wrong=None):
    return _attend(q[None], K, V, wrong, _causal(1, len(K), wrong))[0]


def _bank_04_inputs():
    """Scores that are not symmetric and three different widths, then the lesson's own phrases."""
    Q = _matrix([2, 0, 1], [0, 1, 1], [1, 2, 0], [1, 0, 2])
    K = _matrix([1, 1, 0], [0, 2, 1], [2, 0, 0], [1, 0, 1])
    V = _matrix([1, 0], [0, 2], [3, 1], [2, 2])
    return [(Q, K, V), *((X, X, X) for X in (sentence("river").X, sentence("money").X))]


def _bank_01_changed(wrong=None):
    allowed = causal_mask(4)
    if wrong == "no mask":
        allowed = torch.ones_like(allowed)
    return (allowed.T if wrong == "mirrored" else allowed)[:, 2].nonzero().flatten()


def _bank_01_memory(B=4, T=1024, d_model=768, size=2, unit=1024 * 1024):
    return B * T * d_model * size / unit


def _bank_02_score(query="bank", key="money", ask="Q", answer="K"):
    row = dict(zip(["money", "bank"], sentence("money").X, strict=True))
    matrices = {
        "Q": _matrix([1, 1], [2, 0]),
        "K": _matrix([3, 0], [3, 1]),
        "identity": torch.eye(2),
    }
    return row[query] @ matrices[ask] @ (row[key] @ matrices[answer])


def _bank_02_gradients(first=1.0, second=2.0, given=lambda w: w * (1 - w)):
    """The scores 6 and 0 over the divisors `first` and `second`, and what is given of a weight."""
    weights = torch.softmax(_matrix([6 / first, 0], [6 / second, 0]), dim=-1)
    return given(weights[:, 0])


def _bank_02_scaled(X, W_Q, W_K, wrong=None):
    return _scale(_queries(X, W_Q, wrong), X @ W_K, wrong)


def _bank_02_inputs():
    """Two in which T, d_model and d_k differ and the scores are not symmetric."""
    return [inputs[:3] for inputs in _light_03_inputs()[:2]]


EXERCISES = {
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
    "light/01/weights": _exercise(_light_01_weights, "unscaled, by d_k, no exp, no sum"),
    "light/01/output": _exercise(
        _light_01_output,
        "rounded, unscaled, by d_k, columns, not mixed, scores mixed, equally mixed",
    ),
    "light/01/attention": _exercise(
        _light_01_attention,
        "unscaled, by d_k, by √T, columns, no exp, no sum, whole sum, "
        "not mixed, scores mixed, equally mixed, rounded",
        lambda: [(_light(),), (sentence("cat").X,), (sentence("river").X,)],
    ),
    "light/02/scaled": _exercise(
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
    "light/02/weights": _exercise(
        _weigh,
        "mask after, masked twice, times mask, finite fill, no mask, inverted, rows blocked, "
        "columns, batches",
        lambda: [
            (_matrix([0.43, -0.21, 0.99, 0.32, -0.35, 0.04]).repeat(1, 6, 1), padding_mask([3], 6)),
            (_scale(_batch(), _batch())[1:], padding_mask([3], 5)),
            (_matrix([3, -2e9], [-2e9, 3])[None], padding_mask([1], 2)),
        ],
    ),
    "light/03/attention": _exercise(
        _light_03_attention,
        "keys mixed, transposed, unscaled, by d_k, by √d_model, by √T, columns, not mixed, "
        "scores mixed, rounded",
        _light_03_inputs,
        {
            "You mixed X itself; the weights mix the values, X @ W_V.": lambda X, W_Q, W_K, W_V: (
                _attend(X @ W_Q, X @ W_K, X)
            )
        },
    ),
    "light/03/weight": Exercise(
        right=lambda W: W.T,
        mistakes={
            "nn.Linear uses the transpose of what it stores; you stored W itself.": lambda W: W
        },
        inputs=lambda: [(_matrix([1, 2], [3, 4]),), (_projections()[2],)],
    ),
    "light/03/causal": _exercise(
        _weigh_causal,
        "mask after, times mask, no mask, columns, inverted, "
        "transposed mask, one too many, one too few",
        lambda: [(_scale(_light(), _light()),), (_matrix([0, 4, 2], [8, 0, 6], [4, 2, 4]),)],
    ),
    "bank/03/row": _exercise(_bank_03_row, "mask after, times mask, no mask, no exp, no sum"),
    "bank/03/causal": _exercise(
        _weigh_causal,
        "mask after, masked twice, finite fill, times mask, no mask, columns, inverted, "
        "transposed mask, one too many, top left, one too few",
        lambda: [
            (_matrix([0, 4, 2], [8, 0, 6], [4, 2, 4]),),
            (_matrix([0.43, -0.21, 0.99], [0.32, -0.35, 0.04]),),
            (_matrix([1, 0, 2, 1]),),
            (_matrix([-2e9, 3], [3, -2e9]),),
        ],
    ),
    "bank/04/output": _exercise(
        _bank_04_output,
        "unscaled, by d_k, by √T, not mixed, scores mixed, equally mixed, rounded",
        None,
        {
            "You counted money once; it stands there twice, and each position is a key.": lambda: (
                _attend(*[sentence("money").X] * 3)[1]
            )
        },
    ),
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
                lambda: _bank_02_gradients(second=1.0) / _matrix(1, 2)
            ),
        },
    ),
    "bank/02/scaled": _exercise(
        _bank_02_scaled,
        "unscaled, by d_k, by √d_model, by √T, transposed",
        _bank_02_inputs,
        {
            "You compared the rows of X; compare X @ W_Q with X @ W_K.": lambda X, W_Q, W_K: (
                X @ X.T / math.sqrt(W_K.shape[1])
            ),
            "You used W_Q for both; the keys come from W_K.": lambda X, W_Q, W_K: _scale(
                X @ W_Q, X @ W_Q
            ),
            "You used W_K for both; the queries come from W_Q.": lambda X, W_Q, W_K: _scale(
                X @ W_K, X @ W_K
            ),
        },
    ),
    "bank/04/attention": _exercise(
        _bank_04_attention,
        "mask after, times mask, no mask, inverted, transposed mask, one too many, one too few, "
        "unscaled, by d_k, by √T, transposed, columns, keys mixed, not mixed, scores mixed, "
        "rounded",
        _bank_04_inputs,
    ),
    "bank/04/last": _exercise(
        _bank_04_last,
        "top left, unscaled, by d_k, columns, keys mixed, not mixed, scores mixed, "
        "equally mixed, rounded",
        lambda: [(Q[-1], K, V) for Q, K, V in _bank_04_inputs()],
    ),
}
