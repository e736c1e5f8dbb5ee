"""Names that tests of servers take from here."""

from __future__ import annotations

from memorata.store.samples import (
    DIMENSION,
    EMBEDDER,
    HERE,
    NOW,
    THERE,
    direction,
    entry,
    found_ids,
    query,
    words,
)

__all__ = [
    "DIMENSION",
    "EMBEDDER",
    "HERE",
    "NOW",
    "THERE",
    "direction",
    "entry",
    "found_ids",
    "query",
    "words",
]
