"""The explorers of the track bank."""

from functools import partial

import ipywidgets as widgets
import torch

from attention_by_hand.attention import Attention, attention, causal_mask
from attention_by_hand.examples import sentence
from attention_by_hand.explorers.board import Explorer
from attention_by_hand.figures import (
    Arrows,
    Table,
    as_tensor,
    check_finite,
    most_attended,
    steps,
)

# bank/02


def explore_scaling(pattern, labels):
    """Explore what the width of a key does to one query's scores, unscaled and scaled.

    pattern: T scores of typical size at width 1; at width d_k they are √d_k times as large.
    labels: T names, one per score.
    Tables: scores, weights, and how much each weight w changes per unit of its own q·k:
    w (1 - w) unscaled, and w (1 - w) / √d_k scaled, since the score is divided first.
    Returns an Explorer. Raises ValueError when pattern and labels do not match, and for NaN or
    infinity.
    """
    typical = as_tensor(pattern).double()
    if typical.shape != (len(labels),) or not torch.isfinite(typical).all():
        raise ValueError(
            f"pattern must be one finite number per label, {len(labels)} in all, but is {pattern}."
        )

    def tables(d_k):
        divisors = torch.tensor([[1], [d_k**0.5]])
        scores = typical * d_k**0.5 / divisors
        weights = torch.softmax(scores, dim=-1)
        gradients = weights * (1 - weights) / divisors
        named = {"scores": scores, "weights": weights, "gradient for q·k": gradients}
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
            with explorer.held():
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
    explorer = Explorer("A mask, cell by cell", controls, tables, says)
    return explorer


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


def explore_heads(example, W_Q, W_K, W_V, H):
    """Explore heads one by one, under a causal mask; move the last word.

    example: a Sentence. W_Q, W_K, W_V: (d_model, d_model), cut into H heads of equal width.
    Tables: the head's queries, masked scores, weights and output, and all heads merged.
    Returns an Explorer. Raises ValueError when H does not divide d_model.
    """
    X, tokens, names = example.X.clone(), example.tokens, example.dimensions
    T, d_model = X.shape
    if H < 1 or d_model % H:
        raise ValueError(f"H must divide d_model, which is {d_model}, but H is {H}.")
    d_head = d_model // H

    def tables(head, **coordinates):
        X[-1] = torch.tensor(list(coordinates.values()))
        Q, K, V = ((X @ W).view(T, H, d_head).transpose(0, 1) for W in (W_Q, W_K, W_V))
        result = attention(Q, K, V, causal_mask(T))
        chosen = Attention(*(part[head] for part in result))
        merged = result.output.transpose(0, 1).reshape(T, d_model)
        own = names[head * d_head :][:d_head]
        return [
            Table("queries", Q[head], tokens, own, ("query", "dimension"), T - 1),
            *steps(chosen, tokens, None, own, emphasize=T - 1, masked=True)[2:],
            Table("all heads merged", merged, tokens, names, ("query", "dimension")),
        ]

    def says(tables):
        return f"{choice.label}: {most_attended(tables[2], T - 1)}"

    options = [(f"head {h}", h) for h in range(H)]
    choice = widgets.Dropdown(options=options, value=0, description="show")
    controls = {"head": choice}
    for name, x in zip(names, X[-1].tolist(), strict=True):
        title = f"{tokens[-1]} {name}"
        controls[name] = widgets.FloatSlider(value=x, min=-3, max=3, step=0.5, description=title)
    return Explorer("Heads, one by one", controls, tables, says)


# bank/06


def explore_rotary(q, k):
    """Explore rotary positions in a plane: turn a query and a key, and see their score.

    q, k: 2 numbers each, turned by 1 radian per position. The query stands `distance` positions
    after the key. The score is shown for this place and for the key at position 0.
    Returns an Explorer. Raises ValueError for another width than 2.
    """
    if not len(q) == len(k) == 2:
        raise ValueError(f"q and k must have 2 numbers each, but have {len(q)} and {len(k)}.")
    x, y = torch.tensor([[*q], [*k]], dtype=torch.float64).T

    def turn(*positions):
        angles = torch.tensor(positions, dtype=torch.float64)
        cos, sin = torch.cos(angles), torch.sin(angles)
        return torch.stack([x * cos - y * sin, x * sin + y * cos], dim=-1)

    def tables(position, distance):
        here, first = turn(position + distance, position), turn(distance, 0)
        rows = [f"query at {position + distance:g}", f"key at {position:g}"]
        scores = [[query @ key for query, key in (here, first)]]
        return [
            Arrows("turned", here, rows, ["d0", "d1"], ("vector", "dimension")),
            Table("score", scores, ["query · key"], ["here", "key at 0"], ("", "place")),
        ]

    def says(tables):
        (query, key), ((here, first),) = tables[0].rows, tables[1].cells
        return f"The {query} and the {key} score {here}; with the key at 0 the score is {first}."

    controls = {
        name: widgets.FloatSlider(
            value=value, min=0, max=12, step=1, description=name, readout_format=".0f"
        )
        for name, value in (("position", 3), ("distance", 1))
    }
    return Explorer("A query and a key, turned by their positions", controls, tables, says)


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
        answers = []
        for cells in probabilities.cells:  # words that are equal as shown are a tie
            best = max(map(float, cells))
            said = " or ".join(
                word for word, cell in zip(words, cells, strict=True) if float(cell) == best
            )
            said = said or "nothing"  # a training that has run to NaN
            answers.append(f"{said} after {phrases[len(answers) % len(phrases)]}")
        told = []
        for i, (run, cells) in enumerate(zip(runs, loss.cells, strict=True)):
            said = " and ".join(answers[i * len(phrases) : (i + 1) * len(phrases)])
            told.append(f"{run} has the loss {cells[0]} and expects {said}")
        return "; ".join(told) + "."

    steps, wide = range(len(history["loss"])), widgets.Layout(width="600px")
    slider = widgets.SelectionSlider(options=steps, description="step", layout=wide)
    return Explorer("Training, step by step", {"step": slider}, tables, says, arrow="")


# bank/08


class _Partial(Table):
    """A Table in which NaN is a number that is not there yet, printed as a dot."""

    @property
    def cells(self):
        return [[cell.replace("nan", "·") for cell in row] for row in super().cells]


def explore_cache(tokens, K, V):
    """Explore decoding step by step: which rows of K and V are computed, kept, or not there yet.

    tokens: T labels. K: (T, d_k). V: (T, d_v): the rows of all tokens.
    Returns an Explorer. Raises ValueError when the labels do not match the rows, and for NaN or
    infinity.
    """
    T = len(tokens)
    check_finite("K", K)
    check_finite("V", V)

    def tables(step, cache):
        older = "kept" if cache else "again"
        states = [older] * (step - 1) + ["new"] + ["not yet"] * (T - step)
        rows = [f"{token}: {state}" for token, state in zip(tokens, states, strict=True)]
        parts = [
            _Partial(
                name,
                values.where(torch.arange(len(values))[:, None] < step, torch.nan),
                rows,
                [f"d{i}" for i in range(values.shape[1])],
                ("token", "dimension"),
            )
            for name, values in (("K", K), ("V", V))
        ]
        computed = [1] * step if cache else range(1, step + 1)  # in each step so far
        counts = [[computed[-1], step - computed[-1], sum(computed)]]
        columns = ["computed now", "kept", "computed so far"]
        way = ["cache" if cache else "no cache"]
        return [*parts, Table("rows in this step", counts, way, columns, ("", "rows"))]

    def says(tables):
        ((now, kept, total),) = tables[-1].cells
        return (
            f"Step {int(now) + int(kept)} of {T}: {now} computed, {kept} kept; "
            f"{total} computed so far."
        )

    steps = widgets.SelectionSlider(options=range(1, T + 1), value=(T + 1) // 2, description="step")
    cache = widgets.Checkbox(value=True, description="keep K and V")
    title = "Rows of K and V, step by step"
    return Explorer(title, {"step": steps, "cache": cache}, tables, says, arrow="")
