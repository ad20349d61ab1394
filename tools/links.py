"""Write the repository's address into the notebooks and the README: `make links`.

    python tools/links.py owner/name     this one on GitHub
    python tools/links.py                the one that `git remote get-url origin` names

It stands in the badge under each title, in the set-up cells, and in the README. Where there is
none, no badge is shown, and the set-up cell says how to get the helper. Nothing else is changed.
"""

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import refresh

ROOT = Path(__file__).resolve().parent.parent
NAME = r"[\w-][\w.-]*/[\w.-]+"  # owner/name
IMAGE = "https://colab.research.google.com/assets/colab-badge.svg"
BADGE = re.compile(r"\[!\[Open in Colab\]\([^)]*\)\]\([^)]*\)\n+")
UNDER_THE_PROMISE = re.compile(r"\A# .*\n\n.*\n\n")

SETUP = """\
from importlib import import_module

try:
    import_module("attention_by_hand")
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(f"{missing}. Run `make lab` in the course's folder.") from None"""
# Quiet but for errors. --no-deps: Colab has all that the helper needs, and is to keep it as it is.
SETUP_FROM = """\
import sys
from importlib.util import find_spec

if find_spec("attention_by_hand") is None:
    !{sys.executable} -m pip install -qq --no-deps git+https://github.com/"""
ADDRESS = re.compile(rf"git\+https://github\.com/({NAME}?)(?:@(\S+))?$")


def setup(repository, tag):
    """The set-up cell of every notebook."""
    if not repository:
        return SETUP
    return f"{SETUP_FROM}{repository}{f'@{tag}' if tag else ''}"


def address_in(source):
    """The repository and the tag that a set-up cell names; "" for what it does not."""
    found = ADDRESS.search(source)
    return (found[1], found[2] or "") if found else ("", "")


def badge(repository, place):
    """The badge of a notebook, by its path under the main folder; "" without a repository."""
    page = f"https://colab.research.google.com/github/{repository}/blob/main/{place}"
    return f"[![Open in Colab]({IMAGE})]({page})\n" if repository else ""


def with_badge(opening, badge):
    """A notebook's first cell with this badge, and no other, under the promise."""
    opening = BADGE.sub("", opening)
    return UNDER_THE_PROMISE.sub(rf"\g<0>{badge}\n", opening) if badge else opening


def link_notebook(notebook, place, repository, tag):
    opening, first = notebook.cells[:2]
    opening.source = with_badge(opening.source, badge(repository, place))
    first.source = setup(repository, tag)


def link_readme(text, repository):
    start = badge(repository, "notebooks/00_start_here.ipynb")
    clone = f"git clone https://github.com/{repository}" if repository else "git clone"
    text = re.sub(r"(<!-- badge -->\n)(?:\[.*\n)?", rf"\g<1>{start}", text)
    return re.sub(r"`git clone\b[^`]*`", f"`{clone}`", text)


def git(*words):
    """What git answers; "" where there is no git, no repository or no answer."""
    try:
        run = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
    except OSError:
        return ""
    return run.stdout.strip() if run.returncode == 0 else ""


def origin():
    found = re.search(rf"github\.com[:/]({NAME}?)(?:\.git)?/?$", git("remote", "get-url", "origin"))
    return found[1] if found else ""


def changed_since(tag):
    """The helper's files that are not as they were at this tag, where git knows it."""
    return git("diff", "--name-only", tag, "--", "src")


def main(repository=""):
    if repository and not re.fullmatch(NAME, repository):
        return f"==> REPO must be owner/name, as on GitHub, and it is {repository!r}."
    repository = repository or origin()
    tag = git("describe", "--tags", "--abbrev=0")
    if tag and changed_since(tag):
        print(f"The helper has changed since {tag}: until the next tag, it comes from main.")
        tag = ""
    for path in refresh.notebooks_in(ROOT / "notebooks"):
        notebook = nbformat.read(path, as_version=4)
        link_notebook(notebook, path.relative_to(ROOT).as_posix(), repository, tag)
        path.write_bytes(refresh.as_bytes(notebook))
    readme = ROOT / "README.md"
    readme.write_text(link_readme(readme.read_text("utf-8"), repository), "utf-8", newline="\n")
    if repository:
        print(f"The links lead to https://github.com/{repository}; the helper: {tag or 'main'}.")
    else:
        print("No repository on GitHub is known, so there are no links: name one with REPO.")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
