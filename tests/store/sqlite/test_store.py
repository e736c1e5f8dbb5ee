from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from memorata.model.errors import InvalidArgument, StoreError
from memorata.model.memory import Memory
from memorata.store.dialects import SqliteStore
from memorata.store.entries import Terms
from memorata.store.store import Store
from memorata.testing.samples import (
    DIMENSION,
    EMBEDDER,
    HERE,
    NOW,
    direction,
    entry,
    found_ids,
    query,
    words,
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "m.db", durable=False)
    yield opened
    opened.close()


def terms_of(memory: Memory) -> Terms:
    return {"content": words(memory.content)}


def ids(store: SqliteStore, namespace: str = HERE) -> list[str]:
    with store.view(namespace, NOW) as look:
        return found_ids(look, look.search(query("tea"), 100))


def test_it_is_a_store(store: SqliteStore) -> None:
    typed: Store = store
    assert typed.namespaces() == {}


def test_settings_are_remembered_in_the_file(tmp_path: Path) -> None:
    for value in ("one", "two"):
        store = SqliteStore(tmp_path / "m.db")
        store.remember_setting("analyser", value)
        store.close()
    store = SqliteStore(tmp_path / "m.db")
    assert store.setting("analyser") == "two"
    assert store.setting("nothing") is None
    store.close()


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_a_look_that_is_interrupted_spoils_no_other(store: SqliteStore, error: type[BaseException]) -> None:
    store.add([entry("a", "tea"), entry("b", "tea")])
    before = ids(store)

    def look_and_fail() -> None:
        with store.view(HERE, NOW) as look:
            # As one would leave it who is stopped on the way (index/context.py).
            look._partition.columns[:] = 0
            raise error

    with pytest.raises(error):
        look_and_fail()
    with store.view(HERE, NOW) as look:
        assert (look._partition.columns == -1).all()
    assert ids(store) == before


def test_the_least_recently_used_namespaces_leave_the_memory_first(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "m.db", memory_budget=60_000)
    names = [f"n{number}" for number in range(12)]
    for name in names:
        store.add([entry(f"m{n}", "tea", namespace=name) for n in range(100)])
    for _ in range(2):
        for name in names:
            assert ids(store, name) == [f"m{n}" for n in range(100)]
            assert store._cache._used <= 60_000
            assert store._cache._used == sum(size for _, size in store._cache._kept.values())
            assert next(reversed(store._cache._kept)) == ("", name)
    assert 1 < len(store._cache._kept) < len(names)
    store.close()


def test_one_namespace_is_kept_however_small_the_budget(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "m.db", memory_budget=1)
    store.add([entry("a", "tea"), entry("b", "tea", namespace="other")])
    for name in (HERE, "other", HERE):
        assert len(ids(store, name)) == 1
        assert list(store._cache._kept) == [("", name)]
    store.close()


def test_a_purge_gives_back_space_and_so_does_vacuum(store: SqliteStore, tmp_path: Path) -> None:
    store.add([entry(f"m{n}", "tea " * 200) for n in range(400)])
    store.vacuum()
    before = (tmp_path / "m.db").stat().st_size
    store.purge(HERE, [f"m{n}" for n in range(399)])
    after = (tmp_path / "m.db").stat().st_size
    assert after < before / 2
    # Whatever else leaves space behind: here, all the words, which are written anew.
    store.rebuild(HERE, lambda memory: {"content": {f"word{n}": 1 for n in range(20_000)}})
    store.rebuild(HERE, terms_of)
    store.vacuum()
    assert (tmp_path / "m.db").stat().st_size == after
    assert ids(store) == ["m399"]
    assert store.check(terms_of) == []


def test_statistics_count_everything(store: SqliteStore) -> None:
    store.use_embedder(EMBEDDER, DIMENSION)
    store.add([entry(f"m{n}", "tea", direction(1)) for n in range(300)])
    store.add([entry("a", "tea", supersedes=("m1",))])
    store.forget(HERE, ["m2", "m3"], NOW)
    found = dict(store.statistics())
    assert found.pop("bytes") > 0
    assert found.pop("methods") == store.methods()
    assert found == {
        "memories": 301,
        "forgotten": 2,
        "superseded": 1,
        "namespaces": 1,
        "sessions": 0,
        "entities": 0,
        "relations": 0,
        "segments": 1,
        "waiting": 1,
        "vectors": {EMBEDDER: 300},
        "changes": 304,
        "unfinished_purge": False,
        "kept_logs": [],
    }


def test_a_closed_store_says_so(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "m.db")
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.add([entry("a", "tea")])
    with pytest.raises(StoreError, match="closed"):
        store.namespaces()


def test_writing_inside_a_look_is_refused_and_the_look_goes_on(store: SqliteStore) -> None:
    store.add([entry("a", "tea")])
    with store.view(HERE, NOW) as look:
        with pytest.raises(StoreError):
            store.add([entry("b", "tea")])
        assert look.status.count == 1
    store.add([entry("b", "tea")])
    assert ids(store) == ["a", "b"]


def test_an_embedder_that_comes_back_with_another_length_is_refused(store: SqliteStore) -> None:
    store.use_embedder("e", 4)
    with pytest.raises(InvalidArgument, match="as recorded for 'e'"):
        store.use_embedder("e", 5)


def test_what_expires_leaves_and_nothing_has_to_be_written(store: SqliteStore) -> None:
    store.add([entry("a", "tea", expires_at=NOW + timedelta(seconds=1))])
    assert ids(store) == ["a"]
    with store.view(HERE, NOW + timedelta(seconds=1)) as look:
        assert look.status.count == 0
