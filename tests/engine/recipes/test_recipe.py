import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import memorata
from memorata.engine import PARAMETERS, RECIPES, Engine, Recipe
from memorata.model import InvalidArgument, Place
from memorata.model.parameter import Parameter
from memorata.model.query import Query
from memorata.rank import FUSIONS

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)


def test_every_parameter_declares_its_range_and_meaning() -> None:
    declared = {parameter.name for parameter in PARAMETERS}
    assert declared == set(Recipe(name="x").as_dict()) - {"name", "doc"}
    for parameter in PARAMETERS:
        assert parameter.doc.endswith(".")
        if parameter.type is str:
            assert parameter.default in parameter.choices
        elif parameter.type is not bool:
            assert parameter.low is not None
            assert parameter.high is not None
            assert parameter.low <= parameter.default <= parameter.high


@pytest.mark.parametrize("parameter", PARAMETERS, ids=lambda parameter: parameter.name)
def test_a_value_outside_its_range_is_refused_by_name(parameter: Any) -> None:
    if parameter.type is bool:
        bad: list[Any] = [1, "yes"]
    elif parameter.type is str:
        bad = ["no such thing", 3]
    else:
        bad = [parameter.low - 1, parameter.high + 1, float("nan"), "1"]
    for value in bad:
        with pytest.raises(InvalidArgument) as caught:
            Recipe(name="x", **{parameter.name: value})
        assert caught.value.argument == parameter.name


def test_a_recipe_without_legs_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="lexical_pool must be above 0 when vector_pool is 0"):
        Recipe(name="nothing", vector_pool=0, lexical_pool=0)
    for fusion in ("rrf", "zscored_rrf"):
        with pytest.raises(InvalidArgument, match=r"rrf_k must be above 0 when rrf_base is 0, got 0\.0"):
            Recipe(name="nothing", fusion=fusion, rrf_k=0.0, rrf_base=0)
    assert Recipe(name="unused", fusion="relative", rrf_k=0.0, rrf_base=0).rrf_k == 0


def test_changing_a_recipe_makes_another() -> None:
    mine = Recipe(name="mine")
    other = mine.changed({"k1": 1.2, "fusion": "rrf"})
    assert (mine.k1, other.k1, other.fusion, other.name) == (0.9, 1.2, "rrf", "mine")
    with pytest.raises(InvalidArgument, match=r"parameter must be one of 'vector_pool', .* got 'k3'"):
        mine.changed({"k3": 1})


def test_pools_follow_the_limit() -> None:
    usual = Recipe(name="x", vector_pool=40, lexical_pool=0)
    assert usual.for_limit(40) is usual
    assert usual.for_limit(41) == usual.changed({"vector_pool": 41})
    assert usual.changed({"pool_per_hit": 0}).for_limit(1000).vector_pool == 40
    growing = usual.changed({"pool_per_hit": 5})
    assert growing.for_limit(8) is growing
    assert growing.for_limit(9) == growing.changed({"vector_pool": 45})
    assert growing.for_limit(10**6).vector_pool == 1000
    assert growing.for_limit(9).lexical_pool == 0


@pytest.fixture(scope="module")
def talk() -> Iterator[Engine]:
    """A store with names, sessions, times, places and repeats, so that every kind of leg finds something."""
    with memorata.open(":memory:", embedder="lexical", clock=lambda: NOW) as memory:
        people = ("Ana Kovač", "Bruno Silva", "Carla Dias", "Dora Novak")
        memory.remember_many(
            [
                {
                    "content": f"{people[n % 4]} met {people[(n + 1) % 4]} at lunch in May, note {n}",
                    "source": {"speaker": people[n % 4], "session": f"s{n % 3}", "position": n // 3},
                    "created_at": NOW - timedelta(days=n * 9),
                    "confidence": 0.5 + n / 50,
                    "importance": n / 20,
                    "place": {"lat": 48.0 + n / 100, "lon": 2.0},
                }
                for n in range(20)
            ],
            duplicates="off",
        )
        yield memory


def other_value(parameter: Parameter, now: object) -> Any:
    if parameter.low is None or parameter.high is None:
        return next(value for value in parameter.choices or (True, False) if value != now)
    between = parameter.type((parameter.low + parameter.high) / 2)
    return between if between != now else parameter.type(parameter.high)


@pytest.mark.parametrize("name", RECIPES)
def test_a_parameter_that_cannot_act_is_refused_and_would_have_changed_nothing(
    talk: Engine, name: str
) -> None:
    recipe, query = RECIPES[name], 'Whom did Bruno Silva meet "at lunch" last month?'

    def found(changed: Recipe) -> list[tuple[str, float]]:
        hits = talk.recall(Query(query, near=Place(48.05, 2.0)), recipe=changed)
        return [(hit.memory.id, hit.score) for hit in hits]

    before = found(recipe)
    for parameter in PARAMETERS:
        change = {parameter.name: other_value(parameter, getattr(recipe, parameter.name))}
        if where := replace(recipe, **change).missing(parameter.name):
            with pytest.raises(InvalidArgument, match=re.escape(f"it acts only where {where}")):
                talk.recall(query, recipe={"base": name, **change})
            assert found(replace(recipe, **change)) == before, parameter.name


def test_what_acts_together_is_accepted_together() -> None:
    changed = RECIPES["balanced"].changed({"fusion": "rrf", "rrf_k": 5.0, "rrf_base": 0})
    assert (changed.fusion, changed.rrf_k) == ("rrf", 5.0)
    assert RECIPES["balanced"].changed({"rrf_k": 60.0}) == RECIPES["balanced"], "nothing is changed by it"


def test_every_need_is_met_by_some_recipe() -> None:
    for parameter in PARAMETERS:
        varied = (replace(RECIPES["balanced"], **setting) for setting in SETTINGS)
        assert any(not recipe.missing(parameter.name) for recipe in varied), parameter.name


SETTINGS: list[dict[str, Any]] = [
    *({"fusion": fusion} for fusion in FUSIONS),
    *({"graph": graph} for graph in ("walk", "paths")),
    {"confidence": "additive", "weighting": "fixed", "recency_weight": 0.1, "rerank_depth": 5},
    {"fading": "linear", "diversity": "mmr"},
    {"fading": "importance", "context_before": 0.0, "least_similarity": 0.5},
]
