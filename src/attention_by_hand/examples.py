"""The sentences of the course and their vectors: the only place where they stand."""

from dataclasses import dataclass

import torch

# Each table: the names of its dimensions, then word -> (id, row).
TABLES = {
    "light": (
        ("d0", "d1", "d2", "d3"),
        {
            "It's": (1001, [1, 0, 1, 0]),
            "a": (1002, [0, 1, 0, 1]),
            "shine": (1003, [1, 1, 0, 0]),
            "bright": (1004, [0, 0, 1, 1]),
            "light": (1005, [1, 0, 0, 1]),
            "[pad]": (0, [0, 0, 0, 0]),
        },
    ),
    "mouse": (
        ("animal", "tech", "grammar"),
        {
            "cat": (0, [2, 0, 0]),
            "keyboard": (1, [0, 2, 0]),
            "mouse": (2, [1, 1, 0]),
            "and": (3, [0, 0, 1]),
            "are": (4, [0, 0, 1]),
            "friends": (5, [0.5, 0, 0]),
            "useful": (6, [0, 0.5, 0]),
        },
    ),
    "bank": (
        ("d0", "d1"),
        {"river": (0, [2, 0]), "money": (1, [0, 2]), "bank": (2, [1, 0])},
    ),
    "dog": (
        ("d0", "d1", "d2", "d3"),
        {"dog": (0, [2, 0, 1, 0]), "bites": (1, [1, 0, 0, 0]), "man": (2, [1, 1, 1, 0])},
    ),
}

# Each sentence: the table its words are looked up in, and the words.
SENTENCES = {
    "light": ("light", "It's a shine bright light"),
    "cat": ("mouse", "cat and mouse are friends"),
    "keyboard": ("mouse", "keyboard and mouse are useful"),
    "river": ("bank", "river bank"),
    "money": ("bank", "money bank"),
    "dog": ("dog", "dog bites man"),
    "man": ("dog", "man bites dog"),
}


@dataclass(frozen=True)
class Sentence:
    """A tokenized and embedded sentence.

    tokens: T words. ids: T integers. X: (T, d_model), float32, one row per token.
    dimensions: d_model names.
    """

    tokens: list[str]
    ids: list[int]
    X: torch.Tensor
    dimensions: list[str]


def sentence(name, text=None):
    """Return the example sentence `name`, or another `text` over the same words.

    name: "light", "cat", "keyboard", "river", "money", "dog" or "man".
    text: words separated by spaces, each from the table of `name`; None for the example's own.
    Returns a Sentence: tokens, ids, X (T, d_model), dimensions.
    Raises ValueError for an unknown name, an unknown word or an empty text; TypeError for a text
    that is no string.
    """
    if name not in SENTENCES:
        raise ValueError(f"There is no example {name!r}: choose one of {', '.join(SENTENCES)}.")
    table_name, example_text = SENTENCES[name]
    if not (text is None or isinstance(text, str)):
        raise TypeError(f"text must be words in one string, but it is a {type(text).__name__}.")
    dimensions, table = TABLES[table_name]
    tokens = (example_text if text is None else text).split()
    if not tokens:
        raise ValueError("The text has no words.")
    unknown = [token for token in tokens if token not in table]
    if unknown:
        raise ValueError(f"{unknown[0]!r} has no vector: the words are {', '.join(table)}.")
    ids = [table[token][0] for token in tokens]
    X = torch.tensor([table[token][1] for token in tokens], dtype=torch.float32)
    return Sentence(tokens, ids, X, list(dimensions))
