"""Run the notebooks again and store what they print, in one form: `make refresh`.

    python tools/refresh.py                      all of them, and the picture of the README
    python tools/refresh.py PATH.ipynb ...       these

A notebook in which a cell fails, or writes to stderr, is reported and left as it was. Running this
twice changes no byte: a cell that measures, tagged nbval-ignore-output, keeps the outputs that are
stored as long as its source is the one they come from. Clear them to measure anew.
"""

import asyncio
import copy
import hashlib
import json
import re
import sys
from pathlib import Path

import nbformat
from jupyter_core.utils import run_sync
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from attention_by_hand import attention, heatmap, sentence

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / ".github" / "weights.png"  # the one that the README shows
AT_A_TIME = 2
SECONDS_PER_CELL = 120

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
# A widget lives only as long as its kernel; its picture and its words are stored instead.
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
MEASURES = "nbval-ignore-output"  # the tag of a cell whose outputs differ from run to run
COLORS = re.compile(r"\x1b\[[0-9;]*m")


class Failure(Exception):
    """What went wrong in which cell, in a few lines."""


def merged(outputs):
    """The outputs with consecutive texts of one stream joined, as a kernel may split them."""
    result = []
    for output in outputs:
        last = result[-1] if result else {}
        if output["output_type"] == "stream" and last.get("name") == output["name"]:
            last["text"] += output["text"]
        else:
            result.append(output)
    return result


def identity(cell, taken):
    """An id made from the cell's text, and from nothing that changes between two runs."""
    told = f"{cell['cell_type']}\n{cell['source']}"
    number = 0
    while True:
        name = hashlib.sha256(f"{told}\n{number}".encode()).hexdigest()[:8]
        if name not in taken:
            return name
        number += 1


def measures(cell):
    return MEASURES in cell["metadata"].get("tags", [])


def seal(cell):
    """A digest of a measuring cell's source and outputs: a change of either breaks it."""
    shown = [[o.get(part) for part in ("data", "metadata", "text")] for o in cell["outputs"]]
    told = json.dumps([cell["source"], shown], sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()


def measured(notebook):
    """The outputs that measuring cells keep, by the cell's index: those whose seal is whole."""
    return {
        index: copy.deepcopy(cell["outputs"])
        for index, cell in enumerate(notebook["cells"])
        if measures(cell) and cell["metadata"].get("seal") == seal(cell)
    }


def normalize(notebook):
    """Bring an executed notebook (nbformat 4) into the one form that is stored; in place."""
    notebook["metadata"] = nbformat.from_dict(METADATA)
    notebook["nbformat_minor"] = max(notebook["nbformat_minor"], 5)  # from here on, cells have ids
    taken = set()
    count = 0
    for cell in notebook["cells"]:
        # An older Colab, which knows no ids of cells, keeps them in the metadata.
        cell["id"] = cell.get("id") or cell["metadata"].get("id")
        if cell["id"] in taken or not cell["id"]:
            cell["id"] = identity(cell, taken)
        taken.add(cell["id"])
        tags = cell["metadata"].get("tags")
        cell["metadata"] = nbformat.from_dict({"tags": tags} if tags else {})
        if cell["cell_type"] != "code":
            continue
        count += 1
        cell["execution_count"] = count
        cell["outputs"] = merged(cell["outputs"])
        for output in cell["outputs"]:
            if "execution_count" in output:
                output["execution_count"] = count
            for part in ("data", "metadata"):
                output.get(part, {}).pop(WIDGET_VIEW, None)
        if measures(cell):
            cell["metadata"]["seal"] = seal(cell)


def as_bytes(notebook):
    nbformat.validate(notebook)
    return (nbformat.writes(notebook).rstrip("\n") + "\n").encode()


def complaint(notebook, error):
    """Which cell it was and what it said, without the traceback."""
    for number, cell in enumerate(notebook["cells"], 1):
        for output in cell.get("outputs", []):
            if output["output_type"] == "error":
                said = COLORS.sub("", f"{output['ename']}: {output['evalue']}")
            elif output.get("name") == "stderr":
                said = f"writes to stderr: {output['text'].strip()}"
            else:
                continue
            return f"cell {number}, {cell['source'].splitlines()[0]!r}\n    {said}"
    return f"{type(error).__name__}: {error}"


async def refresh(path, gate):
    """Run one notebook in a kernel of this Python and store it; True when its bytes changed."""
    async with gate:
        before = path.read_bytes()
        notebook = nbformat.reads(before.decode(), as_version=4)
        kept = measured(notebook)
        client = NotebookClient(
            notebook,
            kernel_name="python3",
            timeout=SECONDS_PER_CELL,
            extra_arguments=["--log-level=ERROR"],
            record_timing=False,
            store_widget_state=False,
            resources={"metadata": {"path": str(path.parent)}},
        )
        try:
            await client.async_execute()
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            raise Failure(complaint(notebook, error)) from None
        if any(o.get("name") == "stderr" for c in notebook["cells"] for o in c.get("outputs", [])):
            raise Failure(complaint(notebook, None))
        for index, outputs in kept.items():
            notebook["cells"][index]["outputs"] = outputs
        normalize(notebook)
        after = as_bytes(notebook)
        if after != before:
            path.write_bytes(after)
        return after != before


async def refresh_all(paths):
    gate = asyncio.Semaphore(AT_A_TIME)
    jobs = [refresh(path, gate) for path in paths]
    results = await asyncio.gather(*jobs, return_exceptions=True)
    for path, result in zip(paths, results, strict=True):
        name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
        if isinstance(result, Failure):
            print(f"{name}: not stored: {result}", file=sys.stderr)
        elif isinstance(result, BaseException):
            raise result
        else:
            print(f"{name}: {'changed' if result else 'as before'}")
    return any(isinstance(result, Failure) for result in results)


def picture():
    """The README's picture, drawn by the course's own helper."""
    light = sentence("light")
    result = attention(light.X, light.X, light.X)
    return heatmap(result.weights, light.tokens, title="Attention weights")


def notebooks_in(folder):
    """The notebooks in a folder and below, without the copies that JupyterLab keeps."""
    found = sorted(Path(folder).rglob("*.ipynb"))
    return [path for path in found if ".ipynb_checkpoints" not in path.parts]


def main(arguments):
    paths = [Path(name).resolve() for name in arguments] or notebooks_in(ROOT / "notebooks")
    for path in paths:
        if not path.is_file():
            return f"There is no file {path}."
    if not arguments:
        PICTURE.write_bytes(picture().png())
    return int(run_sync(refresh_all)(paths))  # also where a loop is running, as in some tests


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
