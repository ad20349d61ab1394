"""The explorers of the track mouse."""

import ipywidgets as widgets
import torch

from attention_by_hand.attention import attention
from attention_by_hand.explorers.board import Explorer
from attention_by_hand.figures import Table

# mouse/01

# mouse/02

# mouse/03


def explore_learning(history, losses, examples):
    """Explore a training step by step: the loss, the weights of mouse and what it answers.

    history: step -> (W_Q, W_K, W_V, readout); readout (d_v, 2) turns the output of mouse into one
    number for animal and one for tech. losses: one number per step. examples: Sentences with mouse.
    Tables: the loss, a row of weights for each example, and the probabilities of the two answers.
    Returns an Explorer. Raises as attention() does, and ValueError when there is not one loss per
    step.
    """
    if len(losses) != len(history):
        raise ValueError(f"There are {len(history)} steps, but {len(losses)} losses.")
    loss_at = dict(zip(history, losses, strict=True))

    def tables(step):
        W_Q, W_K, W_V, readout = history[step]
        found = [Table("training", [[loss_at[step]]], [f"step {step}"], ["loss"], ("", ""))]
        answers = []
        for number, example in enumerate(examples):
            X, mouse = example.X.to(W_Q.dtype), example.tokens.index("mouse")
            result = attention(X @ W_Q, X @ W_K, X @ W_V)
            name = f"sentence {number}: weights"
            found.append(Table(name, result.weights[mouse : mouse + 1], ["mouse"], example.tokens))
            answers.append(torch.softmax(result.output[mouse] @ readout, dim=-1))
        numbers, senses = range(len(examples)), ["animal", "tech"]
        axes = ("sentence", "answer")
        return [*found, Table("probability", torch.stack(answers), numbers, senses, axes)]

    def says(tables):
        sure = [f"{cells[0]} in sentence {n}" for n, cells in enumerate(tables[-1].cells)]
        return f"The loss is {tables[0].cells[0][0]}. Probability of animal: {', '.join(sure)}."

    controls = {"step": widgets.SelectionSlider(options=list(history), description="step")}
    return Explorer("Learning, step by step", controls, tables, says)


# mouse/04
