"""The functions that compiled conditions call where SQLite's own are not exact.

:mod:`memorata.store.sqlite.conditions` says where that is. Every connection has them from the start; what
reads a filter is loaded when the first one is asked for.
"""

from __future__ import annotations

import json
import sqlite3
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memorata.store.filter_tree import Filter


def register(connection: sqlite3.Connection) -> None:
    """Add the functions that compiled conditions call.

    Examples
    --------
    >>> connection = sqlite3.connect(":memory:")
    >>> register(connection)
    >>> connection.execute("SELECT memorata_contains('GRÜNER TEE', 'grüner')").fetchone()
    (1,)
    """
    connection.create_function("memorata_contains", 2, _contains, deterministic=True)
    connection.create_function("memorata_has", 2, _has_exactly, deterministic=True)
    connection.create_function("memorata_metadata", 2, _metadata_holds, deterministic=True)


def _contains(text: str, folded: str) -> bool:
    return folded in text.casefold()


def _has_exactly(texts: str, value: str) -> bool:
    return value in json.loads(texts)


def _metadata_holds(metadata: str, written: str) -> bool:
    from memorata.store.filter_tree import holds, value_at

    known = json.loads(metadata)
    return holds(_read(written), lambda field: value_at(known, field.keys))


@lru_cache(maxsize=256)
def _read(written: str) -> Filter:
    from memorata.store.filters import parse

    return parse(json.loads(written))
