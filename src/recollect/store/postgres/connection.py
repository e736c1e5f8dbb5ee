"""Connections to a server: a pool of them, transactions, and what is done when one of them fails.

A read that loses its connection is done once more. A write that is undone because two transactions got in
each other's way is done again; so is one whose connection was lost before it was committed. If it was lost
while it was being committed, the server is asked what became of it, so that no write is ever done twice and
none is reported lost that was not, or done that was not. ``pg_xact_status`` alone cannot tell: a server that
crashed may give the number of a transaction that nobody heard of any more to another one. So each connection
counts its writes in a row of its own, in the same transaction.
"""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import count
from time import sleep
from typing import Any, Final, TypeVar

import psycopg
from pgvector.psycopg import register_vector
from psycopg import Connection, Cursor
from psycopg.errors import InvalidParameterValue
from psycopg.rows import TupleRow
from psycopg_pool import ConnectionPool, PoolTimeout

from recollect.model.errors import PoolExhausted, StoreError
from recollect.store.postgres import arrays, texts
from recollect.store.postgres.address import shown
from recollect.store.postgres.failing import CommitUnsure, ConnectionLost, Contended, ours, unreachable

_Result = TypeVar("_Result")

# What goes wrong is raised in our words; whoever sets up logging finds the pool's own there.
logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())

FEED: Final = 0x52434C54_0001
"""The advisory lock that those who write share: who holds it alone knows that no change is on its way."""
_ATTEMPTS: Final = 6
_PAUSE: Final = 0.01
_CONNECT_SECONDS: Final = 10
_CURSORS: Final = 64
"""How many cursors a connection keeps; more than there are statements without a filter in them."""
_READ: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_READING: Final = "SET enable_seqscan = off"
"""Everything that is read has an index; but a server that knows little of its tables may not think of it."""
_WRITE: Final = (
    "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL enable_seqscan = on; "
    f"SELECT pg_advisory_xact_lock_shared({FEED}), pg_current_xact_id()::text"
)


class Server(Connection[TupleRow]):
    """A connection to a server; it knows under which number its writes are counted, and how many they are."""

    def __init__(self, *args: Any, **options: Any) -> None:  # noqa: ANN401 - psycopg's own
        super().__init__(*args, **options)
        # Not from a sequence, which may repeat itself after a crash.
        self.number = secrets.randbits(62)
        self.writes = 0
        self._asking: dict[str, tuple[str, Cursor[TupleRow]]] = {}

    def rows(self, sql: str, values: Sequence[object]) -> list[TupleRow]:
        """Return the rows of a statement, arrays of numbers in them as numpy's.

        For statements that are asked by the thousand: each has a cursor, which remembers how to read columns
        as long as it is given the same object, and they are sent in binary.
        """
        known = self._asking.get(sql)
        if known is None:
            if len(self._asking) == _CURSORS:
                self._asking.clear()
            cursor = self.cursor(binary=True)
            arrays.register(cursor)
            known = self._asking[sql] = (sql, cursor)
        return known[1].execute(known[0], values).fetchall()


class Database:
    """A server, and the connections to it that are kept.

    Parameters
    ----------
    url
        The address.
    durable
        Whether an acknowledged write survives a crash of the server.
    connections
        How many connections are kept at most; a thread needs one at a time.
    patience
        For how many seconds a connection, or a lock of others, is waited for.
    statement_seconds
        How long one statement may take.
    """

    def __init__(
        self,
        url: str,
        *,
        durable: bool = True,
        connections: int = 10,
        patience: float = 30.0,
        statement_seconds: float = 30.0,
    ) -> None:
        self.url = url
        self.name = shown(url)
        self._durable = durable
        self._patience = patience
        self._statement_seconds = statement_seconds
        self._here = threading.local()
        self._mine: set[int] = set()
        self._pool: ConnectionPool[Server] = ConnectionPool(
            url,
            connection_class=Server,
            kwargs={
                "autocommit": True,
                "connect_timeout": _CONNECT_SECONDS,
                "fallback_application_name": "recollect",
            },
            min_size=1,
            max_size=connections,
            timeout=patience,
            configure=self._configure,
            name="recollect",
            open=False,
        )

    def open(self) -> None:
        """Begin to keep connections."""
        self._pool.open()

    def close(self) -> None:
        """Let go of all connections."""
        self._pool.close()

    @property
    def is_inside(self) -> bool:
        """Whether this thread is inside a transaction."""
        return getattr(self._here, "connection", None) is not None

    @property
    def is_writing(self) -> bool:
        """Whether this thread is inside a write transaction."""
        return bool(getattr(self._here, "writing", False))

    # --- work -----------------------------------------------------------------------------------------

    def read(self, work: Callable[[Server], _Result]) -> _Result:
        """Return what `work` reads, all of it from one view; done once more if the connection is lost."""
        try:
            with self.reading() as connection:
                return work(connection)
        except ConnectionLost:
            if getattr(self._here, "connection", None) is not None:
                raise
        with self.reading() as connection:
            return work(connection)

    def write(self, work: Callable[[Server], _Result]) -> _Result:
        """Return what `work` returns, done as one transaction: exactly once, or not at all."""
        if self.is_writing:
            with self.writing() as connection:
                return work(connection)
        result: _Result
        lost = False
        for attempt in count(1):
            try:
                with self.writing() as connection:
                    result = work(connection)
            except Contended:
                if attempt == _ATTEMPTS:
                    raise
                sleep(_PAUSE * 2**attempt)
                continue
            except CommitUnsure as unsure:
                if not self._happened(unsure):
                    if lost:
                        raise
                    lost = True
                    continue
            except ConnectionLost:
                if lost:
                    raise
                lost = True
                continue
            break
        return result

    # --- transactions ---------------------------------------------------------------------------------

    @contextmanager
    def reading(self) -> Iterator[Server]:
        """Run the block on one consistent view; inside a transaction of this thread it is that one's."""
        held = getattr(self._here, "connection", None)
        elsewhere = getattr(self._here, "elsewhere", None)
        if held is not None:
            yield held
        elif elsewhere is not None:
            with elsewhere() as connection, self._held(connection, writing=False):
                yield connection
        else:
            with self._begun(_READ) as (connection, _), self._looking(connection):
                yield connection

    @contextmanager
    def looking(self, connection: Server) -> Iterator[None]:
        """Run the block on one consistent view, by a connection that was borrowed."""
        with self.translated(connection):
            connection.execute(_READ, prepare=False)
        with self._looking(connection):
            yield

    @contextmanager
    def _looking(self, connection: Server) -> Iterator[None]:
        with self.translated(connection):
            with self._held(connection, writing=False):
                yield
            try:
                connection.execute("COMMIT", prepare=False)
            except psycopg.OperationalError:
                # What was read is good, whether or not the server hears that nobody looks any more.
                if not connection.broken:
                    raise

    @contextmanager
    def writing(self) -> Iterator[Server]:
        """Run the block as one transaction that either happens or does not; inside another, a part of it."""
        if self.is_writing:
            connection: Server = self._here.connection
            connection.execute("SAVEPOINT part", prepare=False)
            try:
                yield connection
            except BaseException:
                if not connection.broken:
                    connection.execute("ROLLBACK TO SAVEPOINT part; RELEASE SAVEPOINT part", prepare=False)
                raise
            connection.execute("RELEASE SAVEPOINT part", prepare=False)
            return
        with self._begun(_WRITE) as (connection, begun), self.translated(connection):
            while begun.nextset():
                pass
            transaction = str((begun.fetchone() or ("", ""))[1])
            with self._held(connection, writing=True):
                for guard in getattr(self._here, "guards", ()):
                    guard(connection)
                yield connection
            self._mine.add(connection.number)
            try:
                connection.execute(
                    f"INSERT INTO writers (number, writes) VALUES ({connection.number}, 1) "
                    "ON CONFLICT (number) DO UPDATE SET writes = writers.writes + 1; COMMIT",
                    prepare=False,
                )
            except psycopg.OperationalError as error:
                if connection.broken:
                    raise CommitUnsure(
                        f"the connection to {self.name} was lost while something was being written, and it "
                        "is not known whether it was; look, and write it again if not",
                        transaction,
                        connection.number,
                        connection.writes + 1,
                    ) from error
                raise
            connection.writes += 1

    @contextmanager
    def elsewhere(self, source: Callable[[], AbstractContextManager[Server]]) -> Iterator[None]:
        """Let this thread read in the block from where `source` says; what it writes is written here."""
        self._here.elsewhere = source
        try:
            yield
        finally:
            self._here.elsewhere = None

    @contextmanager
    def guarded(self, guard: Callable[[Server], object]) -> Iterator[None]:
        """Run `guard` first in every transaction in which this thread writes in the block.

        What it raises undoes the transaction before anything was written.
        """
        before = getattr(self._here, "guards", ())
        self._here.guards = (*before, guard)
        try:
            yield
        finally:
            self._here.guards = before

    def others_wrote(self) -> int:
        """Return how often others than the connections kept here have written."""
        found = self.glance(
            "SELECT coalesce(sum(writes), 0)::bigint FROM writers WHERE number <> ALL (%s::bigint[])",
            (arrays.array(self._mine),),
        )
        return int((found or (0,))[0])

    def glance(self, sql: str, values: Sequence[object]) -> TupleRow | None:
        """Return the first row of one statement, which sees one view without a transaction around it."""
        if self.is_inside:
            return self.read(lambda connection: connection.execute(sql, values).fetchone())
        with self._begun(sql, values) as (connection, found), self.translated(connection):
            return found.fetchone()

    # --- inside ---------------------------------------------------------------------------------------

    def _configure(self, connection: Server) -> None:
        prepare(connection, patience=self._patience, statement_seconds=self._statement_seconds)
        connection.execute(_READING)
        if not self._durable:
            connection.execute("SET synchronous_commit = off")

    @contextmanager
    def borrowed(self) -> Iterator[Server]:
        """Run the block with a connection that works; its errors are not translated."""
        # A statement that says nothing finds out whether anybody is there.
        with self._begun("") as (connection, _):
            yield connection

    @contextmanager
    def _begun(
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

    def _taken(self) -> Server:
        try:
            return self._pool.getconn()
        except PoolTimeout as error:
            self._look()
            raise PoolExhausted(self.name, self._pool.max_size, self._patience) from error

    def _look(self) -> None:
        """Raise if the server cannot be reached: then it is no matter of too few connections."""
        try:
            psycopg.connect(self.url, connect_timeout=_CONNECT_SECONDS).close()
        except psycopg.OperationalError as error:
            raise unreachable(error, self.url) from error

    @contextmanager
    def _held(self, connection: Server, *, writing: bool) -> Iterator[None]:
        self._here.connection, self._here.writing = connection, writing
        try:
            yield
        finally:
            self._here.connection, self._here.writing = None, False

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

    def _happened(self, unsure: CommitUnsure) -> bool:
        """Return whether a transaction of which the answer was lost was committed."""
        while (status := self._status(unsure.transaction)) == "in progress":
            # The server has not noticed yet that nobody is there any more.
            sleep(_PAUSE * 10)
        if status == "aborted":
            return False

        # In a view of its own, which began after the transaction had ended.
        def counted(connection: Server) -> bool:
            row = connection.execute(
                "SELECT writes FROM writers WHERE number = %s", (unsure.number,)
            ).fetchone()
            return row is not None and row[0] >= unsure.writes

        return self.read(counted)

    def _status(self, transaction: str) -> str:
        """Return what became of the last transaction of that number: committed, aborted, or in progress."""

        def ask(connection: Server) -> str:
            row = connection.execute("SELECT pg_xact_status(%s::xid8)", (transaction,)).fetchone()
            return str((row or ("",))[0])

        try:
            return self.read(ask)
        except StoreError as error:
            # After a crash the number may be one that the server has not given to anybody yet.
            if isinstance(error.__cause__, InvalidParameterValue):
                return "aborted"
            raise


def prepare(connection: Connection[Any], *, patience: float, statement_seconds: float) -> None:
    """Set a new connection up: time limits, vectors, texts."""
    connection.execute(
        f"SET statement_timeout = {round(statement_seconds * 1000)}; "
        f"SET lock_timeout = {round(patience * 1000)}; "
        f"SET idle_in_transaction_session_timeout = {round(10 * patience * 1000)}; "
        "SET client_encoding = 'UTF8'; SET standard_conforming_strings = on; "
        # Milliseconds are at stake here, and starting workers or a compiler costs more of them than it saves.
        "SET max_parallel_workers_per_gather = 0; SET jit = off"
    )
    register_vector(connection)
    texts.register(connection)
