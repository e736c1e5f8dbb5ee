"""What a run is given: the same for every step, unchangeable, and no more work than a recipe asks for."""

from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import memorata
from memorata.engine import Recipe
from memorata.engine.recall import recaller as recalling
from memorata.engine.recall.null import Null
from memorata.engine.recall.query import RecallContext
from memorata.engine.recall.ranking import Ranked, run
from memorata.engine.rules import DEFAULT_RULES, LifecycleRules
from memorata.model.entity import Period, Place
from memorata.model.query import Query, When

Make = Callable[..., RecallContext]
NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)
PORTO = Place(41.15, -8.61)
NAMED: list[dict[str, Any]] = [
    {"content": "The song was written by Maria Silva", "entities": ["Maria Silva"]},
    {"content": "Maria Silva was born in Porto", "entities": ["Maria Silva", "Porto"]},
]


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[RecallContext]:
    """The situations in which recipes are run from now on."""
    found: list[RecallContext] = []

    def watched(recipe: Recipe, context: RecallContext) -> Ranked:
        found.append(context)
        return run(recipe, context)

    monkeypatch.setattr(recalling, "run", watched)
    return found


def test_what_is_not_said_is_not_there(context: Make) -> None:
    whole = context(["tea"], "tea")
    needed = ("view", "query", "classifier", "vector", "least_similarity", "noise", "now", "period")
    bare = RecallContext(**{name: getattr(whole, name) for name in needed})
    assert {field.name: getattr(bare, field.name) for field in fields(RecallContext)[len(needed) :]} == {
        "null": Null.usual(0),
        "about_time": False,
        "near": None,
        "here": None,
        "reranker": None,
        "runtime": None,
        "namespace": "",
        "as_of": None,
        "life": DEFAULT_RULES,
        "tables": (),
        "familiarity": 1.0,
        "reliability": 1.0,
        "continues": False,
        "failures": [],
        "kinds": [],
    }


def test_no_step_can_change_what_the_next_is_given(context: Make) -> None:
    given = context(["tea"], "tea")
    with pytest.raises(FrozenInstanceError):
        given.noise = 0.0  # type: ignore[misc]
    assert replace(given, noise=0.5).noise == 0.5
    assert given.noise != 0.5


def test_two_situations_are_never_compared_by_what_is_in_them(context: Make) -> None:
    """A vector has no truth value: to compare two of them would raise, in the middle of a recall."""
    given = context(["tea"], "tea")
    assert given == given
    assert given != replace(given)


def test_a_recall_hands_on_what_was_asked_and_when(seen: list[RecallContext]) -> None:
    rules = LifecycleRules(confidence_loss=0.1)
    with memorata.open(":memory:", embedder="lexical", clock=lambda: NOW, config={"life": rules}) as memory:
        memory.remember("green tea in Porto", place=PORTO)
        week = Period(NOW - timedelta(days=7), NOW)
        memory.recall(Query("tea", near=PORTO), when=When(period=week))
        (given,) = seen
        assert (given.query.text, given.now, given.period, given.here) == ("tea", NOW, week, PORTO)
        assert given.life == rules
        assert given.vector is not None
        assert given.reranker is None


def test_a_threshold_is_the_embedders_unless_the_recipe_has_its_own(seen: list[RecallContext]) -> None:
    with memorata.open(":memory:", embedder="lexical") as memory:
        assert memory.embedder is not None
        calibrated = memory.embedder.similarity_threshold
        memory.remember("green tea")
        memory.recall("tea")
        memory.recall("tea", recipe={"least_similarity": 0.875})
        memory.recall("tea", recipe="vector")
        assert [given.least_similarity for given in seen] == [calibrated, 0.875, calibrated]
        # What is likely noise is a matter of the embedder alone.
        assert [given.noise for given in seen] == [calibrated] * 3


def test_without_an_embedder_there_is_no_vector(seen: list[RecallContext]) -> None:
    with memorata.open(":memory:", embedder=None) as memory:
        memory.remember("green tea")
        assert [hit.memory.content for hit in memory.recall("tea")] == ["green tea"]
    assert [given.vector for given in seen] == [None]
