"""What is known about a memory can be changed, what was said cannot."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from math import copysign
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memorata
from memorata import Engine, Place
from memorata.engine.write.writer import UPDATABLE
from memorata.model.errors import InvalidArgument, MemoryNotFound, VersionConflict
from memorata.model.memory import Tier
from memorata_graph import Graph

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)


@pytest.fixture
def memory() -> Iterator[Engine]:
    with memorata.open(":memory:", embedder="lexical", clock=lambda: NOW) as opened:
        yield opened


def test_everything_changeable_is_changed_at_once_and_kept(memory: Engine) -> None:
    said = memory.remember("Green tea, please.")
    wanted: dict[str, Any] = {
        "category": "preference",
        "tier": "procedural",
        "confidence": 0.5,
        "importance": 0.9,
        "pinned": True,
        "tags": ["drinks"],
        "metadata": {"room": 12},
        "entities": ["Zoë"],
        "place": {"lat": 51.5, "lon": -0.1},
        "valid_from": NOW - timedelta(days=3),
        "valid_to": NOW + timedelta(days=3),
        "expires_at": NOW + timedelta(days=9),
    }
    assert set(wanted) == set(UPDATABLE)
    changed = memory.update(said.id, **wanted)
    assert memory.get(said.id) == changed
    assert (changed.content, changed.version, changed.created_at) == (said.content, 2, said.created_at)
    assert (changed.tier, changed.tags, changed.entities) == (Tier.PROCEDURAL, ("drinks",), ("Zoë",))
    assert changed.place == Place(51.5, -0.1)
    assert memory.admin.check() == []


def test_zero_has_no_sign(memory: Engine) -> None:
    zero: dict[str, Any] = {"confidence": -0.0, "importance": -0.0, "place": {"lat": -0.0, "lon": -0.0}}
    said = memory.remember("Green tea, please.", **zero)
    other, third = memory.remember_many([{"content": "Anna plays chess.", **zero}, "Ben keeps bees."])
    changed = memory.update(third.id, **zero)
    corrected = memory.correct(other.id, "Anna plays go.", confidence=-0.0)
    for kept in (said, changed, corrected):
        read = memory.get(kept.id)
        assert read == kept
        assert copysign(1, kept.confidence) == copysign(1, read.confidence) == 1
        assert kept.place is not None
        assert [copysign(1, number) for number in (kept.importance, kept.place.lat, kept.place.lon)] == [
            1
        ] * 3
    assert memory.admin.check() == []


def test_what_is_changed_is_found_by_its_new_words_and_times(memory: Engine) -> None:
    said = memory.remember("It opens at nine.", tags=["bank"], valid_from=datetime(2024, 1, 5, tzinfo=UTC))
    memory.remember("Nothing of the kind.")
    memory.update(said.id, tags=["museum"], entities=["Tate"], valid_from=datetime(2025, 8, 9, tzinfo=UTC))
    assert memory.recall("museum", recipe="balanced").hits[0].memory.id == said.id
    assert [known.entity.name for known in Graph(memory).entities.list()] == ["Tate"]
    assert [each.id for each in Graph(memory).timeline("Tate")] == [said.id]
    listed = memory.list(filter={"tags": "museum", "valid_from": {">": "2025-01-01"}})
    assert [each.id for each in listed.memories] == [said.id]
    assert memory.admin.check() == []


@given(st.lists(st.tuples(st.integers(0, 299), st.sets(st.sampled_from("abcdefgh"), max_size=4)), max_size=8))
def test_the_index_says_what_a_new_one_would(changes: list[tuple[int, set[str]]]) -> None:
    with memorata.open(":memory:", embedder=None, clock=lambda: NOW) as memory:
        items = [{"id": f"m{n}", "content": "tea", "tags": ["abcdefgh"[n % 8]]} for n in range(300)]
        memory.remember_many(items)
        for number, tags in changes:
            memory.update(f"m{number}", tags=sorted(tags))
            memory.recall("a b c")
        assert memory.admin.check() == []


def test_a_stale_version_is_refused_and_nothing_is_changed(memory: Engine) -> None:
    said = memory.remember("Green tea, please.")
    memory.update(said.id, confidence=0.5, expected_version=1)
    with pytest.raises(VersionConflict):
        memory.update(said.id, confidence=0.7, expected_version=1)
    assert memory.update(said.id, confidence=0.7, expected_version=2).version == 3
    assert memory.get(said.id).confidence == 0.7


def test_two_who_change_different_fields_lose_nothing(
    memory: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = memory.remember("Green tea, please.")
    update = memory.store.update

    def interrupted(*args: object) -> memorata.Memory:
        monkeypatch.undo()
        memory.update(said.id, importance=0.9)
        return update(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(memory.store, "update", interrupted)
    changed = memory.update(said.id, confidence=0.5)
    assert (changed.confidence, changed.importance, changed.version) == (0.5, 0.9, 3)


def test_a_change_that_changes_nothing_is_no_new_version(memory: Engine) -> None:
    said = memory.remember("Green tea, please.")
    assert memory.update(said.id, category=said.category) == said


def test_what_was_said_and_what_the_engine_counts_are_refused(memory: Engine) -> None:
    said = memory.remember("Green tea, please.")
    with pytest.raises(InvalidArgument, match="use correct"):
        memory.update(said.id, content="Coffee.")
    for field in ("created_at", "source", "access_count", "version", "supersedes", "flavour"):
        given: dict[str, Any] = {field: 1}
        with pytest.raises(InvalidArgument, match="fields must be one of"):
            memory.update(said.id, **given)
    with pytest.raises(InvalidArgument, match="confidence"):
        memory.update(said.id, confidence=float("nan"))
    with pytest.raises(InvalidArgument, match="place"):
        memory.update(said.id, place={"lat": 1})
    with pytest.raises(InvalidArgument, match="expected_version"):
        memory.update(said.id, expected_version=0)
    with pytest.raises(MemoryNotFound):
        memory.update("nobody", confidence=0.5)
    assert memory.get(said.id) == said


def test_a_pin_takes_the_expiry_away_and_can_be_taken_back(memory: Engine) -> None:
    said = memory.remember("Milk is in the fridge.", tier="working", expires_at=NOW + timedelta(hours=1))
    memory.admin.lifecycle.pin(said.id)
    assert (memory.get(said.id).pinned, memory.get(said.id).expires_at) == (True, None)
    assert [each.id for each in memory.list(filter={"pinned": True}).memories] == [said.id]
    memory.admin.lifecycle.unpin(said.id)
    assert memory.list(filter={"pinned": True}).memories == ()
    with pytest.raises(MemoryNotFound):
        memory.admin.lifecycle.pin(said.id, "nobody")
    assert memory.list(filter={"pinned": True}).memories == (), "all of them or none"
    assert memory.list(filter={"not": {"pinned": True}}).memories != ()


def test_only_saying_so_counts_as_a_use(memory: Engine) -> None:
    said = memory.remember("Green tea, please.")
    memory.recall("tea")
    memory.list()
    assert memory.get(said.id) == said
    memory.admin.lifecycle.mark_used(said.id)
    assert (memory.get(said.id).access_count, memory.get(said.id).last_accessed_at) == (1, NOW)
    with pytest.raises(MemoryNotFound):
        memory.admin.lifecycle.mark_used("nobody")
    assert memory.admin.check() == []


def test_a_memory_that_is_named_twice_is_confirmed_twice(memory: Engine) -> None:
    said = memory.remember("Green tea, please.", confidence=0.5, created_at=NOW - timedelta(days=3))
    memory.admin.lifecycle.confirm(said.id, said.id)
    confirmed = memory.get(said.id)
    # Its confidence grows once a day.
    assert (confirmed.mentions, round(confirmed.confidence, 6)) == (3, 0.55)
