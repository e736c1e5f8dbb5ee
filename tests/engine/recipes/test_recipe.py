from typing import Any

import pytest

from memorata.engine import PARAMETERS, Recipe
from memorata.model import InvalidArgument


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
    with pytest.raises(InvalidArgument, match=r"parameter must be one of 'analyser', .* got 'k3'"):
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
