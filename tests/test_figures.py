"""Pictures: what is drawn, said and given is the same, and all of it is legible."""

import functools
import io
import math
import re
from itertools import chain, combinations, product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PathCollection, PolyCollection
from matplotlib.colors import to_hex, to_rgb, to_rgba
from matplotlib.font_manager import FontProperties
from matplotlib.patches import FancyArrowPatch, Rectangle
from matplotlib.path import Path as Line
from matplotlib.text import Annotation
from matplotlib.textpath import text_to_path
from matplotlib.transforms import Bbox
from PIL import Image

from attention_by_hand import (
    attention,
    causal_mask,
    curve,
    figures,
    flow,
    heatmap,
    padding_mask,
    pipeline,
    sentence,
    vectors,
)
from attention_by_hand.examples import SENTENCES
from attention_by_hand.figures import PLANE, Arrows, Table, beside, most_attended, panels

NUMBER = re.compile(r"-?\d+(?:\.\d+)?|-inf")


def attend(name, masked=False):
    example = sentence(name)
    X = example.X
    return example, attention(X, X, X, causal_mask(len(X)) if masked else None)


def every_picture():
    """One function per picture of the course's examples; each call draws anew."""
    found = {}
    for name in SENTENCES:
        for masked in (False, True):
            example, result = attend(name, masked)
            key = f"{name}, {'causal' if masked else 'no mask'}"
            tokens = example.tokens
            found[f"pipeline {key}"] = lambda r=result, e=example: pipeline(
                r, e.tokens, dimensions=e.dimensions
            )
            if masked:
                found[f"heatmap {key}"] = lambda r=result, t=tokens: heatmap(
                    r.masked, t, title="masked", emphasize=len(t) - 1
                )
                continue
            found[f"flow {key}"] = lambda r=result, t=tokens: flow(r.weights[-1], t[-1], t)
            if len(example.dimensions) == 2:
                found[f"vectors {key}"] = lambda r=result, e=example: vectors(
                    e.X, e.tokens, r.output, f"{e.tokens[0]} before and after"
                )
    light = sentence("light")
    W_V = torch.tensor([[1.0, 0], [0, 1], [0, 1], [1, 0]])
    V = light.X @ W_V
    found["vectors light"] = lambda: vectors(
        V, light.tokens, attend("light")[1].weights @ V, "Moved", states=("value", "output")
    )
    found["vectors, one set"] = lambda: vectors(-V, light.tokens, dimensions=("east", "north"))
    found["heatmap with one cell"] = lambda: heatmap([[0.25]], ["query"], ["key"], "A longer title")
    found["heatmap of odd names"] = lambda: heatmap(torch.eye(2), ["$x$", r"$\no$"])
    found["heatmap below zero"] = lambda: heatmap(
        [[-2.5, -0.5, 0], [1.5, -torch.inf, -1]], ["one", "two"], list("abc"), title="scores"
    )
    found["heatmap of embeddings"] = lambda: heatmap(
        light.X, light.tokens, light.dimensions, "X", ("token", "dimension")
    )
    padded = sentence("light", "a bright light [pad] [pad]")
    mask = padding_mask([3], 5)
    found["pipeline, padded"] = lambda: pipeline(
        attention(padded.X, padded.X, padded.X, mask[0]), padded.tokens
    )
    found["heatmap beside another"] = lambda: beside(
        "two sentences",
        *(
            heatmap(attend(name)[1].weights, sentence(name).tokens, title=name, emphasize=2)
            for name in ("cat", "keyboard")
        ),
    )
    found["arrows"] = lambda: panels(
        "Two arrows and a table",
        [
            Arrows("turned", [[-2.5, 0.5], [1, 1]], ["query", "key"], ["d0", "d1"]),
            Table("score", [[1.5]], ["query"], ["key"]),
        ],
        "Two arrows beside a table",
    )
    found["curve"] = lambda: curve(
        {"loss": [2.0, 1.5, 0.7, 0.2], "weight of light": [0.2, 0.25, 0.24, 0.21]},
        range(4),
        "It's learns",
        ("step", "value"),
    )
    found["curve, flat"] = lambda: curve({"one": [0, 0], "two": [0, 0]}, [0, 1])
    found["curve, five lines"] = lambda: curve(
        {f"seed {i}": [1, 0.1 * i] for i in range(5)}, [0, 9]
    )
    return found


PICTURES = every_picture()
each_picture = pytest.mark.parametrize("name", PICTURES)
each_with_tables = pytest.mark.parametrize(
    "name", [name for name in PICTURES if name.startswith(("heatmap", "pipeline"))]
)


@functools.cache
def drawn(name):
    """A picture and its two bundles, drawn once for all tests."""
    picture = PICTURES[name]()
    return picture, picture.bundles()


class Shown(NamedTuple):
    """A text that is seen: where it is anchored (in inches or data), and its box in pixels."""

    text: str
    color: str
    anchor: tuple[float, float]
    box: Bbox


def artists(picture, kind):
    """The artists of this kind that stand in the figure itself."""
    return [artist for artist in picture.figure.artists if isinstance(artist, kind)]


def outlines(picture):
    """The one artist that holds all texts drawn as outlines, and what each of them says."""
    (collection,) = artists(picture, PathCollection)
    texts = collection.get_gid().split("\n")
    assert len(texts) == len(collection.get_paths()) == len(collection.get_offsets())
    assert len(texts) == len(collection.get_facecolor())
    return collection, texts


def written(picture):
    """The texts drawn as outlines, one entry per place; the box is that of the outline."""
    if not artists(picture, PathCollection):
        return
    collection, texts = outlines(picture)
    looks = collection.get_paths(), collection.get_facecolor(), collection.get_offsets()
    for text, outline, color, anchor in zip(texts, *looks, strict=True):
        corners = outline.vertices[outline.codes != outline.CLOSEPOLY]
        corners = collection.get_transform().transform(corners)
        corner = collection.get_offset_transform().transform(anchor)
        box = Bbox([corners.min(0), corners.max(0)]).translated(*corner)
        yield Shown(text, to_hex(color), tuple(anchor), box)


def cells_drawn(picture):
    """For each table its extent in inches (left, right, bottom, top), and the fill of each cell."""
    for table, cells in zip(picture.tables, artists(picture, PolyCollection), strict=True):
        corners = np.array([path.vertices[:4] for path in cells.get_paths()])
        fills = cells.get_facecolor()
        assert len(corners) == len(fills) == table.values.numel()
        (left, top), (right, bottom) = corners.min((0, 1)), corners.max((0, 1))
        rows, columns = table.values.shape
        across, down = np.linspace(left, right, columns + 1), np.linspace(top, bottom, rows + 1)
        for (r, c), found in zip(product(range(rows), range(columns)), corners, strict=True):
            places = product(across[[c, c + 1]], down[[r, r + 1]])
            assert {place(*corner) for corner in found} == {place(*corner) for corner in places}
        yield (left, right, bottom, top), fills.reshape(rows, columns, 4)


def shown_texts(picture):
    """Every text that is seen: ticks outside the axes' limits are not."""
    picture.figure.draw_without_rendering()
    renderer = FigureCanvasAgg(picture.figure).get_renderer()
    found = [*written(picture)]
    for axes in picture.figure.axes:
        texts = [*axes.texts, axes.title]
        if axes.axison:
            texts += [axes.xaxis.label, axes.yaxis.label]
            for axis in (axes.xaxis, axes.yaxis):
                low, high = sorted(axis.get_view_interval())
                texts += [
                    tick.label1 for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high
                ]
        found += [
            Shown(t.get_text(), t.get_color(), t.get_position(), t.get_window_extent(renderer))
            for t in texts
            if t.get_text() and t.get_visible()
        ]
    return found


def complaints_about_layout(picture):
    """Texts that leave the figure, and pairs of texts that overlap."""
    boxes = [(shown.text, shown.box) for shown in shown_texts(picture)]
    wide, high = picture.figure.bbox.size
    found = [
        f"{text!r} is cut off"
        for text, box in boxes
        if box.x0 < 0 or box.y0 < 0 or box.x1 > wide or box.y1 > high
    ]
    for (one, a), (other, b) in combinations(boxes, 2):
        common = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
        if min(common) > 0.5:
            found.append(f"{one!r} overlaps {other!r} by {common}")
    return found


def place(x, y):
    return round(float(x), 6), round(float(y), 6)


# How the colors of light (linear RGB) reach an eye that lacks one kind of cone: Machado, Oliveira
# and Fernandes, "A physiologically-based model for simulation of color vision deficiency" (2009).
EYES = {
    "all cones": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
each_eye = pytest.mark.parametrize("eye", EYES)


def luminance(color, eye="all cones"):
    """Relative luminance of WCAG 2.2, as it reaches this eye. It is also what gray print keeps."""
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)]
    return np.clip(np.dot(EYES[eye], parts), 0, 1) @ [0.2126, 0.7152, 0.0722]


def contrast(one, other, eye="all cones"):
    low, high = sorted((luminance(one, eye), luminance(other, eye)))
    return (high + 0.05) / (low + 0.05)


def cells_of(tables):
    """The printed numbers of all tables, in order."""
    return list(chain.from_iterable(row for table in tables for row in table.cells))


def printed(value):
    return float(f"{value:.4f}")


# --- every picture --------------------------------------------------------------------------------


@each_picture
def test_nothing_is_cut_off_and_no_texts_overlap(name):
    assert complaints_about_layout(drawn(name)[0]) == []


def test_the_layout_test_can_fail():
    picture = heatmap(torch.eye(2), ["a", "b"])
    collection, texts = outlines(picture)
    places = collection.get_offsets()
    places[texts.index("a")] = -0.2, 1
    places[texts.index("1")] = places[texts.index("0")]
    collection.set_offsets(places)
    found = complaints_about_layout(picture)
    assert any(what.startswith("'a' is cut off") for what in found)
    assert any(what.startswith("'1' overlaps '0'") for what in found)


@each_with_tables
def test_an_outline_is_that_of_its_text(name):
    """Of any size, level or turned by 90 degrees, and never as mathematics."""

    def shape(vertices):
        moved = vertices - vertices.min(0)
        return moved / moved.max()

    collection, texts = outlines(drawn(name)[0])
    for text, outline in zip(texts, collection.get_paths(), strict=True):
        vertices, codes = text_to_path.get_text_path(FontProperties(), text, ismath=False)
        assert np.array_equal(outline.codes, codes)
        turned_back = outline.vertices @ [[0, -1], [1, 0]]
        shapes = [shape(found) for found in (outline.vertices, turned_back)]
        assert any(np.allclose(found, shape(np.array(vertices))) for found in shapes)


@each_picture
def test_words_hold_every_number_that_is_drawn_and_given(name):
    picture, _ = drawn(name)
    said = NUMBER.findall(picture.words)
    for table in picture.tables:
        for value, cell in zip(table.values.flatten().tolist(), cells_of([table]), strict=True):
            assert float(cell) == printed(value)
            assert cell in said
            assert "-0" not in re.findall(r"-0(?:\.0+)?$", cell)
        for label in (table.name, *table.rows, *table.columns):
            assert label in picture.words
    if name.startswith(("heatmap", "pipeline")):
        numbers = [t.text for t in shown_texts(picture) if NUMBER.fullmatch(t.text)]
        assert sorted(numbers) == sorted(cells_of(picture.tables))


@each_picture
def test_the_file_says_what_the_words_say_and_is_the_same_each_time(name):
    first, ((still, metadata), (details, _)) = drawn(name)
    png = still["image/png"]
    assert png == PICTURES[name]().png()
    with Image.open(io.BytesIO(png)) as image:
        image.load()
        assert image.text["Description"] == first.words
        assert min(image.convert("RGB").getpixel((0, 0))) > 250
        wide, high = image.size
    assert still["text/plain"] == first.words
    meta = metadata["image/png"]
    assert meta["alt"] == details["text/plain"] == first.alt
    assert (meta["width"], meta["height"]) == (round(wide * 0.8), round(high * 0.8))


@each_picture
def test_the_folded_numbers_hold_every_cell(name):
    picture, (_, (details, _)) = drawn(name)
    html = details["text/html"]
    assert html.startswith("<details><summary>Numbers in this picture</summary>")
    assert re.findall(r"<td>(.*?)</td>", html) == cells_of(picture.tables)


def test_showing_a_picture_sends_its_two_bundles(monkeypatch):
    sent = []
    monkeypatch.setattr(figures, "display", lambda data, **rest: sent.append((data, rest)))
    picture = heatmap(torch.eye(2), ["a", "b"])
    picture._ipython_display_()
    expected = [(data, {"metadata": meta, "raw": True}) for data, meta in picture.bundles()]
    assert sent == expected
    assert [set(data) for data, _ in sent] == [
        {"image/png", "text/plain"},
        {"text/html", "text/plain"},
    ]


def test_no_pyplot():
    """Its global state would show a figure twice."""
    files = list(Path(figures.__file__).parent.rglob("*.py"))
    assert len(files) > 6
    assert [file.name for file in files if "pyplot" in file.read_text(encoding="utf-8")] == []


# --- colors ---------------------------------------------------------------------------------------


@each_eye
@pytest.mark.parametrize(("low", "high"), [(0, 1), (-3, 5), (0, 1002), (-2e5, 3)])
def test_text_stands_out_on_every_color_and_larger_is_darker(low, high, eye):
    values = torch.linspace(low, high, 2001, dtype=torch.float64)[None]
    table = Table("sweep", values, ["row"], [""] * 2001)
    shades = [luminance(fill, eye) for fill, _ in table.colors[0]]
    least = 4.5 if eye == "all cones" else 4  # the ink is chosen for the first
    assert min(contrast(fill, ink, eye) for fill, ink in table.colors[0]) >= least
    apart = shades[::20]  # steps of one hundredth of the range
    assert apart == sorted(apart, reverse=True)
    assert shades[0] - shades[-1] > 0.8


@each_eye
def test_a_blocked_cell_has_a_color_of_its_own(eye):
    ((blocked, ink), (zero, _)) = Table("t", [[-torch.inf, 0]], ["row"], ["a", "b"]).colors[0]
    assert contrast(blocked, ink, eye) >= 4.5
    assert luminance(zero, eye) - luminance(blocked, eye) > 0.2
    red, green, blue = to_rgb(blocked)
    assert red == green == blue  # no shade of the scale is gray


def test_weights_have_the_same_color_in_every_picture():
    full, part = [[0.0, 0.25, 1.0]], [[0.25, 0.3, 0.25]]
    tables = [Table("weights", rows, ["row"], list("abc")) for rows in (full, part)]
    assert tables[0].limits == tables[1].limits == (0, 1)
    assert tables[0].colors[0][1] == tables[1].colors[0][0]


@each_with_tables
def test_text_stands_out_on_the_pixels_of_the_file(name):
    picture, ((still, _), _) = drawn(name)
    pixels = np.asarray(Image.open(io.BytesIO(still["image/png"])).convert("RGB"))
    inks = {place(*shown.anchor): shown.color for shown in written(picture)}
    for table, (extent, _) in zip(picture.tables, cells_drawn(picture), strict=True):
        left, right, bottom, top = extent
        rows, columns = table.values.shape
        shades = []
        for r in range(rows):
            for c in range(columns):
                center = (c + 0.5) / columns, (r + 0.5) / rows
                spot = left + (right - left) * center[0], top + (bottom - top) * center[1]
                ink = inks[place(*spot)]
                x = left + (right - left) * (c + 0.12) / columns
                y = top + (bottom - top) * (r + 0.2) / rows
                pixel = pixels[round(y * figures.FILE_DPI), round(x * figures.FILE_DPI)] / 255
                assert contrast(pixel, ink) >= 4.5
                across, down = (round(inches * figures.FILE_DPI) for inches in spot)
                middle = pixels[down - 8 : down + 8, across - 12 : across + 12] / 255
                assert np.abs(middle - to_rgb(ink)).max(axis=-1).min() < 0.3  # the text is on top
                assert np.abs(pixel - to_rgb(table.colors[r][c][0])).max() < 0.05
                if torch.isfinite(table.values[r, c]):
                    shades.append((float(table.values[r, c]), -luminance(pixel)))
        for (low, light), (high, dark) in combinations(sorted(shades), 2):
            assert printed(low) == printed(high) or light <= dark + 1e-9, (low, high)


@each_picture
def test_text_beside_the_cells_stands_out_on_white(name):
    picture, _ = drawn(name)
    on_cells = {"#ffffff", "#000000"}
    colors = {shown.color for shown in shown_texts(picture)} - on_cells
    assert all(contrast(color, "white") >= 4.5 for color in colors)


# --- heat maps and pipelines ----------------------------------------------------------------------


@pytest.mark.parametrize("name", SENTENCES)
@pytest.mark.parametrize("masked", [False, True])
def test_a_pipeline_draws_the_steps_it_is_given(name, masked):
    example, result = attend(name, masked)
    picture = pipeline(result, example.tokens, dimensions=example.dimensions)
    steps = ["scores", "scaled", *["masked"] * masked, "weights", "output"]
    assert [table.name for table in picture.tables] == steps
    assert not picture.figure.axes
    texts = {place(*shown.anchor): shown.text for shown in written(picture)}
    seen = 0
    for step, (extent, fills) in zip(steps, cells_drawn(picture), strict=True):
        given_values = getattr(result, step).double()
        finite = given_values[given_values.isfinite()]
        low, high = min(0, float(finite.min())), max(1, float(finite.max()))
        shades = figures.BLUES((given_values - low).numpy() / (high - low))
        shades[~given_values.isfinite()] = to_rgba("#d9d9d9")
        np.testing.assert_allclose(fills, shades, atol=0.5 / 255)
        left, right, bottom, top = extent
        rows, columns = given_values.shape
        middles = [top + (bottom - top) * (r + 0.5) / rows for r in range(rows)]
        centers = [left + (right - left) * (c + 0.5) / columns for c in range(columns)]
        heads = example.tokens if step != "output" else example.dimensions
        for r in range(rows):
            assert texts[place(left - 0.07, middles[r])] == example.tokens[r]
            for c in range(columns):
                value = printed(float(given_values[r, c]))
                assert float(texts[place(centers[c], middles[r])]) == value
        for c in range(columns):
            assert texts[place(centers[c], top - 0.13)] == heads[c]
        middle = (left + right) / 2
        across = "dimension" if step == "output" else "key"
        assert texts[place(middle, top - 0.32)] == across
        assert texts[place(middle, top - 0.55)] == ("" if step == "scores" else "→ ") + step
        seen += rows * (columns + 1) + columns + 3
    assert len(texts) == seen
    assert list(texts.values()).count("query") == len(steps)


@pytest.mark.parametrize("name", SENTENCES)
@pytest.mark.parametrize("masked", [False, True])
def test_the_sentence_of_a_pipeline_is_true(name, masked):
    example, result = attend(name, masked)
    alt = pipeline(result, example.tokens).alt
    said = alt.rstrip(".").partition(". ")[2].split("; ")
    assert len(said) == len(example.tokens)
    for sentence_, token, row in zip(said, example.tokens, result.weights.tolist(), strict=True):
        row = [printed(value) for value in row]
        best = [key for key, value in zip(example.tokens, row, strict=True) if value == max(row)]
        match = re.fullmatch(r"(\S+) attends most to (.*) \(([\d.]+)\)", sentence_)
        assert match[1] == token
        assert float(match[3]) == max(row)
        if len(best) == len(row) > 1:
            assert match[2] == "all keys equally"
        else:
            assert re.split(", | and ", match[2]) == best


def test_a_pipeline_of_other_queries_than_keys():
    Q, K, V = torch.ones(1, 2), torch.eye(3, 2), torch.ones(3, 4)
    picture = pipeline(attention(Q, K, V), ["new"], ["a", "b", "c"])
    assert [table.rows for table in picture.tables] == [["new"]] * 4
    assert [len(table.columns) for table in picture.tables] == [3, 3, 3, 4]
    assert complaints_about_layout(picture) == []


def test_heat_maps_beside_each_other_keep_their_names_and_sentences():
    pair = [heatmap(torch.eye(2) + n, ["a", "b"], title=f"map {n}") for n in range(2)]
    picture = beside("both", *pair)
    assert picture.title == "both"
    assert picture.tables == [table for one in pair for table in one.tables]
    assert picture.alt == f"both, side by side. {pair[0].alt} {pair[1].alt}"
    texts = [text.text for text in shown_texts(picture)]
    assert {"map 0", "map 1"} <= set(texts)
    assert not any("→" in text for text in texts)


def test_the_sentence_of_a_heat_map_is_true():
    picture = heatmap([[0.5, 2.0, -1.0], [2, 0.5, 0]], ["q0", "q1"], ["k0", "k1", "k2"], "Scores")
    assert picture.alt == (
        "Scores: a heat map with 2 rows (query) and 3 columns (key). "
        "Largest: 2.0000 in 2 cells, first at q0 and k1; smallest: -1.0000 at q0 and k2."
    )
    masked = heatmap([[1, -torch.inf], [0, 3]], ["a", "b"], title="masked").alt
    assert masked.endswith(
        "Largest: 3 at b and b; smallest: 0 at b and a; 1 cell is blocked (-inf)."
    )
    masked = heatmap([[-torch.inf, -torch.inf], [0, 3]], ["a", "b"], title="masked").alt
    assert masked.endswith("; 2 cells are blocked (-inf).")
    assert heatmap([[-torch.inf]], ["a"]).alt.endswith("No number is finite.")
    assert heatmap([[torch.nan, 1]], ["a"], ["b", "c"]).alt.endswith("smallest: 1 at a and c.")


def test_emphasize_frames_its_row():
    picture = heatmap(torch.eye(3), list("abc"), emphasize=1)
    whole, frame = artists(picture, Rectangle)
    ((left, right, bottom, top), _) = next(cells_drawn(picture))
    assert whole.get_bbox().extents == pytest.approx([left, top, right, bottom])
    assert whole.get_linewidth() < 2 < frame.get_linewidth()
    height = (bottom - top) / 3
    assert frame.get_bbox().extents == pytest.approx([left, top + height, right, top + 2 * height])
    assert len(artists(heatmap(torch.eye(3), list("abc")), Rectangle)) == 1


@pytest.mark.parametrize("name", ["light", "cat", "river"])
def test_noise_of_a_float_changes_no_word(name):
    example, result = attend(name)
    random = torch.Generator().manual_seed(0)
    shown = []
    for size in (0, 1e-8, 1e-8):
        noise = size * torch.randn(result.weights.shape, generator=random, dtype=torch.float64)
        weights = result.weights.double() + noise
        picture = heatmap(weights, example.tokens)
        line = flow(weights[-1].clamp(0, 1), example.tokens[-1], example.tokens)
        shown.append((picture.words, picture.alt, line.words, line.alt))
    assert shown[0] == shown[1] == shown[2]


def test_printed_numbers():
    def cells(*row):
        return Table("t", [row], ["row"], [""] * len(row)).cells[0]

    assert cells(1, -2, 0.0, -0.0) == ["1", "-2", "0", "0"]
    assert cells(1, -1e-9) == ["1", "0"]
    assert cells(0.5, -1e-9) == ["0.5000", "0.0000"]
    assert cells(-0.00004, 0.25) == ["0.0000", "0.2500"]
    assert cells(-torch.inf, 2) == ["-inf", "2"]
    assert cells(-torch.inf, 0.25) == ["-inf", "0.2500"]
    assert cells(True, False) == ["1", "0"]


def test_labels_are_drawn_as_they_are_not_as_mathematics():
    odd = ["$x$", r"$\no$"]
    for picture in (
        flow([0.5, 0.5], odd[0], odd),
        vectors(torch.eye(2), odd),
        curve({key: [1, 2] for key in odd}, [0, 1]),
    ):
        labels = [text for text in picture.figure.axes[0].texts if "$" in text.get_text()]
        assert len(labels) >= 2
        assert not any(text.get_parse_math() for text in labels)
        assert picture.png()


LABEL = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=12)
# No shrinking: with a picture for each try it would take minutes.
some = settings(
    max_examples=20, deadline=None, derandomize=True, database=None, phases=[Phase.generate]
)


@some
@given(st.lists(LABEL, min_size=1, max_size=6), st.lists(LABEL, min_size=1, max_size=6), st.data())
def test_labels_of_any_length_have_room(rows, columns, data):
    numbers = st.sampled_from([0.0, 1.0, -torch.inf, 0.31370001, -12.5, 1234.5678])
    cells = st.lists(numbers, min_size=len(columns), max_size=len(columns))
    matrix = data.draw(st.lists(cells, min_size=len(rows), max_size=len(rows)))
    picture = heatmap(matrix, rows, columns, title=data.draw(LABEL), axes=("token", "dimension"))
    assert complaints_about_layout(picture) == []
    texts = [text.text for text in shown_texts(picture)]
    assert all(label in texts for label in rows + columns)


@some
@given(st.lists(LABEL, min_size=1, max_size=6), LABEL)
def test_a_flow_has_room_for_its_labels(keys, query):
    weights = torch.softmax(torch.arange(len(keys)).double(), 0)
    assert complaints_about_layout(flow(weights, query, keys)) == []


# --- vectors, flow and curve ----------------------------------------------------------------------


def test_vectors_draws_each_arrow_from_the_origin_to_its_tip():
    before, after = [[2.0, 0], [1, 0.5]], [[1.75, -0.25], [-1, 0]]
    picture = vectors(before, ["river", "bank"], after, "Moved")
    (axes,) = picture.figure.axes
    picture.png()
    arrows = [text for text in axes.texts if getattr(text, "arrow_patch", None)]
    assert [list(arrow.xy) for arrow in arrows] == before + after
    assert all(arrow.xyann == (0, 0) for arrow in arrows)
    for arrow in arrows:
        assert isinstance(arrow.arrow_patch, FancyArrowPatch)
    styles = [arrow.arrow_patch.get_linestyle() for arrow in arrows]
    assert styles[:2] != styles[2:]
    labels = [text.get_text() for text in axes.texts if text.get_text()]
    assert labels == ["river (before)", "bank (before)", "river (after)", "bank (after)"]
    assert picture.alt == (
        "Moved: arrows from the origin. river: before (2.0000, 0.0000), after (1.7500, -0.2500); "
        "bank: before (1.0000, 0.5000), after (-1.0000, 0.0000)."
    )


@pytest.mark.parametrize(
    ("longer", "lifted"), [((2, 0), True), ((2, 0.5), False), ((-2, 0), False)]
)
def test_a_label_moves_off_an_arrow_that_goes_on_in_its_direction(longer, lifted):
    (axes,) = vectors([[1, 0], longer], ["short", "long"]).figure.axes
    heights = {text.get_text(): text.get_position()[1] for text in axes.texts}
    assert (heights["short"] > 0) == lifted


def test_a_label_stands_beyond_its_tip_and_across_no_arrow():
    before, after = [[1.05, 0.33], [0.33, 1.05]], [[0.36, -0.36], [-0.36, 0.36]]
    picture = vectors(before, ["with cat", "with keyboard"], after, "What comes back")
    (axes,) = picture.figure.axes
    picture.png()
    lines = [
        Line(axes.transData.transform([(0, 0), text.xy]))
        for text in axes.texts
        if getattr(text, "arrow_patch", None)
    ]
    labels = [text for text in axes.texts if text.get_text()]
    assert (len(lines), len(labels)) == (4, 4)
    for label in labels:
        box = label.get_window_extent()
        assert not any(line.intersects_bbox(box, filled=False) for line in lines), label
    assert [label.get_ha() for label in labels] == ["left", "left", "left", "right"]


def test_labels_too_long_for_both_sides_stand_on_the_right():
    for text, side in (("a word", "right"), ("a name that takes a third of the plane", "left")):
        (axes,) = vectors([[-1, 1], [1, 1]], [text, f"{text}, too"]).figure.axes
        assert [label.get_ha() for label in axes.texts if label.get_text()] == [side, "left"]


def test_arrows_are_drawn_to_their_tips_on_one_scale():
    tips = [[3, 4], [-1, 0]]
    table = Arrows("turned", tips, ["query", "key"], ["d0", "d1"])
    picture = panels("Turned", [table], "Two arrows")
    drawn = artists(picture, Annotation)
    assert [arrow.arrow_patch.get_linestyle() for arrow in drawn] == ["-", "--"]
    moved = np.array([np.subtract(arrow.xy, arrow.xyann) for arrow in drawn]) * [1, -1]
    np.testing.assert_allclose(moved, np.array(tips) / 5 * PLANE / 2)
    svg = re.findall(r'd="M0 0L(\S+) (\S+)"', table.html(colored=True))
    np.testing.assert_allclose(np.array(svg, float) * [1, -1] / 96, moved, atol=1e-3)
    legend = ["solid: query", "dashed: key"]
    assert table.legend == legend
    assert all(f">{line}</text>" in table.html(colored=True) for line in legend)
    assert {shown.text for shown in written(picture)} > set(legend)
    assert "svg" not in table.html()


@pytest.mark.parametrize("tips", [[[1, 2, 3]], [[1, 2]] * 3])
def test_what_is_no_pair_of_arrows_gets_a_sentence(tips):
    with pytest.raises(ValueError, match="turned must hold 1 or 2 vectors of width 2"):
        Arrows("turned", tips, range(len(tips)), range(len(tips[0])))


def test_equal_vectors_share_one_label_and_both_axes_one_scale():
    picture = vectors([[1, 2], [1, 2], [0, 0]], ["a", "b", "c"])
    (axes,) = picture.figure.axes
    assert [text.get_text() for text in axes.texts if text.get_text()] == ["a, b", "c"]
    ((x0, y0), (x1, y1)) = axes.transData.transform([(0, 0), (1, 1)])
    assert x1 - x0 == pytest.approx(y1 - y0)


@some
@given(
    st.lists(LABEL, min_size=1, max_size=5, unique=True),
    st.lists(st.tuples(*[st.integers(-8, 8)] * 2), min_size=10, max_size=10, unique=True),
)
def test_vectors_has_room_for_its_labels(labels, tips):
    n = len(labels)
    picture = vectors(np.array(tips[:n]) / 4, labels, np.array(tips[n : 2 * n]) / 4, "Moved")
    assert complaints_about_layout(picture) == []


def test_a_weight_may_be_0_or_1():
    assert flow([0, 1], "a", ["b", "c"]).tables[0].values.tolist() == [[0, 1]]


def test_flow_draws_lines_as_thick_as_the_weights():
    weights, keys = [0.5, 0.25, 0.2, 0.05], ["a", "b", "c", "d"]
    picture = flow(weights, "query word", keys)
    (axes,) = picture.figure.axes
    assert [line.get_linewidth() for line in axes.lines] == pytest.approx(
        [24 * weight for weight in weights]
    )
    for i, line in enumerate(axes.lines):
        assert np.array_equal(line.get_xydata(), [[1.5, 1], [i, 0]])
    texts = [text.get_text() for text in axes.texts]
    assert texts[:4] == ["a\n0.5000", "b\n0.2500", "c\n0.2000", "d\n0.0500"]
    assert texts[4] == "query: query word"
    assert [text.get_position()[0] for text in axes.texts[:4]] == [0, 1, 2, 3]
    assert picture.alt == (
        "Where the query looks: lines from the query query word to 4 keys. "
        "query word attends most to a (0.5000)."
    )


def test_a_curve_passes_through_its_numbers():
    series = {"loss": [2.0, 1.0, 0.25], "weight": torch.tensor([0.1, 0.4, 0.9], requires_grad=True)}
    picture = curve(series, [0, 10, 20], "Learning", ("step", "value"))
    (axes,) = picture.figure.axes
    for line, values in zip(axes.lines, series.values(), strict=True):
        assert line.get_xdata().tolist() == [0, 10, 20]
        assert line.get_ydata() == pytest.approx(torch.as_tensor(values).tolist())
    assert len({(line.get_linestyle(), line.get_marker()) for line in axes.lines}) == 2
    assert [text.get_text() for text in axes.texts] == ["loss", "weight"]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("step", "value")
    assert picture.alt == (
        "Learning: value against step, from step 0 to 20; "
        "loss goes from 2.0000 to 0.2500; weight goes from 0.1000 to 0.9000."
    )


@some
@given(
    st.dictionaries(
        LABEL, st.lists(st.integers(0, 9), min_size=4, max_size=4), min_size=1, max_size=6
    )
)
def test_a_curve_has_room_for_its_names(series):
    assert complaints_about_layout(curve(series, range(4))) == []


# --- refusals -------------------------------------------------------------------------------------

I2, AB = torch.eye(2), ["a", "b"]
RESULT = attention(I2, I2, I2)
REFUSED = {
    "rows": (
        lambda: heatmap(I2, ["a"], AB),
        "Weights has shape (2, 2), but there are labels for shape (1, 2).",
    ),
    "columns": (lambda: heatmap(I2, AB, ["a"]), "there are labels for shape (2, 1)."),
    "rank": (
        lambda: heatmap(I2[None], AB),
        "matrix with 2 dimensions, but its shape is (1, 2, 2).",
    ),
    "empty": (lambda: heatmap(torch.ones(0, 0), []), "Weights is empty: its shape is (0, 0)."),
    "frame": (
        lambda: heatmap(I2, AB, emphasize=2),
        "emphasize must be a row from 0 to 1, but is 2.",
    ),
    "frame -1": (lambda: heatmap(I2, AB, emphasize=-1), "from 0 to 1, but is -1."),
    "queries": (
        lambda: pipeline(RESULT, ["a"]),
        "scores has shape (2, 2), but there are labels for shape (1, 1).",
    ),
    "keys": (
        lambda: pipeline(RESULT, AB, ["a"]),
        "scores has shape (2, 2), but there are labels for shape (2, 1).",
    ),
    "dimensions": (lambda: pipeline(RESULT, AB, dimensions=["d"]), "output has shape (2, 2), but"),
    "width": (
        lambda: vectors(torch.ones(2, 3), AB),
        "Vectors has shape (2, 3), but there are labels for shape (2, 2).",
    ),
    "3 axes": (
        lambda: vectors(torch.ones(2, 3), AB, dimensions="xyz"),
        "dimensions must be 2 names, but is 'xyz'.",
    ),
    "labels": (
        lambda: vectors(I2, ["a"]),
        "Vectors has shape (2, 2), but there are labels for shape (1, 2).",
    ),
    "after": (
        lambda: vectors(I2, AB, torch.ones(3, 2)),
        "after has shape (3, 2), but there are labels for shape (2, 2).",
    ),
    "infinite": (lambda: vectors(I2 / 0, AB), "Vectors holds NaN or infinity"),
    "flow": (
        lambda: flow([0.5, 0.5], "a", ["a"]),
        "weights has shape (1, 2), but there are labels for shape (1, 1).",
    ),
    "too much": (
        lambda: flow([1.5, -0.5], "a", AB),
        "Weights must be from 0 to 1, but are 1.5000, -0.",
    ),
    "no number": (
        lambda: flow([torch.nan, 1], "a", AB),
        "Weights must be from 0 to 1, but are nan",
    ),
    "lengths": (
        lambda: curve({"a": [1, 2], "b": [1]}, [0, 1]),
        "b has length 1, but x has length 2.",
    ),
    "x": (lambda: curve({"a": [1, 2]}, [0]), "a has length 2, but x has length 1."),
    "no lines": (lambda: curve({}, [0, 1]), "A curve needs at least one line"),
    "no points": (lambda: curve({"a": []}, []), "Loss is empty"),
    "NaN": (lambda: curve({"a": [1, torch.nan]}, [0, 1]), "Loss holds NaN or infinity"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_gets_a_sentence(name):
    draw, said = REFUSED[name]
    with pytest.raises(ValueError, match=re.escape(said)):
        draw()


@pytest.mark.parametrize("matrix", ["ab", [[1, 2], [3]], [["a", "b"]], None])
def test_what_is_no_matrix_of_numbers_gets_a_sentence(matrix):
    with pytest.raises(TypeError, match=r"^Weights must be a matrix of numbers\.$"):
        heatmap(matrix, ["a", "b"])


# --- numbers and names of any kind ----------------------------------------------------------------


def test_what_is_nearly_whole_is_not_printed_as_whole():
    picture = heatmap([[0.99999, 0.00001], [0.00002, 0.99998]], ["a", "b"])
    assert picture.tables[0].cells == [["1.0000", "0.0000"], ["0.0000", "1.0000"]]
    noise = torch.tensor([[2.0, -1.0]]) + 2e-7  # what a float32 may be off by
    assert heatmap(noise, ["a"], ["b", "c"]).tables[0].cells == [["2", "-1"]]


def test_lists_keep_their_precision():
    assert heatmap([[12345.6789]], ["a"]).tables[0].cells == [["12345.6789"]]
    assert heatmap([[1e39]], ["a"]).tables[0].values.item() == 1e39
    assert curve({"a": [1e39, 1]}, [0, 1]).tables[0].values[0].item() == 1e39


def test_arrays_and_tensors_of_any_layout_are_drawn():
    expected = heatmap([[0, 1], [1, 0]], "ab").words
    assert heatmap(np.eye(2)[::-1], "ab").words == expected
    assert heatmap(torch.tensor([[0, 1], [1, 0]]).to_sparse(), "ab").words == expected


def test_complex_numbers_are_refused():
    for draw in (lambda z: heatmap(z, "ab"), lambda z: vectors(z, "ab")):
        with pytest.raises(TypeError, match=r"must hold real numbers, but holds complex ones\."):
            draw(torch.eye(2) * 1j)


@pytest.mark.parametrize(
    ("draw", "error", "sentence"),
    [
        (lambda: curve({"a": [1, 2]}, [0, math.nan]), ValueError, "x holds NaN or infinity"),
        (lambda: curve([1, 2], [0, 1]), TypeError, "series must be a dictionary, name -> numbers"),
        (lambda: curve({"a": [1, 2]}, ["p", "q"]), TypeError, "These are no numbers: ['p', 'q']."),
        (lambda: beside("t"), ValueError, "beside needs at least one heatmap."),
    ],
)
def test_what_cannot_be_drawn_gets_a_sentence(draw, error, sentence):
    with pytest.raises(error, match=re.escape(sentence)):
        draw()


def test_each_point_of_a_curve_has_a_label_of_its_own():
    table = curve({"a": [1, 2]}, [1_000_000, 1_000_001]).tables[0]
    assert table.rows == ["1000000", "1000001"]


def test_dollars_in_names_are_dollars():
    drawn = [
        vectors(torch.eye(2), "ab", title="$5 and $6", dimensions=("$\\bad$", "$x$")),
        curve({"$y$": [1, 2]}, [0, 1], title="$\\bad$", axes=("$\\bad$", "$y$")),
        flow([0.5, 0.5], "$q$", ["$\\bad$", "$k$"], title="$\\bad$"),
    ]
    for picture in drawn:
        picture.png()
        (axes,) = picture.figure.axes
        names = [axes.title, axes.xaxis.label, axes.yaxis.label, *axes.texts]
        assert not any(name.get_parse_math() for name in names if "$" in name.get_text())


def test_a_row_of_equal_weights_attends_to_all_keys_equally():
    table = heatmap([[0.5, 0.5], [0.75, 0.25]], "ab").tables[0]
    both = ["a attends to all keys equally (0.5000)", "b attends most to a (0.7500)"]
    assert most_attended(table) == f"{both[0]}; {both[1]}."
    assert [most_attended(table, row) for row in (0, 1)] == [f"{said}." for said in both]
    assert most_attended(heatmap([[1]], "a").tables[0]) == "a attends most to a (1)."
