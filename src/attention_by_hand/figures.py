"""Pictures that carry their numbers: each shows a PNG, and the same numbers as words."""

import html
import io
import struct
from dataclasses import dataclass

import matplotlib
import numpy as np
import torch
from IPython.display import display
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from PIL import Image
from PIL.PngImagePlugin import PngInfo

SCREEN_DPI = 96  # one CSS pixel
FILE_DPI = 120  # sharper than the screen, small enough for a notebook
MAX_WIDTH = 9.0  # inches: what a notebook cell is wide
CELL_WIDTH, CELL_HEIGHT, HEAD_HEIGHT = 0.6, 0.34, 0.75  # inches
BLUES = matplotlib.colormaps["Blues"].with_extremes(bad="#d9d9d9")
BLUE, ORANGE = "#1f5a94", "#b34700"


@dataclass(frozen=True)
class Table:
    """A named matrix with its labels: what every picture and explorer is made of.

    values: (R, C). rows: R labels. columns: C labels. axes: what rows and columns are.
    emphasize: the index of one row to frame, or None.
    Raises ValueError when the labels do not match the matrix.
    """

    name: str
    values: torch.Tensor
    rows: list[str]
    columns: list[str]
    axes: tuple[str, str] = ("query", "key")
    emphasize: int | None = None

    def __post_init__(self):
        values = torch.as_tensor(self.values).detach()
        if values.ndim != 2:
            raise ValueError(
                f"{self.name} must be a matrix with 2 dimensions, "
                f"but its shape is {tuple(values.shape)}."
            )
        if tuple(values.shape) != (len(self.rows), len(self.columns)):
            raise ValueError(
                f"{self.name} has shape {tuple(values.shape)}, but there are "
                f"{len(self.rows)} row labels and {len(self.columns)} column labels."
            )
        object.__setattr__(self, "values", values.double())

    @property
    def cells(self):
        """The printed numbers, row by row: whole numbers as they are, others to four decimals."""
        finite = self.values[torch.isfinite(self.values)]
        decimals = 0 if torch.equal(finite.round(decimals=4), finite.round()) else 4
        # Adding 0.0 turns a rounded -0.0 into 0.0.
        return [
            [f"{round(value, decimals) + 0.0:.{decimals}f}" for value in row]
            for row in self.values.tolist()
        ]

    @property
    def limits(self):
        """Where the color scale starts and ends: 0 to 1 for weights, else the data's own range."""
        finite = self.values[torch.isfinite(self.values)].tolist()
        return min([0.0, *finite]), max([1.0, *finite])

    @property
    def colors(self):
        """The fill of each cell and the text color that stands out on it, as hex, row by row."""
        low, high = self.limits
        shades = torch.where(torch.isfinite(self.values), self.values, torch.nan)
        rgb = BLUES(((shades - low) / (high - low)).numpy())[..., :3]
        linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        # At this relative luminance black and white contrast equally (WCAG 2.2).
        dark = linear @ [0.2126, 0.7152, 0.0722] < 0.179
        return [
            [
                (to_hex(fill), "#ffffff" if white else "#000000")
                for fill, white in zip(*row, strict=True)
            ]
            for row in zip(rgb, dark, strict=True)
        ]

    @property
    def _corner(self):
        return " \\ ".join(filter(None, self.axes))

    def text(self):
        """Return the table as aligned plain text."""
        lines = [[self._corner, *self.columns]]
        lines += [[label, *row] for label, row in zip(self.rows, self.cells, strict=True)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        body = "\n".join(
            "  ".join(
                [line[0].ljust(widths[0])]
                + [cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)]
            )
            for line in lines
        )
        return f"{self.name}\n{body}"

    def html(self, colored=False):
        """Return the table as an HTML table with a caption and header cells."""
        head = "".join(f'<th scope="col">{html.escape(column)}</th>' for column in self.columns)
        body = ""
        colors = self.colors if colored else None
        for r, (label, row) in enumerate(zip(self.rows, self.cells, strict=True)):
            body += f'<tr><th scope="row">{html.escape(label)}</th>'
            for c, cell in enumerate(row):
                style = ""
                if colored:
                    fill, ink = colors[r][c]
                    edge = "2px 0" if r == self.emphasize else "0"
                    border = f"border:solid {ORANGE};border-width:{edge}"
                    style = f' style="background:{fill};color:{ink};{border}"'
                body += f"<td{style}>{cell}</td>"
            body += "</tr>"
        return (
            f"<table><caption>{html.escape(self.name)}</caption><thead><tr>"
            f"<th>{html.escape(self._corner)}</th>{head}"
            f"</tr></thead><tbody>{body}</tbody></table>"
        )


class Picture:
    """A matplotlib figure, the tables it was drawn from, and one sentence that says what it shows.

    figure: a matplotlib Figure. tables: a list of Table. alt: the sentence.
    words: the numbers as text. png(): the picture's bytes, with the words inside.
    """

    def __init__(self, figure, title, tables, alt):
        self.figure, self.title, self.tables, self.alt = figure, title, tables, alt

    @property
    def words(self):
        texts = [table.text() for table in self.tables]
        named = len(texts) == 1 and self.tables[0].name == self.title
        return "\n\n".join(texts if named else [self.title, *texts])

    def png(self):
        self.figure.set_dpi(FILE_DPI)
        canvas = FigureCanvasAgg(self.figure)
        canvas.draw()
        # 32 colors are enough for these drawings, and keep a notebook a third of the size.
        image = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
        image = image.quantize(32, dither=Image.Dither.NONE)
        # The words inside the file let a test see a picture that is out of date.
        words = PngInfo()
        words.add_text("Description", self.words)
        buffer = io.BytesIO()
        image.save(buffer, "png", pnginfo=words)
        return buffer.getvalue()

    def bundles(self):
        """Return the two outputs of a picture, each as (data, metadata)."""
        png = self.png()
        width, height = struct.unpack(">II", png[16:24])
        size = {
            "width": round(width * SCREEN_DPI / FILE_DPI),
            "height": round(height * SCREEN_DPI / FILE_DPI),
        }
        details = (
            f"<details><summary>Numbers in this picture</summary><p>{html.escape(self.alt)}</p>"
            + "".join(table.html() for table in self.tables)
            + "</details>"
        )
        return (
            (
                {"image/png": png, "text/plain": self.words},
                {"image/png": {"alt": self.alt, **size}},
            ),
            ({"text/html": details, "text/plain": self.alt}, {}),
        )

    def _ipython_display_(self):
        for data, metadata in self.bundles():
            display(data, metadata=metadata, raw=True)


def heatmap(matrix, rows, columns=None, title="Weights", axes=("query", "key"), emphasize=None):
    """Draw a matrix as colored cells with its numbers in them.

    matrix: (R, C). rows: R labels. columns: C labels; None = the row labels again.
    axes: what the rows and the columns are. emphasize: the index of one row to frame.
    Returns a Picture. Raises ValueError when labels and matrix do not match.
    """
    columns = rows if columns is None else columns
    table = Table(title, matrix, list(rows), list(columns), axes, emphasize)
    alt = (
        f"{title}: a heat map with {len(rows)} rows ({axes[0]}) and {len(columns)} columns "
        f"({axes[1]}). {_extremes(table)}"
    )
    return panels(title, [table], alt)


def pipeline(result, queries, keys=None, dimensions=None, title="From scores to output"):
    """Draw the steps of one attention side by side.

    result: what attention() returns, without batch dimensions. queries: T_q labels.
    keys: T_k labels; None = the queries. dimensions: d_v names; None = d0, d1, ...
    Returns a Picture. Raises ValueError when labels and matrices do not match.
    """
    tables = steps(result, queries, keys, dimensions)
    names = ", ".join(table.name.split(" ")[0] for table in tables)
    alt = f"{title}, side by side: {names}. {most_attended(tables[-2])}"
    return panels(title, tables, alt)


def steps(result, queries, keys=None, dimensions=None, emphasize=None, masked=None):
    """Return the Tables of an attention's steps; `masked` says whether to show the masked scores
    (None: only where they differ from the scaled ones)."""
    keys = queries if keys is None else keys
    if dimensions is None:
        dimensions = [f"d{i}" for i in range(result.output.shape[-1])]
    if masked is None:
        masked = not torch.equal(result.masked, result.scaled)
    names = ["scores", "scaled", *["masked"] * masked, "weights"]
    return [
        *(Table(name, getattr(result, name), queries, keys, emphasize=emphasize) for name in names),
        Table("output", result.output, queries, dimensions, ("query", "dimension"), emphasize),
    ]


def most_attended(table):
    """Return a sentence that says where each query attends most."""
    rounded = table.values.mul(1e4).round()
    best = []
    for row, label, cells in zip(rounded, table.rows, table.cells, strict=True):
        ties = [key for key, value in zip(table.columns, row, strict=True) if value == row.max()]
        target = " and ".join(filter(None, [", ".join(ties[:-1]), ties[-1]]))
        if 1 < len(ties) == len(row):
            target = "all keys equally"
        best.append(f"{label} attends most to {target} ({cells[int(row.argmax())]})")
    return "; ".join(best) + "."


def panels(title, tables, alt):
    """Draw Tables side by side, wrapped to the width of a notebook. Returns a Picture."""
    places, left, top, bottom, right = [], 0.0, 0.0, 0.0, 0.0
    for table in tables:
        width = _label_width(table) + CELL_WIDTH * len(table.columns) + 0.15
        if left and left + width > MAX_WIDTH:
            left, top = 0.0, bottom
        places.append((left + _label_width(table), top + HEAD_HEIGHT))
        left += width
        right = max(right, left)
        bottom = max(bottom, top + HEAD_HEIGHT + CELL_HEIGHT * len(table.rows) + 0.15)
    figure = Figure(figsize=(right, bottom))
    # One set of axes measured in inches: much faster to draw than one per table.
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    for i, (table, (x, y)) in enumerate(zip(tables, places, strict=True)):
        _draw_table(axes, table, x, y, f"→ {table.name}" if i else table.name)
    axes.set(xlim=(0, right), ylim=(bottom, 0))
    return Picture(figure, title, tables, alt)


def _label_width(table):
    return 0.45 + 0.085 * max(map(len, table.rows))


def _draw_table(axes, table, x, y, title):
    width, height = CELL_WIDTH * len(table.columns), CELL_HEIGHT * len(table.rows)
    low, high = table.limits
    image = torch.where(torch.isfinite(table.values), table.values, torch.nan).numpy()
    extent = (x, x + width, y + height, y)
    axes.imshow(image, cmap=BLUES, vmin=low, vmax=high, extent=extent, aspect="auto")
    frame = {"facecolor": "none", "edgecolor": "#999999", "linewidth": 1}
    axes.add_patch(Rectangle((x, y), width, height, **frame))
    if table.emphasize is not None:
        frame = {"facecolor": "none", "edgecolor": ORANGE, "linewidth": 2.5}
        row_top = y + CELL_HEIGHT * table.emphasize
        axes.add_patch(Rectangle((x, row_top), width, CELL_HEIGHT, **frame))
    small, colors = {"fontsize": 9, "va": "center"}, table.colors
    for r, (label, row) in enumerate(zip(table.rows, table.cells, strict=True)):
        middle = y + CELL_HEIGHT * (r + 0.5)
        axes.text(x - 0.07, middle, label, ha="right", **small)
        for c, cell in enumerate(row):
            ink = colors[r][c][1]
            axes.text(x + CELL_WIDTH * (c + 0.5), middle, cell, ha="center", color=ink, **small)
    for c, label in enumerate(table.columns):
        axes.text(x + CELL_WIDTH * (c + 0.5), y - 0.13, label, ha="center", **small)
    gray = {"color": "#444444", "ha": "center", **small}
    axes.text(x + width / 2, y - 0.32, table.axes[1], **gray)
    side = x - _label_width(table) + 0.17
    axes.text(side, y + height / 2, table.axes[0], rotation=90, **gray)
    axes.text(x + width / 2, y - 0.55, title, ha="center", va="center", fontsize=11)


def _extremes(table):
    """Say where the largest and the smallest finite numbers stand, as printed."""
    cells = [
        (float(cell), f"{cell}, at {row} and {column}")
        for row, line in zip(table.rows, table.cells, strict=True)
        for column, cell in zip(table.columns, line, strict=True)
    ]
    finite = [cell for cell in cells if cell[0] > float("-inf")]
    sentences = []
    for word, pick in (("Largest", max), ("smallest", min)):
        best = pick(value for value, _ in finite)
        found = [place for value, place in finite if value == best]
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        sentences.append(f"{word}: {found[0]}{more}")
    blocked = len(cells) - len(finite)
    return "; ".join(sentences) + (f"; {blocked} cells are blocked (-inf)." if blocked else ".")


def vectors(before, labels, after=None, title="Vectors", dimensions=("d0", "d1")):
    """Draw 2-D vectors as arrows, and where they moved.

    before, after: (N, 2); after=None draws one set. labels: N names, one per row.
    dimensions: the names of the two axes. Equal arrows share one label.
    Returns a Picture. Raises ValueError for another width than 2 or labels that do not match.
    """
    sets = {"before": before} if after is None else {"before": before, "after": after}
    tables = [
        Table(
            title if after is None else name,
            matrix,
            list(labels),
            list(dimensions),
            ("vector", "dimension"),
        )
        for name, matrix in sets.items()
    ]
    figure = Figure(figsize=(6.4, 4.4))
    axes = figure.add_axes((0.1, 0.12, 0.86, 0.78))
    everything = torch.cat([table.values for table in tables])
    low, high = everything.min(0).values.clamp(max=0), everything.max(0).values.clamp(min=0)
    margin = 0.1 * float((high - low).max())
    axes.set_xlim(float(low[0]) - margin, float(high[0]) + 6 * margin)  # room for the labels
    axes.set_ylim(float(low[1]) - margin, float(high[1]) + margin)
    tips = {}
    for table, color, style in zip(tables, (BLUE, ORANGE), ("-", "--"), strict=False):
        suffix = "" if after is None else f" ({table.name})"
        for label, cells, tip in zip(table.rows, table.cells, table.values.tolist(), strict=True):
            tips.setdefault((color, style, suffix, *cells), (tip, []))[1].append(label)
    heights = _spread([tip[1] for tip, _ in tips.values()], 0.06 * float((high - low)[1] + margin))
    for ((color, style, suffix, *_), (tip, names)), height in zip(
        tips.items(), heights, strict=True
    ):
        arrow = {"arrowstyle": "-|>", "color": color, "linestyle": style, "linewidth": 1.8}
        arrow |= {"shrinkA": 0, "shrinkB": 0, "mutation_scale": 14}
        axes.annotate("", xy=tip, xytext=(0, 0), arrowprops=arrow)
        place = (tip[0] + 0.4 * margin, height)
        look = {"color": color, "fontsize": 9, "va": "center"}
        look["bbox"] = {"facecolor": "white", "edgecolor": "none", "pad": 1}
        axes.text(*place, ", ".join(names) + suffix, **look)
    axes.axhline(0, color="#999999", linewidth=0.8, zorder=0)
    axes.axvline(0, color="#999999", linewidth=0.8, zorder=0)
    axes.set_xlabel(dimensions[0], fontsize=9)
    axes.set_ylabel(dimensions[1], fontsize=9)
    axes.tick_params(labelsize=8)
    axes.set_title(title, fontsize=11)
    moves = [
        f"{label} at ({', '.join(cells)})"
        + ("" if after is None else f" moves to ({', '.join(tables[1].cells[i])})")
        for i, (label, cells) in enumerate(zip(tables[0].rows, tables[0].cells, strict=True))
    ]
    alt = f"{title}: arrows from the origin. {'; '.join(moves)}."
    return Picture(figure, title, tables, alt)


def _spread(heights, gap):
    """Move heights apart, from the top down, until neighbors are at least `gap` apart."""
    placed, ceiling = list(heights), float("inf")
    for i in sorted(range(len(heights)), key=lambda i: -heights[i]):
        placed[i] = min(heights[i], ceiling)
        ceiling = placed[i] - gap
    return placed


def flow(weights, query, keys, title="Where the query looks"):
    """Draw one row of weights as lines from the query to the keys; thicker means more weight.

    weights: (T_k,), numbers from 0 to 1. query: one label. keys: T_k labels.
    Returns a Picture. Raises ValueError when labels and weights do not match.
    """
    table = Table("weights", torch.as_tensor(weights)[None], [query], list(keys))
    figure = Figure(figsize=(max(4.0, 1.3 * len(keys)), 2.6))
    axes = figure.add_axes((0.02, 0.02, 0.96, 0.84))
    middle = (len(keys) - 1) / 2
    for x, (key, cell, weight) in enumerate(
        zip(keys, table.cells[0], table.values[0].tolist(), strict=True)
    ):
        axes.plot([middle, x], [1, 0], color=BLUE, linewidth=24 * weight, solid_capstyle="butt")
        axes.text(x, -0.08, f"{key}\n{cell}", ha="center", va="top", fontsize=10)
    axes.text(middle, 1.06, f"query: {query}", ha="center", va="bottom", fontsize=10)
    axes.text(-0.6, -0.08, "key\nweight", ha="right", va="top", fontsize=9, color="#444444")
    axes.set(xlim=(-1.2, len(keys) - 0.4), ylim=(-0.45, 1.25))
    axes.set_axis_off()
    axes.set_title(title, fontsize=11)
    alt = f"{title}: lines from the query {query} to {len(keys)} keys. {most_attended(table)}"
    return Picture(figure, title, [table], alt)


def curve(series, x, title="Loss", axes=("step", "loss")):
    """Draw one or more lines over the same x, with a mark at every point.

    series: name -> N numbers. x: N numbers. axes: what x and y are.
    Returns a Picture. Raises ValueError when the lengths differ.
    """
    matrix = torch.stack([torch.as_tensor(values).double() for values in series.values()], dim=1)
    table = Table(title, matrix, [f"{value:g}" for value in x], list(series), axes)
    figure = Figure(figsize=(6.4, 3.4))
    plot = figure.add_axes((0.12, 0.16, 0.72, 0.74))
    looks = ((BLUE, "-", "o"), (ORANGE, "--", "s"), ("#4d4d4d", ":", "^"), ("#6a3d9a", "-.", "D"))
    span = float(matrix.max() - matrix.min())
    ends = _spread(matrix[-1].tolist(), 0.07 * span)
    for (name, values), end, (color, style, marker) in zip(
        series.items(), ends, looks, strict=False
    ):
        plot.plot(x, values, color=color, linestyle=style, marker=marker, markersize=4)
        place = {"textcoords": ("offset points", "data"), "va": "center", "fontsize": 9}
        plot.annotate(name, xy=(x[-1], values[-1]), xytext=(8, end), color=color, **place)
    plot.set_xlabel(axes[0], fontsize=9)
    plot.set_ylabel(axes[1], fontsize=9)
    plot.tick_params(labelsize=8)
    plot.set_title(title, fontsize=11)
    plot.spines[["top", "right"]].set_visible(False)
    first, last = table.cells[0], table.cells[-1]
    runs = [f"{name} goes from {a} to {b}" for name, a, b in zip(series, first, last, strict=True)]
    span = f"{axes[1]} against {axes[0]}, from {axes[0]} {x[0]:g} to {x[-1]:g}"
    alt = f"{title}: {span}; {'; '.join(runs)}."
    return Picture(figure, title, [table], alt)
