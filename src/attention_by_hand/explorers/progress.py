"""progress: a bar that is seen while a loop runs, and is gone when it ends."""

import ipywidgets as widgets
from IPython.display import clear_output, display

from attention_by_hand.explorers.board import view


def progress(items, label):
    """Yield each of the items, and show beside the label how far it is, in at most 40 moves.

    items: a list, a range, or what else has a length. label: a few words.
    The bar leaves nothing behind, and takes with it what its cell has shown before: begin a cell
    with it. Raises TypeError for items without a length.
    """
    moves_at = max(1, len(items) // 20)  # each move is a message, and a step of training is short
    style = {"description_width": "initial"}  # the label is never cut off
    bar = widgets.IntProgress(max=len(items), description=label, style=style)
    # A view without words: nbval compares the words of an output, also of one that was cleared.
    display(view(bar), raw=True)
    try:
        for done, item in enumerate(items):
            if done % moves_at == 0:
                bar.value = done
            yield item
    finally:
        bar.close()
        clear_output()
