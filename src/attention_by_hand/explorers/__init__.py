"""Explorers: controls beside the numbers they change. Stored, each is a still picture and words."""

from attention_by_hand.explorers.bank import (
    explore_bank,
    explore_mask,
    explore_scaling,
    explore_training,
)
from attention_by_hand.explorers.board import Explorer
from attention_by_hand.explorers.general import explore_attention, explore_softmax
from attention_by_hand.explorers.progress import progress

__all__ = [
    "Explorer",
    "explore_attention",
    "explore_bank",
    "explore_mask",
    "explore_scaling",
    "explore_softmax",
    "explore_training",
    "progress",
]
