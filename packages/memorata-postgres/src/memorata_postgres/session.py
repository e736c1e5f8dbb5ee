"""Sessions on a server: they translate SQL written for SQLite.

One is a transaction; it leaves a note by which its commit can be verified. The other only reads, without a
transaction, as long as the row of the namespace is unchanged.

:mod:`memorata.store.database` says which SQL that is. Texts, flags and bytes read the same as from a file.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from functools import lru_cache
from typing import Any, Final, NoReturn, TypeAlias

import psycopg
from psycopg import Connection, Cursor
from psycopg.rows import TupleRow

from memorata.extend import frozen
from memorata.extend.errors import StoreError
from memorata.extend.stores import NAMESPACE_COLUMNS, Rows, Statement
from memorata_postgres.dialect import DIALECT, USER_KEY, namespace_key
from memorata_postgres.errors import RowOutdated, ViewMoved

CLOCK: Final = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
"""The server's time in microseconds."""
_READ: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITE: Final = "BEGIN ISOLATION LEVEL READ COMMITTED"
_BEGUN: Final = f"SELECT pg_current_xact_id()::text, {CLOCK}"
_NAMESPACE: Final = "SELECT {} FROM namespaces WHERE number = ? AND path = ?"
_ROW: Final = _NAMESPACE.format(NAMESPACE_COLUMNS)
_LOCKED_ROW: Final = f"{_NAMESPACE.format(f'{NAMESPACE_COLUMNS}, drawn')} FOR NO KEY UPDATE"
_NAMED: Final = re.compile(r"\?(\d+)|(?<![:\w]):([a-z_]+)")
_PLACEHOLDER: Final = re.compile(r"\?")
_HIDDEN_COLUMN: Final = re.compile(r"(?<=[\s(])\+(?=(?:\w+\.)?namespace\b)")
_ARRAY: Final = re.compile(r"\bIN \(SELECT value FROM json_each\(((?:\?\d*)|(?::\w+))\)\)")
_IS_NOT: Final = re.compile(r"\bIS NOT (?=\?|:)")
_IS: Final = re.compile(r"\bIS (?=\?|:)")
_SETTINGS: Final = NAMESPACE_COLUMNS.split(", ").index("begun")
_MAX_KNOWN: Final = 10_000
"""Of how many namespaces the last row is kept."""
EVIDENCE_SECONDS: Final = 3_600
"""For how long the note of a write is kept."""
_FORGET_EVERY: Final = 32
"""One of so many writes removes notes that are older."""


@lru_cache(maxsize=2048)
def translated(sql: str) -> str:
    """Return SQL that was written for SQLite as PostgreSQL and psycopg have it.

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
        return _NAMED.sub(lambda match: f"%(p{match[1]})s" if match[1] else f"%({match[2]})s", sql)
    return _PLACEHOLDER.sub("%s", sql)


def bound(sql: str, values: Sequence[Any] | Mapping[str, Any]) -> Sequence[Any] | Mapping[str, Any]:
    """Return the values of a translated statement as psycopg takes them."""
    if isinstance(values, Mapping) or "%(p" not in sql:
        return values
    return {f"p{number}": value for number, value in enumerate(values, 1)}


def send(connection: Connection[TupleRow], statement: Statement) -> Cursor[TupleRow]:
    """Send one statement; its rows are read later."""
    text = translated(statement[0])
    return connection.cursor(binary=True).execute(text, bound(text, statement[1]) or None)


def asked(connection: Connection[TupleRow], *statements: Statement) -> list[list[Any]]:
    """Return the rows of statements, read in one round trip."""
    with connection.pipeline():
        sent = [send(connection, statement) for statement in statements]
    return [cursor.fetchall() for cursor in sent]


def row_of(path: str, sql: str = _ROW) -> Statement:
    """Return the statement that reads the row of a namespace."""
    return sql, (namespace_key(path), path)


class PostgresSession:
    """A :class:`~memorata.store.database.Session` on one connection, inside a transaction that it begins.

    It is in a pipeline, which `end` ends: statements without rows to read are sent together with the next
    whose rows are read. `origin` is the copy of the database that is read; `drawn` has, by namespace whose
    row is locked, the last number that was drawn, and `paths` the namespaces whose rows were asked for.
    """

    dialect: Final = DIALECT

    def __init__(
        self,
        connection: Connection[TupleRow],
        end: Callable[[], None],
        *,
        is_writing: bool = False,
        origin: str = "",
    ) -> None:
        self.connection = connection
        self.origin = origin
        self.is_writing = is_writing
        self.is_committed = False
        self.drawn: dict[int, int] = {}
        self.paths: set[str] = set()
        self._end = end
        self._before: dict[int, int] = {}
        self._last = 0
        self._rows: dict[str, TupleRow | Cursor[TupleRow] | None] = {}
        self._expected: list[tuple[str, object, Cursor[TupleRow]]] = []
        self._began: TupleRow | None = None
        self._clocks: list[Cursor[TupleRow]] = []
        self._clock = 0
        self.run(_WRITE if is_writing else _READ)
        self._beginning = self.raw(_BEGUN) if is_writing else None

    @property
    def begun(self) -> tuple[str, int]:
        """The number of the transaction, and when it began, in microseconds."""
        if self._began is None:
            assert self._beginning is not None  # only read of writing sessions
            self._began = self._beginning.fetchone()
            assert self._began is not None  # a SELECT without a table gives one
        return self._began[0], self._began[1]

    @property
    def clock(self) -> int:
        """The server's time, in microseconds, after the last row of a namespace was locked."""
        while self._clocks:
            row = self._clocks.pop().fetchone()
            assert row is not None  # a SELECT without a table gives one
            self._clock = max(self._clock, row[0])
        return max(self._clock, self.begun[1])

    def run(self, *statements: str) -> None:
        """Run statements of PostgreSQL's own that have no rows."""
        for statement in statements:
            self.connection.execute(statement, prepare=False)

    def raw(self, sql: str, values: Sequence[Any] = ()) -> Cursor[TupleRow]:
        """Run one statement of PostgreSQL's own."""
        return self.connection.cursor(binary=True).execute(sql, values or None)

    def forget(self) -> None:
        """Clear the cached rows and locks: a part of the transaction was undone."""
        self._rows.clear()
        self._expected.clear()
        self._before |= self.drawn
        self.drawn.clear()

    def undo_part(self) -> None:
        """Go back to the last savepoint."""
        self.run("ROLLBACK TO SAVEPOINT part", "RELEASE SAVEPOINT part")
        self.forget()

    def recover(self) -> None:
        """Go back to the last savepoint after a statement failed; what was sent behind it was not done."""
        with suppress(psycopg.Error), self.connection.pipeline() as pipeline:
            pipeline.sync()
        self.undo_part()

    def execute(self, sql: str, values: Any = (), /) -> Rows:  # noqa: ANN401 - as the port has it
        """Run one statement and return its rows."""
        text = translated(sql)
        if not text.startswith("SELECT"):
            self._expected.clear()
            if "namespaces" in text:
                self._rows.clear()
        for place, (sent, parameters, rows) in enumerate(self._expected):
            if sent == text and parameters == values:
                del self._expected[place]
                return rows
        return self.connection.cursor(binary=True).execute(text, bound(text, values) or None)

    def executemany(self, sql: str, rows: Iterable[Any], /) -> None:
        """Run one statement for each of many values."""
        text = translated(sql)
        self._expected.clear()
        values = [bound(text, row) for row in rows]
        if values:
            self.connection.cursor(binary=True).executemany(text, values)

    def namespace(self, path: str, ahead: Sequence[Statement] = ()) -> TupleRow | None:
        """Return the row of a namespace, or None; it is read once as long as nothing is written to it.

        A writing session locks it, so that decisions that rest on it stay right. One that does not exist yet
        may be made by another writer meanwhile, which `make_namespace` detects.
        """
        self.lock([path])
        sent = [(text, values) for text, values, _ in self._expected]
        for sql, values in ahead:
            if (translated(sql), values) not in sent:
                self._expected.append((translated(sql), values, send(self.connection, (sql, values))))
        row = self._rows[path]
        if isinstance(row, Cursor):
            read = row.fetchone()
            if read is not None and self.is_writing:
                key = namespace_key(path)
                self.drawn.setdefault(key, max(read[-1], self._before.get(key, 0)))
                read = read[:-1]
            row = self._rows[path] = read
        return row

    def lock(self, paths: Iterable[str]) -> None:
        """Send queries for the rows of some namespaces; a writing session locks them until the end.

        In one order, so that two writers do not wait for each other. The clock is read after that. The rows
        are fetched when they, or numbers of the namespaces, are needed.
        """
        for path in sorted(set(paths) - self._rows.keys()):
            self.paths.add(path)
            if self.is_writing:
                self._rows[path] = send(self.connection, row_of(path, _LOCKED_ROW))
                self._clocks.append(self.raw(f"SELECT {CLOCK}"))
            else:
                self._rows[path] = send(self.connection, row_of(path))

    def insert(self, table: str, columns: str, *rows: Sequence[Any], key: str = "number") -> int:
        """Add rows of one namespace, which is first among their columns; return the last number drawn."""
        first = self.number(rows[0][0], len(rows))
        sql = f"INSERT INTO {table} ({key}, {columns}) VALUES ({', '.join('?' * (len(rows[0]) + 1))})"
        if len(rows) == 1:
            self.execute(sql, (first, *rows[0]))
        else:
            self.executemany(sql, [(number, *row) for number, row in enumerate(rows, first)])
        return first + len(rows) - 1

    def number(self, namespace: int, count: int = 1) -> int:
        """Return the next number of a namespace, the first of `count`; this transaction locks its row.

        No less than the time, so that numbers of two namespaces show which was first, and numbers of one that
        was purged are not used again. The clock is read after the row was locked: once all transactions that
        hold such locks have ended, no number before that moment is drawn any more.
        """
        if namespace not in self.drawn:
            find = "SELECT drawn FROM namespaces WHERE number = ? FOR NO KEY UPDATE"
            (drawn,) = self.execute(find, (namespace,)).fetchone()
            self._clocks.append(self.raw(f"SELECT {CLOCK}"))
            self.drawn[namespace] = max(drawn, self._before.get(namespace, 0))
        first = max(self._last + 1, self.drawn[namespace] + 1, self.clock)
        self._last = self.drawn[namespace] = first + count - 1
        return first

    def evidence(self) -> Evidence:
        """Return the note by which the commit of this transaction can be verified."""
        return Evidence(*self.begun, min(self.drawn, default=None))

    def finish(self, note: Evidence) -> None:
        """Write the last numbers drawn and the note, and commit."""
        for namespace, drawn in self.drawn.items():
            self.execute("UPDATE namespaces SET drawn = ? WHERE number = ?", (drawn, namespace))
        for statement in note.written():
            self.execute(*statement)
        committed = self.connection.execute("COMMIT", prepare=False)
        self._end()
        if committed.statusmessage != "COMMIT":
            raise StoreError("a statement before failed, so nothing of this was written; write it again")
        self.is_committed = True


KnownRows: TypeAlias = dict[str, tuple[TupleRow, bool]]
"""By namespace, its row as this process last read it, and whether it was the same as the time before."""


class Snapshot:
    """What reads without a transaction are checked against, and what was read ahead.

    - `rows`: of namespaces; those `assumed` are as last read (`known`), and not read again yet.
    - `expected`: statements with the rows that were read ahead; `awaited`: those to be sent with the first of
      them that is executed.
    """

    def __init__(self, known: KnownRows | None = None) -> None:
        self.known = known
        self.rows: dict[str, TupleRow | None] = {}
        self.assumed: set[str] = set()
        self.expected: list[tuple[Statement, list[Any]]] = []
        self.awaited: list[Statement] = []

    def drop(self) -> None:
        """Forget everything that was read, and assume nothing from now on."""
        self.known = None
        for part in (self.rows, self.assumed, self.expected):
            part.clear()

    def assume(self, path: str) -> None:
        """Take the row of a namespace as it was last read, if it is likely to be the same now."""
        row, is_steady = (self.known or {}).get(path, (None, False))
        if is_steady and path not in self.rows:
            self.rows[path] = row
            self.assumed.add(path)

    def note(self, path: str, row: TupleRow | None) -> None:
        """Note the row of a namespace that was read."""
        if self.known is not None:
            before = self.known.pop(path, (row, True))[0]
            if len(self.known) >= _MAX_KNOWN:
                self.known.clear()
            if row is not None:
                self.known[path] = row, row == before


def _settings(row: TupleRow | None) -> object:
    """Return what the row of a namespace says of more than its memories: when it began, names, settings."""
    return row and row[_SETTINGS:]


class OptimisticSession:
    """A session that only reads, without a transaction, and so without a round trip to end one.

    Every write to a namespace moves its row. Each statement is sent together with one that reads that row
    again: as long as it is what it was when it was first read, all that was read is of one state. Otherwise
    :class:`~.errors.ViewMoved` is raised, and the work is done again in a transaction. A row may be taken as
    it was last read, which saves a round trip; if it turns out to be another one by now,
    :class:`~.errors.RowOutdated` is raised.

    `borrow` returns the connection when it is first needed.
    """

    dialect: Final = DIALECT
    origin: Final = ""
    is_writing: Final = False

    def __init__(self, borrow: Callable[[], Connection[TupleRow]], snapshot: Snapshot) -> None:
        self._borrow = borrow
        self._snapshot = snapshot
        self._seen: set[str] = set()

    @property
    def connection(self) -> Connection[TupleRow]:
        """The connection, which is borrowed when it is first needed."""
        return self._borrow()

    def namespace(self, path: str, ahead: Sequence[Statement] = ()) -> TupleRow | None:
        """Return the row of a namespace, or None, and run the statements `ahead` in the same round trip."""
        snapshot = self._snapshot
        self._seen.add(path)
        sent = [*(statement for statement, _ in snapshot.expected), *snapshot.awaited]
        unread = [statement for statement in ahead if statement not in sent]
        snapshot.assume(path)
        if path in snapshot.rows:
            snapshot.awaited += unread
            return snapshot.rows[path]
        row = row_of(path)
        first, *rows = asked(self.connection, row, *unread, *([row] if unread else []))
        snapshot.rows[path] = next(iter(first), None)
        snapshot.note(path, snapshot.rows[path])
        if unread and rows.pop() == first:
            snapshot.expected += zip(unread, rows, strict=True)
        return snapshot.rows[path]

    def execute(self, sql: str, values: Any = (), /) -> FetchedRows:  # noqa: ANN401 - as the port has it
        """Run one statement and return its rows."""
        snapshot, wanted = self._snapshot, (sql, values)
        if wanted in snapshot.awaited:
            statements = snapshot.awaited.copy()
            snapshot.awaited.clear()
            snapshot.expected += zip(statements, self.read(statements), strict=True)
        for place, (statement, rows) in enumerate(snapshot.expected):
            if statement == wanted:
                del snapshot.expected[place]
                return FetchedRows(rows)
        return FetchedRows(self.read([wanted])[0])

    def read(self, statements: Sequence[Statement] = ()) -> list[list[Any]]:
        """Return the rows of statements, read in one round trip with the rows that show a change."""
        snapshot = self._snapshot
        paths = [*(self._seen | snapshot.assumed)]
        if not paths:
            raise ViewMoved("no row of a namespace shows whether what is read is of one state")
        results = asked(self.connection, *statements, *map(row_of, paths))
        rows = {path: next(iter(results.pop()), None) for path in reversed(paths)}
        for path, row in rows.items():
            snapshot.note(path, row)
        if any(row != snapshot.rows[path] for path, row in rows.items()):
            if snapshot.assumed:
                settings = any(_settings(row) != _settings(snapshot.rows[path]) for path, row in rows.items())
                snapshot.drop()
                snapshot.rows |= rows
                raise RowOutdated("the namespace was written to since it was last read", settings=settings)
            raise ViewMoved("the namespace was written to while it was read")
        snapshot.assumed.clear()
        return results

    def executemany(self, sql: str, rows: Iterable[Any], /) -> NoReturn:
        """Refuse: it only reads."""
        raise ViewMoved("something is to be written where it is only read")

    def insert(self, table: str, columns: str, *rows: Sequence[Any], key: str = "number") -> NoReturn:
        """Refuse: it only reads."""
        self.executemany(table, ())


class FetchedRows:
    """Rows that are fetched already, with the interface of a cursor."""

    def __init__(self, rows: Sequence[Any]) -> None:
        self._rows = iter(rows)

    def fetchone(self) -> Any:  # noqa: ANN401 - as the DB-API has it
        """Return the next row, or None."""
        return next(self._rows, None)

    def fetchall(self) -> list[Any]:
        """Return all other rows."""
        return list(self._rows)

    def __iter__(self) -> Iterator[Any]:
        return self._rows


@frozen
class Evidence:
    """The note of a write, made in its transaction; it is looked up if the answer to the commit is lost.

    It belongs to the namespace that was written to, so that the right to write there is enough. Its key is a
    random number: the number of a transaction proves nothing after a crash, for a server may use one again
    whose commit it never acknowledged.
    """

    transaction: str
    at: int
    """When the transaction began, in microseconds by the server's clock."""
    namespace: int | None = None
    """None for what belongs to no namespace."""
    number: int = field(default_factory=lambda: secrets.randbits(62))

    def written(self) -> list[Statement]:
        """Return statements that write it and, once in a while, remove old ones of the namespace.

        >>> Evidence("730", 5, 7, 1).written()
        [('INSERT INTO writes (at, number, namespace) VALUES (?, ?, ?)', (5, 1, 7))]
        """
        key, values = self._key()
        note = f"INSERT INTO writes (at, number, namespace) VALUES (?, ?, {key})"
        statements: list[Statement] = [(note, (self.at, self.number, *values))]
        if not self.number % _FORGET_EVERY:
            until = self.at - EVIDENCE_SECONDS * 1_000_000
            statements.append((f"DELETE FROM writes WHERE at < ? AND namespace = {key}", (until, *values)))
        return statements

    def query(self) -> Statement:
        """Return a statement that selects whether it may have expired, and whether it exists."""
        key, values = self._key()
        until = self.at + EVIDENCE_SECONDS * 1_000_000 // 2
        return (
            f"SELECT {CLOCK} > ?, EXISTS (SELECT 1 FROM writes WHERE at = ? AND number = ? "
            f"AND namespace = {key})",
            (until, self.at, self.number, *values),
        )

    def _key(self) -> tuple[str, tuple[int, ...]]:
        return (USER_KEY, ()) if self.namespace is None else ("?", (self.namespace,))
