"""Read the notebooks, and run one in this process with its solutions in place of the blanks."""

import contextlib
import copy
import functools
import io
import re
import tempfile
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
import refresh
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "notebooks"

PIECE = re.compile(
    r"(?P<fence>^(?P<mark>```+|~~~+).*?^(?P=mark)[ \t]*$)"
    r"|(?P<code>(?P<tick>`+)(?!`).+?(?<!`)(?P=tick)(?!`))"
    r"|(?P<math>\$\$.+?\$\$|(?<!\\)\$[^$]+\$)",
    re.MULTILINE | re.DOTALL,
)
SOLUTION = re.compile(
    r"<details>\s*<summary>Solution</summary>.*?^```python\n(.*?)^```.*?</details>",
    re.MULTILINE | re.DOTALL,
)
CHECK = re.compile(r"""^check\(\s*["']([^"']+)["']""", re.MULTILINE)
LINK = re.compile(r"""(?<!!)\[[^\]]*\]\(<?([^)>\s]+)|<a\s[^>]*href=["']([^"']+)""")


@dataclass(frozen=True)
class Notebook:
    path: Path
    node: nbformat.NotebookNode

    @property
    def cells(self) -> list[nbformat.NotebookNode]:
        return self.node.cells

    @property
    def name(self) -> str:
        """For example `light/01_five_steps`; of a notebook elsewhere only the file's name."""
        inside = self.path.is_relative_to(FOLDER)
        path = self.path.relative_to(FOLDER) if inside else Path(self.path.name)
        return path.with_suffix("").as_posix()

    def of_type(self, cell_type: str) -> Iterator[tuple[int, nbformat.NotebookNode]]:
        return ((i, cell) for i, cell in enumerate(self.cells) if cell.cell_type == cell_type)

    def at(self, index: int, what: str) -> str:
        """The sentence of a complaint: which notebook, which cell (counted from 1), what."""
        lines = self.cells[index].source.strip().splitlines() or ["(empty)"]
        return f"{self.name}, cell {index + 1} ({lines[0][:60]!r}): {what}"


@functools.cache
def read(path: Path) -> Notebook:
    return Notebook(path, nbformat.read(path, nbformat.NO_CONVERT))


def all_paths() -> list[Path]:
    return refresh.notebooks_in(FOLDER)


def pieces(markdown: str) -> Iterator[tuple[str, str]]:
    """Split Markdown into ("prose" | "fence" | "code" | "math", text), in order."""
    end = 0
    for match in PIECE.finditer(markdown):
        yield "prose", markdown[end : match.start()]
        kind = next(k for k in ("fence", "code", "math") if match[k])
        yield kind, match[kind]
        end = match.end()
    yield "prose", markdown[end:]


def links(markdown: str) -> list[str]:
    prose = "".join(text if kind == "prose" else "x" for kind, text in pieces(markdown))
    return [inline or tag for inline, tag in LINK.findall(prose)]


def headings(markdown: str) -> list[tuple[int, str]]:
    text = "".join(text for kind, text in pieces(markdown) if kind != "fence")
    return [(len(m[1]), m[2].strip()) for m in re.finditer(r"(?m)^(#{1,6}) +(.+)$", text)]


def texts(output: nbformat.NotebookNode) -> list[str]:
    """What an output prints: a stream's text, or the words (not the HTML) of a value."""
    found = output.get("text"), output.get("data", {}).get("text/plain")
    return [text for text in found if text]


def exercises(notebook: Notebook) -> dict[int, list[str]]:
    """The index of each exercise cell and the keys that it checks."""
    found = ((i, CHECK.findall(cell.source)) for i, cell in notebook.of_type("code"))
    return {i: keys for i, keys in found if keys}


def solved_source(notebook: Notebook, index: int) -> str:
    """The cell as it runs when solved: the solution stands for all that comes before `check`."""
    source = notebook.cells[index].source
    blank = CHECK.search(source)
    if not blank or index + 1 == len(notebook.cells):
        return source
    solution = SOLUTION.search(notebook.cells[index + 1].source)
    return solution[1] + source[blank.start() :] if solution else source


def shown(cell: nbformat.NotebookNode) -> list[dict]:
    """A code cell's outputs as they are compared: of a picture, its words and its size."""
    outputs = copy.deepcopy(cell.outputs)
    for output in outputs:
        output.get("data", {}).pop("image/png", None)
    return outputs


def differences(notebook: Notebook, executed: nbformat.NotebookNode) -> list[str]:
    """Complaints: the cells that show something else when executed than what is stored."""
    found = []
    refresh.normalize(executed)
    for index, cell in notebook.of_type("code"):
        stored, new = shown(cell), shown(executed.cells[index])
        if stored != new and not refresh.measures(cell):
            found.append(notebook.at(index, f"stored {stored}\nbut now {new}"))
    return found


@dataclass(frozen=True)
class Run:
    """What each cell printed, the pictures that it showed as PNG, and the first error or ""."""

    printed: list[str]
    pictures: list[list[bytes]]
    error: str


def run_solved(notebook: Notebook, after_cell: Callable[[int, dict], None]) -> Run:
    """Run the code cells in the notebook's folder; `after_cell` gets their index and variables.

    A shell in this process, not a kernel: torch is imported once for all notebooks.
    """
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    printed = [""] * len(notebook.cells)
    pictures = [[] for _ in notebook.cells]
    try:
        with tempfile.TemporaryDirectory() as home, contextlib.chdir(notebook.path.parent):
            InteractiveShell.clear_instance()
            module = types.ModuleType("lesson")
            shell = InteractiveShell.instance(config=config, user_module=module, ipython_dir=home)
            shell.display_pub = shown = CapturingDisplayPublisher()
            for index, _ in notebook.of_type("code"):
                with contextlib.redirect_stdout(io.StringIO()) as out:
                    result = shell.run_cell(solved_source(notebook, index))
                printed[index] = out.getvalue()
                data = [output["data"] for output in shown.outputs]
                pictures[index] = [bundle["image/png"] for bundle in data if "image/png" in bundle]
                shown.outputs.clear()
                error = result.error_before_exec or result.error_in_exec
                if error:
                    return Run(
                        printed, pictures, notebook.at(index, f"{type(error).__name__}: {error}")
                    )
                after_cell(index, shell.user_ns)
    finally:
        InteractiveShell.clear_instance()
    return Run(printed, pictures, "")
