"""The repository around the lessons: what is installed, what imports what, links, the tools."""

import ast
import importlib
import os
import re
import shutil
import socket
import subprocess
import sys
import tomllib
import venv
from dataclasses import is_dataclass
from pathlib import Path

import course
import nbformat
import pytest
import refresh
from jupyter_core.utils import run_sync
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from packaging.requirements import Requirement
from PIL import Image

import attention_by_hand

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "attention_by_hand"
MODULES = sorted(PACKAGE.rglob("*.py"))
NOT_OURS = {".git", ".venv", "build", "dist", "__pycache__", ".hypothesis", ".ipynb_checkpoints"}


def files_of_the_course():
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in NOT_OURS and "_cache" not in name]
        yield from (Path(folder, name) for name in names)


# --- what is installed -------------------------------------------------------------------------

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# What conda calls otherwise than pip, and what only conda has to be told.
CONDA_NAMES = {"pytorch-cpu": "torch"}
CONDA_ONLY = {"python", "pip"}


def ranges_of_pyproject(without=""):
    extras = PROJECT["optional-dependencies"].items()
    lines = [line for name, extra in extras if name != without for line in extra]
    lines += PROJECT["dependencies"]
    return {item.name: item.specifier for item in map(Requirement, lines)}


def pins():
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    items = [Requirement(line) for line in lines if line.strip() and not line.startswith("#")]
    return {item.name: item.specifier for item in items}


def conda_lines():
    text = (ROOT / "environment.yml").read_text(encoding="utf-8")
    return re.findall(r"^ +- ([\w>=.-]+)$", text.partition("dependencies:")[2], re.MULTILINE)


def test_environment_yml_and_pyproject_give_the_same_ranges():
    items = [Requirement(line) for line in conda_lines()]
    conda = {CONDA_NAMES.get(item.name, item.name): item.specifier for item in items}
    assert conda["python"] == PROJECT["requires-python"]
    for name in CONDA_ONLY:
        del conda[name]
    assert conda == ranges_of_pyproject(without="mutants")


def test_environment_yml_has_no_build_strings_and_installs_the_course():
    text = (ROOT / "environment.yml").read_text(encoding="utf-8")
    assert all(re.fullmatch(r"[a-z-]+(>=[\d.]+)?", line) for line in conda_lines()), conda_lines()
    assert re.search(r"^  - pip:\n      - -e \.$", text, re.MULTILINE)


def test_every_pin_lies_inside_its_range():
    ranges, pinned = ranges_of_pyproject(), pins()
    assert pinned.keys() == ranges.keys()
    for name, specifier in pinned.items():
        (pin,) = specifier
        assert pin.operator == "==" and "*" not in pin.version, f"{name}{specifier}"
        assert ranges[name].contains(pin.version), f"{name}{specifier}, range {ranges[name]}"


def test_only_what_colab_has_is_required():
    names = [Requirement(line).name for line in PROJECT["dependencies"]]
    assert sorted(names) == ["ipywidgets", "matplotlib", "numpy", "torch"]


# --- the helper --------------------------------------------------------------------------------


def test_no_dataclass_of_the_helper_can_be_changed():
    names = [".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts) for path in MODULES]
    modules = [importlib.import_module(name.removesuffix(".__init__")) for name in names]
    found = {c for module in modules for c in vars(module).values() if is_dataclass(c)}
    assert len(found) > 3
    assert all(c.__dataclass_params__.frozen for c in found)


# Imports run one way; each module or folder may import these and what lies in the same folder.
BELOW = {
    "examples": set(),
    "attention": {"examples"},
    "figures": {"attention", "examples"},
    "explorers": {"figures", "attention", "examples"},
    "exercises": {"figures", "attention", "examples"},
}


def part_of(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_modules(path):
    """The modules of the helper that a file imports, also inside its functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            source = "attention_by_hand" if node.level else node.module
            module = f"{source}.{node.module}" if node.level and node.module else source
            names = [f"{module}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from (name.split(".")[1] for name in names if name.startswith("attention_by_hand."))


def test_the_helper_has_the_five_parts():
    assert {part_of(path) for path in MODULES} == {"__init__", *BELOW}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_imports_run_one_way(path):
    part = part_of(path)
    if part != "__init__":
        assert set(imported_modules(path)) <= BELOW[part] | {part}


def test_public_names():
    names = attention_by_hand.__all__
    assert len(names) <= 12
    assert sorted(set(names)) == list(names)
    assert all(getattr(attention_by_hand, name).__doc__ for name in names)


def test_init_holds_the_public_names_and_nothing_else():
    tree = ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    docstring, *imports, names = tree.body
    assert isinstance(docstring, ast.Expr)
    assert all(isinstance(node, ast.ImportFrom) for node in imports)
    assert isinstance(names, ast.Assign) and names.targets[0].id == "__all__"


def test_the_helper_stays_thin():
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    known_mistakes = sum(count for path, count in lines.items() if part_of(path) == "exercises")
    assert max(lines.values()) <= 800, lines
    assert sum(lines.values()) - known_mistakes <= 1_800, lines
    assert known_mistakes <= 1_900, lines


def test_importing_the_helper_loads_neither_the_compiler_nor_pyplot():
    ask = "import sys, attention_by_hand; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert "attention_by_hand.figures" in loaded
    assert not loaded & {"torch._dynamo", "torch._inductor", "matplotlib.pyplot"}


# --- texts -------------------------------------------------------------------------------------

TEXTS = sorted(path for path in files_of_the_course() if path.suffix == ".md")
# [text](target), ![alt](target) and their HTML forms.
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)[^)]*\)")
TAG = re.compile(r"<(?:img|a)\b[^>]*>")
CODE = re.compile(r"^```.*?^```|`[^`\n]+`", re.MULTILINE | re.DOTALL)


def prose(path):
    return CODE.sub("", path.read_text(encoding="utf-8"))


def targets(text):
    yield from (target for _, _, target in LINK.findall(text))
    yield from re.findall(r"""\b(?:href|src)=["']([^"']+)""", " ".join(TAG.findall(text)))


def anchors(path):
    """The anchors that GitHub gives a Markdown file's headings."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def relative(path):
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", TEXTS, ids=relative)
def test_links_lead_somewhere(path):
    for target in targets(prose(path)):
        if re.match(r"(https?|mailto):", target):
            continue
        file, _, anchor = target.partition("#")
        there = path.parent / file if file else path
        assert there.exists(), f"{path.name} links to {target}, which does not exist"
        if anchor:
            assert anchor in anchors(there), f"{path.name} links to {target}: no such heading"


@pytest.mark.parametrize("path", TEXTS, ids=relative)
def test_pictures_have_alt_text(path):
    text = prose(path)
    for mark, alt, target in LINK.findall(text):
        assert not mark or len(alt.split()) >= 3, f"{path.name}: {target} has no alt text"
    for tag in TAG.findall(text):
        if tag.startswith("<img"):
            assert re.search(r"""\balt=["'][^"']+ [^"']+""", tag), f"{path.name}: {tag}"


def test_the_readme_shows_the_picture_that_the_course_draws():
    assert relative(refresh.PICTURE) in set(targets(prose(ROOT / "README.md")))
    with Image.open(refresh.PICTURE) as stored:
        assert stored.text["Description"] == refresh.picture().words


def test_no_file_holds_a_path_of_somebodys_machine():
    # The user "me" is the tests' own example of such a path.
    place = re.compile("/(?:" + "|".join(("root", "home", "work", "tmp", "Users")) + ")/(?!me/)")
    stored_picture = re.compile(r'"image/png": "[^"]*"')
    for path in files_of_the_course():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a picture
        found = place.search(stored_picture.sub("", text))
        assert not found, f"{relative(path)} holds {found[0]}"


# --- tools/course.py ---------------------------------------------------------------------------


class Machine:
    """A stand-in for .venv and pip, which records what course.py asks of them."""

    def __init__(self, folder, monkeypatch):
        self.folder, self.version, self.has_pip = folder, "", False
        self.torch, self.index_answers, self.network = False, True, True
        self.asked = []
        for name in ("pyproject.toml", "requirements.txt"):
            shutil.copy(ROOT / name, folder)
        monkeypatch.setattr(course, "ROOT", folder)
        monkeypatch.setattr(course, "VENV", folder / ".venv")
        monkeypatch.setattr(course, "STAMP", folder / ".venv" / "course.json")
        monkeypatch.setattr(course, "LAB_DEFAULTS", folder / ".venv" / "lab" / "overrides.json")
        monkeypatch.setattr(course, "python_version", lambda: self.version)
        monkeypatch.setattr(course, "usable", lambda version: self.has_pip and bool(version))
        monkeypatch.setattr(course, "has_torch", lambda python: self.torch)
        monkeypatch.setattr(course, "pip", self.pip)
        monkeypatch.setattr(venv, "create", self.create)

    def create(self, folder, **_):
        folder.mkdir()
        self.version, self.has_pip = "3.11.7", True
        self.asked.append("venv")

    def pip(self, *args, **_):
        if course.CPU_INDEX in args:
            self.asked.append("torch")
            self.torch = self.index_answers
            return self.index_answers
        self.asked.append(args[-1])
        return self.network

    def asked_for(self, *extras):
        """What one installation asks for."""
        self.asked.clear()
        course.install(set(extras))
        return self.asked


@pytest.fixture
def machine(tmp_path, monkeypatch):
    return Machine(tmp_path, monkeypatch)


def test_a_second_installation_has_nothing_to_do(machine):
    assert machine.asked_for("test") == ["venv", "torch", ".[test]"]
    assert machine.asked_for("test") == []


def test_lab_joins_test_and_turns_the_news_off(machine):
    machine.asked_for("test")
    assert not course.LAB_DEFAULTS.exists()
    assert machine.asked_for("lab") == [".[lab,test]"]
    assert '"fetchNews": "false"' in course.LAB_DEFAULTS.read_text()
    assert machine.asked_for("test") == machine.asked_for("lab") == []


@pytest.mark.parametrize("name", ["pyproject.toml", "requirements.txt"])
def test_a_change_of_what_is_required_installs_again(machine, name):
    machine.asked_for("test")
    with (machine.folder / name).open("a") as file:
        file.write("# changed\n")
    assert machine.asked_for("test") == [".[test]"]


def test_a_moved_folder_or_another_python_installs_again(machine, monkeypatch, tmp_path):
    machine.asked_for("test")
    machine.version = "3.12.1"
    assert machine.asked_for("test") == [".[test]"]
    moved = tmp_path / "moved"
    moved.mkdir()
    for name in ("pyproject.toml", "requirements.txt"):
        shutil.copyfile(ROOT / name, moved / name)
    monkeypatch.setattr(course, "ROOT", moved)
    assert machine.asked_for("test") == [".[test]"]


def test_an_interrupted_installation_is_resumed(machine):
    machine.network = False
    with pytest.raises(course.Stop, match="check the network"):
        machine.asked_for("test")
    machine.network = True
    assert machine.asked_for("test") == [".[test]"]
    machine.network = False
    with pytest.raises(course.Stop):
        machine.asked_for("lab")
    machine.network = True
    assert machine.asked_for("test") == [".[test]"], "a failed installation left its stamp"


def test_without_torchs_index_plain_pip_takes_over_and_says_so(machine, capsys):
    machine.index_answers = False
    assert machine.asked_for("test") == ["venv", "torch", ".[test]"]
    assert "much larger download" in capsys.readouterr().out


@pytest.mark.parametrize("broken", [{"version": ""}, {"has_pip": False}], ids=str)
def test_a_broken_venv_is_made_again(machine, capsys, broken):
    machine.asked_for("test")
    vars(machine).update(broken, torch=False)
    course.STAMP.unlink()
    assert machine.asked_for("test") == ["venv", "torch", ".[test]"]
    assert "does not work; making it again" in capsys.readouterr().out


def test_debian_without_its_venv_package_gets_the_name_of_it(machine, monkeypatch):
    monkeypatch.setattr(course.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(course.Stop, match="apt install python3-venv"):
        machine.asked_for("test")


def test_torch_is_asked_for_by_its_pin_alone():
    (pin,) = pins()["torch"]
    assert course.pin("torch") == f"torch=={pin.version}"


def test_an_old_python_gets_a_sentence(monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))
    with pytest.raises(course.Stop, match=r"Python 3\.11 or newer is needed"):
        course.main(["test"])
    source = (ROOT / "tools" / "course.py").read_text(encoding="utf-8")
    ast.parse(source, feature_version=(3, 8))  # it must be read before it can say so


def test_an_unknown_command_gets_a_sentence():
    with pytest.raises(course.Stop, match="lab, test"):
        course.main(["serve"])


def test_a_port_in_use_gets_a_sentence_before_anything_is_installed(machine, monkeypatch):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        monkeypatch.setenv("PORT", port)
        with pytest.raises(course.Stop, match=f"Port {port} cannot be used"):
            course.main(["lab"])
    assert machine.asked == []
    assert course.chosen_port(port) == int(port)


@pytest.mark.parametrize("text", ["abc", "0", "65536", "-1", "²"])
def test_a_port_that_is_none_gets_a_sentence(text):
    with pytest.raises(course.Stop, match="PORT must be a number"):
        course.chosen_port(text)


def test_jupyterlab_stays_on_this_machine_and_keeps_its_token(monkeypatch):
    monkeypatch.delenv("PORT", raising=False)
    options = course.lab_options()
    assert "--ServerApp.ip=localhost" in options
    assert not any("token" in option or "password" in option for option in options)
    assert not any("ServerApp.port" in option for option in options)  # Jupyter finds a free one
    assert (ROOT / course.FIRST_PAGE).is_file()
    assert any(option.endswith(f"/lab/tree/{course.FIRST_PAGE}") for option in options)


@pytest.mark.parametrize("user", [0, 1000])
def test_only_root_is_let_in_as_root(monkeypatch, capsys, user):
    monkeypatch.setattr(os, "geteuid", lambda: user, raising=False)
    assert ("--allow-root" in course.lab_options()) == (user == 0)
    assert ("You are root" in capsys.readouterr().out) == (user == 0)


@pytest.mark.parametrize("display", ["", ":0"])
def test_without_a_display_no_browser_is_tried(monkeypatch, capsys, display):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("DISPLAY", display)
    assert ("--no-browser" in course.lab_options()) == (not display)
    assert ("open the address below" in capsys.readouterr().out) == (not display)


# --- tools/refresh.py --------------------------------------------------------------------------


def stream(text, name="stdout"):
    return new_output("stream", name=name, text=text)


@pytest.fixture
def messy():
    """A notebook with all that an editor and a live kernel leave behind."""
    bundle = {"text/plain": "1", refresh.WIDGET_VIEW: {"model_id": "a"}}
    shown = new_output(
        "execute_result", bundle, execution_count=9, metadata={refresh.WIDGET_VIEW: {}}
    )
    cells = [
        new_markdown_cell("# Read"),
        new_code_cell("a", execution_count=9, outputs=[stream("1\n"), stream("2\n")]),
        new_code_cell("a", execution_count=3, outputs=[shown]),
    ]
    cells[1].metadata = {"collapsed": True, "execution": {"iopub.status.busy": "12:00"}}
    cells[2].metadata = {"tags": ["raises-exception"], "scrolled": True}
    notebook = new_notebook(
        cells=cells,
        metadata={"widgets": {"x": 1}, "language_info": {"name": "python", "version": "3.9"}},
    )
    for cell in notebook.cells:
        cell.id = "kept"
    return notebook


def test_normalize_leaves_one_form(messy):
    refresh.normalize(messy)
    _, first, second = messy.cells
    assert messy.metadata == refresh.METADATA
    assert [first.execution_count, second.execution_count] == [1, 2]
    assert first.outputs == [stream("1\n2\n")]
    assert first.metadata == {} and second.metadata == {"tags": ["raises-exception"]}
    (shown,) = second.outputs
    assert shown.execution_count == 2 and shown.data == {"text/plain": "1"} and not shown.metadata
    ids = [cell.id for cell in messy.cells]
    assert ids[0] == "kept" and len(set(ids)) == 3


def test_normalize_twice_changes_nothing(messy):
    refresh.normalize(messy)
    once = refresh.as_bytes(messy)
    refresh.normalize(messy)
    assert refresh.as_bytes(messy) == once
    assert once.endswith(b"}\n") and not once.endswith(b"\n\n")


def test_new_ids_come_from_the_text_alone(messy):
    other = nbformat.from_dict(messy)
    refresh.normalize(messy)
    refresh.normalize(other)
    assert [cell.id for cell in messy.cells] == [cell.id for cell in other.cells]


def test_refresh_stores_what_runs_and_leaves_what_fails(tmp_path, capsys):
    sources = {
        "good": "print('a')\n'é'",
        "raises": "x = 1\nx / 0",
        "warns": "import warnings\nwarnings.warn('old')",
    }
    paths = {}
    for name, source in sources.items():
        paths[name] = tmp_path / f"{name}.ipynb"
        nbformat.write(new_notebook(cells=[new_code_cell(source)]), paths[name])
    before = {name: path.read_bytes() for name, path in paths.items()}
    assert refresh.main([str(path) for path in paths.values()]) == 1
    said = capsys.readouterr()
    assert "good.ipynb: changed" in said.out
    assert "'é'" in paths["good"].read_text(encoding="utf-8")
    assert "raises.ipynb: not stored: cell 1, 'x = 1'\n    ZeroDivisionError" in said.err
    assert "warns.ipynb: not stored: cell 1, 'import warnings'\n    writes to stderr" in said.err
    assert all(paths[name].read_bytes() == before[name] for name in ("raises", "warns"))
    assert "Traceback" not in said.err


def test_refresh_runs_inside_a_loop_too(tmp_path):
    """As in a worker that has driven a browser before."""
    path = tmp_path / "one.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell("1 + 1")]), path)

    async def inside():
        return refresh.main([str(path)])

    assert run_sync(inside)() == 0
    assert nbformat.read(path, as_version=4).cells[0].outputs[0].data["text/plain"] == "2"


def test_refresh_keeps_a_measurement_until_its_source_changes(tmp_path):
    path = tmp_path / "measured.ipynb"
    cell = new_code_cell("import time\ntime.perf_counter()")
    cell.metadata["tags"] = [refresh.MEASURES]
    nbformat.write(new_notebook(cells=[new_code_cell("1"), cell]), path)

    def measured(change=None):
        notebook = nbformat.read(path, as_version=4)
        if change:
            change(notebook.cells[1])
            nbformat.write(notebook, path)
        assert refresh.main([str(path)]) == 0
        return nbformat.read(path, as_version=4).cells[1].outputs[0].data["text/plain"]

    first, stored = measured(), path.read_bytes()
    assert measured() == first
    assert path.read_bytes() == stored
    by_hand = lambda cell: cell.outputs[0].data.update({"text/plain": "0.5"})  # noqa: E731
    second = measured(by_hand)
    assert second not in (first, "0.5")
    third = measured(lambda cell: cell.update(source=cell.source + "  # again"))
    assert third != second
    assert measured(lambda cell: cell.update(outputs=[], execution_count=None)) != third


# --- the suite itself --------------------------------------------------------------------------


def test_a_suite_without_notebooks_fails(tmp_path):
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "tests").mkdir()
    (tmp_path / "notebooks").mkdir()
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path / "tests")
    (tmp_path / "tests" / "test_one.py").write_text("def test_one():\n    pass\n")
    whole = [sys.executable, "-m", "pytest"]
    run = subprocess.run(whole, cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 1 and "FAILED: no notebook was checked" in run.stdout, run.stdout
    assert "1 passed" in run.stdout
