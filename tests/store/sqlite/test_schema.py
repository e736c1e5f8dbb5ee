import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from memorata.model.errors import StoreTooNew
from memorata.store.dialects import SqliteStore
from memorata.store.sqlite.connection import connect
from memorata.store.sqlite.schema import APPLICATION_ID, VERSION


def test_the_file_says_whose_it_is_and_of_which_schema(tmp_path: Path) -> None:
    assert APPLICATION_ID.to_bytes(4, "big") == b"MMRA"
    with closing(connect(tmp_path / "m.db")) as connection:
        assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
        assert connection.execute("PRAGMA user_version").fetchone() == (VERSION,)


def test_a_process_of_an_older_schema_writes_nothing_to_a_newer_file(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with closing(SqliteStore(path)) as older:
        older.remember_setting("tea", "black")
        with closing(sqlite3.connect(path)) as newer:
            newer.execute(f"PRAGMA user_version = {VERSION + 1}")
        with pytest.raises(
            StoreTooNew, match=f"from schema {VERSION} to {VERSION + 1} by another Memorata since"
        ):
            older.remember_setting("tea", "white")
        with pytest.raises(StoreTooNew), older.together():
            older.remember_setting("tea", "white")
        assert older.setting("tea") == "black"
