"""Removing a whole namespace: every row of every table that is its own, and its name.

Which tables those are is read from the schema: whatever carries a namespace belongs to one, so that a table
that is added later is emptied without being named here. What stays is one row without a name, which keeps the
number from being given out again, and one entry of the change feed, so that no change number is either: other
processes that knew the namespace then see that it is gone, or that another has its name.
"""

from __future__ import annotations

import sqlite3
from typing import Final

from memorata.store.namespace_rows import NO_MEMORY
from memorata.store.sqlite import addresses, segments
from memorata.store.sqlite.segments import Namespace

NAMED: Final = "path NOT LIKE '(%'"
"""The condition that a row of the namespaces table is not what a purge left; no name has a parenthesis."""
_KEPT: Final = frozenset({"namespaces"})


def empty(connection: sqlite3.Connection, namespace: Namespace) -> int:
    """Remove a namespace, inside a transaction, and return how many memories it had."""
    number = namespace.number
    (memories,) = connection.execute(
        "SELECT count(*) FROM memories WHERE namespace = ?", (number,)
    ).fetchone()
    (last,) = connection.execute("SELECT coalesce(max(change), 0) FROM changes").fetchone()
    # Rows refer to each other across tables; all of them are gone when the transaction ends.
    connection.execute("PRAGMA defer_foreign_keys = ON")
    segments.drop(connection, number)
    for table, by_name in owned_tables(connection).items():
        # Never both: to SQLite, the name "7" is the number 7 where a column holds numbers.
        whose = namespace.path if by_name else number
        connection.execute(f'DELETE FROM "{table}" WHERE namespace = ?', (whose,))
    # After the rows: damaged addresses are made anew of those that there are.
    addresses.remove_namespace(connection, number)
    change = connection.execute(
        "INSERT INTO changes (change, namespace, slot, kind) VALUES (?, ?, ?, 'purge')",
        (last + 1, number, NO_MEMORY),
    ).lastrowid
    connection.execute(
        "UPDATE namespaces SET path = ?, slots = 0, flushed = 0, change = ?, generation = generation + 1, "
        "naming = 0, begun = ? WHERE number = ?",
        (f"(purged {number})", change, change, number),
    )
    return int(memories)


def owned_tables(connection: sqlite3.Connection) -> dict[str, bool]:
    """Return the tables whose rows belong to a namespace, and whether they know it by name, not by number."""
    tables = connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
    ).fetchall()
    return {
        table: column[2] == "TEXT"
        for (table,) in tables
        if table not in _KEPT
        for column in connection.execute(f'PRAGMA table_info("{table}")')
        if column[1] == "namespace"
    }
