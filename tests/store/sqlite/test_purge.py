"""What is purged leaves nothing behind but its slots, and the chains it was part of stay whole."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from memorata.model.memory import Source
from memorata.store.dialects import SqliteStore
from memorata.testing.samples import HERE, entry


@pytest.fixture
def store() -> Iterator[SqliteStore]:
    with closing(SqliteStore(":memory:")) as opened:
        yield opened


def test_a_whole_chain_can_be_purged_in_any_order(store: SqliteStore) -> None:
    for order in (["a", "b", "c"], ["c", "b", "a"], ["b", "a", "c"]):
        store.add(
            [entry("a", "tea"), entry("b", "tea", supersedes=("a",)), entry("c", "tea", supersedes=("b",))]
        )
        store.purge(HERE, order)
        assert store.namespaces() == {HERE: 0}
        assert all(change.memory_id == "" for change in store.changes(0, 100))


def test_a_session_goes_with_the_last_of_its_memories(store: SqliteStore) -> None:
    said = Source(speaker="Anna", session="holidays")
    store.add([entry("a", "tea", source=said), entry("b", "rum", source=said), entry("c", "milk")])

    def sessions() -> list[str]:
        return [name for (name,) in store._connection.execute("SELECT name FROM sessions")]

    store.purge(HERE, ["a"])
    assert sessions() == ["holidays"]
    store.purge(HERE, ["b"])
    assert sessions() == []
