"""Recollect: the memory retrieval engine for AI agents.

The public names are few, and load when first used, so that ``import recollect`` costs next to nothing.
The ranking algorithms on their own are in :mod:`recollect.rank`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from recollect._version import __version__

if TYPE_CHECKING:
    from recollect.model import (
        Candidate,
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

_HOMES = dict.fromkeys(("Candidate", "Entity", "Explanation", "Feedback", "Hit", "Memory", "Period", "Place", "Query", "RecollectError", "Relation"), "recollect.model")  # fmt: skip

__all__ = [
    "Candidate",
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
    "__version__",
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
