"""What is remembered meets what was said before."""

import unicodedata
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

import memorata
from memorata.engine import Engine
from memorata.engine.rules import DedupeMode
from memorata.model.errors import InvalidArgument
from memorata.model.query import Query
from memorata_graph import Graph

START = datetime(2026, 5, 7, 12, tzinfo=UTC)


class Clock:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["lexical", None])
def memory(request: pytest.FixtureRequest, clock: Clock) -> Iterator[Engine]:
    """An engine with vectors of hashed words, and one without any."""
    with memorata.open(":memory:", embedder=request.param, clock=clock) as engine:
        yield engine


def seen(memory: Engine) -> list[str]:
    return sorted(each.content for each in memory.list(limit=100).memories)


def test_what_stays_is_found_by_what_was_said_with_the_repeat(memory: Engine, clock: Clock) -> None:
    day = timedelta(days=1)
    first = memory.remember("Anna likes green tea.", tags=["drinks"], expires_at=START + day)
    again = memory.remember("anna likes  green tea!", tags=["breakfast"], place={"lat": 1, "lon": 2})
    assert (again.id, again.tags, again.place is None) == (first.id, ("drinks", "breakfast"), False)
    clock.now += 2 * day
    # What was said without an end has none.
    tagged = memory.recall("green tea", filter={"tags": "breakfast"})
    assert [hit.memory.id for hit in tagged.hits] == [first.id]
    (found,) = memory.list(filter={"tags": "breakfast"}).memories
    assert found.id == first.id
    (repeat,) = (each for each in memory.history(first.id) if each.id != first.id)
    memory.purge(repeat.id)
    assert memory.get(first.id).tags == ("drinks",)
    assert (memory.recall("green tea").hits, memory.admin.check()) == ((), [])


def test_what_held_until_then_is_not_what_holds(memory: Engine) -> None:
    for until in (START + timedelta(days=9), None, START + timedelta(days=9), START):
        memory.remember("Anna works at the bank.", valid_from=START - timedelta(days=9), valid_to=until)
    assert sorted(each.mentions for each in memory.list().memories) == [1, 1, 2]


def test_the_same_words_are_said_once_and_nothing_is_lost(memory: Engine) -> None:
    first = memory.remember("Anna likes green tea.", tags=["drinks"])
    again = memory.remember("anna likes  green tea!", tags=["tea"])
    assert (again.id, again.content, again.mentions) == (first.id, "Anna likes green tea.", 2)
    assert seen(memory) == ["Anna likes green tea."]
    (note,) = memory.admin.duplicates.repeats(first.id)
    assert (note.kind, note.reason, note.run) == ("exact", "The words are the same.", None)
    lost = memory.get(note.memory_id)
    assert (lost.content, lost.tags, lost.superseded_by) == ("anna likes  green tea!", ("tea",), first.id)
    assert [each.id for each in memory.history(first.id)] == [lost.id, first.id]
    assert memory.history(lost.id) == memory.history(first.id)
    assert memory.admin.check() == []


def test_nearly_the_same_words_are_said_once(memory: Engine) -> None:
    first = memory.remember("Anna really likes the green tea from Japan.")
    again = memory.remember("Anna likes green tea from Japan")
    assert again.id == first.id
    (note,) = memory.admin.duplicates.repeats(first.id)
    assert note.kind == "near"


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The rent of the flat is 900 euros a month", "The rent of the flat is 950 euros a month"),
        ("Anna told Bob about the trip to Rome", "Bob told Anna about the trip to Rome"),
        ("The door of the garage is locked at night", "The door of the garage is not locked at night"),
        ("Anna lives in the old town of Rome", "Anna lives in the old town of Bern"),
    ],
)
def test_what_only_sounds_alike_is_kept(memory: Engine, older: str, newer: str) -> None:
    memory.remember(older)
    memory.remember(newer)
    assert seen(memory) == sorted([older, newer])


def test_a_text_that_goes_on_is_kept(memory: Engine) -> None:
    shorter = memory.remember("Bob owns a red car, a blue boat and a green bike")
    more = memory.remember("Bob owns a red car, a blue boat and a green bike in Rome")
    assert more.id != shorter.id


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"category": "preference"}, {"category": "fact"}),
        ({"source": {"speaker": "Anna"}}, {"source": {"speaker": "Bob"}}),
        ({"place": {"lat": 1, "lon": 2}}, {"place": {"lat": 3, "lon": 4}}),
        ({"valid_from": START}, {"valid_from": START - timedelta(days=1)}),
        ({"confidence": 0.9}, {"confidence": 0.6}),
    ],
)
def test_the_same_words_may_be_two_statements(
    memory: Engine, one: dict[str, Any], other: dict[str, Any]
) -> None:
    first, second = memory.remember("I like tea", **one), memory.remember("I like tea", **other)
    assert first.id != second.id
    assert seen(memory) == ["I like tea", "I like tea"]


def test_events_of_two_days_are_two(memory: Engine, clock: Clock) -> None:
    first = memory.remember("Went for a run", category="event")
    assert memory.remember("Went for a run", category="event").id == first.id
    clock.now += timedelta(days=1)
    assert memory.remember("Went for a run", category="event").id != first.id


@pytest.mark.parametrize("speaker", ["Anna", "I", "!"])
def test_a_turn_of_a_transcript_neither_repeats_nor_is_repeated(memory: Engine, speaker: str) -> None:
    said = {"speaker": speaker, "session": "s"}
    turns = [memory.remember("Yes.", source={**said, "position": place}) for place in range(2)]
    plain = memory.remember("Yes.")
    named = memory.remember("Yes.", source={"session": "s"})
    assert len({turns[0].id, turns[1].id, plain.id}) == 3
    assert named.id == plain.id


@pytest.mark.parametrize("speaker", ["Anna", "I", "!"])
def test_a_turn_of_a_transcript_is_not_contradicted(memory: Engine, speaker: str) -> None:
    memory.remember("Anna lives in Rome", source={"speaker": speaker, "session": "s", "position": 1})
    later = memory.remember("Anna lives in Paris", source={"speaker": speaker})
    assert memory.admin.duplicates.contradictions(later.id) == ()
    again = memory.remember("Anna lives in Oslo", source={"speaker": speaker})
    assert [hint.older for hint in memory.admin.duplicates.contradictions(again.id)] == [later.id]


def test_a_passage_of_two_files_is_said_twice(memory: Engine) -> None:
    notes = [{"session": file, "position": 4} for file in ("garden.md", "old/garden.md")]
    first = memory.remember("Anna likes green tea with honey.", source=notes[0])
    assert memory.remember("Anna likes green tea with honey.", source=notes[1]).id == first.id
    assert memory.remember("Anna really likes green tea with honey").id == first.id
    assert [note.kind for note in memory.admin.duplicates.repeats(first.id)] == ["exact", "near"]


def test_what_is_forgotten_was_not_said(memory: Engine) -> None:
    first = memory.remember("Anna likes tea")
    memory.forget(first.id)
    assert memory.remember("Anna likes tea").id != first.id


def test_namespaces_do_not_hear_each_other(memory: Engine) -> None:
    first = memory.remember("Anna likes tea")
    assert memory.remember("Anna likes tea", namespace="elsewhere").id != first.id


def test_support_counts_once_a_day(memory: Engine, clock: Clock) -> None:
    said = memory.remember("Anna likes tea", confidence=0.5)
    confidences = []
    for _ in range(5):
        clock.now += timedelta(hours=12)
        confidences.append(round(memory.remember("Anna likes tea", confidence=0.5).confidence, 6))
    # 0.5 + 0.1 · 0.5 after a day, then 0.55 + 0.1 · 0.45 after the next.
    assert confidences == [0.5, 0.55, 0.55, 0.595, 0.595]
    kept = memory.get(said.id)
    assert (kept.mentions, kept.supported_at) == (6, START + timedelta(days=2))


def test_the_higher_confidence_is_taken_over(memory: Engine) -> None:
    said = memory.remember("Anna likes tea", confidence=0.7)
    assert memory.remember("Anna likes tea", confidence=0.9).confidence == 0.9
    assert memory.get(said.id).confidence == 0.9


def test_a_correction_wins_over_what_it_sets_right_and_nothing_else(clock: Clock) -> None:
    with memorata.open(":memory:", embedder="lexical", clock=clock) as memory:
        text = "The flight to {} with the choir and the crew leaves at {}"
        old = memory.remember(text.format("Rome", "8"))
        other = memory.remember(text.format("Oslo", "8"))
        clock.now += timedelta(days=1)
        fixed = memory.remember(text.format("Rome", "9"), category="correction")
        assert fixed.supersedes == (old.id,)
        ended = memory.get(old.id)
        assert (ended.superseded_by, ended.valid_to) == (fixed.id, clock.now)
        assert memory.get(other.id).superseded_by is None
        # Whoever says it again is told what is known by now.
        assert memory.admin.duplicates.repeats(fixed.id)[0].kind == "correction"


def test_a_batch_hears_what_was_there_and_itself(memory: Engine) -> None:
    there = memory.remember("tea")
    kept = memory.remember_many(["Tea.", "coffee", "milk", "COFFEE", "tea"])
    assert [each.content for each in kept] == ["tea", "coffee", "milk", "coffee", "tea"]
    assert (kept[0].id, kept[0].mentions, kept[1].id) == (there.id, 3, kept[3].id)
    assert seen(memory) == ["coffee", "milk", "tea"]
    assert len(list(memory.store.export(None))) == 6
    assert memory.admin.check() == []


def test_a_batch_hears_nearly_the_same_if_told(memory: Engine) -> None:
    said = ["Anna likes the green tea from Japan", "Anna likes green tea from Japan"]
    assert len({each.id for each in memory.remember_many(said)}) == 2
    memory.purge(*(each.id for each in memory.list().memories))
    kept = memory.remember_many([*said, "Bob sails"], duplicates="near")
    assert len({each.id for each in kept[:2]}) == 1


def test_everything_can_be_written_as_it_comes(memory: Engine) -> None:
    for _ in range(2):
        memory.remember("tea", duplicates="off")
    assert len(memory.remember_many(["tea", "tea"], duplicates="off")) == 2
    assert seen(memory) == ["tea"] * 4


def test_what_is_taken_as_it_is_is_not_compared(memory: Engine) -> None:
    drafts = [memory.draft("tea"), memory.draft("tea")]
    memory.remember_many(drafts, verbatim=True)
    assert seen(memory) == ["tea", "tea"]


def test_the_setting_holds_for_both_verbs() -> None:
    with memorata.open(":memory:", embedder=None, config={"duplicates": "off"}) as memory:
        memory.remember("tea")
        memory.remember("tea")
        memory.remember_many(["tea"])
        assert seen(memory) == ["tea"] * 3
        assert memory.dedupe_mode is DedupeMode.OFF
    with memorata.open(":memory:", embedder=None, config={"duplicates": "exact"}) as memory:
        memory.remember("Anna likes the green tea from Japan")
        memory.remember("Anna likes green tea from Japan")
        assert len(seen(memory)) == 2


@pytest.mark.parametrize("bad", ["fuzzy", "", 1, None])
def test_another_word_is_refused(memory: Engine, bad: Any) -> None:
    calls: list[Callable[[], Any]] = [
        lambda: memorata.open(":memory:", embedder=None, config={"duplicates": bad})
    ]
    if bad is not None:
        calls += [
            lambda: memory.remember("tea", duplicates=bad),
            lambda: memory.remember_many(["tea"], duplicates=bad),
        ]
    for call in calls:
        with pytest.raises(InvalidArgument, match="duplicates"):
            call()


def test_relations_of_the_earlier_memory_go_on(memory: Engine) -> None:
    said = memory.remember("Anna works at the bank")
    Graph(memory).entities.relate("Anna", "works_at", "bank", memory=said.id)
    memory.remember("Anna works at the bank.")
    assert len(Graph(memory).entities.relations("Anna")) == 1


def test_contradictions_are_noted_and_nothing_else(memory: Engine) -> None:
    old = memory.remember("Anna lives in Rome.")
    new = memory.remember("Anna moved to Paris.")
    (hint,) = memory.admin.duplicates.contradictions()
    assert (hint.newer, hint.older, hint.cue, hint.verdict) == (new.id, old.id, "change", None)
    assert seen(memory) == ["Anna lives in Rome.", "Anna moved to Paris."]


def test_what_has_ended_or_another_said_is_not_contradicted(memory: Engine) -> None:
    memory.remember("I live in Rome.", valid_to=START - timedelta(days=9))
    memory.remember("I live in Bern.", source={"speaker": "Bob"})
    memory.remember("I live in Paris.", source={"speaker": "Anna"})
    assert memory.admin.duplicates.contradictions() == ()


def test_an_error_leaves_nothing_behind(memory: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    first = memory.remember("tea")

    def fail(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(memory.store.duplicates, "repeat", fail)
    with pytest.raises(RuntimeError):
        memory.remember("tea")
    monkeypatch.undo()
    assert [each.id for each in memory.store.export(None)] == [first.id]
    assert memory.remember("tea").mentions == 2
    assert memory.admin.check() == []


@pytest.mark.parametrize("mode", ["exact", "near"])
@pytest.mark.parametrize(
    "text", ["Zoë wohnt in Köln", "Hà Nội là thủ đô của Việt Nam", "the ﬁnal ﬂow of the oﬃce"]
)
def test_the_same_words_in_another_form_of_unicode_are_the_same(text: str, mode: str) -> None:
    for form in ("NFD", "NFKC"):
        with memorata.open(":memory:", embedder="lexical", config={"duplicates": mode}) as memory:
            first = memory.remember(text)
            for number in range(8):
                memory.remember(f"a quite different note about number {number * 7_919}")
            assert memory.remember(unicodedata.normalize(form, text)).id == first.id


_ALIKE: list[Callable[[str], str]] = [
    lambda text: f"{text} 🍵",
    lambda text: " ".join([*text.split()[1::-1], *text.split()[2:]]),
    lambda text: f"{text} {text}",
    lambda text: " ".join(reversed(text.split())),
    str.upper,
]


@pytest.mark.untraced
def test_near_repeats_are_taken_where_vectors_are_compared_as_bytes() -> None:
    # Of many vectors the product with their own bytes is above 1, by as much as rounding to bytes gives.
    texts = "Anna drinks green tea in the garden.", "The train to Rome leaves at nine in the morning."
    rows = np.random.default_rng(7).standard_normal((21_000, 256)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    with memorata.open(":memory:", embedder="potion-base-8M", config={"durable": False}) as memory:
        memory.remember_many(
            [{"content": f"note {place}", "vector": row} for place, row in enumerate(rows)], duplicates="off"
        )
        for text in texts:
            first = memory.remember(text)
            for alike in _ALIKE:
                assert memory.remember(alike(text)).content in (text, alike(text))
            assert memory.remember(f"{text}!").id == first.id
        for row in rows[:8]:
            text = f"Given note {row[0]:.7f} is about the garden."
            first = memory.remember(text, vector=row)
            for alike in _ALIKE:
                assert memory.remember(alike(text), vector=row).content in (text, alike(text))
            assert memory.remember(f"{text}!", vector=row).id == first.id
            found = memory.recall(Query(text, vector=row), recipe="vector", limit=50)
            assert found.hits[0].score <= 1.0


@pytest.mark.parametrize("embedder", ["builtin", "lexical"])
def test_letters_decide_where_a_word_more_moves_the_vector_far(embedder: str) -> None:
    with memorata.open(":memory:", embedder=embedder) as memory:
        tea = memory.remember("Anna likes green tea with honey.")
        assert memory.remember("anna really likes green tea with honey!").id == tea.id
        rents = [memory.remember(f"The rent is {rent} euros.") for rent in (900, 950)]
        assert rents[0].id != rents[1].id
        assert memory.remember("Anna does not like green tea with honey.").id != tea.id
    with memorata.open(":memory:", embedder=embedder, config={"dedupe": {"threshold": 0.99}}) as memory:
        kept = [
            memory.remember(text).id for text in ("Anna likes green tea.", "Anna really likes green tea.")
        ]
        assert kept[0] != kept[1], "a threshold of one's own is the vectors'"
