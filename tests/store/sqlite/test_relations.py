"""Relations in the file: who holds them, and that a write is whole or nothing."""

from collections.abc import Iterator

import pytest

from memorata.model import InvalidArgument, Relation
from memorata.store.dialects import SqliteStore
from memorata.testing.samples import HERE, NOW, THERE, entry


@pytest.fixture
def store() -> Iterator[SqliteStore]:
    opened = SqliteStore(":memory:")
    yield opened
    opened.close()


def rows(store: SqliteStore, table: str) -> int:
    return int(store._connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def test_a_batch_with_one_mistake_leaves_nothing(store: SqliteStore) -> None:
    good, bad = Relation("Anna", "knows", "Ben"), Relation("\u200b", "knows", "Ben")
    with pytest.raises(InvalidArgument, match="subject must be a name that is not blank"):
        store.relations.add(HERE, [good, bad], NOW)
    assert [rows(store, table) for table in ("entities", "names", "relations", "changes", "namespaces")] == [
        0
    ] * 5


def test_a_memory_takes_its_relations_along(store: SqliteStore) -> None:
    store.add([entry("m1", "tea"), entry("m1", "tea", namespace=THERE)])
    for namespace in (HERE, THERE):
        store.relations.add(namespace, [Relation("Anna", "knows", "Ben", asserted_by="m1")], NOW)
    store.purge(HERE, ["m1"])
    assert rows(store, "relations") == 1
    assert store.relations.list(THERE)[0].asserted_by == "m1"


def test_a_purge_looks_for_relations_by_an_index(store: SqliteStore) -> None:
    plan = store._connection.execute("EXPLAIN QUERY PLAN SELECT 1 FROM relations WHERE memory = 5").fetchall()
    assert "relations_by_memory" in plan[0][3]
