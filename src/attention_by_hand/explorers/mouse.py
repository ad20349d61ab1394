"""The explorers of the track mouse."""

import ipywidgets as widgets
import torch
import torch.nn.functional as F

from attention_by_hand.attention import attention
from attention_by_hand.examples import TABLES, sentence
from attention_by_hand.explorers.board import Explorer
from attention_by_hand.figures import Table

# mouse/01


def explore_reach():
    """Explore how far mouse can see: by stacked convolutions of width 3, and by one attention.

    The sentences are a cue (cat or keyboard), words of grammar, and mouse. A convolution takes a
    quarter of the row before, half of the row itself and a quarter of the row after. Tables: how
    much mouse takes of each word, and its new row for each cue.
    Returns an Explorer.
    """
    kernel = torch.tensor([[[0.25, 0.5, 0.25]]])
    cues, kinds = ("cat", "keyboard"), ("convolution", "attention")
    dimensions = sentence("cat").dimensions
    labels = [f"{kind}, {cue}" for kind in kinds for cue in cues]

    def tables(distance, layers):
        between = (["and", "are"] * distance)[: distance - 1]
        X = torch.stack([sentence("cat", " ".join([cue, *between, "mouse"])).X for cue in cues])
        taken = torch.eye(distance + 1)[:, None]  # (word, 1, place): how much of it is there
        for _ in range(layers):
            taken = F.conv1d(taken, kernel, padding=1)
        convolution = taken[:, 0, -1].expand(2, -1)  # (2, T): it asks for no cue
        weights = torch.stack([convolution, attention(X, X, X).weights[:, -1]])  # (kind, cue, T)
        found = (weights[:, :, None] @ X)[:, :, 0].flatten(0, 1)
        words = ["cue", *between, "mouse"]
        return [
            Table("what mouse takes", weights[:, 0], kinds, words, ("method", "word")),
            Table("mouse comes out as", found, labels, dimensions, ("method, cue", "dimension")),
        ]

    def says(tables):
        first, second = tables[1].values[:2]
        found = "the same row" if torch.equal(first, second) else "two different rows"
        of_cue = [row[0] for row in tables[0].cells]
        return (
            f"The convolution takes {of_cue[0]} of the cue, attention {of_cue[1]}. For the two "
            f"cues, the convolution gives mouse {found}; attention gives two."
        )

    sizes = list(range(1, 7))
    controls = {
        name: widgets.SelectionSlider(options=sizes, value=value, description=name)
        for name, value in {"distance": 5, "layers": 1}.items()
    }
    return Explorer("How far mouse can see", controls, tables, says)


# mouse/02


def explore_sentence(text="cat and mouse are friends", longest=8):
    """Explore mouse in a sentence of your own, with one new word whose row three sliders set.

    text: the sentence at the start. longest: how many words a sentence may have.
    Queries, keys and values are the rows of the sentence. A sentence that cannot be shown leaves
    the last one standing, and is told what it lacks.
    Returns an Explorer. Raises ValueError for a `text` that cannot be shown.
    """
    dimensions, table = TABLES["mouse"]
    known = [*table, "new"]
    shown, refused = [], []

    def complaint(words):
        unknown = [word for word in words if word not in known]
        if unknown:
            return f"{unknown[0][:20]!r} has no row: the words are {', '.join(known)}."
        if len(words) > longest:
            return f"A sentence may have {longest} words, but this has {len(words)}."
        return "" if "mouse" in words else "A sentence needs the word mouse."

    def tables(text, **coordinates):
        words = text.lower().split()
        refused[:] = filter(None, [complaint(words)])
        shown[:] = shown if refused else words
        if not shown:
            raise ValueError(refused[0])
        new = list(coordinates.values())
        rows = [new if word == "new" else table[word][1] for word in shown]
        X = torch.tensor(rows, dtype=torch.float32)
        result, mouse = attention(X, X, X), shown.index("mouse")
        moved = torch.stack([X[mouse], result.output[mouse]])
        return [
            Table("rows", X, shown, dimensions, ("word", "dimension"), mouse),
            Table("weights", result.weights, shown, shown, emphasize=mouse),
            Table("mouse", moved, ["in", "out"], dimensions, ("", "dimension")),
        ]

    def says(tables):
        went_in, came_out = (", ".join(row) for row in tables[-1].cells)
        return " ".join([*refused, f"mouse goes in as ({went_in}) and comes out as ({came_out})."])

    controls = {
        "text": widgets.Text(
            value=text,
            description="sentence",
            continuous_update=False,  # with Enter, not with each letter
            layout=widgets.Layout(width="480px"),
        )
    } | {
        name: widgets.FloatSlider(value=0, min=-3, max=3, step=0.5, description=f"new {name}")
        for name in dimensions
    }
    return Explorer("mouse in your sentence", controls, tables, says)


# mouse/03


def explore_learning(history, losses, examples):
    """Explore a training step by step: the loss, the weights of mouse and what it answers.

    history: step -> (W_Q, W_K, W_V, readout); readout (d_v, 2) turns the output of mouse into one
    number for animal and one for tech. losses: one number per step. examples: Sentences with mouse.
    Tables: the loss, a row of weights for each example, and the probabilities of the two answers.
    Returns an Explorer. Raises as attention() does, and ValueError when there is not one loss per
    step.
    """
    if len(losses) != len(history):
        raise ValueError(f"losses has length {len(losses)}, but history has length {len(history)}.")
    loss_at = dict(zip(history, losses, strict=True))

    def tables(step):
        W_Q, W_K, W_V, readout = history[step]
        found = [Table("training", [[loss_at[step]]], [f"step {step}"], ["loss"], ("", ""))]
        answers = []
        for number, example in enumerate(examples):
            X, mouse = example.X.to(W_Q.dtype), example.tokens.index("mouse")
            result = attention(X @ W_Q, X @ W_K, X @ W_V)
            name = f"sentence {number}: weights"
            found.append(Table(name, result.weights[mouse : mouse + 1], ["mouse"], example.tokens))
            answers.append(torch.softmax(result.output[mouse] @ readout, dim=-1))
        numbers, senses = range(len(examples)), ["animal", "tech"]
        axes = ("sentence", "answer")
        return [*found, Table("probability", torch.stack(answers), numbers, senses, axes)]

    def says(tables):
        sure = [f"{cells[0]} in sentence {n}" for n, cells in enumerate(tables[-1].cells)]
        return f"The loss is {tables[0].cells[0][0]}. Probability of animal: {', '.join(sure)}."

    controls = {"step": widgets.SelectionSlider(options=list(history), description="step")}
    return Explorer("Learning, step by step", controls, tables, says, arrow="")


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
    return Explorer("What the values pass on", controls, tables, says, arrow="")
