"""What stands in a column that was never written there: a text for a number, bytes that are no UTF-8.

SQLite keeps any kind of value in any column, and does not look into its texts, so its own check of a file
calls such a value sound. It is what a flipped bit or a bad sector makes of a row, and reading it ends in an
error about anything but the row.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any, Final, cast

from memorata.store.database import Session
from memorata.store.rows import COLUMNS

_KINDS: Final = {"INTEGER": "a whole number", "REAL": "a number", "TEXT": "a text", "BLOB": "bytes"}
_BY_ROW: Final = {"memories": frozenset(COLUMNS)}
"""Columns that are read, and complained about, with the row they stand in."""


def wrong_kinds(session: Session) -> Iterator[str]:
    """Yield what is wrong with columns that hold a value of another kind than theirs, in words.

    Examples
    --------
    >>> session = sqlite3.connect(":memory:")
    >>> _ = session.execute("CREATE TABLE cups (number INTEGER NOT NULL, name TEXT)")
    >>> _ = session.execute("INSERT INTO cups VALUES ('six', 'blue'), (7, NULL)")
    >>> list(wrong_kinds(session))
    ['the number of 1 rows of cups is not a whole number']
    """
    for table in _tables(session):
        conditions = _conditions(session, table)
        if not conditions:
            continue
        counts = ", ".join(f"count(*) FILTER (WHERE {wrong})" for wrong, _ in conditions.values())
        found = session.execute(f'SELECT {counts} FROM "{table}"').fetchone()
        for (column, (_, kind)), count in zip(conditions.items(), found, strict=True):
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
                raw = [(each,) for each in _undecodable(session, table, column)]
                session.executemany(f'DELETE FROM "{table}" WHERE CAST("{column}" AS BLOB) = ?', raw)


@contextmanager
def undecoded(session: Session) -> Iterator[None]:
    """Read a text that is no UTF-8 as its bytes, instead of failing at it."""
    connection = cast(Any, session)
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
    found = {}
    for _, name, kind, needed, _, key in session.execute(f'PRAGMA table_info("{table}")').fetchall():
        if kind not in _KINDS or name in _BY_ROW.get(table, ()):
            continue
        wrong = f"typeof(\"{name}\") <> '{kind.lower()}'"
        if not needed and not key:
            wrong = f'("{name}" IS NOT NULL AND {wrong})'
        found[name] = wrong, _KINDS[kind]
    return found


def _undecodable(session: Session, table: str, column: str) -> list[bytes]:
    """Return what stands in a column as a text and is none, as bytes."""
    rows = session.execute(
        f'SELECT CAST("{column}" AS BLOB) FROM "{table}" WHERE typeof("{column}") = \'text\''
    )
    return [raw for (raw,) in rows if isinstance(_read(raw), bytes)]


def _read(raw: bytes) -> str | bytes:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw
