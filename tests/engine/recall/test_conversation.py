"""Queries that go on with a conversation (pronouns, and what was just talked about), and replies in one."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

import memorata
from memorata.engine.recall.conversation import (
    WORD_SHARE,
    background,
    embedded_with,
    reply_leads,
    with_names,
)
from memorata.engine.recall.query import parse_query
from memorata.model import InvalidArgument, Memory, Source
from memorata.text import ANALYSERS

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)
SNOWBALL = ANALYSERS["snowball"]


@pytest.fixture
def memory() -> Iterator[memorata.Engine]:
    with memorata.open(":memory:", embedder="lexical", clock=lambda: NOW) as engine:
        engine.remember("Anna likes green tea.", id="anna")
        engine.remember("Ben likes black coffee.", id="ben")
        engine.remember("The lake was cold.", id="lake")
        yield engine


def first(memory: memorata.Engine, query: str, *history: str) -> str:
    return memory.recall(query, history=history).hits[0].memory.id


@pytest.mark.parametrize(
    ("query", "name", "wanted"),
    [
        ("What does she like?", "Anna", "anna"),
        ("What does he like?", "Ben", "ben"),
        ("Was mag sie?", "Anna", "anna"),
    ],
)
def test_a_pronoun_means_who_was_named_last(
    memory: memorata.Engine, query: str, name: str, wanted: str
) -> None:
    found = memory.recall(query, history=["Ben and Anna came by.", f"I talked to {name} today."])
    assert found.hits[0].memory.id == wanted
    assert found.meant == (name,)
    assert found.as_dict()["meant"] == [name]


def test_what_was_talked_about_counts_where_the_query_says_little(memory: memorata.Engine) -> None:
    assert first(memory, "And how was it?", "We went swimming in the lake.") == "lake"
    assert memory.recall("And how was it?").meant == ()


def test_who_is_named_is_meant_whatever_was_talked_about(memory: memorata.Engine) -> None:
    assert first(memory, "What does Ben like?", "Anna came by.", "She drank green tea.") == "ben"
    assert memory.recall("What does Ben like?", history=["Anna came by."]).meant == ()


def test_the_older_a_turn_the_less_its_words_count() -> None:
    query = parse_query("What about tea?", SNOWBALL)
    worth = background(query, ["The lake was cold.", "We had tea and cake."], SNOWBALL)
    assert worth["cake"] == WORD_SHARE
    assert worth["lake"] == worth["cold"] < worth["cake"]
    assert "tea" not in worth


def test_only_the_last_turns_are_read() -> None:
    turns = ["Anna came by.", *["We talk a lot."] * 4]
    assert with_names("What does she like?", turns) == ("What does she like?", ())
    assert len(embedded_with("it", ["word " * 1_000])) < 700
    assert embedded_with("What does Ben like?", ["We talk."]) == "What does Ben like?"


def test_a_history_that_is_none_is_refused(memory: memorata.Engine) -> None:
    with pytest.raises(InvalidArgument, match=r"history\[0\]"):
        memory.recall("tea", history=[7])  # type: ignore[list-item]
    assert memory.recall("green tea", history=[]).hits[0].memory.id == "anna"


QUESTION = "I am so happy for you, Anna. What made you study law?"
REPLY = "I wanted to help people like my aunt."


def turn(content: str, speaker: str, position: int | None, session: str = "s") -> Memory:
    source = Source(speaker=speaker, session=session, position=position)
    return Memory(id=f"{session}{position}", content=content, created_at=NOW, source=source)


def test_a_reply_of_the_named_person_is_lifted_just_above_its_question() -> None:
    turns = [turn(QUESTION, "Ben", 4), turn("Law is long.", "Anna", 9), turn(REPLY, "Anna Meier", 5)]
    assert reply_leads(["anna"], turns, [1.0, 0.8, 0.6]) == pytest.approx([0, 0, 0.401])
    assert reply_leads(["anna"], turns, [1.0, 0.8, 1.2]) == [0, 0, 0]


@pytest.mark.parametrize(
    ("people", "asking", "replying"),
    [
        ((), turn(QUESTION, "Ben", 4), turn(REPLY, "Anna", 5)),
        (("ben",), turn(QUESTION, "Ben", 4), turn(REPLY, "Anna", 5)),
        (("anna", "ben"), turn(QUESTION, "Ben", 4), turn(REPLY, "Anna", 5)),
        (("anna",), turn("What made you study law? Mine is maths.", "Ben", 4), turn(REPLY, "Anna", 5)),
        (("anna",), turn(QUESTION, "Ben", 4), turn(REPLY, "Anna", 6)),
        (("anna",), turn(QUESTION, "Ben", 4), turn(REPLY, "Anna", 5, "t")),
        (("anna",), turn(QUESTION, "Ben", None), turn(REPLY, "Anna", 1)),
        (("anna",), turn(QUESTION, "Ben", 4), turn(REPLY, "Cleo", 5)),
    ],
)
def test_nothing_else_is_a_reply(people: tuple[str, ...], asking: Memory, replying: Memory) -> None:
    assert reply_leads(people, [asking, replying], [1.0, 0.5]) == [0, 0]


def test_a_reply_comes_before_its_question_and_says_so() -> None:
    with memorata.open(":memory:", embedder="lexical", clock=lambda: NOW) as engine:
        for number, (speaker, content) in enumerate(
            [("Anna", "I passed the exam!"), ("Ben", QUESTION), ("Anna", REPLY), ("Ben", "That is kind.")] * 2
        ):
            engine.remember(content, source=Source(speaker=speaker, session="s", position=number))
        hits = engine.recall("What made Anna study law?").hits
    assert [hit.content for hit in hits[:2]] == [REPLY, QUESTION]
    assert "a reply to the question before it" in str(hits[0].explanation)
    assert hits[0].explanation.value == hits[0].score
