"""A transaction on a server as domain code sees it: SQL written for SQLite, translated.

:mod:`memorata.store.database` says which SQL that is. Texts, flags and bytes read the same as from a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from psycopg import Connection
from psycopg.abc import Buffer
from psycopg.adapt import Dumper
from psycopg.rows import TupleRow

from memorata.store.database import Rows, Statement
from memorata.store.postgres import texts
from memorata.store.postgres.dialect import DIALECT, namespace_key

_NAMESPACE: Final = "SELECT {} FROM namespaces WHERE number = ? AND path = ?"
_NAMED: Final = re.compile(r"\?(\d+)|(?<![:\w]):([a-z_]+)")
_PLACEHOLDER: Final = re.compile(r"\?")
_HIDDEN_COLUMN: Final = re.compile(r"(?<=[\s(])\+(?=(?:\w+\.)?namespace\b)")
_ARRAY: Final = re.compile(r"\bIN \(SELECT value FROM json_each\(((?:\?\d*)|(?::\w+))\)\)")
_IS_NOT: Final = re.compile(r"\bIS NOT (?=\?|:)")
_IS: Final = re.compile(r"\bIS (?=\?|:)")


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
    """A :class:`~memorata.store.database.Session` on one connection, inside a transaction.

    In a pipeline, statements whose rows nobody reads are sent on together with the next whose rows are read.

    Attributes
    ----------
    clock
        The server's time when the transaction began, in microseconds; 0 in one that only reads.
    drawn
        By namespace whose row is locked, the last number that was given out.
    """

    dialect: Final = DIALECT

    def __init__(self, connection: Connection[TupleRow], *, clock: int = 0, origin: str = "") -> None:
        self.connection = connection
        self.origin = origin
        self.clock = clock
        self.drawn: dict[int, int] = {}
        self._rows: dict[str, TupleRow | None] = {}

    def execute(self, sql: str, values: Any = (), /) -> Rows:  # noqa: ANN401 - as the port has it
        """Run one statement and return its rows."""
        text = translated(sql)
        if "namespaces" in text and not text.startswith("SELECT"):
            self._rows.clear()
        return self.connection.cursor(binary=True).execute(text, bound(text, values) or None)

    def executemany(self, sql: str, rows: Iterable[Any], /) -> None:
        """Run one statement for each of many values."""
        text = translated(sql)
        values = [bound(text, row) for row in rows]
        if values:
            self.connection.cursor(binary=True).executemany(text, values)

    def namespace(self, columns: str, path: str) -> TupleRow | None:
        """Return the row of a namespace, or None; it is read once as long as nothing is written to it."""
        if path not in self._rows:
            self._rows[path] = self.execute(
                _NAMESPACE.format(columns), (namespace_key(path), path)
            ).fetchone()
        return self._rows[path]

    def lock(self, paths: Iterable[str]) -> bool:
        """Keep others from writing to some namespaces until the transaction ends; tell whether all are there.

        In one order, so that two writers do not wait for each other.
        """
        statements: list[Statement] = [
            (f"{_NAMESPACE.format('number, drawn')} FOR NO KEY UPDATE", (namespace_key(path), path))
            for path in sorted(set(paths))
        ]
        found = [row for rows in self.pipelined(statements) for row in rows]
        for number, drawn in found:
            self.drawn.setdefault(number, drawn)
        return len(found) == len(statements)

    def blob(self, table: str, column: str, namespace: int, number: int) -> bytes:
        """Return the bytes of one column of one row."""
        sql = f"SELECT {column} FROM {table} WHERE namespace = ? AND number = ?"
        return bytes(self.execute(sql, (namespace, number)).fetchone()[0])

    def insert(self, table: str, columns: str, values: Sequence[Any], key: str = "number") -> int:
        """Add one row, the namespace first among its columns, and return the number it got."""
        number = self.number(values[0])
        marks = ", ".join("?" * (len(values) + 1))
        self.execute(f"INSERT INTO {table} ({key}, {columns}) VALUES ({marks})", (number, *values))
        return number

    def number(self, namespace: int) -> int:
        """Return the next number of a namespace, whose row this transaction locks.

        No less than the time, so that numbers of two namespaces tell which was first, and those of one that
        was purged are not given out again.
        """
        if namespace not in self.drawn:
            find = "SELECT drawn FROM namespaces WHERE number = ? FOR NO KEY UPDATE"
            (self.drawn[namespace],) = self.execute(find, (namespace,)).fetchone()
        number = self.drawn[namespace] = max(self.drawn[namespace] + 1, self.clock)
        return number

    def finish(self) -> None:
        """Write down which numbers were given out, before the transaction is committed."""
        for namespace, drawn in self.drawn.items():
            self.execute("UPDATE namespaces SET drawn = ? WHERE number = ?", (drawn, namespace))

    def pipelined(self, statements: Sequence[Statement]) -> list[list[Any]]:
        """Return the rows of several statements, asked for in one round trip."""
        with self.connection.pipeline():
            return [rows.fetchall() for rows in [self.execute(*statement) for statement in statements]]


class _Flag(Dumper):
    """Writes flags as the numbers that columns have."""

    def dump(self, obj: bool) -> Buffer | None:
        return b"1" if obj else b"0"


def register(connection: Connection[Any]) -> None:
    """Let a connection write texts and flags as columns have them."""
    texts.register(connection)
    connection.adapters.register_dumper(bool, _Flag)
