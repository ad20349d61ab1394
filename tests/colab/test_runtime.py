"""The stand-in for Colab is made once, and again when what it is made from has changed."""

import course
import pytest
import runtime


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A list of what pip was asked to install, in place of a real environment."""
    asked, pins = [], tmp_path / "pins.txt"
    pins.write_text("numpy==2.1.3\n")
    monkeypatch.setattr(runtime, "PINS", pins)
    monkeypatch.setattr(runtime, "RUNTIME", tmp_path / "runtime")
    monkeypatch.setattr(runtime, "STAMP", tmp_path / "runtime" / "made-from")
    monkeypatch.setattr(runtime.venv, "create", lambda folder, **_: folder.mkdir())
    monkeypatch.setattr(course, "install_torch", lambda python: None)
    monkeypatch.setattr(course, "pip", lambda *words, python: not asked.append(words))
    return asked


def test_new_pins_make_it_again(made):
    runtime.main()
    runtime.main()
    assert len(made) == 1 and course.pin("torch") in made[0] and runtime.PINS in made[0]
    runtime.PINS.write_text("numpy==2.1.4\n")
    runtime.main()
    assert len(made) == 2


def test_an_interrupted_one_is_made_again(made, monkeypatch):
    with monkeypatch.context() as broken, pytest.raises(course.Stop, match="check the network"):
        broken.setattr(course, "pip", lambda *words, python: False)
        runtime.main()
    runtime.main()
    assert len(made) == 1
