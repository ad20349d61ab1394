"""Scaled dot-product attention with every intermediate, and the masks that go with it."""

import operator
from numbers import Real
from typing import NamedTuple

import numpy as np
import torch


class Attention(NamedTuple):
    """Every step of one attention, in order. Leading batch dimensions, if any, are kept.

    scores, scaled, masked, weights: (..., T_q, T_k), rows are queries, columns are keys.
    output: (..., T_q, d_v).
    """

    scores: torch.Tensor
    scaled: torch.Tensor
    masked: torch.Tensor
    weights: torch.Tensor
    output: torch.Tensor


def attention(Q, K, V, allowed=None, scale=None):
    """Let every query attend to the keys and mix the values; keep every intermediate.

    Q: (..., T_q, d_k). K: (..., T_k, d_k). V: (..., T_k, d_v). One floating dtype.
    allowed: boolean, broadcastable to (..., T_q, T_k); True = may attend. None = all.
    scale: the number that multiplies the scores; None = 1/sqrt(d_k). No unit.
    Returns an Attention. Agrees with torch.nn.functional.scaled_dot_product_attention, except
    that a query which may attend to nothing is refused: its softmax has no answer.
    Raises TypeError for a wrong type or dtype, ValueError for a wrong shape, for NaN or infinity
    (also in the scaled scores), and for a query that may attend to nothing.
    Source: Vaswani et al. (2017), "Attention Is All You Need", equation 1.
    """
    _check_inputs(Q, K, V)
    if not (scale is None or isinstance(scale, Real)):
        raise TypeError(f"scale must be a number or None, but it is a {type(scale).__name__}.")
    scores = Q @ K.transpose(-2, -1)
    scaled = scores * (Q.shape[-1] ** -0.5 if scale is None else float(scale))
    if not torch.isfinite(scaled).all():
        raise ValueError(
            f"The scaled scores hold NaN or infinity: Q, K or scale is too large for {Q.dtype}."
        )
    masked = scaled
    if allowed is not None:
        _check_allowed(allowed, scores.shape)
        masked = scaled.masked_fill(~allowed, float("-inf"))
    weights = torch.softmax(masked, dim=-1)
    return Attention(scores, scaled, masked, weights, weights @ V)


def causal_mask(queries, keys=None):
    """Return which of `keys` positions each of the last `queries` positions may attend to.

    queries, keys: numbers of positions; keys=None means as many as queries.
    Returns (queries, keys), boolean: True on and below the diagonal that ends at the bottom right,
    so that a single new query sees every key.
    Raises ValueError when there are more queries than keys, or no query; TypeError for what is no
    whole number.
    """
    queries = _whole("queries", queries)
    keys = queries if keys is None else _whole("keys", keys)
    if not 0 < queries <= keys:
        raise ValueError(
            "A causal mask needs at least 1 query and no more queries than keys, "
            f"but got {queries} queries and {keys} keys."
        )
    return torch.ones(queries, keys, dtype=torch.bool).tril(keys - queries)


def padding_mask(lengths, T=None):
    """Return which keys are real tokens, for a batch of sentences padded at the end.

    lengths: B numbers of real tokens. T: the padded length; None = the longest.
    Returns (B, 1, T), boolean, True = real. The middle 1 serves every query.
    Raises ValueError for a length below 1 or above T, or no length; TypeError for what is no whole
    number.
    """
    try:
        lengths = [int(operator.index(length)) for length in lengths]
    except TypeError:
        raise TypeError(f"lengths must be whole numbers in a list, but is {lengths!r}.") from None
    if not lengths:
        raise ValueError("lengths is empty: it needs one number per sentence.")
    T = max(1, *lengths) if T is None else _whole("T", T)
    if not all(1 <= length <= T for length in lengths):
        raise ValueError(f"Every length must be 1 to {T}, but got {lengths}.")
    return (torch.arange(T) < torch.tensor(lengths)[:, None])[:, None, :]


def _whole(name, number):
    try:
        return int(operator.index(number))
    except TypeError:
        raise TypeError(f"{name} must be a whole number, but is {number!r}.") from None


def _check_inputs(Q, K, V):
    for name, tensor in {"Q": Q, "K": K, "V": V}.items():
        if not isinstance(tensor, torch.Tensor):
            raise TypeError(f"{name} must be a torch tensor, but it is a {type(tensor).__name__}.")
        if not tensor.is_floating_point():
            raise TypeError(f"{name} must hold floating-point numbers, but holds {tensor.dtype}.")
        if tensor.ndim < 2:
            raise ValueError(
                f"{name} must have at least 2 dimensions, (T, width), "
                f"but its shape is {tuple(tensor.shape)}."
            )
        if tensor.numel() == 0:
            raise ValueError(f"{name} is empty: its shape is {tuple(tensor.shape)}.")
        if not torch.isfinite(tensor).all():
            raise ValueError(f"{name} holds NaN or infinity; every number must be finite.")
    if not Q.dtype == K.dtype == V.dtype:
        raise TypeError(
            f"Q, K and V must share one dtype, but are {Q.dtype}, {K.dtype}, {V.dtype}."
        )
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(
            f"Q and K must have the same width d_k, but Q has {Q.shape[-1]} "
            f"and K has {K.shape[-1]}."
        )
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(
            f"K and V must have one row per key, but K has {K.shape[-2]} rows "
            f"and V has {V.shape[-2]}."
        )
    try:
        # NumPy's, because PyTorch's own loads a symbolic algebra package first.
        np.broadcast_shapes(Q.shape[:-2], K.shape[:-2], V.shape[:-2])
    except ValueError:
        batches = ", ".join(str(tuple(tensor.shape[:-2])) for tensor in (Q, K, V))
        raise ValueError(
            f"Q, K and V must agree in their batch dimensions, but have {batches}."
        ) from None


def _check_allowed(allowed, shape):
    if not isinstance(allowed, torch.Tensor) or allowed.dtype != torch.bool:
        found = allowed.dtype if isinstance(allowed, torch.Tensor) else type(allowed).__name__
        raise TypeError(f"allowed must be a boolean tensor, True = may attend, but is {found}.")
    try:
        fits = np.broadcast_shapes(allowed.shape, shape) == shape
    except ValueError:
        fits = False
    # A mask over one key, or without a query axis, broadcasts without being meant.
    if not fits or allowed.ndim < 2 or allowed.shape[-1] != shape[-1]:
        raise ValueError(
            f"allowed has shape {tuple(allowed.shape)}, but the scores have shape {tuple(shape)}: "
            f"it needs one column per key ({shape[-1]}) and one row per query ({shape[-2]}) or one "
            "for all."
        )
    empty = ~allowed.any(dim=-1)
    if empty.any():
        row = int(empty.nonzero()[0, -1])
        raise ValueError(
            f"Query {row} may attend to nothing: row {row} of allowed is False throughout, "
            "so its softmax has no answer."
        )
