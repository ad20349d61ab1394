"""Pictures that carry their numbers: each shows a PNG, and the same numbers as words."""

import html
import io
import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain, cycle, pairwise, product

import matplotlib
import numpy as np
import torch
from IPython.display import display
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection, PathCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import Rectangle
from matplotlib.path import Path
from matplotlib.text import Annotation
from matplotlib.textpath import text_to_path
from matplotlib.transforms import Affine2D
from PIL import Image
from PIL.PngImagePlugin import PngInfo

SCREEN_DPI = 96  # one CSS pixel
FILE_DPI = 120  # sharper than the screen, small enough for a notebook
MAX_WIDTH = 9.0  # inches: what a notebook cell is wide
CELL_WIDTH, CELL_HEIGHT, HEAD_HEIGHT = 0.6, 0.34, 0.75  # inches
PLANE, LEGEND_LINE = 2.0, 0.2  # inches: the side of a plane of arrows, a line under it
BLUES = matplotlib.colormaps["Blues"].with_extremes(bad="#d9d9d9")
BLUE, ORANGE, GRAY, BLACK = "#1f5a94", "#b34700", "#444444", "#000000"
ARROWS = ((BLUE, "-", "solid"), (ORANGE, "--", "dashed"))
# JupyterLab shows a PNG without its alt text; this gives the picture above the sentence below it.
NAME_THE_PICTURE = """<style onload="
const above = this.closest('.jp-OutputArea-child')?.previousElementSibling;
const picture = above?.querySelector('img');
if (picture) picture.alt = this.closest('details').querySelector('p').textContent;
">/**/</style>"""


def as_tensor(numbers):
    """Return numbers as a dense tensor on the CPU, without a gradient.

    numbers: a number, a tensor, an array, or a list of these, nested as deep as you like. Python's
    own numbers keep their double precision.
    Raises TypeError for what holds no numbers, ValueError for rows of different lengths.
    """
    if isinstance(numbers, torch.Tensor):
        return numbers.detach().to_dense().cpu()
    array = np.array(_plain(numbers), order="C")
    if array.dtype.kind in "ufO":  # float16 to longdouble, whole numbers too long for 64 bits
        array = np.vectorize(float, otypes=[float])(array)
    if array.dtype.kind not in "bifc":
        raise TypeError(f"These are no numbers: {numbers!r}.")
    return torch.from_numpy(array)


def _plain(numbers):
    if isinstance(numbers, torch.Tensor):
        return as_tensor(numbers).tolist()
    if isinstance(numbers, list | tuple):
        return [_plain(number) for number in numbers]
    return numbers


@dataclass(frozen=True)
class Table:
    """A named matrix with its labels: what every picture and explorer is made of.

    values: (R, C). rows: R labels. columns: C labels. axes: what rows and columns are.
    emphasize: the index of one row to frame, or None.
    Raises TypeError for what are no numbers, ValueError when the labels do not match the matrix, it
    is empty, or the row to frame is not in it.
    """

    name: str
    values: torch.Tensor
    rows: list[str]
    columns: list[str]
    axes: tuple[str, str] = ("query", "key")
    emphasize: int | None = None

    def __post_init__(self):
        try:
            values = as_tensor(self.values)
        except (TypeError, ValueError, RuntimeError):
            raise TypeError(f"{self.name} must be a matrix of numbers.") from None
        if values.is_complex():
            raise TypeError(f"{self.name} must hold real numbers, but holds complex ones.")
        object.__setattr__(self, "rows", [str(label) for label in self.rows])
        object.__setattr__(self, "columns", [str(label) for label in self.columns])
        if values.ndim != 2:
            raise ValueError(
                f"{self.name} must be a matrix with 2 dimensions, "
                f"but its shape is {tuple(values.shape)}."
            )
        if tuple(values.shape) != (len(self.rows), len(self.columns)):
            raise ValueError(
                f"{self.name} has shape {tuple(values.shape)}, but there are labels for "
                f"shape {(len(self.rows), len(self.columns))}."
            )
        if values.numel() == 0:
            raise ValueError(f"{self.name} is empty: its shape is {tuple(values.shape)}.")
        if self.emphasize is not None and self.emphasize not in range(len(self.rows)):
            raise ValueError(
                f"emphasize must be a row from 0 to {len(self.rows) - 1}, "
                f"but is {self.emphasize!r}."
            )
        object.__setattr__(self, "values", values.double())

    @property
    def cells(self):
        """The printed numbers, row by row: whole numbers as they are, others to four decimals."""
        finite = self.values[torch.isfinite(self.values)]
        # As whole as a float32 can be after a few steps of arithmetic.
        whole = torch.allclose(finite, finite.round(), rtol=1e-6, atol=1e-6)
        decimals = 0 if whole else 4
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
        fills = np.rint(rgb * 255).astype(np.uint8)
        return [
            [
                (f"#{fill.tobytes().hex()}", "#ffffff" if white else "#000000")
                for fill, white in zip(*row, strict=True)
            ]
            for row in zip(fills, dark, strict=True)
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
            framed = colored and r == self.emphasize
            frame = f' style="outline:2px solid {ORANGE}"' if framed else ""
            body += f'<tr{frame}><th scope="row">{html.escape(label)}</th>'
            for c, cell in enumerate(row):
                style = ""
                if colored:
                    fill, ink = colors[r][c]
                    style = f' style="background:{fill};color:{ink}"'
                body += f"<td{style}>{cell}</td>"
            body += "</tr>"
        return (
            f"<table><caption>{html.escape(self.name)}</caption><thead><tr>"
            f"<th>{html.escape(self._corner)}</th>{head}"
            f"</tr></thead><tbody>{body}</tbody></table>"
        )


class Arrows(Table):
    """A Table whose rows are at most two 2-D vectors: under its numbers they stand as arrows.

    The longest reaches the edge of the plane, so an arrow that turns keeps its length.
    """

    def __post_init__(self):
        super().__post_init__()
        if self.values.shape[1] != 2 or len(self.rows) > len(ARROWS):
            raise ValueError(
                f"{self.name} must hold 1 or 2 vectors of width 2, "
                f"but its shape is {tuple(self.values.shape)}."
            )
        check_finite(self.name, self.values)

    @property
    def tips(self):
        """Where the arrows end, in inches from the middle of the plane; y points down."""
        longest = float(self.values.norm(dim=-1).max()) or 1.0
        return (self.values / longest * PLANE / 2 * torch.tensor([1, -1])).tolist()

    @property
    def legend(self):
        return [f"{kind}: {row}" for row, (_, _, kind) in zip(self.rows, ARROWS, strict=False)]

    def html(self, colored=False):
        """As a Table; colored, with its arrows as an SVG below."""
        table = super().html(colored)
        if not colored:
            return table
        half = round(PLANE / 2 * SCREEN_DPI)
        drawn = f'<path d="M-{half} 0H{half}M0 -{half}V{half}" stroke="#999999"/>'
        for i, (tip, text) in enumerate(zip(self.tips, self.legend, strict=True)):
            color, style, _ = ARROWS[i]
            x, y = (inches * SCREEN_DPI for inches in tip)
            dashes = ' stroke-dasharray="7 4"' if style == "--" else ""
            turn = f"translate({x:.1f} {y:.1f}) rotate({math.degrees(math.atan2(y, x)):.1f})"
            drawn += (
                f'<path d="M0 0L{x:.1f} {y:.1f}" stroke="{color}" stroke-width="2.4"{dashes}/>'
                f'<path d="M0 0l-12 5v-10z" fill="{color}" transform="{turn}"/>'
                f'<text x="0" y="{half + 20 * (i + 1)}" text-anchor="middle" font-size="13" '
                f'fill="{color}">{html.escape(text)}</text>'
            )
        edge, height = half + 4, 2 * half + 8 + 20 * len(ARROWS)
        return (
            f'<div>{table}<svg role="img" aria-label="The rows above as arrows from the origin" '
            f'viewBox="-{edge} -{edge} {2 * edge} {height}" width="{2 * edge}" height="{height}" '
            f'style="background:#ffffff;display:block;margin:6px auto">{drawn}</svg></div>'
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
        image = image.quantize(32, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
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
            + f"{NAME_THE_PICTURE}</details>"
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
    table = Table(title, matrix, rows, columns, axes, emphasize)
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
    """Return the Tables of an attention's steps, one row of each framed by `emphasize`.

    masked: whether the masked scores are among them; None = where they differ from the scaled.
    The rest is as in pipeline().
    """
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


def most_attended(table, chosen=None):
    """Return a sentence that says where each query attends most, or the `chosen` row alone."""
    rows, said = list(zip(table.rows, table.cells, strict=True)), []
    for label, cells in rows if chosen is None else [rows[chosen]]:
        best = max(cells, key=float)
        ties = [key for key, cell in zip(table.columns, cells, strict=True) if cell == best]
        target = "most to " + " and ".join(filter(None, [", ".join(ties[:-1]), ties[-1]]))
        if 1 < len(ties) == len(cells):
            target = "to all keys equally"
        said.append(f"{label} attends {target} ({best})")
    return "; ".join(said) + "."


def beside(title, *heatmaps):
    """Draw several heatmaps in one picture, side by side.

    Returns a Picture. Raises ValueError without a heatmap.
    """
    if not heatmaps:
        raise ValueError("There is nothing to draw: beside needs at least one heatmap.")
    tables = [table for picture in heatmaps for table in picture.tables]
    alt = " ".join([f"{title}, side by side.", *(picture.alt for picture in heatmaps)])
    return panels(title, tables, alt, arrow="")


def panels(title, tables, alt, arrow="→ "):
    """Draw Tables side by side, wrapped to the width of a notebook. Returns a Picture.

    arrow: what stands before the name of each table but the first.
    """
    places, left, top, bottom, right = [], 0.0, 0.0, 0.0, 0.0
    names = [f"{arrow}{table.name}" if i else table.name for i, table in enumerate(tables)]
    for table, name in zip(tables, names, strict=True):
        label = 0.45 + max(map(_text_width, table.rows))
        number = max(chain(*table.cells), key=len)  # all digits are equally wide
        cell = max(map(_text_width, [*table.columns, number])) + 0.12
        widest = max(_text_width(name, 11), _text_width(table.axes[1]))
        plane = isinstance(table, Arrows)
        if plane:
            widest = max(widest, PLANE, *map(_text_width, table.legend))
        grid = max(len(table.columns) * max(CELL_WIDTH, cell), widest)
        width = label + grid + 0.15
        if left and left + width > MAX_WIDTH:
            left, top = 0.0, bottom
        places.append((left + 0.17, left + label, top + HEAD_HEIGHT, grid))
        left += width
        right = max(right, left)
        height = CELL_HEIGHT * len(table.rows)
        height = max(height, (height + _text_width(table.axes[0])) / 2)  # the name of the rows
        height += (0.2 + PLANE + LEGEND_LINE * (len(ARROWS) + 0.5)) * plane
        bottom = max(bottom, top + HEAD_HEIGHT + height + 0.15)
    figure = Figure(figsize=(right, bottom))
    # In inches from the upper left corner: matplotlib's axes would take as long as all they hold.
    inches = Affine2D().scale(1, -1).translate(0, bottom) + figure.dpi_scale_trans
    texts = []  # for each its place, its color, and what _outline takes
    for table, name, place in zip(tables, names, places, strict=True):
        _draw_table(figure, inches, texts, table, name, *place)
    _write(figure, inches, [text for text in texts if text[2].strip()])
    return Picture(figure, title, tables, alt)


def _draw_table(figure, inches, texts, table, title, side, x, y, width):
    cell_width, height = width / len(table.columns), CELL_HEIGHT * len(table.rows)
    lefts = [x + cell_width * c for c in range(len(table.columns))]
    tops = [y + CELL_HEIGHT * r for r in range(len(table.rows))]
    cells, fills = [], []
    for top, label, row, colors in zip(tops, table.rows, table.cells, table.colors, strict=True):
        bottom, middle = top + CELL_HEIGHT, top + CELL_HEIGHT / 2
        texts.append(((x - 0.07, middle), BLACK, label, "right"))
        for left, cell, (fill, ink) in zip(lefts, row, colors, strict=True):
            right = left + cell_width
            cells.append([(left, top), (right, top), (right, bottom), (left, bottom)])
            fills.append(fill)
            texts.append(((left + cell_width / 2, middle), ink, cell))
    figure.add_artist(PolyCollection(cells, facecolors=fills, antialiaseds=False, transform=inches))
    frame = {"fc": "none", "transform": inches}
    figure.add_artist(Rectangle((x, y), width, height, ec="#999999", lw=1, **frame))
    if table.emphasize is not None:
        row = x, tops[table.emphasize]
        figure.add_artist(Rectangle(row, width, CELL_HEIGHT, ec=ORANGE, lw=2.5, **frame))
    for left, label in zip(lefts, table.columns, strict=True):
        texts.append(((left + cell_width / 2, y - 0.13), BLACK, label))
    texts += [
        ((x + width / 2, y - 0.32), GRAY, table.axes[1]),
        ((side, y + height / 2), GRAY, table.axes[0], "center", 9, 90),
        ((x + width / 2, y - 0.55), BLACK, title, "center", 11),
    ]
    if isinstance(table, Arrows):
        _draw_plane(figure, inches, texts, table, x + width / 2, y + height + 0.2 + PLANE / 2)


def _draw_plane(figure, inches, texts, table, x, y):
    half = PLANE / 2
    lines = [(x - half, y), (x + half, y)], [(x, y - half), (x, y + half)]
    figure.add_artist(LineCollection(lines, colors="#999999", linewidths=0.8, transform=inches))
    for i, ((right, down), text) in enumerate(zip(table.tips, table.legend, strict=True)):
        color, style, _ = ARROWS[i]
        tip, look = (x + right, y + down), _arrow(color, style)
        figure.add_artist(Annotation("", tip, (x, y), inches, arrowprops=look))
        texts.append(((x, y + half + LEGEND_LINE * (i + 1)), color, text))


def _arrow(color, style):
    look = {"arrowstyle": "-|>", "color": color, "linestyle": style, "linewidth": 1.8}
    return look | {"shrinkA": 0, "shrinkB": 0, "mutation_scale": 14}


def _write(figure, inches, texts):
    """Write all texts as outlines in one artist: many times as fast as one Text for each."""
    outlines = PathCollection(
        [_outline(*look) for _, _, *look in texts],
        offsets=[place for place, *_ in texts],
        offset_transform=inches,
        facecolors=[color for _, color, *_ in texts],
        transform=Affine2D().scale(1 / 72) + figure.dpi_scale_trans,
        gid="\n".join(text for _, _, text, *_ in texts),  # for whoever reads the artists
    )
    figure.add_artist(outlines)


@cache
def _outline(text, align="center", size=9, rotation=0):
    """The shape of a text in points, with its center or its right end at the origin."""
    outline = Path(*text_to_path.get_text_path(FontProperties(), text))
    outline = outline.transformed(Affine2D().scale(size / text_to_path.FONT_SCALE))
    start = {"center": 0.5, "right": 1.0}[align] * outline.vertices[:, 0].max()
    return outline.transformed(Affine2D().translate(-start, -0.36 * size).rotate_deg(rotation))


@cache
def _text_width(text, size=9):
    """The width in inches of a text of `size` points."""
    font = FontProperties(size=size)
    return text_to_path.get_text_width_height_descent(text, font, ismath=False)[0] / 72


def _extremes(table):
    """Say where the largest and the smallest finite numbers stand, as printed."""
    cells = [
        (cell, row, column)
        for row, line in zip(table.rows, table.cells, strict=True)
        for column, cell in zip(table.columns, line, strict=True)
        if math.isfinite(float(cell))
    ]
    if not cells:
        return "No number is finite."
    sentences = []
    for word, pick in (("Largest", max), ("smallest", min)):
        best = pick((cell for cell, _, _ in cells), key=float)
        found = [place for place in cells if place[0] == best]
        count = f" in {len(found)} cells, first" if len(found) > 1 else ""
        _, row, column = found[0]
        sentences.append(f"{word}: {best}{count} at {row} and {column}")
    blocked = int(table.values.isneginf().sum())
    if blocked:
        sentences.append(f"{blocked} {'cell is' if blocked == 1 else 'cells are'} blocked (-inf)")
    return "; ".join(sentences) + "."


def vectors(
    before, labels, after=None, title="Vectors", dimensions=("d0", "d1"), states=("before", "after")
):
    """Draw 2-D vectors as arrows, and where they moved.

    before, after: (N, 2); after=None draws one set. labels: N names, one per row.
    dimensions: the names of the two axes. states: the names of the two sets.
    Equal arrows share one label.
    Returns a Picture. Raises ValueError for another width than 2, labels that do not match, and
    NaN or infinity.
    """
    if len(dimensions) != 2:
        raise ValueError(f"dimensions must be 2 names, but is {dimensions!r}.")
    sets = [(title, before)] if after is None else zip(states, (before, after), strict=True)
    tables = [
        Table(name, matrix, labels, dimensions, ("vector", "dimension")) for name, matrix in sets
    ]
    for table in tables:
        check_finite(table.name, table.values)
    everything = torch.cat([table.values for table in tables])
    low, high = everything.min(0).values.clamp(max=0), everything.max(0).values.clamp(min=0)
    margin = 0.1 * float((high - low).max()) or 0.1
    (left, bottom), (right, top) = (low - margin).tolist(), (high + margin).tolist()
    tips = {}
    for table, (color, style, _) in zip(tables, ARROWS, strict=False):
        suffix = "" if after is None else f" ({table.name})"
        for label, cells, tip in zip(table.rows, table.cells, table.values.tolist(), strict=True):
            tips.setdefault((color, style, suffix, *cells), (tip, []))[1].append(label)
    texts = [", ".join(names) + key[2] for key, (_, names) in tips.items()]
    wide, tall = 5.5, 3.4  # inches of the axes
    # A label stands beyond its tip, away from the other arrows: left of an arrow to the left,
    # unless the longest on both sides leave no room for the arrows.
    widths = [_text_width(text) + 0.1 for text in texts]
    sides = [-1 if tip[0] < -1e-6 else 1 for tip, _ in tips.values()]
    longest = [max(w * (s == side) for w, s in zip(widths, sides, strict=True)) for side in (-1, 1)]
    if sum(longest) > wide - 1.5:
        sides = [1] * len(sides)
    starts = [
        tip[0] + 0.4 * margin * side for (tip, _), side in zip(tips.values(), sides, strict=True)
    ]
    # What may end the plane on either side, and the inches of text beyond it.
    ends = {-1: [(left, 0)], 1: [(right, 0)]}
    for side, *end in zip(sides, starts, widths, strict=True):
        ends[side].append(end)
    # What one inch stands for, the same on both axes, so that every label ends inside.
    unit = max(
        (top - bottom) / tall,
        *(
            (b - a) / max(wide - near - far, 0.5)
            for (a, near), (b, far) in product(ends[-1], ends[1])
        ),
    )
    left = min(x - inches * unit for x, inches in ends[-1])
    line = 0.2 * unit
    # A longer arrow in the same direction would run through the label: it moves up a line.
    heights = [
        tip[1] + line * any(_runs_past(tip, other) for other, _ in tips.values())
        for tip, _ in tips.values()
    ]
    heights = _spread(heights, line, bottom + 0.1 * unit)
    figure = Figure(figsize=(6.4, 4.4))
    axes = figure.add_axes((0.1, 0.12, wide / 6.4, tall / 4.4))
    axes.set(xlim=(left, left + wide * unit), ylim=(bottom, bottom + tall * unit))
    for (color, style, *_), (tip, _), text, side, *place in zip(
        tips, tips.values(), texts, sides, starts, heights, strict=True
    ):
        # Shorter arrows on top, so that a longer one in the same direction does not hide them.
        order = 2 + 1 / (1 + math.hypot(*tip))
        axes.annotate("", tip, (0, 0), arrowprops=_arrow(color, style), zorder=order)
        look = {"color": color, "fontsize": 9, "va": "center", "parse_math": False}
        look["ha"] = "left" if side > 0 else "right"
        look["bbox"] = {"facecolor": "white", "edgecolor": "none", "pad": 1}
        axes.text(*place, text, **look)
    axes.axhline(0, color="#999999", linewidth=0.8, zorder=0)
    axes.axvline(0, color="#999999", linewidth=0.8, zorder=0)
    _name(axes, title, dimensions)
    moves = []
    for label, *places in zip(tables[0].rows, *(table.cells for table in tables), strict=True):
        points = [f"({', '.join(cells)})" for cells in places]
        named = (
            points if after is None else [f"{a} {b}" for a, b in zip(states, points, strict=True)]
        )
        moves.append(f"{label}: {', '.join(named)}")
    alt = f"{title}: arrows from the origin. {'; '.join(moves)}."
    return Picture(figure, title, tables, alt)


def _name(plot, title, axes=("", "")):
    plain = {"parse_math": False}
    plot.set_title(title, fontsize=11, y=1, **plain)  # else all ticks are measured to place it
    plot.set_xlabel(axes[0], fontsize=9, **plain)
    plot.set_ylabel(axes[1], fontsize=9, **plain)
    plot.tick_params(labelsize=8)
    plot.locator_params(nbins=5)  # each tick takes time to draw


def _runs_past(tip, other):
    """Whether the arrow to `other` passes through `tip` and goes on."""
    (x, y), (a, b) = tip, other
    parallel = abs(x * b - y * a) < 1e-6 * (a * a + b * b)
    return parallel and x * a + y * b > 1.001 * (x * x + y * y)


def check_finite(name, values):
    """Raise ValueError, with the name of the tensor, where a number is NaN or infinite."""
    if not torch.isfinite(values).all():
        raise ValueError(f"{name} holds NaN or infinity; every number must be finite.")


def _spread(heights, gap, floor):
    """Move heights apart until neighbors are at least `gap` apart and none is below `floor`."""
    placed = list(heights)
    downward = sorted(range(len(heights)), key=heights.__getitem__, reverse=True)
    for upper, lower in pairwise(downward):
        placed[lower] = min(placed[lower], placed[upper] - gap)
    placed[downward[-1]] = max(placed[downward[-1]], floor)
    for lower, upper in pairwise(reversed(downward)):
        placed[upper] = max(placed[upper], placed[lower] + gap)
    return placed


def flow(weights, query, keys, title="Where the query looks"):
    """Draw one row of weights as lines from the query to the keys; thicker means more weight.

    weights: (T_k,), numbers from 0 to 1. query: one label. keys: T_k labels.
    Returns a Picture. Raises ValueError when labels and weights do not match, or a weight is not
    from 0 to 1.
    """
    table = Table("weights", [[*weights]], [query], keys)
    printed = table.values.round(decimals=4)
    if not ((printed >= 0) & (printed <= 1)).all():
        raise ValueError(f"Weights must be from 0 to 1, but are {', '.join(table.cells[0])}.")
    room = max(1.0, 0.15 + max(_text_width(key, 10) for key in table.columns))
    figure = Figure(figsize=(max(4.0, room * (len(keys) + 1.4), 0.3 + _text_width(title, 11)), 2.6))
    axes = figure.add_axes((0.02, 0.02, 0.96, 0.84))
    middle = (len(keys) - 1) / 2
    for x, (key, cell, weight) in enumerate(
        zip(keys, table.cells[0], table.values[0].tolist(), strict=True)
    ):
        axes.plot([middle, x], [1, 0], color=BLUE, linewidth=24 * weight, solid_capstyle="butt")
        plain = {"ha": "center", "fontsize": 10, "parse_math": False}
        axes.text(x, -0.14, f"{key}\n{cell}", va="top", **plain)
    axes.text(middle, 1.14, f"query: {query}", va="bottom", **plain)
    axes.text(-0.6, -0.14, "key\nweight", ha="right", va="top", fontsize=9, color=GRAY)
    axes.set(xlim=(-1.2, len(keys) + 0.2), ylim=(-0.45, 1.25))
    axes.set_axis_off()
    _name(axes, title)
    alt = f"{title}: lines from the query {query} to {len(keys)} keys. {most_attended(table)}"
    return Picture(figure, title, [table], alt)


def curve(series, x, title="Loss", axes=("step", "loss")):
    """Draw one or more lines over the same x, with a mark at every point.

    series: name -> N numbers. x: N numbers. axes: what x and y are.
    Returns a Picture. Raises TypeError for lines without names, ValueError when the lengths differ,
    and for NaN or infinity.
    """
    if not isinstance(series, Mapping):
        raise TypeError(f"series must be a dictionary, name -> numbers, but is {series!r}.")
    if not series:
        raise ValueError("A curve needs at least one line, but series is empty.")
    for name, values in series.items():
        if len(values) != len(x):
            raise ValueError(f"{name} has length {len(values)}, but x has length {len(x)}.")
    matrix = torch.stack([as_tensor(values) for values in series.values()], dim=1)
    x = as_tensor(x)
    check_finite("x", x)
    x = x.tolist()
    table = Table(title, matrix, [f"{value:.10g}" for value in x], list(series), axes)
    check_finite(table.name, table.values)
    figure = Figure(figsize=(6.4, 3.4))
    names_width = max(map(_text_width, table.columns)) + 0.2  # inches
    plot = figure.add_axes((0.12, 0.16, 0.88 - names_width / 6.4, 0.74))
    looks = ((BLUE, "-", "o"), (ORANGE, "--", "s"), ("#4d4d4d", ":", "^"), ("#6a3d9a", "-.", "D"))
    low, high = float(table.values.min()), float(table.values.max())
    margin = 0.05 * (high - low) or 0.5
    plot.set_ylim(low - margin, high + margin)
    ends = _spread(table.values[-1].tolist(), 0.07 * (high - low + 2 * margin), low)
    for name, values, end, (color, style, marker) in zip(
        table.columns, table.values.T.tolist(), ends, cycle(looks), strict=False
    ):
        plot.plot(x, values, color=color, linestyle=style, marker=marker, markersize=4)
        place = {"textcoords": ("offset points", "data"), "va": "center", "fontsize": 9}
        place["parse_math"] = False
        plot.annotate(name, xy=(x[-1], values[-1]), xytext=(8, end), color=color, **place)
    plot.locator_params("x", integer=True, steps=[1, 2, 5, 10])
    _name(plot, title, axes)
    plot.spines[["top", "right"]].set_visible(False)
    first, last = table.cells[0], table.cells[-1]
    runs = [f"{name} goes from {a} to {b}" for name, a, b in zip(series, first, last, strict=True)]
    span = f"{axes[1]} against {axes[0]}, from {axes[0]} {table.rows[0]} to {table.rows[-1]}"
    alt = f"{title}: {span}; {'; '.join(runs)}."
    return Picture(figure, title, [table], alt)
