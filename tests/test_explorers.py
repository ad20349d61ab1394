"""Explorers: every control at its ends, and the numbers shown against numbers computed here."""

import gc
import html
import random
import re
import sys

import ipywidgets as widgets
import numpy as np
import pytest
import torch

from attention_by_hand import (
    causal_mask,
    explore_attention,
    explore_softmax,
    padding_mask,
    sentence,
)
from attention_by_hand.examples import Sentence
from attention_by_hand.explorers import (
    board,
    explore_bank,
    explore_mask,
    explore_scaling,
    explore_training,
    progress,
)

W_Q = torch.tensor([[1.0, 0], [0, 1], [1, 0], [0, 1]])
W_K = torch.tensor([[0.0, 1], [1, 0], [0, 1], [1, 0]])
W_V = torch.tensor([[1.0, 0, 2], [0, 1, 0], [0, 1, 0], [1, 0, 0]])
PADDED = sentence("light", "a bright light [pad] [pad]")
MASKS = {"padding": padding_mask([3], 5)[0], "none": None, "causal": causal_mask(5)}

# Each explorer of attention: the example, the matrices, the masks.
ATTENTION = {
    **{name: (sentence(name), (), None) for name in ("light", "cat", "keyboard", "river", "money")},
    "with matrices": (sentence("light"), (W_Q, W_K, W_V), None),
    "with masks": (PADDED, (), MASKS),
    "with both": (PADDED, (W_Q, W_K, W_V), MASKS),
}
SOFTMAX = {
    "five scores": ([2.0, 0, 1, 1, 1], ["It's", "a", "shine", "bright", "light"]),
    "one score": ([1.5], ["alone"]),
    "ends": ([-4, 4, 0.3], ["low", "high", "between"]),
    "equal names": ([1, 2], ["[pad]", "[pad]"]),
}
SCALING = {
    "three keys": ([1, 0, -1], ["key 0", "key 1", "key 2"]),
    "one key": ([-0.3], ["alone"]),
}


def build(name):
    if name in SOFTMAX:
        return explore_softmax(*SOFTMAX[name])
    if name in SCALING:
        return explore_scaling(*SCALING[name])
    example, matrices, masks = ATTENTION[name]
    return explore_attention(example, *matrices, masks=masks)


each_explorer = pytest.mark.parametrize("name", [*ATTENTION, *SOFTMAX, *SCALING])
each_attention = pytest.mark.parametrize("name", ATTENTION)


def shown(explorer):
    """The board's tables, caption -> numbers as they are printed."""
    found = {}
    for table in re.findall(r"<table>.*?</table>", explorer.board.value):
        caption = html.unescape(re.search(r"<caption>(.*?)</caption>", table)[1])
        rows = re.findall(r"<tr[^>]*>(.*?)</tr>", table)[1:]
        found[caption] = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in rows]
    return found


def said(explorer):
    return html.unescape(re.search(r'class="abh-says"[^>]*>(.*?)</div>', explorer.board.value)[1])


def softmax(scores):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


class Expected:
    """What an explorer must show, computed apart from the helper, with the changes made so far."""

    def __init__(self, name):
        self.name = name
        if name in ATTENTION:
            self.example, matrices, self.masks = ATTENTION[name]
            self.X = self.example.X.double().numpy().copy()
            self.W = [W.double().numpy() for W in matrices] or [np.eye(self.X.shape[1])] * 3

    def steps(self, controls):
        values = {key: control.value for key, control in controls.items()}
        if self.name in SOFTMAX:
            scores = np.array([[v for key, v in values.items() if key != "divisor"]])
            scaled = scores / values["divisor"]
            named = ["scores", "scaled = scores / divisor", "exp(scaled)", "weights"]
            return dict(zip(named, [scores, scaled, np.exp(scaled), softmax(scaled)], strict=True))
        if self.name in SCALING:
            pattern = np.array(SCALING[self.name][0])
            scores = np.array([np.sqrt(values["d_k"]) * pattern, pattern])
            weights = softmax(scores)
            return {"scores": scores, "weights": weights, "w (1 - w)": weights - weights**2}
        self.X[values["word"]] = [values[d] for d in self.example.dimensions]
        Q, K, V = (self.X @ W for W in self.W)
        scaled = Q @ K.T / (np.sqrt(K.shape[1]) if values["scaling"] else 1)
        found = {"scores": Q @ K.T, "scaled": scaled}
        masked = scaled
        if self.masks:
            allowed = self.masks[values["mask"]]
            if allowed is not None:
                masked = np.where(np.broadcast_to(allowed.numpy(), scaled.shape), scaled, -np.inf)
            found["masked"] = masked
        weights = softmax(masked)
        return found | {"weights": weights, "values": V, "output": weights @ V}


def assert_shows(explorer, expected):
    assert explorer.error is None
    steps, board = expected.steps(explorer.controls), shown(explorer)
    assert list(board) == list(steps)
    for name, numbers in steps.items():
        printed = np.array(board[name], dtype=float)
        assert printed.shape == numbers.shape
        # Half a unit of the fourth decimal, and the noise of single precision.
        np.testing.assert_allclose(printed, numbers, rtol=1e-6, atol=5.1e-5)


def ends(control):
    """The values to try: both ends of a slider, every option, on and off."""
    if isinstance(control, widgets.FloatSlider):
        return [control.min, control.max]
    if isinstance(control, widgets.Dropdown | widgets.SelectionSlider):
        return [o[1] if isinstance(o, tuple) else o for o in control.options]
    assert isinstance(control, widgets.Checkbox)
    return [True, False]


# --- numbers --------------------------------------------------------------------------------------


@each_explorer
def test_every_control_at_its_ends(name):
    explorer, expected = build(name), Expected(name)
    assert_shows(explorer, expected)
    heights = {explorer.board.value.count("<tr")}
    for control in explorer.controls.values():
        start = control.value
        for value in ends(control):
            control.value = value
            assert_shows(explorer, expected)
            heights.add(explorer.board.value.count("<tr"))
        control.value = start
        assert_shows(explorer, expected)
    assert len(heights) == 1


@each_explorer
@pytest.mark.parametrize("end", ["low", "high", "in turn"])
def test_all_sliders_at_their_ends_together(name, end):
    explorer, expected = build(name), Expected(name)
    sliders = [c for c in explorer.controls.values() if isinstance(c, widgets.FloatSlider)]
    for i, slider in enumerate(sliders):
        slider.value = slider.max if end == "high" or (end == "in turn" and i % 2) else slider.min
    assert_shows(explorer, expected)
    for control in set(explorer.controls.values()) - set(sliders):
        for value in ends(control):
            control.value = value
            assert_shows(explorer, expected)


@each_explorer
def test_many_changes_end_at_the_last(name):
    explorer, expected = build(name), Expected(name)
    rng = random.Random(0)
    controls = list(explorer.controls.values())
    for _ in range(10):
        control = rng.choice(controls)
        if isinstance(control, widgets.FloatSlider):
            steps = round((control.max - control.min) / control.step)
            control.value = control.min + control.step * rng.randint(0, steps)
        else:
            control.value = rng.choice(ends(control))
        expected.steps(explorer.controls)
    assert_shows(explorer, expected)


@each_attention
def test_a_word_brings_its_row_and_keeps_its_changes(name):
    explorer = build(name)
    example = ATTENTION[name][0]
    before = example.X.clone()
    sliders = [explorer.controls[d] for d in example.dimensions]
    word = explorer.controls["word"]
    assert [o[0] for o in word.options] == [f"{i}: {t}" for i, t in enumerate(example.tokens)]
    for i, row in enumerate(example.X.tolist()):
        word.value = i
        assert [slider.value for slider in sliders] == row
    changed = [2.5 - i for i in range(len(sliders))]
    for slider, value in zip(sliders, changed, strict=True):
        slider.value = value
    word.value = 0
    assert [slider.value for slider in sliders] == example.X[0].tolist()
    word.value = len(example.tokens) - 1
    assert [slider.value for slider in sliders] == changed
    assert torch.equal(example.X, before)  # the explorer works on a copy


@each_attention
def test_the_row_of_the_chosen_word_is_framed_and_told(name):
    explorer, expected = build(name), Expected(name)
    tokens = ATTENTION[name][0].tokens
    for i, token in enumerate(tokens):
        explorer.controls["word"].value = i
        frames = [
            ["outline" in row for row in re.findall(r"<tr[^>]*>", table)[1:]]
            for table in re.findall(r"<table>.*?</table>", explorer.board.value)
        ]
        one = [row == i for row in range(len(tokens))]
        none = [False] * len(tokens)
        captions = list(shown(explorer))
        assert frames == [none if caption == "values" else one for caption in captions]
        steps = expected.steps(explorer.controls)
        best = f"{steps['weights'][i].max():.4f}"
        assert said(explorer).startswith(f"{token} attends most to ")
        assert f"({best})" in said(explorer) or "(1)" in said(explorer)
        told = re.search(r"Its output is \((.*)\)\.$", said(explorer))[1].split(", ")
        np.testing.assert_allclose(np.array(told, float), steps["output"][i], atol=5.1e-5)


def test_the_sentence_of_the_softmax_is_true():
    explorer = explore_softmax([2, 0, 1], ["a", "b", "c"])
    explorer.controls["divisor"].value = 2
    weights = softmax(np.array([1, 0, 0.5]))
    assert said(explorer) == (
        f"The largest weight is {weights.max():.4f}, the smallest {weights.min():.4f}."
    )


def test_the_sentence_of_the_scaling_is_true():
    explorer = explore_scaling([1, 0, -1], ["a", "b", "c"])
    explorer.controls["d_k"].value = 4
    unscaled, scaled = ((w := softmax(np.array([s, 0, -s]))) * (1 - w) for s in (2, 1))
    assert said(explorer) == (
        f"The largest gradient is {unscaled.max():.4f} unscaled and {scaled.max():.4f} scaled."
    )


@each_explorer
def test_text_on_the_board_stands_out_on_its_color(name):
    explorer = build(name)

    def luminance(color):
        parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return np.dot(parts, [0.2126, 0.7152, 0.0722])

    for control in explorer.controls.values():
        control.value = ends(control)[-1]
        cells = re.findall(r"background:(#\w{6});color:(#\w{6})", explorer.board.value)
        assert len(cells) == explorer.board.value.count("<td")
        for pair in set(cells):
            low, high = sorted(map(luminance, pair))
            assert (high + 0.05) / (low + 0.05) >= 4.5


# --- cells of a mask, and one word in two phrases -------------------------------------------------

THREE = sentence("river", "river money bank")


def assert_shows_mask(explorer):
    """The scaled and masked scores and the weights, computed here from the boxes as they stand."""
    assert explorer.error is None
    X, T = THREE.X.double().numpy(), len(THREE.tokens)
    allowed = np.array([box.value for box in explorer.controls.values()]).reshape(T, T)
    scaled = X @ X.T / np.sqrt(2)
    masked = np.where(allowed, scaled, -np.inf)
    expected = {"scaled": scaled, "masked": masked, "weights": softmax(masked)}
    board = shown(explorer)
    assert list(board) == list(expected)
    for name, numbers in expected.items():
        np.testing.assert_allclose(np.array(board[name], float), numbers, atol=5.1e-5)
    return allowed


def test_each_cell_of_a_mask_is_blocked_and_allowed_alone():
    explorer = explore_mask(THREE, torch.ones(3, 3, dtype=torch.bool))
    names = [f"{query} sees {key}" for query in THREE.tokens for key in THREE.tokens]
    assert [box.description for box in explorer.controls.values()] == names
    for number, box in enumerate(explorer.controls.values()):
        box.value = False
        assert (~assert_shows_mask(explorer)).ravel().nonzero()[0].tolist() == [number]
        box.value = True
        assert assert_shows_mask(explorer).all()


def test_the_last_key_of_a_query_stays_and_a_sentence_says_so():
    explorer = explore_mask(THREE, causal_mask(3))
    first, third = explorer.controls["cell_0_0"], explorer.controls["cell_0_2"]
    refusal = "river must see at least one key, so its last one stays. "
    before = said(explorer)
    assert refusal not in before
    first.set_state({"value": False})  # as the browser sends it
    assert first.value
    assert said(explorer) == refusal + before
    assert explorer.picture().alt == f"{explorer.title}. {refusal}{before}"
    assert (assert_shows_mask(explorer) == causal_mask(3).numpy()).all()
    third.value = True
    assert refusal not in said(explorer)
    first.value = False
    assert assert_shows_mask(explorer)[0].tolist() == [False, False, True]
    third.value = False
    assert assert_shows_mask(explorer)[0].tolist() == [False, False, True]
    assert said(explorer).startswith(refusal)


@pytest.mark.parametrize(
    ("allowed", "said"),
    [
        (causal_mask(2), "allowed has shape (2, 2), but the scores have shape (3, 3)"),
        (causal_mask(3).tril(-1), "Query 0 may attend to nothing"),
    ],
)
def test_a_mask_that_cannot_be_explored_gets_a_sentence(allowed, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        explore_mask(THREE, allowed)


def test_both_outputs_of_bank_follow_river_and_money():
    explorer = explore_bank()
    assert list(explorer.controls) == ["river_d0", "river_d1", "money_d0", "money_d1"]

    def assert_shows_bank():
        assert explorer.error is None
        river, money = np.array([c.value for c in explorer.controls.values()]).reshape(2, 2)
        bank = np.array([1, 0])
        phrases = [np.stack([first, bank]) for first in (river, money)]
        weights = np.stack([softmax(bank @ X.T / np.sqrt(2)) for X in phrases])
        expected = {
            "embedding": np.stack([river, money, bank]),
            "weights of bank": weights,
            "output of bank": np.stack([w @ X for w, X in zip(weights, phrases, strict=True)]),
        }
        board = shown(explorer)
        assert list(board) == list(expected)
        for name, numbers in expected.items():
            np.testing.assert_allclose(np.array(board[name], float), numbers, atol=5.1e-5)
        rows = board["output of bank"]
        after_river, after_money = (f"({', '.join(row)})" for row in rows)
        assert (
            said(explorer)
            == f"bank becomes {after_river} after river and {after_money} after money."
        )

    assert_shows_bank()
    for control in explorer.controls.values():
        for value in ends(control):
            control.value = value
            assert_shows_bank()


# --- what is shown --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["with both", "river", "one score"])
def test_it_is_shown_live_as_a_still_and_as_words(name, monkeypatch):
    sent = []
    monkeypatch.setattr(board, "display", lambda data, **rest: sent.append((data, rest)))
    explorer = build(name)
    explorer._ipython_display_()
    assert all(rest["raw"] for _, rest in sent)
    (still, _), (details, _) = ((data, rest["metadata"]) for data, rest in sent)
    view = "application/vnd.jupyter.widget-view+json"
    assert still[view]["model_id"] == explorer.widget.model_id
    assert details[view]["model_id"] != explorer.widget.model_id
    assert all(data[view]["version_major"] == 2 for data in (still, details))
    expected = [data for data, _ in explorer.picture().bundles()]
    assert [{k: v for k, v in data.items() if k != view} for data, _ in sent] == expected
    assert sent[0][1]["metadata"]["image/png"]["alt"] == f"{explorer.title}. {said(explorer)}"
    for caption, rows in shown(explorer).items():
        assert caption in still["text/plain"]
        assert all(cell in still["text/plain"] for row in rows for cell in row)


@each_explorer
def test_the_controls_stand_above_the_board_and_have_names(name):
    explorer = build(name)
    *rows, board = explorer.widget.children
    placed = [control for row in rows for control in row.children]
    assert sorted(map(id, placed)) == sorted(map(id, explorer.controls.values()))
    assert board is explorer.board
    assert all(control.description for control in placed)


def test_names_are_escaped():
    odd = Sentence(["<b>", "a & b"], [0, 1], torch.eye(2), ["d0", "d1"])
    for explorer in (explore_softmax([1, 2], odd.tokens), explore_attention(odd)):
        head = '<th scope="col">&lt;b&gt;</th><th scope="col">a &amp; b</th>'
        assert head in explorer.board.value
        assert "<b>" not in explorer.board.value


# --- failures -------------------------------------------------------------------------------------


def test_a_failure_shows_one_sentence_and_is_kept(monkeypatch):
    explorer = build("five scores")
    before = explorer.board.value
    divisor = explorer.controls["divisor"]
    with monkeypatch.context() as broken:

        def fail(**values):
            raise RuntimeError("the <forced> failure.")

        broken.setattr(explorer, "_tables", fail)
        divisor.value = 2
    assert isinstance(explorer.error, RuntimeError)
    assert explorer.board.value == (
        "<p>This explorer could not be drawn: the &lt;forced&gt; failure. "
        "Run the cell again to start afresh.</p>"
    )
    divisor.value = 1
    assert explorer.error is None
    assert explorer.board.value == before


def test_a_mask_that_does_not_fit_is_said_when_it_is_chosen():
    explorer = explore_attention(sentence("light"), masks={"none": None, "short": causal_mask(4)})
    explorer.controls["mask"].value = "short"
    assert isinstance(explorer.error, ValueError)
    assert "allowed has shape (4, 4), but the scores have shape (5, 5)" in explorer.board.value
    assert "Traceback" not in explorer.board.value
    explorer.controls["mask"].value = "none"
    assert explorer.error is None


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: explore_softmax([1, 2], ["a"]), "There are 2 scores, but 1 labels."),
        (lambda: explore_softmax([1, 5], ["a", "b"]), "Every score must be from -4 to 4, but got"),
        (lambda: explore_softmax([float("nan")], ["a"]), "Every score must be from -4 to 4, but"),
        (lambda: explore_softmax([], []), "scores is empty"),
        (lambda: explore_scaling([1, 2], ["a"]), "scores has shape (2, 2), but there are 2 row"),
        (
            lambda: explore_attention(sentence("light"), torch.eye(3)),
            "W_Q must have one row per dimension of X (4), but its shape is (3, 3).",
        ),
        (
            lambda: explore_attention(sentence("light"), None, torch.ones(4)),
            "W_K must have one row per dimension of X (4), but its shape is (4,).",
        ),
        (
            lambda: explore_attention(sentence("light"), W_Q, None),
            "Q and K must have the same width d_k, but Q has 2 and K has 4.",
        ),
        (
            lambda: explore_attention(sentence("light"), masks={"short": causal_mask(4)}),
            "allowed has shape (4, 4), but the scores have shape (5, 5)",
        ),
    ],
)
def test_what_cannot_be_explored_gets_a_sentence(make, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        make()


# --- bank/05 ------


# --- bank/06 ------


# --- bank/07 ------

# The package's name `progress` is the function, so the module is taken from where all are kept.
progress_module = sys.modules[progress.__module__]
RUNS, PHRASES, WORDS = ["good", "stuck"], ["river bank", "money bank"], ["bank", "shore", "loan"]


def training():
    """Three steps of two runs, the first of which learns."""
    drawn = np.random.RandomState(0)
    history = {
        "loss": np.array([[1.25, 1.5], [0.5, 0.7], [0.03125, 0.6931]]),
        "weights": softmax(drawn.normal(size=(3, 2, 2, 2))),
        "probabilities": softmax(drawn.normal(size=(3, 2, 2, 3))),
    }
    history["probabilities"][2, 0] = [[0.01, 0.98, 0.01], [0.01, 0.01, 0.98]]
    history["probabilities"][2, 1] = [0.01, 0.49, 0.5]
    return history


def test_each_step_of_a_training_is_shown():
    history = training()
    tensors = {name: torch.tensor(values) for name, values in history.items()}
    explorer = explore_training(tensors, RUNS, PHRASES, WORDS)
    (step,) = explorer.controls.values()
    assert list(step.options) == ends(step) == [0, 1, 2]
    for number in [1, 2, 0]:
        step.value = number
        assert explorer.error is None
        board = shown(explorer)
        assert list(board) == ["loss", "weights of bank", "probabilities"]
        for found, values in zip(board.values(), history.values(), strict=True):
            expected = values[number].reshape(len(found), -1)
            np.testing.assert_allclose(np.array(found, float), expected, atol=5.1e-5)
    for run in RUNS:
        for phrase in PHRASES:
            assert explorer.board.value.count(f">{phrase}, {run}<") == 2


def test_the_sentence_of_a_training_is_true():
    tensors = {name: torch.tensor(values) for name, values in training().items()}
    explorer = explore_training(tensors, RUNS, PHRASES, WORDS)
    explorer.controls["step"].value = 2
    assert said(explorer) == (
        "good has the loss 0.0312 and expects shore and loan; "
        "stuck has the loss 0.6931 and expects loan and loan."
    )


def test_names_that_do_not_match_a_training_are_refused():
    tensors = {name: torch.tensor(values) for name, values in training().items()}
    with pytest.raises(ValueError, match=r"loss has shape \(2, 1\), but there are 3 row labels"):
        explore_training(tensors, ["a", "b", "c"], PHRASES, WORDS)
    with pytest.raises(ValueError, match=r"probabilities has shape \(4, 3\)"):
        explore_training(tensors, RUNS, PHRASES, ["shore", "loan"])


@pytest.fixture
def sent(monkeypatch):
    """What a progress bar displays and when it clears, and the bars themselves."""
    log, bars = [], []
    make = widgets.IntProgress

    def made(**rest):
        bars.append(make(**rest))
        return bars[-1]

    monkeypatch.setattr(progress_module.widgets, "IntProgress", made)
    monkeypatch.setattr(progress_module, "display", lambda data, raw: log.append((data, raw)))
    monkeypatch.setattr(progress_module, "clear_output", lambda: log.append("cleared"))
    return log, bars


def test_progress_hands_out_each_item_and_shows_how_far_it_is(sent):
    log, bars = sent
    seen = [(item, bars[0].value, len(log)) for item in progress(["a", "b", "c"], "letters")]
    assert seen == [("a", 0, 1), ("b", 1, 1), ("c", 2, 1)]
    (bar,) = bars
    assert (bar.description, bar.max, bar.value) == ("letters", 3, 3)


@pytest.mark.parametrize("stop_at", [None, 1])
def test_progress_shows_a_view_without_words_and_clears_it(sent, stop_at):
    log, bars = sent
    for item in progress(range(3), "numbers"):
        model_id = bars[0].model_id
        if item == stop_at:
            break
    (data, raw), *rest = log
    assert raw
    assert list(data) == ["application/vnd.jupyter.widget-view+json"]
    assert data["application/vnd.jupyter.widget-view+json"]["model_id"] == model_id
    assert rest == ["cleared"]
    assert bars[0].comm is None  # closed


def test_progress_clears_after_an_error_too(sent):
    log, _ = sent
    with pytest.raises(ZeroDivisionError):
        for item in progress([0], "numbers"):
            1 / item
    del item
    gc.collect()
    assert log[-1] == "cleared"


def test_progress_needs_a_length(sent):
    with pytest.raises(TypeError, match="len"):
        next(progress(iter([1]), "numbers"))


# --- bank/08 ------


# --- mouse/01 ------


# --- mouse/02 ------


# --- mouse/03 ------


# --- mouse/04 ------
