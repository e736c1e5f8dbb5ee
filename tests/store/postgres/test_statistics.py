"""What a server counts is what was written, nothing twice and nothing that is gone."""

from collections.abc import Iterator, Mapping
from typing import Any

import psycopg
import pytest

from memorata.store.conformance import DIMENSION, EMBEDDER, HERE, NOW, THERE, direction, entry
from memorata.store.postgres.database import Database
from memorata.store.postgres.schema import OWNED
from memorata.store.postgres.statistics import counted
from memorata.store.postgres.store import PostgresStore


@pytest.fixture
def database(store: PostgresStore, used: str) -> Iterator[Database]:
    """Connections of its own, to the tables of an empty store."""
    opened = Database(used)
    opened.open()
    yield opened
    opened.close()


def count(database: Database) -> dict[str, Any]:
    """Return what is counted, without the bytes, which are the server's own affair."""
    found: Mapping[str, Any] = database.read(counted)
    return {name: value for name, value in found.items() if name != "bytes"}


def test_an_empty_store_has_nothing_of_anything(database: Database) -> None:
    found = count(database)
    assert found.pop("vectors") == {}
    assert found.pop("unfinished_purge") is False
    assert {"memories", "namespaces", "changes"} < found.keys()
    assert set(found.values()) == {0}


def test_each_memory_is_counted_by_what_became_of_it(store: PostgresStore, database: Database) -> None:
    store.use_embedder(EMBEDDER, DIMENSION)
    store.add([entry("a", "tea", direction(1)), entry("b", "milk", direction(0, 1)), entry("c", "cup")])
    store.add([entry("d", "green tea", supersedes=("a",)), entry("e", "tea", namespace=THERE)])
    store.forget(HERE, ["b"], NOW)
    found = count(database)
    assert {name: found[name] for name in ("memories", "forgotten", "superseded", "namespaces")} == {
        "memories": 5,
        "forgotten": 1,
        "superseded": 1,
        "namespaces": 2,
    }
    assert found["vectors"] == {EMBEDDER: 2}


def test_what_is_purged_is_counted_no_more(store: PostgresStore, database: Database) -> None:
    store.use_embedder(EMBEDDER, DIMENSION)
    store.add([entry("a", "tea", direction(1)), entry("b", "milk")])
    before = count(database)
    store.purge(HERE, ["a"])
    after = count(database)
    assert (before["memories"], after["memories"]) == (2, 1)
    # An embedder that nothing is left of is not named.
    assert (before["vectors"], after["vectors"]) == ({EMBEDDER: 1}, {})
    assert after["changes"] > before["changes"]


def test_bytes_are_those_of_every_table_of_ours_with_its_indexes(
    store: PostgresStore, database: Database, used: str
) -> None:
    store.add([entry(f"m{number}", f"tea {number}") for number in range(50)])
    found = database.read(counted)["bytes"]
    with psycopg.connect(used) as connection:
        sizes = {
            table: connection.execute("SELECT pg_total_relation_size(%s::regclass)", (table,)).fetchone()
            for table in OWNED
        }
    assert found == sum(size[0] for size in sizes.values() if size is not None)
    assert found > 0
