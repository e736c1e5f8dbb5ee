"""Recollect: the memory retrieval engine for AI agents.

The public names are few, and load when first used, so that ``import recollect`` costs next to nothing.
The ranking algorithms on their own are in :mod:`recollect.rank`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect._on_demand import on_demand
from recollect._version import __version__

if TYPE_CHECKING:
    from recollect.engine import Engine, Recall, Recipe, open
    from recollect.model import (
        Entity,
        Explanation,
        Feedback,
        Hit,
        Memory,
        Period,
        Place,
        Query,
        RecollectError,
        Relation,
    )

__getattr__, __dir__ = on_demand(
    __name__,
    {
        ".engine": ("Engine", "Recall", "Recipe", "open"),
        ".model": (
            "Entity",
            "Explanation",
            "Feedback",
            "Hit",
            "Memory",
            "Period",
            "Place",
            "Query",
            "RecollectError",
            "Relation",
        ),
    },
)

__all__ = [
    "Engine",
    "Entity",
    "Explanation",
    "Feedback",
    "Hit",
    "Memory",
    "Period",
    "Place",
    "Query",
    "Recall",
    "Recipe",
    "RecollectError",
    "Relation",
    "__version__",
    "open",
]
