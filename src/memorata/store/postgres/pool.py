"""The connections to a server that are kept: each is lent to one thread at a time, and only if it works."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from typing import Final

import psycopg
from psycopg import Cursor
from psycopg.rows import TupleRow
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from memorata.model.errors import PoolExhausted, StoreError, StoreUnavailable
from memorata.store.postgres.address import shown
from memorata.store.postgres.connection import Server, prepare
from memorata.store.postgres.failing import ConnectionLost, ours, unreachable

# What goes wrong is raised in our words; whoever sets up logging finds the pool's own there.
logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())

_CONNECT_SECONDS: Final = 10
_MOMENT: Final = 0.5
"""For so many seconds even who is in a hurry waits: what was given back is put away by another thread."""
_READING: Final = "SET enable_seqscan = off"
"""Everything that is read has an index; but a server that knows little of its tables may not think of it."""

_DURABLE: Final = (
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
)
"""What is acknowledged is written, whatever the server is set to; one that does more is let do it."""


class Pool:
    """Connections to a server; its parameters are told at :class:`~.database.Database`."""

    def __init__(
        self, url: str, *, durable: bool, connections: int, patience: float, statement_seconds: float
    ) -> None:
        self.url = url
        self.name = shown(url)
        self._durable = durable
        self._patience = patience
        self._statement_seconds = statement_seconds
        self._here = threading.local()
        self._pool: ConnectionPool[Server] = ConnectionPool(
            url,
            connection_class=Server,
            kwargs={
                "autocommit": True,
                "connect_timeout": _CONNECT_SECONDS,
                "fallback_application_name": "memorata",
            },
            min_size=1,
            max_size=connections,
            timeout=patience,
            configure=self._configure,
            name="memorata",
            open=False,
        )

    def open(self) -> None:
        """Begin to keep connections."""
        self._pool.open()

    def close(self) -> None:
        """Let go of all connections."""
        self._pool.close()

    @contextmanager
    def hurried(self, seconds: float | None) -> Iterator[None]:
        """Let this thread wait for a connection for so long in the block; None for as long as usual."""
        before = getattr(self._here, "patience", None)
        self._here.patience = None if seconds is None else max(seconds, _MOMENT)
        try:
            yield
        finally:
            self._here.patience = before

    @contextmanager
    def borrowed(self) -> Iterator[Server]:
        """Run the block with a connection that works; its errors are not translated."""
        # A statement that says nothing finds out whether anybody is there.
        with self.begun("") as (connection, _):
            yield connection

    @contextmanager
    def begun(
        self, sql: str, values: Sequence[object] | None = None
    ) -> Iterator[tuple[Server, Cursor[TupleRow]]]:
        """Run the block with a connection and what it answered to a first statement.

        A connection that was lost since it was last used is found out by that, and another one asked.
        """
        for attempt in count():
            connection = self._taken()
            try:
                with self.translated(connection):
                    answer = connection.execute(sql, values, prepare=False if values is None else None)
                break
            except BaseException as error:
                self._pool.putconn(connection)
                if not isinstance(error, ConnectionLost) or attempt == self._pool.max_size:
                    raise
        try:
            yield connection, answer
        finally:
            self._pool.putconn(connection)

    @contextmanager
    def translated(self, connection: Server) -> Iterator[None]:
        """Turn the errors of a connection into ours, and undo what it was in the middle of."""
        try:
            yield
        except BaseException as error:
            if not connection.broken and not connection.closed:
                # Where nobody is there any more nobody has to be told; the first error is the one to tell.
                with suppress(psycopg.OperationalError):
                    connection.rollback()
            if isinstance(error, psycopg.Error):
                raise ours(error, self.url, broken=connection.broken) from error
            raise

    def _configure(self, connection: Server) -> None:
        prepare(connection, patience=self._patience, statement_seconds=self._statement_seconds)
        connection.execute(_READING)
        connection.execute(_DURABLE if self._durable else "SET synchronous_commit = off")

    def _taken(self) -> Server:
        hurry = getattr(self._here, "patience", None)
        try:
            return self._pool.getconn(hurry)
        except PoolClosed as error:
            raise StoreError(f"{self.name} was closed; open it again to go on") from error
        except PoolTimeout as error:
            if hurry is not None:
                # To find out why would take longer.
                raise StoreUnavailable(f"no connection to {self.name} was to be had in {hurry} s") from error
            self._look()
            raise PoolExhausted(self.name, self._pool.max_size, self._patience) from error

    def _look(self) -> None:
        """Raise if the server cannot be reached: then it is no matter of too few connections."""
        try:
            psycopg.connect(self.url, connect_timeout=_CONNECT_SECONDS).close()
        except psycopg.OperationalError as error:
            raise unreachable(error, self.url) from error
