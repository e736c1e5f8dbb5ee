import os
import sqlite3
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from memorata.model.errors import StoreReadOnly, StoreReplaced, StoreUnavailable
from memorata.store.sqlite import connection as connecting
from memorata.store.sqlite.connection import connect, opened_to_read, unwritable
from memorata.store.sqlite.session import (
    READ_ONLY_REQUESTED,
    Reading,
    SqliteSession,
    refuse_to_write,
    writing,
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    connect(tmp_path / "m.db").close()
    return tmp_path / "m.db"


def may_write(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Let only files and folders of these names be written; the superuser may write everything."""
    monkeypatch.setattr(
        os, "access", lambda path, mode, **how: Path(path).exists() and Path(path).name in names
    )


def nothing_beside(monkeypatch: pytest.MonkeyPatch, code: int = sqlite3.SQLITE_CANTOPEN) -> None:
    """Let no file be made beside a database, as on a medium that is read-only."""
    opened = connecting._opened

    class Refused(SqliteSession):
        def execute(self, *arguments: Any) -> sqlite3.Cursor:
            error = sqlite3.OperationalError("unable to open database file")
            error.sqlite_errorcode = code
            raise error

    def open_uri(name: str, *, key: str | None, uri: bool = False) -> SqliteSession:
        refused = "mode=ro" in name
        return sqlite3.connect(name, factory=Refused, uri=True) if refused else opened(name, key=key, uri=uri)

    monkeypatch.setattr(connecting, "_opened", open_uri)


def count(connection: SqliteSession, name: str = "m.db") -> int:
    with Reading(connection, name):
        return int(connection.execute("SELECT count(*) FROM settings").fetchone()[0])


def test_a_file_is_written_if_it_and_its_folder_may_be(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert unwritable(file) == ""
    may_write(monkeypatch, file.name, file.parent.name)
    assert unwritable(file) == ""
    may_write(monkeypatch, file.parent.name)
    assert unwritable(file) == "the file may not be written"
    may_write(monkeypatch, file.name, "m.db-wal", "m.db-shm")
    assert unwritable(file) == "its folder may not be written, where a writer needs more files"
    for beside in ("m.db-wal", "m.db-shm"):
        # Somebody else has it open, and made what is needed.
        (file.parent / beside).touch()
    assert unwritable(file) == ""


def test_a_medium_that_is_read_only_is_said(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    may_write(monkeypatch)
    monkeypatch.setattr(os, "statvfs", lambda path: SimpleNamespace(f_flag=1), raising=False)
    monkeypatch.setattr(os, "ST_RDONLY", 1, raising=False)
    assert unwritable(file) == "its file system is read-only"
    monkeypatch.delattr(os, "statvfs")
    assert unwritable(file) == "the file may not be written"


def test_what_is_not_there_or_no_file_is_for_others_to_refuse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_write(monkeypatch)
    assert unwritable(tmp_path / "none.db") == unwritable(tmp_path) == ""


def test_what_waits_in_a_log_is_read(file: Path) -> None:
    writer = connect(file)
    with writing(writer, "m.db"):
        writer.execute("INSERT INTO settings (name, value) VALUES ('a', '1')")
    assert Path(f"{file}-wal").stat().st_size
    reader = connect(file, read_only=True)
    assert count(reader) == 1
    with writing(writer, "m.db"):
        writer.execute("INSERT INTO settings (name, value) VALUES ('b', '2')")
    assert count(reader) == 2
    reader.close()
    writer.close()


def test_a_file_that_cannot_be_written_is_read_where_nothing_can_be_made_beside_it(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_write(monkeypatch)
    nothing_beside(monkeypatch)
    Path(f"{file}-wal").touch()
    connection = connect(file)
    assert count(connection) == 0
    refused = pytest.raises(StoreReadOnly, match=r"m\.db can only be read .*may not be written; copy it")
    with refused, writing(connection, str(file)):
        pass
    connection.close()
    assert not Path(f"{file}-shm").exists()


@pytest.mark.parametrize("suffix", ["-wal", "-journal"])
def test_changes_that_wait_where_they_cannot_be_read_are_never_passed_over(
    file: Path, monkeypatch: pytest.MonkeyPatch, suffix: str
) -> None:
    may_write(monkeypatch)
    nothing_beside(monkeypatch, sqlite3.SQLITE_READONLY_DIRECTORY)
    Path(f"{file}{suffix}").write_bytes(b"something")
    with pytest.raises(StoreUnavailable, match=rf"m\.db{suffix} holds changes that m\.db does not have yet"):
        connect(file)


def test_other_errors_are_not_taken_for_a_medium_that_is_read_only(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_write(monkeypatch)
    nothing_beside(monkeypatch, sqlite3.SQLITE_BUSY)
    with pytest.raises(StoreUnavailable, match="stayed locked"):
        connect(file)


@pytest.mark.parametrize("when", ["before", "while"])
def test_a_file_that_changes_after_all_is_not_read_on(
    file: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    monkeypatch.setattr(connecting, "unwritable", lambda file: "it may not")
    nothing_beside(monkeypatch)
    connection = connect(file)

    def write() -> None:
        with sqlite3.connect(file) as other:
            other.execute("INSERT INTO settings (name, value) VALUES ('a', '1')")
        other.close()

    if when == "before":
        write()
    with (
        pytest.raises(StoreUnavailable, match="was written to since it was opened to be read; open it again"),
        Reading(connection, str(file)),
    ):
        write()
    assert not connection.in_transaction
    connection.close()


def test_a_medium_that_is_taken_out_is_said(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connecting, "unwritable", lambda file: "it may not")
    nothing_beside(monkeypatch)
    connection = connect(file)
    file.rename(file.with_name("elsewhere.db"))
    with pytest.raises(StoreUnavailable, match=r"cannot be read .*check the path and the disk"):
        count(connection)
    connection.close()


def test_names_that_mean_something_in_an_address_are_names(tmp_path: Path) -> None:
    file = tmp_path / "what? #1 100%.db"
    connect(file).close()
    connection, watch = opened_to_read(
        file, lambda address: sqlite3.connect(address, uri=True, factory=SqliteSession)
    )
    watch()
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        connection.execute("DELETE FROM settings")
    file.unlink()
    with pytest.raises(StoreReplaced, match="was removed"):
        watch()
    connection.close()


def test_whoever_asked_for_it_is_told_how_to_write() -> None:
    refuse_to_write("m.db", "")
    with pytest.raises(StoreReadOnly, match="open it without read_only"):
        refuse_to_write("m.db", READ_ONLY_REQUESTED)
    with pytest.raises(StoreReadOnly, match="copy it to a folder"):
        refuse_to_write("m.db", "the file may not be written")


def test_files_beside_a_database_are_where_it_is_and_not_where_a_link_to_it_is(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (file.parent / "links").mkdir()
    link = file.parent / "links" / "l.db"
    link.symlink_to(file)
    may_write(monkeypatch, file.name, file.parent.name)
    assert unwritable(link) == ""
    may_write(monkeypatch)
    nothing_beside(monkeypatch)
    Path(f"{file}-wal").write_bytes(b"something")
    with pytest.raises(StoreUnavailable, match=r"m\.db-wal holds changes that m\.db does not have yet"):
        connect(link)
