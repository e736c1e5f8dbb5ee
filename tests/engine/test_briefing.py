"""Briefings: what is told before anything is asked, in which order, within which budget."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import memorata
from memorata import Engine
from memorata.engine.recall.result import tokens
from memorata.model.errors import InvalidArgument

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)


@pytest.fixture
def memory() -> Iterator[Engine]:
    with memorata.open(
        ":memory:", embedder="lexical", clock=lambda: NOW, config={"duplicates": "off"}
    ) as engine:
        yield engine


def said(memory: Engine, content: str, days: int = 100, **details: Any) -> None:
    memory.remember(content, created_at=NOW - timedelta(days=days), **details)


def sections(memory: Engine, budget: int = 1_000) -> list[tuple[str, str]]:
    return [(item.section, item.memory.content) for item in memory.briefing(budget=budget).items]


def test_sections_come_in_the_order_of_their_worth(memory: Engine) -> None:
    said(memory, "The meeting went well.", days=1)
    said(memory, "I still need to call the bank.", days=20)
    said(memory, "Anna's birthday is on 3 June.", importance=0.9)
    said(memory, "I prefer tea.")
    said(memory, "Always answer briefly.")
    said(memory, "The alarm code is with Jonas.", pinned=True)
    said(memory, "My name is Ines.")
    said(memory, "It rained in Porto.")
    assert sections(memory) == [
        ("pinned", "The alarm code is with Jonas."),
        ("instruction", "Always answer briefly."),
        ("preference", "I prefer tea."),
        ("profile", "My name is Ines."),
        ("important", "Anna's birthday is on 3 June."),
        ("unfinished", "I still need to call the bank."),
        ("recent", "The meeting went well."),
    ]


def test_a_memory_is_told_once(memory: Engine) -> None:
    said(memory, "Always answer briefly.", days=0, pinned=True, importance=1.0)
    assert sections(memory) == [("pinned", "Always answer briefly.")]


def test_what_was_corrected_or_forgotten_is_not_told(memory: Engine) -> None:
    old = memory.remember("Always answer in German.")
    memory.correct(old.id, "Always answer in French.")
    memory.forget(memory.remember("I prefer tea.").id)
    assert sections(memory) == [("instruction", "Always answer in French.")]


def test_the_budget_holds_and_says_what_it_left_out(memory: Engine) -> None:
    for number in range(30):
        said(memory, f"I prefer tea number {number} to all the others that there are.")
        said(memory, f"Always bring number {number} along, wherever it may be.")
    briefing = memory.briefing(budget=300)
    assert 0 < briefing.tokens <= 300
    assert briefing.omitted == 60 - len(briefing.items)
    assert {item.section for item in briefing.items} == {"instruction", "preference"}
    assert tokens(briefing.text) <= 300
    assert memory.briefing(budget=0).items == ()


def test_what_does_not_fit_in_any_section_is_counted_once(memory: Engine) -> None:
    said(memory, "Always answer briefly, I still need to sleep.", days=0, importance=1.0)
    assert memory.briefing(budget=3).omitted == 1


def test_a_category_that_was_given_stays(memory: Engine) -> None:
    memory.remember("Always answer briefly.", category="note")
    memory.remember("I prefer tea.", source={"speaker": "assistant"})
    assert [item.memory.category for item in memory.briefing().items] == ["fact", "note"]


def test_lines_say_section_day_and_speaker(memory: Engine) -> None:
    said(memory, "I prefer tea.", source={"speaker": "Anna", "role": "user"})
    assert memory.briefing().text == "- [preference] I prefer tea. (2026-01-27, Anna)"


def test_other_namespaces_are_not_told(memory: Engine) -> None:
    memory.remember("Always answer briefly.", namespace="bob")
    assert sections(memory) == []
    assert len(memory.briefing(namespace="bob").items) == 1


def test_sections_are_chosen(memory: Engine) -> None:
    said(memory, "Always answer briefly.")
    said(memory, "I prefer tea.")
    said(memory, "The alarm code is with Jonas.", pinned=True)
    said(memory, "It rained in Porto.", days=0)
    standing = memory.briefing(budget=500, sections=("pinned", "instruction", "preference"))
    expected = ["The alarm code is with Jonas.", "Always answer briefly.", "I prefer tea."]
    assert [item.memory.content for item in standing.items] == expected
    with pytest.raises(InvalidArgument, match="sections"):
        memory.briefing(sections=["pined"])  # type: ignore[list-item]
