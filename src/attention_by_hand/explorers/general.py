"""The explorers that several tracks use: attention from scores to output, and the softmax."""

import ipywidgets as widgets
import torch

from attention_by_hand.attention import attention
from attention_by_hand.examples import Sentence
from attention_by_hand.explorers.board import Explorer
from attention_by_hand.figures import Table, most_attended, steps


def explore_attention(example, W_Q=None, W_K=None, W_V=None, masks=None):
    """Explore one attention from scores to output: move a word, switch the scaling and the mask.

    example: a Sentence. W_Q, W_K: (d_model, d_k). W_V: (d_model, d_v). None = the identity.
    masks: name -> allowed (T, T) or (1, T), or None for no mask; the first is set at the start.
    None offers no choice of a mask.
    Returns an Explorer. Raises TypeError for what is no Sentence, and else as attention() does.
    """
    if not isinstance(example, Sentence):
        raise TypeError(f"example must be a Sentence, made by sentence(), but is {example!r}.")
    X = example.X.clone()
    d_model = X.shape[1]
    W_Q, W_K, W_V = (torch.eye(d_model) if W is None else W.to(X) for W in (W_Q, W_K, W_V))
    for name, W in {"W_Q": W_Q, "W_K": W_K, "W_V": W_V}.items():
        if W.ndim != 2 or len(W) != d_model:
            raise ValueError(
                f"{name} must have one row per dimension of X ({d_model}), "
                f"but its shape is {tuple(W.shape)}."
            )
    for allowed in (masks or {}).values():
        attention(X @ W_Q, X @ W_K, X @ W_V, allowed)
    dimensions = example.dimensions if W_V.shape[1] == d_model else None

    def tables(word, scaling, mask=None, **coordinates):
        X[word] = torch.tensor(list(coordinates.values()))
        allowed = masks[mask] if masks else None
        V = X @ W_V
        result = attention(X @ W_Q, X @ W_K, V, allowed, scale=None if scaling else 1.0)
        tables = steps(result, example.tokens, None, dimensions, word, masked=masks is not None)
        columns = tables[-1].columns
        tables.insert(-1, Table("values", V, example.tokens, columns, ("key", "dimension")))
        return tables

    def load(change):
        with explorer.held():
            for slider, value in zip(sliders.values(), X[change["new"]].tolist(), strict=True):
                slider.value = value

    words = [(f"{i}: {token}", i) for i, token in enumerate(example.tokens)]
    word = widgets.Dropdown(options=words, value=0, description="word")
    sliders = {
        name: widgets.FloatSlider(value=x, min=-3, max=3, step=0.5, description=name)
        for name, x in zip(example.dimensions, X[0].tolist(), strict=True)
    }
    # Before the explorer's own redraw: the sliders take the new word's row first.
    word.observe(load, names="value")
    controls = {
        "word": word,
        **sliders,
        "scaling": widgets.Checkbox(value=True, description="divide by √d_k"),
    }
    if masks:
        controls["mask"] = widgets.Dropdown(options=list(masks), description="mask")
    explorer = Explorer("Attention from scores to output", controls, tables, _attention_says)
    return explorer


def _attention_says(tables):
    weights, _, output = tables[-3:]
    row = weights.emphasize
    return f"{most_attended(weights, row)} Its output is ({', '.join(output.cells[row])})."


def explore_softmax(scores, labels):
    """Explore the softmax of one row: move the scores, and divide them all by one number.

    scores: T numbers from -4 to 4. labels: T names, one per score.
    Returns an Explorer. Raises ValueError when scores and labels do not match, or a score is not
    from -4 to 4.
    """

    def tables(divisor, **scores):
        row = torch.tensor([list(scores.values())], dtype=torch.float64)
        scaled = row / divisor
        powers = torch.exp(scaled)
        named = {
            "scores": row,
            "scaled = scores / divisor": scaled,
            "exp(scaled)": powers,
            "weights": powers / powers.sum(),
        }
        return [Table(name, values, ["row"], labels, ("", "key")) for name, values in named.items()]

    def says(tables):
        (weights,) = tables[-1].cells
        largest, smallest = max(weights, key=float), min(weights, key=float)
        return f"The largest weight is {largest}, the smallest {smallest}."

    if len(scores) != len(labels):
        raise ValueError(f"scores has length {len(scores)}, but labels has length {len(labels)}.")
    if not all(-4 <= score <= 4 for score in scores):
        raise ValueError(f"Every score must be from -4 to 4, but got {scores}.")
    controls = {
        f"score_{i}": widgets.FloatSlider(value=x, min=-4, max=4, step=0.5, description=label)
        for i, (label, x) in enumerate(zip(labels, scores, strict=True))
    }
    divisor = widgets.FloatSlider(value=1, min=0.5, max=8, step=0.5, description="divisor")
    return Explorer("Softmax and its sharpness", {"divisor": divisor, **controls}, tables, says)
