"""Memorata: the memory retrieval engine for AI agents.

The public names are few, and load when first used, so that ``import memorata`` costs next to nothing.
The ranking algorithms on their own are in :mod:`memorata.rank`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memorata._on_demand import on_demand

if TYPE_CHECKING:
    from memorata.engine import Config, Engine, RecallResult, Recipe, open
    from memorata.model import (
        Explanation,
        Feedback,
        Hit,
        MemorataError,
        Memory,
        Period,
        Place,
        Query,
        When,
    )

__version__ = "0.1.0.dev0"

__getattr__, __dir__ = on_demand(
    __name__,
    {
        ".engine": ("Config", "Engine", "RecallResult", "Recipe", "open"),
        ".model": (
            "Explanation",
            "Feedback",
            "Hit",
            "Memory",
            "Period",
            "Place",
            "MemorataError",
            "Query",
            "When",
        ),
    },
)

__all__ = [
    "Config",
    "Engine",
    "Explanation",
    "Feedback",
    "Hit",
    "MemorataError",
    "Memory",
    "Period",
    "Place",
    "Query",
    "RecallResult",
    "Recipe",
    "When",
    "__version__",
    "open",
]
