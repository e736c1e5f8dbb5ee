"""A :class:`~memorata.store.database.Database` on a server: transactions, and what is done when one fails.

A read that loses its connection is done once more. A write that is undone because two transactions got in
each other's way is done again; so is one whose connection was lost before it was committed. If it was lost
while it was being committed, the server is asked what became of it, so that no write is ever done twice and
none is reported lost that was not, or done that was not. ``pg_xact_status`` alone cannot tell: a server that
crashed may give the number of a transaction that nobody heard of any more to another one. So every write
leaves a note in its transaction (:class:`~.evidence.Evidence`).

A transaction is a pipeline: its beginning, and statements whose rows nobody reads, go out with the next whose
rows are read, and the last of them with the end.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
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
from memorata.store.database import DatabaseInfo, Session, Statement
from memorata.store.postgres import maintenance, migrations
from memorata.store.postgres.address import parsed
from memorata.store.postgres.errors import LOST, CommitUnsure, ConnectionLost, Contended, ViewMoved, ours
from memorata.store.postgres.evidence import settled
from memorata.store.postgres.optimistic import OptimisticSession
from memorata.store.postgres.pool import NamespaceLocks, Pool
from memorata.store.postgres.replica import LAG, PATIENCE, Replica
from memorata.store.postgres.session import PostgresSession, translated
from memorata.store.rows import LARGEST

_Result = TypeVar("_Result")

_ATTEMPTS: Final = 6
_PAUSE: Final = 0.01
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
        migrations.made_ready(url, must_exist=must_exist)
        self.pool = Pool(
            url,
            durable=durable,
            connections=connections,
            patience=patience,
            statement_seconds=statement_seconds,
        )
        self.url, self.path = url, self.pool.name
        self._locks = NamespaceLocks()
        self._durable, self._patience = durable, patience
        self._here = threading.local()
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
        self.pool.close()

    @property
    def info(self) -> DatabaseInfo:
        """Where it is; what may be written is for the server to say, table by table and user by user."""
        return DatabaseInfo(self.path, replica="" if self._replica is None else self._replica.name)

    @property
    def is_inside(self) -> bool:
        """Whether this thread is inside a transaction."""
        return self._session is not None

    # --- reading --------------------------------------------------------------------------------------

    @contextmanager
    def reading(
        self, namespace: str | None = None
    ) -> Iterator[tuple[PostgresSession | OptimisticSession, bool]]:
        """Run a block on one consistent view; inside a transaction of this thread it is that one's view."""
        if namespace is None:
            with self._reading() as session:
                yield session, False
            return
        with self._locks.held(namespace, patiently=not self.is_inside) as held, self._reading() as session:
            yield session, held

    @contextmanager
    def _reading(self) -> Iterator[PostgresSession | OptimisticSession]:
        held, elsewhere = self._session, getattr(self._here, "elsewhere", None)
        if held is not None:
            yield held
            return
        if elsewhere is None and getattr(self._here, "optimistic", False):
            with ExitStack() as lent:
                borrow = cache(lambda: lent.enter_context(self.pool.lent()))
                hopeful = OptimisticSession(borrow, *self._kept)
                with self._holding(hopeful):
                    yield hopeful
            return
        source = self.pool.reading() if elsewhere is None else elsewhere()
        with source as session, self._holding(session):
            yield session

    def read(self, work: Callable[[Session], _Result]) -> _Result:
        """Return what `work` reads, all of it from one view; done once more if the connection is lost.

        It is first read without a transaction (:class:`~.optimistic.OptimisticSession`).
        """
        if self.is_inside or getattr(self._here, "elsewhere", None) is not None:
            with self._reading() as session:
                return work(session)
        try:
            with self._optimistic(True), self._reading() as session:
                return work(session)
        except (ConnectionLost, ViewMoved, IndexCorrupt):
            self._look_again()
        with self._optimistic(False):
            try:
                with self._reading() as session:
                    return work(session)
            except ConnectionLost:
                pass
            with self._reading() as session:
                return work(session)

    @contextmanager
    def _snapshot(self) -> Iterator[None]:
        """Let everything that this thread reads in the block go by one reading of a namespace's row."""
        before = getattr(self._here, "kept", None)
        self._here.kept = ({}, []) if before is None else before
        try:
            yield
        finally:
            self._here.kept = before

    def _elsewhere(self, work: Callable[[], _Result], *, fresh: bool) -> tuple[_Result, str]:
        """Return what `work` reads from the replica, or why it was not read from there."""
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
    def together(self, undone: Callable[[], None] = lambda: None) -> Iterator[None]:
        """Make everything that this thread writes in the block one transaction: all of it, or nothing."""
        try:
            with self._part() if self._is_writing else self._whole():
                yield
        except BaseException:
            # What was read inside the block may be of changes that never came to be.
            undone()
            raise

    def attempt(
        self, work: Callable[[], _Result], *, replica: bool = False, fresh: bool = False
    ) -> tuple[_Result, str]:
        """Return what `work` returns, which is done again if it was undone, or the connection was lost.

        It may read as often as it likes, and write in one transaction. Inside a transaction of this thread
        it is done once: what came before it is undone as well.
        """

        def once() -> tuple[_Result, str]:
            return self._elsewhere(work, fresh=fresh) if replica else (work(), "")

        with self._snapshot():
            return once() if self.is_inside else self._persisted(once)

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

    def settled(self) -> int:
        """Wait until no change is on its way, and return a number up to which all are there to be read."""
        return LARGEST if self.is_inside else settled(self._asked, self.path, self._patience)

    def backup(self, target: str | Path) -> None:
        """Refuse: a server is copied by its own means."""
        raise NotSupportedHere(
            f"a store on a server cannot be copied to {target}; use pg_dump {self.path}, or the server's own "
            "backups"
        )

    def vacuum(self) -> None:
        """Write every table anew; others wait meanwhile, one table at a time."""
        maintenance.write_anew(self.url)

    # --- inside ---------------------------------------------------------------------------------------

    @property
    def _session(self) -> PostgresSession | OptimisticSession | None:
        return getattr(self._here, "session", None)

    @property
    def _kept(self) -> tuple[dict[str, TupleRow | None], list[tuple[Statement, list[Any]]]]:
        """The rows of namespaces that this thread goes by, and what it has read ahead."""
        return getattr(self._here, "kept", None) or ({}, [])

    def _look_again(self) -> None:
        """Forget what this thread goes by: it is not true any more."""
        for kept in self._kept:
            kept.clear()

    @property
    def _is_writing(self) -> bool:
        session = self._session
        return session is not None and session.is_writing

    @property
    def _is_trying(self) -> bool:
        """Whether this thread does again what is undone, so that nothing inside of it has to."""
        return bool(getattr(self._here, "trying", False))

    @contextmanager
    def _optimistic(self, hopeful: bool) -> Iterator[None]:
        """Let this thread read without transactions in the block, or not."""
        before = getattr(self._here, "optimistic", False)
        self._here.optimistic = hopeful
        try:
            yield
        finally:
            self._here.optimistic = before

    @contextmanager
    def _holding(self, session: PostgresSession | OptimisticSession) -> Iterator[None]:
        before, self._here.session = self._session, session
        try:
            yield
        finally:
            self._here.session = before

    @contextmanager
    def _part(self) -> Iterator[PostgresSession]:
        """Run the block as a part of a transaction: if it fails, the part is undone."""
        session = self._session
        assert isinstance(session, PostgresSession)  # callers looked
        session.run("SAVEPOINT part")
        try:
            yield session
        except BaseException as error:
            if session.connection.broken or isinstance(error, LOST):
                raise
            if isinstance(error, psycopg.Error):
                session.recover()
                raise ours(error, self.url, broken=False) from error
            session.undo_part()
            raise
        session.run("RELEASE SAVEPOINT part")

    @contextmanager
    def _whole(self, *, durable: bool = True, patience: float | None = None) -> Iterator[PostgresSession]:
        """Run the block as one transaction; if nobody says whether it was committed, ask."""
        unsure: CommitUnsure | None = None
        session = None
        try:
            with self.pool.writing() as session, self._holding(session):
                if not durable:
                    session.run("SET LOCAL synchronous_commit = off")
                if patience is not None:
                    session.run(f"SET LOCAL lock_timeout = {max(1, round(patience * 1000))}")
                for guard in getattr(self._here, "guards", ()):
                    guard(session)
                yield session
                self._look_again()
                self._commit(session)
        except CommitUnsure as error:
            # One of another database is for those to ask about who wrote there.
            if session is None or error.note.transaction != session.begun[0]:
                raise
            unsure = error
        # The connection is given back by now: there may be no other to ask by.
        if unsure is not None and not self._happened(unsure):
            raise ConnectionLost(
                f"the connection to {self.path} was lost while something was being written, and nothing of "
                "it was; try again, and look at the server if it happens again"
            ) from unsure

    def _persisted(self, work: Callable[[], _Result]) -> _Result:
        """Return what `work` returns, done again if it was undone; what is inside of such work is not."""
        attempt, lost, moved = 0, False, False
        before, self._here.trying = self._is_trying, True
        try:
            while True:
                attempt += 1
                try:
                    with self._optimistic(attempt == 1):
                        return work()
                except (ViewMoved, IndexCorrupt):
                    if moved:
                        raise
                    moved = True
                    self._look_again()
                except Contended:
                    if before or attempt == _ATTEMPTS:
                        raise
                    sleep(_PAUSE * 2**attempt)
                except ConnectionLost:
                    if before or lost:
                        raise
                    lost = True
        finally:
            self._here.trying = before

    def _commit(self, session: PostgresSession) -> None:
        """Commit a write; raise :class:`CommitUnsure` if nobody says whether it was."""
        note = session.evidence()
        try:
            session.finish(note)
        except psycopg.Error as error:
            # A server that is shut down may say so behind what it committed.
            if not session.connection.broken and not isinstance(error, LOST):
                raise
            raise CommitUnsure(
                f"the connection to {self.path} was lost while something was being written, and it "
                "is not known whether it was; look, and write it again if not",
                note,
            ) from error

    def _happened(self, unsure: CommitUnsure) -> bool:
        """Return whether a transaction of which the answer was lost was committed."""
        until = monotonic() + _ENDINGS * self._patience
        while (status := self._status(unsure.note.transaction)) == "in progress":
            # The server has not noticed yet that nobody is there any more.
            if monotonic() > until:
                raise unsure
            sleep(_PAUSE * 10)
        if status == "aborted":
            return False
        # In a view of its own, which began after the transaction had ended.
        sql, values = unsure.note.asked()
        row = self._asked(translated(sql), values)
        assert row is not None  # a SELECT without a table gives one
        is_late, is_there = row
        if is_late and not is_there:
            raise unsure
        return bool(is_there)

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

    def _asked(self, sql: str, values: Any = ()) -> TupleRow | None:  # noqa: ANN401 - as Statement has them
        """Return the first row of one statement; asked once more if the connection is lost."""
        try:
            return self.pool.asked(sql, values)
        except ConnectionLost:
            return self.pool.asked(sql, values)
