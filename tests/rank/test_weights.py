from collections.abc import Callable

import pytest

from memorata.model.errors import InvalidArgument
from memorata.model.parameter import parameters_of
from memorata.rank import Weights, additive, for_category, for_query, legs_for_query, preset
from memorata.rank.weights import BALANCED, BY_CATEGORY, BY_QUERY_TYPE, LEGS_BY_QUERY_TYPE, PRESETS


@pytest.mark.parametrize(
    ("name", "pair"), [("semantic", (0.65, 0.35)), ("balanced", (0.5, 0.5)), ("confidence", (0.35, 0.65))]
)
def test_presets(name: str, pair: tuple[float, float]) -> None:
    assert preset(name) == pair


def test_semantic_is_the_default_preset_and_the_default_of_additive() -> None:
    defaults = {p.name: p.default for p in parameters_of(additive)}
    assert preset() == PRESETS["semantic"] == (defaults["alpha"], defaults["beta"])


@pytest.mark.parametrize(
    ("category", "pair"),
    [
        ("preference", (0.70, 0.30)),
        ("personal_fact", (0.50, 0.50)),
        ("technical_context", (0.40, 0.60)),
        ("decision", (0.35, 0.65)),
        ("correction", (0.30, 0.70)),
        ("event", (0.50, 0.50)),
        ("", (0.50, 0.50)),
    ],
)
def test_by_category(category: str, pair: tuple[float, float]) -> None:
    assert for_category(category) == pair


@pytest.mark.parametrize(
    ("query_type", "scoring", "legs"),
    [
        ("factual", (0.35, 0.65), (0.3, 0.7)),
        ("preference", (0.70, 0.30), (0.55, 0.45)),
        ("conceptual", (0.55, 0.45), (0.7, 0.3)),
    ],
)
def test_by_query_type(query_type: str, scoring: tuple[float, float], legs: tuple[float, float]) -> None:
    for sure in (0.6, 0.61, 1.0):
        assert for_query(query_type, sure) == scoring
        assert legs_for_query(query_type, sure) == legs
    for unsure in (0.0, 0.59, 0.5999999):
        assert for_query(query_type, unsure) == legs_for_query(query_type, unsure) == BALANCED == (0.5, 0.5)


def test_how_sure_is_sure_can_be_chosen() -> None:
    assert for_query("factual", 0.3, least=0.3) == (0.35, 0.65)
    assert legs_for_query("factual", 0.9, least=0.95) == BALANCED


def test_every_pair_sums_to_one_and_fits_additive() -> None:
    for table in (PRESETS, BY_CATEGORY, BY_QUERY_TYPE, LEGS_BY_QUERY_TYPE):
        for pair in table.values():
            assert isinstance(pair, Weights)
            blend = additive([1.0], [1.0], alpha=pair.alpha, beta=pair.beta)
            assert blend.scores.tolist() == pytest.approx([1.0], abs=1e-15)


@pytest.mark.parametrize("function", [for_query, legs_for_query])
def test_the_declared_default(function: Callable[..., Weights]) -> None:
    declared = {p.name: (p.type, p.default, p.low, p.high) for p in parameters_of(function)}
    assert declared == {"least": (float, 0.6, 0, 1)}


def test_unknown_names_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="name must be one of 'semantic', 'balanced', 'confidence'"):
        preset("semantics")
    with pytest.raises(InvalidArgument, match="query_type must be one of 'factual'"):
        for_query("riddle", 0.1)
    with pytest.raises(InvalidArgument, match="category must be a string"):
        for_category(None)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="confidence must be a number from 0 to 1"):
        legs_for_query("factual", 60)


def test_the_tables_cannot_be_changed_by_accident() -> None:
    with pytest.raises(TypeError):
        BY_CATEGORY["recipe"] = BALANCED  # type: ignore[index]
