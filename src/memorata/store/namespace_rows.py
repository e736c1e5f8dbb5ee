"""Rows of namespaces as the subjects beside memories need them; inside a transaction of the caller's."""

from __future__ import annotations

from typing import Final, NamedTuple

from memorata.store.database import Session
from memorata.store.limits import NAMESPACES, SLOTS, checked_limit

NO_MEMORY: Final = SLOTS - 1
"""The slot of a change that is about no memory; no memory ever gets it."""
_FIND: Final = "SELECT number, path, slots, change, begun FROM namespaces WHERE path = ?"


class Namespace(NamedTuple):
    """A row of the namespaces table."""

    number: int
    path: str
    slots: int
    change: int
    begun: int
    """A change before it came to be: what was known of its name until then was another's."""


def find_namespace(session: Session, path: str) -> Namespace | None:
    """Return a namespace, or None if nothing was ever written to it."""
    row = session.execute(_FIND, (path,)).fetchone()
    return None if row is None else Namespace._make(row)


def made_namespace(session: Session, path: str) -> Namespace:
    """Return a namespace, which is made if it is not there yet, inside a write that names it."""
    found = find_namespace(session, path)
    if found is not None:
        return found
    if session.dialect.name == "sqlite":
        (begun,) = session.execute("SELECT coalesce(max(change), 0) FROM changes").fetchone()
        number = session.insert("namespaces", "path, begun", (path, begun))
        checked_limit("namespaces", number, NAMESPACES)
        return Namespace(number, path, 0, 0, begun)
    # Not once: whoever makes it at the same moment may also remove it at the next.
    while True:
        session.execute(
            "INSERT INTO namespaces (path, begun) SELECT ?, "
            "CASE WHEN is_called THEN last_value ELSE 0 END FROM change_numbers ON CONFLICT DO NOTHING",
            (path,),
        )
        row = session.execute(f"{_FIND} FOR NO KEY UPDATE", (path,)).fetchone()
        if row is not None:
            return Namespace._make(row)


def log_change(session: Session, number: int, kind: str, *, naming: bool = False) -> int:
    """Write a change that is about no memory into the feed, and return its number."""
    if session.dialect.name == "sqlite":
        change = session.insert("changes", "namespace, slot, kind", (number, NO_MEMORY, kind), "change")
    else:
        (change,) = session.execute(
            "INSERT INTO changes (namespace, change, slot, kind) VALUES (?, nextval('change_numbers'), ?, ?) "
            "RETURNING change",
            (number, NO_MEMORY, kind),
        ).fetchone()
    names = ", naming = ?1" if naming else ""
    session.execute(f"UPDATE namespaces SET change = ?1{names} WHERE number = ?2", (change, number))
    return int(change)
