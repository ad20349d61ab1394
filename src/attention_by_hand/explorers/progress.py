"""progress: a bar that is seen while a loop runs, and is gone when it ends."""

from time import monotonic

import ipywidgets as widgets
from IPython.display import clear_output, display

from attention_by_hand.explorers.board import view

SECONDS = 0.1  # between two moves of a bar


def progress(items, label):
    """Yield each of the items, and show beside the label how far it is, at most ten times a second.

    items: a list, a range, or what else has a length. label: a few words.
    The bar leaves nothing behind, and takes with it what its cell has shown before: begin a cell
    with it. Raises TypeError for items without a length.
    """
    style = {"description_width": "initial"}  # the label is never cut off
    bar = widgets.IntProgress(max=len(items), description=label, style=style)
    # A view without words: nbval compares the words of an output, also of one that was cleared.
    display(view(bar), raw=True)
    moves_at = monotonic()
    try:
        for done, item in enumerate(items):
            now = monotonic()
            if now >= moves_at:  # each move is a message, and a step of training is short
                bar.value, moves_at = done, now + SECONDS
            yield item
    finally:
        bar.close()
        clear_output()
