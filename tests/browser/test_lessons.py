"""Every lesson in a real JupyterLab: it runs, its explorers answer the keyboard, axe is content."""

import re
from dataclasses import dataclass
from itertools import zip_longest

import browser
import ipywidgets as widgets
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import TimeoutError, expect

from attention_by_hand.explorers import Explorer
from notebooks import FOLDER, ROOT, all_paths, read, run_solved

NAMES = [path.relative_to(FOLDER).as_posix() for path in all_paths()]
START = NAMES[0]
BOARD = ".widget-html-content:has(.abh-panels)"
CONTROL = ".noUi-handle, select, input"
OUTPUTS = ".jp-Notebook .jp-OutputArea-output, .jp-Notebook .jp-RenderedMarkdown"
PICTURES = ".jp-Notebook .jp-RenderedImage img"
CUT = "all => all.filter(one => one.scrollWidth > one.clientWidth).map(one => one.textContent)"
# JupyterLab's debugger may still be asking a kernel when `turn_to` ends it.
NOT_OURS = "Could not restore the debugger state"
PATIENCE = 30_000  # milliseconds: a loaded machine is slow, and only a failure waits so long
FAILURES = ROOT / "build" / "browser"  # what the page looked like when a test failed


@dataclass
class Lesson:
    page: object
    explorers: list[Explorer]  # the same as on the page, made in this process
    complaints: list[str]  # errors that the browser's console shows

    def boxes(self):
        return self.page.locator(f".jp-OutputArea-output:has({BOARD})").all()


def explorers_of(name):
    """The explorers that a notebook shows, made in this process."""
    found = {}

    def collect(index, variables):
        shown = variables["Out"].values()
        found.update((id(value), value) for value in shown if isinstance(value, Explorer))

    error = run_solved(read(FOLDER / name), collect).error
    assert not error, error
    return list(found.values())


@pytest.fixture(scope="session")
def lab(address, chrome):
    """A page with JupyterLab, in which the notebooks are opened in turn."""
    return browser.opened(chrome, address, START)


def pytest_generate_tests(metafunc):
    if "lesson" in metafunc.fixturenames:
        names = [name for name in NAMES if re.match(metafunc.cls.track, name)]
        metafunc.parametrize("lesson", names, indirect=True, scope="class")


@pytest.fixture(scope="class")
def lesson(request, lab):
    complaints = []
    listeners = {
        "console": lambda said: (
            said.type == "error" and NOT_OURS not in said.text and complaints.append(said.text)
        ),
        "pageerror": lambda error: complaints.append(str(error)),
    }
    for event, listener in listeners.items():
        lab.on(event, listener)
    failed = request.session.testsfailed
    try:
        browser.turn_to(lab, request.param)
        assert lab.get_by_text("model not found").count() == 0
        shown_before = lab.locator(PICTURES).count()
        browser.start_all(lab)
        found = Lesson(lab, explorers_of(request.param), complaints)  # while the page runs its own
        browser.wait_for_end(lab)
        expect(lab.locator(BOARD)).to_have_count(len(found.explorers), timeout=PATIENCE)
        expect(lab.locator(PICTURES)).to_have_count(
            shown_before - len(found.explorers), timeout=PATIENCE
        )
        yield found
    finally:
        if request.session.testsfailed > failed:
            FAILURES.mkdir(parents=True, exist_ok=True)
            lab.screenshot(path=FAILURES / f"{request.param.replace('/', '-')}.png")
        for event, listener in listeners.items():
            lab.remove_listener(event, listener)


def controls_of(explorer):
    """The controls in the order in which they stand on the page."""
    return [control for row in explorer.widget.children[1:-1] for control in row.children]


def press(page, control, handle):
    """Move one control by a key, on the page and in this process."""
    handle.focus()
    if isinstance(control, widgets.Text):
        # The sentence of mouse/02: with the word "new", whose row the sliders beside it set.
        sentence = " ".join([*control.value.split()[:-1], "new"])
        handle.fill(sentence)
        page.keyboard.press("Enter")
        control.value = sentence
    elif isinstance(control, widgets.Checkbox):
        page.keyboard.press("Space")
        control.value = not control.value
    elif isinstance(control, widgets.Dropdown | widgets.SelectionSlider):
        last = control.index == len(control.options) - 1
        backward = {True: "ArrowUp", False: "ArrowLeft"}[isinstance(control, widgets.Dropdown)]
        forward = {True: "ArrowDown", False: "ArrowRight"}[isinstance(control, widgets.Dropdown)]
        page.keyboard.press(backward if last else forward)
        control.index += -1 if last else 1
    else:
        down = control.value + control.step > control.max
        page.keyboard.press("ArrowLeft" if down else "ArrowRight")
        control.value += -control.step if down else control.step


def wait_for(box, explorer):
    """Wait until the page shows what the explorer of this process shows."""
    expected = box.evaluate(
        "(box, html) => Object.assign(document.createElement('div'), {innerHTML: html}).innerHTML",
        explorer.board.value,
    )
    board = box.locator(BOARD)
    try:
        box.page.wait_for_function(
            "([board, html]) => board.innerHTML === html",
            arg=[board.element_handle(), expected],
            timeout=PATIENCE,
        )
    except TimeoutError:
        shown, wanted = board.inner_html(), expected
        start = next(i for i, (a, b) in enumerate(zip_longest(shown, wanted)) if a != b)
        here = slice(max(start - 60, 0), start + 60)
        raise AssertionError(f"shown: …{shown[here]}…\nexpected: …{wanted[here]}…") from None


class EveryLesson:
    def test_it_runs_without_an_error(self, lesson):
        assert lesson.page.locator(browser.ERRORS).count() == 0
        assert lesson.page.get_by_text("model not found").count() == 0
        assert lesson.complaints == []
        assert len(lesson.boxes()) == len(lesson.explorers)

    def test_every_picture_has_its_sentence(self, lesson):
        alts = [image.get_attribute("alt") for image in lesson.page.locator(PICTURES).all()]
        assert all(alts), alts

    def test_axe_finds_nothing_serious(self, lesson):
        include = {"include": [[selector] for selector in OUTPUTS.split(", ")]}
        found = Axe().run(lesson.page, include).response["violations"]
        serious = [v for v in found if v["impact"] in ("serious", "critical")]
        assert not serious, [(v["help"], [node["html"] for node in v["nodes"]]) for v in serious]

    def test_each_control_moved_by_a_key_changes_numbers_and_words(self, lesson):
        for box, explorer in zip(lesson.boxes(), lesson.explorers, strict=True):
            wait_for(box, explorer)
            handles = box.locator(CONTROL).all()
            assert box.locator(".widget-label").evaluate_all(CUT) == []
            height = box.bounding_box()["height"]
            for control, handle in zip(controls_of(explorer), handles, strict=True):
                before = explorer.board.value
                press(lesson.page, control, handle)
                assert explorer.error is None
                assert explorer.board.value != before, control.description
                wait_for(box, explorer)
                assert box.bounding_box()["height"] == height
                if isinstance(
                    control, widgets.FloatSlider | widgets.IntSlider | widgets.SelectionSlider
                ):
                    assert handle.get_attribute("aria-label") == control.description
                    spoken = handle.get_attribute("aria-valuetext")
                    slider = handle.locator("xpath=ancestor::*[contains(@class, 'widget-slider')]")
                    assert spoken == slider.locator(".widget-readout").text_content()

    def test_tab_leads_through_all_controls(self, lesson):
        for box in lesson.boxes():
            handles = box.locator(CONTROL).all()
            handles[0].focus()
            for handle in handles[1:]:
                for _ in range(3):  # a slider's own number can be typed into, and stands between
                    lesson.page.keyboard.press("Tab")
                    if handle.evaluate("it => it === document.activeElement"):
                        break
                else:
                    raise AssertionError(f"not reached: {handle.evaluate('it => it.outerHTML')}")

    def test_ten_fast_keys_leave_one_board_with_the_last_value(self, lesson):
        for box, explorer in zip(lesson.boxes(), lesson.explorers, strict=True):
            for _ in range(10):
                press(lesson.page, controls_of(explorer)[-1], box.locator(CONTROL).last)
            wait_for(box, explorer)
            assert box.locator(BOARD).count() == 1


# A class each, so that the tests of one track can run beside those of another.
class TestBank(EveryLesson):
    track = "bank"


class TestMouse(EveryLesson):
    track = "mouse"


class TestLight(EveryLesson):
    track = "light|00"


def test_every_notebook_has_its_class():
    tracks = "|".join(tested.track for tested in EveryLesson.__subclasses__())
    assert all(re.match(tracks, name) for name in NAMES)


def test_an_explorer_outlives_its_kernel(address, chrome):
    name = "light/01_five_steps.ipynb"
    page = browser.opened(chrome, address, name)
    stills = page.locator(PICTURES).count()
    browser.run_all(page)
    boards = page.locator(BOARD).count()
    assert boards > 0
    browser.end_kernels(address)
    page.reload()
    browser.ready(page)
    assert page.locator(PICTURES).count() == stills  # nothing saved: stills, as stored
    assert page.get_by_text("Numbers in this picture").count() == stills
    browser.run_all(page)
    browser.save(page)
    browser.end_kernels(address)
    page.reload()
    browser.ready(page)
    page.locator(BOARD).first.wait_for()
    assert page.locator(BOARD).count() == boards  # saved: boards, with their last numbers
    assert page.get_by_text("model not found").count() == 0
    page.close()
