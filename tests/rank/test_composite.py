import math
from collections.abc import Callable
from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model.errors import InvalidArgument
from memorata.model.parameter import parameters_of
from memorata.rank import (
    Combination,
    Weights,
    additive,
    best_first,
    composite_additive,
    composite_multiplicative,
    for_category,
    for_query,
    legs_for_query,
    multiplicative,
    preset,
    relative_to_best,
)
from memorata.rank.composite import BALANCED, BY_CATEGORY, BY_QUERY_TYPE, LEGS_BY_QUERY_TYPE, PRESETS

UNIT = st.floats(0, 1)
ROWS = st.lists(st.tuples(st.floats(0, 100), UNIT, UNIT, UNIT), max_size=8)
WEIGHT = st.floats(0.01, 2)
BOTH = pytest.mark.parametrize("form", [composite_additive, composite_multiplicative])


def column(rows: list[tuple[float, float, float, float]], number: int) -> list[float]:
    return [row[number] for row in rows]


def slow_relative(relevance: list[float]) -> list[float]:
    best = max(relevance, default=0.0)
    return [value / best if best > 0 else 0.0 for value in relevance]


def test_by_hand() -> None:
    # Relevance 2 and 1 become 1 and 0.5.
    sums = composite_additive([2.0, 1.0], [0.5, 1.0]).scores.tolist()
    assert sums == pytest.approx([0.8 + 0.2 * 0.5, 0.8 * 0.5 + 0.2], abs=1e-15)
    products = composite_multiplicative([2.0, 1.0], [0.5, 1.0]).scores.tolist()
    assert products == pytest.approx([0.8 + 0.2 * 0.5, 0.5 * (0.8 + 0.2)], abs=1e-15)


def test_recency_and_importance_by_hand() -> None:
    found = composite_additive(
        [4.0, 1.0],
        [0.5, 0.0],
        recency=[0.0, 1.0],
        importance=[1.0, 0.2],
        relevance_weight=0.5,
        quality_weight=0.2,
        recency_weight=0.2,
        importance_weight=0.1,
    )
    assert found.names == ("relevance", "quality", "recency", "importance")
    assert found.scores.tolist() == pytest.approx([0.5 + 0.1 + 0.0 + 0.1, 0.125 + 0.0 + 0.2 + 0.02])


@given(ROWS, WEIGHT, WEIGHT, WEIGHT, WEIGHT)
def test_additive_is_the_sum_of_its_parts_to_the_last_bit(
    rows: list[tuple[float, float, float, float]], wr: float, wq: float, wt: float, wi: float
) -> None:
    found = composite_additive(
        column(rows, 0),
        column(rows, 1),
        recency=column(rows, 2),
        importance=column(rows, 3),
        relevance_weight=wr,
        quality_weight=wq,
        recency_weight=wt,
        importance_weight=wi,
    )
    for item, related in enumerate(slow_relative(column(rows, 0))):
        parts = [wr * related, wq * rows[item][1], wt * rows[item][2], wi * rows[item][3]]
        why = found.explain(item, "composite")
        assert why.operation == "sum"
        assert [part.value for part in why.parts] == parts
        assert why.value == found.scores[item] == reduce(add, parts)
        assert why.adds_up()


@given(ROWS, WEIGHT, WEIGHT)
def test_multiplicative_is_the_product_of_its_parts_to_the_last_bit(
    rows: list[tuple[float, float, float, float]], wr: float, wq: float
) -> None:
    found = composite_multiplicative(column(rows, 0), column(rows, 1), relevance_weight=wr, quality_weight=wq)
    for item, related in enumerate(slow_relative(column(rows, 0))):
        why = found.explain(item, "composite")
        assert why.operation == "product"
        assert [(part.label, part.value) for part in why.parts] == [
            ("relevance", related),
            ("quality factor", wr + wq * rows[item][1]),
        ]
        assert why.value == found.scores[item] == related * (wr + wq * rows[item][1])
        assert why.adds_up()


@BOTH
@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=12), UNIT)
def test_equal_quality_keeps_the_relevance_order(
    form: Callable[..., Combination], relevance: list[int], quality: float
) -> None:
    scores = form(relevance, [quality] * len(relevance)).scores
    assert best_first(scores).tolist() == best_first(relevance).tolist()


def test_only_the_additive_form_floats_what_is_popular_above_what_is_asked() -> None:
    # The first answers the question and was never used; the second is three quarters as close and famous.
    relevance, quality = [1.0, 0.76], [0.0, 1.0]
    assert best_first(composite_additive(relevance, quality).scores).tolist() == [1, 0]
    assert best_first(composite_multiplicative(relevance, quality).scores).tolist() == [0, 1]
    # Wholly off topic: the additive form lifts it above a weak answer, the other leaves it at zero.
    relevance, quality = [1.0, 0.2, 0.0], [0.0, 0.0, 1.0]
    assert best_first(composite_additive(relevance, quality).scores).tolist() == [0, 2, 1]
    assert composite_multiplicative(relevance, quality).scores.tolist() == [0.8, pytest.approx(0.16), 0.0]


@given(st.lists(st.tuples(st.floats(0, 0.799), UNIT), max_size=8), UNIT)
def test_below_four_fifths_of_the_relevance_no_quality_reaches_the_top(
    others: list[tuple[float, float]], quality: float
) -> None:
    relevance = [r for r, _ in others] + [1.0]
    scores = composite_multiplicative(relevance, [q for _, q in others] + [quality]).scores
    assert scores.argmax() == len(others)


def test_relevance_is_relative_to_the_best_of_the_set() -> None:
    assert relative_to_best([2.0, 1.0, 0.0]).tolist() == [1.0, 0.5, 0.0]
    assert relative_to_best([0.0, 0.0]).tolist() == [0.0, 0.0]
    assert relative_to_best([]).tolist() == []


@given(st.lists(st.floats(0, 1e300), max_size=8))
def test_relative_relevance_is_the_quotient(relevance: list[float]) -> None:
    assert relative_to_best(relevance).tolist() == slow_relative(relevance)


def test_a_set_without_relevance_is_ordered_by_quality_or_not_at_all() -> None:
    assert composite_additive([0.0, 0.0], [0.5, 1.0]).scores.tolist() == pytest.approx([0.1, 0.2])
    assert composite_multiplicative([0.0, 0.0], [0.5, 1.0]).scores.tolist() == [0.0, 0.0]


@BOTH
def test_no_memories_and_one_memory(form: Callable[..., Combination]) -> None:
    assert form([], []).scores.tolist() == []
    assert form([17.0], [1.0]).scores.tolist() == [1.0]


def test_the_input_is_not_written_to() -> None:
    nothing, relevance = np.zeros(2), np.array([2.0, 4.0])
    composite_additive(relevance, relevance / 4)
    relative_to_best(nothing)[0] = 9.0
    assert (relevance.tolist(), nothing.tolist()) == ([2.0, 4.0], [0.0, 0.0])


def test_the_defaults_and_their_declarations() -> None:
    two = {"relevance_weight": 0.80, "quality_weight": 0.20}
    additive, product = parameters_of(composite_additive), parameters_of(composite_multiplicative)
    assert {p.name: p.default for p in additive} == two | {"recency_weight": 0.0, "importance_weight": 0.0}
    assert {p.name: p.default for p in product} == two
    assert {(p.type, p.low, p.high) for p in additive + product} == {(float, 0, 1)}


@pytest.mark.parametrize(
    "name", ["relevance_weight", "quality_weight", "recency_weight", "importance_weight"]
)
@pytest.mark.parametrize("value", [-0.1, math.nan, math.inf])
def test_every_weight_is_checked_used_or_not(name: str, value: float) -> None:
    form: Callable[..., Combination] = composite_additive
    with pytest.raises(InvalidArgument, match=f"^{name} must be"):
        form([1.0], [1.0], **{name: value})


@BOTH
def test_arguments_are_checked(form: Callable[..., Combination]) -> None:
    with pytest.raises(InvalidArgument, match="weights must be weights that do not sum to zero"):
        form([1.0], [1.0], relevance_weight=0, quality_weight=0)
    with pytest.raises(InvalidArgument, match="quality_weight must be a number of at least 0"):
        form([1.0], [1.0], quality_weight=-1)
    with pytest.raises(InvalidArgument, match=r"relevance\[0\] must be a number of at least 0"):
        form([-1.0], [1.0])
    with pytest.raises(InvalidArgument, match=r"quality\[0\] must be a number from 0 to 1"):
        form([1.0], [1.1])
    with pytest.raises(InvalidArgument, match="quality must be as long as relevance"):
        form([1.0, 2.0], [1.0])


def test_the_other_signals_are_checked() -> None:
    with pytest.raises(InvalidArgument, match="recency must be as long as relevance"):
        composite_additive([1.0, 1.0], [1.0, 1.0], recency=[1.0])
    with pytest.raises(InvalidArgument, match=r"importance\[0\] must be a number from 0 to 1"):
        composite_additive([1.0], [1.0], importance=[5.0])


PAIRS = st.lists(st.tuples(st.floats(-1, 1), st.floats(0, 1)), max_size=8)


def test_the_worked_values() -> None:
    assert multiplicative([0.95], [0.60]).scores.tolist() == pytest.approx([0.57], abs=1e-15)
    assert additive([0.95], [0.60]).scores.tolist() == pytest.approx([0.8275], abs=1e-15)


@given(PAIRS)
def test_multiplicative_is_the_product_to_the_last_bit(pairs: list[tuple[float, float]]) -> None:
    blend = multiplicative([s for s, _ in pairs], [c for _, c in pairs])
    assert blend.scores.tolist() == [s * c for s, c in pairs]
    for item, (similarity, confidence) in enumerate(pairs):
        why = blend.explain(item, "score")
        assert why.operation == "product"
        assert [(part.label, part.value) for part in why.parts] == [
            ("relevance", similarity),
            ("confidence", confidence),
        ]
        assert why.value == similarity * confidence
        assert why.adds_up()


@given(PAIRS, st.floats(0, 1))
def test_additive_is_the_weighted_sum_to_the_last_bit(pairs: list[tuple[float, float]], alpha: float) -> None:
    beta = 1 - alpha
    blend = additive([s for s, _ in pairs], [c for _, c in pairs], alpha=alpha, beta=beta)
    assert blend.scores.tolist() == [alpha * s + beta * c for s, c in pairs]
    for item, (similarity, confidence) in enumerate(pairs):
        why = blend.explain(item, "score")
        assert why.operation == "sum"
        assert [(part.label, part.value) for part in why.parts] == [
            ("relevance", alpha * similarity),
            ("confidence", beta * confidence),
        ]
        assert why.value == why.parts[0].value + why.parts[1].value
        assert why.adds_up()


def test_the_ends_of_alpha_are_one_signal_alone() -> None:
    assert additive([0.9, 0.1], [0.2, 0.7], alpha=1, beta=0).scores.tolist() == [0.9, 0.1]
    assert additive([0.9, 0.1], [0.2, 0.7], alpha=0, beta=1).scores.tolist() == [0.2, 0.7]


@pytest.mark.parametrize("beta", [0.35 + 9e-7, 0.35 - 9e-7])
def test_weights_may_miss_one_by_a_millionth(beta: float) -> None:
    assert additive([1.0], [1.0], beta=beta).scores.tolist() == pytest.approx([1.0], abs=1e-6)


@pytest.mark.parametrize("beta", [0.35 + 2e-6, 0.35 - 2e-6, 0.0, 1.0])
def test_weights_that_do_not_sum_to_one_are_refused(beta: float) -> None:
    with pytest.raises(InvalidArgument, match=r"beta must be 1 - alpha \(0.35\)"):
        additive([1.0], [1.0], beta=beta)


def test_no_memories_no_scores() -> None:
    assert multiplicative([], []).scores.tolist() == additive([], []).scores.tolist() == []


def test_confidence_the_defaults_and_their_declarations() -> None:
    declared = {p.name: (p.type, p.default, p.low, p.high) for p in parameters_of(additive)}
    assert declared == {"alpha": (float, 0.65, 0, 1), "beta": (float, 0.35, 0, 1)}
    assert parameters_of(multiplicative) == ()


def test_confidence_arguments_are_checked() -> None:
    with pytest.raises(InvalidArgument, match=r"relevance\[1\] must be a finite number, got inf"):
        multiplicative([0.5, float("inf")], [1, 1])
    with pytest.raises(InvalidArgument, match=r"confidence\[0\] must be a number from 0 to 1, got -0.5"):
        additive([0.5], [-0.5])
    with pytest.raises(InvalidArgument, match="confidence must be as long as relevance"):
        additive([0.5, 0.5], [0.5])
    with pytest.raises(InvalidArgument, match="alpha must be a number from 0 to 1"):
        additive([0.5], [0.5], alpha=1.5, beta=-0.5)


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
