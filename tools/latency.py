"""Time every explorer in a real JupyterLab, from the key press to the painted pixels.

Beside each stands the usual way to the same picture, timed in the same run: ipywidgets'
`interactive` and pyplot, with the words that their documentation uses. It has what the explorer's
picture has: names on the axes, ink that stands out, and a layout in which no label covers a number.
"""

import contextlib
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

import browser
import ipywidgets as widgets
import nbformat
from course import LAB_SETTINGS
from matplotlib import pyplot
from playwright.sync_api import expect

from attention_by_hand.figures import Arrows

ROOT = Path(__file__).resolve().parent.parent
PRESSES = 30
# Milliseconds between presses: a quick hand. Sooner, a message of the server's can wait 40 ms until
# the browser has acknowledged the one before (Nagle's algorithm), whatever is drawn.
PAUSE = 200
SETTLES = 3000  # milliseconds in which a new JupyterLab still loads things
BOARD = ".jp-OutputArea-output:has(.abh-panels)"
USUAL = ".jp-OutputArea-output:has(.widget-interact)"
# Resolves with the milliseconds from the next key press until the change is painted: a message
# that is posted in the frame after it arrives when that frame is done.
WATCH = """(box) => { window.painted = new Promise((resolve) => {
  let pressed;
  window.addEventListener('keydown', (event) => { pressed = event.timeStamp; },
                          {capture: true, once: true});
  const seen = new MutationObserver(async () => {
    if (!pressed) return;  // still the last one's change
    const image = box.querySelector('.widget-output img');
    if (box.querySelector('.widget-interact') && !image) return;  // cleared, not yet drawn
    seen.disconnect();
    if (image) await image.decode();
    requestAnimationFrame(() => {
      const done = new MessageChannel();
      done.port1.onmessage = () => resolve(performance.now() - pressed);
      done.port2.postMessage('');
    });
  });
  const board = box.querySelector('.widget-html-content:has(.abh-panels), .widget-output');
  seen.observe(board, {subtree: true, childList: true});
}); }"""


def usual(explorer):
    """One control of the explorer, and its tables drawn by pyplot at every move.

    The control is the first slider, or the last control where there is none.
    """
    values = {name: control.value for name, control in explorer.controls.items()}
    sliders = [name for name, control in explorer.controls.items() if hasattr(control, "readout")]
    name = sliders[0] if sliders else list(explorer.controls)[-1]
    old = explorer.controls[name]
    kept = ("value", "min", "max", "step", "options", "description")
    control = type(old)(**{key: getattr(old, key) for key in kept if old.has_trait(key)})

    def draw(**moved):
        tables = explorer._tables(**values | moved)
        size = (sum(1.5 + 0.7 * len(table.columns) for table in tables), 4)
        figure, axes = pyplot.subplots(
            1, len(tables), figsize=size, layout="constrained", squeeze=False
        )
        figure.suptitle(explorer.title)
        for table, ax in zip(tables, axes[0], strict=True):
            ax.set(title=table.name, xlabel=table.axes[1], ylabel=table.axes[0])
            if isinstance(table, Arrows):
                reach = table.values.abs().max() * 1.2
                zeros = [0] * len(table.rows)
                ax.quiver(zeros, zeros, *table.values.T, scale=1, scale_units="xy", angles="xy")
                ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
                for label, tip in zip(table.rows, table.values, strict=True):
                    ax.text(*tip, label)
                continue
            low, high = table.limits
            ax.imshow(table.values, cmap="Blues", vmin=low, vmax=high)
            ax.set_xticks(range(len(table.columns)), table.columns)
            ax.set_yticks(range(len(table.rows)), table.rows)
            for row, (cells, colors) in enumerate(zip(table.cells, table.colors, strict=True)):
                for column, (cell, (_, ink)) in enumerate(zip(cells, colors, strict=True)):
                    ax.text(column, row, cell, ha="center", va="center", color=ink)
        pyplot.show()

    return widgets.interactive(draw, **{name: control})


def with_usual(notebook):
    """Add the usual way below each cell that shows an explorer."""
    cells = []
    for cell in notebook.cells:
        cells.append(cell)
        if shows_explorer(cell):
            cells.append(nbformat.v4.new_code_cell("import latency\nlatency.usual(Out[max(Out)])"))
    notebook.cells = cells


def shows_explorer(cell):
    return cell.cell_type == "code" and cell.source.splitlines()[-1].startswith("explore_")


def times(page, box):
    """Milliseconds of PRESSES moves back and forth."""
    sliders = box.locator(".noUi-handle")
    handle = sliders.first if sliders.count() else box.locator("select, input").last
    box_to_tick = handle.get_attribute("type") == "checkbox"
    keys = ("Space", "Space") if box_to_tick else ("ArrowRight", "ArrowLeft")
    for text in box.locator("input[type=text]").all():
        text.fill("new and mouse are friends")  # the sliders of mouse/02 move the word "new"
        text.press("Enter")
        page.wait_for_timeout(500)
    found = []
    for turn in range(PRESSES):
        box.evaluate(WATCH)
        handle.focus()
        page.keyboard.press(keys[turn % 2])
        found.append(page.evaluate("window.painted"))
        page.wait_for_timeout(PAUSE)
    return found


def times_of_all(page, boxes, number):
    """Run a notebook; for each of so many boxes in it, the times of its moves."""
    browser.run_all(page)
    page.wait_for_timeout(SETTLES)
    expect(page.locator(boxes)).to_have_count(number)
    expect(page.locator(browser.ERRORS)).to_have_count(0)  # a picture that fails is never painted
    found = [times(page, box) for box in page.locator(boxes).all()]
    page.close()
    return found


def summary(found):
    middle = statistics.median(found)
    return middle, f"{middle:.0f} ms ({statistics.quantiles(found, n=20)[-1]:.0f})"


def main(track=""):
    """Print one line per explorer: medians, and in brackets the 95th percentiles."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        copy = Path(folder, "notebooks")
        shutil.copytree(
            ROOT / "notebooks", copy, ignore=shutil.ignore_patterns(".ipynb_checkpoints")
        )
        path = str(ROOT / "tools")
        address = stack.enter_context(browser.server(copy, LAB_SETTINGS, PYTHONPATH=path))
        chrome = stack.enter_context(browser.browser())
        print("from key press to painted pixels: median (95th percentile)")
        for path in sorted((copy / track).rglob("*.ipynb")):
            name = path.relative_to(copy).as_posix()
            notebook = nbformat.read(path, as_version=4)
            number = sum(map(shows_explorer, notebook.cells))
            explorers = times_of_all(browser.opened(chrome, address, name), BOARD, number)
            with_usual(notebook)
            nbformat.write(notebook, path)
            usual_ways = times_of_all(browser.opened(chrome, address, name), USUAL, number)
            pairs = zip(explorers, usual_ways, strict=True)
            for number, (board, usual_way) in enumerate(pairs, 1):
                ours, said = summary(board)
                theirs, said_usually = summary(usual_way)
                within = "" if ours <= 60 and ours <= theirs / 4 else "   TOO SLOW"
                print(
                    f"{name}, explorer {number}: {said}, usual way {said_usually}, "
                    f"ratio {ours / theirs:.2f}{within}",
                    flush=True,
                )


if __name__ == "__main__":
    main(*sys.argv[1:])
