"""Every notebook as a file: its bones, budgets, outputs, pictures, links, exercises and prose.

Each `check_…` takes a notebook and returns complaints that name the cell; test_checks_can_fail
breaks a good notebook once for every one of them.
"""

import base64
import copy
import functools
import io
import itertools
import math
import re
import tokenize

import fingerprints
import links as make_links
import matplotlib
import nbformat
import pytest
import refresh
from computed import Trace
from facts import EVERYWHERE, FACTS
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from PIL import Image, ImageChops
from PIL.PngImagePlugin import PngInfo
from prose import LITERATURE, complaints, expressions, pattern_of, plain

from attention_by_hand import examples
from attention_by_hand.exercises import EXERCISES
from attention_by_hand.figures import NAME_THE_PICTURE
from notebooks import (
    FOLDER,
    ROOT,
    SOLUTION,
    Notebook,
    all_paths,
    exercises,
    headings,
    links,
    pieces,
    read,
    run_solved,
    texts,
)

PATHS = all_paths()
REQUIREMENTS = (ROOT / "requirements.txt").read_text("utf-8")
# The matplotlib that drew the stored pictures. Another one sets its letters otherwise.
SAME_MATPLOTLIB = f"matplotlib=={matplotlib.__version__}\n" in REQUIREMENTS
START = FOLDER / "00_start_here.ipynb"

# Notebooks' cells whose output nbval need not compare, as (notebook, first line): the reason.
# At most two. What is stored is a true measurement: `make refresh` seals it with its source.
NOT_COMPARED: dict[tuple[str, str], str] = {
    (
        "bank/08_kv_cache",
        'lengths, times = [64, 128, 256, 384, 512], {"recompute": [], "keep": []}',
    ): "measures time",
}

WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
BANNED_WORD = re.compile(r"\b(simply|obviously|just)\b", re.IGNORECASE)
BANNED_OUTPUT = {
    "a version": r"(?<![\w.])\d+\.\d+\.\d+|\b(?:python|torch|numpy|matplotlib)\W{1,3}v?\d",
    "a path": r"(?<![\w.~/])/(?:home|root|tmp|usr|opt|var|work|mnt|content|Users)/|\b[A-Z]:\\",
    "an address": r"\b0x[0-9a-fA-F]{4,}",
    "a time": r"\b\d+(?:\.\d+)? ?(?:ms|µs|us|ns|s|sec|seconds?)\b|\b\d{1,2}:\d\d\b|\d{4}-\d\d-\d\d",
    "more than four decimals": r"\d?\.\d{5,}",
    "a negative zero": r"(?<![\w.])-(?:0\.0*|\.0+|0)(?![\d.])",
}


def code_lines(source: str) -> int:
    """Lines with code on them: neither blank nor comment only. Set-up and exercises count, too."""
    return sum(
        bool(line.strip()) and not line.strip().startswith("#") for line in source.splitlines()
    )


def prose_words(markdown: str) -> int:
    """Words outside code blocks, mathematics and tables; a code span is one word."""
    shown = {"prose": lambda text: text, "code": lambda _: "word"}
    text = "".join(shown.get(kind, lambda _: " ")(text) for kind, text in pieces(markdown))
    text = re.sub(r"(?m)^ *\|.*\| *$|\]\([^)]*\)|<[^>]+>", " ", text)
    return len(WORD.findall(text))


# --- bones ----------------------------------------------------------------------------------------


def check_opening(notebook: Notebook) -> list[str]:
    source = notebook.cells[0].source
    parts = {
        "a title `# …` in its first line": r"\A# \S",
        "the promise, one sentence, under the title": r"\A.*\n+(?![*#>|-])[^\n]*[.!]\n\s*\n?",
        "`**Time:** N minutes`": r"(?m)^\*\*Time:\*\* \d+ minutes",
        "`**You will be able to**` and bullets": r"(?m)^\*\*You will be able to:?\*\*:?\n+[-*] \S",
        "`**You need first**`": r"(?m)^\*\*You need first:?\*\*",
    }
    return [
        notebook.at(0, f"lacks {part}")
        for part, pattern in parts.items()
        if notebook.cells[0].cell_type != "markdown" or not re.search(pattern, source)
    ]


def repository() -> tuple[str, str]:
    """What `make links` has written: the repository and the tag, or nothing."""
    return make_links.address_in(read(START).cells[1].source)


def place(path):
    return path.relative_to(ROOT).as_posix()


def check_badge(notebook: Notebook) -> list[str]:
    opening = notebook.cells[0].source
    badge = make_links.badge(repository()[0], place(notebook.path))
    expected = make_links.with_badge(opening, badge)
    message = "the badge is not that of the set-up cell's repository; run `make links`"
    return [notebook.at(0, message)] if opening != expected else []


def check_setup(notebook: Notebook) -> list[str]:
    cell = notebook.cells[1]
    expected = make_links.setup(*repository())
    found = {
        "the second cell is not code": cell.cell_type != "code",
        "the set-up cell is not that of 00_start_here; run `make links`": cell.source != expected,
        "the set-up cell has more than 6 lines": len(cell.source.splitlines()) > 6,
        "the set-up cell has output": bool(cell.get("outputs")),
    }
    return [notebook.at(1, what) for what, wrong in found.items() if wrong]


def check_headings(notebook: Notebook) -> list[str]:
    found, level = [], 0
    for index, cell in notebook.of_type("markdown"):
        for depth, title in headings(cell.source):
            if depth > level + 1 or (depth == 1 and level):
                found.append(
                    notebook.at(index, f"heading {title!r} of level {depth} after {level}")
                )
            level = depth
    return found


def check_ending(notebook: Notebook) -> list[str]:
    last = len(notebook.cells) - 1
    source = notebook.cells[last].source
    onward = [link for link in links(source) if link.partition("#")[0].endswith(".ipynb")]
    found = []
    if notebook.cells[last].cell_type != "markdown" or not source.startswith("## In short\n"):
        found.append("the last cell is not `## In short`")
    if len(onward) != 1:
        found.append(f"the last cell has {len(onward)} links to a notebook, not one")
    return [notebook.at(last, what) for what in found]


# --- budgets --------------------------------------------------------------------------------------


def check_size(notebook: Notebook) -> list[str]:
    size = len(nbformat.writes(notebook.node).encode())
    return [f"{notebook.name}: has {size:,} bytes; 250 KB allowed"] if size > 250_000 else []


def check_cell_length(notebook: Notebook) -> list[str]:
    long = [
        (index, len(cell.source.splitlines()), bool(re.search(r"(?m)^class ", cell.source)))
        for index, cell in notebook.of_type("code")
        if len(cell.source.splitlines()) > 15
    ]
    found, spare = [], 1
    for index, lines, defines_class in long:
        if defines_class and lines <= 20 and spare:
            spare = 0
        else:
            found.append(notebook.at(index, f"has {lines} lines; 15 allowed (20 for one class)"))
    return found


def check_code_budget(notebook: Notebook) -> list[str]:
    lines = sorted(code_lines(cell.source) for _, cell in notebook.of_type("code"))
    median, p90 = (lines[math.ceil(share * len(lines)) - 1] for share in (0.5, 0.9))
    found = []
    if median > 3:
        found.append(f"{notebook.name}: the median code cell has {median} lines; 3 allowed")
    if p90 > 8:
        found.append(f"{notebook.name}: 90 % of code cells have up to {p90} lines; 8 allowed")
    return found


def check_prose_budget(notebook: Notebook) -> list[str]:
    lines = sum(code_lines(cell.source) for _, cell in notebook.of_type("code"))
    words = sum(prose_words(cell.source) for _, cell in notebook.of_type("markdown"))
    most = math.inf if notebook.name == START.stem else 25  # the map is mostly prose
    ratio = words / max(1, lines)
    message = f"{notebook.name}: {words} words / {lines} code lines = {ratio:.1f}; 12 to 25 allowed"
    return [] if 12 <= ratio <= most else [message]


# --- execution and outputs ------------------------------------------------------------------------


def check_executed(notebook: Notebook) -> list[str]:
    found = []
    for expected, (index, cell) in enumerate(notebook.of_type("code"), 1):
        counts = {cell.execution_count, *(o.get("execution_count") for o in cell.outputs)} - {None}
        if counts != {expected}:
            found.append(notebook.at(index, f"execution count {counts or None}, not {expected}"))
    return found


def check_errors(notebook: Notebook) -> list[str]:
    return [
        notebook.at(index, "stores an error" if output.output_type == "error" else "stores stderr")
        for index, cell in notebook.of_type("code")
        for output in cell.outputs
        if output.output_type == "error" or output.get("name") == "stderr"
    ]


def check_compared(notebook: Notebook) -> list[str]:
    """No cell is exempt from nbval, by tag or by comment, unless NOT_COMPARED lists it.

    A listed cell is exempt by its tag, and what it stores is what `make refresh` has measured.
    """
    found = []
    for index, cell in enumerate(notebook.cells):
        marks = [t for t in cell.metadata.get("tags", []) if re.match("nbval|raises-exc", t)]
        marks += re.findall(r"(?i)\b(?:nbval|pytest_validate)_\w+", cell.source)
        listed = (notebook.name, cell.source.partition("\n")[0]) in NOT_COMPARED
        if marks and not (listed and marks == [refresh.MEASURES]):
            found.append(notebook.at(index, f"is exempt from comparison by {', '.join(marks)}"))
        elif marks and cell.metadata.get("seal") != refresh.seal(cell):
            found.append(notebook.at(index, "stores what it did not measure; run `make refresh`"))
    return found


def check_format(notebook: Notebook) -> list[str]:
    found, node = [], notebook.node
    for key in node.metadata.keys() - refresh.METADATA.keys():
        found.append(f"{notebook.name}: stores metadata.{key}; run `make refresh`")
    if node.metadata.get("kernelspec", {}).get("name") != "python3":
        found.append(f"{notebook.name}: the kernelspec is not python3; run `make refresh`")
    if len({cell.get("id") for cell in notebook.cells}) < len(notebook.cells):
        found.append(f"{notebook.name}: cell ids are not unique")
    found += [
        notebook.at(index, f"stores a widget view ({mime}); run `make refresh`")
        for index, cell in notebook.of_type("code")
        for output in cell.outputs
        for mime in output.get("data", {})
        if "widget-view" in mime
    ]
    found += [
        notebook.at(index, f"stores metadata, {', '.join(sorted(more))}; run `make refresh`")
        for index, cell in enumerate(notebook.cells)
        if (more := cell.metadata.keys() - {"tags", "seal"})
    ]
    found += [
        f"{notebook.name}: is no valid notebook: {error.message.splitlines()[0]}"
        for error in nbformat.validator.iter_validate(node)
    ]
    return found


def check_output_text(notebook: Notebook) -> list[str]:
    found = []
    for index, cell in notebook.of_type("code"):
        for output in cell.outputs:
            html = output.get("data", {}).get("text/html", "").replace(NAME_THE_PICTURE, "")
            if re.search(r"(?i)<script|javascript:|<[^>]+\son\w+=", html):
                found.append(notebook.at(index, "has HTML with a script"))
            for text, (what, pattern) in itertools.product(
                [*texts(output), re.sub(r"<[^>]+>", " ", html)], BANNED_OUTPUT.items()
            ):
                if match := re.search(pattern, text, re.IGNORECASE if what == "a version" else 0):
                    found.append(notebook.at(index, f"prints {what}: {match[0]!r}"))
    return found


def check_pictures(notebook: Notebook) -> list[str]:
    found = []
    for index, cell in notebook.of_type("code"):
        for output, following in itertools.pairwise([*cell.outputs, nbformat.from_dict({})]):
            data = output.get("data", {})
            if "image/png" in data:
                meta, after = output.metadata.get("image/png", {}), following.get("data", {})
                words = data.get("text/plain", "")
                faults = {
                    "without words in text/plain": len(words.split()) < 3,
                    "without alt text": len(str(meta.get("alt", "")).split()) < 4,
                    "without width and height": not meta.get("width") or not meta.get("height"),
                    "not followed by its folded numbers": "<details"
                    not in after.get("text/html", ""),
                    "whose folded numbers carry another alt text": after.get("text/plain")
                    != meta.get("alt"),
                    "whose PNG is broken, or was drawn for other words": png_description(
                        data["image/png"]
                    )
                    != words,
                }
                found += [
                    notebook.at(index, f"has a picture {f}") for f, bad in faults.items() if bad
                ]
    return found + [
        notebook.at(index, "has an image without alt text")
        for index, cell in notebook.of_type("markdown")
        for match in re.finditer(r"!\[(?P<md>[^\]]*)\]\(|<img\b(?P<tag>[^>]*)>", cell.source)
        if not (match["md"] or "").strip()
        and not re.search(r"""alt=["'][^"']*\w""", match["tag"] or "")
    ]


def png_description(encoded: str) -> str | None:
    try:
        with Image.open(io.BytesIO(base64.b64decode(encoded))) as image:
            image.load()
            return image.text.get("Description")
    except (OSError, SyntaxError, ValueError):
        return None


# --- words and links ------------------------------------------------------------------------------


def check_words(notebook: Notebook) -> list[str]:
    found = []
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type == "code":
            prose = " ".join(comments(cell.source))
        else:
            prose = " ".join(text for kind, text in pieces(cell.source) if kind == "prose")
        found += [notebook.at(index, f"says {word!r}") for word in BANNED_WORD.findall(prose)]
    return found


def check_names(notebook: Notebook) -> list[str]:
    """`d_out` has meant two things in well-known courses."""
    return [
        notebook.at(index, "uses the name d_out")
        for index, cell in enumerate(notebook.cells)
        if re.search(r"\bd_out\b", cell.source)
    ]


def comments(source: str) -> list[str]:
    plain = re.sub(r"(?m)^[!%].*$", "pass", source)
    tokens = tokenize.generate_tokens(io.StringIO(plain).readline)
    return [token.string for token in tokens if token.type == tokenize.COMMENT]


def check_links(notebook: Notebook) -> list[str]:
    found = []
    for index, cell in notebook.of_type("markdown"):
        images = re.findall(r"""!\[[^\]]*\]\(([^)\s]+)|<img[^>]*src=["']([^"']+)""", cell.source)
        for target in [*links(cell.source), *(a or b for a, b in images)]:
            if re.match(r"(?i)https?://|mailto:", target):
                continue
            path, _, anchor = target.partition("#")
            file = (notebook.path.parent / path).resolve() if path else notebook.path
            if file != notebook.path and not file.exists():
                found.append(notebook.at(index, f"links to {target}, which does not exist"))
            elif anchor and file.suffix == ".ipynb":
                node = notebook if file == notebook.path else read(file)
                if anchor not in anchors(node):
                    found.append(notebook.at(index, f"links to {target}: no such heading"))
        found += [
            notebook.at(index, f"takes an image from elsewhere: {a or b}")
            for a, b in images
            if "//" in (a or b) and (a or b) != make_links.IMAGE
        ]
    return found


def anchors(notebook: Notebook) -> set[str]:
    """The headings' ids as Jupyter writes them."""
    cells = (cell.source for _, cell in notebook.of_type("markdown"))
    return {title.replace(" ", "-") for source in cells for _, title in headings(source)}


# --- exercises ------------------------------------------------------------------------------------


def check_exercises(notebook: Notebook) -> list[str]:
    found, keys = [], [key for keys in exercises(notebook).values() for key in keys]
    if notebook.name != START.stem and len(exercises(notebook)) not in (2, 3):
        found.append(f"{notebook.name}: has {len(exercises(notebook))} exercises, not 2 or 3")
    for index, keys in exercises(notebook).items():
        cell = notebook.cells[index]
        after = notebook.cells[min(index + 1, len(notebook.cells) - 1)]
        printed = "".join(text for output in cell.outputs for text in texts(output))
        if "..." not in cell.source or any(
            f"{key}: not answered yet" not in printed for key in keys
        ):
            found.append(notebook.at(index, "an exercise that is not blank"))
        if after.cell_type != "markdown" or not SOLUTION.match(after.source):
            found.append(notebook.at(index, "no folded solution in the next cell"))
        for key in keys:
            folder, _, number = key.rpartition("/")[0].rpartition("/")
            here = notebook.name.startswith(f"{folder}/{number}_" if folder else "00_")
            if key not in EXERCISES or not here:
                found.append(notebook.at(index, f"{key} is no exercise of this notebook"))
    return found


CHECKS = [value for name, value in sorted(globals().items()) if name.startswith("check_")]


# --- the course -----------------------------------------------------------------------------------


@functools.cache
def solved(path):
    """One run per notebook, for the solutions and for the prose."""
    notebook = read(path)
    trace = Trace(notebook, vars(examples), expressions(FACTS.get(notebook.name, ())))
    marks, before = {}, {}

    def after_cell(index, variables):
        trace.after_cell(index, variables)
        cell = notebook.cells[index]
        marks[cell.id] = fingerprints.of_cell(notebook, index, variables, before)

    run = run_solved(notebook, after_cell)
    trace.finish()
    return run, trace, marks


def report(found):
    """Fail with all complaints, one a line, and nothing around them."""
    if found:
        pytest.fail("\n".join(found), pytrace=False)


every_notebook = pytest.mark.parametrize("path", PATHS, ids=[read(path).name for path in PATHS])


@every_notebook
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_notebook(check, path):
    report(check(read(path)))


@every_notebook
def test_notebook_with_links(path, monkeypatch):
    linked = ("owner/attention", "v1.0")
    notebook = Notebook(path, copy.deepcopy(read(path).node))
    make_links.link_notebook(notebook.node, place(path), *linked)
    monkeypatch.setitem(globals(), "repository", lambda: linked)
    report([line for check in CHECKS for line in check(notebook)])


def test_the_set_up_cells_take_a_helper_like_this_one():
    _, tag = repository()
    assert not (tag and make_links.changed_since(tag)), "run `make links`"


@every_notebook
def test_solutions_are_right(path):
    notebook, (run, *_) = read(path), solved(path)
    assert run.error == ""
    for index, keys in exercises(notebook).items():
        for key in keys:
            right = re.search(rf"(?m)^{key}: right", run.printed[index])
            assert right, notebook.at(index, f"the solution gives {run.printed[index]!r}")


@every_notebook
def test_numbers_in_prose_were_computed(path):
    run, trace, _ = solved(path)
    report([run.error] * bool(run.error) + complaints(trace, FACTS.get(read(path).name, ())))


@every_notebook
def test_cells_compute_what_they_did(path):
    """Also what no output shows, in the solved lesson."""
    *_, found = solved(path)
    expected = fingerprints.stored(fingerprints.VALUES)[path.relative_to(FOLDER).as_posix()]
    assert list(found) == list(expected)
    for cell, marks in expected.items():
        assert found[cell] == pytest.approx(marks, **fingerprints.TOLERANCE), cell


def drawn_otherwise(stored: bytes, drawn: bytes) -> bool:
    """Whether two pictures differ in some square of 16 by 16 pixels by more than a breath."""
    pair = [Image.open(io.BytesIO(png)).convert("L") for png in (stored, drawn)]
    if pair[0].size != pair[1].size:
        return True
    difference = ImageChops.difference(*pair).reduce(16)
    return difference.getextrema()[1] > 6


@every_notebook
def test_pictures_are_those_that_the_cells_draw(path):
    """Pixels, with the matplotlib that drew them.

    A cell that measures draws anew each time; its seal covers the picture.
    """
    notebook, (run, *_), found = read(path), solved(path), []
    differs = drawn_otherwise if SAME_MATPLOTLIB else lambda stored, drawn: False
    for index, cell in notebook.of_type("code"):
        data = [output.get("data", {}) for output in cell.outputs]
        stored = [base64.b64decode(d["image/png"]) for d in data if "image/png" in d]
        if len(stored) != len(run.pictures[index]):
            found.append(notebook.at(index, f"draws {len(run.pictures[index])} pictures"))
        elif not refresh.measures(cell) and any(map(differs, stored, run.pictures[index])):
            found.append(
                notebook.at(index, "has a picture that it does not draw: `make refresh` stores it")
            )
    report(found)


def test_a_changed_picture_is_seen():
    picture = Image.new("L", (64, 64), 255)
    files = []
    for dot in [None, (20, 20, 29, 29)]:
        if dot:
            picture.paste(200, dot)
        files.append(io.BytesIO())
        picture.save(files[-1], "png")
    plain, dotted = (file.getvalue() for file in files)
    assert drawn_otherwise(plain, dotted) and not drawn_otherwise(plain, plain)


def test_every_notebook_is_reached_from_the_start():
    reached, queue = set(), [START]
    while queue:
        path = queue.pop()
        if path not in reached and path.exists():
            reached.add(path)
            for _, cell in read(path).of_type("markdown"):
                targets = (link.partition("#")[0] for link in links(cell.source))
                queue += [(path.parent / t).resolve() for t in targets if t.endswith(".ipynb")]
    assert PATHS
    assert [str(path) for path in PATHS if path not in reached] == []


def test_every_exercise_stands_in_one_notebook():
    used = [key for path in PATHS for keys in exercises(read(path)).values() for key in keys]
    assert sorted(used) == sorted(EXERCISES)


LISTED = re.compile(r"(?m)\]\((\S+\.ipynb)\).*?(\d+)(?: minutes| \|$)")


def listed_minutes(page, text):
    """The minutes that a page gives for each lesson it lists."""
    return {(page.parent / link).resolve(): int(time) for link, time in LISTED.findall(text)}


def test_the_map_and_the_readme_give_each_lesson_its_minutes():
    spent = {}
    for path in PATHS:
        line = re.search(r"(?m)^\*\*Time:\*\*(.*)", read(path).cells[0].source)[1]
        spent[path] = sum(map(int, re.findall(r"(\d+) minutes", line)))
    tables = "\n".join(cell.source for _, cell in read(START).of_type("markdown"))
    assert listed_minutes(START, tables) | {START: spent[START]} == spent
    readme = ROOT / "README.md"
    assert listed_minutes(readme, readme.read_text("utf-8")) == spent


def test_allow_lists_name_existing_notebooks():
    names = {read(path).name for path in PATHS}
    assert {name for name, _ in LITERATURE} | FACTS.keys() <= names


def test_every_fact_of_all_notebooks_occurs_in_one():
    texts = [plain(cell.source) for path in PATHS for _, cell in read(path).of_type("markdown")]
    idle = [fact for fact in EVERYWHERE if not any(map(pattern_of(fact).search, texts))]
    assert idle == []


def test_at_most_two_cells_are_not_compared_and_each_is_there():
    found = [
        (read(path).name, cell.source.partition("\n")[0])
        for path in PATHS
        for _, cell in read(path).of_type("code")
        if refresh.measures(cell)
    ]
    assert sorted(found) == sorted(NOT_COMPARED)
    assert len(found) <= 2


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_pages_keep_to_the_words_and_link_to_what_exists(name):
    page = new_notebook(cells=[new_markdown_cell((ROOT / name).read_text("utf-8"))])
    notebook = Notebook(ROOT / name, page)
    assert check_words(notebook) + check_links(notebook) == []


# --- each check can fail --------------------------------------------------------------------------

OPENING = """# Divide six by two

You divide a number by another and check it with a pencil.

**Time:** 5 minutes

**You will be able to**

- divide

**You need first** nothing.
"""
SOLVED = "<details><summary>Solution</summary>\n\n```python\nhalf = 3\n```\n\n</details>"
ENDING = "## In short\n\nYou divided. Now [start](../00_start_here.ipynb) with the whole course."
WORDS = "Halves\n  .5  .5"
ALT = "Two halves side by side"


def picture(words):
    file, info = io.BytesIO(), PngInfo()
    info.add_text("Description", words)
    Image.new("L", (8, 8)).save(file, "png", pnginfo=info)
    return base64.b64encode(file.getvalue()).decode()


@pytest.fixture
def good(monkeypatch):
    """A small notebook in which every check finds nothing."""
    for key in ("light/99/half", "light/99/third"):
        monkeypatch.setitem(EXERCISES, key, None)
    shown = [
        new_output(
            "display_data",
            {"image/png": picture(WORDS), "text/plain": WORDS},
            metadata={"image/png": {"alt": ALT, "width": 8, "height": 8}},
        ),
        new_output("display_data", {"text/html": "<details>.5</details>", "text/plain": ALT}),
    ]
    code = [
        ("pass", []),
        ("6 / 2  # six halves", [new_output("execute_result", {"text/plain": "3.0"})]),
        ("draw()", shown),
        *(
            (
                f'half = ...\ncheck("{key}", half)',
                [new_output("stream", text=f"{key}: not answered yet.\n")],
            )
            for key in ("light/99/half", "light/99/third")
        ),
    ]
    cells = [new_code_cell(s, execution_count=n, outputs=o) for n, (s, o) in enumerate(code, 1)]
    cells[1].outputs[0].execution_count = 2
    text = [new_markdown_cell(SOLVED), new_markdown_cell(SOLVED)]
    prose = new_markdown_cell("## Halves\n\n" + "Look at both halves. " * 40)
    cells = [*cells[:2], prose, cells[2], cells[3], text[0], cells[4], text[1]]
    cells = [new_markdown_cell(OPENING), *cells, new_markdown_cell(ENDING)]
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    path = FOLDER / "light/99_sample.ipynb"
    notebook = Notebook(path, new_notebook(cells=cells, metadata=metadata))
    make_links.link_notebook(notebook.node, place(path), *repository())
    return notebook


def replaced(index, old, new):
    def break_it(cells):
        assert old in cells[index].source
        cells[index].source = cells[index].source.replace(old, new)

    return break_it


def printed(text):
    return lambda cells: cells[2].outputs[0].data.update({"text/plain": text})


def drawn(**changes):
    return lambda cells: cells[4].outputs[0].metadata["image/png"].update(changes)


BROKEN = [
    (check_opening, replaced(0, "# Divide", "Divide"), "cell 1 .*title"),
    (check_opening, replaced(0, "You divide a number by another", "- you"), "promise"),
    (check_opening, replaced(0, "5 minutes", "a while"), "Time"),
    (check_opening, replaced(0, "- divide", "divide"), "bullets"),
    (check_opening, replaced(0, "need first", "need"), "need first"),
    (check_badge, replaced(0, "\n**Time", f"\n{make_links.badge('a/b', 'c')}\n**Time"), "badge"),
    (check_setup, lambda cells: cells[1].update(source="import os"), "cell 2 .*not that of"),
    (check_setup, lambda cells: cells[1].update(source="x = 1\n" * 7), "more than 6"),
    (check_setup, lambda cells: cells[1].update(outputs=[1]), "has output"),
    (check_headings, replaced(3, "## Halves", "### Halves"), "level 3 after 1"),
    (check_headings, replaced(3, "## Halves", "# Halves"), "level 1"),
    (check_ending, replaced(-1, "In short", "The end"), "not `## In short`"),
    (check_ending, replaced(-1, "../00_start_here.ipynb", "https://a.b"), "0 links"),
    (check_ending, replaced(-1, "You divided", "[You](../00_start_here.ipynb)"), "2 links"),
    (check_size, replaced(3, "Look", "Look" * 2_000), "bytes"),
    (check_cell_length, replaced(2, "6 / 2", "\n" * 15 + "6 / 2"), "cell 3 .*16 lines"),
    (
        check_cell_length,
        replaced(2, "6 / 2", "class A:\n" + "    x = 1\n" * 20),
        "21 lines|22 lines",
    ),
    (check_code_budget, lambda cells: [c.update(source="x\n" * 4) for c in cells], "median"),
    (check_code_budget, replaced(2, "6 / 2", "6 / 2\n" * 9), "90 %"),
    (check_prose_budget, lambda cells: cells.pop(3), "words"),
    (check_prose_budget, replaced(3, "halves", "halves " * 9), "words"),
    (
        check_executed,
        lambda cells: cells[2].update(execution_count=None, outputs=[]),
        "cell 3 .*None",
    ),
    (check_executed, lambda cells: cells[4].update(execution_count=4), "cell 5 .*4"),
    (check_executed, lambda cells: cells[2].outputs[0].update(execution_count=7), "7"),
    (check_errors, lambda cells: cells[5].outputs[0].update(name="stderr"), "cell 6 .*stderr"),
    (check_errors, lambda cells: cells[5].outputs[0].update(output_type="error"), "an error"),
    (check_compared, replaced(2, "# six", "# NBVAL_SKIP"), "cell 3 .*NBVAL_SKIP"),
    (check_compared, lambda cells: cells[2].metadata.update(tags=["nbval-skip"]), "nbval-skip"),
    (check_compared, lambda cells: cells[2].metadata.update(tags=["raises-exception"]), "raises"),
    (check_compared, replaced(2, "# six", "# PYTEST_VALIDATE_IGNORE_OUTPUT"), "IGNORE_OUTPUT"),
    (check_format, lambda cells: cells[2].update(id=cells[3].id), "ids are not unique"),
    (check_format, lambda cells: cells[3].metadata.update(cellView="form"), "cell 4 .*cellView"),
    (check_format, lambda cells: cells[2].pop("execution_count"), "no valid notebook"),
    (
        check_format,
        lambda cells: (
            cells[2].outputs[0].data.update({"application/vnd.jupyter.widget-view+json": {}})
        ),
        "cell 3 .*make refresh",
    ),
    (check_output_text, printed("torch 2.13"), "cell 3 .*a version"),
    (check_output_text, printed("2.13.0"), "a version"),
    (check_output_text, printed("in /home/me/x"), "a path"),
    (check_output_text, printed("<object at 0x7f0e39191fd0>"), "an address"),
    (check_output_text, printed("took 3.1 ms"), "a time"),
    (check_output_text, printed("0.31371"), "four decimals"),
    (check_output_text, printed("[-0.0000, 1]"), "a negative zero"),
    (check_output_text, printed("tensor([-0., 1.])"), "a negative zero"),
    (
        check_output_text,
        lambda cells: cells[4].outputs[1].data.update({"text/html": "<script>x</script>"}),
        "cell 5 .*script",
    ),
    (check_pictures, drawn(alt="Heat"), "without alt"),
    (check_pictures, drawn(alt="Another sentence about two halves"), "another alt text"),
    (check_pictures, drawn(width=0), "without width"),
    (check_pictures, lambda cells: cells[4].outputs.pop(), "not followed by"),
    (
        check_pictures,
        lambda cells: cells[4].outputs[0].data.update({"text/plain": "Halves\n  .5  .6"}),
        "drawn for other words",
    ),
    (
        check_pictures,
        lambda cells: cells[4].outputs[0].data.update({"image/png": picture(WORDS)[:90]}),
        "broken",
    ),
    (check_pictures, replaced(3, "Look", "![](a.png) Look"), "cell 4 .*image without alt"),
    (check_pictures, replaced(3, "Look", '<img src="a.png"> Look'), "image without alt"),
    (check_words, replaced(3, "Look", "Just look"), "cell 4 .*Just"),
    (check_words, replaced(2, "six", "simply six"), "cell 3 .*simply"),
    (check_names, replaced(2, "6", "d_out"), "cell 3 .*d_out"),
    (check_links, replaced(3, "Look", "[a](missing.md)"), "cell 4 .*does not exist"),
    (check_links, replaced(3, "Look", "[a](#Thirds)"), "no such heading"),
    (check_links, replaced(3, "Look", "![a b](https://a.b/c.png)"), "image from elsewhere"),
    (check_exercises, lambda cells: cells.pop(-2), "cell 8 .*no folded solution"),
    (check_exercises, replaced(5, "...", "3"), "cell 6 .*not blank"),
    (check_exercises, replaced(5, "light/99/half", "light/98/half"), "no exercise of this"),
    (check_exercises, replaced(5, "check(", "print("), "1 exercises"),
]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_good_notebook_passes(check, good):
    assert check(good) == []
    assert any(check is broken for broken, _, _ in BROKEN)


@pytest.mark.parametrize(
    ("check", "break_it", "expected"),
    BROKEN,
    ids=[f"{check.__name__}-{number}" for number, (check, _, _) in enumerate(BROKEN)],
)
def test_checks_can_fail(check, break_it, expected, good):
    break_it(good.cells)
    assert re.search(rf"99_sample.*{expected}", "\n".join(check(good)), re.DOTALL)


@pytest.mark.parametrize("minor", [0, 5])
def test_saved_from_colab(minor, tmp_path):
    """Refused with the reason; `make refresh` brings it back, byte for byte."""
    notebook = Notebook(START, nbformat.read(START, nbformat.NO_CONVERT))
    save_as_colab_does(notebook.node, minor)
    said = "\n".join(check_format(notebook))
    for key in ("widgets", "colab"):
        assert f"00_start_here: stores metadata.{key}; run `make refresh`" in said
    assert "cell 3 ('import torch'): stores metadata, cellView, colab, id, outputId" in said
    path = tmp_path / START.name
    nbformat.write(notebook.node, path)
    assert refresh.main([str(path)]) == 0
    back, stored = path.read_bytes(), START.read_bytes()
    if not SAME_MATPLOTLIB:
        back, stored = (re.sub(rb'(?<="image/png": )".*"', b"", found) for found in (back, stored))
    assert back == stored


def save_as_colab_does(node, minor):
    """Leave in a notebook what Colab does; of its formats, 4.0 is the older."""
    node.nbformat_minor = minor
    node.metadata.colab = {"provenance": [], "toc_visible": True}
    node.metadata.widgets = {  # no key "state", without which GitHub shows nothing
        "application/vnd.jupyter.widget-state+json": {"1f0a": {"model_name": "HTMLModel"}}
    }
    for number, cell in enumerate(node.cells):
        cell.metadata.id = cell.id if minor == 5 else cell.pop("id")
        if cell.cell_type == "code":
            cell.metadata.update(outputId=f"a3-{number}", colab={"height": 34}, cellView="form")
            cell.execution_count += 20
        for output in cell.get("outputs", []):
            if "data" in output:
                output.data["application/vnd.google.colaboratory.intrinsic+json"] = {"type": "x"}
                output.data[refresh.WIDGET_VIEW] = {"model_id": "1f0a"}


def test_a_listed_cell_is_not_compared_while_its_seal_is_whole(good, monkeypatch):
    cell = good.cells[2]
    cell.metadata = nbformat.from_dict({"tags": ["nbval-ignore-output"]})
    refresh.normalize(good.node)
    assert "cell 3 " in check_compared(good)[0]  # not listed
    monkeypatch.setitem(NOT_COMPARED, (good.name, cell.source), "measures")
    assert check_compared(good) == []
    cell.outputs[0].data["text/plain"] = "2.9"
    assert "cell 3 " in check_compared(good)[0]
    assert "run `make refresh`" in check_compared(good)[0]


def test_another_kernel(good):
    good.node.metadata.kernelspec.name = "conda-env"
    assert any("kernelspec" in line for line in check_format(good))


@pytest.mark.parametrize(
    ("solution", "printed", "error"),
    [("half = 3", "light/99/half 3", ""), ("1 / 0", "", "cell 2 .*ZeroDivisionError: division")],
)
def test_solutions_run_in_place_of_blanks(solution, printed, error, tmp_path):
    cells = [
        new_code_cell("check = print"),
        new_code_cell('half = ...\ncheck("light/99/half", half)'),
        new_markdown_cell(SOLVED.replace("half = 3", solution)),
    ]
    notebook = Notebook(tmp_path / "a.ipynb", new_notebook(cells=cells))
    run = run_solved(notebook, lambda index, variables: None)
    assert printed in run.printed[1]
    assert re.search(error, run.error)
