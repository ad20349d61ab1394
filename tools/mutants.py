"""Make small faults, one at a time, and see whether the tests notice: `make mutants`.

    python tools/mutants.py 200 1        200 faults, drawn with the seed 1

Each fault is made in a copy of this folder and shown to the part of `make test` that concerns it.
It is caught when that part fails, or hangs. Cosmic Ray makes those in Python code; its own way of
running them, a new process and a whole suite for each, would take hours. Here a process that has
imported torch and pytest forks instead, so this needs Linux or macOS. The exit code is 1 when a
fault survives, unless tools/equivalents.toml says why it is none.
"""

import collections
import contextlib
import importlib
import json
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import time
import tomllib
import traceback
from pathlib import Path

import faults

EQUIVALENTS = faults.ROOT / "tools" / "equivalents.toml"
NOT_COPIED = (".git", ".venv", "build", "dist", "*_cache", "__pycache__", ".ipynb_checkpoints")
AT_A_TIME = 2
SECONDS = 900  # a part of the tests that takes longer hangs
FAILED = 1
SAID = "said.txt"


def copy_to(folder):
    shutil.copytree(faults.ROOT, folder, ignore=shutil.ignore_patterns(*NOT_COPIED))
    return Path(folder)


@contextlib.contextmanager
def changed(file, text):
    before = file.read_bytes()
    file.write_text(text, encoding="utf-8")
    try:
        yield
    finally:
        file.write_bytes(before)


def pytest_code(folder, part, prepare=lambda: None):
    """Run a part of the tests in a child of this process; return pytest's exit code."""
    child = os.fork()
    if child == 0:
        code = 70
        try:
            os.setsid()
            said = open(folder / SAID, "w", encoding="utf-8")  # noqa: SIM115 (until it ends)
            sys.stdout = sys.stderr = said
            os.dup2(said.fileno(), 1)
            os.dup2(said.fileno(), 2)
            prepare()
            import pytest

            code = pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *part])
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(code)
    for _ in range(SECONDS * 10):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)  # a kernel that was left behind
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.1)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return FAILED


class Worker:
    """A process with a copy of its own; it imports the tests of the notebooks only for these."""

    def __init__(self, parent):
        self.folder = copy_to(Path(parent) / str(os.getpid()))
        os.chdir(self.folder)
        os.environ["PYTHONPATH"] = str(self.folder / "src")  # for the kernels
        sys.path[:0] = [str(self.folder / name) for name in ("src", "tests", "tools")]

    def caught(self, mutant):
        """Whether one of the parts fails; without a fault, whether all are right."""
        with changed(self.folder / mutant.path, mutant.text):
            return any(self.fails(mutant, part) for part in mutant.parts)

    def fails(self, mutant, part):
        of_notebook = part[0] == "tests/test_notebooks.py" and mutant.path.endswith(".ipynb")
        prepare = self.warmed(mutant) if of_notebook else lambda: None
        code = pytest_code(self.folder, part, prepare)
        if code not in (0, FAILED, 2):  # 2: a module could not be imported
            said = (self.folder / SAID).read_text("utf-8")
            raise RuntimeError(f"pytest {' '.join(part)} ended with {code}:\n{said}")
        return code != 0

    def warmed(self, mutant):
        """Run the notebook once for all its mutants; forget that where the code has changed."""
        tests, path = importlib.import_module("test_notebooks"), self.folder / mutant.path
        tests.read.cache_clear()
        with changed(path, faults.text_of(mutant.path)):
            tests.solved(path)
        tests.read.cache_clear()

        def prepare():
            if mutant.kind.startswith(("lesson", "solution", "cell")):
                tests.solved.cache_clear()
            else:
                tests.solved(path)[1].notebook = tests.read(path)

        return prepare


def start(parent):
    global worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    worker = Worker(parent)


def judge(mutant):
    return mutant, worker.caught(mutant)


def order(mutant):
    """The helper's first: once a worker has imported the notebooks' tests, it has the helper."""
    return not mutant.path.startswith("src"), mutant.parts


def untouched(mutants):
    """For each part of the tests a mutant that is none: it must survive."""
    parts = {part: mutant.path for mutant in mutants for part in mutant.parts[:1]}
    return [
        faults.Mutant("none", path, faults.text_of(path), "", "", (part,))
        for part, path in parts.items()
    ]


def equivalents():
    with EQUIVALENTS.open("rb") as file:
        return tomllib.load(file)["equivalent"]


def occurs(entry):
    """Whether the line is still in its file; in a notebook it stands as JSON."""
    as_json = json.dumps(entry["line"], ensure_ascii=False)[1:-1]
    return any(line in faults.text_of(entry["path"]) for line in (entry["line"], as_json))


def explains(entry, mutant):
    """Whether the entry is about this fault; Cosmic Ray's spaces count for nothing."""
    afters = [line.replace(" ", "") for line in entry["after"]]
    return (entry["path"], entry["line"]) == (mutant.path, mutant.before) and (
        mutant.after.replace(" ", "") in afters
    )


def excused(mutant):
    return any(explains(entry, mutant) for entry in equivalents())


def tell(mutant, was_caught):
    """A dot, or a survivor as soon as it is found: the whole takes a while."""
    if was_caught:
        print(".", end="", flush=True)
        return
    print(f"\n{'EQUIVALENT' if excused(mutant) else 'SURVIVED'} {mutant.kind}, {mutant.path}")
    print(f"- {mutant.before}\n+ {mutant.after}", flush=True)


def report(results):
    made, caught = collections.Counter(), collections.Counter()
    for mutant, was_caught in results:
        made[mutant.kind] += 1
        caught[mutant.kind] += was_caught
    print()
    for kind in sorted(made):
        print(f"{kind:28}{caught[kind]:4} /{made[kind]:4}")
    explained = sum(not was_caught and excused(mutant) for mutant, was_caught in results)
    said = f", and {explained} explained" if explained else ""
    print(f"{'all':28}{caught.total():4} /{made.total():4}{said}")
    idle = [entry for entry in equivalents() if not occurs(entry)]
    for entry in idle:
        print(f"\nIn {EQUIVALENTS.name}, no line of {entry['path']} reads: {entry['line']}")
    survived = [m for m, was_caught in results if not was_caught and not excused(m)]
    return int(bool(survived or idle))


def main(arguments):
    number, seed = (int(word) for word in (arguments + ["200", "1"][len(arguments) :])[:2])
    for name in ("jupyter_client", "IPython", "matplotlib.figure", "pytest"):
        importlib.import_module(name)  # what each child needs, once for all
    import torch

    torch.set_num_threads(1)
    mutants = sorted(faults.mutants(number, seed), key=order)
    jobs = sorted([*untouched(mutants), *mutants], key=order)
    print(f"{number} faults, seed {seed}", flush=True)
    results, fork = [], multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as parent, fork.Pool(AT_A_TIME, start, [parent]) as pool:
        for mutant, was_caught in pool.imap_unordered(judge, jobs):
            if mutant.kind == "none" and was_caught:
                return (
                    f"Nothing was changed, and yet this fails: pytest {' '.join(mutant.parts[0])}"
                )
            if mutant.kind != "none":
                results.append((mutant, was_caught))
                tell(mutant, was_caught)
    return report(results)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
