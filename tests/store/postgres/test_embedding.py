"""Vectors that come later: of every namespace in turn, by whoever is first; at last the old ones go."""

from collections.abc import Iterable
from contextlib import closing

import numpy as np
import pytest

from memorata.model.errors import DimensionMismatch, InvalidArgument
from memorata.store.embedding import Embedded
from memorata.store.postgres import namespaces
from memorata.store.postgres.connection import Server
from memorata.store.postgres.store import PostgresStore
from memorata.store.samples import DIMENSION, EMBEDDER, HERE, THERE, direction, entry


def embedded(id_: str, namespace: str = HERE, size: int = DIMENSION) -> Embedded:
    return Embedded(namespace, id_, np.eye(1, size, dtype=np.float32), b"digest")


@pytest.fixture
def waiting(store: PostgresStore) -> PostgresStore:
    store.use_embedder(EMBEDDER, DIMENSION)
    store.add([entry("a", "a"), entry("x", "x", namespace=THERE), entry("b", "b"), entry("c", "c")])
    return store


def test_those_who_wait_are_shown_namespace_by_namespace_a_page_at_a_time(waiting: PostgresStore) -> None:
    shown, cursor = [], None
    while True:
        page = waiting.waiting(1, cursor)
        shown += [memory.id for memory in page.memories]
        if (cursor := page.cursor) is None:
            break
    assert shown == ["a", "b", "c", "x"]
    for wrong in ("x", "-1", "9" * 19):
        with pytest.raises(InvalidArgument):
            waiting.waiting(1, wrong)


def test_what_is_gone_or_was_done_by_another_is_passed_over(waiting: PostgresStore) -> None:
    waiting.purge(HERE, ["b"])
    assert waiting.put_vectors([embedded("a"), embedded("b"), embedded("x", THERE)]) == 2
    assert waiting.put_vectors([embedded("a"), embedded("c")]) == 1
    assert waiting.count_waiting() == 0
    assert waiting.get(HERE, ["a"])[0].embedder == EMBEDDER


def test_one_vector_that_is_wrong_leaves_none(waiting: PostgresStore) -> None:
    with pytest.raises(DimensionMismatch):
        waiting.put_vectors([embedded("a"), embedded("c", size=DIMENSION + 1)])
    assert waiting.count_waiting() == 4


def test_old_vectors_go_some_at_a_time_and_their_memories_say_so(waiting: PostgresStore) -> None:
    waiting.put_vectors([embedded(id_) for id_ in "abc"])
    waiting.use_embedder("another", DIMENSION)
    waiting.put_vectors([embedded("a")])
    assert waiting.other_vectors() == {EMBEDDER: 3}
    assert [waiting.drop_vectors(2) for _ in range(3)] == [2, 1, 0]
    assert waiting.other_vectors() == {}
    assert [memory.embedder for memory in waiting.get(HERE, ["a", "b"])] == ["another", ""]


def test_only_of_namespaces_that_are_locked_are_vectors_removed(
    waiting: PostgresStore, used: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process may go on with the old embedder, and write to a namespace that had no vectors of it."""
    waiting.put_vectors([embedded("a")])
    with closing(PostgresStore(used)) as other:
        other.use_embedder(EMBEDDER, DIMENSION)
        lock, once = namespaces.lock_all_known, iter([True])

        def locked(connection: Server, paths: Iterable[str]) -> None:
            lock(connection, paths)
            if next(once, False):
                other.put_vectors([embedded("x", THERE)])

        waiting.use_embedder("another", DIMENSION)
        monkeypatch.setattr(namespaces, "lock_all_known", locked)
        assert waiting.drop_vectors(9) == 1
        assert waiting.other_vectors() == {EMBEDDER: 1}
        assert waiting.drop_vectors(9) == 1
    told = [change.namespace for change in waiting.changes(0, 100) if change.kind == "vectors"]
    # Given to one and the other, taken from one and the other.
    assert sorted(told) == [HERE, HERE, THERE, THERE]


def test_without_an_embedder_there_is_nothing_to_wait_for(store: PostgresStore) -> None:
    with pytest.raises(InvalidArgument, match="embedder"):
        store.waiting(1)


def test_equal_texts_of_two_namespaces_have_one_vector(waiting: PostgresStore) -> None:
    waiting.add([entry("d", "tea", direction(1)), entry("y", "tea", direction(1), namespace=THERE)])
    assert waiting.cached_vectors(HERE, [b"digest of tea"])[b"digest of tea"].shape == (1, DIMENSION)
