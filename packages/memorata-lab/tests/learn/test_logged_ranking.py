"""A logged recall ranked again is the pipeline run again: as logged it comes out as it was."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random

import numpy as np
import pytest

from memorata import Query
from memorata.engine import RECIPES, Engine
from memorata.engine import open as open_engine
from memorata.engine.recall.log import Logging
from memorata.model.entity import Place
from memorata.model.errors import InvalidArgument
from memorata.model.memory import Source
from memorata_lab.learn.logged_ranking import (
    REPLAYABLE,
    SEARCH_PARAMETERS,
    as_replayed,
    checked_changes,
    kept_as_logged,
    logged_recipe,
    order_of,
    query_group,
    ranking,
)

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)
WORDS = [
    "tea",
    "coffee",
    "lisbon",
    "porto",
    "boat",
    "red",
    "green",
    "music",
    "piano",
    "night",
    "garden",
    "dog",
]
QUESTIONS = ("anna tea in porto", "what music does bob play?", "night garden dog", "yesterday", "zzz")


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    random = Random(1)
    with open_engine(":memory:", embedder="lexical", clock=lambda: NOW) as memory:
        memory.remember_many(
            [
                {
                    "content": " ".join(random.choices(WORDS, k=6)),
                    "entities": [random.choice(["Anna", "Bob", "Porto"])],
                    "confidence": random.random(),
                    "created_at": NOW - timedelta(days=random.random() * 30),
                    "place": Place(48 + random.random(), 2.0),
                    "source": Source(
                        session=f"s{number % 9}" if number % 3 else "",
                        speaker="assistant" if number % 5 == 0 else "anna",
                        position=number if number % 3 else None,
                    ),
                }
                for number in range(300)
            ],
            duplicates="off",
        )
        yield memory


def exact(recipe: str) -> bool:
    """Say whether the log has all that this recipe ranks by: variety needs vectors."""
    return RECIPES[recipe].diversity == "none"


@pytest.mark.parametrize("name", [name for name in RECIPES if exact(name)])
def test_as_logged_it_comes_out_as_it_was(engine: Engine, name: str) -> None:
    asked = [engine.recall(Query(question, near=Place(48.5, 2.0) if place else None), recipe=name).id
             for place in (False, True) for question in QUESTIONS]  # fmt: skip
    for recall in engine.admin.feedback.recalls(ids=tuple(asked)):
        order = order_of(recall, logged_recipe(recall))
        shown = len(recall.shown)
        # Rounding to float32 may swap neighbours far down; what was shown is as it was.
        assert order[:shown].tolist() == list(range(shown))
        assert np.count_nonzero(order == np.arange(order.size)) >= 0.9 * order.size


@pytest.mark.parametrize(
    "changes",
    [
        {"vector_weight": 0.1},
        {"session_weight": 0.0, "machine_weight": 1.0},
        {"quality": "additive", "quality_weight": 0.5},
        {"confidence": "additive"},
        {"fusion": "rrf"},
        {"graph_weight": 0.0},
        {"least_confidence": 0.5},
        {"deduplicate": False, "per_session": 1},
    ],
)
def test_another_setting_ranks_as_a_search_with_it_does(engine: Engine, changes: dict[str, object]) -> None:
    # What texts say for hits is read when they are, and not logged.
    recipe = replace(RECIPES["balanced"], text_depth=0, **changes)  # type: ignore[arg-type]
    for question in QUESTIONS[:3]:
        (logged,) = engine.admin.feedback.recalls(ids=(engine.recall(question).id,))
        searched = [hit.memory.id for hit in engine.scope(logged=False).recall(question, recipe=recipe)]
        replayed = [logged.ids[place] for place in order_of(logged, recipe).tolist()]
        if "graph_weight" not in changes:  # what the graph found may move what leads to it
            assert replayed[: len(searched)] == searched
        assert sorted(replayed) == sorted(logged.ids)


def test_what_needs_a_search_stays_as_it_was(engine: Engine) -> None:
    engine.recall("tea", recipe="fast")
    (logged,) = engine.admin.feedback.recalls(limit=1)
    replayed = as_replayed(RECIPES["azure"], logged)
    assert (replayed.fusion, replayed.vector_weight) == ("rrf", 0.65)
    assert (replayed.vector_pool, replayed.b) == (50, 0.5)
    assert set(kept_as_logged(RECIPES["azure"], [logged])) >= {"vector_pool", "b", "context_before"}
    assert kept_as_logged(RECIPES["fast"], [logged]) == ()
    assert not set(SEARCH_PARAMETERS) & set(REPLAYABLE)
    assert checked_changes({"vector_weight": 0.5}) == {"vector_weight": 0.5}
    with pytest.raises(InvalidArgument, match="one that needs no search"):
        checked_changes({"k1": 1.0})


def test_a_ranking_is_the_order_of_the_recipe_by_id(engine: Engine) -> None:
    engine.recall("Green   TEA")
    (logged,) = engine.admin.feedback.recalls(limit=1)
    assert query_group(logged) == "green tea"
    recipe = RECIPES["balanced"].changed({"vector_weight": 0.0})
    expected = [logged.ids[place] for place in order_of(logged, recipe).tolist()]
    assert ranking(logged, recipe) == tuple(expected)


def test_a_recall_that_found_nothing_has_nothing_to_rank(engine: Engine) -> None:
    found = engine.recall("tea", namespace="nobody")
    assert found.hits == ()
    unlogged = engine.scope("nobody", logged=False)
    unlogged.recall("tea")
    (taken,) = unlogged.recall_log.recalls()
    assert order_of(taken, RECIPES["balanced"]).tolist() == []
    assert ranking(taken, RECIPES["balanced"]) == ()


def test_a_question_that_was_not_kept_cannot_be_classified() -> None:
    logging = Logging(queries=False)
    with open_engine(":memory:", embedder="lexical", config={"logging": logging}) as engine:
        engine.remember("green tea")
        engine.recall("what tea?")
        (logged,) = engine.admin.feedback.recalls()
        assert order_of(logged, RECIPES["balanced"]).tolist() == [0]
        with pytest.raises(InvalidArgument, match="the log has none of recall"):
            order_of(logged, RECIPES["adaptive"])


def test_questions_that_are_not_kept_are_still_told_apart() -> None:
    logging = Logging(queries=False)
    with open_engine(
        ":memory:", embedder="lexical", clock=lambda: NOW, config={"logging": logging}
    ) as memory:
        memory.remember_many([f"{first} and {second}" for first in WORDS for second in WORDS[:2]])
        for question in ("tea in lisbon", "tea in lisbon", "the red boat", "tea in lisbon", ""):
            memory.recall(question)
        recalls = memory.admin.feedback.recalls()
        nothing, again, boat, twice, first = (query_group(each) for each in recalls)
        # Whoever asked the same is held out together, though nobody knows what it was.
        assert first == twice == again
        assert len({first, boat, nothing}) == 3
        assert "tea" not in first
        assert nothing == recalls[0].id
