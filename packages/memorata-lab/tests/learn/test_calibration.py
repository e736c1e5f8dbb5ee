"""A calibration that is kept tells how likely each hit is relevant."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata import Query
from memorata.engine import Engine
from memorata.engine.recipes import Recipe
from memorata.model.errors import InvalidArgument, NotEnoughData
from memorata_lab.learn.ab_test import Variant
from memorata_lab.learn.calibration import (
    Isotonic,
    Logistic,
    calibrate,
    calibration_for,
    calibration_of,
    fit_isotonic,
    fit_logistic,
    keep_calibration,
    out_of_fold,
    probabilities,
    reliability,
    rising_means,
)
from memorata_lab.learn.experiments import Experiments
from memorata_lab.learn.training_set import from_feedback


def drawn(count: int, seed: int, slope: float = 10.0, centre: float = 0.5) -> tuple[Any, Any]:
    """Pairs whose chance of relevance is a known S-shape."""
    random = np.random.default_rng(seed)
    similar = random.random(count)
    return similar, random.random(count) < 1 / (1 + np.exp(-slope * (similar - centre)))


def test_curves_survive_being_written_down() -> None:
    similar, labels = drawn(200, seed=3)
    for curve in (fit_isotonic(similar, labels), fit_logistic(similar, labels)):
        assert calibration_of(json.loads(json.dumps(curve.as_dict()))) == curve


def test_the_calibration_error_by_hand() -> None:
    found = reliability([0.95, 0.85, 0.15, 1.0], [True, False, False, True], bins=10)
    assert found.counts.tolist() == [1, 1, 2]
    assert found.predicted.tolist() == pytest.approx([0.15, 0.85, 0.975])
    assert found.observed.tolist() == [0, 0, 1]
    assert found.error == pytest.approx((0.15 + 0.85 + 2 * 0.025) / 4)


def test_out_of_fold_no_pair_has_a_say_in_its_own_probability() -> None:
    similar, labels = drawn(60, seed=4)
    groups = [f"q{row // 3}" for row in range(60)]
    before = out_of_fold(similar, labels, groups)
    turned = labels.copy()
    turned[:3] = ~turned[:3]
    assert out_of_fold(similar, turned, groups)[:3].tolist() == before[:3].tolist()


def test_out_of_fold_is_honest_where_the_fit_flatters_itself() -> None:
    random = np.random.default_rng(5)
    similar, labels = random.random(200), random.random(200) < 0.5
    groups = [f"q{row}" for row in range(200)]
    fitted = reliability(fit_isotonic(similar, labels)(similar), labels).error
    assert fitted < 0.01
    assert reliability(out_of_fold(similar, labels, groups), labels).error > 3 * fitted


def test_calibration_makes_similarities_keep_their_word() -> None:
    similar, labels = drawn(2_000, seed=6, slope=12.0, centre=0.7)
    groups = [f"q{row // 4}" for row in range(2_000)]
    raw = reliability(similar, labels).error
    for fit in (fit_isotonic, fit_logistic):
        assert reliability(out_of_fold(similar, labels, groups, fit), labels).error < raw / 3


@pytest.mark.parametrize(
    "data",
    [
        None,
        {},
        {"kind": "linear"},
        {"kind": "logistic", "intercept": 1.0},
        {"kind": "logistic", "intercept": 1.0, "slope": -1.0},
        {"kind": "logistic", "intercept": math.nan, "slope": 1.0},
        {"kind": "logistic", "intercept": 1.0, "slope": 1.0, "more": 1},
        {"kind": "isotonic", "similarities": [0.5, 0.2], "probabilities": [0.1, 0.2]},
        {"kind": "isotonic", "similarities": [0.2, 0.5], "probabilities": [0.3, 0.2]},
        {"kind": "isotonic", "similarities": [0.2, 0.5], "probabilities": [0.3]},
        {"kind": "isotonic", "similarities": [], "probabilities": []},
    ],
)
def test_what_is_no_curve_is_refused(data: Any) -> None:
    with pytest.raises(InvalidArgument):
        calibration_of(data)


def test_bad_arguments() -> None:
    with pytest.raises(InvalidArgument):
        reliability([], [])
    with pytest.raises(InvalidArgument):
        reliability([1.5], [True])
    with pytest.raises(InvalidArgument):
        reliability([0.5], [True], bins=0)
    with pytest.raises(InvalidArgument):
        out_of_fold([0.5, 0.4], [True, False], ["a"])


Ask = Callable[..., None]


def test_hits_get_the_probability_that_people_taught(engine: Engine, ask: Ask) -> None:
    ask()
    found = engine.recall("what of thingav?", limit=5)
    assert probabilities(engine, found) == {}
    fitted = calibrate(from_feedback(engine).pairs("misleading"), "misleading", fit="isotonic")
    lesson = keep_calibration(engine, fitted)
    assert lesson is not None
    assert lesson.name == "misleading"
    # What meaning finds closest was never relevant, so similarity tells nothing: half of it was.
    assert probabilities(engine, found) == pytest.approx({"thingav": 0.5, "thingaw": 0.5})
    words = engine.recall("what of thingav?", recipe=Recipe(name="words", vector_pool=0))
    assert probabilities(engine, words) == {}
    assert calibration_for(engine, namespace="acme/bob") is None
    with pytest.raises(InvalidArgument, match="namespace must be"):
        keep_calibration(engine, fitted, namespace="a//b")


def test_one_that_keeps_its_word_no_better_is_not_kept(engine: Engine, ask: Ask) -> None:
    ask()
    fitted = calibrate(from_feedback(engine).pairs("misleading"), "misleading")
    assert keep_calibration(engine, replace(fitted, after=fitted.before)) is None
    assert calibration_for(engine) is None


def test_a_hit_has_its_own_probability_wherever_it_stands(engine: Engine, ask: Ask) -> None:
    ask()
    rising = {"kind": "isotonic", "similarities": [0.0, 1.0], "probabilities": [0.0, 1.0]}
    fitted = calibrate(from_feedback(engine).pairs("misleading"), "misleading", fit="isotonic")
    keep_calibration(engine, replace(fitted, curve=rising))
    expected = pytest.approx({"thingaw": 0.8, "thingav": 0.6})
    assert probabilities(engine, engine.recall("what of thingav?", limit=2)) == expected
    # Two rankings in one list: neither's own order tells whose number is whose.
    variants = [Variant("meaning", 0.5), Variant("words", 0.5, {"vector_weight": 0.1})]
    Experiments(engine).create("both", variants, method="interleave")
    for user in "abcdefgh":
        mixed = Experiments(engine).recall("both", user, "what of thingav?", limit=2)
        assert probabilities(engine, mixed) == expected
    # What too few samples found is left out, and what stays keeps its number.
    sure = engine.recall("what of thingav?", limit=1, recipe={"samples": 2, "least_support": 0.5})
    assert probabilities(engine, sure) == pytest.approx({"thingaw": 0.8})
    assert probabilities(engine, replace(sure, hits=sure.hits[1:])) == {}
    changes = {"samples": 2, "least_support": 0.6}
    some = engine.recall(Query("what of thingav?", variants=["thingaw"]), limit=3, recipe=changes)
    assert len(some) < 3
    assert set(probabilities(engine, some)) <= {hit.memory.id for hit in some}


weighted = st.lists(st.tuples(st.integers(-5, 5), st.integers(1, 4)), min_size=1, max_size=12)


def rising_slowly(values: list[float], weights: list[float]) -> list[float]:
    """The greatest of the least means around each place: the min-max formula of isotonic regression."""

    def mean(start: int, stop: int) -> float:
        return float(np.average(values[start:stop], weights=weights[start:stop]))

    size = len(values)
    return [
        max(min(mean(start, stop) for stop in range(place + 1, size + 1)) for start in range(place + 1))
        for place in range(size)
    ]


@given(weighted)
def test_pooling_gives_the_min_max_formula(pairs: list[tuple[int, int]]) -> None:
    values, weights = [float(value) for value, _ in pairs], [float(weight) for _, weight in pairs]
    found = rising_means(values, weights)
    assert found.tolist() == pytest.approx(rising_slowly(values, weights))
    assert (np.diff(found) >= 0).all()
    assert float(found @ weights) == pytest.approx(float(np.dot(values, weights)))


def test_a_falling_sequence_becomes_its_mean_and_a_rising_one_stays() -> None:
    assert rising_means([3, 2, 1], [1, 1, 1]).tolist() == [2, 2, 2]
    assert rising_means([1, 2, 3], [1, 1, 1]).tolist() == [1, 2, 3]
    assert rising_means([3.0, 0.0], [1, 2]).tolist() == [1, 1]
    assert rising_means([], []).tolist() == []


@pytest.mark.untraced
def test_pooling_is_linear_in_time() -> None:
    falling = np.arange(200_000, 0, -1.0)
    assert np.ptp(rising_means(falling, np.ones(falling.size))) == 0


def test_isotonic_is_the_share_of_relevant_pairs_where_similarities_are_equal() -> None:
    curve = fit_isotonic([0.2] * 4 + [0.8] * 4, [True, False, False, False, True, True, True, False], least=8)
    assert curve == Isotonic((0.2, 0.8), (0.25, 0.75))
    assert curve([0.0, 0.5, 1.0]).tolist() == [0.25, 0.5, 0.75]


@given(st.lists(st.tuples(st.integers(-10, 10), st.booleans()), max_size=30))
def test_isotonic_never_falls_and_stays_a_probability(pairs: list[tuple[int, bool]]) -> None:
    similar = [0.5, 0.5, *(tenth / 10 for tenth, _ in pairs)]
    curve = fit_isotonic(similar, [True, False, *(label for _, label in pairs)], least=2)
    worth = curve(np.linspace(-1, 1, 101))
    assert (np.diff(worth) >= 0).all()
    assert worth.min() >= 0
    assert worth.max() <= 1


def test_where_similarity_speaks_against_relevance_the_curve_is_level() -> None:
    similar, labels = [0.9, 0.8, 0.2, 0.1] * 10, [False, False, True, True] * 10
    assert fit_isotonic(similar, labels)([0.1, 0.9]).tolist() == [0.5, 0.5]


def test_too_few_pairs_are_refused() -> None:
    with pytest.raises(NotEnoughData, match="15 more"):
        fit_isotonic([0.5] * 5, [True, False, True, False, True])


@pytest.mark.parametrize(
    ("values", "weights"),
    [([1.0], [0.0]), ([1.0], [-1.0]), ([1.0, math.nan], [1.0, 1.0]), ([1.0], [1.0, 1.0]), ("a", [1.0])],
)
def test_what_cannot_be_pooled_is_refused(values: Any, weights: Any) -> None:
    with pytest.raises(InvalidArgument):
        rising_means(values, weights)


@pytest.mark.parametrize(
    ("similarities", "probabilities"),
    [((0.5, 0.2), (0.1, 0.2)), ((0.2, 0.5), (0.3, 0.2)), ((0.2, 0.5), (0.3,)), ((), ()), ((2.0,), (0.5,))],
)
def test_what_is_no_rising_curve_is_refused(similarities: Any, probabilities: Any) -> None:
    with pytest.raises(InvalidArgument):
        Isotonic(similarities, probabilities)


def test_what_is_no_similarity_has_no_probability() -> None:
    with pytest.raises(InvalidArgument):
        Isotonic((0.5,), (0.5,))([math.nan])


@given(st.lists(st.tuples(st.integers(-10, 10), st.booleans()), max_size=30))
def test_logistic_never_falls_and_no_small_change_is_likelier(pairs: list[tuple[int, bool]]) -> None:
    similar = np.array([0.1, 0.5, *(tenth / 10 for tenth, _ in pairs)])
    labels = np.array([False, True, *(label for _, label in pairs)])
    curve = fit_logistic(similar, labels, least=2)
    positive = int(labels.sum())
    wanted = np.where(labels, (positive + 1) / (positive + 2), 1 / (labels.size - positive + 2))

    def loss(intercept: float, slope: float) -> float:
        at = intercept + slope * similar
        return float((np.logaddexp(0, at) - wanted * at).sum())

    best = loss(curve.intercept, curve.slope)
    assert curve.slope >= 0
    for change in ((0.01, 0), (-0.01, 0), (0, 0.01), (0, -0.01)):
        slope = curve.slope + change[1]
        if slope >= 0:
            assert best <= loss(curve.intercept + change[0], slope) + 1e-9


def test_logistic_recovers_the_curve_that_the_labels_were_drawn_from() -> None:
    curve = fit_logistic(*drawn(20_000, seed=1))
    assert curve.slope == pytest.approx(10, rel=0.05)
    assert -curve.intercept / curve.slope == pytest.approx(0.5, abs=0.01)


def test_separated_pairs_have_a_finite_slope() -> None:
    curve = fit_logistic([0.1] * 50 + [0.9] * 50, [False] * 50 + [True] * 50)
    assert math.isfinite(curve.slope)
    assert curve([0.9])[0] == pytest.approx(51 / 52)


def test_where_similarity_speaks_against_relevance_the_curve_is_level_of_logistic() -> None:
    similar, labels = [0.9, 0.8, 0.2, 0.1] * 10, [False, False, True, True] * 10
    assert fit_logistic(similar, labels)([0.1, 0.9]).tolist() == pytest.approx([0.5, 0.5])
    assert fit_logistic([0.5] * 20, [True, False] * 10).slope == 0


def test_too_few_pairs_are_refused_of_logistic() -> None:
    with pytest.raises(NotEnoughData, match="15 more"):
        fit_logistic([0.5] * 5, [True, False, True, False, True])


def test_far_from_its_middle_the_curve_is_0_or_1_and_nothing_overflows() -> None:
    assert Logistic(0.0, 1e6)([-1.0, 0.0, 1.0]).tolist() == [0, 0.5, 1]


@pytest.mark.parametrize(("intercept", "slope"), [(0.0, -1.0), (math.nan, 1.0), (0.0, math.inf), ("0", 1.0)])
def test_what_is_no_rising_curve_is_refused_of_logistic(intercept: Any, slope: Any) -> None:
    with pytest.raises(InvalidArgument):
        Logistic(intercept, slope)


def test_what_is_no_similarity_has_no_probability_of_logistic() -> None:
    with pytest.raises(InvalidArgument):
        Logistic(0.0, 1.0)([2.0])
