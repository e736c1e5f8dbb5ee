"""The pool of connections to a server, and to a replica of it: each is lent to one thread, if it is open.

What is read from a replica may be older than what was written a moment ago. Its place in the log of the
server (``pg_last_wal_replay_lsn``) says how far it has come: a fresh read waits, for a short time, until the
place of the primary is reached, and otherwise goes to the primary. A replica that is away, too far behind or
no replica at all is not read; after it did not answer it is avoided for a while, so that not every read waits
for it.
"""

from __future__ import annotations

import logging
import select
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from time import monotonic, sleep
from typing import Any, Final

import psycopg
from psycopg import Connection
from psycopg.rows import TupleRow
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from memorata.extend.errors import PoolExhausted, ServerUnsuitable, StoreError, StoreUnavailable
from memorata.extend.stores import shown
from memorata_postgres.dialect import register
from memorata_postgres.errors import LOST, ConnectionLost, Contended, ours, unreachable
from memorata_postgres.session import PostgresSession

# Failures are raised as store errors; the pool's own messages show only where logging is set up.
logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())

_CONNECT_SECONDS: Final = 10
_NAMESPACE_WAIT_SECONDS: Final = 1.0
"""How long a thread inside a transaction waits for others that use the same namespace."""
_MIN_WAIT_SECONDS: Final = 0.5
"""The least wait for a connection, however short the patience: another thread returns them to the pool."""
_DURABLE: Final = (
    "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
)
"""Acknowledged writes are on the disk, whatever the server is set to; stricter settings stay."""


class Pool:
    """Connections to a server; :class:`~.database.PostgresDatabase` describes the parameters."""

    def __init__(
        self, url: str, *, durable: bool, connections: int, patience: float, statement_seconds: float
    ) -> None:
        self.url = url
        self.name = shown(url)
        self._durable = durable
        self._patience = patience
        self._statement_seconds = statement_seconds
        self._here = threading.local()
        self._pool: ConnectionPool[Connection[TupleRow]] = ConnectionPool(
            url,
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
        """Begin to open connections."""
        self._pool.open()

    def close(self) -> None:
        """Let go of all connections."""
        self._pool.close()

    @contextmanager
    def hurried(self, seconds: float | None) -> Iterator[None]:
        """Let this thread wait for a connection for so long in the block; None for as long as usual."""
        before = getattr(self._here, "patience", None)
        self._here.patience = None if seconds is None else max(seconds, _MIN_WAIT_SECONDS)
        try:
            yield
        finally:
            self._here.patience = before

    @contextmanager
    def reading(self, origin: str = "") -> Iterator[PostgresSession]:
        """Run a block on one consistent view."""
        with self.borrowed() as connection, self.looking(connection, origin) as session:
            yield session

    @contextmanager
    def looking(self, connection: Connection[TupleRow], origin: str = "") -> Iterator[PostgresSession]:
        """Run a block on one consistent view, by a connection that was borrowed."""
        is_over = False
        try:
            with self.translated(connection), ExitStack() as piped:
                piped.enter_context(connection.pipeline())
                session = PostgresSession(connection, piped.close, origin=origin)
                yield session
                is_over = True
                session.run("COMMIT")
        except ConnectionLost:
            # What was read is good, whether or not the end of the transaction reaches the server.
            if not is_over:
                raise

    @contextmanager
    def writing(self) -> Iterator[PostgresSession]:
        """Run a block in a transaction, which the block commits."""
        session = None
        with self.borrowed() as connection:
            try:
                with self.translated(connection), ExitStack() as piped:
                    piped.enter_context(connection.pipeline())
                    session = PostgresSession(connection, piped.close, is_writing=True)
                    yield session
            except ConnectionLost:
                # A commit holds, whether or not the end of the pipeline reaches the server.
                if session is None or not session.is_committed:
                    raise

    def first_row(self, sql: str, values: Sequence[object] = ()) -> TupleRow | None:
        """Return the first row of one statement, in a view of its own; None if it has none."""
        with self.borrowed() as connection, self.translated(connection):
            rows = connection.execute(sql, values or None, prepare=None if values else False)
            return rows.fetchone() if rows.description is not None else None

    @contextmanager
    def borrowed(self) -> Iterator[Connection[TupleRow]]:
        """Run the block with a connection that is open, as far as can be seen from here."""
        connection = self._taken()
        for _ in range(self._pool.max_size):
            if _is_open(connection):
                break
            connection.close()
            self._pool.putconn(connection)
            connection = self._taken()
        try:
            yield connection
        finally:
            self._pool.putconn(connection)

    @contextmanager
    def lent(self) -> Iterator[Connection[TupleRow]]:
        """Run the block with a connection whose errors become store errors."""
        with self.borrowed() as connection, self.translated(connection):
            yield connection

    @contextmanager
    def translated(self, connection: Connection[TupleRow]) -> Iterator[None]:
        """Turn the errors of a connection into store errors, and roll its transaction back."""
        try:
            yield
        except BaseException as error:
            if not connection.broken and not connection.closed:
                # A connection that is gone needs no rollback; the first error is the one to raise.
                with suppress(psycopg.OperationalError):
                    connection.rollback()
                if isinstance(error, LOST):
                    connection.close()
            if isinstance(error, psycopg.Error):
                raise ours(error, self.url, broken=connection.broken or connection.closed) from error
            raise

    def _configure(self, connection: Connection[TupleRow]) -> None:
        """Set a new connection up: time limits, numbers to the last bit, texts."""
        connection.execute(
            f"SET statement_timeout = {round(self._statement_seconds * 1000)}; "
            f"SET lock_timeout = {round(self._patience * 1000)}; "
            f"SET idle_in_transaction_session_timeout = {round(10 * self._patience * 1000)}; "
            "SET client_encoding = 'UTF8'; SET standard_conforming_strings = on; SET extra_float_digits = 1; "
            # Milliseconds are at stake here, and starting workers or a compiler costs more than it saves.
            # Everything that is read has an index, which a planner without statistics may not use.
            "SET max_parallel_workers_per_gather = 0; SET jit = off; SET enable_seqscan = off"
        )
        register(connection)
        row = connection.execute("SELECT pg_backend_pid()").fetchone()
        if row is None or row[0] != connection.info.backend_pid:
            # A pooler is in between, perhaps one that assigns connections to transactions: what was prepared
            # in one transaction may be missing in the next, or be another client's.
            connection.prepare_threshold = None
        connection.execute(_DURABLE if self._durable else "SET synchronous_commit = off")

    def _taken(self) -> Connection[Any]:
        patience = getattr(self._here, "patience", None)
        try:
            return self._pool.getconn(patience)
        except PoolClosed as error:
            raise StoreError(f"{self.name} was closed; open it again to go on") from error
        except PoolTimeout as error:
            if patience is not None:
                # Finding out why would take longer.
                raise StoreUnavailable(f"no connection to {self.name} was free in {patience} s") from error
            self._check_reachable()
            raise PoolExhausted(self.name, self._pool.max_size, self._patience) from error

    def _check_reachable(self) -> None:
        """Raise if the server cannot be reached: then the pool is not exhausted."""
        try:
            psycopg.connect(self.url, connect_timeout=_CONNECT_SECONDS).close()
        except psycopg.OperationalError as error:
            raise unreachable(error, self.url) from error


def _is_open(connection: Connection[TupleRow]) -> bool:
    """Return whether a connection is open; if it has something to read, as its end is, it is tried."""
    if connection.closed:
        return False
    try:
        if select.select([connection.pgconn.socket], [], [], 0)[0]:
            connection.execute("SELECT 1", prepare=False)
    except (psycopg.Error, OSError, ValueError):
        return False
    return not connection.closed


class NamespaceLocks:
    """A lock for each namespace whose cache a thread of this process uses."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._used: dict[str, tuple[threading.RLock, int]] = {}

    @contextmanager
    def held(self, path: str, *, patiently: bool) -> Iterator[bool]:
        """Run a block with the lock of a namespace, and yield whether it was acquired."""
        with self._lock:
            lock, waiting = self._used.get(path) or (threading.RLock(), 0)
            self._used[path] = lock, waiting + 1
        held = lock.acquire() if patiently else lock.acquire(timeout=_NAMESPACE_WAIT_SECONDS)
        try:
            yield held
        finally:
            if held:
                lock.release()
            with self._lock:
                lock, waiting = self._used.pop(path)
                if waiting > 1:
                    self._used[path] = lock, waiting - 1


LAG: Final = 10.0
"""How many seconds a replica may be behind."""
PATIENCE: Final = 1.0
"""For how many seconds a replica, or a write that it has not replayed yet, is waited for."""
_AVOIDED_SECONDS: Final = 10.0
_RETRY_SECONDS: Final = 0.005
_STATUS: Final = """
    SELECT pg_is_in_recovery(),
        pg_last_wal_replay_lsn() >= %s::pg_lsn,
        CASE WHEN pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn()
            AND EXISTS (SELECT 1 FROM pg_stat_wal_receiver) THEN 0
        ELSE extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()) END::float8
"""
"""Whether it is a replica, whether it has reached a place, and how many seconds it is behind: none, if it has
replayed all it was sent, however long ago the last write was."""


class Behind(StoreUnavailable):
    """A replica cannot be used now."""


class Replica:
    """A replica of a server, for reading; :class:`~.database.PostgresDatabase` describes the parameters."""

    def __init__(
        self,
        url: str,
        *,
        connections: int = 10,
        lag: float = LAG,
        patience: float = PATIENCE,
        statement_seconds: float = 30.0,
    ) -> None:
        self.name = shown(url)
        self._lag = lag
        self._patience = patience
        self._away_until, self._why = 0.0, ""
        self._pool = Pool(
            url, durable=True, connections=connections, patience=patience, statement_seconds=statement_seconds
        )

    def close(self) -> None:
        """Let go of all connections."""
        self._pool.close()

    @contextmanager
    def reading(self, place: str | None) -> Iterator[PostgresSession]:
        """Run the block on one consistent view of it, at or after a place in the log of the first server."""
        if monotonic() < self._away_until:
            raise Behind(f"the replica {self.name} did not answer a moment ago: {self._why}")
        # At the first read: a process that only writes does not need the replica.
        self._pool.open()
        try:
            with self._pool.borrowed() as connection:
                self._check(connection, place)
                with self._pool.looking(connection, self.name) as session:
                    yield session
        except (Behind, Contended):
            raise
        except (StoreUnavailable, ServerUnsuitable) as error:
            self._away_until, self._why = monotonic() + _AVOIDED_SECONDS, str(error)
            raise

    def _check(self, connection: Connection[TupleRow], place: str | None) -> None:
        until = monotonic() + self._patience
        while True:
            with self._pool.translated(connection):
                row = connection.execute(_STATUS, (place or "0/0",)).fetchone()
            assert row is not None  # a SELECT without a table gives one
            is_replica, reached, seconds = row
            if not is_replica:
                raise Behind(f"{self.name} is no replica (any more)")
            if reached and seconds is not None and seconds <= self._lag:
                return
            if reached or monotonic() > until:
                raise Behind(
                    f"the replica {self.name} is "
                    + ("an unknown time" if seconds is None else f"{seconds:.1f} s")
                    + " behind"
                )
            sleep(_RETRY_SECONDS)
