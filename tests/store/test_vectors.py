"""The vector leg: the nearest, filters, and whose vectors are compared."""

from dataclasses import replace

import numpy as np
import pytest

from memorata.store.filters import parse
from memorata.store.store import Store
from memorata.testing.samples import DIMENSION, EMBEDDER, HERE, NOW, THERE, direction, entry, found_ids, query


def test_the_nearest_are_those_of_a_brute_force(store: Store) -> None:
    """Check cosines, several passages, ties and limits, with a filter and without."""
    store.use_embedder(EMBEDDER, DIMENSION)
    random = np.random.default_rng(0)
    entries = []
    for number in range(60):
        rows = random.normal(size=(1 + number % 3, DIMENSION))
        rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
        entries.append(entry(f"m{number}", "tea", rows, metadata={"third": number % 3}))
    entries += [replace(entries[5], memory=replace(entries[5].memory, id="twin"))]
    store.add(entries)
    for condition in (None, {"metadata.third": 1}, {"id": {"in": ["m7", "m8"]}}):
        passing = [
            each
            for each in entries
            if condition is None
            or ("id" in condition and each.memory.id in ("m7", "m8"))
            or ("id" not in condition and each.memory.metadata["third"] == 1)
        ]
        for _ in range(5):
            aim = direction(*random.normal(size=DIMENSION))[0]
            best = [float((each.vectors @ aim).max()) for each in passing if each.vectors is not None]
            order = sorted(range(len(best)), key=lambda place: (-best[place], place))[:10]
            with store.view(HERE, NOW, filter=parse(condition)) as view:
                found = view.search(aim, 10)
                assert found_ids(view, found) == [passing[place].memory.id for place in order]
                assert found.scores == pytest.approx([best[place] for place in order], abs=1e-6)
                assert view.score(aim, found.slots).scores == pytest.approx(found.scores, abs=1e-6)
                rough = view.search(aim, 10, rough=True)
                assert rough.scores == pytest.approx(found.scores, abs=2e-3)


def test_first_passages_are_given_back(store: Store) -> None:
    """Check the vectors that diversity compares; zeros for a memory that has none."""
    store.use_embedder(EMBEDDER, DIMENSION)
    store.add([entry("a", "tea", np.concatenate([direction(1), direction(0, 1)])), entry("b", "tea")])
    with store.view(HERE, NOW) as view:
        slots = view.search(query("tea"), 10).slots
        assert view.vectors(slots).tolist() == [direction(1)[0].tolist(), [0.0] * DIMENSION]
        assert view.score(direction(0, 1)[0], slots).scores.tolist() == [1.0, 0.0]
        assert view.status.pending == 1


def test_vectors_of_two_embedders_are_never_compared(store: Store) -> None:
    """Check that old vectors wait, and answer again when their embedder comes back."""
    store.use_embedder(EMBEDDER, DIMENSION)
    store.add([entry("a", "tea", direction(1))])
    store.use_embedder("another", DIMENSION)
    with store.view(HERE, NOW) as view:
        assert view.search(direction(1)[0], 10).slots.size == 0
        assert view.status.pending == 1
        assert found_ids(view, view.search(query("tea"), 10)) == ["a"]
    assert store.cached_vectors(HERE, [b"digest of tea"]) == {}
    store.add([entry("b", "tea", direction(1))])
    with store.view(HERE, NOW) as view:
        assert found_ids(view, view.search(direction(1)[0], 10)) == ["b"]
    store.use_embedder(EMBEDDER, DIMENSION)
    with store.view(HERE, NOW) as view:
        assert found_ids(view, view.search(direction(1)[0], 10)) == ["a"]
        assert view.status.pending == 1


def test_vectors_are_found_by_the_address_of_their_text(store: Store) -> None:
    """Check the cache, which never crosses namespaces: the time that is saved would tell of others."""
    store.use_embedder(EMBEDDER, DIMENSION)
    both = np.concatenate([direction(1), direction(0, 1)])
    store.add([entry("a", "tea", both, namespace=THERE)])
    asked = [b"digest of tea", b"digest of milk"]
    known = store.cached_vectors(THERE, asked)
    assert {digest: rows.tolist() for digest, rows in known.items()} == {b"digest of tea": both.tolist()}
    store.add([entry("b", "milk", direction(1))])
    for digests in (asked, asked[:1]):
        assert b"digest of tea" not in store.cached_vectors(HERE, digests)
        assert store.cached_vectors("nobody", digests) == {}
    assert list(store.cached_vectors(HERE, asked)) == [b"digest of milk"]
    assert list(store.cached_vectors(THERE, asked)) == [b"digest of tea"]
