"""Judge an answer: right, or the mistake by name. No sentence shows the answer."""

import copy
import traceback
from collections.abc import Callable
from dataclasses import dataclass

import torch

from attention_by_hand.attention import Attention
from attention_by_hand.figures import as_tensor

# Four printed decimals pass; a result made from numbers rounded to three does not.
TOLERANCE = 2e-4


def _count(answer, right):
    """What is said of a wrong answer of the right shape that has no name."""
    if right.ndim == 0:
        return "This number is not right."
    different = int((~torch.isclose(answer, right, rtol=0, atol=TOLERANCE)).sum())
    are = "is" if different == 1 else "are"
    return f"The shape is right, but {different} of {right.numel()} numbers {are} not."


@dataclass(frozen=True)
class Exercise:
    """A right answer and the wrong ones that people give.

    right: a function that returns the right answer.
    mistakes: what to say -> a function of the same input that returns the wrong answer.
    inputs: returns the argument tuples a learner's function is tried on; None where the answer is
    a value.
    refused: returns the argument tuples that the learner's function must refuse with a ValueError,
    each with the word that its message must hold.
    form: what the answer must be. otherwise: a function of a wrong answer and the right one, both
    tensors of one shape, that returns what to say if no mistake fits.
    """

    right: Callable
    mistakes: dict[str, Callable]
    inputs: Callable | None = None
    refused: Callable = tuple
    form: str = "A number, a tensor or a list of numbers"
    otherwise: Callable = _count


def verdict(exercise, answer):
    """Return the sentence that check() prints after the name."""
    if answer is None or answer is ...:
        return "not answered yet."
    if exercise.inputs is None:
        return _judge(exercise, (), answer)
    if not callable(answer):
        return f"not yet. The answer is a function, but this is a {type(answer).__name__}."
    passed = set()  # the sizes of the inputs on which it was right
    for arguments in exercise.inputs():
        shown = _show(arguments)
        try:
            # A copy: a function that changes its input must not change what it is judged by.
            result = answer(*copy.deepcopy(arguments))
        except Exception as error:
            reason = "".join(traceback.format_exception_only(error)).split("\n")[0]
            return f"not yet. It stops with {reason} (It was given {shown}.)"
        if result is ...:
            return "not answered yet."
        if result is None:
            return "not yet. Your function returns None: does it end with return?"
        said = _judge(exercise, arguments, result)
        if said.startswith(("not yet. The shape is right", "not yet. This number")):
            fixed = "is a size or a sentence of the lesson written into it?"
            size = f": {fixed}" if passed - {shown} else "."
            said += f" (It was given {shown}{size})"
        if said != "right.":
            return said
        passed.add(shown)
    for arguments, word in exercise.refused():
        given = f"(It was given {_show(arguments)}.)"
        try:
            answer(*copy.deepcopy(arguments))
        except ValueError as error:
            if word not in str(error):
                return f"not yet. Your ValueError does not name {word}. {given}"
        except Exception as error:
            return f"not yet. A ValueError is needed, not {type(error).__name__}. {given}"
        else:
            return f"not yet. This must be refused with a ValueError. {given}"
    return "right."


def _show(arguments):
    return ", ".join(
        f"a tensor {tuple(a.shape)}" if isinstance(a, torch.Tensor) else f"{a}" for a in arguments
    )


def _judge(exercise, arguments, answer):
    if isinstance(answer, Attention):
        return (
            "not yet. These are all the steps of the helper; take the one that is asked, "
            "such as .scores, .weights or .output."
        )
    if isinstance(answer, list | tuple) and any(isinstance(a, torch.Tensor) for a in answer):
        if len(answer) == 1:
            return "not yet. This is a list or tuple with one tensor; give the tensor itself."
        if any(a.ndim for a in answer if isinstance(a, torch.Tensor)):
            return (
                f"not yet. These are {len(answer)} tensors; give the one that is asked, or all in "
                "one by torch.stack."
            )
    try:
        given = as_tensor(answer)
    except (TypeError, ValueError, RuntimeError, OverflowError):
        return f"not yet. {exercise.form} is needed, but this {type(answer).__name__} is not one."
    if given.is_complex():
        return "not yet. These are complex numbers; real ones are needed, such as their .real."
    right = as_tensor(exercise.right(*arguments))
    if right.dtype == torch.bool and given.dtype != torch.bool:
        return f"not yet. True and False are needed, but these are numbers ({given.dtype})."
    answer, floats = given.double(), right.is_floating_point()
    right = right.double()
    if _same(answer, right):
        if exercise.inputs and floats and not given.is_floating_point():
            return f"not yet. The numbers are right, but they are {given.dtype}; make them floats."
        return "right."
    for mistake, wrong in exercise.mistakes.items():
        if _same(answer, as_tensor(wrong(*arguments)).double()):
            return f"not yet. {mistake}"
    if answer.shape != right.shape:
        if right.ndim == 0 and answer.numel() == 1:
            return "not yet. This is one number inside a list or tensor; give the number itself."
        return f"not yet. The shape is {tuple(answer.shape)}; {tuple(right.shape)} is needed."
    if answer.isnan().any():
        return (
            "not yet. There is a NaN, as 0 / 0, inf / inf and 0 times inf make it; so does a "
            "softmax over nothing but -inf."
        )
    if given.dtype in (torch.float16, torch.bfloat16) and _same(answer, right, tolerance=0.02):
        return f"not yet. You computed in {given.dtype}, which has few digits; take float32."
    for decimals in (2, 3):
        if _same(answer, right.round(decimals=decimals)):
            return f"not yet. It is right to {decimals} decimals; give at least four."
    return f"not yet. {exercise.otherwise(answer, right)}"


def _same(a, b, tolerance=TOLERANCE):
    return a.shape == b.shape and torch.allclose(a, b, rtol=0, atol=tolerance, equal_nan=True)
