"""Of contradicting facts the newest answers, and the older one is told as history."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

import memorata
from memorata.engine import Engine
from memorata.engine.recall.history import newest_first
from memorata.model.hit import Explanation, Hit
from memorata.model.memory import Memory
from memorata.model.query import When
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


def test_the_newer_one_takes_the_place_of_the_older_though_the_query_does_not_find_it(
    memory: Engine, clock: Clock
) -> None:
    old, new = homes(memory, clock)
    query = "where do I live well and cheaply?"
    (hit,) = result = memory.recall(query, limit=1)
    assert (hit.memory.id, [(each.id, each.newer) for each in result.history]) == (new, [(old, new)])
    assert "Rome" in result.history[0].text
    assert result.as_dict()["history"][0]["text"] == result.history[0].text
    assert hit.explanation.adds_up()
    assert hit.confidence == memory.recall(query, limit=2).hits[1].confidence
    # Within a filter the newer one may be unwanted: its id is given, and not its text.
    filtered = memory.recall("where do I live?", limit=1, when=When(until=START + timedelta(days=1)))
    assert [each.memory.id for each in filtered.hits] == [old]
    assert [(each.newer, each.text) for each in filtered.history] == [(new, "")]


def test_a_correction_is_found_by_the_words_of_what_it_supersedes(memory: Engine, clock: Clock) -> None:
    old = memory.remember("I live in Leipzig, near the zoo").id
    for text in ("Anna likes green tea", "The zoo opens at nine", "Bob works at the bank"):
        memory.remember(text)
    clock.now += timedelta(days=400)
    new = memory.correct(old, "We have moved to Valencia")
    result = memory.recall("where do I live, near the zoo?", limit=2)
    assert result.hits[0].memory.id == new.id
    assert old not in [hit.memory.id for hit in result.hits]
    assert [(each.id, each.newer) for each in result.history] == [(old, new.id)]
    assert result.history[0].text == "I live in Leipzig, near the zoo"
    assert result.hits[0].explanation.adds_up()
    assert "newer than" in str(result.hits[0].explanation)
    # Three in a chain are one place, which leaves room for another hit.
    newest = memory.correct(new.id, "We have moved to Oslo")
    result = memory.recall("where do I live, near the zoo?", limit=2)
    assert result.hits[0].memory.id == newest.id
    assert len(result.hits) == 2
    # The older ones are found by their time.
    then = memory.recall("where do I live, near the zoo?", when=When(as_of=START + timedelta(days=1)))
    assert then.hits[0].memory.id == old
    # A successor that was forgotten is not shown.
    memory.forget(newest.id)
    assert newest.id not in [hit.memory.id for hit in memory.recall("where do I live, near the zoo?").hits]


def test_feedback_is_taken_on_a_hit_in_the_place_of_another(memory: Engine, clock: Clock) -> None:
    old, new = homes(memory, clock)
    result = memory.recall("where do I live well and cheaply?", limit=1)
    assert [hit.memory.id for hit in result.hits] == [new]
    memory.admin.feedback.record(result.id, new, "thumbs", "up")
    (given,) = memory.admin.feedback.list()
    assert (given.feedback.memory_id, given.features != {}) == (new, True)
    corrected = memory.correct(new, "I live in a tent in the forest")
    result = memory.recall("where do I live well and cheaply?", limit=1)
    memory.admin.feedback.record(result.id, result.hits[0].memory.id, "thumbs", "up")
    assert corrected.id != old


def test_what_was_is_asked_for_by_its_time(memory: Engine, clock: Clock) -> None:
    old, _ = homes(memory, clock)
    for question in (
        memory.recall("where did I live last year?"),
        memory.recall("where do I live?", when=When(as_of=START + timedelta(days=1))),
        memory.recall("where do I live?", when=When(true_at=START + timedelta(days=1))),
    ):
        assert question.history == ()
        assert question.hits[0].memory.id == old


def test_a_decision_ends_it(memory: Engine, clock: Clock) -> None:
    old, new = homes(memory, clock)
    memory.admin.duplicates.resolve_contradiction(new, old, contradicts=False, because="two homes")
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
    newest = newest_first(hits, notes, limit=4)
    assert [each.memory.id for each in newest.hits] == ["paris", "oslo", "rome", "tea"]
    assert newest.ranks == (3, 2, 0, 1)
    assert [each.score for each in newest.hits] == [0.9, 0.9, 0.9, 0.8]
    assert all(each.explanation.value == each.score for each in newest.hits)
    assert len(newest.history) == 3


def test_what_is_newer_and_no_hit_is_inserted() -> None:
    hits = [hit("rome", 0.9, 0), hit("tea", 0.8, 0)]
    paris = hit("paris", 0.0, 2).memory
    newest = newest_first(hits, [note("paris", "rome")], unseen={"paris": paris}, limit=2)
    assert [each.memory.id for each in newest.hits] == ["paris", "rome"]
    assert newest.hits[0].explanation.value == newest.hits[0].score == 0.9
    assert newest.ranks == (0, 0)


def test_what_is_newer_and_may_not_be_shown_is_named() -> None:
    hits = [hit("rome", 0.9, 0), hit("tea", 0.8, 0)]
    newest = newest_first(hits, [note("paris", "rome")], limit=2)
    assert list(newest.hits) == hits
    assert [each.newer for each in newest.history] == ["paris"]
