"""Explorers: controls beside the numbers they change. Stored, each is a still picture and words."""

from attention_by_hand.explorers.bank import (
    explore_bank,
    explore_cache,
    explore_heads,
    explore_mask,
    explore_rotary,
    explore_scaling,
    explore_training,
)
from attention_by_hand.explorers.board import Explorer
from attention_by_hand.explorers.general import explore_attention, explore_softmax
from attention_by_hand.explorers.mouse import (
    explore_learning,
    explore_reach,
    explore_sentence,
    explore_values,
)
from attention_by_hand.explorers.progress import progress

__all__ = [
    "Explorer",
    "explore_attention",
    "explore_bank",
    "explore_cache",
    "explore_heads",
    "explore_learning",
    "explore_mask",
    "explore_reach",
    "explore_rotary",
    "explore_scaling",
    "explore_sentence",
    "explore_softmax",
    "explore_training",
    "explore_values",
    "progress",
]
