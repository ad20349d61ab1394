"""Small faults in the lessons and the helper, for tools/mutants.py: one at a time, by chance.

A kind is a function of a random number generator and a text or a notebook. It makes one change
and returns the changed text, or for a notebook the line that differs, before and after; None when
there is nothing of its kind to change.
"""

import ast
import base64
import dataclasses
import functools
import io
import itertools
import random
import re
from pathlib import Path

import nbformat
from PIL import Image
from PIL.PngImagePlugin import PngInfo

ROOT = Path(__file__).resolve().parent.parent
SOLUTION = re.compile(r"<summary>Solution</summary>.*?^```python\n(.*?)^```", re.M | re.S)
MATRIX = re.compile(r"\\begin\{[bpv]?matrix\}.*?\\end\{[bpv]?matrix\}", re.S)
MATH = re.compile(r"\$\$.+?\$\$|(?<!\\)\$[^$]+\$", re.S)
TABLE = re.compile(r"(?m)^ *\|.*\| *$")
NOT_PROSE = re.compile(r"```.*?```|`[^`]+`|\]\([^)]*\)|<[^>]+>", re.S)
NUMBER = re.compile(r"(?<!\w)(?:\d[\d,]*\.?\d*|\.\d+)(?!\w)")


@dataclasses.dataclass(frozen=True)
class Mutant:
    kind: str
    path: str  # of the changed file, from the root
    text: str  # the whole changed file
    before: str  # the line that differs
    after: str
    parts: tuple[tuple[str, ...], ...]  # what pytest is asked, in turn, until a test fails


# --- in a text ------------------------------------------------------------------------------------


def put(rng, text, places):
    """Put something else in one place; places: (start, end, what to put there)."""
    places = [(a, b, other) for a, b, other in places if text[a:b] != other]
    if not places:
        return None
    start, end, other = rng.choice(places)
    return text[:start] + other + text[end:]


def other_digit(rng, text, spans=None):
    """Change a digit; of a number in the spans, if any are given."""
    found = [(0, len(text))] if spans is None else spans
    numbers = [m.span() for a, b in found for m in NUMBER.finditer(text, a, b)]
    start, end = (0, len(text)) if spans is None else rng.choice(numbers or [(0, 0)])
    places = [i for i in range(start, end) if text[i].isdigit()]
    return put(rng, text, [(i, i + 1, digit) for i in places for digit in "0123456789"])


def other_letter(rng, text):
    return put(rng, text, [(m.start(), m.end(), "x") for m in re.finditer("[a-z]", text)])


def rules(*pairs):
    """A change by regular expressions: what is there, and what comes in its place."""

    def change(rng, code):
        matches = [(m, other) for there, other in pairs for m in re.finditer(there, code)]
        matches = [(m, o) for m, o in matches if "#" not in code[: m.start()].rpartition("\n")[2]]
        return put(rng, code, [(m.start(), m.end(), m.expand(other)) for m, other in matches])

    return change


def cosmic_ray(*names):
    """A change by those operators of Cosmic Ray whose names match."""

    @functools.cache
    def operators():
        from cosmic_ray.plugins import get_operator, operator_names

        found = {name: name.partition("/")[2] for name in operator_names()}
        return [
            get_operator(n)() for n, short in found.items() if re.fullmatch("|".join(names), short)
        ]

    def change(rng, code):
        from cosmic_ray.ast import ast_nodes, get_ast
        from cosmic_ray.mutating import mutate_code

        nodes = list(ast_nodes(get_ast(code)))
        places = [
            (operator, number)
            for operator in operators()
            for number in range(sum(len([*operator.mutation_positions(node)]) for node in nodes))
        ]
        other = mutate_code(code, *rng.choice(places)) if places else code
        # The last axis of a matrix is 1 or -1, and what is zipped is of one length.
        same = NO_FAULT.sub("", other) == NO_FAULT.sub("", code)
        return None if same else other

    return change


NO_FAULT = re.compile(r"(?<=dim=)[-+ ]|(?<=axis=)[-+ ]|(?<=shape\[)[-+ ]|(?<=strict=)\w+")
TRIES = 1_000  # after so many without a new fault a kind has no more
SIGN = "(Add|Sub|Mul|Div|FloorDiv|Mod|Pow)"
CODE = {
    "operator": cosmic_ray(f"ReplaceBinaryOperator_{SIGN}_{SIGN}"),
    "comparison": cosmic_ray(
        "ReplaceComparisonOperator_(Lt_GtE|GtE_Lt|Gt_LtE|LtE_Gt)",
        "ReplaceComparisonOperator_(Eq_NotEq|NotEq_Eq|Is_IsNot|IsNot_Is|In_NotIn|NotIn_In)",
    ),
    "constant": cosmic_ray("NumberReplacer"),
    "logic": cosmic_ray("ReplaceUnary.*", "AddNot", "Replace(True|False|And|Or)With.*"),
    "axis": rules(
        (r"\b(dim|axis)=-1", r"\1=-2"),
        (r"\b(dim|axis)=0", r"\1=1"),
        (r"\b(dim|axis)=1", r"\1=0"),
        (r"\.shape\[-1\]", ".shape[-2]"),
        (r"\.T\b", ""),
        (r"\.transpose\([^()]*\)", ""),
    ),
    "mask": rules(
        (r"\btril\b", "triu"),
        (r"~(?=[\w(])", ""),
        (r'"-inf"', '"inf"'),
        (r"is_causal=True", "is_causal=False"),
        (r"causal_mask\((\w+)\)", r"causal_mask(\1).T"),
    ),
}


def without_a_mistake(rng, code):
    """Leave out one of the wrong answers that an exercise knows."""
    places = []
    for call in (node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)):
        if getattr(call.func, "id", "").lower() != "exercise":
            continue
        for value in [*call.args, *(keyword.value for keyword in call.keywords)]:
            segment = ast.get_source_segment(code, value)
            if isinstance(value, ast.Dict):
                items = zip(value.keys, value.values, strict=True)
                told = [(ast.get_source_segment(code, k) if k else "**", v) for k, v in items]
                items = [
                    f"{k}{':' * (k != '**')} {ast.get_source_segment(code, v)}" for k, v in told
                ]
                fewer = [f"{{{', '.join(items[:i] + items[i + 1 :])}}}" for i in range(len(items))]
            elif isinstance(value, ast.Constant) and isinstance(value.value, str):
                items = value.value.split(", ")
                fewer = [repr(", ".join(items[:i] + items[i + 1 :])) for i in range(len(items))]
            else:
                continue
            start = code.index(segment)
            places += [(start, start + len(segment), other) for other in fewer]
    return put(rng, code, places)


# --- in a notebook --------------------------------------------------------------------------------


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def stored(notebook, mime, of_picture=False):
    """Where the texts of one kind are stored: (a dictionary, the key)."""
    for output in (output for cell in code_cells(notebook) for output in cell.outputs):
        data = output.get("data", {})
        if mime == "stream" and "text" in output:
            yield output, "text"
        elif mime in data and ("image/png" in data) == of_picture:
            yield data, mime


def store(holder, key, text):
    if text is None or text == holder[key]:
        return None
    before, holder[key] = holder[key], text
    return difference(before, text)


def difference(before, after):
    """The first line that differs, before and after."""
    pairs = enumerate(zip(before, after, strict=False))
    start = next((i for i, (old, new) in pairs if old != new), min(len(before), len(after)))
    line = before.rfind("\n", 0, start) + 1
    return tuple(text[line:].partition("\n")[0].strip() for text in (before, after))


def in_output(mime, of_picture=False, change=other_digit):
    def kind(rng, notebook):
        holder, key = rng.choice([*stored(notebook, mime, of_picture)] or [({"": ""}, "")])
        return store(holder, key, change(rng, holder[key]))

    return kind


def in_markdown(spans):
    """Change a digit in what spans(source) gives of a Markdown cell."""

    def kind(rng, notebook):
        cells = [c for c in notebook.cells if c.cell_type == "markdown" and spans(c.source)]
        if not cells:
            return None
        cell = rng.choice(cells)
        return store(cell, "source", other_digit(rng, cell.source, spans(cell.source)))

    return kind


def numbers_in(pattern):
    return lambda source: [m.span() for m in pattern.finditer(source) if NUMBER.search(m[0])]


def prose(source):
    """What is neither code nor mathematics, nor a table, a link's target or a tag."""
    hide = lambda match: " " * len(match[0])  # noqa: E731
    for pattern in (NOT_PROSE, MATH, TABLE):
        source = pattern.sub(hide, source)
    return [match.span() for match in NUMBER.finditer(source)]


def in_lesson(change):
    def kind(rng, notebook):
        cells = [c for c in code_cells(notebook)[1:] if "check(" not in c.source]
        cell = rng.choice([c for c in cells if not re.match("import|from", c.source)])
        return store(cell, "source", change(rng, cell.source))

    return kind


def broken_solution(rng, notebook):
    cell = rng.choice([cell for cell in notebook.cells if SOLUTION.search(cell.source)])
    start, end = SOLUTION.search(cell.source).span(1)
    code = rng.choice([*CODE.values()])(rng, cell.source[start:end])
    return code and store(cell, "source", cell.source[:start] + code + cell.source[end:])


def redrawn(rng, notebook, tell=None):
    """Store a picture again, with other words in its file or with a square of other colors."""
    holder, key = rng.choice([*stored(notebook, "image/png", True)] or [(None, "")])
    if holder is None:
        return None
    with Image.open(io.BytesIO(base64.b64decode(holder[key]))) as picture:
        words, pixels = picture.text["Description"], picture.convert("RGB")
    told, where = tell(rng, words) if tell else words, None
    if not tell:
        where = tuple(rng.randrange(size - 20) for size in pixels.size)
        square = pixels.crop((*where, where[0] + 20, where[1] + 20))
        pixels.paste(square.point(lambda value: value ^ 96), where)
    information, file = PngInfo(), io.BytesIO()
    information.add_text("Description", told)
    pixels.save(file, "png", pnginfo=information)
    holder[key] = base64.b64encode(file.getvalue()).decode()
    return difference(words, told) if tell else (words.partition("\n")[0], f"a square at {where}")


def other_alt(rng, notebook):
    shown = [o for c in code_cells(notebook) for o in c.outputs if "image/png" in o.get("data", {})]
    if not shown:
        return None
    metadata = rng.choice(shown).metadata["image/png"]
    return store(metadata, "alt", other_letter(rng, metadata["alt"]))


def emptied(rng, notebook, executed=True):
    cell = rng.choice([cell for cell in code_cells(notebook) if cell.outputs or not executed])
    cell.outputs = []
    if not executed:
        cell.execution_count = None
    return cell.source.partition("\n")[0], "no output" if executed else "not executed"


def reordered(rng, notebook):
    places = [i for i, cell in enumerate(notebook.cells) if cell.cell_type == "code"][1:]
    i, j = rng.choice([*itertools.pairwise(places)])
    cells = notebook.cells
    cells[i], cells[j] = cells[j], cells[i]
    return tuple(cells[k].source.partition("\n")[0] for k in (j, i))


# Whether the cells are run again, or the other tests of the notebook, or both.
CELLS, FILE = True, False
NOTEBOOK_KINDS = {
    "output: stream": (in_output("stream"), [CELLS, FILE]),
    "output: value": (in_output("text/plain"), [CELLS, FILE]),
    "output: table": (in_output("text/html"), [CELLS, FILE]),
    "output: words": (in_output("text/plain", of_picture=True), [CELLS, FILE]),
    "output: emptied": (emptied, [CELLS, FILE]),
    "cell: un-executed": (functools.partial(emptied, executed=False), [FILE]),
    "cell: reordered": (reordered, [FILE]),
    "picture: pixels": (redrawn, [FILE]),
    "picture: words": (functools.partial(redrawn, tell=other_letter), [FILE]),
    "picture: label": (in_output("text/plain", True, other_letter), [FILE]),
    "picture: alt text": (other_alt, [FILE]),
    "prose: number": (in_markdown(prose), [FILE]),
    "prose: formula": (in_markdown(numbers_in(MATH)), [FILE]),
    "prose: matrix": (in_markdown(numbers_in(MATRIX)), [FILE]),
    "prose: table": (in_markdown(numbers_in(TABLE)), [FILE]),
    "solution: broken": (broken_solution, [FILE]),
    **{f"lesson: {name}": (in_lesson(change), [CELLS, FILE]) for name, change in CODE.items()},
}
HELPER_KINDS = {f"helper: {name}": change for name, change in CODE.items()}
# In a lesson no number lies on a boundary.
HELPER_KINDS["helper: boundary"] = cosmic_ray(
    "ReplaceComparisonOperator_(Lt_LtE|LtE_Lt|Gt_GtE|GtE_Gt)"
)
HELPER_KINDS["exercise: mistake removed"] = without_a_mistake


# --- sampling -------------------------------------------------------------------------------------


def files(folder, suffix):
    found = sorted((ROOT / folder).rglob(f"*{suffix}"))
    kept = [path for path in found if ".ipynb_checkpoints" not in path.parts]
    return [path.relative_to(ROOT).as_posix() for path in kept]


@functools.cache
def text_of(path):
    return (ROOT / path).read_text("utf-8")


def notebook_tests(path, cells):
    """What pytest is asked about a notebook: its cells, or what else is tested of it."""
    if cells:
        return (path,)
    name = path.removeprefix("notebooks/").removesuffix(".ipynb")
    of_all = "the_map or reached or stands_in or allow_lists or every_fact or two_cells"
    return ("tests/test_notebooks.py", "-k", f"{name} or {of_all}")


def helper_tests(path):
    """What pytest is asked about a module of the helper: its own tests, then all that use it."""
    part = path.split("/")[2].removesuffix(".py")
    own, users = (f"tests/test_{part}.py",), ("tests/test_cases.py", "tests/test_notebooks.py")
    quick = [(*own, "-k", "changed_or_gone")] if part == "exercises" else []
    return (*quick, own, users, ("notebooks",))


def in_notebook(rng, kind):
    path = rng.choice(files("notebooks", ".ipynb"))
    change, cells = NOTEBOOK_KINDS[kind]
    notebook = nbformat.reads(text_of(path), as_version=4)
    lines = change(rng, notebook)
    parts = tuple(notebook_tests(path, part) for part in cells)
    return lines and Mutant(kind, path, nbformat.writes(notebook), *lines, parts)


def in_helper(rng, kind):
    path = rng.choice(files("src", ".py"))
    before = text_of(path)
    after = HELPER_KINDS[kind](rng, before)
    if after is None or after == before:
        return None
    return Mutant(kind, path, after, *difference(before, after), helper_tests(path))


def mutants(number, seed, kinds=(*NOTEBOOK_KINDS, *HELPER_KINDS)):
    """As many different faults, the kinds in turn; one that seems to have no more is left out."""
    rng, made, kinds = random.Random(seed), {}, list(kinds)
    while kinds and len(made) < number:
        kind = kinds[len(made) % len(kinds)]
        draw = in_notebook if kind in NOTEBOOK_KINDS else in_helper
        drawn = (draw(rng, kind) for _ in range(TRIES))
        mutant = next((found for found in drawn if found is not None and found not in made), None)
        if mutant is None:
            kinds.remove(kind)
        else:
            made[mutant] = None
    return list(made)
