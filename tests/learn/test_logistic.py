import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.learn.logistic import Logistic, fit_logistic
from memorata.model.errors import InvalidArgument, NotEnoughData


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


def test_where_similarity_speaks_against_relevance_the_curve_is_level() -> None:
    similar, labels = [0.9, 0.8, 0.2, 0.1] * 10, [False, False, True, True] * 10
    assert fit_logistic(similar, labels)([0.1, 0.9]).tolist() == pytest.approx([0.5, 0.5])
    assert fit_logistic([0.5] * 20, [True, False] * 10).slope == 0


def test_too_few_pairs_are_refused() -> None:
    with pytest.raises(NotEnoughData, match="15 more"):
        fit_logistic([0.5] * 5, [True, False, True, False, True])


def test_far_from_its_middle_the_curve_is_0_or_1_and_nothing_overflows() -> None:
    assert Logistic(0.0, 1e6)([-1.0, 0.0, 1.0]).tolist() == [0, 0.5, 1]


@pytest.mark.parametrize(("intercept", "slope"), [(0.0, -1.0), (math.nan, 1.0), (0.0, math.inf), ("0", 1.0)])
def test_what_is_no_rising_curve_is_refused(intercept: Any, slope: Any) -> None:
    with pytest.raises(InvalidArgument):
        Logistic(intercept, slope)


def test_what_is_no_similarity_has_no_probability() -> None:
    with pytest.raises(InvalidArgument):
        Logistic(0.0, 1.0)([2.0])
