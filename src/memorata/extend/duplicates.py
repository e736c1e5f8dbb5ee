"""Repeats and contradictions as the search for them returns them."""

from memorata.dedupe.decisions import STRATEGIES
from memorata.engine.duplicate_search import DuplicateGroup, FoundDuplicates
from memorata.store.memory.repeats import Contradiction, Repeat, Run

__all__ = [
    "STRATEGIES",
    "Contradiction",
    "DuplicateGroup",
    "FoundDuplicates",
    "Repeat",
    "Run",
]
