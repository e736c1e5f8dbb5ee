"""Communities by what their summaries say: what is counted, found, ordered and told."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import memorata
from memorata import When
from memorata.engine import Recipe
from memorata.engine.recall.query import RecallContext
from memorata_graph.legs import community_leg, graph_of, points

Make = Callable[..., RecallContext]
RECIPE = Recipe(name="x", graph="communities")
NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)
NONE, NO_SCORES = np.zeros(0, np.intp), np.zeros(0)
TEA: list[dict[str, Any]] = [
    {"content": "Anna poured green tea from the pot", "entities": ["Anna", "Ben"]},
    {"content": "Ben spilt the tea", "entities": ["Anna", "Ben"]},
    {"content": "They laughed", "entities": ["Anna", "Ben"]},
]
ROCKET: list[dict[str, Any]] = [
    {"content": "Chidi welded the rocket", "entities": ["Chidi", "Dalia"]},
    {"content": "Dalia fuelled the rocket at dawn", "entities": ["Chidi", "Dalia"]},
    {"content": "It rained", "entities": ["Chidi", "Dalia"]},
]


def test_what_a_summary_counts() -> None:
    assert points({"tea"}, set(), ("tea",), frozenset()) == 3.5
    assert points(set(), {"anna"}, (), frozenset({"anna", "ben"})) == 2.0
    assert points({"milk"}, {"milk"}, ("tea",), frozenset({"anna"})) == 0.0


def test_the_community_whose_summary_matches_and_of_it_what_shares_a_word(context: Make) -> None:
    found = community_leg(RECIPE, context([*TEA, *ROCKET], "who drank the tea?"), NONE, NO_SCORES)
    # The third memory of the community says nothing of tea.
    assert sorted(found.slots.tolist()) == [0, 1]
    assert found.scores.tolist() == [3.5, 3.5]
    rocket = community_leg(RECIPE, context([*TEA, *ROCKET], "the rocket of Dalia"), NONE, NO_SCORES)
    assert sorted(rocket.slots.tolist()) == [3, 4]
    # Its keywords are rocket and, as a word of a text like others, Dalia, who is named besides.
    assert rocket.scores.tolist() == [3.5 + 3.5 + 2.0] * 2


def test_members_of_a_community_are_ordered_by_closeness(context: Make) -> None:
    asked = context([*TEA, *ROCKET], "Ben spilt the tea")
    assert community_leg(RECIPE, asked, NONE, NO_SCORES).slots.tolist() == [1, 0]
    unembedded = context([*TEA, *ROCKET], "Ben spilt the tea", vector=None)
    assert community_leg(RECIPE, unembedded, NONE, NO_SCORES).slots.tolist() == [0, 1]


def test_the_note_says_what_the_community_is_about(context: Make) -> None:
    found = community_leg(RECIPE, context([*TEA, *ROCKET], "tea"), NONE, NO_SCORES)
    assert found.detail is not None
    told = found.detail(found.slots)
    assert len(told.names) == 1
    assert told.names[0].startswith("a community about ")
    assert "tea" in told.names[0]
    assert told.scores == pytest.approx(found.scores)


def test_nothing_matches_nothing_may_be_seen_nothing_to_go_by(context: Make) -> None:
    for asked in (
        context([*TEA, *ROCKET], "an umbrella"),
        context([*TEA, *ROCKET], "the of"),
        context(["alone"], "alone"),
        context([*TEA, *ROCKET], "green -tea -pot"),
    ):
        assert community_leg(RECIPE, asked, NONE, NO_SCORES).slots.size == 0


def test_summaries_are_made_once_for_each_state_of_the_graph(context: Make) -> None:
    asked = context([*TEA, *ROCKET], "tea")
    community_leg(RECIPE, asked, NONE, NO_SCORES)
    kept: list[object] = graph_of(asked).once("groups", lambda: pytest.fail("made again"))
    assert len(kept) == 2


@pytest.fixture
def file(tmp_path: Path) -> str:
    """Two groups of memories; the first memory was said long ago, and corrected today."""
    path = str(tmp_path / "memory.db")
    with memorata.open(path, embedder="lexical", clock=lambda: NOW) as memory:
        for number, item in enumerate([*TEA, *ROCKET]):
            said = NOW - timedelta(days=100 if number == 0 else 10)
            memory.remember(**item, id=f"m{number}", created_at=said, duplicates="off")
        memory.correct("m0", "Anna poured coffee")
    return path


def asked(file: str, **how: Any) -> list[str]:
    """What a process that has just begun finds by communities alone."""
    with memorata.open(file, embedder="lexical", clock=lambda: NOW) as memory:
        return by_communities(memory, **how)


def by_communities(memory: memorata.Engine, **how: Any) -> list[str]:
    found = memory.recall(
        "who drank the tea?", recipe={"base": "bm25", "graph": "communities"}, when=When(**how)
    )
    return sorted(
        hit.memory.id
        for hit in found
        if any(part.label == "graph" and part.value for part in hit.explanation.walk())
    )


def test_what_held_long_ago_is_searched_although_most_of_the_groups_did_not_yet(file: str) -> None:
    assert asked(file, true_at=NOW) == ["m1"]
    assert asked(file, true_at=NOW - timedelta(days=50)) == []


def test_what_one_question_leaves_out_is_there_for_the_next(file: str) -> None:
    with memorata.open(file, embedder="lexical", clock=lambda: NOW) as memory:
        by_communities(memory, true_at=NOW - timedelta(days=50))
        assert by_communities(memory) == asked(file) == ["m1"]


def test_what_was_believed_then_counts_among_what_was_believed_then(file: str) -> None:
    assert asked(file, as_of=NOW - timedelta(days=1)) == ["m0", "m1"]
