"""Explorers: every control at its ends, and the numbers shown against numbers computed here."""

import gc
import html
import itertools
import math
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
    explore_cache,
    explore_heads,
    explore_learning,
    explore_mask,
    explore_reach,
    explore_rotary,
    explore_scaling,
    explore_sentence,
    explore_training,
    explore_values,
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
            gradients = (weights - weights**2) / [[1], [np.sqrt(values["d_k"])]]
            return {"scores": scores, "weights": weights, "gradient for q·k": gradients}
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
    boards = []
    explorer.board.observe(boards.append, names="value")
    for i, row in enumerate(example.X.tolist()):
        word.value = i
        assert [slider.value for slider in sliders] == row
    assert len(boards) == len(example.tokens) - 1  # drawn once for each, not once for each slider
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
        weights = steps["weights"][i]
        equal = len(weights) > 1 and np.ptp(weights) < 1e-6
        start = f"{token} attends {'to all keys equally' if equal else 'most to '}"
        assert said(explorer).startswith(start)
        printed = shown(explorer)["weights"][i]
        assert f"({max(printed, key=float)})" in said(explorer)
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
    unscaled, scaled = ((w := softmax(np.array([s, 0, -s]))) * (1 - w) * s / 2 for s in (2, 1))
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
    versions = [(d[view]["version_major"], d[view]["version_minor"]) for d in (still, details)]
    assert versions == [(2, 0), (2, 0)]
    expected = [data for data, _ in explorer.picture().bundles()]
    assert [{k: v for k, v in data.items() if k != view} for data, _ in sent] == expected
    assert sent[0][1]["metadata"]["image/png"]["alt"] == f"{explorer.title}. {said(explorer)}"
    for caption, rows in shown(explorer).items():
        assert caption in still["text/plain"]
        assert all(cell in still["text/plain"] for row in rows for cell in row)


@each_explorer
def test_the_controls_stand_above_the_board_and_have_names(name):
    explorer = build(name)
    _, *rows, board = explorer.widget.children
    placed = [control for row in rows for control in row.children]
    assert sorted(map(id, placed)) == sorted(map(id, explorer.controls.values()))
    assert board is explorer.board
    assert all(control.description for control in placed)


# Lowest and highest value, step, and where each float slider starts, by its name.
SLIDERS = {
    "attention": (lambda: build("river"), (-3, 3, 0.5), [("d0", 2), ("d1", 0)]),
    "bank": (
        explore_bank,
        (-3, 3, 0.5),
        [("river d0", 2), ("river d1", 0), ("money d0", 0), ("money d1", 2)],
    ),
    "heads": (
        lambda: explore_heads(sentence("river"), *[torch.eye(2)] * 3, H=2),
        (-3, 3, 0.5),
        [("bank d0", 1), ("bank d1", 0)],
    ),
    "rotary": (
        lambda: explore_rotary([2, 0], [1, 1]),
        (0, 12, 1),
        [("position", 3), ("distance", 1)],
    ),
    "sentence": (
        explore_sentence,
        (-3, 3, 0.5),
        [("new animal", 0), ("new tech", 0), ("new grammar", 0)],
    ),
    "values": (
        lambda: explore_values([[-1], [1], [0]]),
        (-2, 2, 0.5),
        [("animal d0", -1), ("tech d0", 1), ("grammar d0", 0)],
    ),
}


def float_sliders(explorer):
    return [c for c in explorer.controls.values() if isinstance(c, widgets.FloatSlider)]


@pytest.mark.parametrize("name", SLIDERS)
def test_how_far_a_slider_goes_and_where_it_starts(name):
    make, reach, expected = SLIDERS[name]
    sliders = float_sliders(make())
    assert [(s.min, s.max, s.step) for s in sliders] == [reach] * len(sliders)
    assert [(s.description, s.value) for s in sliders] == expected


def test_the_divisor_of_the_softmax_has_a_reach_of_its_own():
    sliders = float_sliders(build("equal names"))
    assert [(s.description, s.min, s.max, s.step, s.value) for s in sliders] == [
        ("divisor", 0.5, 8, 0.5, 1),
        ("[pad]", -4, 4, 0.5, 1),
        ("[pad]", -4, 4, 0.5, 2),
    ]


# The choices of every other slider, and where it starts.
CHOICES = {
    "scaling": (lambda: build("three keys"), [((1, 4, 16, 64, 256, 1024), 1)]),
    "reach": (explore_reach, [((1, 2, 3, 4, 5, 6), 5), ((1, 2, 3, 4, 5, 6), 1)]),
    "cache": (
        lambda: explore_cache(["a", "b", "c", "d", "e"], torch.eye(5), torch.eye(5)),
        [((1, 2, 3, 4, 5), 3)],
    ),
}


@pytest.mark.parametrize("name", CHOICES)
def test_what_a_slider_chooses_from_and_where_it_starts(name):
    make, expected = CHOICES[name]
    sliders = [c for c in make().controls.values() if isinstance(c, widgets.SelectionSlider)]
    assert [(tuple(s.options), s.value) for s in sliders] == expected


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


def test_a_mask_that_does_not_fit_is_refused_before_it_is_chosen():
    with pytest.raises(ValueError, match=r"allowed has shape \(4, 4\), but the scores have shape"):
        explore_attention(sentence("light"), masks={"none": None, "short": causal_mask(4)})


def test_what_is_no_sentence_gets_one():
    with pytest.raises(TypeError, match=r"example must be a Sentence, made by .*, but is 'light'"):
        explore_attention("light")


def test_matrices_of_another_precision_are_taken_as_they_are():
    light, W = sentence("light"), torch.eye(4)
    board = explore_attention(light, *[W.double()] * 3).board.value
    assert board == explore_attention(light, W, W, W).board.value


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: explore_softmax([1, 2], ["a"]), "scores has length 2, but labels has length 1."),
        (lambda: explore_softmax([1, 5], ["a", "b"]), "Every score must be from -4 to 4, but got"),
        (lambda: explore_softmax([float("nan")], ["a"]), "Every score must be from -4 to 4, but"),
        (lambda: explore_softmax([], []), "scores is empty"),
        (
            lambda: explore_scaling([1, 2], ["a"]),
            "one finite number per label, 1 in all, but is [1, 2].",
        ),
        (
            lambda: explore_scaling([math.nan], ["a"]),
            "one finite number per label, 1 in all, but is [nan].",
        ),
        (
            lambda: explore_scaling(torch.eye(2), ["a", "b"]),
            "one finite number per label, 2 in all, but is",
        ),
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

HEADS = {
    "two heads of width 1": (THREE, torch.tensor([[1.0, 1], [1, 1]]), *[torch.eye(2)] * 2, 2),
    "two heads of width 2": (
        sentence("light"),
        *torch.cos(torch.arange(48.0)).view(3, 4, 4),  # no two numbers alike
        2,
    ),
    "one head": (sentence("money"), *torch.tensor([[[1.0, 2], [0, 1]]] * 3), 1),
}
each_heads = pytest.mark.parametrize("name", HEADS)


def assert_shows_heads(explorer, name):
    """One head, from the columns of the matrices as loops would take them."""
    assert explorer.error is None
    example, *matrices, H = HEADS[name]
    head, *row = (control.value for control in explorer.controls.values())
    X = example.X.double().numpy().copy()
    X[-1] = row
    T, d_model = X.shape
    width = d_model // H
    found = []
    for h in range(H):
        own = slice(h * width, (h + 1) * width)
        Q, K, V = (X @ W.double().numpy()[:, own] for W in matrices)
        masked = np.where(np.tri(T, dtype=bool), Q @ K.T / np.sqrt(width), -np.inf)
        found.append((Q, masked, softmax(masked), softmax(masked) @ V))
    expected = dict(zip(["queries", "masked", "weights", "output"], found[head], strict=True))
    expected["all heads merged"] = np.concatenate([output for *_, output in found], axis=1)
    board = shown(explorer)
    assert list(board) == list(expected)
    for caption, numbers in expected.items():
        np.testing.assert_allclose(np.array(board[caption], float), numbers, rtol=1e-6, atol=5.1e-5)
    best = f"{expected['weights'][-1].max():.4f}"
    assert said(explorer).startswith(f"head {head}: {example.tokens[-1]} attends most to ")
    assert f"({best})" in said(explorer) or "(1)" in said(explorer)


def build_heads(name):
    explorer = explore_heads(*HEADS[name])
    example, *_, H = HEADS[name]
    head, *sliders = explorer.controls.values()
    assert list(head.options) == [(f"head {h}", h) for h in range(H)]
    titles = [f"{example.tokens[-1]} {dimension}" for dimension in example.dimensions]
    assert [slider.description for slider in sliders] == titles
    assert [slider.value for slider in sliders] == example.X[-1].tolist()
    return explorer


@each_heads
def test_each_head_at_the_ends_of_every_slider(name):
    explorer = build_heads(name)
    example = HEADS[name][0]
    before, heights = example.X.clone(), set()
    head, *sliders = explorer.controls.values()
    for chosen in ends(head):
        head.value = chosen
        for slider in sliders:
            start = slider.value
            for value in [*ends(slider), start]:
                slider.value = value
                assert_shows_heads(explorer, name)
                heights.add(explorer.board.value.count("<tr"))
    for slider in sliders:
        slider.value = slider.max
    assert_shows_heads(explorer, name)
    assert len(heights) == 1
    assert torch.equal(example.X, before)


def test_the_output_of_a_head_is_named_by_its_own_dimensions():
    explorer = explore_heads(*HEADS["two heads of width 2"])
    for chosen, names in enumerate([["d0", "d1"], ["d2", "d3"]]):
        explorer.controls["head"].value = chosen
        assert [explorer.tables()[i].columns for i in (0, 3)] == [names, names]


@pytest.mark.parametrize("H", [0, 3])
def test_heads_that_do_not_divide_the_width_get_a_sentence(H):
    with pytest.raises(ValueError, match=f"^H must divide d_model, which is 2, but H is {H}.$"):
        explore_heads(THREE, *[torch.eye(2)] * 3, H)


# --- bank/06 ------


def drawn_arrows(explorer):
    """The tips of the arrows on the board, each scaled to the length 1, y up."""
    tips = re.findall(r'd="M0 0L(\S+) (\S+)"', explorer.board.value)
    tips = np.array(tips, dtype=float) * [1, -1]
    return tips / np.linalg.norm(tips, axis=1, keepdims=True)


@pytest.mark.parametrize(("q", "k"), [([2, 0], [1, 1]), ([-1, 0.5], [0, 3])])
def test_arrows_turn_and_the_score_needs_the_distance_alone(q, k):
    explorer = explore_rotary(q, k)
    position, distance = explorer.controls.values()
    places = [(c.value, c.min, c.max) for c in (position, distance)]
    q, k = complex(*q), complex(*k)
    for at in places[0]:
        for away in places[1]:
            position.value, distance.value = at, away
            assert explorer.error is None
            turned = np.array([q * np.exp(1j * (at + away)), k * np.exp(1j * at)])
            arrows = np.stack([turned.real, turned.imag], axis=1)
            board = shown(explorer)
            assert list(board) == ["turned", "score"]
            np.testing.assert_allclose(np.array(board["turned"], float), arrows, atol=5.1e-5)
            score = (q * np.exp(1j * away) * k.conjugate()).real
            np.testing.assert_allclose(np.array(board["score"], float), score, atol=5.1e-5)
            lengths = np.linalg.norm(arrows, axis=1, keepdims=True)
            np.testing.assert_allclose(drawn_arrows(explorer), arrows / lengths, atol=2e-3)
            ((here, first),) = board["score"]
            assert said(explorer) == (
                f"The query at {at + away:g} and the key at {at:g} score {here}; "
                f"with the key at 0 the score is {first}."
            )


def test_vectors_that_cannot_be_turned_get_a_sentence():
    with pytest.raises(ValueError, match=r"q and k must have 2 numbers each, but have 3 and 2\."):
        explore_rotary([1, 2, 3], [1, 2])


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
        "good has the loss 0.0312 and expects shore after river bank and loan after money bank; "
        "stuck has the loss 0.6931 and expects loan after river bank and loan after money bank."
    )
    tensors["probabilities"][2, 1, 0] = torch.tensor([0.00002, 0.49998, 0.5])
    explorer.controls["step"].value = 1
    explorer.controls["step"].value = 2
    assert said(explorer).endswith(
        "expects shore or loan after river bank and loan after money bank."
    )


def test_a_training_that_has_run_to_nan_expects_nothing():
    tensors = {name: torch.tensor(values) for name, values in training().items()}
    tensors["loss"][2, 1] = tensors["probabilities"][2, 1] = torch.nan
    explorer = explore_training(tensors, RUNS, PHRASES, WORDS)
    explorer.controls["step"].value = 2
    assert said(explorer).endswith(
        "stuck has the loss nan and expects nothing after river bank and nothing after money bank."
    )


def test_names_that_do_not_match_a_training_are_refused():
    tensors = {name: torch.tensor(values) for name, values in training().items()}
    with pytest.raises(
        ValueError, match=r"loss has shape \(2, 1\), but there are labels for shape \(3, 1\)"
    ):
        explore_training(tensors, ["a", "b", "c"], PHRASES, WORDS)
    with pytest.raises(ValueError, match=r"probabilities has shape \(4, 3\)"):
        explore_training(tensors, RUNS, PHRASES, ["shore", "loan"])


@pytest.fixture
def sent(monkeypatch):
    """What a progress bar displays and when it clears, and the bars themselves.

    A second passes whenever the bar looks at the clock.
    """
    log, bars = [], []
    monkeypatch.setattr(progress_module, "monotonic", itertools.count().__next__)
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
    assert (bar.description, bar.max, bar.value) == ("letters", 3, 2)


def test_progress_moves_ten_times_a_second(sent, monkeypatch):
    _, bars = sent
    now = 0
    monkeypatch.setattr(progress_module, "monotonic", lambda: now)
    seen = []
    for _ in progress(range(201), "numbers"):
        seen.append(bars[0].value)
        now += 1 / 64  # of a second: each seventh is the first after a tenth
    assert seen == [number - number % 7 for number in range(201)]
    assert list(progress([], "nothing")) == []


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

CACHE = (
    ["money", "bank", "river"],
    torch.tensor([[2.0, 0], [1, 1], [0, 3]]),
    torch.tensor([[1.0, 1, 0.5], [1, 0.5, 0], [1.5, 0, -1]]),
)


def test_each_step_shows_what_is_computed_kept_and_not_there_yet():
    explorer, (tokens, *both) = explore_cache(*CACHE), CACHE
    heights = set()
    for cache in ends(explorer.controls["cache"]):
        for step in ends(explorer.controls["step"]):
            explorer.controls["cache"].value = cache
            explorer.controls["step"].value = step
            assert explorer.error is None
            board = shown(explorer)
            assert list(board) == ["K", "V", "rows in this step"]
            states = ["kept" if cache else "again"] * (step - 1) + ["new"]
            states += ["not yet"] * (len(tokens) - step)
            labels = [f"{token}: {state}" for token, state in zip(tokens, states, strict=True)]
            heads = re.findall(r'<th scope="row">(.*?)</th>', explorer.board.value)
            assert heads == [*labels, *labels, "cache" if cache else "no cache"]
            for name, values in zip("KV", both, strict=True):
                np.testing.assert_allclose(np.array(board[name][:step], float), values[:step])
                assert all(cell == "·" for row in board[name][step:] for cell in row)
            triangle = sum(range(step + 1))
            now, kept, total = (1, step - 1, step) if cache else (step, 0, triangle)
            assert board["rows in this step"] == [[str(now), str(kept), str(total)]]
            assert said(explorer) == (
                f"Step {step} of 3: {now} computed, {kept} kept; {total} computed so far."
            )
            assert all(dot in explorer.picture().words for dot in "·" * (step < 3))
            heights.add(explorer.board.value.count("<tr"))
    assert len(heights) == 1


def test_the_cache_starts_in_the_middle_and_has_names():
    explorer = explore_cache(*CACHE)
    assert {name: c.value for name, c in explorer.controls.items()} == {"step": 2, "cache": True}
    assert [c.description for c in explorer.controls.values()] == ["step", "keep K and V"]
    with pytest.raises(
        ValueError, match=r"K has shape \(3, 2\), but there are labels for shape \(2"
    ):
        explore_cache(CACHE[0][:2], *CACHE[1:])
    for name in "KV":  # where NaN stands for a number that is not there yet
        both = dict(zip("KV", CACHE[1:], strict=True))
        both[name] = both[name] * torch.nan
        with pytest.raises(ValueError, match=f"^{name} holds NaN or infinity; every number must"):
            explore_cache(CACHE[0], **both)


# --- mouse/01 ------


def test_mouse_sees_the_cue_from_as_many_layers_on_as_it_is_words_away():
    explorer = explore_reach()
    distance, layers = explorer.controls.values()
    assert (distance.value, layers.value) == (5, 1)
    for words in ends(distance):
        for number in ends(layers):
            distance.value, layers.value = words, number
            assert explorer.error is None
            taken, found = [], []
            for step in (convolved_weights(words + 1, number), None):
                for cue in ([2, 0, 0], [0, 2, 0]):
                    X = np.array([cue] + [[0, 0, 1]] * (words - 1) + [[1, 1, 0]])
                    weights = softmax(X[-1] @ X.T / np.sqrt(3)) if step is None else step
                    found.append(weights @ X)
                taken.append(weights)
            tables = shown(explorer)
            assert list(tables) == ["what mouse takes", "mouse comes out as"]
            for rows, expected in zip(tables.values(), (taken, found), strict=True):
                np.testing.assert_allclose(np.array(rows, float), expected, atol=5.1e-5)
            different = "the same row" if number < words else "two different rows"
            assert said(explorer) == (
                f"The convolution takes {taken[0][0]:.4f} of the cue, attention "
                f"{taken[1][0]:.4f}. For the two cues, the convolution gives mouse {different}; "
                "attention gives two."
            )


def convolved_weights(length, layers):
    """What the last of so many words takes of each, after the layers of width 3."""
    layer = (np.eye(length, k=-1) + 2 * np.eye(length) + np.eye(length, k=1)) / 4
    return np.linalg.matrix_power(layer, layers)[-1]


def test_the_rows_and_columns_of_the_reach_have_names():
    taken, found = explore_reach().tables()
    kinds, cues = ["convolution", "attention"], ["cat", "keyboard"]
    assert (taken.rows, taken.columns) == (kinds, ["cue", "and", "are", "and", "are", "mouse"])
    assert found.rows == [f"{kind}, {cue}" for kind in kinds for cue in cues]
    assert found.columns == ["animal", "tech", "grammar"]


# --- mouse/02 ------

ROWS = {"cat": [2, 0, 0], "keyboard": [0, 2, 0], "mouse": [1, 1, 0], "and": [0, 0, 1]}
ROWS |= {"are": [0, 0, 1], "friends": [0.5, 0, 0], "useful": [0, 0.5, 0]}


def assert_shows_sentence(explorer, text):
    """The three tables for the text, with the new word's row as the sliders stand."""
    assert explorer.error is None
    new = [explorer.controls[name].value for name in ("animal", "tech", "grammar")]
    X, at = np.array([(ROWS | {"new": new})[word] for word in text.split()]), text.split().index
    weights = softmax(X @ X.T / np.sqrt(3))
    moved = np.stack([X[at("mouse")], weights[at("mouse")] @ X])
    board = shown(explorer)
    assert list(board) == ["rows", "weights", "mouse"]
    for name, numbers in {"rows": X, "weights": weights, "mouse": moved}.items():
        np.testing.assert_allclose(np.array(board[name], float), numbers, rtol=1e-6, atol=5.1e-5)
    went_in, came_out = (", ".join(row) for row in board["mouse"])
    assert said(explorer).endswith(f"mouse goes in as ({went_in}) and comes out as ({came_out}).")
    words, weights, _ = explorer.tables()
    assert words.rows == weights.rows == weights.columns == text.split()
    assert words.emphasize == weights.emphasize == at("mouse")


@pytest.mark.parametrize(
    "text",
    [
        "mouse",
        "new and mouse",
        "new mouse new mouse",
        "cat keyboard and are friends useful new mouse",
    ],
)
def test_mouse_moves_in_a_sentence_of_ones_own(text):
    explorer = explore_sentence()
    assert_shows_sentence(explorer, "cat and mouse are friends")
    explorer.controls["text"].value = text
    assert_shows_sentence(explorer, text)
    sliders = [explorer.controls[name] for name in ("animal", "tech", "grammar")]
    for slider in sliders:
        for value in (slider.min, slider.max, 1.5):
            slider.value = value
            assert_shows_sentence(explorer, text)
    for end in ("min", "max"):
        for slider in sliders:
            slider.value = getattr(slider, end)
        assert_shows_sentence(explorer, text)


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        (
            "cat and dog and bird",
            "'dog' has no row: the words are cat, keyboard, mouse, and, are, friends, useful, new.",
        ),
        ("mouse " + "x" * 900, f"'{'x' * 20}' has no row: the words are"),
        ("<b>mouse</b>", "'<b>mouse</b>' has no row"),
        ("mouse" + " and" * 8, "A sentence may have 8 words, but this has 9."),
        ("cat and keyboard", "A sentence needs the word mouse."),
        ("", "A sentence needs the word mouse."),
        (" ", "A sentence needs the word mouse."),
    ],
)
def test_a_sentence_that_cannot_be_shown_leaves_the_last_one_and_is_told_why(text, refusal):
    explorer = explore_sentence()
    explorer.controls["text"].value = "new and mouse"
    before = explorer.board.value
    explorer.controls["text"].value = text
    assert said(explorer).startswith(f"{refusal}")
    assert_shows_sentence(explorer, "new and mouse")
    explorer.controls["animal"].value = 3
    assert said(explorer).startswith(f"{refusal}")
    assert_shows_sentence(explorer, "new and mouse")
    assert explorer.picture().alt == f"{explorer.title}. {said(explorer)}"
    explorer.controls["animal"].value = 0
    explorer.controls["text"].value = " New AND  mouse "
    assert explorer.board.value == before
    with pytest.raises(ValueError, match=re.escape(refusal)):
        explore_sentence(text)


def test_how_long_a_sentence_may_be():
    explorer = explore_sentence("mouse mouse", longest=2)
    assert_shows_sentence(explorer, "mouse mouse")
    explorer.controls["text"].value = "mouse and mouse"
    assert said(explorer).startswith("A sentence may have 2 words, but this has 3.")
    assert not explorer.controls["text"].continuous_update
    names = [control.description for control in explorer.controls.values()]
    assert names == ["sentence", "new animal", "new tech", "new grammar"]


# --- mouse/03 ------


def learning():
    """Three steps with matrices of different widths, and two sentences of different lengths."""
    drawn, shapes = np.random.RandomState(0), [(3, 2), (3, 2), (3, 4), (4, 2)]
    history = {n: [torch.tensor(drawn.randn(*shape)) for shape in shapes] for n in (0, 5, 10)}
    return history, [0.7, 0.25, 0.1], [sentence("cat"), sentence("cat", "useful mouse keyboard")]


def test_each_step_of_learning_is_shown():
    history, losses, examples = learning()
    explorer = explore_learning(history, losses, examples)
    step = explorer.controls["step"]
    assert (ends(step), step.value) == ([0, 5, 10], 0)
    for number, loss in zip((10, 0, 5), (0.1, 0.7, 0.25), strict=True):
        step.value = number
        assert explorer.error is None
        W_Q, W_K, W_V, readout = (W.numpy() for W in history[number])
        expected, answers = {"training": [[loss]]}, []
        for n, (example, mouse) in enumerate(zip(examples, (2, 1), strict=True)):
            X = example.X.double().numpy()
            weights = softmax(X[mouse] @ W_Q @ (X @ W_K).T / np.sqrt(2))
            expected[f"sentence {n}: weights"] = [weights]
            answers.append(softmax(weights @ X @ W_V @ readout))
        expected["probability"] = answers
        board = shown(explorer)
        assert list(board) == list(expected)
        for name, numbers in expected.items():
            np.testing.assert_allclose(np.array(board[name], float), numbers, atol=5.1e-5)
        assert said(explorer) == (
            f"The loss is {loss:.4f}. Probability of animal: "
            f"{answers[0][0]:.4f} in sentence 0, {answers[1][0]:.4f} in sentence 1."
        )


def test_a_training_needs_one_loss_per_step():
    history, losses, examples = learning()
    with pytest.raises(ValueError, match=r"^losses has length 2, but history has length 3\.$"):
        explore_learning(history, losses[:2], examples)


# --- mouse/04 ------

ONE, TWO = [[-1], [1], [0]], [[1, 0], [0, 1], [0, 0]]


def assert_shows_values(explorer):
    """What the values pass on, mixed from the words and returned by least squares, all here."""
    assert explorer.error is None
    table = {"cat": [2, 0, 0], "keyboard": [0, 2, 0], "mouse": [1, 1, 0], "and": [0, 0, 1]}
    table |= {"are": [0, 0, 1], "friends": [0.5, 0, 0], "useful": [0, 0.5, 0]}
    W_V = np.array([control.value for control in explorer.controls.values()]).reshape(3, -1)
    output, original = [], []
    for text in ("cat and mouse are friends", "keyboard and mouse are useful"):
        X = np.array([table[word] for word in text.split()])
        weights = softmax(X[2] @ X.T / np.sqrt(3))
        output.append(weights @ (X @ W_V))
        original.append(weights @ X)
    back = np.linalg.lstsq(W_V.T, np.array(output).T)[0].T
    values = np.array(list(table.values())) @ W_V
    names = ["values", "output of mouse", "what comes back", "the original"]
    board = shown(explorer)
    assert list(board) == names
    for name, numbers in zip(names, [values, output, back, original], strict=True):
        np.testing.assert_allclose(np.array(board[name], float), numbers, atol=5.1e-5)
    told = "are equal" if np.allclose(*output, atol=1e-5) else "differ"
    exact = np.isclose(back, original, atol=1e-5).all(axis=0)
    kept = [n for n, same in zip(["animal", "tech", "grammar"], exact, strict=True) if same]
    kept = ", ".join(kept) or "none"
    assert said(explorer) == f"The two outputs of mouse {told}. Exactly back: {kept}."
    return told, kept


@pytest.mark.parametrize("W_V", [ONE, TWO])
def test_what_values_pass_on_follows_each_slider(W_V):
    explorer = explore_values(W_V)
    assert [control.value for control in explorer.controls.values()] == [
        entry for row in W_V for entry in row
    ]
    assert all(control.description for control in explorer.controls.values())
    assert_shows_values(explorer)
    for control in explorer.controls.values():
        for value in [*ends(control), 0.5, 0]:
            control.value = value
            assert_shows_values(explorer)
    assert assert_shows_values(explorer) == ("are equal", "none")  # all 0


@pytest.mark.parametrize(
    ("W_V", "expected"),
    [
        (ONE, ("differ", "none")),
        ([[1], [1], [0]], ("are equal", "none")),
        ([[0], [0], [1]], ("are equal", "grammar")),
        ([[2], [0], [0]], ("differ", "animal")),
        (TWO, ("differ", "animal, tech")),
        ([[1, 1], [1, 1], [0, 1]], ("are equal", "grammar")),
        ([[1, 0, 0, 1, -1], [0, 1, 0, 1, 1], [0, 0, 1, 0, 0]], ("differ", "animal, tech, grammar")),
    ],
)
def test_the_sentence_of_the_values_is_true(W_V, expected):
    assert assert_shows_values(explore_values(W_V)) == expected


def test_only_where_tables_follow_from_each_other_the_still_draws_arrows():
    def names(explorer):
        *_, texts = explorer.picture().figure.artists
        return set(texts.get_gid().split("\n"))

    assert names(explore_values(ONE)) >= {"values", "what comes back", "the original"}
    assert not any("→" in name for name in names(explore_values(ONE)))
    assert {"rows", "→ weights", "→ mouse"} <= names(explore_sentence())


@pytest.mark.parametrize("W_V", [[1, 0, 0], [[1], [0]], [[3], [0], [0]], [[float("nan")]] * 3])
def test_values_that_cannot_be_explored_get_a_sentence(W_V):
    with pytest.raises(ValueError, match=r"^W_V must be 3 rows of numbers from -2 to 2, but is "):
        explore_values(W_V)


# --- words and table ------------------------------------------------------------------------------


def test_the_words_repeat_the_numbers_of_the_table():
    explorer = explore_attention(sentence("river"), masks={"causal": causal_mask(2)})
    assert shown(explorer)["weights"][0] == ["1.0000", "0.0000"]
    assert said(explorer).startswith("river attends most to river (1.0000).")
    explorer = explore_softmax([4, -4], ["a", "b"])
    explorer.controls["divisor"].value = 0.5
    assert shown(explorer)["weights"] == [["1", "0"]]
    assert said(explorer) == "The largest weight is 1, the smallest 0."
