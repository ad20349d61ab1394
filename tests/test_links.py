"""`make links`: what it writes, what it leaves, and where it takes the address from."""

import shutil
import subprocess

import links
import nbformat
import pytest
import refresh

from notebooks import ROOT

GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@b.c")


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A copy of the course without links; a function gives the bytes of its files."""
    shutil.copytree(ROOT / "notebooks", tmp_path / "notebooks")
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "README.md", tmp_path)
    monkeypatch.setattr(links, "ROOT", tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert links.main() is None
    paths = [tmp_path / "README.md", *refresh.notebooks_in(tmp_path)]
    return lambda: {path.relative_to(tmp_path).as_posix(): path.read_bytes() for path in paths}


def test_links_come_change_and_go(course, capsys):
    bare = course()
    for repository in ("one/first", "two/second.x"):
        assert links.main(repository) is None
        linked = course()
        assert links.main(repository) is None
        assert course() == linked
        for name, written in linked.items():
            page = "notebooks/00_start_here.ipynb" if name == "README.md" else name
            assert f"colab.research.google.com/github/{repository}/blob/main/{page})" in (
                written.decode()
            )
            assert f"https://github.com/{repository}" in written.decode()
    assert not any(b"one/first" in written for written in linked.values())
    assert "No repository" not in capsys.readouterr().out
    assert links.main() is None
    assert course() == bare
    assert not any(b"colab-badge" in written for written in bare.values())
    assert "No repository on GitHub is known" in capsys.readouterr().out


def test_outputs_ids_and_form_stay(course):
    bare = course()
    links.main("owner/name")
    for name, written in course().items():
        if name.endswith(".ipynb"):
            before, after = (nbformat.reads(text.decode(), 4) for text in (bare[name], written))
            for cells in zip(before.cells, after.cells, strict=True):
                old, new = ({k: v for k, v in cell.items() if k != "source"} for cell in cells)
                assert old == new
            assert [c.source for c in before.cells[2:]] == [c.source for c in after.cells[2:]]
            refresh.normalize(after)
            assert refresh.as_bytes(after) == written


@pytest.mark.parametrize(
    ("address", "repository"),
    [
        ("https://github.com/owner/name.git", "owner/name"),
        ("https://github.com/owner/na.me/", "owner/na.me"),
        ("git@github.com:owner/name.git", "owner/name"),
        ("ssh://git@github.com/owner/name", "owner/name"),
        ("https://gitlab.com/owner/name.git", ""),
        ("../name", ""),
        ("", ""),
    ],
)
def test_the_address_of_the_remote(address, repository, monkeypatch):
    monkeypatch.setattr(links, "git", lambda *words: address)
    assert links.origin() == repository


def test_the_helper_is_pinned_to_the_newest_tag_while_it_is_the_same(course, tmp_path, capsys):
    def setup_of(repository):
        links.main(repository)
        return nbformat.read(tmp_path / "notebooks/00_start_here.ipynb", 4).cells[1].source

    def git(*words):
        subprocess.run([*GIT, *words], cwd=tmp_path, check=True, capture_output=True)

    assert setup_of("owner/name").endswith("git+https://github.com/owner/name")
    for words in (["init"], ["add", "."], ["commit", "-m", "a"], ["tag", "v1.0"]):
        git(*words)
    git("remote", "add", "origin", "git@github.com:from/remote.git")
    assert setup_of("owner/name").endswith("git+https://github.com/owner/name@v1.0")
    assert setup_of("").endswith("git+https://github.com/from/remote@v1.0")
    assert links.address_in(setup_of("")) == ("from/remote", "v1.0")
    with (tmp_path / "src/attention_by_hand/__init__.py").open("a") as file:
        file.write("# changed\n")
    capsys.readouterr()
    assert setup_of("owner/name").endswith("git+https://github.com/owner/name")
    assert "The helper has changed since v1.0" in capsys.readouterr().out
    assert links.changed_since("v0.1-unknown-here") == ""


@pytest.mark.parametrize("name", ["name", "a/b/c", "a/b; ls", "https://github.com/a/b", "/b"])
def test_a_name_that_is_none_gets_a_sentence(course, name):
    bare = course()
    assert links.main(name).startswith("==> REPO must be owner/name")
    assert course() == bare
