"""The explorers of the track mouse."""

import ipywidgets as widgets
import torch

from attention_by_hand.attention import attention
from attention_by_hand.examples import sentence
from attention_by_hand.explorers.board import Explorer
from attention_by_hand.figures import Table

# mouse/01

# mouse/02

# mouse/03

# mouse/04


def explore_values(W_V):
    """Explore what W_V passes on of the word mouse, and how much of it can be brought back.

    W_V: (3, d_v), numbers from -2 to 2; each gets a slider. Queries and keys are the rows of X.
    Tables: the values of all words; for mouse, in both sentences: its output, what least squares
    makes of it, and the original, the three numbers that the identity passes on.
    Returns an Explorer. Raises ValueError for another shape, and for a number out of range.
    """
    W_V = torch.as_tensor(W_V, dtype=torch.float64)
    words = sentence("cat", "cat keyboard mouse and are friends useful")
    if W_V.ndim != 2 or len(W_V) != len(words.dimensions) or not (W_V.abs() <= 2).all():
        raise ValueError(f"W_V must be 3 rows of numbers from -2 to 2, but is {W_V.tolist()}.")
    examples = [sentence("cat").X, sentence("keyboard").X]
    original = torch.stack([attention(X, X, X).output[2] for X in examples]).double()
    columns = [f"d{j}" for j in range(W_V.shape[1])]
    axes, rows = ("in", "dimension"), ["cat sentence", "keyboard sentence"]

    def tables(**entries):
        chosen = torch.tensor(list(entries.values()), dtype=torch.float64).view_as(W_V)
        output = original @ chosen  # weights @ (X @ W_V) = (weights @ X) @ W_V
        back = output @ torch.linalg.pinv(chosen)
        values = words.X.double() @ chosen
        return [
            Table("values", values, words.tokens, columns, ("word", "dimension")),
            Table("output of mouse", output, rows, columns, axes),
            Table("what comes back", back, rows, words.dimensions, axes),
            Table("the original", original, rows, words.dimensions, axes),
        ]

    def says(tables):
        first, second = tables[1].values
        told = "are equal" if torch.allclose(first, second, atol=1e-6) else "differ"
        exact = torch.isclose(tables[2].values, tables[3].values, atol=1e-6).all(dim=0)
        names = [name for name, same in zip(words.dimensions, exact, strict=True) if same]
        return f"The two outputs of mouse {told}. Exactly back: {', '.join(names) or 'none'}."

    controls = {
        f"{name}_{column}": widgets.FloatSlider(
            value=entry, min=-2, max=2, step=0.5, description=f"{name} {column}"
        )
        for name, entries in zip(words.dimensions, W_V.tolist(), strict=True)
        for column, entry in zip(columns, entries, strict=True)
    }
    return Explorer("What the values pass on", controls, tables, says)
