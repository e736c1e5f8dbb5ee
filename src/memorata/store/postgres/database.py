"""A :class:`~memorata.store.database.Database` on a server: transactions, and what is done when one fails.

A read that loses its connection is done once more. A write that is undone because two transactions got in
each other's way is done again; so is one whose connection was lost before it was committed. If it was lost
while it was being committed, the server is asked what became of it, so that no write is ever done twice and
none is reported lost that was not, or done that was not. ``pg_xact_status`` alone cannot tell: a server that
crashed may give the number of a transaction that nobody heard of any more to another one. So writes are
counted in the same transaction, in a row that nobody else writes to meanwhile (:mod:`.writers`): there are as
many of them as threads that write at once.

A transaction is a pipeline: its beginning, and statements whose rows nobody reads, go out with the next whose
rows are read, and the last of them with the end.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final, TypeVar

import psycopg
from psycopg.errors import InvalidParameterValue
from psycopg.rows import TupleRow

from memorata.model.errors import (
    IndexCorrupt,
    NotSupportedHere,
    ServerUnsuitable,
    StoreCorrupt,
    StoreError,
    StoreUnavailable,
)
from memorata.store.database import Session
from memorata.store.postgres import erasing, migrating
from memorata.store.postgres.address import parsed
from memorata.store.postgres.dialect import namespace_key
from memorata.store.postgres.failing import LOST, CommitUnsure, ConnectionLost, Contended
from memorata.store.postgres.pool import Pool
from memorata.store.postgres.replica import LAG, PATIENCE, Replica
from memorata.store.postgres.session import CLOCK, FEED, NAMESPACE, PostgresSession, translated
from memorata.store.postgres.writers import BY_OTHERS, WRITTEN, Writer, adding_up, adding_up_the_silent
from memorata.store.rows import LARGEST

_Result = TypeVar("_Result")

_ATTEMPTS: Final = 6
_PAUSE: Final = 0.01
_AT_CLOSE: Final = 2.0
"""For how many seconds a connection is waited for at the end."""
_ENDINGS: Final = 11
"""So many times `patience` a transaction is waited for; after 10, the server ends one that idles."""


class PostgresDatabase:
    """A server.

    Parameters
    ----------
    url
        The address: ``postgresql://user:password@host:port/database``.
    durable
        Whether an acknowledged write survives a crash of the server (``synchronous_commit``).
    must_exist
        Whether a database without our tables is an error rather than a new store.
    connections
        How many connections are kept at most; a thread needs one at a time.
    patience
        For how many seconds a connection, or a lock of others, is waited for.
    statement_seconds
        How long one statement may take.
    replica
        The address of a server that repeats what this one writes, for reads that may be a little old.
    replica_lag
        How many seconds it may be behind.
    replica_patience
        For how many seconds it, or what it has not repeated yet, is waited for before the first is asked.
    """

    read_only: Final = False
    """What may be written is for the server to say, table by table and user by user."""
    notices: Final = ()

    def __init__(
        self,
        url: str,
        *,
        durable: bool = True,
        must_exist: bool = False,
        connections: int = 10,
        patience: float = 30.0,
        statement_seconds: float = 30.0,
        replica: str | None = None,
        replica_lag: float = LAG,
        replica_patience: float = PATIENCE,
    ) -> None:
        if replica is not None:
            parsed(replica)
        migrating.made_ready(url, must_exist=must_exist)
        self.pool = Pool(
            url,
            durable=durable,
            connections=connections,
            patience=patience,
            statement_seconds=statement_seconds,
        )
        self.url, self.path = url, self.pool.name
        self.rollbacks = 0
        self._durable, self._patience = durable, patience
        self._here = threading.local()
        self._mine: set[int] = set()
        self._idle: list[Writer] = []
        self._replica: Replica | None = None
        if replica is not None:
            self._replica = Replica(
                replica,
                connections=connections,
                lag=replica_lag,
                patience=replica_patience,
                statement_seconds=statement_seconds,
            )
        self.pool.open()

    def close(self) -> None:
        """Let go of all connections."""
        if self._replica is not None:
            self._replica.close()
        if self._idle:
            # Where nobody answers any more, their rows stay, and what others have counted is as it was.
            with suppress(StoreError), self.pool.hurried(_AT_CLOSE):
                ended = [self._idle.pop() for _ in range(len(self._idle))]
                counted = adding_up(writer.number for writer in ended)
                self.pool.asked(f"BEGIN; SET LOCAL synchronous_commit = off; {counted}; COMMIT")
        self.pool.close()

    @property
    def is_inside(self) -> bool:
        """Whether this thread is inside a transaction."""
        return self._session is not None

    # --- reading --------------------------------------------------------------------------------------

    @contextmanager
    def reading(self) -> Iterator[PostgresSession]:
        """Run a block on one consistent view; inside a transaction of this thread it is that one's view."""
        held, elsewhere = self._session, getattr(self._here, "elsewhere", None)
        if held is not None:
            yield held
            return
        source = self.pool.reading() if elsewhere is None else elsewhere()
        with source as session, self._holding(session):
            yield session

    def read(self, work: Callable[[Session], _Result]) -> _Result:
        """Return what `work` reads, all of it from one view; done once more if the connection is lost."""
        try:
            with self.reading() as session:
                return work(session)
        except ConnectionLost:
            if self.is_inside:
                raise
        with self.reading() as session:
            return work(session)

    def namespace(self, columns: str, path: str) -> Any:  # noqa: ANN401 - a row
        """Return the row of a namespace, or None; by itself it is one round trip."""
        if self.is_inside or getattr(self._here, "elsewhere", None) is not None:
            return self.read(lambda session: session.namespace(columns, path))
        return self._asked(translated(NAMESPACE.format(columns)), (namespace_key(path), path))

    def relaxed(self, work: Callable[[], _Result], *, fresh: bool = False) -> tuple[_Result, str]:
        """Return what `work` reads, perhaps from a replica, and why it was not if it should have been."""
        replica = self._replica
        if replica is None or self.is_inside:
            return work(), ""
        before = getattr(self._here, "elsewhere", None)
        try:
            # What need not survive a crash is acknowledged before it is in the files of the log.
            function = "pg_current_wal_flush_lsn" if self._durable else "pg_current_wal_insert_lsn"
            place = self._asked(f"SELECT {function}()::text") if fresh else None
            self._here.elsewhere = lambda: replica.reading(None if place is None else str(place[0]))
            return work(), ""
        except (StoreUnavailable, StoreCorrupt, ServerUnsuitable, IndexCorrupt) as error:
            why = str(error)
        finally:
            self._here.elsewhere = before
        return work(), f"read from the primary: {why}"

    # --- writing --------------------------------------------------------------------------------------

    def write(
        self,
        work: Callable[[Session], _Result],
        *namespaces: str,
        batch: bool = False,
        erasing: bool = False,
        durable: bool = True,
        patience: float | None = None,
    ) -> _Result:
        """Return what `work` returns, done as one transaction: exactly once, or not at all.

        Of what is removed, rows are gone for everybody. The server gives their space out again as it vacuums;
        until something is written there, and in its log and its backups, bytes may remain: `vacuum` writes
        the tables anew.
        """
        if self._is_writing:
            with self._part() as session:
                session.lock(namespaces)
                return work(session)

        def written() -> _Result:
            with self._whole(durable=durable, patience=patience) as session:
                session.lock(namespaces)
                return work(session)

        with self.pool.hurried(patience):
            return written() if self._is_trying else self._persisted(written)

    @contextmanager
    def together(self) -> Iterator[None]:
        """Make everything that this thread writes in the block one transaction: all of it, or nothing."""
        try:
            with self._part() if self._is_writing else self._whole():
                yield
        except BaseException:
            # What was read inside the block may be of changes that never came to be.
            self.rollbacks += 1
            raise

    def tried(self, work: Callable[[], _Result]) -> _Result:
        """Return what `work` returns, which is done again if it was undone, or the connection was lost.

        It may read as often as it likes, and write in one transaction. Inside a transaction of this thread
        it is done once: what came before it is undone as well.
        """
        return work() if self.is_inside or self._is_trying else self._persisted(work)

    @contextmanager
    def guarded(self, guard: Callable[[Session], object]) -> Iterator[None]:
        """Run `guard` first in every transaction in which this thread writes in the block; it may refuse."""
        before = getattr(self._here, "guards", ())
        self._here.guards = (*before, guard)
        try:
            yield
        finally:
            self._here.guards = before

    # --- upkeep ---------------------------------------------------------------------------------------

    def alone(self) -> None:
        """Return None: threads have connections of their own."""
        return

    def settled(self) -> int:
        """Wait until no change is on its way, and return a number up to which all are there to be read.

        Numbers are given out before transactions end, and those of two namespaces may end in another order: a
        reader who saw the later one first would never see the other. Every writer shares a lock; to hold it
        alone for an instant is to know that all of them have ended. Whoever begins later gets numbers after
        this moment.
        """
        if self.is_inside:
            return LARGEST
        row = self._asked(f"SELECT pg_advisory_xact_lock({FEED}), {CLOCK}")
        assert row is not None  # a SELECT without a table gives one
        return int(row[1])

    def statistics(self) -> Mapping[str, Any]:
        """Return the size of the database, the server's version, and whether a replica is used."""
        size, version = self._asked(
            "SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint, current_setting('server_version') "
            "FROM pg_class WHERE relkind = 'r' "
            "AND relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'memories'::regclass)"
        ) or (0, "")
        found: dict[str, Any] = {"bytes": int(size), "server": f"PostgreSQL {version}"}
        if self._replica is not None:
            found["replica"] = self._replica.state()
        return found

    def written(self) -> int:
        """Return how often others than the threads of this process have written."""
        held, values = self._session, (list(self._mine),)
        row = self._asked(BY_OTHERS, values) if held is None else held.raw(BY_OTHERS, values).fetchone()
        return int((row or (0,))[0])

    def backup(self, target: str | Path) -> None:
        """Refuse: a server is copied by its own means."""
        raise NotSupportedHere(
            f"a store on a server cannot be copied to {target}; use pg_dump {self.path}, or the server's own "
            "backups"
        )

    def vacuum(self) -> None:
        """Write every table anew; others wait meanwhile, one table at a time."""
        erasing.write_anew(self.url)

    # --- inside ---------------------------------------------------------------------------------------

    @property
    def _session(self) -> PostgresSession | None:
        return getattr(self._here, "session", None)

    @property
    def _is_writing(self) -> bool:
        session = self._session
        return session is not None and session.is_writing

    @property
    def _is_trying(self) -> bool:
        """Whether this thread does again what is undone, so that nothing inside of it has to."""
        return bool(getattr(self._here, "trying", False))

    @contextmanager
    def _holding(self, session: PostgresSession) -> Iterator[None]:
        before, self._here.session = self._session, session
        try:
            yield
        finally:
            self._here.session = before

    @contextmanager
    def _part(self) -> Iterator[PostgresSession]:
        """Run the block as a part of a transaction: if it fails, the part is undone."""
        session = self._session
        assert session is not None  # callers looked
        session.run("SAVEPOINT part")
        try:
            yield session
        except BaseException as error:
            if not isinstance(error, psycopg.Error) and not session.connection.broken:
                session.run("ROLLBACK TO SAVEPOINT part", "RELEASE SAVEPOINT part")
                session.forget()
            raise
        session.run("RELEASE SAVEPOINT part")

    @contextmanager
    def _whole(self, *, durable: bool = True, patience: float | None = None) -> Iterator[PostgresSession]:
        """Run the block as one transaction; if nobody says whether it was committed, ask."""
        unsure: CommitUnsure | None = None
        try:
            with self.pool.writing() as session, self._holding(session):
                if not durable:
                    session.run("SET LOCAL synchronous_commit = off")
                if patience is not None:
                    session.run(f"SET LOCAL lock_timeout = {max(1, round(patience * 1000))}")
                for guard in getattr(self._here, "guards", ()):
                    guard(session)
                yield session
                self._commit(session)
        except CommitUnsure as error:
            # One of another database is for those to ask about who wrote there.
            if error.number not in self._mine:
                raise
            unsure = error
        # The connection is given back by now: there may be no other to ask by.
        if unsure is not None and not self._happened(unsure):
            raise ConnectionLost(
                f"the connection to {self.path} was lost while something was being written, and nothing of "
                "it was; try again, and look at the server if it happens again"
            ) from unsure

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

    def _commit(self, session: PostgresSession) -> None:
        """Count a write and commit it; raise :class:`CommitUnsure` if nobody says whether it was."""
        try:
            writer = self._idle.pop()
        except IndexError:
            writer = Writer()
            self._mine.add(writer.number)
        transaction, begun = session.begun
        try:
            session.finish(writer.counting())
        except psycopg.Error as error:
            # Else its row says something about this write, and must not be counted in any more. A server
            # that is shut down may say so behind what it committed.
            if not session.connection.broken and not isinstance(error, LOST):
                self._idle.append(writer)
                raise
            raise CommitUnsure(
                f"the connection to {self.path} was lost while something was being written, and it "
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
                session.connection.execute(adding_up_the_silent(), prepare=False)

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

    def _asked(self, sql: str, values: Sequence[object] = ()) -> TupleRow | None:
        """Return the first row of one statement; asked once more if the connection is lost."""
        try:
            return self.pool.asked(sql, values)
        except ConnectionLost:
            return self.pool.asked(sql, values)
