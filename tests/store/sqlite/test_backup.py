"""A copy is whole under its name, or not there, and never takes the place of something else."""

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memorata.model.errors import InvalidArgument, StoreCorrupt, StoreError, StoreUnavailable
from memorata.model.memory import Memory
from memorata.store.dialects import SqliteStore
from memorata.store.entries import Terms
from memorata.testing.samples import (
    DIMENSION,
    EMBEDDER,
    HERE,
    direction,
    entry,
    words,
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "m.db", durable=False)
    yield opened
    opened.close()


def terms_of(memory: Memory) -> Terms:
    return {"content": words(memory.content)}


def test_it_is_a_whole_database_made_while_others_write(store: SqliteStore, tmp_path: Path) -> None:
    store.use_embedder(EMBEDDER, DIMENSION)
    store.add([entry(f"m{n}", "tea", direction(1, n)) for n in range(300)])
    store.backup(tmp_path / "copy.db")
    store.add([entry("later", "tea")])
    copy = SqliteStore(tmp_path / "copy.db", must_exist=True)
    assert copy.namespaces() == {HERE: 300}
    assert copy.check(terms_of) == []
    copy.close()


def test_a_store_in_memory_is_copied_too(tmp_path: Path) -> None:
    store = SqliteStore(":memory:")
    store.add([entry("a", "tea")])
    store.backup(tmp_path / "copy.db")
    store.backup(tmp_path / "copy.db")
    store.close()
    copy = SqliteStore(tmp_path / "copy.db", must_exist=True)
    assert copy.namespaces() == {HERE: 1}
    copy.close()


def test_it_takes_the_place_of_an_older_copy_and_of_nothing_else(store: SqliteStore, tmp_path: Path) -> None:
    store.add([entry("a", "tea")])
    store.backup(tmp_path / "copy.db")
    store.add([entry("b", "tea")])
    store.backup(tmp_path / "copy.db")
    copy = SqliteStore(tmp_path / "copy.db", must_exist=True)
    assert copy.namespaces() == {HERE: 2}
    with pytest.raises(StoreUnavailable, match="in use"):
        store.backup(tmp_path / "copy.db")
    copy.close()
    (tmp_path / "letter.txt").write_text("Dear Anna, " * 100)
    with pytest.raises(StoreCorrupt):
        store.backup(tmp_path / "letter.txt")
    assert (tmp_path / "letter.txt").read_text().startswith("Dear Anna")
    with pytest.raises(InvalidArgument, match="another file than the database itself"):
        store.backup(tmp_path / "m.db")
    with pytest.raises(StoreUnavailable):
        store.backup(tmp_path / "nowhere" / "copy.db")
    assert store.namespaces() == {HERE: 2}


@pytest.mark.parametrize("error", [sqlite3.OperationalError, KeyboardInterrupt, OSError])
def test_one_that_fails_leaves_what_was_there(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    class Failing:
        key = None

        def backup(self, *given: object, **named: object) -> None:
            raise error

    def fails() -> None:
        monkeypatch.setattr(store._database, "session", Failing())
        with pytest.raises((StoreError, KeyboardInterrupt)):
            store.backup(tmp_path / "copy.db")
        monkeypatch.undo()

    store.add([entry("a", "tea")])
    fails()
    assert not list(tmp_path.glob("copy.db*"))
    store.backup(tmp_path / "copy.db")
    fails()
    assert [path.name for path in tmp_path.glob("copy.db*")] == ["copy.db"]
    copy = SqliteStore(tmp_path / "copy.db", must_exist=True)
    assert copy.namespaces() == {HERE: 1}
    copy.close()


@pytest.mark.skipif(os.name == "nt", reason="nobody is killed there by a signal")
def test_who_is_killed_on_the_way_leaves_no_file_of_that_name(store: SqliteStore, tmp_path: Path) -> None:
    store.add([entry("a", "tea")])
    script = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from memorata.store.sqlite import files\n"
        "from memorata.store.dialects import SqliteStore\n"
        "files.to_disk = lambda path: os.kill(os.getpid(), signal.SIGKILL)\n"
        "SqliteStore(sys.argv[1]).backup(Path(sys.argv[2]))\n"
    )
    ended = subprocess.run([sys.executable, "-c", script, tmp_path / "m.db", tmp_path / "copy.db"])
    assert ended.returncode == -signal.SIGKILL
    assert not (tmp_path / "copy.db").exists()
    store.backup(tmp_path / "copy.db")
    assert (tmp_path / "copy.db").exists()
