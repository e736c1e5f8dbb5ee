"""A memory that is reworded is found by its new words alone, wherever the former ones are listed."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from memorata.index.segments import TAIL
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


def test_rewordings_wait_until_they_are_as_many_as_a_segment(store: SqliteStore) -> None:
    waiting = "SELECT count(*) FROM rewordings"
    store.add([entry(f"m{number}", "tea", tags=("old",)) for number in range(700)])
    for number in range(TAIL - 1):
        retag(store, f"m{number}", "new")
    assert store._connection.execute(waiting).fetchone() == (TAIL - 1,)
    assert (tagged(store, "old"), tagged(store, "new")) == (701 - TAIL, TAIL - 1)
    assert store.check(terms_of) == []
    retag(store, "m699", "new")
    assert store._connection.execute(waiting).fetchone() == (0,)
    assert (tagged(store, "old"), tagged(store, "new")) == (700 - TAIL, TAIL)
    assert store.check(terms_of) == []


def test_another_process_finds_what_was_reworded(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "m.db")) as first, closing(SqliteStore(tmp_path / "m.db")) as second:
        first.add([entry(f"m{number}", "tea", tags=("old",)) for number in range(300)])
        assert (tagged(second, "old"), tagged(second, "new")) == (300, 0)
        retag(first, "m7", "new")
        assert (tagged(second, "old"), tagged(second, "new")) == (299, 1)
        first.purge(HERE, ["m7"])
        assert (tagged(second, "old"), tagged(second, "new")) == (299, 0)
        first.check(terms_of, repair=True)
        assert (tagged(second, "old"), tagged(second, "new")) == (299, 0)


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
