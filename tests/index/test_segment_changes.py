"""A change of words writes only the lists that differ, wherever the memory's words are."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace

import pytest

from memorata.model.memory import Memory
from memorata.store.dialects import SqliteStore
from memorata.testing.samples import HERE, NOW, entry, found_ids, query


@pytest.fixture
def store() -> Iterator[SqliteStore]:
    with closing(SqliteStore(":memory:")) as opened:
        yield opened


def terms_of(memory: Memory) -> Mapping[str, Mapping[str, int]]:
    return entry(memory.id, memory.content, tags=memory.tags).terms


def retag(store: SqliteStore, id: str, *tags: str) -> None:
    (read,) = store.get(HERE, [id])
    store.update(replace(read, tags=tags), read.version, terms_of)


def tagged(store: SqliteStore, term: str) -> int:
    with store.view(HERE, NOW) as view:
        return len(found_ids(view, view.search(query(term, tags=1.0), 10_000)))


def test_a_word_that_was_nowhere_gets_a_list_and_loses_it_again(store: SqliteStore) -> None:
    store.add([entry(f"m{number}", f"word{number}", tags=("old",)) for number in range(300)])
    before = store.statistics()
    retag(store, "m7", "entirely", "new")
    assert (tagged(store, "old"), tagged(store, "entirely"), tagged(store, "new")) == (299, 1, 1)
    retag(store, "m7", "old")
    assert (tagged(store, "old"), tagged(store, "entirely")) == (300, 0)
    assert store.check(terms_of) == []
    assert store.statistics()["memories"] == before["memories"]


def test_long_lists_stay_where_they_are(store: SqliteStore) -> None:
    # Above 512 postings a list has a block of its own.
    store.add([entry(f"m{number}", "tea", tags=("old",)) for number in range(700)])
    retag(store, "m3", "new")
    assert (tagged(store, "old"), tagged(store, "new")) == (699, 1)
    retag(store, "m3", "old")
    assert tagged(store, "old") == 700
    assert store.check(terms_of) == []


@pytest.mark.untraced
def test_what_was_reworded_is_merged_and_purged_as_others_are(store: SqliteStore) -> None:
    store.add([entry(f"m{number}", "tea", tags=("old",)) for number in range(300)])
    retag(store, "m3", "new")
    for batch in range(8):
        store.add([entry(f"n{batch}-{number}", "tea", tags=("more",)) for number in range(300)])
    assert (tagged(store, "old"), tagged(store, "new")) == (299, 1)
    store.purge(HERE, ["m3"])
    assert (tagged(store, "old"), tagged(store, "new")) == (299, 0)
    assert store.check(terms_of) == []
