"""Vectors that come later: of every namespace in turn, by whoever is first; at last the old ones go."""

import numpy as np
import pytest

from memorata.model.errors import DimensionMismatch, InvalidArgument
from memorata.store.memory.embedding import Embedded
from memorata.testing.samples import DIMENSION, EMBEDDER, HERE, THERE, direction, entry
from memorata_postgres.store import PostgresStore


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
    # Namespaces come in the order of their numbers.
    assert shown in (["a", "b", "c", "x"], ["x", "a", "b", "c"])
    for wrong in ("x", "-1", "9" * 19, "1.x", "1.2.3"):
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


def test_without_an_embedder_there_is_nothing_to_wait_for(store: PostgresStore) -> None:
    with pytest.raises(InvalidArgument, match="embedder"):
        store.waiting(1)


def test_equal_texts_of_two_namespaces_have_one_vector(waiting: PostgresStore) -> None:
    waiting.add([entry("d", "tea", direction(1)), entry("y", "tea", direction(1), namespace=THERE)])
    assert waiting.cached_vectors(HERE, [b"digest of tea"])[b"digest of tea"].shape == (1, DIMENSION)
