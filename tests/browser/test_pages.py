"""The reading copy: nothing is cut, on a desktop and on a phone."""

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


def test_every_link_leads_to_a_page(pages, chrome):
    page = chrome.new_page()
    for name in NAMES:
        page.goto(f"{(pages / name).as_uri()}.html", wait_until="domcontentloaded")
        links = page.locator("a[href]").evaluate_all("all => all.map((a) => a.href.split('#')[0])")
        local = [link for link in links if link.startswith("file:")]
        assert local
        assert all(link.endswith(".html") for link in local), local
        missing = [link for link in local if not (pages.as_uri() in link and exists(link))]
        assert not missing
    page.close()


def exists(link):
    return Path(unquote(urlparse(link).path)).is_file()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_cut(name, width, pages, chrome):
    page = chrome.new_page(viewport={"width": WIDTHS[width], "height": 900})
    page.goto(f"{(pages / name).as_uri()}.html", wait_until="domcontentloaded")
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTHS[width]
    assert page.evaluate(CUT) == []
    for image in page.locator("img").all():
        assert image.get_attribute("alt")
        box = image.bounding_box()
        natural = image.evaluate("it => it.naturalWidth / it.naturalHeight")
        assert box["x"] + box["width"] <= WIDTHS[width]
        assert box["width"] / box["height"] == pytest.approx(natural, rel=0.05)
    page.close()
