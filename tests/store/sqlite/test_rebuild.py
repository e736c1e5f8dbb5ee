import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memorata.index.record import unpacked
from memorata.model.memory import Memory, Source
from memorata.store.dialects import SqliteStore
from memorata.store.entries import Entry, Terms
from memorata.store.rebuild import session_numbers, unlisted
from memorata.store.sqlite.integrity import mend
from memorata.store.sqlite.session import SqliteSession
from memorata.testing.samples import DIMENSION, EMBEDDER, HERE, direction, entry, words


def terms_of(memory: Memory) -> Terms:
    return {"content": words(memory.content)}


def turn(id: str, session: str) -> Entry:
    said = entry(id, f"tea cup {id}", direction(1, 2))
    return replace(said, memory=replace(said.memory, source=Source(session=session)))


@pytest.fixture
def store() -> Iterator[SqliteStore]:
    """Six memories of three sessions, and four of none."""
    opened = SqliteStore(":memory:")
    opened.use_embedder(EMBEDDER, DIMENSION)
    opened.add([turn(f"{name}{n}", name) for n in range(2) for name in "abc"])
    opened.add([entry(f"m{n}", f"tea cup{n}", direction(1, n)) for n in range(4)])
    yield opened
    opened.close()


def connection(store: SqliteStore) -> SqliteSession:
    return store._connection


def sessions(store: SqliteStore) -> list[int]:
    rows = connection(store).execute("SELECT record FROM records ORDER BY slot").fetchall()
    return [int(each) for each in unpacked([record for (record,) in rows])["session"]]


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM sessions WHERE name = 'b'",
        "UPDATE sessions SET number = 0 WHERE name = 'b'",
        "UPDATE sessions SET number = 'one' WHERE name = 'b'",
        "UPDATE sessions SET number = 99999999999 WHERE name = 'b'",
        "UPDATE sessions SET name = 'elsewhere' WHERE name = 'b'",
        "UPDATE sessions SET name = CAST(x'c3c3' AS TEXT) WHERE name = 'b'",
        "UPDATE sessions SET namespace = 7 WHERE name = 'b'",
    ],
)
def test_sessions_are_told_apart_again(store: SqliteStore, damage: str) -> None:
    assert sessions(store) == [0, 1, 2, 0, 1, 2, -1, -1, -1, -1]
    connection(store).execute("PRAGMA foreign_keys = OFF")
    connection(store).execute(damage)
    assert store.check(terms_of)
    store.check(terms_of, repair=True)
    assert store.check(terms_of) == []
    assert sessions(store) == [0, 1, 2, 0, 1, 2, -1, -1, -1, -1]
    assert session_numbers(connection(store), 1) == ({"a": 0, "b": 1, "c": 2}, True)


def test_a_memory_that_is_gone_takes_its_vectors_along_and_is_missed(store: SqliteStore) -> None:
    store.purge(HERE, ["m1"])
    assert store.check(terms_of) == []
    connection(store).execute("DELETE FROM memories WHERE id = 'm2'")
    lost = f"{HERE}: 1 memories are missing, though they were not purged; restore a backup"
    assert lost in store.check(terms_of)
    store.check(terms_of, repair=True)
    assert store.check(terms_of) == [lost]
    assert connection(store).execute("SELECT count(*) FROM vectors").fetchone() == (8,)


@pytest.mark.parametrize("slot", ["4611686018427387904", "-5", "'five'"])
def test_a_record_that_is_out_of_place_makes_no_others(store: SqliteStore, slot: str) -> None:
    connection(store).execute(f"UPDATE records SET slot = {slot} WHERE slot = 5")
    assert store.check(terms_of)
    store.check(terms_of, repair=True)
    assert store.check(terms_of) == []
    assert connection(store).execute("SELECT count(*), max(slot) FROM records").fetchone() == (10, 9)


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM changes WHERE slot = 4",
        "UPDATE changes SET slot = 8 WHERE slot = 4",
        "UPDATE changes SET slot = 1 WHERE slot = 4",
        "UPDATE changes SET kind = 'addd' WHERE slot = 9",
        "DELETE FROM changes WHERE slot < 3",
        "UPDATE changes SET change = -5 WHERE slot = 4",
    ],
)
def test_every_memory_is_exported_once_and_in_order(store: SqliteStore, damage: str) -> None:
    before = list(store.export(None))
    connection(store).execute(damage)
    assert list(store.export(None)) != before
    assert store.check(terms_of)
    store.check(terms_of, repair=True)
    assert store.check(terms_of) == []
    assert unlisted(connection(store)) == {}
    assert list(store.export(None)) == before


def test_a_lost_segment_is_written_again(store: SqliteStore) -> None:
    store.add([entry(f"n{n}", f"secret{n}", direction(1, n)) for n in range(300)])
    connection(store).execute("DELETE FROM segments")
    store.check(terms_of, repair=True)
    assert store.check(terms_of) == []


def test_what_belongs_to_a_lost_namespace_is_kept_for_it(store: SqliteStore) -> None:
    connection(store).execute("PRAGMA foreign_keys = OFF")
    row = connection(store).execute("SELECT * FROM namespaces").fetchone()
    connection(store).execute("DELETE FROM namespaces")
    store.check(terms_of, repair=True)
    assert store.check(terms_of)
    marks = ", ".join("?" * len(row))
    connection(store).execute(f"INSERT INTO namespaces VALUES ({marks})", row)
    assert store.check(terms_of) == []


@pytest.mark.parametrize(
    "damage", ["vectors = 7", "vectors = 'x'", "namespace = 7", "slot = 8", "embedder = 3"]
)
def test_a_vector_that_says_it_is_elsewhere_goes(store: SqliteStore, damage: str) -> None:
    connection(store).execute("PRAGMA foreign_keys = OFF")
    connection(store).execute("PRAGMA ignore_check_constraints = ON")
    connection(store).execute(f"UPDATE vectors SET {damage} WHERE slot = 3")
    store.rebuild(HERE, terms_of)
    assert connection(store).execute("SELECT count(*) FROM vectors").fetchone() == (9,)
    assert store.check(terms_of) == []


class Lost(SqliteSession):
    """A connection to a file in which SQLite does not find its way."""

    def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
        if statement.startswith("DELETE"):
            raise sqlite3.DatabaseError("database disk image is malformed")
        return super().execute(statement, *values)


def test_a_file_that_cannot_be_mended_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    with closing(SqliteStore(path)) as store:
        store.add([entry("a", "tea")])
    with closing(sqlite3.connect(path, factory=Lost, isolation_level=None)) as file:
        before = list(file.iterdump())
        mend(file)
        assert not file.in_transaction
        assert list(file.iterdump()) == before
