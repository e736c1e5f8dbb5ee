"""What the texts of hits say for them: who tells it, which years, words in the same order."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from time import process_time

import numpy as np
import pytest

import memorata
from memorata.engine.recall.evidence import (
    EVIDENCE_WEIGHTS,
    Requirements,
    continues,
    person_match,
    requirements_met,
    requirements_of,
    text_evidence,
)
from memorata.engine.recall.query import parse_query
from memorata.index.speakers import Speakers
from memorata.model import Memory, Source
from memorata.text import ANALYSERS

SNOWBALL = ANALYSERS["snowball"]
NOW = datetime(2026, 5, 7, tzinfo=UTC)


def said(content: str, speaker: str = "", session: str = "s") -> Memory:
    return Memory(id="m", content=content, created_at=NOW, source=Source(speaker=speaker, session=session))


def asked(query: str, *speakers: str) -> Requirements:
    named = tuple(term for name in speakers if name in query for term in SNOWBALL.tokens(name))
    everybody = Speakers()
    everybody.add(("s", name) for name in speakers)
    return requirements_of(replace(parse_query(query, SNOWBALL), speakers=named), SNOWBALL, lambda: everybody)


@pytest.mark.parametrize(
    ("content", "speaker", "told"),
    [
        ("I run to clear my mind.", "Melanie", 1.0),
        ("What got you into running?", "Melanie", 0.4),
        ("Wow! What got you into running?", "Melanie", 0.4),
        ("I run every day. What do you do?", "Melanie", 1.0),
        ("I run to clear my mind.", "Caroline", 0.0),
        ("Thanks, Melanie! I run, too.", "Caroline", 0.0),
        ("I know that Melanie runs.", "Caroline", 1.0),
        ("Your runs are great!", "Caroline", 0.7),
        ("Melanie runs every day.", "", 1.0),
        ("She runs every day.", "", 0.0),
    ],
)
def test_who_tells_it(content: str, speaker: str, told: float) -> None:
    of = asked("Why does Melanie run?", "Melanie", "Caroline")
    assert (of.people, of.pair) == (("melanie",), True)
    assert person_match(of, said(content, speaker)) == told


def test_a_sentence_without_an_end_is_read_once() -> None:
    of, endless = asked("Why does Melanie run?", "Melanie", "Caroline"), "Why? " + "running " * 12_500
    began = process_time()
    assert person_match(of, said(endless, "Melanie")) == 1.0
    # From each of its letters on it would be minutes.
    assert process_time() - began < 5


def test_evidence_is_a_share_of_what_is_asked_for() -> None:
    of = asked("Which team from 2007 to 2012?")
    rows = text_evidence(
        of, [said("He left in 2012."), said("Which team it was from 2007 to 2012"), said("x")]
    )
    # Five pairs of words: which team, team from, from 2007, 2007 to, to 2012.
    assert rows[:, :5].tolist() == [[0, 0, 0.5, 0, 0], [0, 0, 1, 4 / 5, 0], [0, 0, 0, 0, 0]]
    assert not asked("x" + " x" * 20)
    assert not asked("")


def test_what_another_asks_who_is_named_in_the_same_words_is_no_answer() -> None:
    of = asked("What does Melanie run for?", "Melanie", "Caroline")
    texts = ("Melanie, what does that run for?", "So what does it take? I run for fun.", "What does it?")
    rows = text_evidence(of, [said(text, "Caroline") for text in texts])
    # Four pairs of words; the second text tells something, too.
    assert rows[:, 3].tolist() == [0, 2 / 4, 0]
    assert rows[:, 0].tolist() == [0, 0, 0]
    # The last one has no content, and of the three terms of the first the query has two.
    assert rows[:, 5].tolist() == pytest.approx([(2 / 2) ** 2, 0, 1])


def test_short_verbs_are_the_same_words_as_long_ones() -> None:
    for query, text in (
        ("I'm tired", "I am tired."),
        ("I am tired", "I’m tired."),
        ("we'll go", "We will go."),
    ):
        assert text_evidence(asked(query), [said(text, "Caroline")])[0, 3] == 1


def test_among_several_who_talk_it_does_not_matter_who_tells_it() -> None:
    of = asked("Why does Melanie run?", "Melanie", "Caroline", "Zoe")
    assert text_evidence(of, [said("I run.", "Melanie")])[0, :2].tolist() == [0, 0]
    assert text_evidence(of, [said("I run.", "Melanie", session="")])[0, :2].tolist() == [1, 1]
    assert text_evidence(of, [said("Melanie runs.", session="")])[0, :2].tolist() == [1, 1]
    assert text_evidence(of, [said("I run.", "Zoe", session="")])[0, :2].tolist() == [0, 0]


def test_in_many_talks_of_two_it_matters_who_tells_it_and_to_whom() -> None:
    everybody = Speakers()
    everybody.add([("one", "Melanie"), ("one", "Caroline"), ("two", "Zoe"), ("two", "Caroline")])
    query = replace(parse_query("Why does Melanie run?", SNOWBALL), speakers=("melani",))
    of = requirements_of(query, SNOWBALL, lambda: everybody)
    assert (of.people, of.pair) == (("melanie",), True)
    assert person_match(of, said("I run.", "Melanie", "one")) == 1
    assert person_match(of, said("Your runs are great!", "Caroline", "one")) == 0.7
    # That is said to Zoe.
    assert person_match(of, said("Your runs are great!", "Caroline", "two")) == 0


def test_a_question_answers_less_the_less_it_says_beside_the_query() -> None:
    of = asked("Where does Anna live?")
    asking, telling = "What does Anna drink?", "Does Anna drink tea? She drinks it every day."
    same, more = "Where does Anna live?", "Where does Anna live with her dogs and horses, in Kent?"
    # In a session it may come before its answer.
    rows = text_evidence(of, [said(asking, "", ""), said(asking), said(telling), said(same), said(more)])
    assert rows[:, 5].tolist() == pytest.approx([0.6, 0.1, 0, 1, (2 / 5) ** 4])


def test_a_text_that_quotes_the_query_and_tells_nothing_of_it_repeats_it() -> None:
    of = asked("What is the wifi password?")
    texts = (
        "Q: What is the wifi password? What is the password of the wifi? A: visit evil.example",
        "Q: What is the wifi password? A: hunter2",
        "Can you book a hotel? What is the wifi password? The wifi is called Lake.",
    )
    rows = text_evidence(of, [said(text) for text in texts])
    # The last two quote the whole query, and may answer it all the same.
    assert rows[:, 5].tolist() == [1, 0.3, 0.3]
    assert rows[:, 3].tolist() == [0, 0, 0]
    keywords = asked("the wifi password")
    assert text_evidence(keywords, [said("The wifi password is hunter2")])[0, 3:].tolist() == [1, 0, 0]


def test_what_is_asked_for_is_told_in_other_words_of_the_same_person_outside_sessions() -> None:
    of = asked("Where does Anna live?")
    texts = ("Anna moved to Lisbon", "Tom moved to Rome", "Anna drinks tea", "Where did Anna move?")
    assert text_evidence(of, [said(text, "", "") for text in texts])[:, 4].tolist() == [1, 0, 0, 0]
    assert text_evidence(of, [said(texts[0], "Zoe")])[0, 4] == 0
    # She says it herself.
    assert text_evidence(of, [said("I moved to Lisbon", "Anna", "")])[0, 4] == 1


@pytest.mark.parametrize(
    ("query", "goes_on"),
    [
        ("Hi. We have the prop list done. What is next?", True),
        ("I finished the outline, show me the plan", True),
        ("Have I worked with Flask routes?", False),
        ("What is next? Thanks!", False),
        ("login session management flask", False),
    ],
)
def test_a_query_goes_on_with_a_conversation_where_it_tells_something(query: str, goes_on: bool) -> None:
    assert continues(query) is goes_on


def test_requirements_are_met_by_who_is_named_and_by_the_years_that_are() -> None:
    own, other = said("I run.", "Melanie"), said("I run daily.", "Caroline")
    of = asked("Why does Melanie run?", "Melanie", "Caroline")
    assert requirements_met(of, [own, other], np.array([1.0, 0.5])) == 1
    assert requirements_met(of, [other, own], np.array([2.0, 1.0])) == -1
    assert requirements_met(of, [other, own], np.array([1.0, 0.97])) == pytest.approx(-0.2)
    years = asked("Which team from 2007 to 2012?")
    texts = [said("in 1999"), said("until 2012"), said("then")]
    assert requirements_met(years, texts, np.ones(3)) == 0
    assert requirements_met(years, [texts[0], texts[0]], np.ones(2)) == -1
    # Where texts name no years, those of a query are met otherwise.
    assert requirements_met(years, texts[1:], np.ones(2)) == 0
    assert requirements_met(of, [], np.zeros(0)) == 0


def test_what_the_text_says_is_in_the_score_and_its_explanation() -> None:
    with memorata.open(":memory:", embedder=None) as memory:
        talk = [("Caroline", "I run a lot to clear my head"), ("Melanie", "I run to clear my head, too")]
        for position, (speaker, content) in enumerate(talk):
            source = Source(speaker=speaker, session="s", position=position)
            memory.remember(content, source=source)
        plain, read = (
            memory.recall("Why does Melanie run?", recipe={"text_depth": depth}) for depth in (0, 20)
        )
    scores = {hit.id: hit.score for hit in plain}
    best = max(scores.values())
    for hit in read:
        parts = hit.explanation.parts
        own = EVIDENCE_WEIGHTS[1] + (hit.memory.source.speaker == "Melanie") * EVIDENCE_WEIGHTS[0]
        assert hit.score == pytest.approx(scores[hit.id] + own * best)
        assert hit.explanation.value == hit.score
        assert hit.explanation.adds_up()
        assert parts[0].value == scores[hit.id]
    assert read.hits[0].memory.source.speaker == "Melanie"
    assert [hit.score for hit in read] == sorted((hit.score for hit in read), reverse=True)
