"""Time the check of the notebooks against its floor: `make bench`, or `make bench TRACK=light`.

The floor is the same number of notebooks, each with the set-up cell alone: what it costs to start
the kernels and to import. Both are run by pytest in the same way, one kernel after another, in
turns, and the medians are compared. Then the explorers are timed, and the way from the first cell
to the first picture in the notebooks of `make colab`, with Colab's versions.
"""

import re
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

import colab
import latency
import nbformat
import refresh
import runtime

ROOT = Path(__file__).resolve().parent.parent
ROUNDS = 5


def only_setup(path):
    """A notebook that holds the first code cell of the one at this path, and nothing else."""
    notebook = nbformat.read(path, as_version=4)
    cell = next(cell for cell in notebook["cells"] if cell["cell_type"] == "code")
    return nbformat.v4.new_notebook(cells=[cell], metadata=notebook["metadata"])


def timed_check(folder):
    """Seconds that strict nbval takes over every notebook in the folder, and the cells it ran."""
    config = ROOT / "pyproject.toml"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", config]
    command += ["--rootdir", folder, folder]
    start = time.perf_counter()
    run = subprocess.run(command, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    if run.returncode:
        sys.exit(f"{run.stdout}\nNothing to time: the check above fails.")
    return seconds, int(re.search(r"(\d+) passed", run.stdout)[1])


def seconds_to_first_picture(path):
    """From the start of the first code cell of a notebook to the end of the first that draws."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as empty:
        runtime.execute(notebook, empty, runtime.cold())
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    draws = next(c for c in cells if any("image/png" in o.get("data", {}) for o in c["outputs"]))
    start, end = (
        datetime.fromisoformat(cell["metadata"]["execution"][f"iopub.status.{state}"])
        for cell, state in ((cells[0], "busy"), (draws, "idle"))
    )
    return (end - start).total_seconds()


def main(track=""):
    folder = ROOT / "notebooks" / track
    paths = refresh.notebooks_in(folder)
    if not paths:
        sys.exit(f"There is no notebook in {folder}.")
    with tempfile.TemporaryDirectory() as empty:
        for number, path in enumerate(paths):
            nbformat.write(only_setup(path), Path(empty) / f"{number}.ipynb")
        suite, floor = [], []
        for turn in range(1, ROUNDS + 1):
            seconds, _ = timed_check(empty)
            floor.append(seconds)
            seconds, cells = timed_check(folder)
            suite.append(seconds)
            print(f"round {turn}: suite {suite[-1]:.1f} s, floor {floor[-1]:.1f} s", flush=True)
    whole, least = statistics.median(suite), statistics.median(floor)
    print(f"{len(paths)} notebooks, {cells} cells; medians of {ROUNDS} rounds")
    print(f"suite {whole:.1f} s, floor {least:.1f} s, ratio {whole / least:.2f}")
    print(f"{whole / cells:.3f} seconds per checked cell")
    latency.main(track)
    with tempfile.TemporaryDirectory() as folder:
        colab.write_notebooks(Path(folder))
        pictures = [seconds_to_first_picture(path) for path in Path(folder, track).rglob("*.ipynb")]
    print(
        f"first cell to first picture, alone with Colab's versions: "
        f"median {statistics.median(pictures):.1f} s, longest {max(pictures):.1f} s"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
