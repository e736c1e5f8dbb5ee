"""Memories that are changed, hidden, restored and purged."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from memorata.index.record import GONE, gone
from memorata.model.entity import Place
from memorata.model.errors import InvalidArgument, MemoryNotFound, VersionConflict
from memorata.model.memory import Memory, Source
from memorata.store.entries import Hidden
from memorata.store.store import Store
from memorata.testing.samples import (
    DIMENSION,
    EMBEDDER,
    HERE,
    NOW,
    direction,
    entry,
    found_ids,
    pages,
    query,
    recalled,
)


def test_an_update_counts_versions_and_loses_nothing(store: Store) -> None:
    """Check optimistic concurrency."""
    store.add([entry("a", "tea")])
    (read,) = store.get(HERE, ["a"])
    written = store.update(replace(read, confidence=0.5, metadata={"seen": 1}), read.version)
    assert written == replace(read, confidence=0.5, metadata={"seen": 1}, version=read.version + 1)
    assert store.get(HERE, ["a"]) == [written]
    with pytest.raises(VersionConflict):
        store.update(replace(read, confidence=0.1), read.version)
    with pytest.raises(MemoryNotFound):
        store.update(replace(read, id="x"), 1)
    with store.view(HERE, NOW) as view:
        (slot,) = view.search(query("tea"), 1).slots
        assert view.records(np.array([slot]))["confidence"][0] == 0.5


def test_an_update_cannot_change_what_was_said(store: Store) -> None:
    """Check that words, time and chains are left to corrections."""
    store.add([entry("a", "tea"), entry("b", "milk")])
    (read,) = store.get(HERE, ["a"])
    changes: list[Mapping[str, Any]] = [
        {"content": "coffee"},
        {"tags": ("x",)},
        {"entities": ("x",)},
        {"source": Source("x")},
        {"created_at": NOW + timedelta(1)},
        {"valid_from": NOW - timedelta(1)},
        {"supersedes": ("b",)},
        {"superseded_by": "b"},
    ]
    for change in changes:
        with pytest.raises(InvalidArgument):
            store.update(replace(read, **change), read.version)
    assert store.get(HERE, ["a"]) == [read]


@pytest.mark.untraced
def test_an_update_with_words_is_found_by_the_new_ones(store: Store) -> None:
    """Check that tags are searched as they are now, among few memories and among many."""

    def terms_of(memory: Memory) -> Mapping[str, Mapping[str, int]]:
        return entry(memory.id, memory.content, tags=memory.tags).terms

    def tagged(term: str) -> list[str]:
        with store.view(HERE, NOW) as view:
            return found_ids(view, view.search(query(term, tags=1.0), 9))

    store.add([entry("a", "tea", tags=("drink",)), entry("b", "milk", tags=("drink",))])
    for round_ in range(2):
        version = store.get(HERE, ["a"])[0].version
        (read,) = store.get(HERE, ["a"])
        written = store.update(replace(read, tags=("leaf", "leaf"), confidence=0.5), version, terms_of)
        assert (written.tags, written.version) == (("leaf", "leaf"), version + 1)
        assert (tagged("leaf"), tagged("drink")) == (["a"], ["b"])
        store.update(replace(written, tags=()), written.version, terms_of)
        assert (tagged("leaf"), tagged("drink")) == ([], ["b"])
        (bare,) = store.get(HERE, ["a"])
        store.update(replace(bare, tags=("drink",)), bare.version, terms_of)
        assert sorted(tagged("drink")) == ["a", "b"]
        with pytest.raises(InvalidArgument):
            store.update(replace(bare, content="coffee"), bare.version + 1, terms_of)
        if not round_:
            store.add([entry(f"m{number}", "something else") for number in range(600)])


def test_a_use_is_counted_with_its_time(store: Store) -> None:
    """Check that uses add up, that the latest one is kept, and that all are counted or none."""
    later = NOW + timedelta(days=1)
    store.add([entry("a", "tea"), entry("b", "milk")])
    store.use(HERE, ["a", "b"], later)
    store.use(HERE, ["a"], NOW)
    used, once = store.get(HERE, ["a", "b"])
    assert (used.access_count, used.last_accessed_at, used.version) == (2, later, 3)
    assert (once.access_count, once.last_accessed_at, once.version) == (1, later, 2)
    with pytest.raises(MemoryNotFound):
        store.use(HERE, ["a", "nobody"], later)
    assert store.get(HERE, ["a"]) == [used]
    with store.view(HERE, NOW) as view:
        assert view.records(view.search(query("tea"), 1).slots)["accesses"].tolist() == [2]


def test_what_is_forgotten_is_hidden_until_it_is_restored(store: Store) -> None:
    """Check forget and restore, twice each."""
    store.use_embedder(EMBEDDER, DIMENSION)
    store.add([entry("a", "tea", direction(1)), entry("b", "tea", direction(1, 1))])
    for _ in range(2):
        store.forget(HERE, ["a"], NOW)
        assert recalled(store) == (["b"], ["b"])
        assert list(pages(store, 5)) == ["b"]
        assert list(pages(store, 5, hidden=True)) == ["b", "a"]
    assert [memory.id for memory in store.get(HERE, ["a"])] == ["a"]
    for _ in range(2):
        store.restore(HERE, ["a"])
        assert recalled(store) == (["a", "b"], ["a", "b"])
    with pytest.raises(MemoryNotFound):
        store.forget(HERE, ["a", "nobody"], NOW)
    with pytest.raises(MemoryNotFound):
        store.restore(HERE, ["a", "nobody"])
    assert recalled(store) == (["a", "b"], ["a", "b"])


def test_since_when_something_is_hidden_can_be_told_and_said_again(store: Store) -> None:
    """Check the times of forgetting and superseding, and a memory that comes from another database."""
    later, before = NOW + timedelta(days=1), NOW - timedelta(days=1)
    store.add([entry("a", "tea"), entry("b", "tea", supersedes=("a",)), entry("c", "tea")])
    store.forget(HERE, ["c"], later)
    said = store.get(HERE, ["b"])[0].created_at
    assert store.hidden(HERE) == [Hidden("a", None, said, True), Hidden("c", later, None)]
    assert store.hidden("elsewhere") == []
    store.hide(HERE, [Hidden("a", before, before), Hidden("b", None, None)])
    assert store.hidden(HERE) == [Hidden("a", before, before, True), Hidden("c", later, None)]
    store.hide(HERE, [Hidden("a", None, before, False)])
    with pytest.raises(InvalidArgument, match="superseded_at must be left out for a current memory"):
        store.hide(HERE, [Hidden("b", NOW, None), Hidden("c", None, NOW)])
    with pytest.raises(MemoryNotFound):
        store.hide(HERE, [Hidden("b", NOW, None), Hidden("nobody", NOW, None)])
    assert store.hidden(HERE) == [Hidden("a", before, before, False), Hidden("c", later, None)]
    store.hide(HERE, [Hidden("b", NOW, None)])
    assert list(pages(store, 5)) == []


def test_what_is_purged_is_gone_everywhere(store: Store) -> None:
    """Check rows, words, vectors, the cache and the feed."""
    store.use_embedder(EMBEDDER, DIMENSION)
    store.add([entry("secret-id", "secret tea", direction(1)), entry("b", "tea", direction(1, 1))])
    with pytest.raises(MemoryNotFound):
        store.purge(HERE, ["secret-id", "nobody"])
    assert store.namespaces() == {HERE: 2}
    store.purge(HERE, ["secret-id"])
    assert recalled(store) == (["b"], ["b"])
    assert store.namespaces() == {HERE: 1}
    assert [memory.id for memory in store.export(HERE)] == ["b"]
    assert store.cached_vectors(HERE, [b"digest of secret tea"]) == {}
    assert all(change.memory_id != "secret-id" for change in store.changes(0, 100))
    assert store.changes(0, 2**70) == store.changes(0, 100)
    assert store.changes(2**70, 100) == []
    with store.view(HERE, NOW) as view:
        assert view.document_frequencies(["secret", "tea"]) == (1, {"secret": 0, "tea": 1})
        # Who goes through a whole namespace does so by slot, and asks about this one, too.
        assert view.records(np.arange(2))["state"].tolist() == [GONE, 0]
        assert view.records(np.arange(1)).tobytes() == gone()
    with pytest.raises(MemoryNotFound):
        store.get(HERE, ["secret-id"])
    store.add([entry("secret-id", "the name is free again")])


def test_odd_numbers_and_texts_keep_their_checksum(store: Store) -> None:
    odd: list[dict[str, Any]] = [
        {"place": Place(-0.0, 1e-300, "a\x00b\x01"), "confidence": -0.0},
        {"importance": 5e-324, "metadata": {"x": "\x1f", "y": 1.5}, "tags": ("é\x00",)},
        {"source": Source("%s", "\x1f", 3, "\u2028", via="http"), "pinned": True, "mentions": 2**40},
        {"place": Place(48, 2), "confidence": 1, "supported_at": NOW},
    ]
    entries = [entry(f"odd{number}", f"tea {number}", **fields) for number, fields in enumerate(odd)]
    store.add(entries[:3])
    store.add(entries[3:])
    for each in entries:
        (read,) = store.get(HERE, [each.memory.id])
        assert read == each.memory
        changed = store.update(replace(read, importance=0.125), read.version)
        assert store.get(HERE, [read.id]) == [changed]


def test_a_view_shows_what_was_changed_since_the_last_one(store: Store) -> None:
    store.add([entry("a", "tea"), entry("b", "milk")])

    def seen() -> list[Memory]:
        with store.view(HERE, NOW) as view:
            return view.memories(np.arange(2))

    before = seen()
    changed = store.update(replace(before[0], metadata={"seen": 1}), before[0].version)
    assert seen() == [changed, before[1]]
    store.add([entry("c", "juice")])
    assert seen() == [changed, before[1]]
    store.use(HERE, ["b"], NOW)
    assert [memory.access_count for memory in seen()] == [0, 1]
    store.add([entry("d", "coffee", supersedes=("a",))])
    assert [memory.superseded_by for memory in seen()] == ["d", None]
