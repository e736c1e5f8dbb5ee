"""Recollect: the memory retrieval engine for AI agents.

The public names are few, and load when first used, so that ``import recollect`` costs next to nothing.
The ranking algorithms on their own are in :mod:`recollect.rank`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

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

_ENGINE = "recollect.engine"
_MODEL = "recollect.model"
_HOMES = {
    "Engine": _ENGINE,
    "Recall": _ENGINE,
    "Recipe": _ENGINE,
    "open": _ENGINE,
    "Entity": _MODEL,
    "Explanation": _MODEL,
    "Feedback": _MODEL,
    "Hit": _MODEL,
    "Memory": _MODEL,
    "Period": _MODEL,
    "Place": _MODEL,
    "Query": _MODEL,
    "RecollectError": _MODEL,
    "Relation": _MODEL,
}

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


def __getattr__(name: str) -> object:
    """Load a public name from the package that defines it (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'recollect' has no attribute {name!r}; it has {', '.join(__all__)}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
