"""Opening the gate shows everything and moves nothing."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from memorata.engine import RECIPES, Engine, Recipe
from memorata.engine import open as open_engine
from memorata.evaluate.open_gate import opened

NOW = datetime(2026, 5, 7, tzinfo=UTC)
QUESTION = "which green tea does Anna like"
TEXTS = [
    "Anna likes green tea",
    "green tea grows on hills",
    "Anna likes Bob",
    "Bob likes coffee",
    "the train to Lisbon was late",
    "a lamp, a coat and a piano",
    "Anna wrote about the sea",
    "which way is the station",
]


@pytest.fixture
def engine() -> Iterator[Engine]:
    with open_engine(":memory:", embedder="lexical", clock=lambda: NOW) as memory:
        memory.remember_many([{"id": f"m{number}", "content": text} for number, text in enumerate(TEXTS)])
        yield memory


def scores(engine: Engine, recipe: Recipe) -> dict[str, float]:
    hits = engine.recall(QUESTION, recipe=recipe, limit=50, now=NOW).hits
    return {hit.memory.id: hit.score for hit in hits}


@pytest.mark.parametrize("name", RECIPES)
def test_what_passed_the_gate_has_the_same_score_and_order(engine: Engine, name: str) -> None:
    closed = scores(engine, RECIPES[name])
    wide = scores(engine, opened(RECIPES[name]))
    assert {id_: wide[id_] for id_ in closed} == closed
    if RECIPES[name].diversity == "none":
        assert [id_ for id_ in wide if id_ in closed] == list(closed)


@pytest.mark.parametrize("name", [name for name, recipe in RECIPES.items() if recipe.vector_pool])
def test_every_candidate_is_shown(engine: Engine, name: str) -> None:
    assert len(scores(engine, opened(RECIPES[name]))) == len(TEXTS)


def test_words_alone_need_no_embedder() -> None:
    with open_engine(":memory:", embedder=None, clock=lambda: NOW) as engine:
        engine.remember("green tea")
        assert len(scores(engine, opened(RECIPES["balanced"]))) == 1
