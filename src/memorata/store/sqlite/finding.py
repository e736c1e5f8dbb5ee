"""Finding a memory, its namespace and its record in the file, and changing the record.

Every function here runs inside a transaction that its caller opened.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from memorata.index.record import Records, unpacked
from memorata.model.errors import MemoryNotFound
from memorata.model.memory import Memory
from memorata.store.limits import NAMESPACES, checked_limit
from memorata.store.sqlite.connection import once
from memorata.store.sqlite.rows import SELECTED, SOURCE, memory
from memorata.store.sqlite.segments import Namespace

_ADD_CHANGE: Final = "INSERT INTO changes (namespace, slot, kind) VALUES (?, ?, ?)"
_NAMESPACE: Final = (
    "SELECT number, path, slots, flushed, change, generation, begun FROM namespaces WHERE path = ?"
)


def find_namespace(connection: sqlite3.Connection, path: str) -> Namespace | None:
    """Return a namespace, or None if nothing was ever written to it."""
    return once(connection, path, lambda: _read_namespace(connection, path))


def new_namespace(connection: sqlite3.Connection, path: str) -> Namespace:
    """Make a namespace that is not there yet."""
    begun = last_change(connection)
    number = connection.execute("INSERT INTO namespaces (path, begun) VALUES (?, ?)", (path, begun)).lastrowid
    assert number is not None  # an INSERT always has one
    checked_limit("namespaces", number, NAMESPACES)
    return Namespace(number, path, 0, 0, 0, 0, begun)


def find(connection: sqlite3.Connection, path: str, id_: str) -> tuple[Namespace, int, int, Memory]:
    """Return where a memory is and what it is, or raise."""
    namespace = find_namespace(connection, path)
    if namespace is not None:
        found = connection.execute(
            f"SELECT m.number, m.slot, {SELECTED} FROM {SOURCE} WHERE m.namespace = ? AND m.id = ?",
            (namespace.number, id_),
        ).fetchone()
        if found is not None:
            return namespace, found[0], found[1], memory(found[2:])
    raise MemoryNotFound(id_, path)


def record_of(connection: sqlite3.Connection, namespace: Namespace, slot: int) -> Records:
    """Return the record of a memory."""
    found = connection.execute(
        "SELECT record FROM records WHERE namespace = ? AND slot = ?", (namespace.number, slot)
    ).fetchone()
    return unpacked(found or [b""])


def put_record(
    connection: sqlite3.Connection, namespace: Namespace, slot: int, record: bytes, kind: str
) -> int:
    """Change the record of a memory, and return the number of the change."""
    connection.execute(
        "UPDATE records SET record = ? WHERE namespace = ? AND slot = ?", (record, namespace.number, slot)
    )
    change = add_change(connection, namespace, slot, kind)
    connection.execute("UPDATE namespaces SET change = ? WHERE number = ?", (change, namespace.number))
    return change


def add_change(connection: sqlite3.Connection, namespace: Namespace, slot: int, kind: str) -> int:
    """Note that something happened to a memory, and return the number of the change."""
    change = connection.execute(_ADD_CHANGE, (namespace.number, slot, kind)).lastrowid
    assert change is not None  # an INSERT always has one
    return change


def last_change(connection: sqlite3.Connection) -> int:
    """Return the number of the last change of all; 0 if there was none."""
    return int(connection.execute("SELECT coalesce(max(change), 0) FROM changes").fetchone()[0])


def _read_namespace(connection: sqlite3.Connection, path: str) -> Namespace | None:
    found = connection.execute(_NAMESPACE, (path,)).fetchone()
    return None if found is None else Namespace._make(found)
