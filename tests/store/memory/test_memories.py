"""Memories: added, read, listed and found."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from memorata.model.entity import Place
from memorata.model.errors import DimensionMismatch, InvalidArgument, MemoryNotFound
from memorata.model.memory import Memory, Source, Tier
from memorata.store.entries import Entry
from memorata.store.filters import parse
from memorata.store.store import Store
from memorata.testing.samples import (
    DIMENSION,
    EMBEDDER,
    HERE,
    NOW,
    THERE,
    direction,
    entry,
    found_ids,
    pages,
    query,
)


def test_a_memory_comes_back_as_it_was(store: Store) -> None:
    """Check every field, exactly."""
    given = Memory(
        id="m1",
        content="Zoë wrote: «naïve» 👩‍🚀 \0 שלום\nand more.",
        created_at=datetime(2026, 5, 7, 1, 2, 3, 456_789, tzinfo=UTC),
        namespace=HERE,
        category="event",
        tier=Tier.PROCEDURAL,
        confidence=0.1,
        importance=1 / 3,
        tags=("tea", "日本"),
        metadata={"a": {"b": [1, None, True, 0.1, "\0"]}, "n": 2**70},
        source=Source("Anna", "s1", 3, "https://example.org/1"),
        entities=("Zoë",),
        place=Place(-89.5, 179.25, "somewhere"),
        valid_from=datetime(1, 1, 1, tzinfo=UTC),
        valid_to=datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
        expires_at=NOW + timedelta(days=1),
        pinned=True,
        mentions=2,
        supported_at=NOW - timedelta(days=2),
        access_count=3,
        last_accessed_at=NOW,
        version=4,
        fingerprint="ab" * 16,
        embedder="e",
    )
    store.add([Entry(given, {"content": {"wrote": 1}})])
    assert store.get(HERE, ["m1"]) == [given]
    assert list(store.export(None)) == [given]


def test_get_keeps_the_order_and_refuses_what_nobody_has(store: Store) -> None:
    """Check order and errors of reading by id."""
    store.add([entry("a", "tea"), entry("b", "milk")])
    assert [memory.id for memory in store.get(HERE, ["b", "a"])] == ["b", "a"]
    for namespace, ids in ((HERE, ["a", "x"]), (THERE, ["a"]), ("nobody", ["a"])):
        with pytest.raises(MemoryNotFound):
            store.get(namespace, ids)
    assert store.known([(HERE, "a"), (HERE, "x"), (THERE, "a")]) == {(HERE, "a")}


def test_a_batch_is_written_whole_or_not_at_all(store: Store) -> None:
    """Check that one bad entry leaves nothing of the others."""
    store.use_embedder(EMBEDDER, DIMENSION)
    store.add([entry("taken", "tea")])
    wrong = np.ones((1, DIMENSION + 1), np.float32)
    broken = np.full((1, DIMENSION), np.nan, np.float32)
    bad: list[tuple[Entry, type[Exception]]] = [
        (entry("taken", "again"), InvalidArgument),
        (entry("new", "twice in the batch"), InvalidArgument),
        (entry("w", "wrong dimension", wrong), DimensionMismatch),
        (entry("n", "not a number", broken), InvalidArgument),
        (entry("e", "no passages", np.zeros((0, DIMENSION), np.float32)), InvalidArgument),
        (entry("s", "supersedes nothing", supersedes=("nobody",)), MemoryNotFound),
        (entry("p", "a huge number", source=Source(position=2**40)), InvalidArgument),
    ]
    before = store.changes(0, 100)
    for last, error in bad:
        with pytest.raises(error):
            store.add([entry("new", "first"), entry("elsewhere", "x", namespace=THERE), last])
        assert store.namespaces() == {HERE: 1}
        assert store.changes(0, 100) == before
    with store.view(HERE, NOW) as view:
        assert view.status.count == 1
        assert found_ids(view, view.search(query("first", "tea"), 10)) == ["taken"]


def test_vectors_need_an_embedder(store: Store) -> None:
    """Check that vectors of nobody knows whom are refused."""
    with pytest.raises(InvalidArgument):
        store.add([entry("a", "tea", direction(1))])


def test_an_embedder_keeps_its_dimension(store: Store) -> None:
    """Check that one name is one length of vectors."""
    store.use_embedder(EMBEDDER, DIMENSION)
    store.use_embedder(EMBEDDER, DIMENSION)
    with pytest.raises(InvalidArgument):
        store.use_embedder(EMBEDDER, DIMENSION + 1)


def test_pages_show_everything_once_newest_first(store: Store) -> None:
    """Check cursors, also while memories are added and removed between two pages."""
    store.add([entry(f"m{number}", "tea", namespace=(HERE, THERE)[number % 3 == 2]) for number in range(20)])
    wanted = [f"m{number}" for number in reversed(range(20)) if number % 3 != 2]
    for limit in (1, 3, len(wanted), 100):
        assert list(pages(store, limit)) == wanted
    first = store.page(HERE, None, 5, None, hidden=False)
    store.add([entry("later", "tea")])
    store.purge(HERE, [wanted[4], wanted[7]])
    rest = store.page(HERE, None, 100, first.cursor, hidden=False)
    assert [memory.id for memory in rest.memories] == [*wanted[5:7], *wanted[8:]]
    assert rest.cursor is None


def test_a_page_of_nothing(store: Store) -> None:
    """Check limits and namespaces that leave nothing, and cursors nobody gave."""
    assert store.page("nobody", None, 5, None, hidden=True).memories == ()
    store.add([entry("a", "tea")])
    assert store.page(HERE, None, 0, None, hidden=True).memories == ()
    for cursor in ("x", "-1", "", "9" * 40, "9" * 5_000, "1.5"):
        with pytest.raises(InvalidArgument):
            store.page(HERE, None, 5, cursor, hidden=True)


def test_a_filter_selects_in_pages_and_in_views(store: Store) -> None:
    """Check that both give the memories that pass, and only those."""
    store.add([entry(f"m{n}", "tea", metadata={"n": n}, tags=("even",) * (n % 2 == 0)) for n in range(9)])
    even = parse({"tags": "even", "metadata.n": {">": 2}})
    assert list(pages(store, 2, even)) == ["m8", "m6", "m4"]
    with store.view(HERE, NOW, filter=even) as view:
        assert view.status.count == 3
        assert found_ids(view, view.search(query("tea"), 10)) == ["m4", "m6", "m8"]


def test_everything_can_be_carried_away_and_counted(store: Store) -> None:
    """Check the export, the namespaces and the counts."""
    store.add([entry("a", "tea"), entry("b", "milk", namespace=THERE), entry("c", "tea")])
    store.forget(HERE, ["a"], NOW)
    assert [memory.id for memory in store.export(None)] == ["a", "b", "c"]
    assert [memory.id for memory in store.export(HERE)] == ["a", "c"]
    assert store.namespaces() == {HERE: 2, THERE: 1}
    assert store.statistics()["memories"] == 3
