"""Time every explorer in a real JupyterLab, from the key press to the painted pixels.

Beside each stands the usual way to a picture of the same numbers, timed in the same run:
ipywidgets' `interactive` and pyplot, with the words that their documentation uses.
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
from matplotlib import pyplot

from attention_by_hand.explorers import Explorer

ROOT = Path(__file__).resolve().parent.parent
PRESSES = 20
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
  const board = box.querySelector('.widget-html-content, .widget-output');
  seen.observe(board, {subtree: true, childList: true});
}); }"""


def usual(explorer):
    """One control of the explorer, and its tables drawn by pyplot at every move.

    The control is the first slider, or the last control where there is none.
    """
    if not isinstance(explorer, Explorer):
        return None
    values = {name: control.value for name, control in explorer.controls.items()}
    sliders = [name for name, control in explorer.controls.items() if hasattr(control, "readout")]
    name = sliders[0] if sliders else list(explorer.controls)[-1]
    old = explorer.controls[name]
    kept = ("value", "min", "max", "step", "options", "description")
    control = type(old)(**{key: getattr(old, key) for key in kept if old.has_trait(key)})

    def draw(**moved):
        tables = explorer._tables(**values | moved)
        figure, axes = pyplot.subplots(1, len(tables), squeeze=False, layout="constrained")
        figure.suptitle(explorer.title)
        for table, ax in zip(tables, axes[0], strict=True):
            ax.imshow(table.values, cmap="Blues")
            ax.set_title(table.name)
            ax.set_xticks(range(len(table.columns)), table.columns)
            ax.set_yticks(range(len(table.rows)), table.rows)
            for row, cells in enumerate(table.cells):
                for column, cell in enumerate(cells):
                    ax.text(column, row, cell, ha="center", va="center")
        pyplot.show()

    return widgets.interactive(draw, **{name: control})


def with_usual(notebook):
    """The notebook with the usual way added below each cell that may show an explorer."""
    cells = []
    for cell in notebook.cells:
        cells.append(cell)
        if cell.cell_type == "code" and "explore_" in cell.source.splitlines()[-1]:
            cells.append(nbformat.v4.new_code_cell("import latency\nlatency.usual(Out[max(Out)])"))
    notebook.cells = cells
    return notebook


def times(page, box):
    """Milliseconds of PRESSES moves back and forth."""
    sliders = box.locator(".noUi-handle")
    handle = sliders.first if sliders.count() else box.locator("select, input").last
    box_to_tick = handle.get_attribute("type") == "checkbox"
    keys = ("Space", "Space") if box_to_tick else ("ArrowRight", "ArrowLeft")
    found = []
    for turn in range(PRESSES):
        box.evaluate(WATCH)
        handle.focus()
        page.keyboard.press(keys[turn % 2])
        found.append(page.evaluate("window.painted"))
        page.wait_for_timeout(50)
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
        address = stack.enter_context(browser.server(copy, PYTHONPATH=str(ROOT / "tools")))
        chrome = stack.enter_context(browser.browser())
        print("from key press to painted pixels: median (95th percentile)")
        paths = sorted((copy / track).rglob("*.ipynb"))
        page = browser.opened(chrome, address, paths[0].relative_to(copy).as_posix())
        for path in paths:
            nbformat.write(with_usual(nbformat.read(path, as_version=4)), path)
            name = path.relative_to(copy).as_posix()
            browser.turn_to(page, name)
            browser.run_all(page)
            pairs = zip(page.locator(BOARD).all(), page.locator(USUAL).all(), strict=True)
            for number, (board, usual_way) in enumerate(pairs, 1):
                ours, said = summary(times(page, board))
                theirs, said_usually = summary(times(page, usual_way))
                within = "" if ours <= 60 and ours <= theirs / 4 else "   TOO SLOW"
                print(
                    f"{name}, explorer {number}: {said}, usual way {said_usually}, "
                    f"ratio {ours / theirs:.2f}{within}",
                    flush=True,
                )


if __name__ == "__main__":
    main(*sys.argv[1:])
