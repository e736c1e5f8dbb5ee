"""All that can happen to a memory between its first and its last day, by the verbs of one engine."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

import memorata
from memorata import Engine
from memorata.model.errors import MemoryNotFound
from memorata.model.memory import Tier

START = datetime(2026, 5, 7, 12, tzinfo=UTC)


class Clock:
    """A clock that somebody sets."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory(clock: Clock) -> Iterator[Engine]:
    rules = {"working_days": 7, "working_uses": 2, "confidence_loss": 0.1}
    with memorata.open(":memory:", embedder="lexical", clock=clock, config={"life": rules}) as opened:
        yield opened


def test_what_is_used_rises_what_is_not_is_forgotten_and_what_is_pinned_stays(
    memory: Engine, clock: Clock
) -> None:
    for id_ in ("used", "unused", "pinned"):
        memory.remember(f"a note that is {id_}", id=id_, tier="working")
    memory.admin.lifecycle.mark_used("used")
    memory.admin.lifecycle.mark_used("used")
    memory.admin.lifecycle.pin("pinned")
    clock.now += timedelta(days=8)
    report = memory.admin.lifecycle.maintain()
    assert [(move.id, move.after) for move in report.promoted] == [("used", Tier.EPISODIC)]
    assert report.expired == ("unused",)
    assert {each.id for each in memory.list().memories} == {"used", "pinned"}

    memory.restore("unused")
    memory.admin.lifecycle.unpin("pinned")
    clock.now += timedelta(days=8)
    assert set(memory.admin.lifecycle.maintain().expired) == {"unused", "pinned"}
    assert {each.id for each in memory.list().memories} == {"used"}


def test_confidence_wears_until_somebody_confirms(memory: Engine, clock: Clock) -> None:
    memory.remember("the key is under the mat", id="key", confidence=0.9)
    assert memory.admin.lifecycle.confidence_of(memory.get("key")) == pytest.approx(0.9)
    clock.now += timedelta(days=7 + 2 * 7)  # a grace week, and two in which 0.1 is lost
    worn = memory.admin.lifecycle.confidence_of(memory.get("key"))
    assert worn == pytest.approx(0.7)
    memory.admin.lifecycle.confirm("key")
    assert memory.admin.lifecycle.confidence_of(memory.get("key")) > worn


def test_a_change_is_a_new_version_and_not_a_new_memory(memory: Engine) -> None:
    memory.remember("tea at five", id="tea")
    changed = memory.update("tea", importance=0.9, tags=["habit"])
    assert (changed.id, changed.version, changed.importance, changed.tags) == ("tea", 2, 0.9, ("habit",))
    assert memory.get("tea") == changed


def test_the_end_of_a_namespace_is_the_end_of_all_that_lived_in_it(memory: Engine) -> None:
    memory.remember("tea", id="a", namespace="acme/anna")
    memory.remember("milk", id="b")
    memory.admin.lifecycle.pin("a", namespace="acme/anna")
    memory.admin.namespaces.purge("acme/anna")
    with pytest.raises(MemoryNotFound):
        memory.get("a", namespace="acme/anna")
    assert [each.id for each in memory.list().memories] == ["b"]
