"""The explorers of the track bank."""

from functools import partial

import ipywidgets as widgets
import torch

from attention_by_hand.attention import attention, causal_mask
from attention_by_hand.examples import sentence
from attention_by_hand.explorers.board import Explorer
from attention_by_hand.figures import Table, most_attended, steps

# bank/02


def explore_scaling(pattern, labels):
    """Explore what the width of a key does to one query's scores, unscaled and scaled.

    pattern: T scores of typical size at width 1; at width d_k they are √d_k times as large.
    labels: T names, one per score.
    Tables: scores, weights and w (1 - w), what the softmax lets through of a gradient.
    Returns an Explorer. Raises ValueError when pattern and labels do not match.
    """

    def tables(d_k):
        typical = torch.as_tensor(pattern, dtype=torch.float64)
        scores = torch.stack([typical * d_k**0.5, typical])
        weights = torch.softmax(scores, dim=-1)
        named = {"scores": scores, "weights": weights, "w (1 - w)": weights * (1 - weights)}
        rows = ["unscaled", "scaled by √d_k"]
        return [Table(name, values, rows, labels, ("", "key")) for name, values in named.items()]

    def says(tables):
        unscaled, scaled = tables[-1].values.max(dim=-1).values.tolist()
        return f"The largest gradient is {unscaled:.4f} unscaled and {scaled:.4f} scaled."

    widths = [4**power for power in range(6)]
    controls = {"d_k": widgets.SelectionSlider(options=widths, value=1, description="d_k")}
    return Explorer("Scores, weights and gradients by the width of a key", controls, tables, says)


# bank/03


def explore_mask(example, allowed):
    """Explore a mask: allow or block one key at a time, and see the masked scores and weights.

    example: a Sentence; queries, keys and values are its rows. allowed: (T, T), boolean.
    The last key of a query stays: its box comes back, and a sentence says why.
    Returns an Explorer. Raises as attention() does.
    """
    X, tokens, T = example.X, example.tokens, len(example.tokens)
    attention(X, X, X, allowed)
    refused = []

    def tables(**cells):
        result = attention(X, X, X, torch.tensor(list(cells.values())).view(T, T))
        return steps(result, tokens, masked=True)[1:-1]

    def says(tables):
        return " ".join([*refused, most_attended(tables[-1])])

    def keep_one(change, query, row):
        refused.clear()
        if not any(box.value for box in row):
            change["owner"].value = True
            refused.append(f"{tokens[query]} must see at least one key, so its last one stays.")

    controls = {}
    for query, cells in enumerate(allowed.expand(T, T).tolist()):
        row = [
            widgets.Checkbox(
                value=cell,
                description=f"{tokens[query]} sees {key}",
                indent=False,
                layout=widgets.Layout(width=f"{96 // T}%"),  # one query a line
            )
            for key, cell in zip(tokens, cells, strict=True)
        ]
        for key, box in enumerate(row):
            # Before the explorer's own redraw: it must never meet an empty row.
            box.observe(partial(keep_one, query=query, row=row), names="value")
            controls[f"cell_{query}_{key}"] = box
    return Explorer("A mask, cell by cell", controls, tables, says)


# bank/04


def explore_bank():
    """Explore one word in two phrases: move river and money, and see both outputs of bank.

    Queries, keys and values are the rows of the phrases, with a causal mask.
    Returns an Explorer.
    """
    river, money = sentence("river"), sentence("money")
    bank, dimensions = river.X[1], river.dimensions

    def tables(**coordinates):
        first = torch.tensor(list(coordinates.values())).view(2, 2)
        phrases = torch.stack([first, bank.expand(2, 2)], dim=1)  # (B, T, d_model)
        result = attention(phrases, phrases, phrases, causal_mask(2))
        names = [" ".join(phrase.tokens) for phrase in (river, money)]
        keys = ["first word", river.tokens[1]]
        words = [river.tokens[0], *money.tokens]
        table = torch.cat([first, bank[None]])
        return [
            Table("embedding", table, words, dimensions, ("word", "dimension")),
            Table("weights of bank", result.weights[:, 1], names, keys, ("in", "key")),
            Table("output of bank", result.output[:, 1], names, dimensions, ("in", "dimension")),
        ]

    def says(tables):
        after_river, after_money = (", ".join(row) for row in tables[-1].cells)
        return f"bank becomes ({after_river}) after river and ({after_money}) after money."

    controls = {
        f"{phrase.tokens[0]}_{name}": widgets.FloatSlider(
            value=x, min=-3, max=3, step=0.5, description=f"{phrase.tokens[0]} {name}"
        )
        for phrase in (river, money)
        for name, x in zip(dimensions, phrase.X[0].tolist(), strict=True)
    }
    return Explorer("One bank in two phrases", controls, tables, says)


# bank/05


# bank/06


# bank/07


def explore_training(history, runs, phrases, words):
    """Explore a training step by step: each run's loss, where the last word attends, its answer.

    history: "loss" (N, S), "weights" (N, S, B, 2) of the last query and "probabilities"
    (N, S, B, number of words) of the next word, for N steps, S runs and B phrases of two words.
    runs: S names. phrases: B phrases with the same last word. words: the vocabulary.
    Returns an Explorer. Raises ValueError when names and history do not match.
    """
    last = phrases[0].split()[-1]
    rows = [f"{phrase}, {run}" for run in runs for phrase in phrases]

    def tables(step):
        loss, weights, probabilities = (
            history[name][step] for name in ("loss", "weights", "probabilities")
        )
        keys = ["first word", last]
        return [
            Table("loss", loss[:, None], runs, [""], ("run", "")),
            Table(f"weights of {last}", weights.flatten(0, 1), rows, keys, ("in", "key")),
            Table("probabilities", probabilities.flatten(0, 1), rows, words, ("", "next word")),
        ]

    def says(tables):
        loss, _, probabilities = tables
        answers = [words[i] for i in probabilities.values.argmax(dim=-1)]
        told = []
        for i, (run, cells) in enumerate(zip(runs, loss.cells, strict=True)):
            said = " and ".join(answers[i * len(phrases) : (i + 1) * len(phrases)])
            told.append(f"{run} has the loss {cells[0]} and expects {said}")
        return "; ".join(told) + "."

    steps, wide = range(len(history["loss"])), widgets.Layout(width="600px")
    slider = widgets.SelectionSlider(options=steps, description="step", layout=wide)
    return Explorer("Training, step by step", {"step": slider}, tables, says)


# bank/08
