"""Memories that wait for their vectors, and get them later."""

from datetime import UTC, datetime

import numpy as np
import pytest

from memorata.dedupe.fingerprint import fingerprint
from memorata.index.codes import Floats
from memorata.model.errors import DimensionMismatch, InvalidArgument
from memorata.model.memory import Memory
from memorata.store.entries import Entry
from memorata.store.memory.embedding import Embedded
from memorata.store.store import Store

_NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)
_HERE, _THERE = "acme/alice", "acme/bob"


def _row(*components: float) -> Floats:
    return np.array([components], np.float32)


def _entry(id: str, namespace: str = _HERE, vectors: Floats | None = None) -> Entry:
    memory = Memory(
        id=id, content=id, created_at=_NOW, namespace=namespace, fingerprint=fingerprint(id), embedder="old"
    )
    return Entry(memory, {"content": {id: 1}}, vectors, b"" if vectors is None else b"old" + id.encode())


def _embedded(id: str, namespace: str, vectors: Floats) -> Embedded:
    return Embedded(namespace, id, vectors, b"new" + id.encode())


def test_what_waits_comes_in_pages_and_only_once(store: Store) -> None:
    """Check that hidden memories wait too, in every namespace, and that a page goes on where it ended."""
    store.use_embedder("old", 2)
    store.add([_entry("a", vectors=_row(1, 0)), _entry("b"), _entry("c", _THERE), _entry("d")])
    store.forget(_HERE, ["d"], _NOW)
    assert store.count_waiting() == 3
    seen, cursor = [], None
    while True:
        page = store.waiting(2, cursor)
        seen += [memory.id for memory in page.memories]
        if page.cursor is None:
            break
        cursor = page.cursor
    assert sorted(seen) == ["b", "c", "d"]
    store.put_vectors([_embedded("b", _HERE, _row(1, 0))])
    assert store.count_waiting() == 2
    with pytest.raises(InvalidArgument, match="cursor must be"):
        store.waiting(2, "x")


def test_vectors_are_found_as_soon_as_they_are_put(store: Store) -> None:
    """Check that a search sees old vectors or new ones, and never both."""
    store.use_embedder("old", 2)
    store.add([_entry("a", vectors=_row(1, 0)), _entry("b", vectors=_row(0, 1))])
    store.use_embedder("new", 3)
    assert store.other_vectors() == {"old": 2}
    assert store.put_vectors([_embedded("a", _HERE, _row(0, 0, 1))]) == 1
    with store.view(_HERE, _NOW) as view:
        found = view.search(_row(0, 0, 1)[0], 10)
        assert [memory.id for memory in view.memories(found.slots)] == ["a"]
        assert view.status.pending == 1
    [known] = store.get(_HERE, ["a"])
    assert (known.embedder, known.version) == ("new", 2)
    assert store.cached_vectors(_HERE, [b"newa"])[b"newa"].tolist() == [[0, 0, 1]]
    store.use_embedder("old", 2)
    with store.view(_HERE, _NOW) as view:
        assert view.search(_row(1, 0)[0], 10).scores.tolist() == [1.0, 0.0]


def test_what_is_gone_or_done_is_left_out(store: Store) -> None:
    """Check that a memory that was purged or embedded by another in the meantime does no harm."""
    store.use_embedder("new", 2)
    store.add([_entry("a"), _entry("b"), _entry("c")])
    store.purge(_HERE, ["a"])
    store.put_vectors([_embedded("b", _HERE, _row(1, 0))])
    several = [_embedded(id_, _HERE, _row(0, 1)) for id_ in ("a", "b", "c")]
    assert store.put_vectors(several) == 1
    assert store.cached_vectors(_HERE, [b"newb"])[b"newb"].tolist() == [[1, 0]]
    assert store.count_waiting() == 0


def test_vectors_of_the_wrong_size_change_nothing(store: Store) -> None:
    """Check that a batch with one bad vector is not written at all."""
    store.use_embedder("new", 2)
    store.add([_entry("a"), _entry("b")])
    with pytest.raises(DimensionMismatch):
        store.put_vectors([_embedded("a", _HERE, _row(1, 0)), _embedded("b", _HERE, _row(1, 0, 0))])
    with pytest.raises(InvalidArgument, match="finite"):
        store.put_vectors([_embedded("a", _HERE, _row(float("nan"), 0))])
    assert store.count_waiting() == 2


def test_how_long_vectors_are_is_known_before_any_is_used(store: Store) -> None:
    """Check that the dimension of an embedder can be asked for, and that asking takes none into use."""
    assert store.dimension_of("old") is None
    store.use_embedder("old", 2)
    store.use_embedder("new", 3)
    assert (store.dimension_of("old"), store.dimension_of("new")) == (2, 3)
    assert store.dimension_of("another") is None
    assert store.other_vectors() == {}


def test_old_vectors_go_a_part_at_a_time(store: Store) -> None:
    """Check that only those of other embedders go, and that their memories are told to wait."""
    store.use_embedder("old", 2)
    store.add([_entry(id_, vectors=_row(1, 0)) for id_ in "abc"])
    store.use_embedder("new", 3)
    store.put_vectors([_embedded(id_, _HERE, _row(1, 0, 0)) for id_ in "ab"])
    while store.renew_codes():
        pass
    assert [store.drop_vectors(2), store.drop_vectors(2), store.drop_vectors(2)] == [2, 1, 0]
    assert store.other_vectors() == {}
    assert [memory.embedder for memory in store.get(_HERE, ["a", "b", "c"])] == ["new", "new", ""]
    with store.view(_HERE, _NOW) as view:
        assert len(view.search(_row(1, 0, 0)[0], 10).slots) == 2
    store.use_embedder("old", 2)
    with store.view(_HERE, _NOW) as view:
        assert (view.search(_row(1, 0)[0], 10).slots.size, view.status.pending) == (0, 3)


def test_without_an_embedder_nothing_can_wait(store: Store) -> None:
    """Check that it is said."""
    with pytest.raises(InvalidArgument, match="embedder must be in use"):
        store.waiting(1)
