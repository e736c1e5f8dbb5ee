import os
import signal
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Timer
from time import monotonic
from typing import Any

import pytest

from memorata.model.errors import StoreCorrupt, StoreError, StoreUnavailable
from memorata.store.sqlite import connection as module
from memorata.store.sqlite.connection import connect
from memorata.store.sqlite.schema import APPLICATION_ID, SCHEMA, VERSION
from memorata.store.sqlite.session import (
    Reading,
    SqliteSession,
    Translated,
    expect,
    once,
    together,
    writing,
)


def pragma(connection: SqliteSession, name: str) -> object:
    return connection.execute(f"PRAGMA {name}").fetchone()[0]


@pytest.mark.parametrize(("durable", "level"), [(True, 2), (False, 1)])
def test_a_new_file_is_ours_and_as_durable_as_asked(tmp_path: Path, durable: bool, level: int) -> None:
    for _ in range(2):
        connection = connect(tmp_path / "m.db", durable=durable)
        assert pragma(connection, "application_id") == APPLICATION_ID
        assert pragma(connection, "user_version") == VERSION
        assert pragma(connection, "journal_mode") == "wal"
        assert pragma(connection, "synchronous") == level
        assert pragma(connection, "foreign_keys") == 1
        assert pragma(connection, "busy_timeout") == 30_000
        connection.close()


def test_an_sqlite_that_is_too_old_is_told_before_there_is_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))
    monkeypatch.setattr(sqlite3, "sqlite_version", "3.34.1")
    with pytest.raises(StoreUnavailable, match=r"SQLite 3\.34\.1, and 3\.35 is needed; use another Python"):
        connect(tmp_path / "m.db")
    assert not list(tmp_path.iterdir())


def test_the_log_may_grow_longer_while_batches_are_written(tmp_path: Path) -> None:
    connection = connect(tmp_path / "m.db")
    assert pragma(connection, "wal_autocheckpoint") == 4_000
    for batch, pages in ((True, 16_000), (True, 16_000), (False, 4_000)):
        with writing(connection, "m"):
            expect(connection, batch=batch)
        assert pragma(connection, "wal_autocheckpoint") == pages
    connection.close()


def test_a_transaction_happens_or_does_not(tmp_path: Path) -> None:
    connection = connect(tmp_path / "m.db")
    insert = "INSERT INTO settings VALUES (?, 'x')"
    with writing(connection, "m"):
        connection.execute(insert, ("a",))

    def fail() -> None:
        with writing(connection, "m"):
            connection.execute(insert, ("b",))
            raise KeyError("b")

    with pytest.raises(KeyError):
        fail()
    assert connection.execute("SELECT name FROM settings").fetchall() == [("a",)]
    assert not connection.in_transaction
    connection.close()


class Interrupted(SqliteSession):
    """A connection whose user presses Ctrl-C while it begins."""

    def execute(self, sql: str, values: Any = ()) -> sqlite3.Cursor:
        cursor = super().execute(sql, values)
        if sql.startswith("BEGIN"):
            raise KeyboardInterrupt
        return cursor


@pytest.mark.parametrize("kind", [Reading, writing])
def test_who_is_interrupted_while_beginning_leaves_nothing_begun(tmp_path: Path, kind: Any) -> None:
    connect(tmp_path / "m.db").close()
    connection = sqlite3.connect(tmp_path / "m.db", isolation_level=None, factory=Interrupted)
    with pytest.raises(KeyboardInterrupt), kind(connection, "m"):
        pass
    assert not connection.in_transaction
    connection.close()


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let Ctrl-C end a test, also where these run in a shell's background, which ignores it."""
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, previous)


@pytest.mark.usefixtures("interruptible")
def test_who_waits_to_write_hears_ctrl_c_at_once(tmp_path: Path) -> None:
    writer, waiting = connect(tmp_path / "m.db"), connect(tmp_path / "m.db")
    writer.execute("BEGIN IMMEDIATE")
    begun = monotonic()
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012 - it may come at any moment of these
        Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        with writing(waiting, "m"):
            pass
    # Not only when the wait is over, after 30 seconds.
    assert monotonic() - begun < 20
    assert not waiting.in_transaction
    assert pragma(waiting, "busy_timeout") == 30_000
    writer.execute("ROLLBACK")
    with writing(waiting, "m"):
        assert waiting.in_transaction
    writer.close()
    waiting.close()


@pytest.mark.parametrize("thread", ["main", "another"])
def test_who_waits_to_write_waits_as_long_as_it_takes_or_as_was_said(tmp_path: Path, thread: str) -> None:
    writer, waiting = connect(tmp_path / "m.db"), connect(tmp_path / "m.db")

    def write() -> None:
        with writing(waiting, "m"):
            waiting.execute("INSERT INTO settings VALUES ('a', '1')")

    def run(work: Callable[[], None]) -> None:
        if thread == "main":
            work()
        else:
            with ThreadPoolExecutor(1) as pool:
                pool.submit(work).result()

    writer.execute("BEGIN IMMEDIATE")
    waiting.execute("PRAGMA busy_timeout = 700")
    begun = monotonic()
    with pytest.raises(StoreUnavailable, match="locked by another process"):
        run(write)
    assert 0.6 < monotonic() - begun < 20
    assert pragma(waiting, "busy_timeout") == 700
    waiting.execute("PRAGMA busy_timeout = 30000")
    done = Timer(1.2, writer.execute, ("ROLLBACK",))
    done.start()
    run(write)
    assert pragma(waiting, "busy_timeout") == 30_000
    done.join()
    writer.close()
    waiting.close()


def test_who_is_interrupted_before_the_end_of_reading_leaves_nothing_begun(tmp_path: Path) -> None:
    connection = connect(tmp_path / "m.db")
    look = Reading(connection, "m")
    look.__enter__()
    assert connection.in_transaction
    del look
    assert not connection.in_transaction
    connection.close()


def test_a_transaction_that_cannot_begin_leaves_that_of_others_alone(tmp_path: Path) -> None:
    connection = connect(tmp_path / "m.db")
    with Reading(connection, "m"):
        with pytest.raises(StoreError, match="within a transaction"), writing(connection, "m"):
            pass
        assert connection.in_transaction
    connection.close()


def test_reading_is_one_view_also_inside_a_transaction(tmp_path: Path) -> None:
    first, second = connect(tmp_path / "m.db"), connect(tmp_path / "m.db")
    count = "SELECT count(*) FROM settings"
    with Reading(first, "m"):
        assert first.execute(count).fetchone() == (0,)
        second.execute("INSERT INTO settings VALUES ('a', 'x')")
        with Reading(first, "m"):
            assert first.execute(count).fetchone() == (0,)
        assert first.in_transaction
    assert not first.in_transaction
    with Reading(first, "m"):
        assert first.execute(count).fetchone() == (1,)
    with writing(first, "m"):
        first.execute("INSERT INTO settings VALUES ('b', 'x')")
        with Reading(first, "m"):
            assert first.execute(count).fetchone() == (2,)
        assert first.in_transaction
    first.close()
    second.close()


@pytest.mark.parametrize(
    ("code", "kind", "words"),
    [
        (sqlite3.SQLITE_CORRUPT, StoreCorrupt, "memorata admin check`, or restore a backup"),
        (sqlite3.SQLITE_NOTADB, StoreCorrupt, "name another file, or give its key"),
        (sqlite3.SQLITE_BUSY, StoreUnavailable, "stayed locked"),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, StoreUnavailable, "stayed locked"),
        (sqlite3.SQLITE_READONLY_DBMOVED, StoreUnavailable, "check the permissions"),
        (sqlite3.SQLITE_FULL, StoreUnavailable, "free some space"),
        (sqlite3.SQLITE_IOERR_FSYNC, StoreUnavailable, "the disk"),
        (sqlite3.SQLITE_CANTOPEN, StoreUnavailable, "the permissions of its folder"),
        (sqlite3.SQLITE_ERROR, StoreError, "boom"),
    ],
)
def test_every_error_of_sqlite_is_said_in_our_words(code: int, kind: type[Exception], words: str) -> None:
    error = sqlite3.OperationalError("boom")
    error.sqlite_errorcode = code
    with pytest.raises(kind, match=words), Translated("m.db"):
        raise error


def test_errors_of_other_kinds_pass(tmp_path: Path) -> None:
    with pytest.raises(KeyError), Translated("m.db"):
        raise KeyError("x")


def test_tables_that_cannot_be_made_leave_an_empty_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SCHEMA", f"{SCHEMA}\nCREATE NONSENSE;\n")
    with pytest.raises(StoreError, match="syntax error"):
        connect(tmp_path / "m.db")
    monkeypatch.undo()
    connection = connect(tmp_path / "m.db")
    assert pragma(connection, "user_version") == VERSION
    connection.close()


def added(connection: SqliteSession, name: str) -> None:
    with writing(connection, "m"):
        connection.execute("INSERT INTO settings (name, value) VALUES (?, '')", (name,))


def failing(connection: SqliteSession, name: str) -> None:
    with suppress(ValueError), writing(connection, "m"):
        connection.execute("INSERT INTO settings (name, value) VALUES (?, '')", (name,))
        raise ValueError


def names(connection: SqliteSession) -> list[str]:
    return [name for (name,) in connection.execute("SELECT name FROM settings ORDER BY name")]


def test_what_is_written_together_survives_a_part_that_fails(tmp_path: Path) -> None:
    connection = connect(tmp_path / "m.db")
    with together(connection, "m"):
        failing(connection, "first")
        added(connection, "second")
        failing(connection, "third")
        added(connection, "fourth")
    assert names(connection) == ["fourth", "second"]
    connection.close()


def test_the_first_part_needs_no_savepoint(tmp_path: Path) -> None:
    connection, said = connect(tmp_path / "m.db"), list[str]()
    connection.set_trace_callback(said.append)
    with together(connection, "m"):
        added(connection, "first")
        added(connection, "second")
    connection.set_trace_callback(None)
    assert [text for text in said if not text.startswith(("INSERT", "PRAGMA"))] == [
        "BEGIN IMMEDIATE",
        "SAVEPOINT part",
        "RELEASE part",
        "COMMIT",
    ]
    connection.close()


def test_parts_do_not_go_on_from_what_others_have_changed(tmp_path: Path) -> None:
    first, second = connect(tmp_path / "m.db"), connect(tmp_path / "m.db")
    begun = list[str]()

    def in_between(text: str) -> None:
        if text == "BEGIN IMMEDIATE":
            begun.append(text)
            if len(begun) == 2:
                added(second, "theirs")

    def survived() -> None:
        with together(first, "m"):
            failing(first, "first")
            added(first, "second")

    first.set_trace_callback(in_between)
    with pytest.raises(StoreUnavailable, match="was undone"):
        survived()
    first.set_trace_callback(None)
    assert names(first) == ["theirs"]
    added(first, "mine")
    assert names(second) == ["mine", "theirs"]
    first.close()
    second.close()


def test_a_transaction_reads_once_until_something_changes(tmp_path: Path) -> None:
    connection = connect(tmp_path / "m.db")

    def seen() -> list[str]:
        return once(connection, "names", lambda: names(connection))

    assert seen() is not seen()
    with Reading(connection, "m"):
        assert seen() is seen()
    with together(connection, "m"):
        assert seen() == []
        assert seen() is seen()
        added(connection, "first")
        assert seen() == ["first"]
        with suppress(ValueError), writing(connection, "m"):
            connection.execute("INSERT INTO settings (name, value) VALUES ('second', '')")
            assert seen() == ["first", "second"]
            raise ValueError
        assert seen() == ["first"]
    with suppress(ValueError), together(connection, "m"):
        with suppress(ValueError), writing(connection, "m"):
            connection.execute("DELETE FROM settings")
            assert seen() == []
            raise ValueError
        assert seen() == ["first"]
        connection.execute("DELETE FROM settings")
        assert seen() == []
        raise ValueError
    with together(connection, "m"):
        assert seen() == ["first"]
    connection.close()


def test_a_text_that_is_no_utf_8_is_damage(tmp_path: Path) -> None:
    connection = connect(tmp_path / "m.db")
    with pytest.raises(StoreCorrupt, match="no UTF-8; run `memorata admin check`"), Translated("m.db"):
        connection.execute("SELECT CAST(x'c3c3' AS TEXT)").fetchall()
    connection.close()
