import sqlite3
from pathlib import Path

import pytest

from recollect.model.errors import StoreCorrupt, StoreError, StoreUnavailable
from recollect.store.sqlite import connection as module
from recollect.store.sqlite.connection import connect, expect, reading, translated, writing
from recollect.store.sqlite.schema import APPLICATION_ID, MIGRATIONS


def pragma(connection: sqlite3.Connection, name: str) -> object:
    return connection.execute(f"PRAGMA {name}").fetchone()[0]


@pytest.mark.parametrize(("durable", "level"), [(True, 2), (False, 1)])
def test_a_new_file_is_ours_and_as_durable_as_asked(tmp_path: Path, durable: bool, level: int) -> None:
    for _ in range(2):
        connection = connect(tmp_path / "m.db", durable=durable)
        assert pragma(connection, "application_id") == APPLICATION_ID
        assert pragma(connection, "user_version") == len(MIGRATIONS)
        assert pragma(connection, "journal_mode") == "wal"
        assert pragma(connection, "synchronous") == level
        assert pragma(connection, "foreign_keys") == 1
        assert pragma(connection, "busy_timeout") == 30_000
        connection.close()


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


def test_reading_is_one_view_also_inside_a_transaction(tmp_path: Path) -> None:
    first, second = connect(tmp_path / "m.db"), connect(tmp_path / "m.db")
    count = "SELECT count(*) FROM settings"
    with reading(first, "m"):
        assert first.execute(count).fetchone() == (0,)
        second.execute("INSERT INTO settings VALUES ('a', 'x')")
        with reading(first, "m"):
            assert first.execute(count).fetchone() == (0,)
        assert first.in_transaction
    assert not first.in_transaction
    with reading(first, "m"):
        assert first.execute(count).fetchone() == (1,)
    with writing(first, "m"):
        first.execute("INSERT INTO settings VALUES ('b', 'x')")
        with reading(first, "m"):
            assert first.execute(count).fetchone() == (2,)
        assert first.in_transaction
    first.close()
    second.close()


@pytest.mark.parametrize(
    ("code", "kind", "words"),
    [
        (sqlite3.SQLITE_CORRUPT, StoreCorrupt, "recollect check`, or restore a backup"),
        (sqlite3.SQLITE_NOTADB, StoreCorrupt, "name another file, or restore a backup"),
        (sqlite3.SQLITE_BUSY, StoreUnavailable, "stayed locked"),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, StoreUnavailable, "stayed locked"),
        (sqlite3.SQLITE_READONLY_DBMOVED, StoreUnavailable, "check the permissions"),
        (sqlite3.SQLITE_FULL, StoreUnavailable, "free some space"),
        (sqlite3.SQLITE_IOERR_FSYNC, StoreUnavailable, "the disk"),
        (sqlite3.SQLITE_CANTOPEN, StoreUnavailable, "check the path"),
        (sqlite3.SQLITE_ERROR, StoreError, "boom"),
    ],
)
def test_every_error_of_sqlite_is_said_in_our_words(code: int, kind: type[Exception], words: str) -> None:
    error = sqlite3.OperationalError("boom")
    error.sqlite_errorcode = code
    with pytest.raises(kind, match=words), translated("m.db"):
        raise error


def test_errors_of_other_kinds_pass(tmp_path: Path) -> None:
    with pytest.raises(KeyError), translated("m.db"):
        raise KeyError("x")


def test_a_migration_that_fails_leaves_an_empty_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MIGRATIONS", (*MIGRATIONS, "CREATE TABLE more (x);\nCREATE NONSENSE;"))
    with pytest.raises(StoreError, match="syntax error"):
        connect(tmp_path / "m.db")
    monkeypatch.undo()
    connection = connect(tmp_path / "m.db")
    assert pragma(connection, "user_version") == len(MIGRATIONS)
    connection.close()


def test_an_older_file_is_migrated_step_by_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connection = connect(tmp_path / "m.db")
    connection.execute("INSERT INTO settings VALUES ('a', 'x')")
    connection.close()
    monkeypatch.setattr(module, "MIGRATIONS", (*MIGRATIONS, "CREATE TABLE more (x);"))
    connection = connect(tmp_path / "m.db")
    assert pragma(connection, "user_version") == len(MIGRATIONS) + 1
    assert connection.execute("SELECT count(*) FROM more").fetchone() == (0,)
    assert connection.execute("SELECT value FROM settings").fetchall() == [("x",)]
    connection.close()
