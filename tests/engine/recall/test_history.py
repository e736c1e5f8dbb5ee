"""Of contradicting facts the newest answers, and the older one is told as history."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

import memorata
from memorata.engine import Engine
from memorata.engine.recall.history import newest_first
from memorata.model.hit import Explanation, Hit
from memorata.model.memory import Memory
from memorata.store.memory.repeats import Contradiction

START = datetime(2026, 5, 7, 12, tzinfo=UTC)


class Clock:
    now = START

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory(clock: Clock) -> Iterator[Engine]:
    with memorata.open(":memory:", embedder="lexical", clock=clock) as engine:
        yield engine


def homes(memory: Engine, clock: Clock) -> tuple[str, str]:
    old = memory.remember("I live in Rome, where I live well and live cheaply").id
    clock.now += timedelta(days=400)
    return old, memory.remember("I live in Paris now, in a flat of two rooms with a garden").id


def test_now_the_newest_of_two_homes_comes_first(memory: Engine, clock: Clock) -> None:
    old, new = homes(memory, clock)
    result = memory.recall("where do I live now?")
    assert [hit.memory.id for hit in result.hits] == [new, old]
    assert [(each.id, each.newer) for each in result.history] == [(old, new)]
    assert result.as_dict()["history"][0]["newer"] == new
    # Scores still fall, and still explain themselves.
    assert result.hits[0].score >= result.hits[1].score
    assert "newest of a contradiction" in str(result.hits[0].explanation)
    assert result.hits[0].explanation.adds_up()
    assert result.trace is not None


def test_what_the_newer_one_says_is_told_where_it_is_no_hit(memory: Engine, clock: Clock) -> None:
    old, new = homes(memory, clock)
    (hit,) = result = memory.recall("where do I live well and cheaply?", limit=1)
    assert (hit.memory.id, [(each.id, each.newer) for each in result.history]) == (old, [(old, new)])
    assert "Paris" in result.history[0].text
    assert result.as_dict()["history"][0]["text"] == result.history[0].text
    # Who filters is told that there is something newer, and not what it says.
    (filtered,) = memory.recall("where do I live?", limit=1, until=START + timedelta(days=1)).history
    assert (filtered.newer, filtered.text) == (new, "")


def test_what_was_is_asked_for_by_its_time(memory: Engine, clock: Clock) -> None:
    old, _ = homes(memory, clock)
    for question in (
        memory.recall("where did I live last year?"),
        memory.recall("where do I live?", as_of=START + timedelta(days=1)),
        memory.recall("where do I live?", true_at=START + timedelta(days=1)),
    ):
        assert question.history == ()
        assert question.hits[0].memory.id == old


def test_a_decision_ends_it(memory: Engine, clock: Clock) -> None:
    old, new = homes(memory, clock)
    memory.duplicates.resolve_contradiction(new, old, contradicts=False, because="two homes")
    result = memory.recall("where do I live now?")
    assert (result.history, result.hits[0].memory.id) == ((), old)


def test_nothing_is_said_where_nothing_is_noted(memory: Engine) -> None:
    memory.remember("Anna likes tea")
    memory.remember("Anna likes coffee")
    assert memory.recall("what does Anna like?").history == ()


def hit(name: str, score: float, day: int) -> Hit:
    made = Memory(id=name, content=name, created_at=START + timedelta(days=day))
    return Hit(made, score, lambda: Explanation.leaf("score", score))


def note(newer: str, older: str) -> Contradiction:
    return Contradiction(newer, older, "value", "another home", START)


def test_the_newest_of_three_passes_both_others() -> None:
    hits = [hit("rome", 0.9, 0), hit("tea", 0.8, 0), hit("oslo", 0.7, 1), hit("paris", 0.6, 2)]
    notes = [note("oslo", "rome"), note("paris", "rome"), note("paris", "oslo")]
    order, moved, history = newest_first(hits, notes)
    assert [each.memory.id for each in moved] == ["paris", "oslo", "rome", "tea"]
    assert order == [3, 2, 0, 1]
    assert [each.score for each in moved] == [0.9, 0.9, 0.9, 0.8]
    assert all(each.explanation.value == each.score for each in moved)
    assert len(history) == 3


def test_what_is_newer_and_no_hit_is_named() -> None:
    hits = [hit("rome", 0.9, 0), hit("tea", 0.8, 0)]
    _, moved, history = newest_first(hits, [note("paris", "rome")])
    assert list(moved) == hits
    assert [each.newer for each in history] == ["paris"]
