"""The integrity of a file: whether SQLite can read it, strays in it, and removing a whole namespace."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, cast

from memorata.store.database import Session
from memorata.store.rows import COLUMNS, NAMESPACES, NO_MEMORY, SLOTS
from memorata.store.sqlite.encryption import database_errors
from memorata.store.sqlite.schema import state_checksum

_DERIVED: Final = ("records", "segments", "sessions", "vector_codes", "vectors")
"""Tables whose rows can be made again, or in the case of vectors be embedded again."""
_NOT_OWNED: Final = frozenset({"namespaces"})
_WRONG_ROWS: Final = {
    "the checksum does not match the state": f"state_checksum <> {state_checksum()}",
    "the embedder is not known": "embedder <> '' AND embedder NOT IN (SELECT name FROM embedders)",
}


def problems(session: Session) -> list[str]:
    """Return what is wrong with the file, whatever its tables mean."""
    checked = session.execute("PRAGMA integrity_check(20)")
    messages = [f"the file: {text}" for (text,) in checked if text != "ok"]
    if messages:
        # The tables of a file that fails this check cannot be read reliably.
        return messages
    messages += [
        f"the file: row {row} of {table} refers to nothing in {parent}"
        for table, row, parent, _ in session.execute("PRAGMA foreign_key_check")
    ]
    return messages + [f"the file: {text}" for text in wrong_kinds(session)]


def row_problems(session: Session, number: int) -> list[str]:
    """Return what is wrong with the columns of memories that change one by one."""
    messages = []
    for wrong, condition in _WRONG_ROWS.items():
        find = f"SELECT count(*) FROM memories WHERE namespace = ? AND {condition}"
        if count := session.execute(find, (number,)).fetchone()[0]:
            messages.append(f"{wrong} of {count} memories; restore a backup")
    return messages


def mend(session: Session) -> None:
    """Make the indexes of SQLite anew, and remove what stands in the way of what is derived.

    Of a file in which SQLite itself cannot find its way nothing is changed.
    """
    session.execute("SAVEPOINT mending")
    try:
        session.execute("REINDEX")
        _remove_strays(session)
    except database_errors():
        session.execute("ROLLBACK TO mending")
    session.execute("RELEASE mending")


def _remove_strays(session: Session) -> None:
    """Remove derived rows that belong to nothing or cannot be read; they can be written anew.

    If the row of a namespace is lost they stay, so that restoring it is enough.
    """
    (lost,) = session.execute(
        "SELECT count(*) FROM memories WHERE namespace NOT IN (SELECT number FROM namespaces)"
    ).fetchone()
    if lost:
        return
    remove_wrong_kinds(session, _DERIVED)
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

    Which tables these are is read from the schema: a table with a column `namespace` belongs to one, so that
    a table that is added later is emptied without being named here. What stays is one row without a name,
    which keeps the number from being used again, and one entry of the change feed, which does the same for
    change numbers: other processes that have cached the namespace see that it is gone, or that another has
    its name.
    """
    (last,) = session.execute("SELECT coalesce(max(change), 0) FROM changes").fetchone()
    # Rows refer to each other across tables; all of them are gone when the transaction ends.
    session.execute("PRAGMA defer_foreign_keys = ON")
    for table, by_name in owned_tables(session).items():
        # Never both: to SQLite, the name "7" is the number 7 where a column holds numbers.
        session.execute(f'DELETE FROM "{table}" WHERE namespace = ?', (path if by_name else number,))
    change = last + 1
    session.execute(
        "INSERT INTO changes (change, namespace, slot, kind) VALUES (?, ?, ?, 'purge')",
        (change, number, NO_MEMORY),
    )
    session.execute(
        "UPDATE namespaces SET path = ?, slots = 0, flushed = 0, change = ?, generation = generation + 1, "
        "naming = 0, begun = ? WHERE number = ?",
        (f"(purged {number})", change, change, number),
    )


def owned_tables(session: Session) -> dict[str, bool]:
    """Return the tables whose rows belong to a namespace, and whether they hold its name, not its number."""
    tables = session.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").fetchall()
    return {
        table: column[2] == "TEXT"
        for (table,) in tables
        if table not in _NOT_OWNED
        for column in session.execute(f'PRAGMA table_info("{table}")')
        if column[1] == "namespace"
    }


_KINDS: Final = {"INTEGER": "a whole number", "REAL": "a number", "TEXT": "a text", "BLOB": "bytes"}
_BY_ROW: Final = {"memories": frozenset(COLUMNS)}
"""Columns that are checked with their row, and not here."""


def wrong_kinds(session: Session) -> Iterator[str]:
    """Yield what is wrong with columns that hold a value of another kind than theirs, in words.

    SQLite keeps any kind of value in any column, and does not look into its texts, so its own check of a file
    calls such a value sound. It is what a flipped bit or a bad sector makes of a row, and reading it ends in
    an error about anything but the row.
    """
    for table in _tables(session):
        conditions = _conditions(session, table)
        if not conditions:
            continue
        counts = ", ".join(f"count(*) FILTER (WHERE {wrong})" for wrong, _ in conditions.values())
        row = session.execute(f'SELECT {counts} FROM "{table}"').fetchone()
        for (column, (_, kind)), count in zip(conditions.items(), row, strict=True):
            if kind == _KINDS["TEXT"]:
                count += len(_undecodable(session, table, column))
            if count:
                yield f"the {column} of {count} rows of {table} is not {kind}"


def remove_wrong_kinds(session: Session, tables: Collection[str]) -> None:
    """Remove the rows of some tables in which a value is of another kind than its column."""
    for table in sorted(tables):
        for column, (wrong, kind) in _conditions(session, table).items():
            session.execute(f'DELETE FROM "{table}" WHERE {wrong}')
            if kind == _KINDS["TEXT"]:
                raw = [(text,) for text in _undecodable(session, table, column)]
                session.executemany(f'DELETE FROM "{table}" WHERE CAST("{column}" AS BLOB) = ?', raw)


@contextmanager
def undecoded(session: Session) -> Iterator[None]:
    """Read a text that is no UTF-8 as its bytes, instead of failing at it."""
    connection = cast("Any", session)
    before = connection.text_factory
    connection.text_factory = _read
    try:
        yield
    finally:
        connection.text_factory = before


def _tables(session: Session) -> list[str]:
    rows = session.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
    )
    return [name for (name,) in rows]


def _conditions(session: Session, table: str) -> dict[str, tuple[str, str]]:
    """Return by column when its value is of the wrong kind, as SQL, and which kind would be right."""
    conditions = {}
    for _, name, kind, needed, _, key in session.execute(f'PRAGMA table_info("{table}")').fetchall():
        if kind not in _KINDS or name in _BY_ROW.get(table, ()):
            continue
        wrong = f"typeof(\"{name}\") <> '{kind.lower()}'"
        if not needed and not key:
            wrong = f'("{name}" IS NOT NULL AND {wrong})'
        conditions[name] = wrong, _KINDS[kind]
    return conditions


def _undecodable(session: Session, table: str, column: str) -> list[bytes]:
    """Return the texts of a column that are no UTF-8, as bytes."""
    rows = session.execute(
        f'SELECT CAST("{column}" AS BLOB) FROM "{table}" WHERE typeof("{column}") = \'text\''
    )
    return [raw for (raw,) in rows if isinstance(_read(raw), bytes)]


def _read(raw: bytes) -> str | bytes:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


UNFINISHED_PURGE: Final = "unfinished_purge"


def note_unfinished_purge(session: Session) -> None:
    """Note that something was removed whose traces are still to be erased, inside its transaction.

    The note is the number of the last change, so that an erasure does not remove the note of a later purge.
    """
    session.execute(
        "INSERT INTO settings (name, value) SELECT ?, max(change) FROM changes WHERE true "
        "ON CONFLICT DO UPDATE SET value = excluded.value",
        (UNFINISHED_PURGE,),
    )


def unfinished_purge(session: Session) -> str | None:
    """Return the note that traces of something purged may still be in the file; None if there are none."""
    row = session.execute("SELECT value FROM settings WHERE name = ?", (UNFINISHED_PURGE,)).fetchone()
    return None if row is None else str(row[0])
