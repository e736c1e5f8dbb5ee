"""Queries that go on with a conversation: pronouns, and what was just talked about."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

import memorata
from memorata.engine.recall.conversation import WORD_SHARE, background, embedded_with, with_names
from memorata.engine.recall.query import parse_query
from memorata.model import InvalidArgument
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
