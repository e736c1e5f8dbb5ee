"""What passes between engine and store when a memory gets its vectors, and who writes at the same time."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memorata.store.dialects import SqliteStore
from memorata.store.memory.embedding import Embedded
from memorata.store.store import Store
from memorata.testing.samples import DIMENSION, EMBEDDER, HERE, THERE, entry, words
from memorata_postgres.store import PostgresStore

Meanwhile = Callable[[Store], object]


def embedded(id_: str, namespace: str = HERE) -> Embedded:
    return Embedded(namespace, id_, np.eye(1, DIMENSION, dtype=np.float32), id_.encode())


@pytest.fixture(params=["sqlite", "postgresql"])
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Store, Store]]:
    """Two stores on one database, as two processes have them: one goes over to another embedder."""
    first: Store
    second: Store
    if request.param == "sqlite":
        first, second = SqliteStore(tmp_path / "m.db"), SqliteStore(tmp_path / "m.db")
    else:
        first = request.getfixturevalue("server_store")
        second = PostgresStore(request.getfixturevalue("used"))
    with closing(first), closing(second):
        first.use_embedder(EMBEDDER, DIMENSION)
        second.use_embedder(EMBEDDER, DIMENSION)
        first.add([entry("a", "a"), entry("x", "x", namespace=THERE), entry("b", "b"), entry("c", "c")])
        first.put_vectors([embedded("a"), embedded("b")])
        first.use_embedder("another", DIMENSION)
        yield first, second


def between(store: Store, other: Store, meanwhile: Meanwhile, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let another process do something once, when the store has read what to write and not begun to."""
    write: Any = store._database.write
    once = iter([True])

    def written(*given: Any, **options: Any) -> object:
        if next(once, False):
            meanwhile(other)
        return write(*given, **options)

    monkeypatch.setattr(store._database, "write", written)


def told(store: Store) -> list[str]:
    return sorted(change.namespace for change in store.changes(0, 100) if change.kind == "vectors")


def test_it_says_whose_vectors_these_are_and_cannot_be_changed() -> None:
    given = Embedded("ada", "m1", np.ones((1, 2), np.float32), b"digest")
    assert (given.namespace, given.memory_id, given.digest) == ("ada", "m1", b"digest")
    with pytest.raises(AttributeError):
        given.digest = b""  # type: ignore[misc]


def test_what_another_process_embeds_the_old_way_meanwhile_is_removed_next(
    stores: tuple[Store, Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It goes on with the old embedder, and writes to a namespace that had no vectors of it."""
    first, second = stores
    between(first, second, lambda other: other.put_vectors([embedded("x", THERE)]), monkeypatch)
    assert first.drop_vectors(9) == 2
    assert first.other_vectors() == {EMBEDDER: 1}
    assert [first.drop_vectors(9), first.drop_vectors(9)] == [1, 0]
    assert first.other_vectors() == {}
    # Given to one, in two memories, and the other; taken from one and the other.
    assert told(first) == [HERE, HERE, HERE, THERE, THERE]
    assert first.check(lambda memory: {"content": words(memory.content)}) == []


@pytest.mark.parametrize(
    ("meanwhile", "removed"),
    [
        (lambda other: other.purge(HERE, ["a"]), 1),
        (lambda other: other.purge(HERE, ["a", "b"]), 0),
        (lambda other: other.purge_namespace(HERE), 0),
    ],
    ids=["one memory", "both memories", "their namespace"],
)
def test_vectors_of_what_is_purged_meanwhile_are_not_counted(
    stores: tuple[Store, Store], monkeypatch: pytest.MonkeyPatch, meanwhile: Meanwhile, removed: int
) -> None:
    first, second = stores
    between(first, second, meanwhile, monkeypatch)
    assert first.drop_vectors(9) == removed
    assert first.other_vectors() == {}
    assert first.check(lambda memory: {"content": words(memory.content)}) == []


def test_vectors_that_two_processes_remove_at_once_are_removed_by_one(
    stores: tuple[Store, Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = stores
    second.put_vectors([embedded("c")])
    second.use_embedder("another", DIMENSION)
    before = told(first)
    between(first, second, lambda other: other.drop_vectors(2), monkeypatch)
    # None of the two that it meant to remove is there any more; so it goes on to the next.
    assert [first.drop_vectors(2), first.drop_vectors(2)] == [1, 0]
    assert told(first) == sorted([*before, HERE, HERE])
    assert {memory.embedder for memory in first.get(HERE, ["a", "b", "c"])} == {""}


def test_what_is_embedded_anew_while_the_old_goes_keeps_the_new(
    stores: tuple[Store, Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = stores
    second.use_embedder("another", DIMENSION)
    between(first, second, lambda other: other.put_vectors([embedded("a")]), monkeypatch)
    assert first.drop_vectors(9) == 2
    assert [memory.embedder for memory in first.get(HERE, ["a", "b"])] == ["another", ""]
    assert first.count_waiting() == 3
    assert first.check(lambda memory: {"content": words(memory.content)}) == []
