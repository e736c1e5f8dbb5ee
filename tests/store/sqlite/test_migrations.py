"""Older files: a copy of them as they were, and a migration that happens whole or not at all."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from memorata.model.errors import StoreError, StoreTooNew, StoreUnavailable
from memorata.store.dialects import SqliteStore
from memorata.store.sqlite import connection as module
from memorata.store.sqlite.connection import connect
from memorata.store.sqlite.migrations import MIGRATIONS, Migration

NOW = len(MIGRATIONS)
NEXT = NOW + 1


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database of today's schema that knows one setting."""
    made = tmp_path / "m.db"
    with closing(connect(made)) as connection:
        connection.execute("INSERT INTO settings VALUES ('tea', 'green')")
    return made


@pytest.fixture
def newer(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tomorrow's code, which has one more table than the database that was made today."""
    more = "CREATE TABLE more (x);\nINSERT INTO more VALUES (1);"
    monkeypatch.setattr(module, "MIGRATIONS", (*MIGRATIONS, more))


def opened(path: Path, **options: Any) -> list[Migration]:
    """Open and close a database, and return the migrations that were done."""
    with closing(connect(path, **options)) as connection:
        return [] if connection.migration is None else [connection.migration]


def dump(path: Path) -> tuple[int, list[str]]:
    """Return the schema number of a file and everything in it."""
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("PRAGMA user_version").fetchone()[0], list(connection.iterdump())


def backups(path: Path) -> list[str]:
    return sorted(each.name for each in path.parent.iterdir() if "schema" in each.name)


def test_a_new_file_and_one_of_today_need_no_migration(tmp_path: Path, path: Path) -> None:
    assert opened(tmp_path / "other.db") == []
    assert opened(path) == []
    assert backups(path) == []


@pytest.mark.usefixtures("newer")
def test_the_file_as_it_was_is_kept_beside_it(path: Path) -> None:
    before = dump(path)
    kept = path.with_name(f"m.db.schema-{NOW}.backup")
    assert opened(path) == [Migration(NOW, NEXT, kept)]
    assert dump(kept) == before
    assert dump(path)[0] == NEXT
    assert 'INSERT INTO "more" VALUES(1);' in dump(path)[1]
    assert opened(path) == []


@pytest.mark.usefixtures("newer")
def test_a_copy_is_never_written_over(path: Path) -> None:
    path.with_name(f"m.db.schema-{NOW}.backup").write_text("precious")
    opened(path)
    assert backups(path) == [f"m.db.schema-{NOW}-2.backup", f"m.db.schema-{NOW}.backup"]
    assert path.with_name(f"m.db.schema-{NOW}.backup").read_text() == "precious"


@pytest.mark.usefixtures("newer")
def test_the_copy_can_be_switched_off(path: Path) -> None:
    assert opened(path, migration_backup=False) == [Migration(NOW, NEXT, None)]
    assert backups(path) == []


@pytest.mark.usefixtures("newer")
def test_the_copy_has_what_was_only_in_the_log(path: Path) -> None:
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("INSERT INTO settings VALUES ('milk', 'none')")
        writer.commit()
        # As long as somebody has it open, the last write is in the log and not in the file.
        [done] = opened(path)
    assert done.backup is not None
    with closing(sqlite3.connect(done.backup)) as copy:
        assert copy.execute("SELECT name FROM settings ORDER BY name").fetchall() == [("milk",), ("tea",)]


def test_a_migration_that_fails_half_way_leaves_the_file_as_it_was(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = dump(path)
    broken = "CREATE TABLE more (x);\nDELETE FROM settings;\nCREATE NONSENSE;"
    monkeypatch.setattr(module, "MIGRATIONS", (*MIGRATIONS, broken))
    with pytest.raises(StoreError, match="syntax error"):
        connect(path)
    assert dump(path) == before
    assert backups(path) == []
    monkeypatch.undo()
    assert opened(path) == []


def test_a_migration_that_cannot_be_committed_leaves_no_copies_behind(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = dump(path)
    late = "PRAGMA defer_foreign_keys = ON;\nINSERT INTO sessions VALUES (99, 'nobody', 0);"
    monkeypatch.setattr(module, "MIGRATIONS", (*MIGRATIONS, late))
    for _ in range(2):
        with pytest.raises(StoreError, match="FOREIGN KEY"):
            opened(path)
    assert dump(path) == before
    assert backups(path) == []


@pytest.mark.usefixtures("newer")
def test_without_room_for_the_copy_nothing_is_changed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = dump(path)

    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(StoreUnavailable, match=r"nothing was changed.*MIGRATION_BACKUP=false"):
        connect(path)
    monkeypatch.undo()
    assert dump(path) == before
    assert backups(path) == []


def test_a_process_of_an_older_schema_writes_nothing_after_a_migration(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(SqliteStore(path)) as older:
        older.remember_setting("tea", "black")
        with monkeypatch.context() as patched:
            patched.setattr(module, "MIGRATIONS", (*MIGRATIONS, "CREATE TABLE more (x);"))
            opened(path)
        with pytest.raises(StoreTooNew, match=f"from schema {NOW} to {NEXT} by another Memorata since"):
            older.remember_setting("tea", "white")
        with pytest.raises(StoreTooNew), older.together():
            older.remember_setting("tea", "white")
        assert older.setting("tea") == "black"
