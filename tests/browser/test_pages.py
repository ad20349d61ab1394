"""The reading copy: nothing is cut, on a desktop and on a phone."""

import re
from pathlib import Path
from urllib.parse import unquote, urlparse

import export
import pytest

from notebooks import FOLDER, all_paths

NAMES = ["index", *(path.relative_to(FOLDER).with_suffix("").as_posix() for path in all_paths())]
WIDTHS = {"desktop": 1280, "phone": 390}
# What is wider than its frame, and cannot be scrolled to.
CUT = """() => [...document.querySelectorAll('body *')].filter(
  (it) => it.scrollWidth > it.clientWidth + 1 && it.clientWidth > 1
    && ['hidden', 'clip'].includes(getComputedStyle(it).overflowX)).map((it) => it.className)"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("html")
    export.write_pages(folder)
    return folder


@pytest.fixture(scope="module", params=NAMES)
def page(request, pages, chrome):
    """A page of the copy, without a network: formulas are set nowhere, and so nowhere wider."""
    page = chrome.new_page()
    page.route(re.compile("^https?:"), lambda route: route.abort())
    page.goto(f"{(pages / request.param).as_uri()}.html", wait_until="domcontentloaded")
    yield page
    page.close()


def exists(link):
    return Path(unquote(urlparse(link).path)).is_file()


def test_every_link_leads_to_a_page(page, pages):
    links = page.locator("a[href]").evaluate_all("all => all.map((a) => a.href.split('#')[0])")
    local = [link for link in links if link.startswith("file:")]
    assert local
    assert all(link.endswith(".html") for link in local), local
    missing = [link for link in local if not (pages.as_uri() in link and exists(link))]
    assert not missing


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_cut(width, page):
    page.set_viewport_size({"width": WIDTHS[width], "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTHS[width]
    assert page.evaluate(CUT) == []
    for image in page.locator("img").all():
        assert image.get_attribute("alt")
        box = image.bounding_box()
        natural = image.evaluate("it => it.naturalWidth / it.naturalHeight")
        assert box["x"] + box["width"] <= WIDTHS[width]
        assert box["width"] / box["height"] == pytest.approx(natural, rel=0.05)
