"""Transactions, and what is done when one of them fails."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from functools import partial
from typing import Any

import psycopg
import pytest

from memorata.model.errors import StoreError, StoreUnavailable
from memorata.store.database import Session
from memorata.store.rows import find_namespace, made_namespace
from memorata.testing.samples import HERE, NOW, THERE, entry
from memorata_postgres import database as module
from memorata_postgres import session as session_module
from memorata_postgres.database import PostgresDatabase
from memorata_postgres.dialect import USER_KEY, namespace_key
from memorata_postgres.errors import CommitUnsure, ConnectionLost
from memorata_postgres.session import Evidence, PostgresSession
from memorata_postgres.store import PostgresStore


@pytest.fixture
def database(store: PostgresStore, used: str) -> Iterator[PostgresDatabase]:
    """Connections of its own, to the tables of an empty store."""
    opened = PostgresDatabase(used, patience=10)
    yield opened
    opened.close()


def end(used: str, victim: Any) -> None:
    """End a connection from the server's side, as a restart or a failover does."""
    with psycopg.connect(used, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s::int)", (victim.connection.info.backend_pid,))


def put(connection: Session, value: str) -> None:
    connection.execute("INSERT INTO settings (name, value) VALUES (?, ?)", (value, value))


def settings_of(database: PostgresDatabase) -> list[str]:
    rows = database.read(lambda connection: connection.execute("SELECT name FROM settings").fetchall())
    return sorted(name for (name,) in rows)


def test_a_read_that_loses_its_connection_is_done_once_more(database: PostgresDatabase, used: str) -> None:
    tries = []

    def work(connection: Session) -> int:
        tries.append(connection)
        if len(tries) == 1:
            end(used, connection)
        row = connection.execute("SELECT 7").fetchone()
        assert row is not None
        return int(row[0])

    assert database.read(work) == 7
    # The first try, without a transaction, found that it needs one; the second may notice the loss in time.
    assert len(tries) in (2, 3)


def test_a_read_that_loses_it_twice_says_so(database: PostgresDatabase, used: str) -> None:
    def work(connection: Session) -> None:
        end(used, connection)
        connection.execute("SELECT 1").fetchone()

    with pytest.raises(StoreUnavailable, match=r"connection to .* was lost"):
        database.read(work)
    assert settings_of(database) == []


def test_a_write_that_loses_its_connection_is_done_once(database: PostgresDatabase, used: str) -> None:
    tries = []

    def work(connection: Session) -> str:
        tries.append(connection)
        put(connection, "a")
        if len(tries) == 1:
            end(used, connection)
            connection.execute("SELECT 1").fetchone()
        return "done"

    assert database.write(work) == "done"
    assert settings_of(database) == ["a"]


@pytest.mark.parametrize("earlier", [True, False])
@pytest.mark.parametrize(("happened", "reused"), [(True, False), (False, False), (False, True)])
def test_a_commit_without_an_answer_is_asked_about(
    database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch, happened: bool, reused: bool, earlier: bool
) -> None:
    """The connection ends after the server committed, or just before: in both cases once, and only once.

    Also where another transaction has got the number of the one that is asked about, and was committed: a
    server that has crashed knows nothing of numbers that it had not written down.
    """
    if earlier:
        database.write(lambda connection: None)
    if reused:
        monkeypatch.setattr(PostgresDatabase, "_status", lambda self, transaction: "committed")
    finish: Any = PostgresSession.finish
    tries: list[Any] = []

    def failing(self: PostgresSession, *statements: str) -> None:
        if len(tries) == 1:
            if happened:
                finish(self, *statements)
            self.connection.pgconn.finish()
            raise psycopg.OperationalError("the connection is lost")
        finish(self, *statements)

    def work(connection: Session) -> str:
        tries.append(connection)
        put(connection, "a")
        return f"try {len(tries)}"

    monkeypatch.setattr(PostgresSession, "finish", failing)
    assert database.write(work) == ("try 1" if happened else "try 2")
    monkeypatch.undo()
    assert settings_of(database) == ["a"]


def lose_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the next commit happen, and its connection end before it says so."""
    finish: Any = PostgresSession.finish
    losses = iter([True])

    def losing(self: PostgresSession, *statements: str) -> None:
        finish(self, *statements)
        if next(losses, False):
            self.connection.pgconn.finish()
            raise psycopg.OperationalError("the connection is lost")

    monkeypatch.setattr(PostgresSession, "finish", losing)


def test_a_commit_is_asked_about_where_it_was_made(
    database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not at the replica that this thread reads from, which may not have heard of it, and does not answer."""

    @contextmanager
    def replica() -> Iterator[PostgresSession]:
        raise AssertionError("the replica was asked")
        yield  # pragma: no cover - never reached, and makes it a generator

    lose_the_answer(monkeypatch)
    monkeypatch.setattr(database._here, "replica", replica, raising=False)
    database.write(lambda connection: put(connection, "a"))
    monkeypatch.undo()
    assert settings_of(database) == ["a"]


def test_a_commit_is_asked_about_in_a_view_that_began_after_it(
    database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    lose_the_answer(monkeypatch)
    with database.reading():
        assert settings_of(database) == []
        database.write(lambda connection: put(connection, "a"))
    assert settings_of(database) == ["a"]


def test_a_transaction_that_does_not_end_is_not_waited_for_for_ever(
    database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one that waits for a standby which has to confirm it, and is away."""
    monkeypatch.setattr(module, "_MAX_PATIENCES", 0.02)
    monkeypatch.setattr(PostgresDatabase, "_status", lambda self, transaction: "in progress")
    lose_the_answer(monkeypatch)
    with pytest.raises(CommitUnsure, match="look, and write it again if not"):
        database.write(lambda connection: put(connection, "a"))


def test_of_a_block_whose_answer_is_lost_the_server_is_asked(
    database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A block cannot be run again: it is done, or who ran it is told that nothing of it was written."""
    lose_the_answer(monkeypatch)
    with database._whole() as connection:
        put(connection, "a")
    monkeypatch.undo()
    assert settings_of(database) == ["a"]

    def losing(self: PostgresSession, *statements: str) -> None:
        self.connection.pgconn.finish()
        raise psycopg.OperationalError("the connection is lost")

    monkeypatch.setattr(PostgresSession, "finish", losing)
    with pytest.raises(ConnectionLost, match="and nothing of it was; try again"), database._whole() as one:
        put(one, "b")
    monkeypatch.undo()
    assert settings_of(database) == ["a"]


def test_what_another_database_is_unsure_of_is_not_asked_here(database: PostgresDatabase) -> None:
    with pytest.raises(CommitUnsure, match="elsewhere"), database.together():
        raise CommitUnsure("elsewhere", Evidence("7", 1))


def test_work_of_several_steps_is_done_again_when_its_connection_is_lost(
    database: PostgresDatabase, used: str
) -> None:
    tries: list[Any] = []

    def work() -> str:
        with database.reading() as (connection, _):
            connection.execute("SELECT 1").fetchone()
        with database._whole() as connection:
            tries.append(connection)
            put(connection, "a")
            if len(tries) == 1:
                end(used, connection)
            database.write(lambda same: put(same, "b"))
        return "done"

    assert database.attempt(work) == ("done", "")
    assert (len(tries), settings_of(database)) == (2, ["a", "b"])


def test_work_inside_a_transaction_is_not_done_again_without_it(
    database: PostgresDatabase, used: str
) -> None:
    tries: list[Any] = []

    def work(connection: Session) -> None:
        tries.append(connection)
        end(used, connection)
        put(connection, "b")

    def both() -> None:
        with database._whole() as connection:
            put(connection, "a")
            database.attempt(lambda: work(connection))

    with pytest.raises(ConnectionLost):
        both()
    assert (len(tries), settings_of(database)) == (1, [])


def test_what_is_tried_inside_of_what_is_tried_is_not_tried_as_often_again(
    database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_RETRY_SECONDS", 0.0)
    tries = []

    def work(connection: Session) -> None:
        tries.append(connection)
        connection.execute("DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '40001'; END $$")

    with pytest.raises(StoreUnavailable, match="others kept writing to the same memories"):
        database.attempt(lambda: database.attempt(lambda: database.write(work)))
    assert len(tries) == 6


def notes_of(used: str) -> list[tuple[int, int]]:
    with psycopg.connect(used, autocommit=True) as other:
        return other.execute("SELECT namespace, at FROM writes ORDER BY at").fetchall()


def test_every_write_leaves_a_note_with_the_namespace_it_is_about(
    database: PostgresDatabase, store: PostgresStore, used: str
) -> None:
    store.add([entry("a", "tea")])
    store.add([entry("b", "tea", namespace=THERE)])
    database.write(lambda connection: put(connection, "a"))
    with psycopg.connect(used, autocommit=True) as other:
        row = other.execute(f"SELECT {USER_KEY}").fetchone()
    assert row is not None
    assert [key for key, _ in notes_of(used)] == [namespace_key(HERE), namespace_key(THERE), row[0]]


def test_old_notes_are_removed_by_those_who_write_to_the_namespace(
    store: PostgresStore, used: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.add([entry("a", "tea")])
    store.add([entry("b", "tea", namespace=THERE)])
    with psycopg.connect(used, autocommit=True) as other:
        other.execute("UPDATE writes SET at = at - 3601::bigint * 1000000")
    monkeypatch.setattr(session_module, "_FORGET_EVERY", 1)
    store.add([entry("c", "tea")])
    assert [key for key, _ in notes_of(used)] == [namespace_key(THERE), namespace_key(HERE)]


@pytest.mark.parametrize("late", [True, False])
def test_who_asks_too_late_is_not_told_that_nothing_was_written(
    database: PostgresDatabase, used: str, monkeypatch: pytest.MonkeyPatch, late: bool
) -> None:
    """Its note may have been removed by then."""
    monkeypatch.setattr(PostgresDatabase, "_status", lambda self, transaction: "committed")
    at = round((time.time() - (1_900 if late else 1_000)) * 1e6)
    unsure = CommitUnsure("nobody knows", Evidence("7", at, 7))
    if late:
        with pytest.raises(CommitUnsure):
            database._happened(unsure)
    else:
        assert not database._happened(unsure)


def test_two_who_make_a_namespace_at_once_both_know_what_the_other_said(store: PostgresStore) -> None:
    """The second finds out that it was made meanwhile, and looks again before it decides anything."""
    both, tries = threading.Barrier(2, timeout=20), []

    def work(session: Session, name: str) -> int:
        found = find_namespace(session, "new")
        tries.append(found)
        if len(tries) <= 2:
            both.wait()
        made_namespace(session, "new")
        put(session, name)
        return 0 if found is None else 1

    with ThreadPoolExecutor(2) as pool:
        done = [pool.submit(store._database.write, partial(work, name=name)) for name in "ab"]
        assert sorted(each.result(timeout=30) for each in done) == [0, 1]
    assert len(tries) == 3


def test_what_a_server_refuses_in_a_part_is_an_error_of_ours_and_undoes_the_part(
    database: PostgresDatabase,
) -> None:
    def refused(session: Session) -> None:
        put(session, "c")
        session.execute("SELECT 1 / 0").fetchone()

    with database.together():
        database.write(lambda session: put(session, "a"))
        with pytest.raises(StoreError, match="division by zero"):
            database.write(refused)
        database.write(lambda session: put(session, "b"))
        assert settings_of(database) == ["a", "b"]
    assert settings_of(database) == ["a", "b"]


def test_to_let_go_of_a_server_that_is_away_is_no_error(
    database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    database.write(lambda connection: put(connection, "a"))

    def away(*given: object) -> None:
        raise StoreUnavailable("nobody is there")

    with monkeypatch.context() as patched:
        patched.setattr(database.pool, "first_row", away)
        database.close()
    with pytest.raises(StoreError, match="was closed"), database.pool.borrowed():
        pass


def test_a_write_inside_a_look_leaves_the_look_as_it_was(database: PostgresDatabase) -> None:
    with database.reading():
        assert settings_of(database) == []
        database.write(lambda connection: put(connection, "a"))
        assert (database.is_inside, database._is_writing) == (True, False)
        assert settings_of(database) == []
    assert settings_of(database) == ["a"]


def test_a_number_that_no_transaction_has_yet_is_none_that_was_committed(database: PostgresDatabase) -> None:
    assert database._status("4000000000000") == "aborted"
    mine = database.read(
        lambda connection: connection.execute("SELECT pg_current_xact_id()::text").fetchone()
    )
    assert mine is not None
    assert database._status(mine[0]) == "committed"


def test_two_that_wait_for_each_other_both_get_done(database: PostgresDatabase) -> None:
    for path in (HERE, THERE):
        database.write(partial(made_namespace, path=path))
    both = threading.Barrier(2, timeout=20)
    tries: list[str] = []

    def work(connection: Session, first: str, second: str) -> None:
        tries.append(first)
        find_namespace(connection, first)
        if tries.count(first) == 1:
            both.wait()
        find_namespace(connection, second)
        put(connection, first)

    with ThreadPoolExecutor(2) as pool:
        done = [
            pool.submit(database.write, partial(work, first=first, second=second))
            for first, second in ((HERE, THERE), (THERE, HERE))
        ]
        for each in done:
            each.result(timeout=60)
    assert len(tries) == 3
    assert settings_of(database) == sorted([HERE, THERE])


def test_what_is_undone_by_others_again_and_again_is_said(
    database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_RETRY_SECONDS", 0.0)
    tries = []

    def work(connection: Session) -> None:
        tries.append(connection)
        connection.execute("DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '40001'; END $$")

    with pytest.raises(StoreUnavailable, match="others kept writing to the same memories"):
        database.write(work)
    assert len(tries) == 6


def test_what_takes_too_long_is_ended(store: PostgresStore, used: str) -> None:
    hasty = PostgresDatabase(used, statement_seconds=1, patience=0.2)
    with closing(hasty):
        with pytest.raises(StoreUnavailable, match="took too long to answer"):
            hasty.read(lambda connection: connection.execute("SELECT pg_sleep(9)").fetchone())
        with psycopg.connect(used) as other:
            other.execute("LOCK TABLE settings")
            with pytest.raises(StoreUnavailable, match="kept these memories locked for too long"):
                hasty.write(lambda connection: put(connection, "a"))
        assert settings_of(hasty) == []


def test_other_errors_keep_the_transaction_out_and_the_connection_good(database: PostgresDatabase) -> None:
    def work(connection: Session) -> None:
        put(connection, "a")
        connection.execute("SELECT 1 / 0").fetchone()

    for _ in range(3):
        with pytest.raises(StoreError, match="division by zero"):
            database.write(work)
    with suppress(KeyError), database._whole() as connection:
        put(connection, "b")
        raise KeyError
    assert settings_of(database) == []


def test_a_part_that_fails_leaves_the_rest(database: PostgresDatabase) -> None:
    def fail(session: Session) -> None:
        put(session, "c")
        raise KeyError

    with database.together():
        database.write(lambda session: put(session, "a"))
        with pytest.raises(KeyError):
            database.write(fail)
        database.write(lambda session: put(session, "b"))
        assert settings_of(database) == ["a", "b"]
    assert settings_of(database) == ["a", "b"]


def test_no_change_is_told_before_an_earlier_one(store: PostgresStore) -> None:
    """One writer has its number and is not done; another has a later number and is."""
    numbered, go = threading.Event(), threading.Event()

    def slow() -> None:
        with store.together():
            store.add([entry("slow", "tea")])
            numbered.set()
            assert go.wait(30)

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(slow)
        assert numbered.wait(30)
        store.add([entry("quick", "tea", namespace=THERE)])
        feed = pool.submit(store.changes, 0, 10)
        assert not feed.done()
        go.set()
        first.result(timeout=30)
        told = feed.result(timeout=30)
    assert [change.memory_id for change in told] == ["slow", "quick"]


def test_many_writers_to_one_namespace_leave_no_gap(store: PostgresStore) -> None:
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda n: store.add([entry(f"m{n}", "tea milk")]), range(30)))
    assert store.namespaces() == {HERE: 30}
    with store.view(HERE, NOW) as view:
        assert view.document_frequencies(["tea"]) == (30, {"tea": 30})
    numbers = [change.number for change in store.changes(0, 100)]
    assert numbers == sorted(set(numbers))
    assert store.check(lambda memory: entry(memory.id, memory.content).terms) == []


def test_what_others_write_is_noticed_and_what_one_writes_is_not(store: PostgresStore, used: str) -> None:
    other = PostgresStore(used)
    before = store.settings_change(HERE)
    store.add([entry("a", "tea")])
    assert store.settings_change(HERE) == before
    other.saved_settings.save(HERE, "recipe", "mine", {}, {}, NOW)
    after = store.settings_change(HERE)
    assert after != before
    assert store.settings_change(HERE) == after
    other.close()
