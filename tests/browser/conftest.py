"""One JupyterLab and one Chromium for all tests of this folder."""

import shutil

import browser
import pytest

from notebooks import FOLDER


@pytest.fixture(scope="session")
def address(tmp_path_factory):
    """Where JupyterLab serves a copy of the notebooks."""
    copy = tmp_path_factory.mktemp("course") / "notebooks"
    shutil.copytree(FOLDER, copy, ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
    with browser.server(copy) as address:
        yield address


@pytest.fixture(scope="session")
def chrome():
    with browser.browser() as chrome:
        yield chrome
