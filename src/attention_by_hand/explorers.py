"""Explorers: controls beside the numbers they change. Stored, each is a still picture and words."""

import html
from functools import partial

import ipywidgets as widgets
import torch
from IPython.display import display

from attention_by_hand.attention import attention, causal_mask
from attention_by_hand.examples import sentence
from attention_by_hand.figures import Table, most_attended, panels, steps

STYLE = """<style>
.abh-panels {display: flex; flex-wrap: wrap; gap: 4px 16px; overflow-x: auto}
.abh-panels table {border-collapse: collapse; font-variant-numeric: tabular-nums}
.abh-panels caption {text-align: left; font-weight: 600; padding: 2px 0; color: inherit}
.abh-panels th {font-weight: 400; padding: 2px 6px; text-align: right}
.abh-panels thead th {text-align: center}
.abh-panels td {min-width: 50px; padding: 3px 4px; text-align: center}
.abh-says {min-height: 3em; margin-bottom: 6px}
</style>"""


class Explorer:
    """Controls, and a board of tables that is drawn anew from their values.

    title: one line. controls: name -> ipywidgets control. tables: a function of the controls'
    values, by name, that returns a list of Table. says: a function of these tables that returns
    one sentence. error: the last exception of a redraw, or None. The first one is raised.
    """

    def __init__(self, title, controls, tables, says):
        self.title, self.controls, self._tables, self._says = title, controls, tables, says
        self.error = None
        self.board = widgets.HTML()
        for control in controls.values():
            control.observe(self.redraw, names="value")
        sliders = [c for c in controls.values() if isinstance(c, widgets.FloatSlider)]
        choices = [c for c in controls.values() if c not in sliders]
        rows = [
            widgets.HBox(row, layout=widgets.Layout(flex_flow="row wrap"))
            for row in (choices, sliders)
            if row
        ]
        self.widget = widgets.VBox([*rows, self.board])
        self.redraw()
        if self.error:
            raise self.error

    def tables(self):
        """Return the Tables for the controls as they stand."""
        return self._tables(**{name: control.value for name, control in self.controls.items()})

    def picture(self):
        """Return the present state as a Picture."""
        tables = self.tables()
        return panels(self.title, tables, f"{self.title}. {self._says(tables)}")

    def redraw(self, _change=None):
        """Compute and show the tables again. A failure shows one sentence and is kept in error."""
        try:
            tables = self.tables()
            boards = "".join(table.html(colored=True) for table in tables)
            says = html.escape(self._says(tables))
            self.board.value = (
                f'{STYLE}<div class="abh-says" aria-live="polite">{says}</div>'
                f'<div class="abh-panels">{boards}</div>'
            )
            self.error = None
        except Exception as error:
            self.error = error
            self.board.value = (
                f"<p>This explorer could not be drawn: {html.escape(str(error))} "
                "Run the cell again to start afresh.</p>"
            )

    def _ipython_display_(self):
        still, details = self.picture().bundles()
        # Live, the board holds the numbers itself, so an empty view takes the place of the details.
        for (data, metadata), view in ((still, self.widget), (details, widgets.HTML())):
            live = {"model_id": view.model_id, "version_major": 2, "version_minor": 0}
            display(
                {**data, "application/vnd.jupyter.widget-view+json": live},
                metadata=metadata,
                raw=True,
            )


def explore_attention(example, W_Q=None, W_K=None, W_V=None, masks=None):
    """Explore one attention from scores to output: move a word, switch the scaling and the mask.

    example: a Sentence. W_Q, W_K: (d_model, d_k). W_V: (d_model, d_v). None = the identity.
    masks: name -> allowed (T, T) or (1, T), or None for no mask; the first is set at the start.
    None offers no choice of a mask.
    Returns an Explorer. Raises as attention() does.
    """
    X = example.X.clone()
    d_model = X.shape[1]
    W_Q, W_K, W_V = (torch.eye(d_model) if W is None else W for W in (W_Q, W_K, W_V))
    for name, W in {"W_Q": W_Q, "W_K": W_K, "W_V": W_V}.items():
        if W.ndim != 2 or len(W) != d_model:
            raise ValueError(
                f"{name} must have one row per dimension of X ({d_model}), "
                f"but its shape is {tuple(W.shape)}."
            )
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
    return Explorer("Attention from scores to output", controls, tables, _attention_says)


def _attention_says(tables):
    weights, _, output = tables[-3:]
    row = weights.emphasize
    chosen = Table("", weights.values[row : row + 1], [weights.rows[row]], weights.columns)
    return f"{most_attended(chosen)} Its output is ({', '.join(output.cells[row])})."


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
        weights = tables[-1].values
        return f"The largest weight is {weights.max():.4f}, the smallest {weights.min():.4f}."

    if len(scores) != len(labels):
        raise ValueError(f"There are {len(scores)} scores, but {len(labels)} labels.")
    if not all(-4 <= score <= 4 for score in scores):
        raise ValueError(f"Every score must be from -4 to 4, but got {scores}.")
    controls = {
        f"score_{i}": widgets.FloatSlider(value=x, min=-4, max=4, step=0.5, description=label)
        for i, (label, x) in enumerate(zip(labels, scores, strict=True))
    }
    divisor = widgets.FloatSlider(value=1, min=0.5, max=8, step=0.5, description="divisor")
    return Explorer("Softmax and its sharpness", {"divisor": divisor, **controls}, tables, says)


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
