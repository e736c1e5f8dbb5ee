"""What is in memory after a write of one's own is what would be read from the file."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.index import cache
from memorata.index.codes import Floats
from memorata.index.lexical import LexicalQuery
from memorata.index.partition import Partition
from memorata.model.memory import Memory, Source
from memorata.store.dialects import SqliteStore
from memorata.store.entries import Entry
from memorata.store.rows import Namespace

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)
ROWS: Floats = np.eye(3, dtype=np.float32)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "m.db", durable=False)
    opened.use_embedder("e", 3)
    yield opened
    opened.close()


def entry(id_: str, passages: int = 1, namespace: str = "a", **details: Any) -> Entry:
    memory = Memory(
        id=id_, content="tea", created_at=NOW, namespace=namespace, fingerprint="0" * 32, **details
    )
    vectors = ROWS[:passages] if passages else None
    return Entry(memory, {"content": {"tea": 1, id_: 2}}, vectors, id_.encode())


def seen(store: SqliteStore, path: str = "a") -> list[object]:
    """Return what a look tells."""
    with store.view(path, NOW) as view:
        words = view.search(LexicalQuery({"tea": 1.0, "m3": 1.0}, {"content": 1.0}), 50)
        near = view.search(ROWS[1], 50)
        return [
            (view.status.count, view.status.pending, view.status.change),
            (words.slots.tolist(), words.scores.tolist()),
            (near.slots.tolist(), near.scores.tolist()),
            view.records(near.slots).tobytes(),
            view.memories(words.slots),
        ]


def reopened(store: SqliteStore, path: str = "a") -> list[object]:
    other = SqliteStore(store.path, durable=False)
    other.use_embedder("e", 3)
    try:
        return seen(other, path)
    finally:
        other.close()


steps = st.one_of(
    st.tuples(st.just("add"), st.lists(st.integers(0, 3), min_size=1, max_size=3)),
    st.tuples(st.just("elsewhere"), st.lists(st.integers(0, 3), min_size=1, max_size=2)),
    st.tuples(st.sampled_from(["forget", "supersede", "look", "fail", "many"]), st.just([1])),
)


@given(st.lists(steps, max_size=12))
def test_a_look_sees_the_same_whether_it_was_kept_or_read(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, list[int]]]
) -> None:
    store = SqliteStore(tmp_path_factory.mktemp("db") / "m.db", durable=False)
    store.use_embedder("e", 3)
    store.add([entry("m0")])
    count = 1
    for kind, passages in steps:
        new = [entry(f"m{count + number}", rows) for number, rows in enumerate(passages)]
        if kind == "add":
            store.add(new)
        elif kind == "elsewhere":
            other = SqliteStore(store.path, durable=False)
            other.use_embedder("e", 3)
            other.add(new)
            other.close()
        elif kind == "forget":
            store.forget("a", ["m0"], NOW)
        elif kind == "supersede":
            with suppress(ValueError):
                store.add([entry(f"m{count}", supersedes=(f"m{count - 1}",))])
                count += 1
        elif kind == "fail":
            with suppress(RuntimeError), store.together():
                store.add(new)
                raise RuntimeError
        elif kind == "many":
            store.add([entry(f"m{count + number}") for number in range(260)])
            count += 260
        if kind in ("add", "elsewhere"):
            count += len(new)
        assert seen(store) == reopened(store)
    store.close()


def test_nothing_is_read_back_after_a_write_of_ones_own(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.add([entry("m0")])
    before = seen(store)
    store.add([entry("m1", 2, source=Source(session="s", position=0)), entry("m2", 0)])
    store.add([entry("m3")])
    monkeypatch.setattr(cache, "_load_records", None)
    monkeypatch.setattr(cache, "_load_tail", None)
    after = seen(store)
    monkeypatch.undo()
    assert after == reopened(store) != before


def test_what_nobody_looks_at_is_not_kept(store: SqliteStore) -> None:
    store.add([entry("m0")])
    assert not store._cache._added
    seen(store)
    store.add([entry("m1")])
    store.add([entry(f"m{number}") for number in range(2, 300)])
    assert not store._cache._added
    assert seen(store) == reopened(store)


def test_other_namespaces_are_kept_up_with_as_well(store: SqliteStore) -> None:
    store.add([entry("m0"), entry("m0", namespace="b")])
    seen(store), seen(store, "b")
    store.add([entry("m1"), entry("m1", namespace="b"), entry("m2")])
    assert (seen(store), seen(store, "b")) == (reopened(store), reopened(store, "b"))


def test_what_a_view_looks_at_stays_as_it_is(store: SqliteStore) -> None:
    store.add([entry("m0")])
    with store.together(), store.view("a", NOW) as view:
        store.add([entry("m1")])
        assert (view.status.count, view.search(ROWS[0], 9).slots.tolist()) == (1, [0])
    assert seen(store) == reopened(store)


def test_a_partition_that_has_missed_something_is_left_alone() -> None:
    missed = Partition(3, exact=True)
    missed.change = 7
    before = Namespace(1, "a", 0, 0, 8, 0)
    cache.catch_up(missed, [cache.Added(before, [entry("m0")], [], 9)], 9, 3)
    assert (len(missed), missed.change) == (0, 7)


def test_the_step_from_few_to_many_is_left_to_those_who_load(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.add([entry("m0")])
    seen(store)
    monkeypatch.setattr(cache, "MAX_EXACT_VECTORS", 1)
    store.add([entry("m1")])
    assert seen(store) == reopened(store)
