"""The example sentences: their numbers, and the sentences for what is not in them."""

import pytest
import torch

from attention_by_hand import sentence

EXPECTED = {
    "light": (
        ["It's", "a", "shine", "bright", "light"],
        [1001, 1002, 1003, 1004, 1005],
        [[1, 0, 1, 0], [0, 1, 0, 1], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 1]],
        ["d0", "d1", "d2", "d3"],
    ),
    "cat": (
        ["cat", "and", "mouse", "are", "friends"],
        [0, 3, 2, 4, 5],
        [[2, 0, 0], [0, 0, 1], [1, 1, 0], [0, 0, 1], [0.5, 0, 0]],
        ["animal", "tech", "grammar"],
    ),
    "keyboard": (
        ["keyboard", "and", "mouse", "are", "useful"],
        [1, 3, 2, 4, 6],
        [[0, 2, 0], [0, 0, 1], [1, 1, 0], [0, 0, 1], [0, 0.5, 0]],
        ["animal", "tech", "grammar"],
    ),
    "river": (["river", "bank"], [0, 2], [[2, 0], [1, 0]], ["d0", "d1"]),
    "money": (["money", "bank"], [1, 2], [[0, 2], [1, 0]], ["d0", "d1"]),
    "dog": (
        ["dog", "bites", "man"],
        [0, 1, 2],
        [[2, 0, 1, 0], [1, 0, 0, 0], [1, 1, 1, 0]],
        ["d0", "d1", "d2", "d3"],
    ),
    "man": (
        ["man", "bites", "dog"],
        [2, 1, 0],
        [[1, 1, 1, 0], [1, 0, 0, 0], [2, 0, 1, 0]],
        ["d0", "d1", "d2", "d3"],
    ),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_each_example_is_the_one_of_the_course(name):
    tokens, ids, rows, dimensions = EXPECTED[name]
    found = sentence(name)
    assert (found.tokens, found.ids, found.dimensions) == (tokens, ids, dimensions)
    assert found.X.dtype == torch.float32
    assert found.X.tolist() == rows, f"examples.py and this test disagree on the rows of {name!r}"


def test_another_text_over_the_same_words():
    found = sentence("light", "light a [pad]")
    assert (found.tokens, found.ids) == (["light", "a", "[pad]"], [1005, 1002, 0])
    assert found.X.tolist() == [[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 0, 0]]


def test_a_word_has_the_same_row_in_both_sentences():
    assert torch.equal(sentence("cat").X[2], sentence("keyboard").X[2])
    assert torch.equal(sentence("river").X[1], sentence("money").X[1])


def test_every_call_gives_fresh_values():
    first = sentence("light")
    first.X.zero_()
    first.tokens.append("x")
    first.ids.clear()
    first.dimensions.clear()
    tokens, ids, rows, dimensions = EXPECTED["light"]
    found = sentence("light")
    assert (found.tokens, found.ids, found.dimensions) == (tokens, ids, dimensions)
    assert found.X.tolist() == rows


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        (
            ("fish",),
            ValueError,
            "no example 'fish': choose one of light, cat, keyboard, river, money, dog, man",
        ),
        (
            ("river", "river Bank Rive"),
            ValueError,
            "'Bank' has no vector: the words are river, money",
        ),
        (("cat", ""), ValueError, "The text has no words"),
        (("cat", " \n "), ValueError, "The text has no words"),
        (("cat", ["cat"]), TypeError, "text must be words in one string, but it is a list"),
    ],
)
def test_bad_input_gets_a_sentence(arguments, error, said):
    with pytest.raises(error, match=said):
        sentence(*arguments)
