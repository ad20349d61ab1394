"""attention against PyTorch's own over many shapes, its intermediates, and its refusals."""

import math
import re
from typing import NamedTuple

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_by_hand import attention, causal_mask, padding_mask, sentence

many = settings(max_examples=60, deadline=None, derandomize=True, database=None)
close = {torch.float64: 1e-12, torch.float32: 2e-5, torch.bfloat16: 5e-2}


class Inputs(NamedTuple):
    Q: torch.Tensor
    K: torch.Tensor
    V: torch.Tensor
    allowed: torch.Tensor | None
    scale: float | None


@st.composite
def inputs(draw, dtypes=tuple(close)):
    """Q, K, V of any shape, a mask that leaves every query a key, and a scale."""
    size = st.integers(1, 5)
    batch = draw(st.lists(st.integers(1, 3), max_size=2))
    T_q, T_k, d_k, d_v = (draw(size) for _ in range(4))
    random = torch.Generator().manual_seed(draw(st.integers(0, 2**32 - 1)))
    dtype = draw(st.sampled_from(dtypes))
    Q, K, V = (
        torch.randn(*batch, *shape, generator=random).to(dtype)
        for shape in ((T_q, d_k), (T_k, d_k), (T_k, d_v))
    )
    kind = draw(st.sampled_from(["none", "full", "one row for all", "one for the batch", "causal"]))
    shapes = {
        "full": (*batch, T_q, T_k),
        "one row for all": (*batch, 1, T_k),
        "one for the batch": (T_q, T_k),
    }
    allowed = None
    if kind in shapes:
        allowed = torch.rand(shapes[kind], generator=random) < 0.5
        allowed[..., int(torch.randint(T_k, (), generator=random))] = True
    elif kind == "causal" and T_q <= T_k:
        allowed = causal_mask(T_q, T_k)
    scale = draw(st.none() | st.floats(0.1, 2))
    return Inputs(Q, K, V, allowed, scale)


@many
@given(inputs())
def test_output_and_gradients_equal_those_of_pytorch(drawn):
    Q, K, V, allowed, scale = drawn
    tolerance = {"rtol": close[Q.dtype], "atol": close[Q.dtype]}
    ours = [tensor.clone().requires_grad_() for tensor in (Q, K, V)]
    theirs = [tensor.clone().requires_grad_() for tensor in (Q, K, V)]
    output = attention(*ours, allowed, scale).output
    expected = F.scaled_dot_product_attention(*theirs, attn_mask=allowed, scale=scale)
    assert output.dtype == Q.dtype
    torch.testing.assert_close(output, expected, **tolerance)
    if Q.dtype != torch.bfloat16:
        direction = torch.linspace(-1, 1, output.numel(), dtype=Q.dtype).reshape(output.shape)
        output.backward(direction)
        expected.backward(direction)
        for mine, other in zip(ours, theirs, strict=True):
            torch.testing.assert_close(mine.grad, other.grad, rtol=1e-4, atol=1e-4)


@many
@given(inputs((torch.float64,)))
def test_every_step_follows_from_the_one_before(drawn):
    Q, K, V, allowed, scale = drawn
    result = attention(*drawn)
    blocked = torch.zeros_like(result.scores, dtype=torch.bool)
    if allowed is not None:
        blocked |= ~allowed
    torch.testing.assert_close(result.scores, torch.einsum("...qd,...kd->...qk", Q, K))
    scale = 1 / math.sqrt(Q.shape[-1]) if scale is None else scale
    torch.testing.assert_close(result.scaled, result.scores * scale)
    assert torch.equal(result.masked.isneginf(), blocked)
    assert torch.equal(result.masked[~blocked], result.scaled[~blocked])
    powers = torch.where(blocked, 0, torch.exp(result.scaled - result.scaled.amax(-1, True)))
    torch.testing.assert_close(result.weights, powers / powers.sum(-1, keepdim=True))
    torch.testing.assert_close(result.weights.sum(-1), torch.ones_like(result.weights[..., 0]))
    assert (result.weights[blocked] == 0).all()
    torch.testing.assert_close(result.output, torch.einsum("...qk,...kd->...qd", result.weights, V))


@many
@given(inputs((torch.float64,)), st.data())
def test_no_later_token_changes_an_earlier_row_under_a_causal_mask(drawn, data):
    X = drawn.K
    T = X.shape[-2]
    last = data.draw(st.integers(0, T - 1))
    changed = X.clone()
    changed[..., last, :] += 7
    before, after = (attention(x, x, x, causal_mask(T)) for x in (X, changed))
    for step in ("weights", "output"):
        earlier = getattr(before, step)[..., :last, :], getattr(after, step)[..., :last, :]
        torch.testing.assert_close(*earlier, rtol=0, atol=1e-12)
    assert not torch.equal(before.output[..., last, :], after.output[..., last, :])


def test_the_inputs_are_left_as_they_were():
    X, allowed = sentence("light").X, causal_mask(5)
    attention(X, X, X, allowed)
    assert torch.equal(X, sentence("light").X)
    assert torch.equal(allowed, causal_mask(5))


def test_the_numbers_of_the_course():
    light = attention(*[sentence("light").X] * 3)
    expected = [
        [0.6943, 0.3057, 0.5040, 0.4960],
        [0.4960, 0.5040, 0.3057, 0.6943],
        [0.6943, 0.5040, 0.3057, 0.4960],
        [0.4960, 0.3057, 0.5040, 0.6943],
        [0.6459, 0.3541, 0.3541, 0.6459],
    ]
    torch.testing.assert_close(light.output, torch.tensor(expected), rtol=0, atol=5e-5)
    bank = attention(*[sentence("river").X] * 3, causal_mask(2))
    expected = torch.tensor([[1, 0], [0.6698, 0.3302]])
    torch.testing.assert_close(bank.weights, expected, rtol=0, atol=5e-5)


I2 = torch.eye(2)
REFUSED = {
    "list": (TypeError, ([[1.0]], I2, I2), "Q must be a torch tensor, but it is a list."),
    "numpy": (TypeError, (I2, np.eye(2), I2), "K must be a torch tensor, but it is a ndarray."),
    "integers": (TypeError, (I2, I2, I2.long()), "V must hold floating-point numbers, but holds "),
    "complex": (TypeError, (I2 + 0j, I2, I2), "Q must hold floating-point numbers, but holds "),
    "mixed dtypes": (TypeError, (I2, I2.double(), I2), "one dtype, but are torch.float32, "),
    "rank": (ValueError, (I2, I2[0], I2), "K must have at least 2 dimensions, (T, width), but "),
    "no tokens": (ValueError, (I2, I2[:0], I2[:0]), "K is empty: its shape is (0, 2)."),
    "no width": (ValueError, (I2[:, :0], I2, I2), "Q is empty: its shape is (2, 0)."),
    "NaN": (ValueError, (I2, I2, I2 * math.nan), "V holds NaN or infinity"),
    "infinity": (ValueError, (I2 - math.inf, I2, I2), "Q holds NaN or infinity"),
    "d_k": (
        ValueError,
        (torch.ones(4, 2), torch.ones(5, 3), torch.ones(5, 6)),
        "width d_k, but Q has 2 and K has 3.",
    ),
    "keys": (
        ValueError,
        (torch.ones(4, 2), torch.ones(5, 2), torch.ones(3, 6)),
        "K has 5 rows and V has 3.",
    ),
    "batches": (
        ValueError,
        (torch.ones(2, 4, 2), torch.ones(3, 4, 2), torch.ones(3, 4, 2)),
        "batch dimensions, but have (2,), (3,), (3,).",
    ),
    "overflow": (ValueError, (I2 * 1e30, I2 * 1e30, I2), "scaled scores hold NaN or infinity"),
    "scale NaN": (ValueError, (I2, I2, I2, None, math.nan), "scale is too large"),
    "scale type": (TypeError, (I2, I2, I2, None, "big"), "scale must be a number or None, but "),
    "mask of numbers": (TypeError, (I2, I2, I2, I2), "must be a boolean tensor, True = may attend"),
    "mask of lists": (TypeError, (I2, I2, I2, [[True]]), "but is list."),
    "mask too small": (
        ValueError,
        (torch.ones(6, 2), torch.ones(7, 2), torch.ones(7, 3), causal_mask(4)),
        "allowed has shape (4, 4), but the scores have shape (6, 7): it needs one column per key "
        "(7) and one row per query (6) or one for all.",
    ),
    "mask of one key": (ValueError, (I2, I2, I2, causal_mask(2)[:, :1]), "has shape (2, 1), but "),
    "mask of too many rows": (
        ValueError,
        (I2, I2, I2, torch.ones(3, 2, dtype=torch.bool)),
        "has shape (3, 2), but ",
    ),
    "mask without rows": (ValueError, (I2, I2, I2, causal_mask(2)[1]), "has shape (2,), but the "),
    "mask of a batch": (
        ValueError,
        (I2, I2, I2, causal_mask(2)[None].expand(3, 2, 2)),
        "(3, 2, 2)",
    ),
    "nothing allowed": (
        ValueError,
        (I2, I2, I2, torch.tensor([[True, False], [False, False]])),
        "Query 1 may attend to nothing: row 1 of allowed is False throughout",
    ),
    "nothing allowed in one sentence": (
        ValueError,
        (I2[None], I2[None], I2[None], torch.zeros(1, 1, 2, dtype=torch.bool)),
        "Query 0 may attend to nothing",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_gets_a_sentence(name):
    error, arguments, said = REFUSED[name]
    with pytest.raises(error, match=re.escape(said)) as caught:
        attention(*arguments)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")


# --- masks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("queries", range(1, 6))
@pytest.mark.parametrize("keys", range(1, 6))
def test_a_causal_mask_ends_at_the_bottom_right(queries, keys):
    if queries > keys:
        with pytest.raises(ValueError, match=f"but got {queries} queries and {keys} keys"):
            causal_mask(queries, keys)
        return
    mask = causal_mask(queries, keys)
    past = keys - queries
    assert mask.dtype == torch.bool
    assert mask.tolist() == [[k <= past + q for k in range(keys)] for q in range(queries)]
    assert torch.equal(mask, causal_mask(keys)[-queries:])


@many
@given(st.lists(st.integers(1, 6), min_size=1, max_size=4), st.integers(0, 2))
def test_a_padding_mask_marks_the_real_tokens(lengths, spare):
    longest = max(lengths)
    expected = [[[k < n for k in range(longest + spare)]] for n in lengths]
    mask = padding_mask(lengths, longest + spare)
    assert mask.dtype == torch.bool
    assert mask.tolist() == expected
    assert torch.equal(padding_mask(torch.tensor(lengths), longest + spare), mask)
    assert torch.equal(padding_mask(lengths), mask[..., :longest])


@many
@given(inputs((torch.float64,)), st.integers(1, 4))
def test_padding_changes_no_row_of_a_sentence(drawn, more):
    X = drawn.K.reshape(-1, drawn.K.shape[-1])
    padded = torch.cat([X, torch.full((more, X.shape[1]), 5.0, dtype=X.dtype)])[None]
    result = attention(padded, padded, padded, padding_mask([len(X)], len(X) + more))
    torch.testing.assert_close(result.output[0, : len(X)], attention(X, X, X).output)


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda: causal_mask(0), ValueError, "at least 1 query and no more queries than keys, but"),
        (lambda: causal_mask(-1), ValueError, "but got -1 queries and -1 keys."),
        (lambda: causal_mask(2.5), TypeError, "queries must be a whole number, but is 2.5."),
        (lambda: causal_mask("a"), TypeError, "queries must be a whole number, but is 'a'."),
        (lambda: causal_mask(2, 2.5), TypeError, "keys must be a whole number, but is 2.5."),
        (
            lambda: padding_mask([]),
            ValueError,
            "lengths is empty: it needs one number per sentence",
        ),
        (lambda: padding_mask([3, 0]), ValueError, "Every length must be 1 to 3, but got [3, 0]."),
        (lambda: padding_mask([0]), ValueError, "Every length must be 1 to 1, but got [0]."),
        (lambda: padding_mask([3], 2), ValueError, "Every length must be 1 to 2, but got [3]."),
        (lambda: padding_mask("ab"), TypeError, "whole numbers in a list, but is 'ab'."),
        (lambda: padding_mask(3), TypeError, "whole numbers in a list, but is 3."),
        (lambda: padding_mask([2.5]), TypeError, "whole numbers in a list, but is [2.5]."),
        (lambda: padding_mask([[1, 2]]), TypeError, "whole numbers in a list, but is [[1, 2]]."),
        (lambda: padding_mask(None), TypeError, "whole numbers in a list, but is None."),
        (lambda: padding_mask([2], "a"), TypeError, "T must be a whole number, but is 'a'."),
    ],
)
def test_a_mask_that_cannot_be_gets_a_sentence(make, error, said):
    with pytest.raises(error, match=re.escape(said)):
        make()
