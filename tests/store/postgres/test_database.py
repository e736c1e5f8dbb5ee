"""Transactions, and what is done when one of them fails."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from functools import partial
from typing import Any, cast

import psycopg
import pytest
from tests.store.samples import HERE, NOW, THERE, entry

from memorata.model.errors import StoreError, StoreUnavailable
from memorata.store.database import Session
from memorata.store.postgres import database as module
from memorata.store.postgres.database import PostgresDatabase
from memorata.store.postgres.failing import CommitUnsure, ConnectionLost
from memorata.store.postgres.session import PostgresSession
from memorata.store.postgres.store import PostgresStore
from memorata.store.rows import made_namespace


@pytest.fixture
def database(store: PostgresStore, used: str) -> Iterator[PostgresDatabase]:
    """Connections of its own, to the tables of an empty store."""
    opened = PostgresDatabase(used, patience=10)
    yield opened
    opened.close()


def end(used: str, victim: Any) -> None:
    """End a connection from the server's side, as a restart or a failover does."""
    with psycopg.connect(used, autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s)", (victim.connection.info.backend_pid,))


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
    assert len(tries) == 2


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
    monkeypatch.setattr(database._here, "elsewhere", replica, raising=False)
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
    monkeypatch.setattr(module, "_ENDINGS", 0.02)
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
        raise CommitUnsure("elsewhere", "7", 1, 1, 0.0)


def test_work_of_several_steps_is_done_again_when_its_connection_is_lost(
    database: PostgresDatabase, used: str
) -> None:
    tries: list[Any] = []

    def work() -> str:
        with database.reading() as connection:
            connection.execute("SELECT 1").fetchone()
        with database._whole() as connection:
            tries.append(connection)
            put(connection, "a")
            if len(tries) == 1:
                end(used, connection)
            database.write(lambda same: put(same, "b"))
        return "done"

    assert database.tried(work) == "done"
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
            database.tried(lambda: work(connection))

    with pytest.raises(ConnectionLost):
        both()
    assert (len(tries), settings_of(database)) == (1, [])


def test_what_is_tried_inside_of_what_is_tried_is_not_tried_as_often_again(
    database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PAUSE", 0.0)
    tries = []

    def work(connection: Session) -> None:
        tries.append(connection)
        connection.execute("DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '40001'; END $$")

    with pytest.raises(StoreUnavailable, match="others kept writing to the same memories"):
        database.tried(lambda: database.tried(lambda: database.write(work)))
    assert len(tries) == 6


def writers_of(used: str) -> list[tuple[int, int]]:
    with psycopg.connect(used, autocommit=True) as other:
        return other.execute("SELECT number, writes FROM writers ORDER BY number").fetchall()


def test_writes_are_counted_under_one_number_whichever_connection_makes_them(
    database: PostgresDatabase, used: str
) -> None:
    for round_ in range(3):
        database.write(partial(put, value=f"{round_}"))
        with database.reading() as connection:
            end(used, connection)
        assert [writes for _, writes in writers_of(used)] == [round_ + 1]
    assert len(settings_of(database)) == 3


def test_those_who_write_at_once_are_counted_apart(database: PostgresDatabase, used: str) -> None:
    both = threading.Barrier(2, timeout=20)

    def work(connection: Session, name: str) -> None:
        put(connection, name)
        both.wait()

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(database.write, partial(work, name=name)) for name in "ab"]:
            done.result(timeout=30)
    assert sum(writes for _, writes in writers_of(used)) == 2


def test_what_was_written_is_counted_on_after_the_writers_have_ended(store: PostgresStore, used: str) -> None:
    """In one row, however many they were: else everybody who asks would add up ever more of them."""
    before = store.written()
    for name in "abc":
        other = PostgresStore(used)
        other.remember_setting(name, name)
        noticed = store.written()
        other.close()
        assert store.written() == noticed
    assert noticed == before + 3
    assert writers_of(used) == [(-1, 3)]


def silenced(used: str, days: int) -> None:
    """Let it be so long since anybody has written."""
    with psycopg.connect(used, autocommit=True) as other:
        other.execute("UPDATE writers SET heard = heard - make_interval(days => %s)", (days,))


def test_the_rows_of_those_who_were_killed_are_counted_together_in_the_end(
    store: PostgresStore, used: str
) -> None:
    """By whoever begins to write when nothing was heard of them for a week; not a day sooner."""
    killed = [PostgresDatabase(used, patience=10) for _ in range(3)]
    for number, each in enumerate(killed):
        each.write(partial(put, value=f"{number}"))
        # As a process that ends without a word.
        each.pool.close()
    noticed = store.written()
    silenced(used, 6)
    with closing(PostgresStore(used)) as other:
        other.remember_setting("x", "1")
        assert len(writers_of(used)) == 4
    assert writers_of(used)[0] == (-1, 1)
    silenced(used, 2)
    with closing(PostgresStore(used)) as other:
        other.remember_setting("x", "2")
        assert [row[1] for row in writers_of(used)] == [4, 1]
    assert writers_of(used) == [(-1, 5)]
    assert store.written() == noticed + 2


def test_who_was_only_silent_for_long_is_noticed_and_counts_on(
    database: PostgresDatabase, store: PostgresStore, used: str
) -> None:
    database.write(lambda connection: put(connection, "a"))
    silenced(used, 8)
    with closing(PostgresStore(used)) as other:
        other.remember_setting("x", "1")
    before = store.written()
    assert [number for number, _ in writers_of(used)] == [-1]
    database.write(lambda connection: put(connection, "b"))
    assert store.written() > before
    assert settings_of(database) == ["a", "b", "x"]


def test_who_is_writing_at_the_moment_is_not_silent(database: PostgresDatabase, used: str) -> None:
    database.write(lambda connection: put(connection, "a"))
    silenced(used, 8)
    (mine,) = writers_of(used)
    with psycopg.connect(used) as other:
        other.execute("SELECT 1 FROM writers FOR UPDATE")
        with closing(PostgresStore(used, patience=2)) as third:
            third.remember_setting("x", "1")
    assert mine in writers_of(used)


@pytest.mark.parametrize("late", [True, False])
def test_who_asks_too_late_is_not_told_that_nothing_was_written(
    database: PostgresDatabase, used: str, monkeypatch: pytest.MonkeyPatch, late: bool
) -> None:
    """Its row may have been counted with others by then."""
    monkeypatch.setattr(PostgresDatabase, "_status", lambda self, transaction: "committed")
    unsure = CommitUnsure("nobody knows", "7", 1, 1, time.time() - (86_500 if late else 80_000))
    if late:
        with pytest.raises(CommitUnsure):
            database._happened(unsure)
    else:
        assert not database._happened(unsure)


def test_to_let_go_of_a_server_that_is_away_is_no_error(
    database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    database.write(lambda connection: put(connection, "a"))

    def away(*given: object) -> None:
        raise StoreUnavailable("nobody is there")

    with monkeypatch.context() as patched:
        patched.setattr(database.pool, "asked", away)
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
        cast(PostgresSession, connection).lock([first])
        if tries.count(first) == 1:
            both.wait()
        cast(PostgresSession, connection).lock([second])
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
    monkeypatch.setattr(module, "_PAUSE", 0.0)
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
    before = store.written()
    store.add([entry("a", "tea")])
    assert store.written() == before
    other.saved_settings.save(HERE, "recipe", "mine", {}, {}, NOW)
    after = store.written()
    assert after != before
    assert store.written() == after
    other.close()
