"""check: says whether an answer is right, or names the mistake. It never shows the answer."""

from attention_by_hand.exercises.bank import BANK
from attention_by_hand.exercises.decoder import DECODER
from attention_by_hand.exercises.judge import verdict
from attention_by_hand.exercises.light import LIGHT
from attention_by_hand.exercises.mouse import MOUSE

EXERCISES = LIGHT | MOUSE | BANK | DECODER


def check(name, answer):
    """Print one line: not answered yet, right, or the mistake by name.

    name: an exercise such as "light/01/weights". answer: a value (number, list, array or tensor)
    or, where the exercise asks for one, a function.
    Raises ValueError for an unknown name.
    """
    if name not in EXERCISES:
        raise ValueError(f"There is no exercise {name!r}.")
    print(f"{name}: {verdict(EXERCISES[name], answer)}")
