"""A transaction on a server as domain code sees it: SQL written for SQLite, translated.

:mod:`memorata.store.database` says which SQL that is. Texts, flags and bytes read the same as from a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from psycopg import Connection, Cursor
from psycopg.abc import Buffer
from psycopg.adapt import Dumper
from psycopg.rows import TupleRow

from memorata.store.database import Rows, Session, Statement
from memorata.store.limits import SLOTS
from memorata.store.postgres import texts

_NAMED: Final = re.compile(r"\?(\d+)|(?<![:\w]):([a-z_]+)")
_PLACEHOLDER: Final = re.compile(r"\?")
_HIDDEN_COLUMN: Final = re.compile(r"(?<=[\s(])\+(?=(?:\w+\.)?namespace\b)")
_ARRAY: Final = re.compile(r"\bIN \(SELECT value FROM json_each\(((?:\?\d*)|(?::\w+))\)\)")
_IS_NOT: Final = re.compile(r"\bIS NOT (?=\?|:)")
_IS: Final = re.compile(r"\bIS (?=\?|:)")


class PostgresDialect:
    """How PostgreSQL writes what differs: keys begin with the namespace, numbers are slots."""

    name: Final = "postgresql"
    skip_locked: Final = " FOR UPDATE SKIP LOCKED"

    def number(self, namespace: int, slot: int) -> int:
        """Return the number of a memory's row: its slot."""
        return slot

    def vectors_number(self, embedder: int, namespace: int, slot: int) -> int:
        """Return the number of the row with the vectors an embedder made of a memory."""
        return embedder * SLOTS + slot

    def array(self, values: Sequence[Any]) -> list[Any]:
        """Return many values as one."""
        return list(values)

    def lock(self, session: Session, first: str, second: str) -> None:
        """Make other writers that ask for the same two words wait until this transaction ends."""
        session.execute(
            "SELECT pg_advisory_xact_lock(hashtext(?), hashtext(?)) "
            "WHERE NOT current_setting('transaction_read_only')::boolean",
            (first, second),
        )

    def clock(self, session: Session, now: datetime) -> int:
        """Return the server's time in microseconds."""
        (time,) = session.execute(
            "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
        ).fetchone()
        return int(time)

    def tenant(self, session: Session) -> str:
        """Return the user whom row-level security holds back; empty for the owner of the tables."""
        (user,) = session.execute(
            "SELECT CASE WHEN row_security_active('namespaces') THEN session_user ELSE '' END"
        ).fetchone()
        return str(user)

    def checked_name(self, argument: str, name: str) -> str:
        """Return a name by which rows are found; raise if it is too long for an index."""
        return texts.checked_name(argument, name)


DIALECT: Final = PostgresDialect()


@lru_cache(maxsize=2048)
def translated(sql: str) -> str:
    """Return SQL that was written for SQLite as PostgreSQL and psycopg have it.

    Examples
    --------
    >>> translated("SELECT id FROM memories m WHERE +m.namespace = ? AND m.number = ? AND path LIKE '(%'")
    "SELECT id FROM memories m WHERE m.namespace = %s AND m.number = %s AND path LIKE '(%%'"
    >>> translated("SELECT 1 FROM names WHERE entity = ?1 OR id IN (SELECT value FROM json_each(?2))")
    'SELECT 1 FROM names WHERE entity = %(p1)s OR id = ANY (%(p2)s)'
    """
    sql = sql.replace("%", "%%")
    sql = _HIDDEN_COLUMN.sub("", sql)
    sql = _ARRAY.sub(r"= ANY (\1)", sql)
    sql = _IS_NOT.sub("IS DISTINCT FROM ", sql)
    sql = _IS.sub("IS NOT DISTINCT FROM ", sql)
    if _NAMED.search(sql):
        return _NAMED.sub(lambda found: f"%(p{found[1]})s" if found[1] else f"%({found[2]})s", sql)
    return _PLACEHOLDER.sub("%s", sql)


def bound(sql: str, values: Sequence[Any] | Mapping[str, Any]) -> Sequence[Any] | Mapping[str, Any]:
    """Return the values of a translated statement as psycopg takes them."""
    if isinstance(values, Mapping) or "%(p" not in sql:
        return values
    return {f"p{number}": value for number, value in enumerate(values, 1)}


class PostgresSession:
    """A :class:`~memorata.store.database.Session` on one connection, inside a transaction."""

    dialect: Final = DIALECT

    def __init__(self, connection: Connection[TupleRow]) -> None:
        self.connection = connection
        self.drawn: dict[int, int] = {}
        """By namespace, the last number that was given out in this transaction."""

    def execute(self, sql: str, values: Any = (), /) -> Rows:  # noqa: ANN401 - as the port has it
        """Run one statement and return its rows."""
        text = translated(sql)
        cursor = self.connection.cursor(binary=True)
        return cursor.execute(text, bound(text, values) or None)

    def executemany(self, sql: str, rows: Iterable[Any], /) -> None:
        """Run one statement for each of many values."""
        text = translated(sql)
        self.connection.cursor(binary=True).executemany(text, [bound(text, row) for row in rows])

    def insert(self, table: str, columns: str, values: Sequence[Any], key: str = "number") -> int:
        """Add one row, the namespace first among its columns, and return the number it got."""
        number = self.number(values[0])
        marks = ", ".join(["%s"] * (len(values) + 1))
        self.connection.cursor(binary=True).execute(
            f"INSERT INTO {table} ({key}, {columns}) VALUES ({marks})", (number, *values)
        )
        return number

    def number(self, namespace: int) -> int:
        """Return the next number of a namespace, whose row this transaction has locked."""
        number = self.drawn[namespace] = self.drawn[namespace] + 1
        return number

    def pipelined(self, statements: Sequence[Statement]) -> list[list[Any]]:
        """Return the rows of several statements, asked for in one round trip."""
        with self.connection.pipeline():
            cursors: list[Cursor[TupleRow]] = []
            for sql, values in statements:
                text = translated(sql)
                cursor = self.connection.cursor(binary=True)
                cursors.append(cursor.execute(text, bound(text, values) or None))
            return [cursor.fetchall() for cursor in cursors]


class _Flag(Dumper):
    """Writes flags as the numbers that columns have."""

    def dump(self, obj: bool) -> Buffer | None:
        return b"1" if obj else b"0"


def register(connection: Connection[Any]) -> None:
    """Let a connection write texts and flags as columns have them."""
    texts.register(connection)
    connection.adapters.register_dumper(bool, _Flag)
