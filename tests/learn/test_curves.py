import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.learn.curves import Isotonic, Logistic, fit_isotonic, fit_logistic, rising_means
from memorata.model.errors import InvalidArgument, NotEnoughData

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


def drawn(count: int, seed: int, slope: float = 10.0, centre: float = 0.5) -> tuple[Any, Any]:
    """Pairs whose chance of relevance is a known S-shape."""
    random = np.random.default_rng(seed)
    similar = random.random(count)
    return similar, random.random(count) < 1 / (1 + np.exp(-slope * (similar - centre)))


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
