"""Namespaces see nothing of each other, and are purged whole."""

from dataclasses import replace

import numpy as np
import pytest

from memorata.model.errors import InvalidArgument
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
    query,
    recalled,
)


def test_namespaces_do_not_see_each_other(store: Store) -> None:
    """Check hits, statistics and scores against a namespace that stands alone."""
    store.use_embedder(EMBEDDER, DIMENSION)
    mine = [entry("a", "tea milk", direction(1)), entry("b", "cup", direction(1, 1))]
    store.add(mine)
    with store.view(HERE, NOW) as view:
        before = view.search(query("tea", "cup"), 10)
    noise = [entry(f"n{number}", "tea cup", direction(1), namespace=THERE) for number in range(30)]
    store.add([noise[0], entry("c", "unrelated", direction(0, 1)), *noise[1:]])
    store.purge(HERE, ["c"])
    with store.view(HERE, NOW) as view:
        after = view.search(query("tea", "cup"), 10)
        assert found_ids(view, after) == ["b", "a"]
        assert after.scores == pytest.approx(before.scores)
        assert found_ids(view, view.search(direction(1)[0], 100)) == ["a", "b"]
        assert view.document_frequencies(["tea"]) == (2, {"tea": 1})
    with store.view("acme", NOW) as view:
        assert view.status.count == 0


def test_a_namespace_nobody_has_is_empty(store: Store) -> None:
    """Check every question to nothing."""
    store.use_embedder(EMBEDDER, DIMENSION)
    nothing = np.zeros(0, np.intp)
    with store.view("nobody", NOW, filter=parse({"category": "fact"})) as view:
        assert (view.status.count, view.status.pending) == (0, 0)
        assert view.search(direction(1)[0], 10).slots.size == 0
        assert view.search(query("tea"), 10).slots.size == 0
        assert view.document_frequencies(["tea"]) == (0, {"tea": 0})
        assert view.memories(nothing) == []
        assert view.vectors(nothing).shape == (0, DIMENSION)
        assert view.records(nothing).shape == (0,)
    assert store.namespaces() == {}


def test_the_feed_tells_every_change_once_in_order(store: Store) -> None:
    """Check numbers, kinds and reading on."""
    store.add([entry("a", "tea"), entry("b", "milk", namespace=THERE)])
    last = store.add([entry("c", "tea", supersedes=("a",))])
    store.forget(HERE, ["c"], NOW)
    store.restore(HERE, ["c"])
    store.update(replace(store.get(HERE, ["c"])[0], confidence=0.5), 1)
    feed = store.changes(0, 100)
    assert [(change.kind, change.namespace, change.memory_id) for change in feed] == [
        ("add", HERE, "a"),
        ("add", THERE, "b"),
        ("add", HERE, "c"),
        ("supersede", HERE, "a"),
        ("forget", HERE, "c"),
        ("restore", HERE, "c"),
        ("update", HERE, "c"),
    ]
    numbers = [change.number for change in feed]
    assert numbers == sorted(set(numbers))
    assert last == numbers[3]
    assert store.changes(numbers[1], 2) == feed[2:4]
    assert store.changes(numbers[-1], 10) == []


def test_a_namespace_can_be_removed_and_made_anew(store: Store) -> None:
    """Check that nothing of it is left, that others are untouched, and that its name is free again."""
    store.use_embedder(EMBEDDER, DIMENSION)
    entries = [entry(f"m{number}", "tea", direction(1), tags=("drink",)) for number in range(300)]
    store.add([*entries, entry("b", "tea", namespace=THERE)])
    store.entities.describe(HERE, "Zoë", type="person")
    assert recalled(store)[0] != []
    assert store.purge_namespace(HERE) == 300
    assert store.namespaces() == {THERE: 1}
    assert (recalled(store), store.entities.list(HERE), store.naming_change(HERE)) == (
        ([], []),
        [],
        0,
    )
    assert store.graph.delta(HERE, 5).kinds
    for namespace in (HERE, "nobody"):
        with pytest.raises(InvalidArgument):
            store.purge_namespace(namespace)
    last = store.changes(0, 10_000)[-1].number
    store.add([entry("new", "tea", direction(1))])
    # On a server numbers have gaps; none is given out again.
    assert store.changes(last, 10)[0].number > last
    assert (recalled(store), store.namespaces()) == ((["new"], ["new"]), {HERE: 1, THERE: 1})
    assert store.graph.delta(HERE, last - 1).kinds
    assert store.graph.delta(HERE, store.changes(0, 10_000)[-1].number).kinds == frozenset()


def test_only_what_is_asked_for_is_counted(store: Store) -> None:
    store.add([entry("m1", "tea"), entry("m2", "coffee", namespace=THERE)])
    assert store.namespaces() == {HERE: 1, THERE: 1}
    assert store.namespaces(counted=[THERE]) == {HERE: 0, THERE: 1}
    assert store.namespaces(counted=()) == {HERE: 0, THERE: 0}
