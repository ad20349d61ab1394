"""Time every explorer in a real JupyterLab, from the key press to the painted pixels.

Beside each stands the usual way to the same picture, ipywidgets' `interactive` with matplotlib,
timed in the same run.
"""

import contextlib
import io
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

import browser
import ipywidgets as widgets
import nbformat
from IPython.display import Image, display

from attention_by_hand.explorers import Explorer
from attention_by_hand.figures import panels

ROOT = Path(__file__).resolve().parent.parent
PRESSES = 20
BOARD = ".jp-OutputArea-output:has(.abh-panels)"
USUAL = ".jp-OutputArea-output:has(.widget-interact)"
HANDLE = ".noUi-handle, select, input"
# Resolves with the milliseconds from the next key press until two frames after the change.
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
    requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - pressed)));
  });
  const board = box.querySelector('.widget-html-content, .widget-output');
  seen.observe(board, {subtree: true, childList: true});
}); }"""


def usual(explorer):
    """The explorer's first control, and its picture drawn anew by matplotlib at every move."""
    if not isinstance(explorer, Explorer):
        return None
    values = {name: control.value for name, control in explorer.controls.items()}
    name = moved(explorer)
    old = explorer.controls[name]
    kept = ("value", "min", "max", "step", "options", "description")
    control = type(old)(**{key: getattr(old, key) for key in kept if old.has_trait(key)})

    def draw(**moved):
        figure = panels(explorer.title, explorer._tables(**values | moved), "").figure
        file = io.BytesIO()
        figure.savefig(file, format="png")
        display(Image(file.getvalue()))

    return widgets.interactive(draw, **{name: control})


def moved(explorer):
    """The name of the control that is timed: a slider, where there is one."""
    sliders = [name for name, control in explorer.controls.items() if hasattr(control, "readout")]
    return (sliders or list(explorer.controls))[0]


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
    handle = box.locator(HANDLE).first
    found = []
    for turn in range(PRESSES):
        box.evaluate(WATCH)
        handle.focus()
        page.keyboard.press(("ArrowRight", "ArrowLeft")[turn % 2])
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
        for path in sorted((copy / track).rglob("*.ipynb")):
            nbformat.write(with_usual(nbformat.read(path, as_version=4)), path)
            name = path.relative_to(copy).as_posix()
            page = browser.opened(chrome, address, name)
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
            page.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
