"""Namespaces, and the memories, records and changes in them: how each is found and changed.

Every function here runs inside a transaction that its caller opened.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from memorata.index.record import Records, unpacked
from memorata.model.errors import MemoryNotFound
from memorata.model.memory import Memory
from memorata.store.database import Database, Session
from memorata.store.limits import NO_MEMORY
from memorata.store.rows import OWN, memory

NAMED: Final = "path NOT LIKE '(%'"
"""The condition that a row of the namespaces table is not what a purge left; no name has a parenthesis."""
_COLUMNS: Final = "number, path, slots, flushed, change, generation, begun, naming"


class Namespace(NamedTuple):
    """A row of the namespaces table."""

    number: int
    path: str
    slots: int
    flushed: int
    change: int
    generation: int
    begun: int = 0
    """A change before it came to be: what was known of its name until then was another's."""
    naming: int = 0
    """The last change of the names of its entities."""


EMPTY: Final = Namespace(0, "", 0, 0, 0, 0)
"""One that nothing was ever written to."""


def find_namespace(source: Session | Database, path: str) -> Namespace | None:
    """Return a namespace, or None if nothing was ever written to it."""
    row = source.namespace(_COLUMNS, path)
    return None if row is None else Namespace._make(row)


def new_namespace(session: Session, path: str) -> Namespace:
    """Return a namespace that is made, inside a write that names it."""
    session.dialect.make_namespace(session, path)
    found = find_namespace(session, path)
    assert found is not None  # it was just made
    return found


def made_namespace(session: Session, path: str) -> Namespace:
    """Return a namespace, which is made if it is not there yet, inside a write that names it."""
    found = find_namespace(session, path)
    return new_namespace(session, path) if found is None else found


def is_inhabited(session: Session, number: int) -> bool:
    """Return whether a namespace has any memory."""
    row = session.execute("SELECT 1 FROM memories WHERE namespace = ? LIMIT 1", (number,)).fetchone()
    return row is not None


def find(session: Session, path: str, id_: str) -> tuple[Namespace, int, int, Memory]:
    """Return where a memory is (its namespace, number and slot) and what it is, or raise."""
    namespace = find_namespace(session, path)
    if namespace is not None:
        row = session.execute(
            f"SELECT m.number, m.slot, {OWN}, NULL FROM memories m WHERE m.namespace = ? AND m.id = ?",
            (namespace.number, id_),
        ).fetchone()
        if row is not None:
            return namespace, row[0], row[1], memory(row[2:], path)
    raise MemoryNotFound(id_, path)


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


def record_of(session: Session, namespace: Namespace, slot: int) -> Records:
    """Return the record of a memory."""
    row = session.execute(
        "SELECT record FROM records WHERE namespace = ? AND slot = ?", (namespace.number, slot)
    ).fetchone()
    return unpacked(row or [b""])


def put_record(session: Session, namespace: Namespace, slot: int, record: bytes, kind: str) -> int:
    """Change the record of a memory, and return the number of the change."""
    session.execute(
        "UPDATE records SET record = ? WHERE namespace = ? AND slot = ?", (record, namespace.number, slot)
    )
    return log_change(session, namespace.number, kind, slot)


def log_change(
    session: Session,
    number: int,
    kind: str,
    slot: int = NO_MEMORY,
    *,
    naming: bool = False,
    slots: int | None = None,
) -> int:
    """Note in the feed and in the namespace that something happened, and return the number of the change.

    `naming` for a change of declared names, which is about no memory (`NO_MEMORY`); `slots` for how
    many the namespace has from now on.
    """
    change = session.insert("changes", "namespace, slot, kind", (number, slot, kind), "change")
    if naming:
        session.execute("UPDATE namespaces SET change = ?1, naming = ?1 WHERE number = ?2", (change, number))
    elif slots is not None:
        session.execute(
            "UPDATE namespaces SET slots = ?, change = ? WHERE number = ?", (slots, change, number)
        )
    else:
        session.execute("UPDATE namespaces SET change = ? WHERE number = ?", (change, number))
    return change


def last_change(session: Session, number: int) -> int:
    """Return the number of the last change of a namespace."""
    row = session.execute("SELECT change FROM namespaces WHERE number = ?", (number,)).fetchone()
    return 0 if row is None else int(row[0])
