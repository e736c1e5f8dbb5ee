"""Ids and slots of memories as the subjects beside them need them; inside a transaction of the caller's."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable

from memorata.store.database import Session


def ids_at(session: Session, number: int, slots: Iterable[int]) -> dict[int, str]:
    """Return the ids of the memories of a namespace by slot; slots without one are left out."""
    numbers = [session.dialect.number(number, slot) for slot in sorted(set(slots))]
    if not numbers:
        return {}
    rows = session.execute(
        "SELECT slot, id FROM memories WHERE +namespace = ? AND number IN (SELECT value FROM json_each(?))",
        (number, session.dialect.array(numbers)),
    )
    return dict(rows.fetchall())


def slots_of(session: Session, number: int, ids: Collection[str]) -> dict[str, int]:
    """Return the slots of the memories of a namespace by id; those that are not there are left out."""
    if not ids:
        return {}
    rows = session.execute(
        "SELECT id, slot FROM memories WHERE namespace = ? AND id IN (SELECT value FROM json_each(?))",
        (number, session.dialect.array(list(ids))),
    )
    return dict(rows.fetchall())


def is_inhabited(session: Session, number: int) -> bool:
    """Return whether a namespace has any memory."""
    row = session.execute("SELECT 1 FROM memories WHERE namespace = ? LIMIT 1", (number,)).fetchone()
    return row is not None


def read_list(value: str | list[str]) -> list[str]:
    """Return a column of a memory that holds a list of texts."""
    return list(json.loads(value)) if isinstance(value, str) else value
