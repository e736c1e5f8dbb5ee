"""Looking after the file itself: whether SQLite can read it, strays in it, and removing a whole namespace."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Final

from memorata.store.database import Session
from memorata.store.limits import NAMESPACES, SLOTS
from memorata.store.sqlite import addresses
from memorata.store.sqlite.kinds import remove_wrong_kinds, wrong_kinds

_DERIVED: Final = ("approximations", "records", "segments", "sessions", "vector_codes", "vectors")
"""Tables whose rows can be made again, or in the case of vectors be embedded again."""
_NOBODY: Final = SLOTS - 1
_KEPT: Final = frozenset({"namespaces"})


def problems(session: Session) -> list[str]:
    """Return what is wrong with the file, whatever its tables mean."""
    found = [f"the file: {text}" for (text,) in session.execute("PRAGMA integrity_check(20)") if text != "ok"]
    if found:
        # What cannot be found cannot be looked at either.
        return found
    found += [
        f"the file: row {row} of {table} refers to nothing in {parent}"
        for table, row, parent, _ in session.execute("PRAGMA foreign_key_check")
    ]
    return found + [f"the file: {text}" for text in wrong_kinds(session)]


def mend(session: Session) -> None:
    """Make the indexes of SQLite anew, and remove what stands in the way of what is derived.

    Of a file in which SQLite itself cannot find its way nothing is changed.
    """
    session.execute("SAVEPOINT mending")
    try:
        session.execute("REINDEX")
        _remove_strays(session)
    except sqlite3.DatabaseError:
        session.execute("ROLLBACK TO mending")
    session.execute("RELEASE mending")


def _remove_strays(session: Session) -> None:
    """Remove derived rows that belong to nothing or cannot be read; they can be written anew.

    If their namespace itself is what was lost they stay, for whoever brings that back.
    """
    (lost,) = session.execute(
        "SELECT count(*) FROM memories WHERE namespace NOT IN (SELECT number FROM namespaces)"
    ).fetchone()
    if lost:
        return
    remove_wrong_kinds(session, (*_DERIVED, "address_runs", "new_addresses"))
    for table in _DERIVED:
        session.execute(f"DELETE FROM {table} WHERE namespace NOT IN (SELECT number FROM namespaces)")
    session.execute(
        "DELETE FROM vectors WHERE embedder NOT IN (SELECT number FROM embedders) "
        "OR number <> (((embedder << 25) + namespace) << 31) + slot"
    )


def remove_strays(session: Session, number: int, embedders: Sequence[int]) -> None:
    """Remove vectors whose number says that they are of a namespace, and whose columns say another."""
    for embedder in embedders:
        first = (embedder * NAMESPACES + number) * SLOTS
        session.execute(
            "DELETE FROM vectors WHERE number >= ?1 AND number < ?2 AND (typeof(vectors) <> 'blob' "
            "OR namespace IS NOT ?3 OR embedder IS NOT ?4 OR slot IS NOT number - ?1)",
            (first, first + SLOTS, number, embedder),
        )


def drop_namespace(session: Session, number: int, path: str) -> None:
    """Remove every row of every table that is a namespace's own, and its name.

    Which tables those are is read from the schema: whatever carries a namespace belongs to one, so that a
    table that is added later is emptied without being named here. What stays is one row without a name, which
    keeps the number from being given out again, and one entry of the change feed, so that no change number is
    either: other processes that knew the namespace then see that it is gone, or that another has its name.
    """
    (last,) = session.execute("SELECT coalesce(max(change), 0) FROM changes").fetchone()
    # Rows refer to each other across tables; all of them are gone when the transaction ends.
    session.execute("PRAGMA defer_foreign_keys = ON")
    for table, by_name in owned_tables(session).items():
        # Never both: to SQLite, the name "7" is the number 7 where a column holds numbers.
        session.execute(f'DELETE FROM "{table}" WHERE namespace = ?', (path if by_name else number,))
    # After the rows: damaged addresses are made anew of those that there are.
    addresses.remove_namespace(session, number)
    change = last + 1
    session.execute(
        "INSERT INTO changes (change, namespace, slot, kind) VALUES (?, ?, ?, 'purge')",
        (change, number, _NOBODY),
    )
    session.execute(
        "UPDATE namespaces SET path = ?, slots = 0, flushed = 0, change = ?, generation = generation + 1, "
        "naming = 0, begun = ? WHERE number = ?",
        (f"(purged {number})", change, change, number),
    )


def owned_tables(session: Session) -> dict[str, bool]:
    """Return the tables whose rows belong to a namespace, and whether they know it by name, not by number."""
    tables = session.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").fetchall()
    return {
        table: column[2] == "TEXT"
        for (table,) in tables
        if table not in _KEPT
        for column in session.execute(f'PRAGMA table_info("{table}")')
        if column[1] == "namespace"
    }
