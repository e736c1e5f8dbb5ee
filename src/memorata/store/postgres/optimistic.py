"""Reading from a server without a transaction, as long as one row tells that nothing has moved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, NoReturn

from psycopg import Connection
from psycopg.rows import TupleRow

from memorata.store.database import Statement
from memorata.store.postgres.dialect import DIALECT
from memorata.store.postgres.errors import ViewMoved
from memorata.store.postgres.session import ask_namespace, send


class OptimisticSession:
    """A session that only reads, without a transaction, and so without a round trip to end one.

    Every write to a namespace moves its row. Each statement is sent together with one that reads that row
    again: as long as it is what it was when it was first read, all that was read is of one state. Otherwise
    :class:`~.errors.ViewMoved` is raised, and whoever opened the session reads again in a transaction.

    Parameters
    ----------
    borrow
        Returns the connection, when it is first needed.
    rows
        Rows of namespaces that were read already, by path; others are added.
    expected
        Statements whose rows were read ahead; others are added.
    """

    dialect: Final = DIALECT
    origin: Final = ""
    is_writing: Final = False

    def __init__(
        self,
        borrow: Callable[[], Connection[TupleRow]],
        rows: dict[str, TupleRow | None],
        expected: list[tuple[Statement, list[Any]]],
    ) -> None:
        self._borrow = borrow
        self._rows = rows
        self._expected = expected
        self._seen: set[str] = set()

    @property
    def connection(self) -> Connection[TupleRow]:
        """The connection, which is borrowed when it is first needed."""
        return self._borrow()

    def namespace(self, path: str, ahead: Sequence[Statement] = ()) -> TupleRow | None:
        """Return the row of a namespace, or None, and read what is asked next in the same round trip."""
        self._seen.add(path)
        asked = [statement for statement, _ in self._expected]
        unread = [statement for statement in ahead if statement not in asked]
        if path in self._rows:
            if unread:
                self._expected += zip(unread, self._read(unread), strict=True)
        elif not unread:
            self._rows[path] = ask_namespace(self.connection, path).fetchone()
        else:
            connection = self.connection
            with connection.pipeline():
                first = ask_namespace(connection, path)
                sent = [send(connection, statement) for statement in unread]
                last = ask_namespace(connection, path)
            self._rows[path] = first.fetchone()
            if last.fetchone() == self._rows[path]:
                self._expected += zip(unread, [rows.fetchall() for rows in sent], strict=True)
        return self._rows[path]

    def execute(self, sql: str, values: Any = (), /) -> FetchedRows:  # noqa: ANN401 - as the port has it
        """Run one statement and return its rows."""
        for place, (statement, rows) in enumerate(self._expected):
            if statement == (sql, values):
                del self._expected[place]
                return FetchedRows(rows)
        return FetchedRows(self._read([(sql, values)])[0])

    def _read(self, statements: Sequence[Statement]) -> list[list[Any]]:
        """Return the rows of statements, asked for in one round trip with the rows that tell of a change."""
        if not self._seen:
            raise ViewMoved("nothing tells whether what is read is of one state")
        connection = self.connection
        with connection.pipeline():
            sent = [send(connection, statement) for statement in statements]
            again = [(self._rows[path], ask_namespace(connection, path)) for path in self._seen]
        if any(rows.fetchone() != row for row, rows in again):
            raise ViewMoved("the namespace was written to while it was read")
        return [rows.fetchall() for rows in sent]

    def executemany(self, sql: str, rows: Iterable[Any], /) -> NoReturn:
        """Refuse: it only reads."""
        raise ViewMoved("something is to be written where it is only read")

    def insert(self, table: str, columns: str, *rows: Sequence[Any], key: str = "number") -> NoReturn:
        """Refuse: it only reads."""
        self.executemany(table, ())


class FetchedRows:
    """Rows that are here already, given out as a cursor gives them."""

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
