"""A transaction on a server as domain code sees it: SQL written for SQLite, translated.

:mod:`memorata.store.database` says which SQL that is. Texts, flags and bytes read the same as from a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from psycopg import Connection, Cursor
from psycopg.abc import Buffer
from psycopg.adapt import Dumper
from psycopg.rows import TupleRow

from memorata.store.database import Rows, Statement
from memorata.store.postgres import texts
from memorata.store.postgres.dialect import DIALECT, namespace_key

FEED: Final = 0x52434C54_0001
"""The advisory lock that those who write share: who holds it alone knows that no change is on its way."""
CLOCK: Final = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
_READ: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITE: Final = "BEGIN ISOLATION LEVEL READ COMMITTED"
_BEGUN: Final = (
    f"SELECT pg_advisory_xact_lock_shared({FEED}), pg_current_xact_id()::text, "
    f"extract(epoch FROM now())::float8, {CLOCK}"
)
NAMESPACE: Final = "SELECT {} FROM namespaces WHERE number = ? AND path = ?"
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

    It is in a pipeline: statements whose rows nobody reads are sent on together with the next whose rows are
    read.

    Attributes
    ----------
    drawn
        By namespace whose row is locked, the last number that was given out.
    """

    dialect: Final = DIALECT

    def __init__(
        self, connection: Connection[TupleRow], *, is_writing: bool = False, origin: str = ""
    ) -> None:
        self.connection = connection
        self.origin = origin
        self.is_writing = is_writing
        self.is_committed = False
        self.drawn: dict[int, int] = {}
        self._before: dict[int, int] = {}
        self._last = 0
        self._rows: dict[str, TupleRow | None] = {}
        self._began: tuple[str, float, int] | None = None
        self.run(_WRITE if is_writing else _READ)
        self._beginning = self.raw(_BEGUN) if is_writing else None

    @property
    def begun(self) -> tuple[str, float]:
        """The number of the transaction, and when it began, in POSIX seconds."""
        if self._began is None:
            assert self._beginning is not None  # only who writes asks
            row = self._beginning.fetchone()
            assert row is not None  # a SELECT without a table gives one
            self._began = row[1:]
        return self._began[:2]

    @property
    def clock(self) -> int:
        """The server's time when the transaction began, in microseconds."""
        self.begun  # noqa: B018 - it is read once
        assert self._began is not None  # for the type checker
        return self._began[2]

    def run(self, *statements: str) -> None:
        """Run statements of PostgreSQL's own that have no rows."""
        for statement in statements:
            self.connection.execute(statement, prepare=False)

    def raw(self, sql: str, values: Sequence[Any] = ()) -> Cursor[TupleRow]:
        """Run one statement of PostgreSQL's own."""
        return self.connection.cursor(binary=True).execute(sql, values or None)

    def forget(self) -> None:
        """Forget what was read, and which rows are locked: a part of the transaction was undone."""
        self._rows.clear()
        self._before |= self.drawn
        self.drawn.clear()

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
        """Return the row of a namespace, or None; it is read once as long as nothing is written to it.

        Whoever writes locks it, so that what is decided by what is there stays true; one that is not there
        yet is locked by its number, for another writer may be about to make it.
        """
        if path not in self._rows:
            key = namespace_key(path)
            if not self.is_writing:
                self._rows[path] = self.execute(NAMESPACE.format(columns), (key, path)).fetchone()
                return self._rows[path]
            sql = f"{NAMESPACE.format(f'{columns}, drawn')} FOR NO KEY UPDATE"
            row = self.execute(sql, (key, path)).fetchone()
            if row is None:
                self.execute("SELECT pg_advisory_xact_lock(?)", (key,))
                row = self.execute(sql, (key, path)).fetchone()
            if row is not None:
                self.drawn.setdefault(key, max(row[-1], self._before.get(key, 0)))
            self._rows[path] = None if row is None else row[:-1]
        return self._rows[path]

    def lock(self, paths: Iterable[str]) -> bool:
        """Keep others from writing to some namespaces until the transaction ends; tell whether all are there.

        In one order, so that two writers do not wait for each other.
        """
        wanted = [path for path in sorted(set(paths)) if namespace_key(path) not in self.drawn]
        sql = f"{NAMESPACE.format('number, drawn')} FOR NO KEY UPDATE"
        found = [self.execute(sql, (namespace_key(path), path)) for path in wanted]
        rows = [row for rows in found for row in rows.fetchall()]
        for number, drawn in rows:
            self.drawn[number] = max(drawn, self._before.get(number, 0))
        return len(rows) == len(wanted)

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

    def insert_many(self, table: str, columns: str, rows: Sequence[Sequence[Any]]) -> None:
        """Add rows of one namespace, which is first among their columns; each gets the next number."""
        if rows:
            first = self.number(rows[0][0], len(rows))
            marks = ", ".join("?" * (len(rows[0]) + 1))
            self.executemany(
                f"INSERT INTO {table} (number, {columns}) VALUES ({marks})",
                [(number, *row) for number, row in enumerate(rows, first)],
            )

    def number(self, namespace: int, count: int = 1) -> int:
        """Return the next number of a namespace, the first of `count`; this transaction locks its row.

        No less than the time, so that numbers of two namespaces tell which was first, and those of one that
        was purged are not given out again.
        """
        if namespace not in self.drawn:
            find = "SELECT drawn FROM namespaces WHERE number = ? FOR NO KEY UPDATE"
            (drawn,) = self.execute(find, (namespace,)).fetchone()
            self.drawn[namespace] = max(drawn, self._before.get(namespace, 0))
        first = max(self._last + 1, self.drawn[namespace] + 1, self.clock)
        self._last = self.drawn[namespace] = first + count - 1
        return first

    def finish(self, *statements: str) -> None:
        """Write down which numbers were given out, run a few more statements, and commit."""
        for namespace, drawn in self.drawn.items():
            self.execute("UPDATE namespaces SET drawn = ? WHERE number = ?", (drawn, namespace))
        self.run(*statements, "COMMIT")
        with self.connection.pipeline() as pipeline:
            pipeline.sync()
        self.is_committed = True

    def pipelined(self, statements: Sequence[Statement]) -> list[list[Any]]:
        """Return the rows of several statements, asked for in one round trip."""
        return [rows.fetchall() for rows in [self.execute(*statement) for statement in statements]]


class _Flag(Dumper):
    """Writes flags as the numbers that columns have."""

    def dump(self, obj: bool) -> Buffer | None:
        return b"1" if obj else b"0"


def register(connection: Connection[Any]) -> None:
    """Let a connection write texts and flags as columns have them."""
    texts.register(connection)
    connection.adapters.register_dumper(bool, _Flag)
