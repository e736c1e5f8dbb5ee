"""The items of the five designs through the public verbs: open, remember, recall, and what a hit explains."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

import memorata
from memorata import Engine
from memorata.engine import RECIPES, RecallResult

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)


@pytest.fixture
def memory() -> Iterator[Engine]:
    with memorata.open(":memory:", embedder="lexical", clock=lambda: NOW) as engine:
        yield engine


def recall(memory: Engine, query: str, recipe: str = "balanced", **changes: object) -> RecallResult:
    return memory.recall(query, recipe=recipe, changes=changes)


@pytest.mark.parametrize("adverb", ["usually", "normally"])
def test_a_question_about_habits_weighs_confidence_as_a_preference(memory: Engine, adverb: str) -> None:
    memory.remember("Docker containers are configured with compose files", confidence=0.5)
    question = f"How do I {adverb} configure Docker containers?"
    plain = recall(memory, question, "haia", confidence="none", least_similarity=0.0).hits[0]
    weighed = recall(memory, question, "haia", weighting="query", least_similarity=0.0).hits[0]
    assert weighed.score == pytest.approx(0.70 * plain.score + 0.30 * 0.5)


def test_semstreams_counts_words_as_published() -> None:
    assert (RECIPES["semstreams"].k1, RECIPES["semstreams"].b) == (1.5, 0.75)
