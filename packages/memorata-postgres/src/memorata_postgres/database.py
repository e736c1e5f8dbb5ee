"""A :class:`~memorata.store.database.Database` on a server: transactions, and their retries.

A read that loses its connection is done once more. A write that is undone because two transactions got in
each other's way is done again; so is one whose connection was lost before it was committed. If it was lost
while it was being committed, the state of the transaction is read from the server, so that no write is ever
done twice and none is reported lost that was not, or done that was not. ``pg_xact_status`` alone cannot tell:
a server that crashed may use the number of a transaction again whose commit it never acknowledged. So every
write leaves a note in its transaction (:class:`~.session.Evidence`).

A transaction is a pipeline: its beginning, and statements without rows to read, are sent with the next whose
rows are read, and the last of them with the end.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cache
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final, TypeVar

import psycopg
from psycopg.errors import InvalidParameterValue
from psycopg.rows import TupleRow

from memorata.extend.errors import (
    IndexCorrupt,
    MemorataError,
    NotSupportedHere,
    ServerUnsuitable,
    StoreCorrupt,
    StoreError,
    StoreUnavailable,
)
from memorata.extend.stores import LARGEST, DatabaseInfo, Session
from memorata_postgres.address import parsed
from memorata_postgres.dialect import OWNED
from memorata_postgres.errors import (
    LOST,
    CommitUnsure,
    ConnectionLost,
    Contended,
    RowOutdated,
    ViewMoved,
    connected,
    ours,
)
from memorata_postgres.pool import LAG, PATIENCE, NamespaceLocks, Pool, Replica
from memorata_postgres.schema import make_ready
from memorata_postgres.session import (
    CLOCK,
    KnownRows,
    OptimisticSession,
    PostgresSession,
    Snapshot,
    translated,
)

_Result = TypeVar("_Result")

_MAX_ATTEMPTS: Final = 6
_RETRY_SECONDS: Final = 0.01
_MAX_PATIENCES: Final = 11
"""How many times `patience` a transaction is waited for; after 10, the server ends one that idles."""

_WRITING: Final = """
    SELECT coalesce(array_agg(DISTINCT l.virtualtransaction), '{}') FROM pg_locks l
    WHERE l.locktype = 'relation' AND l.relation = 'namespaces'::regclass AND l.pid <> pg_backend_pid()
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND l.mode IN ('RowShareLock', 'RowExclusiveLock') AND (
            NOT row_security_active('namespaces') OR l.pid IN (
                SELECT a.pid FROM pg_stat_activity a WHERE a.usesysid IN (
                    (SELECT oid FROM pg_roles WHERE rolname = session_user),
                    (SELECT relowner FROM pg_class WHERE oid = 'namespaces'::regclass)
                )
            )
        )
"""
"""The transactions that hold locks on rows of namespaces."""


class _Here(threading.local):
    """The state of a thread: its transaction, and how it reads."""

    session: PostgresSession | OptimisticSession | None = None
    """The transaction that it is inside of."""
    snapshot: Snapshot | None = None
    """What its reads without transactions are checked against, and what it has read ahead."""
    optimistic = False
    """Whether it reads without transactions."""
    trying = False
    """Whether it retries work that was undone, so that nothing inside of it has to."""
    guards: tuple[Callable[[Session], object], ...] = ()
    replica: Callable[[], AbstractContextManager[PostgresSession]] | None = None
    """Opens a session on the replica, if it reads there."""

    @contextmanager
    def where(self, **values: Any) -> Iterator[None]:  # noqa: ANN401 - of the attributes above
        """Set attributes for the length of a block."""
        before = {name: getattr(self, name) for name in values}
        vars(self).update(values)
        try:
            yield
        finally:
            vars(self).update(before)


class PostgresDatabase:
    """A server.

    It is reached at an address (`url`) by at most so many `connections`; a thread needs one at a time.
    Without `durable`, a crash of the server may lose what it acknowledged last (``synchronous_commit``). With
    `must_exist`, a database without our tables is an error rather than a new store. A connection, or a lock
    of others, is waited for `patience` seconds; one statement may take `statement_seconds`. A `replica`
    repeats what this server writes, for reads that may be a little old: it may be `replica_lag` seconds
    behind, and is waited for `replica_patience` seconds before this server is read instead.
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
        make_ready(url, must_exist=must_exist)
        limits: dict[str, Any] = {"connections": connections, "statement_seconds": statement_seconds}
        self.pool = Pool(url, durable=durable, patience=patience, **limits)
        self.url, self.path = url, self.pool.name
        self._locks = NamespaceLocks()
        self._known: KnownRows = {}
        self._durable, self._patience = durable, patience
        self._here = _Here()
        self._replica: Replica | None = None
        if replica is not None:
            self._replica = Replica(replica, lag=replica_lag, patience=replica_patience, **limits)
        self.pool.open()

    def close(self) -> None:
        """Let go of all connections."""
        if self._replica is not None:
            self._replica.close()
        self.pool.close()

    @property
    def info(self) -> DatabaseInfo:
        """Where it is; what may be written is decided by the server, table by table and user by user."""
        return DatabaseInfo(self.path, replica="" if self._replica is None else self._replica.name)

    @property
    def is_inside(self) -> bool:
        """Whether this thread is inside a transaction."""
        return self._here.session is not None

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
        here = self._here
        if here.session is not None:
            yield here.session
            return
        if here.replica is None and here.optimistic:
            with ExitStack() as lent:
                borrow = cache(lambda: lent.enter_context(self.pool.lent()))
                optimistic = OptimisticSession(borrow, here.snapshot or Snapshot())
                with here.where(session=optimistic):
                    yield optimistic
            return
        source = self.pool.reading() if here.replica is None else here.replica()
        with source as session, here.where(session=session):
            yield session

    def read(self, work: Callable[[Session], _Result]) -> _Result:
        """Return what `work` reads, all of it from one view; done once more if the connection is lost.

        It is first read without a transaction (:class:`~.session.OptimisticSession`).
        """
        if self.is_inside or self._here.replica is not None:
            with self._reading() as session:
                return work(session)
        try:
            with self._here.where(optimistic=True), self._reading() as session:
                return work(session)
        except RowOutdated:
            raise
        except (ConnectionLost, ViewMoved, IndexCorrupt):
            self._drop_snapshot()
        with self._here.where(optimistic=False):
            try:
                with self._reading() as session:
                    return work(session)
            except ConnectionLost:
                pass
            with self._reading() as session:
                return work(session)

    def _verified(self, work: Callable[[], _Result]) -> _Result:
        """Return what `work` returns; raise :class:`RowOutdated` if it rests on a row that has changed."""
        try:
            result = work()
        except StoreUnavailable:
            raise
        except MemorataError:
            self._verify()
            raise
        self._verify()
        return result

    def _verify(self) -> None:
        """Read the rows that this thread has taken as they were last read."""
        snapshot = self._here.snapshot
        if snapshot is not None and snapshot.assumed:
            with self.pool.lent() as connection:
                OptimisticSession(lambda: connection, snapshot).read()

    def _read_replica(self, work: Callable[[], _Result], *, fresh: bool) -> tuple[_Result, str]:
        """Return what `work` reads from the replica, or why it was not read from there."""
        replica = self._replica
        if replica is None or self.is_inside:
            return work(), ""
        try:
            # What need not survive a crash is acknowledged before it is in the files of the log.
            function = "pg_current_wal_flush_lsn" if self._durable else "pg_current_wal_insert_lsn"
            place = self._first_row(f"SELECT {function}()::text") if fresh else None
            with self._here.where(replica=lambda: replica.reading(None if place is None else str(place[0]))):
                return work(), ""
        except (StoreUnavailable, StoreCorrupt, ServerUnsuitable, IndexCorrupt) as error:
            why = str(error)
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

        Removed rows are gone for all readers. The server uses their space again as it vacuums; until then,
        and in its log and its backups, bytes may remain: `vacuum` writes the tables anew.
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
            return written() if self._here.trying else self._persisted(written)

    @contextmanager
    def together(self, undone: Callable[[], None] = lambda: None) -> Iterator[None]:
        """Make everything that this thread writes in the block one transaction: all of it, or nothing."""
        try:
            with self._part() if self._is_writing else self._whole():
                yield
        except BaseException:
            # What was read inside the block may be of changes that were rolled back.
            undone()
            raise

    def attempt(
        self, work: Callable[[], _Result], *, replica: bool = False, fresh: bool = False
    ) -> tuple[_Result, str]:
        """Return what `work` returns, which is done again if it was undone, or the connection was lost.

        It may read any number of times, and write in one transaction. Inside a transaction of this thread it
        is done once: what came before it is undone as well.
        """

        def once() -> tuple[_Result, str]:
            return self._read_replica(work, fresh=fresh) if replica else (work(), "")

        if self.is_inside:
            return once()
        with self._here.where(snapshot=self._here.snapshot or Snapshot(self._known)):
            return self._persisted(lambda: self._verified(once))

    def guarded(self, guard: Callable[[Session], object]) -> AbstractContextManager[None]:
        """Run `guard` first in every transaction in which this thread writes in the block; it may refuse."""
        return self._here.where(guards=(*self._here.guards, guard))

    # --- upkeep ---------------------------------------------------------------------------------------

    def settled(self) -> int:
        """Wait until no change is on its way, and return a number up to which all are there to be read.

        Numbers are drawn before transactions end, and two transactions may end in another order: a reader of
        the later number would never look for the earlier one. Every writer locks the row of its
        namespace, and draws numbers no less than the time it had then: so once all transactions have ended
        that hold such a lock now, no number before this moment is drawn any more. A tenant waits for its own
        writers and for the owner's only, whose changes alone it can see.
        """
        if self.is_inside:
            return LARGEST
        (now,) = self._first_row(f"SELECT {CLOCK}") or (0,)
        until, waited_for = monotonic() + self._patience, None
        while True:
            running = frozenset((self._first_row(_WRITING) or ((),))[0])
            waited_for = running if waited_for is None else waited_for & running
            if not waited_for:
                return int(now)
            if monotonic() > until:
                raise StoreUnavailable(
                    f"{self.path}: a transaction has kept namespaces locked for {self._patience:g} s; what "
                    "it changes is not known yet; end it (pg_stat_activity shows it), and try again"
                )
            sleep(_RETRY_SECONDS)

    def backup(self, target: str | Path) -> None:
        """Refuse: a server is copied by its own means."""
        raise NotSupportedHere(
            f"a store on a server cannot be copied to {target}; use pg_dump {self.path}, or the server's own "
            "backups"
        )

    def vacuum(self) -> None:
        """Write every table that may have held something of a memory anew; others wait, a table at a time.

        A server forgets where deleted rows were, not the rows: only a table that is written anew holds
        nothing else. Its log (WAL) and its backups are not touched.
        """
        with connected(self.url) as connection:
            for table in (*OWNED, "namespaces", "replies"):
                connection.execute(f"VACUUM (FULL, ANALYZE) {table}")

    # --- inside ---------------------------------------------------------------------------------------

    def _drop_snapshot(self) -> None:
        """Forget the rows that this thread checks its reads against: they have changed."""
        if self._here.snapshot is not None:
            self._here.snapshot.drop()

    @property
    def _is_writing(self) -> bool:
        session = self._here.session
        return session is not None and session.is_writing

    @contextmanager
    def _part(self) -> Iterator[PostgresSession]:
        """Run the block as a part of a transaction: if it fails, the part is undone."""
        session = self._here.session
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
        """Run the block as one transaction; if the answer to its commit is lost, find out what happened."""
        unsure: CommitUnsure | None = None
        session = None
        self._verify()
        try:
            with self.pool.writing() as session, self._here.where(session=session):
                if not durable:
                    session.run("SET LOCAL synchronous_commit = off")
                if patience is not None:
                    session.run(f"SET LOCAL lock_timeout = {max(1, round(patience * 1000))}")
                for guard in self._here.guards:
                    guard(session)
                yield session
                self._drop_snapshot()
                self._commit(session)
                for path in session.paths:
                    self._known.pop(path, None)
        except CommitUnsure as error:
            # The transaction of another database is resolved by that one.
            if session is None or error.note.transaction != session.begun[0]:
                raise
            unsure = error
        # The connection is back in the pool by now: it may be the only one there is.
        if unsure is not None and not self._happened(unsure):
            raise ConnectionLost(
                f"the connection to {self.path} was lost while something was being written, and nothing of "
                "it was; try again, and look at the server if it happens again"
            ) from unsure

    def _persisted(self, work: Callable[[], _Result]) -> _Result:
        """Return what `work` returns, done again if it was undone; nested calls do not retry."""
        attempt, lost, moved, inside = 0, False, False, self._here.trying
        while True:
            attempt += 1
            try:
                with self._here.where(trying=True, optimistic=attempt == 1):
                    return work()
            except RowOutdated as error:
                if inside and error.settings:
                    raise
                attempt = 0
            except (ViewMoved, IndexCorrupt):
                if moved:
                    raise
                moved = True
                self._drop_snapshot()
            except Contended:
                if inside or attempt == _MAX_ATTEMPTS:
                    raise
                sleep(_RETRY_SECONDS * 2**attempt)
            except ConnectionLost:
                if inside or lost:
                    raise
                lost = True

    def _commit(self, session: PostgresSession) -> None:
        """Commit a write; raise :class:`CommitUnsure` if the answer is lost."""
        note = session.evidence()
        try:
            session.finish(note)
        except psycopg.Error as error:
            # A server that is shut down may report that after the commit.
            if not session.connection.broken and not isinstance(error, LOST):
                raise
            raise CommitUnsure(
                f"the connection to {self.path} was lost while something was being written, and it "
                "is not known whether it was; look, and write it again if not",
                note,
            ) from error

    def _happened(self, unsure: CommitUnsure) -> bool:
        """Return whether a transaction of which the answer was lost was committed."""
        until = monotonic() + _MAX_PATIENCES * self._patience
        while (status := self._status(unsure.note.transaction)) == "in progress":
            # The server has not noticed yet that the connection is closed.
            if monotonic() > until:
                raise unsure
            sleep(_RETRY_SECONDS * 10)
        if status == "aborted":
            return False
        # In a view of its own, which began after the transaction had ended.
        sql, values = unsure.note.query()
        row = self._first_row(translated(sql), values)
        assert row is not None  # a SELECT without a table gives one
        is_late, is_there = row
        if is_late and not is_there:
            raise unsure
        return bool(is_there)

    def _status(self, transaction: str) -> str:
        """Return what became of the last transaction of that number: committed, aborted, or in progress."""
        try:
            row = self._first_row("SELECT pg_xact_status(%s::xid8)", (transaction,))
        except StoreError as error:
            # After a crash the number may be one that the server has not used yet.
            if isinstance(error.__cause__, InvalidParameterValue):
                return "aborted"
            raise
        return str((row or ("",))[0])

    def _first_row(self, sql: str, values: Any = ()) -> TupleRow | None:  # noqa: ANN401 - as Statement has them
        """Return the first row of one statement; done once more if the connection is lost."""
        try:
            return self.pool.first_row(sql, values)
        except ConnectionLost:
            return self.pool.first_row(sql, values)
