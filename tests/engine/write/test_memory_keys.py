"""Memories under a caller's key: the current version, its history, and writers who collide."""

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import memorata
from memorata import Engine
from memorata.engine.write.writer import latest_version, version_id
from memorata.model.errors import InvalidArgument, MemorataError, MemoryNotFound


@pytest.fixture
def memory() -> Iterator[Engine]:
    with memorata.open(":memory:", embedder="lexical") as engine:
        yield engine


def test_a_new_version_takes_the_place_of_the_old_one(memory: Engine) -> None:
    first = memory.put("anna/drink", "Anna drinks tea.", tags=("drinks",))
    second = memory.put("anna/drink", "Anna drinks coffee.")
    assert memory.get(key="anna/drink") == second
    assert [each.content for each in memory.history(second.id)] == ["Anna drinks tea.", "Anna drinks coffee."]
    assert [hit.memory.content for hit in memory.recall("what does Anna drink?")] == ["Anna drinks coffee."]
    assert second.metadata == {"key": "anna/drink", "key_created_at": first.created_at.isoformat()}
    third = memory.put("anna/drink", "Anna drinks milk.")
    assert third.metadata["key_created_at"] == first.created_at.isoformat()


def test_the_same_content_makes_no_version(memory: Engine) -> None:
    first = memory.put("k", "Anna drinks tea.", importance=0.2)
    again = memory.put("k", "Anna drinks tea.", importance=0.9, metadata={"room": 12})
    assert again.id == first.id
    assert (again.importance, again.metadata) == (0.9, {"room": 12, "key": "k"})
    assert len(memory.history(again.id)) == 1


@pytest.mark.parametrize("how", ["delete", "forget"])
def test_a_key_is_free_after_its_memory_is_gone(memory: Engine, how: str) -> None:
    first = memory.put("k", "Anna drinks tea.")
    if how == "delete":
        assert memory.delete(key="k") == first
    else:
        memory.forget(first.id)
    with pytest.raises(MemoryNotFound, match="no memory under the key 'k' in namespace"):
        memory.get(key="k")
    with pytest.raises(MemoryNotFound):
        memory.delete(key="k")
    again = memory.put("k", "Anna drinks tea.")
    assert again.id != first.id
    assert again.metadata == {"key": "k"}
    assert memory.get(key="k") == again


def test_two_keys_with_the_same_words_are_two_memories(memory: Engine) -> None:
    memory.put("a", "Anna drinks tea.")
    memory.put("b", "Anna drinks tea.")
    memory.remember("Anna drinks tea.")
    assert memory.get(key="a").id != memory.get(key="b").id


def test_keys_are_of_their_namespace(memory: Engine) -> None:
    memory.put("k", "Tea.", namespace="anna")
    with pytest.raises(MemoryNotFound):
        memory.get(key="k")
    assert memory.get(key="k", namespace="anna").content == "Tea."


@pytest.mark.untraced
def test_many_versions_and_purged_ones_among_them(memory: Engine) -> None:
    versions = [memory.put("k", f"Version {number}.") for number in range(70)]
    assert memory.get(key="k") == versions[-1]
    memory.purge(versions[-1].id)
    assert memory.put("k", "The next.").content == memory.get(key="k").content == "The next."


def test_the_last_version_is_found_over_gaps() -> None:
    taken = {version_id("k", number) for number in (0, 3, 63, 64, 130)}
    assert latest_version("k", lambda ids: taken & set(ids)) == 130
    assert latest_version("other", lambda ids: taken & set(ids)) == -1


@pytest.mark.parametrize("key", ["", "x" * 1_001, 7, None])
def test_bad_keys(memory: Engine, key: object) -> None:
    with pytest.raises(MemorataError):
        memory.put(key, "Tea.")  # type: ignore[arg-type]


def test_other_mistakes_are_told_as_they_are(memory: Engine) -> None:
    with pytest.raises(InvalidArgument, match="confidence"):
        memory.put("k", "Tea.", confidence=7)
    with pytest.raises(MemorataError, match="id or key"):
        memory.get()
    with pytest.raises(MemorataError, match="id or key"):
        memory.get("m1", key="k")


def test_writers_who_collide_all_leave_a_version(tmp_path: Path) -> None:
    def write(number: int) -> None:
        with memorata.open(tmp_path / "m.db", embedder="lexical") as engine:
            for count in range(5):
                engine.put("k", f"Writer {number}, version {count}.")

    memorata.open(tmp_path / "m.db", embedder="lexical").close()
    threads = [threading.Thread(target=write, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with memorata.open(tmp_path / "m.db", embedder="lexical") as engine:
        assert len(engine.history(engine.get(key="k").id)) == 15


def test_an_open_gate_brings_as_many_as_are_asked_for(memory: Engine) -> None:
    for content in ("Anna drinks tea.", "Bob plays the cello.", "It rained in Porto."):
        memory.remember(content)
    assert len(memory.recall("tea", limit=3).hits) < 3
    assert len(memory.recall("tea", limit=3, min_confidence=0).hits) == 3
