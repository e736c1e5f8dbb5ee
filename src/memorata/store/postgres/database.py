"""Transactions on a server, and what is done when one of them fails.

A read that loses its connection is done once more. A write that is undone because two transactions got in
each other's way is done again; so is one whose connection was lost before it was committed. If it was lost
while it was being committed, the server is asked what became of it, so that no write is ever done twice and
none is reported lost that was not, or done that was not. ``pg_xact_status`` alone cannot tell: a server that
crashed may give the number of a transaction that nobody heard of any more to another one. So writes are
counted in the same transaction, in a row that nobody else writes to meanwhile (:mod:`.writers`): there are as
many of them as threads that write at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from time import monotonic, sleep
from typing import Final, TypeVar

import psycopg
from psycopg.errors import InvalidParameterValue
from psycopg.rows import TupleRow

from memorata.model.errors import StoreError
from memorata.store.postgres.arrays import array
from memorata.store.postgres.connection import Server
from memorata.store.postgres.failing import CommitUnsure, ConnectionLost, Contended
from memorata.store.postgres.pool import Pool
from memorata.store.postgres.writers import BY_OTHERS, WRITTEN, Writer, adding_up, adding_up_the_silent

_Result = TypeVar("_Result")

FEED: Final = 0x52434C54_0001
"""The advisory lock that those who write share: who holds it alone knows that no change is on its way."""
_ATTEMPTS: Final = 6
_PAUSE: Final = 0.01
_READ: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITE: Final = (
    "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL enable_seqscan = on; "
    f"SELECT pg_advisory_xact_lock_shared({FEED}), pg_current_xact_id()::text, "
    "extract(epoch FROM now())::float8"
)
_AT_CLOSE: Final = 2.0
"""For how many seconds a connection is waited for at the end."""
_ENDINGS: Final = 11
"""So many times `patience` a transaction is waited for; after 10, the server ends one that idles."""


class Database:
    """A server, and the transactions that are made on it.

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
        self.pool = Pool(
            url,
            durable=durable,
            connections=connections,
            patience=patience,
            statement_seconds=statement_seconds,
        )
        self.url = url
        self.name = self.pool.name
        self._patience = patience
        self._here = threading.local()
        self._mine: set[int] = set()
        self._idle: list[Writer] = []

    def open(self) -> None:
        """Begin to keep connections."""
        self.pool.open()

    def close(self) -> None:
        """Let go of all connections."""
        if self._idle:
            # Where nobody answers any more, their rows stay, and what others have counted is as it was.
            with suppress(StoreError), self.pool.hurried(_AT_CLOSE):
                self._add_up()
        self.pool.close()

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
            if self.is_inside:
                raise
        with self.reading() as connection:
            return work(connection)

    def write(self, work: Callable[[Server], _Result]) -> _Result:
        """Return what `work` returns, done as one transaction: exactly once, or not at all."""
        if self.is_writing:
            with self.writing() as connection:
                return work(connection)

        def written() -> _Result:
            with self.together() as connection:
                return work(connection)

        return written() if self._is_trying else self._persisted(written)

    def tried(self, work: Callable[[], _Result]) -> _Result:
        """Return what `work` returns, which is done again if it was undone, or the connection was lost.

        It may read as often as it likes, and write in one transaction. Inside a transaction of this thread
        it is done once: what came before it is undone as well.
        """
        return work() if self.is_inside or self._is_trying else self._persisted(work)

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
            with self.pool.begun(_READ) as (connection, _), self._looking(connection):
                yield connection

    @contextmanager
    def looking(self, connection: Server) -> Iterator[None]:
        """Run the block on one consistent view, by a connection that was borrowed."""
        with self.pool.translated(connection):
            connection.execute(_READ, prepare=False)
        with self._looking(connection):
            yield

    @contextmanager
    def _looking(self, connection: Server) -> Iterator[None]:
        with self.pool.translated(connection):
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
        with self.pool.begun(_WRITE) as (connection, begun), self.pool.translated(connection):
            while begun.nextset():
                pass
            row = begun.fetchone()
            assert row is not None  # a SELECT without a table gives one
            with self._held(connection, writing=True):
                for guard in getattr(self._here, "guards", ()):
                    guard(connection)
                yield connection
            self._commit(connection, *row[1:])

    @contextmanager
    def together(self) -> Iterator[Server]:
        """Run the block as :meth:`writing` does; if nobody says whether it was committed, ask."""
        unsure: CommitUnsure | None = None
        try:
            with self.writing() as connection:
                yield connection
        except CommitUnsure as error:
            # One of another database is for those to ask about who wrote there.
            if error.number not in self._mine:
                raise
            unsure = error
        # The connection is given back by now: there may be no other to ask by.
        if unsure is not None and not self._happened(unsure):
            raise ConnectionLost(
                f"the connection to {self.name} was lost while something was being written, and nothing of "
                "it was; try again, and look at the server if it happens again"
            ) from unsure

    @contextmanager
    def elsewhere(self, source: Callable[[], AbstractContextManager[Server]]) -> Iterator[None]:
        """Let this thread read in the block from where `source` says; what it writes is written here."""
        before = getattr(self._here, "elsewhere", None)
        self._here.elsewhere = source
        try:
            yield
        finally:
            self._here.elsewhere = before

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
        """Return how often others than the threads of this process have written."""
        found = self.glance(BY_OTHERS, (array(self._mine),))
        return int((found or (0,))[0])

    def glance(self, sql: str, values: Sequence[object]) -> TupleRow | None:
        """Return the first row of one statement, which sees one view without a transaction around it."""
        if self.is_inside:
            return self.read(lambda connection: connection.execute(sql, values).fetchone())
        return self._asked(sql, values)

    # --- inside ---------------------------------------------------------------------------------------

    @property
    def _is_trying(self) -> bool:
        """Whether this thread does again what is undone, so that nothing inside of it has to."""
        return bool(getattr(self._here, "trying", False))

    def _persisted(self, work: Callable[[], _Result]) -> _Result:
        attempt, lost = 0, False
        self._here.trying = True
        try:
            while True:
                attempt += 1
                try:
                    return work()
                except Contended:
                    if attempt == _ATTEMPTS:
                        raise
                    sleep(_PAUSE * 2**attempt)
                except ConnectionLost:
                    if lost:
                        raise
                    lost = True
        finally:
            self._here.trying = False

    @contextmanager
    def _held(self, connection: Server, *, writing: bool) -> Iterator[None]:
        before = getattr(self._here, "connection", None), self.is_writing
        self._here.connection, self._here.writing = connection, writing
        try:
            yield
        finally:
            self._here.connection, self._here.writing = before

    def _commit(self, connection: Server, transaction: str, begun: float) -> None:
        """Count a write and commit it; raise :class:`CommitUnsure` if nobody says whether it was."""
        try:
            writer = self._idle.pop()
        except IndexError:
            writer = Writer()
            self._mine.add(writer.number)
        try:
            connection.execute(f"{writer.counting()}; COMMIT", prepare=False)
        except psycopg.Error as error:
            # Else its row says something about this write, and must not be counted in any more.
            if not connection.broken:
                self._idle.append(writer)
                raise
            raise CommitUnsure(
                f"the connection to {self.name} was lost while something was being written, and it "
                "is not known whether it was; look, and write it again if not",
                transaction,
                writer.number,
                writer.writes + 1,
                begun,
            ) from error
        writer.writes += 1
        self._idle.append(writer)
        if writer.writes == 1:
            # What was written is written, and the next who begins to write does this as well.
            with suppress(psycopg.Error):
                connection.execute(adding_up_the_silent(), prepare=False)

    def _add_up(self) -> None:
        """Count the writes of those who write no more in one row, so that there are not ever more of them."""
        ended = [self._idle.pop() for _ in range(len(self._idle))]
        counted = adding_up(writer.number for writer in ended)
        sql = f"BEGIN; SET LOCAL synchronous_commit = off; {counted}; COMMIT"
        with self.pool.begun(sql):
            pass

    def _happened(self, unsure: CommitUnsure) -> bool:
        """Return whether a transaction of which the answer was lost was committed."""
        until = monotonic() + _ENDINGS * self._patience
        while (status := self._status(unsure.transaction)) == "in progress":
            # The server has not noticed yet that nobody is there any more.
            if monotonic() > until:
                raise unsure
            sleep(_PAUSE * 10)
        if status == "aborted":
            return False
        # In a view of its own, which began after the transaction had ended.
        row = self._asked(WRITTEN, (unsure.number, unsure.begun))
        assert row is not None  # a SELECT without a table gives one
        writes, is_late = row
        if writes is None and is_late:
            raise unsure
        return writes is not None and bool(writes >= unsure.writes)

    def _status(self, transaction: str) -> str:
        """Return what became of the last transaction of that number: committed, aborted, or in progress."""
        try:
            row = self._asked("SELECT pg_xact_status(%s::xid8)", (transaction,))
        except StoreError as error:
            # After a crash the number may be one that the server has not given to anybody yet.
            if isinstance(error.__cause__, InvalidParameterValue):
                return "aborted"
            raise
        return str((row or ("",))[0])

    def _asked(self, sql: str, values: Sequence[object]) -> TupleRow | None:
        """Return the first row of one statement, whatever else this thread is in the middle of."""
        with self.pool.begun(sql, values) as (connection, found), self.pool.translated(connection):
            return found.fetchone()
