"""Attention by hand: the helper that draws, checks and explains. The lessons are in notebooks/."""

from attention_by_hand.attention import attention, causal_mask, padding_mask
from attention_by_hand.examples import sentence
from attention_by_hand.exercises import check
from attention_by_hand.explorers import explore_attention, explore_softmax
from attention_by_hand.figures import curve, flow, heatmap, pipeline, vectors

__all__ = [
    "attention",
    "causal_mask",
    "check",
    "curve",
    "explore_attention",
    "explore_softmax",
    "flow",
    "heatmap",
    "padding_mask",
    "pipeline",
    "sentence",
    "vectors",
]
