"""The port :class:`~memorata.store.database.Database` over the transactions of :mod:`.database`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeVar

from psycopg.rows import TupleRow

from memorata.store.database import Session
from memorata.store.postgres import namespaces as rows
from memorata.store.postgres.connection import Server
from memorata.store.postgres.database import Database
from memorata.store.postgres.dialect import PostgresDialect
from memorata.store.postgres.session import PostgresSession

_Result = TypeVar("_Result")


class BridgeDialect(PostgresDialect):
    """A dialect whose namespaces are numbered by the server."""

    def make_namespace(self, session: Session, path: str) -> None:
        """Add the row of a namespace that is not there yet, and lock it."""
        session.execute(
            "INSERT INTO namespaces (path, begun) SELECT ?, "
            "CASE WHEN is_called THEN last_value ELSE 0 END FROM change_numbers ON CONFLICT DO NOTHING",
            (path,),
        )
        session.execute("SELECT 1 FROM namespaces WHERE path = ? FOR NO KEY UPDATE", (path,))


class BridgeSession(PostgresSession):
    """A session whose rows are numbered by the server."""

    dialect = BridgeDialect()  # type: ignore[misc]

    def namespace(self, columns: str, path: str) -> TupleRow | None:
        """Return the row of a namespace, or None."""
        columns = columns.replace("flushed", "0").replace("generation", "0")
        row: TupleRow | None = self.execute(
            f"SELECT {columns} FROM namespaces WHERE path = ?", (path,)
        ).fetchone()
        return row

    def insert(self, table: str, columns: str, values: Sequence[Any], key: str = "number") -> int:
        """Add one row and return the number it got."""
        marks = ", ".join("?" * len(values))
        if table == "changes":
            columns, marks = f"{columns}, change", f"{marks}, nextval('change_numbers')"
        sql = f"INSERT INTO {table} ({columns}) VALUES ({marks}) RETURNING {key}"
        return int(self.execute(sql, values).fetchone()[0])


class Bridge:
    """What subjects need of a server: to read and to write."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def read(self, work: Callable[[Session], _Result]) -> _Result:
        """Return what `work` reads from one consistent view; it may be run twice."""
        return self._database.read(lambda connection: work(BridgeSession(connection)))

    def write(
        self,
        work: Callable[[Session], _Result],
        *namespaces: str,
        durable: bool = True,
        patience: float | None = None,
    ) -> _Result:
        """Return what `work` returns, done as one transaction: exactly once, or not at all."""

        def write(connection: Server) -> _Result:
            if not durable:
                connection.execute("SET LOCAL synchronous_commit = off", prepare=False)
            if patience is not None:
                milliseconds = max(1, round(patience * 1000))
                connection.execute(f"SET LOCAL lock_timeout = {milliseconds}", prepare=False)
            rows.lock_all_known(connection, namespaces)
            return work(BridgeSession(connection))

        with self._database.pool.hurried(patience):
            return self._database.write(write)

    def guarded(self, guard: Callable[[Session], object]) -> AbstractContextManager[None]:
        """Run `guard` first in every transaction in which this thread writes in the block; it may refuse."""
        return self._database.guarded(lambda connection: guard(BridgeSession(connection)))
