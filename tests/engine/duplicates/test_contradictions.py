"""Contradictions are noted, decided about, and remembered with the reason; corrections close what was."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

import pytest

import memorata
from memorata.engine import Engine
from memorata.model.errors import AlreadySuperseded, InvalidArgument, MemoryNotFound
from memorata.model.memory import Memory
from memorata.model.query import When

START = datetime(2026, 5, 7, 12, tzinfo=UTC)


class Clock:
    now = START

    def __call__(self) -> datetime:
        return self.now


class Judge:
    """A judge with given verdicts and reasons."""

    def __init__(self, *rulings: tuple[bool | None, str]) -> None:
        self.rulings = list(rulings)
        self.asked: list[tuple[str, str]] = []

    def __call__(self, pairs: Sequence[tuple[Memory, Memory]]) -> list[tuple[bool | None, str]]:
        self.asked += [(older.content, newer.content) for older, newer in pairs]
        return self.rulings


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory(clock: Clock) -> Iterator[Engine]:
    with memorata.open(":memory:", embedder="lexical", clock=clock) as engine:
        yield engine


@pytest.fixture
def cities(memory: Engine, clock: Clock) -> tuple[Memory, Memory]:
    old = memory.remember("Anna lives in Rome")
    clock.now += timedelta(days=1)
    return old, memory.remember("Anna moved to Paris")


def test_a_decision_supersedes_and_is_kept_with_its_reason(
    memory: Engine, clock: Clock, cities: tuple[Memory, Memory]
) -> None:
    old, new = cities
    decided = memory.admin.duplicates.resolve_contradiction(
        new.id, old.id, contradicts=True, because="she said so", by="Bob"
    )
    assert (decided.verdict, decided.decided_by, decided.decided_at) == ("contradicts", "Bob", clock.now)
    was = memory.get(old.id)
    assert (was.superseded_by, was.valid_to) == (new.id, new.created_at)
    assert memory.admin.duplicates.contradictions() == ()
    assert memory.admin.duplicates.contradictions(old.id, resolved=True) == (decided,)
    assert [each.id for each in memory.history(new.id)] == [old.id, new.id]
    with pytest.raises(InvalidArgument):
        memory.admin.duplicates.resolve_contradiction(new.id, old.id, contradicts=False, because="no")


def test_both_may_be_true(memory: Engine, cities: tuple[Memory, Memory]) -> None:
    old, new = cities
    memory.admin.duplicates.resolve_contradiction(new.id, old.id, contradicts=False, because="two homes")
    assert memory.get(old.id).superseded_by is None
    assert memory.admin.duplicates.contradictions() == ()


def test_a_judge_decides_what_it_can_tell(memory: Engine, cities: tuple[Memory, Memory]) -> None:
    old, new = cities
    unsure = Judge((None, "who knows"))
    assert memory.admin.duplicates.resolve_contradictions(unsure, by="somebody") == ()
    assert unsure.asked == [("Anna lives in Rome", "Anna moved to Paris")]
    assert len(memory.admin.duplicates.contradictions()) == 1
    (decided,) = memory.admin.duplicates.resolve_contradictions(Judge((True, "one city")), by="somebody")
    assert (decided.decided_by, decided.decided_because) == ("somebody", "one city")
    assert memory.get(old.id).superseded_by == new.id


def test_a_judge_does_not_touch_what_is_pinned_or_has_changed(
    memory: Engine, cities: tuple[Memory, Memory]
) -> None:
    old, new = cities
    memory.admin.lifecycle.pin(old.id)
    assert memory.admin.duplicates.resolve_contradictions(Judge((True, "one city")), by="somebody") == ()
    memory.admin.lifecycle.unpin(old.id)

    class Slow(Judge):
        def __call__(self, pairs: Sequence[tuple[Memory, Memory]]) -> list[tuple[bool | None, str]]:
            memory.forget(new.id)
            return super().__call__(pairs)

    assert memory.admin.duplicates.resolve_contradictions(Slow((True, "one city")), by="somebody") == ()
    assert memory.get(old.id).superseded_by is None


def test_bad_arguments_are_refused(memory: Engine, cities: tuple[Memory, Memory]) -> None:
    old, new = cities
    for call in (
        lambda: memory.admin.duplicates.resolve_contradiction(new.id, old.id, contradicts=1, because="x"),  # type: ignore[arg-type]
        lambda: memory.admin.duplicates.resolve_contradiction(new.id, old.id, contradicts=True, because=" "),
        lambda: memory.admin.duplicates.resolve_contradiction(old.id, new.id, contradicts=True, because="x"),
        lambda: memory.admin.duplicates.resolve_contradictions("judge", by="somebody"),  # type: ignore[arg-type]
        lambda: memory.admin.duplicates.resolve_contradictions(Judge(), by="somebody", limit=-1),
        lambda: memory.admin.duplicates.contradictions(resolved=1),  # type: ignore[arg-type]
    ):
        with pytest.raises(InvalidArgument):
            call()
    with pytest.raises(MemoryNotFound):
        memory.admin.duplicates.contradictions("nobody")


def test_a_correction_closes_the_old_one_when_the_new_one_began(memory: Engine, clock: Clock) -> None:
    old = memory.remember("Anna lives in Rome")
    clock.now += timedelta(days=10)
    began = START + timedelta(days=4)
    new = memory.correct(old.id, "Anna lives in Paris", valid_from=began, source={"speaker": "Anna"})
    assert memory.get(old.id).valid_to == began
    assert (new.supersedes, new.source.speaker) == ((old.id,), "Anna")

    def told(**when: datetime) -> list[str]:
        result = memory.recall("where does Anna live", when=When(**when))  # type: ignore[arg-type]
        return [hit.memory.content for hit in result]

    assert told() == ["Anna lives in Paris"]
    assert told(as_of=START + timedelta(days=5)) == ["Anna lives in Rome"]
    assert told(true_at=START + timedelta(days=3)) == ["Anna lives in Rome"]
    assert told(true_at=START + timedelta(days=5)) == ["Anna lives in Paris"]
    newest = memory.correct(new.id, "Anna lives in Bern")
    assert [each.id for each in memory.history(new.id)] == [old.id, new.id, newest.id]


def test_chains_cannot_form_cycles(memory: Engine) -> None:
    old = memory.remember("Anna lives in Rome")
    new = memory.correct(old.id, "Anna lives in Paris")
    with pytest.raises(AlreadySuperseded, match=f"correct or supersede '{new.id}' instead"):
        memory.correct(old.id, "Anna lives in Oslo")
    # Said again, the old words are a new memory: what was superseded is not brought back, nor linked to.
    back = memory.remember("Anna lives in Rome")
    assert back.id not in (old.id, new.id)
    last = memory.remember("x", supersedes=[back.id, new.id])
    chain = memory.history(old.id)
    assert len({each.id for each in chain}) == len(chain) == 4
    assert chain[-1].id == last.id
    with pytest.raises(InvalidArgument):
        memory.remember("y", id="y1", supersedes=["y1"])
