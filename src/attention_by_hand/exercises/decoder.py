"""The exercises of bank/05 to bank/08: heads, order, training and the cache of a decoder."""

import math
from functools import partial

import torch

from attention_by_hand.exercises.judge import Exercise
from attention_by_hand.exercises.mistakes import (
    MISTAKES,
    attend,
    causal,
    exercise,
    matrix,
    weigh,
)

# bank/05

BY_ROOT_H = "You divided by √H, of the number of heads; the divisor is √d_head, of one head's key."


def _bank_05_weights(wrong=None, columns=slice(2, 4), divisor=2):
    q = matrix([1, 1, 2, 1, 0, 3])[:, columns]
    K = matrix([3, 1, 1, 0, 2, 2], [0, 2, 1, 2, 1, 3], [1, 0, 0, 1, 1, 1])
    K = torch.cat([K, matrix([2, 1, 1, 1, 0, 0], [1, 1, 0, 0, 1, 2])])[:, columns]
    return weigh(q @ K.T / math.sqrt(divisor), None, wrong)[0]


def _bank_05_packed(packed, H, wrong=None):
    return torch.stack([_split(part, H, wrong) for part in packed.chunk(3, dim=-1)])


def _bank_05_multihead(X, W_Q, W_K, W_V, W_O, H, wrong=None):
    B, T, d_model = X.shape
    H = 1 if wrong == "one head" else H
    own = torch.block_diag(*[torch.ones(d_model // H, d_model // H)] * H)
    if wrong == "X cut":
        W_Q, W_K, W_V = W_Q * own, W_K * own, W_V * own
    if wrong == "W transposed":
        W_Q, W_K, W_V = W_Q.T, W_K.T, W_V.T
    if wrong == "K and V exchanged":
        W_K, W_V = W_V, W_K
    Q, K, V = (_split(X @ W, H, wrong) for W in (W_Q, W_K, W_V))
    # √d_head divides, so this makes the divisor √d_model or √H.
    Q = Q / math.sqrt({"by √d_model": H, "by √H": H * H / d_model}.get(wrong, 1))
    heads = attend(Q, K, V, wrong, causal(T, T, wrong))
    if wrong in ("added", "averaged"):
        return heads.sum(dim=1) / (H if wrong == "averaged" else 1)
    axes = {"last axes": (0, 1, 3, 2), "by column": (0, 2, 3, 1)}.get(wrong, (0, 2, 1, 3))
    if wrong not in ("merged as it lies", "all by view"):
        heads = heads.permute(axes)
    merged = heads.reshape(B, T, d_model)
    return merged if wrong == "no W_O" else merged @ (W_O.T if wrong == "W_O transposed" else W_O)


def _split(M, H, wrong=None):
    """(B, T, d_model) as (B, H, T, d_head)."""
    B, T, d_model = M.shape
    if wrong in ("cut by view", "all by view"):
        return M.reshape(B, H, T, d_model // H)
    if wrong == "every H-th":
        return M.view(B, T, d_model // H, H).permute(0, 3, 1, 2)
    return M.view(B, T, H, d_model // H).transpose(1, 2)


def _bank_05_inputs():
    """Two batches, matrices that are not symmetric, and sizes whose roots can be told apart.

    The first has the lesson's d_head: an answer that holds on to it fails at the second.
    """
    for B, T, H, d_model in ((2, 3, 5, 10), (1, 5, 4, 12)):
        X = torch.sin(torch.arange(float(B * T * d_model))).view(B, T, d_model)
        yield X, *torch.cos(torch.arange(4.0 * d_model**2)).view(4, d_model, d_model), H


# bank/06

MIXED = "You mixed two conventions: the angles of neighbors with the partners of halves."


def _bank_06_positions(T, d_model, wrong=None):
    column = torch.arange(d_model, dtype=torch.float64)
    pair = column.div(2, rounding_mode="floor") + (wrong == "pairs from one")
    exponent = {"half exponent": pair, "angle each": 2 * column, "by column": column}
    power = 10000 ** (exponent.get(wrong, 2 * pair) / d_model)
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


def _turn(x, position, halves=False, one_speed=False, mixed=False):
    """Turn the pairs of the last axis: neighbors, or with `halves` one number of each half.

    mixed: the partners of halves, with the angles of neighbors.
    """
    width = x.shape[-1]
    speeds = 10000 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    angles = position * (speeds**0 if one_speed else speeds)
    if mixed:
        angles = angles.repeat_interleave(2, dim=-1)
        first, second = x.double().chunk(2, dim=-1)
        return x * angles.cos() + torch.cat([-second, first], dim=-1) * angles.sin()
    pairs = (x[..., : width // 2], x[..., width // 2 :]) if halves else (x[..., ::2], x[..., 1::2])
    a, b = (half.double() for half in pairs)
    turned = [a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()]
    return torch.cat(turned, dim=-1) if halves else torch.stack(turned, dim=-1).flatten(-2)


def _bank_06_score(distance=2, divisor=1.0, added=False, **how):
    q, k = matrix([2, 0, 0, 3], [1, 1, 2, 0]).double()
    if added:
        places = _bank_06_positions(distance + 1, len(q))
        return (q + places[distance]) @ (k + places[0])
    return _turn(q, distance, **how) @ k / divisor


def _bank_06_attention(Q, K, V, wrong=None):
    position = torch.arange(len(K), dtype=torch.float64)[:, None]
    position = position * {"wrong way": -1, "turned twice": 2}.get(wrong, 1)
    how = {"halves": wrong == "in halves", "mixed": wrong == "mixed"}
    if wrong == "added":
        Q, K = (x + _bank_06_positions(*x.shape) for x in (Q, K))
    elif wrong != "not turned":
        Q = Q if wrong == "key alone" else _turn(Q, position + (wrong == "query ahead"), **how)
        K = K if wrong == "query alone" else _turn(K, position, **how)
    if wrong == "by √d_v":
        Q = Q * math.sqrt(Q.shape[1] / V.shape[1])
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
            matrix([1, 2, 0, 1, 1, 0], [2, 0, 1, 0, 0, 1], [0, 1, 1, 1, 2, 0], [1, 1, 0, 2, 0, 1]),
            matrix([0, 1, 1, 0, 2, 1], [1, 1, 0, 1, 0, 2], [2, 1, 1, 0, 1, 0], [1, 0, 2, 1, 0, 1]),
            matrix([1, 0, 2], [0, 2, 1], [3, 1, 0], [2, 2, 0]),
        ),
    ]


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


def _bank_07_adam(gradients=(0.5, 0.005), kept=(0.9, 0.999), grown=(True, True), root=True):
    """How far the last of these steps goes, in learning rates.

    kept: how much of each average a step keeps. grown: is each average divided by its share?
    """
    averages = [0.0, 0.0]
    for gradient in gradients:
        for i, new in enumerate((gradient, gradient**2)):
            averages[i] += (1 - kept[i]) * (new - averages[i])
    for i, steps in enumerate(grown):
        averages[i] /= 1 - kept[i] ** (len(gradients) if steps is True else steps or math.inf)
    return averages[0] / (math.sqrt(averages[1]) if root else averages[1])


# bank/08


def _bank_08_rows(first=10, passes=5):
    """Without a cache: passes over `first` rows, one more, and so on. With one: each row once."""
    return [sum(range(first, first + passes)), first + passes - 1]


def _bank_08_memory(heads=8, kinds=2, size=4, T=4096, layers=18, unit=1024 * 1024):
    return kinds * layers * heads * 64 * size * T / unit


def _bank_08_output(rows, places, K, V, wrong=None):
    start = {"from 0": 0, "one ahead": len(K) + 1, "from the new": len(rows)}.get(wrong, len(K))
    here = places[start : start + (1 if wrong == "one place" else len(rows))]
    X = rows if wrong == "no places" else rows + here
    if wrong == "not appended":
        return attend(X, K, V)
    if wrong == "kept again":
        K, V = K + places[: len(K)], V + places[: len(V)]
    plain = {"Q plain": "Q", "V plain": "V", "K and V plain": "KV"}.get(wrong, "")
    q, k, v = (rows if name in plain else X for name in "QKV")
    parts = {"not kept": lambda old, new: [new], "new first": lambda old, new: [new, old]}
    put = parts.get(wrong, lambda old, new: [old, new])
    K, V = torch.cat(put(K, k)), torch.cat(put(V, v))
    return attend(q, K, V, wrong, causal(len(q), len(K), wrong))


def _bank_08_inputs():
    """Chunks of three and two tokens, one token, and an empty cache; two different widths."""
    places = matrix([0, 1, 1], [1, 0, -1], [2, 1, 0], [-1, 1, 1], [0, 2, 0], [1, 1, 1], [1, -1, 2])
    places = torch.cat([places, matrix([2, 0, -1], [0, -1, 2])])
    rows = matrix([1, 0, 0], [0, 1, 1], [1, 1, 0])
    K = matrix([1, 0, 1], [0, 1, -1], [1, -1, 0], [0, 1, 1], [-1, 0, 1])
    V = matrix([2, 0, 1], [0, 2, 1], [1, 3, 0], [1, 0, 2], [0, 1, -1])
    wide = [(rows, places, K, V), (rows[:2], places, K[:3], V[:3]), (rows[:1], places, K, V)]
    narrow = [part[:, :2] for part in (rows[:1], places, K[:2], V[:2])]
    return [*wide, tuple(narrow), (rows, places, K[:0], V[:0])]


DECODER = {
    # bank/05
    "bank/05/weights": exercise(
        _bank_05_weights,
        "no exp, no sum",
        None,
        {
            MISTAKES["unscaled"]: partial(_bank_05_weights, divisor=1),
            MISTAKES["by d_k"]: partial(_bank_05_weights, divisor=4),
            "You divided by √d_model; the divisor is √d_head, of one head's key.": partial(
                _bank_05_weights, divisor=6
            ),
            BY_ROOT_H: partial(_bank_05_weights, divisor=3),
            MISTAKES["by √T"]: partial(_bank_05_weights, divisor=5),
            "Your head is H columns wide; it has d_head = d_model / H columns.": partial(
                _bank_05_weights, columns=slice(3, 6), divisor=3
            ),
            MISTAKES["every H-th"]: partial(_bank_05_weights, columns=slice(1, 6, 3)),
            MISTAKES["one head"]: partial(_bank_05_weights, columns=slice(6), divisor=6),
            "This is head 0; heads are counted from 0, so head 1 is the second.": partial(
                _bank_05_weights, columns=slice(2)
            ),
            "This is head 2, the last; heads are counted from 0.": partial(
                _bank_05_weights, columns=slice(4, 6)
            ),
            "All columns went into your scores; a head has d_head of them.": partial(
                _bank_05_weights, columns=slice(6)
            ),
            "These are the scores of head 1; scale them and take the softmax.": (
                lambda: [2, 4, 1, 3, 0]
            ),
            "These are the scaled scores of head 1; take the softmax.": (
                lambda: matrix(2, 4, 1, 3, 0) / math.sqrt(2)
            ),
        },
    ),
    "bank/05/packed": exercise(
        _bank_05_packed,
        "cut by view, every H-th",
        lambda: [
            (torch.arange(B * T * 3.0 * H * d_head).view(B, T, 3 * H * d_head), H)
            for B, T, H, d_head in ((2, 3, 4, 2), (1, 4, 2, 5))
        ],
        {
            "One view cuts across tokens: first cut the last axis into Q, K and V.": (
                lambda packed, H: packed.view(3, len(packed), H, packed.shape[1], -1)
            ),
            "Your thirds lie one behind the other in memory; cut the last axis into thirds.": (
                lambda packed, H: torch.stack(
                    [_split(part, H) for part in packed.view(3, *packed.shape[:2], -1)]
                )
            ),
            "You took every third column; Q is the first third, side by side.": (
                lambda packed, H: torch.stack([_split(packed[:, :, i::3], H) for i in range(3)])
            ),
            "These are all the axes, but not in order: move 3 to the front, and H before T.": (
                lambda packed, H: packed.view(*packed.shape[:2], 3, H, -1)
            ),
            "T still stands before H: exchange the two.": (
                lambda packed, H: _bank_05_packed(packed, H).transpose(2, 3)
            ),
            "You cut into heads before you took Q, K and V apart; Q is the first third.": (
                lambda packed, H: packed.view(*packed.shape[:2], H, 3, -1).permute(3, 0, 2, 1, 4)
            ),
        },
    ),
    "bank/05/multihead": exercise(
        _bank_05_multihead,
        "cut by view, merged as it lies, all by view, every H-th, X cut, one head, added, "
        "averaged, no W_O, W_O transposed, W transposed, unscaled, by d_k, by √d_model, by √T, "
        "transposed, columns, no mask, mask after, times mask, transposed mask, one too many, "
        "keys mixed, rounded",
        lambda: list(_bank_05_inputs()),
        {
            BY_ROOT_H: partial(_bank_05_multihead, wrong="by √H"),
            "W_K and W_V are exchanged.": partial(_bank_05_multihead, wrong="K and V exchanged"),
            "You exchanged the last two axes before the merge; exchange H and T.": partial(
                _bank_05_multihead, wrong="last axes"
            ),
            "Your merge puts the heads' first columns side by side, then the second ones; "
            "the columns of a head stay together.": partial(_bank_05_multihead, wrong="by column"),
        },
    ),
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
                "by column": "The cosine of a pair has the angle of its sine, so its column must "
                "not count anew in the exponent.",
                "pairs from one": "Your pairs count from 1; the first one has r = 0.",
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
            "This is the score at distance 0; the two stand 2 apart.": partial(_bank_06_score, 0),
            "This is the score at distance 1; the two stand 2 apart.": partial(_bank_06_score, 1),
            "The distance has the wrong sign: the query stands after the key.": partial(
                _bank_06_score, -2
            ),
            "The second pair turned as fast as the first; divide its angle.": partial(
                _bank_06_score, one_speed=True
            ),
            "You turned in halves; here neighbors make a pair.": partial(
                _bank_06_score, halves=True
            ),
            MIXED: partial(_bank_06_score, mixed=True),
            "You added sinusoidal positions; here query and key are turned.": partial(
                _bank_06_score, added=True
            ),
            "You took the angles as degrees; they are radians.": partial(
                _bank_06_score, math.radians(2)
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
                "turned twice": "You turned twice, so each distance counts double.",
                "query ahead": "Your queries are one position ahead of their keys.",
                "in halves": "You turned in halves; here neighbors make a pair.",
                "mixed": MIXED,
                "by √d_v": "You divided by √d_v, the width of a value; the divisor is √d_k.",
                "values turned": "You turned the values, too; they stay as they are.",
                "turned after": "You turned the output, too; it stays as it is.",
                "added": "You added sinusoidal positions; here queries and keys are turned.",
            }.items()
        },
    ),
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
                "You divided by the number of phrases; divide by that of the real positions.": {
                    "mean": lambda right, real: -right[real].sum() / len(real)
                },
            }.items()
        }
        | {
            "You took the softmax twice: F.cross_entropy takes logits and has a softmax in it.": (
                lambda logits, targets, real: _bank_07_loss(logits.softmax(-1), targets, real)
            ),
            "These are the logits; a softmax makes probabilities of them.": (
                lambda logits, targets, real: (
                    -logits.gather(-1, targets[..., None])[..., 0][real].mean()
                )
            ),
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
            "This is the best probability of shore; the loss is asked.": lambda: 2 / 3,
            "A loss of 0 needs certainty in every phrase; here one guess serves all three.": (
                lambda: 0
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
    "bank/07/adam": Exercise(
        right=_bank_07_adam,
        mistakes={
            "This is the first step, or a step that forgets the first gradient; Adam keeps "
            "averages of both.": partial(_bank_07_adam, (0.005,)),
            "You divided the new gradient alone; the first average holds the old one, too.": (
                partial(_bank_07_adam, kept=(0, 0.999))
            ),
            "You left out the divisors that repair averages which began at 0.": partial(
                _bank_07_adam, grown=(False, False)
            ),
            "The first average has not been divided by 1 - 0.9**2.": partial(
                _bank_07_adam, grown=(False, True)
            ),
            "The second average has not been divided by 1 - 0.999**2.": partial(
                _bank_07_adam, grown=(True, False)
            ),
            "Your divisors are those of step 1; in step 2 the powers are squares.": partial(
                _bank_07_adam, grown=(1, 1)
            ),
            "You took plain averages; Adam's give 0.1 and 0.001 to what is new.": (
                lambda: (0.5 + 0.005) / 2 / math.sqrt((0.5**2 + 0.005**2) / 2)
            ),
            "You exchanged the gradients; 0.5 comes first.": partial(_bank_07_adam, (0.005, 0.5)),
            "The root of the second average is missing.": partial(_bank_07_adam, root=False),
            "This is the first average; divide it by the root of the second.": (
                lambda: (0.1 * 0.005 + 0.09 * 0.5) / (1 - 0.9**2)
            ),
            "This is how far both steps go together; the second alone is asked.": (
                lambda: 1 + _bank_07_adam()
            ),
            "You multiplied by 0.03; give it as a multiple of the learning rate.": (
                lambda: 0.03 * _bank_07_adam()
            ),
            "How far is asked; leave the sign out.": lambda: -_bank_07_adam(),
            "This is the second gradient over the first; Adam keeps averages of both.": (
                lambda: 0.005 / 0.5
            ),
        },
    ),
    # bank/08
    "bank/08/rows": Exercise(
        right=_bank_08_rows,
        mistakes={
            "The order is exchanged: first without a cache, then with one.": (
                lambda: _bank_08_rows()[::-1]
            ),
            "The last new token is written and never read: there is no pass over it.": partial(
                _bank_08_rows, passes=6
            ),
            "Without a cache you left out the pass over the prompt, which gives the first new "
            "token.": lambda: [sum(range(11, 15)), 14],
            "The first pass reads the prompt alone, 10 rows.": lambda: [sum(range(11, 16)), 14],
            "The first pass reads the prompt alone, and nothing reads the last new token.": (
                lambda: [sum(range(11, 16)), 15]
            ),
            "Without a cache you counted the new tokens alone; each pass reads the prompt, too.": (
                lambda: [15, 14]
            ),
            "You left the prompt out.": lambda: [15, 5],
            "With a cache you counted the prompt alone; four of the new tokens are read, too.": (
                lambda: [_bank_08_rows()[0], 10]
            ),
            "Without a cache you counted a pass over the last new token, and nothing reads it.": (
                lambda: [_bank_08_rows(passes=6)[0], 14]
            ),
            "With a cache you counted the last new token, and nothing reads it.": (
                lambda: [_bank_08_rows()[0], 15]
            ),
            "The prompt is read as one chunk, not token by token: its first pass has all its "
            "rows.": lambda: [14 * 15 // 2, 14],
            "You read the prompt token by token, and you read the last new token.": (
                lambda: [15 * 16 // 2, 15]
            ),
            "A pass over t tokens projects t rows, its newest one too: not n (n - 1) / 2.": (
                lambda: [14 * 13 // 2, 14]
            ),
            "You gave every pass its full length; the first ones are shorter.": (
                lambda: [5 * 14, 14]
            ),
            "This is n²; a pass has only as many rows as there are tokens so far.": (
                lambda: [14**2, 14]
            ),
            "With a cache the rows of the prompt are projected as well, once.": (
                lambda: [_bank_08_rows()[0], 4]
            ),
            "With a cache, count the prompt; and nothing reads the last new token.": (
                lambda: [_bank_08_rows()[0], 5]
            ),
        },
    ),
    "bank/08/output": exercise(
        _bank_08_output,
        "top left, no mask, one too many, unscaled, by d_k, by √T, columns, "
        "keys mixed, not mixed, scores mixed, equally mixed, rounded",
        _bank_08_inputs,
        {
            said: partial(_bank_08_output, wrong=wrong)
            for wrong, said in {
                "from 0": "Your positions start at 0 again; they go on where the cache ends.",
                "one ahead": "Your positions are one too far: with n tokens kept, the next is n.",
                "from the new": "Your positions start at the number of new tokens; they start at "
                "that of the kept ones.",
                "one place": "You gave all new tokens one position; each has its own.",
                "kept again": "You added positions to the kept rows; they already hold theirs.",
                "Q plain": "Your queries have no positions; a query is its row plus its position.",
                "V plain": "Your new values have no positions; a value is its row plus its "
                "position.",
                "K and V plain": "Your new keys and values have no positions; add them first.",
                "no places": "You left the positions out.",
                "not kept": "You left out what is kept: old and new keys and values belong "
                "together.",
                "not appended": "The new tokens see only the cache; their own keys and values "
                "belong to it.",
                "one too few": "A new token sees itself, too: the diagonal ends at the bottom "
                "right.",
                "new first": "You put the new rows before the kept ones; they come after them.",
            }.items()
        },
    ),
    "bank/08/memory": Exercise(
        right=_bank_08_memory,
        mistakes={
            "Half of it is missing: both K and V are kept, and a number takes 4 bytes.": partial(
                _bank_08_memory, kinds=1
            ),
            "You counted numbers, not bytes.": partial(_bank_08_memory, size=1),
            "You counted bits; 8 bits are one byte.": partial(_bank_08_memory, size=32),
            "You counted the query heads (or d_model); only the heads of K and V are kept.": (
                partial(_bank_08_memory, heads=24)
            ),
            "You took d_model as the width of a head; a head is d_head wide.": partial(
                _bank_08_memory, heads=8 * 24
            ),
            "You counted the query heads as well; only the heads of K and V are kept.": partial(
                _bank_08_memory, heads=32
            ),
            "This is for one head of keys and values; there are eight.": partial(
                _bank_08_memory, heads=1
            ),
            "This is for one layer.": partial(_bank_08_memory, layers=1),
            "This is for one token; the text has 4,096.": partial(_bank_08_memory, T=1),
            "These are MB: you divided by a million, and a MiB is 1024 · 1024 bytes.": partial(
                _bank_08_memory, unit=1_000_000
            ),
            "These are GiB; a MiB is 1024 · 1024 bytes.": partial(_bank_08_memory, unit=1024**3),
            "These are KiB; divide by 1024 once more.": partial(_bank_08_memory, unit=1024),
            "These are bytes; a MiB is 1024 · 1024 of them.": partial(_bank_08_memory, unit=1),
        },
    ),
}
