"""Write notebooks that run alone, the helper inside, into build/colab: `make colab`.

The first code cell carries the helper's wheel, and unpacks it where Python looks for modules.
Nothing is installed, so nothing in the runtime can change, and no network is needed. Colab and
JupyterLab show the cell folded.
"""

import base64
import contextlib
import re
import shutil
import sys
import tempfile
from pathlib import Path

import links
import nbformat
import refresh
from hatchling.build import build_wheel

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS, COLAB = ROOT / "notebooks", ROOT / "build" / "colab"
ZIP = "attention-by-hand"
FOLDED = {"cellView": "form", "jupyter": {"source_hidden": True}}
SETUP = """\
# @title Run this cell first: it brings the helper along
import base64, importlib.util, io, sys, tempfile, zipfile

if importlib.util.find_spec("attention_by_hand") is None:
    sys.path.append(tempfile.mkdtemp())
    wheel = "{wheel}"
    zipfile.ZipFile(io.BytesIO(base64.b64decode(wheel))).extractall(sys.path[-1])"""
TO_A_NOTEBOOK = re.compile(r"\[([^\]]*)\]\((?!\w+:)([^)\s#]+\.ipynb)[^)]*\)")


def wheel_in(folder):
    """Build the helper's wheel into this folder; gives its path."""
    with contextlib.chdir(ROOT):
        return Path(folder, build_wheel(folder))


def stand_alone(notebook, setup):
    """Put this set-up cell into a notebook, and names in place of what leads out of it."""
    opening, first = notebook.cells[:2]
    opening.source = links.with_badge(opening.source, "")
    first.source = setup
    first.metadata.update(FOLDED)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = TO_A_NOTEBOOK.sub(r"\1 (`\2`)", cell.source)


def write_notebooks(folder):
    """Write every notebook into this folder, so that it runs alone."""
    with tempfile.TemporaryDirectory() as place:
        wheel = base64.b64encode(wheel_in(place).read_bytes()).decode()
    setup = SETUP.format(wheel=wheel)
    for path in refresh.notebooks_in(NOTEBOOKS):
        notebook = nbformat.read(path, as_version=4)
        stand_alone(notebook, setup)
        place = folder / path.relative_to(NOTEBOOKS)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(refresh.as_bytes(notebook))


def main():
    shutil.rmtree(COLAB, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        write_notebooks(Path(folder))
        shutil.copytree(folder, COLAB)
        shutil.make_archive(COLAB / ZIP, "zip", folder)
    print(f"Share {COLAB}, or all of it as {ZIP}.zip.")


if __name__ == "__main__":
    sys.exit(main())
