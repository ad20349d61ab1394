"""Says at the end how many notebook cells were run, and refuses a run of the suite without them."""

from collections import Counter
from pathlib import Path

import pytest


def cells_run(config):
    """How many cells of each notebook ran and passed, by the notebook's path under the root."""
    passed = config.pluginmanager.get_plugin("terminalreporter").stats.get("passed", [])
    paths = [report.nodeid.partition("::")[0] for report in passed if report.when == "call"]
    return Counter(path for path in paths if path.endswith(".ipynb"))


def is_whole_suite(config):
    """Whether pytest was started without a choice among the tests."""
    option = config.option
    chosen = option.keyword or option.markexpr or option.deselect or getattr(option, "lf", False)
    return config.args_source == config.ArgsSource.TESTPATHS and not (chosen or option.collectonly)


def left_out(config):
    """The notebooks of which a run of the whole suite has passed no cell."""
    root = Path(config.rootpath)
    files = [path.relative_to(root) for path in (root / "notebooks").rglob("*.ipynb")]
    names = {path.as_posix() for path in files if ".ipynb_checkpoints" not in path.parts}
    return sorted(names - cells_run(config).keys())


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session):
    config = session.config
    if hasattr(config, "workerinput") or not is_whole_suite(config):
        return
    if (not cells_run(config) or left_out(config)) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter, config):
    cells, whole = cells_run(config), is_whole_suite(config)
    if cells or whole:
        terminalreporter.write_line(
            f"{len(cells)} notebooks: {cells.total()} cells re-executed and compared"
        )
    for name in left_out(config) if whole else ():
        terminalreporter.write_line(f"FAILED {name}: no cell of it passed", red=True)
    if whole and not cells:
        terminalreporter.write_line("FAILED: no notebook was checked", red=True)
