import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest

import memorata
from memorata.model.errors import StoreUnavailable
from memorata.store.dialects import SqliteStore


def run(script: str, *arguments: object) -> str:
    ran = subprocess.run(
        [sys.executable, str(Path(__file__).with_name(script)), *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        check=False,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.parametrize("limit", [1_000_000, 2_000_000])
def test_a_full_disk_is_said_and_nothing_is_half_written(tmp_path: Path, limit: int) -> None:
    result = json.loads(run("full_disk.py", tmp_path / "m.db", limit))
    assert result["errors"]
    assert all("disk" in error for error in result["errors"])
    assert result["listed"] == result["acknowledged"] > 20
    assert result["found"] == 5
    assert result["problems"] == []
    assert result["after"] == result["acknowledged"] + 1


def test_a_file_on_a_full_disk_is_opened_to_be_read(tmp_path: Path) -> None:
    told = json.loads(run("reader_on_full_disk.py", tmp_path))
    assert sorted(told) == ["closed.db", "crashed.db"]
    for name, (contents, notes, refusal, count, problems) in told.items():
        assert contents == ["I prefer green tea."]
        assert any(f"{name} is only read" in note and "its disk is full" in note for note in notes)
        assert "its disk is full; free some space, and open it again" in refusal
        assert (count, problems) == (2, [])


def test_a_database_that_may_not_grow_is_said_and_nothing_is_half_written(tmp_path: Path) -> None:
    with memorata.open(tmp_path / "m.db", embedder="lexical", config={"durable": False}) as memory:
        memory.remember_many([f"tea {n}" for n in range(300)])
        connection: sqlite3.Connection = cast("SqliteStore", memory.store)._connection
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages + 2}")
        with pytest.raises(StoreUnavailable, match="full; nothing was written; free some space"):
            memory.remember_many([f"coffee {n} " + "bean " * 100 for n in range(300)])
        assert len(memory.list(limit=1000).memories) == 300
        assert len(memory.recall("coffee", recipe="bm25")) == 0
        first = memory.list(limit=1).memories[0]
        connection.execute("PRAGMA max_page_count = 1000000")
        assert memory.admin.check() == []
        memory.correct(first.id, "coffee after all")
        assert [hit.memory.content for hit in memory.recall("coffee", recipe="bm25")] == ["coffee after all"]


def test_what_may_not_be_written_can_be_read_and_says_so() -> None:
    used, left = map(json.loads, run("reader_without_rights.py").splitlines())
    assert used["recall"] == ["done", "I prefer green tea."]
    assert used["check"] == ["done", "[]"]
    assert used["again"] == ["done", "1"]
    for refused in ("remember", "note"):
        kind, message = used[refused]
        assert kind == "StoreReadOnly"
        assert "the file may not be written; copy it to a folder that can be written" in message
    assert used["folder"] == ["done", "I prefer green tea."]
    assert used["listed"] == ["done", "1"]
    assert used["sound"] == ["done", "[]"]
    assert len(used["notes"]) == 1
    assert "m.db is only read, and recalls are not logged: the file may not be written" in used["notes"][0]
    assert used["log"] == ["done", "I prefer green tea."]
    kind, message = used["alone"]
    assert kind == "StoreUnavailable"
    assert "m.db-wal holds changes that m.db does not have yet" in message
    assert used["new"][0] == "StoreUnavailable"
    assert left == {"unchanged": True, "made": ["m.db"]}


def test_paths_that_cannot_be_files_are_explained(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="is a folder; name a file in it"):
        memorata.open(tmp_path, embedder="lexical")
    with pytest.raises(StoreUnavailable, match="does not exist; create it"):
        memorata.open(tmp_path / "no" / "m.db", embedder="lexical")
    with pytest.raises(StoreUnavailable, match="there is no database at"):
        memorata.open(tmp_path / "m.db", embedder="lexical", config={"must_exist": True})
    assert list(tmp_path.iterdir()) == []


def test_a_locked_file_is_said(tmp_path: Path) -> None:
    with memorata.open(tmp_path / "m.db", embedder="lexical") as memory:
        cast("SqliteStore", memory.store)._connection.execute("PRAGMA busy_timeout = 50")
        other = sqlite3.connect(tmp_path / "m.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="stayed locked by another process"):
            memory.remember("tea")
        assert memory.recall("tea").hits == ()
        other.execute("COMMIT")
        other.close()
        memory.remember("tea")
        assert len(memory.recall("tea")) == 1
