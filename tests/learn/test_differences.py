import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.learn.differences import two_proportions, welch
from memorata.learn.student import two_sided_p
from memorata.model.errors import InvalidArgument


@pytest.mark.parametrize(
    ("counts", "low", "high"),
    [
        ((56, 70, 48, 80), 0.0524, 0.3339),
        ((9, 10, 3, 10), 0.1705, 0.8090),
        ((10, 10, 0, 20), 0.6791, 1.0),
        ((0, 10, 0, 20), -0.1611, 0.2775),
    ],
)
def test_the_interval_is_newcombes(counts: tuple[int, int, int, int], low: float, high: float) -> None:
    found = two_proportions(*counts)
    assert (found.low, found.high) == pytest.approx((low, high), abs=5e-5)


def test_the_p_value_by_hand() -> None:
    # Pooled 104/150, error sqrt(0.6933 · 0.3067 · (1/70 + 1/80)) = 0.07547, z = 2.650.
    assert two_proportions(56, 70, 48, 80).p == pytest.approx(math.erfc(2.650 / math.sqrt(2)), abs=1e-4)
    assert two_proportions(0, 5, 0, 5).p == 1
    assert two_proportions(5, 5, 5, 5).p == 1


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30), st.integers(0, 30))
def test_turning_the_sides_turns_the_difference(a: int, more: int, b: int, other: int) -> None:
    if not a + more or not b + other:
        return
    there, back = two_proportions(a, a + more, b, b + other), two_proportions(b, b + other, a, a + more)
    assert (there.mean, there.low, there.high) == pytest.approx((-back.mean, -back.high, -back.low))
    assert there.p == pytest.approx(back.p)
    assert -1 - 1e-9 <= there.low <= there.mean <= there.high <= 1 + 1e-9


def test_welch_by_hand() -> None:
    # Means 4 and 2, variances 2/3 each, error sqrt(2 · (2/3)/4) = 0.57735, six degrees of freedom.
    found = welch([3, 4, 5, 4], [1, 2, 3, 2])
    assert found.mean == 2
    assert found.p == pytest.approx(two_sided_p(2 / math.sqrt(1 / 3), 6))
    assert found.high - found.mean == pytest.approx(2.4469 * math.sqrt(1 / 3), abs=1e-4)


def test_unequal_spreads_have_fewer_degrees_of_freedom() -> None:
    # One side without any spread: only the other's degrees are left.
    found = welch([1.0, 3.0], [0.0] * 50)
    assert found.p == pytest.approx(two_sided_p(2.0, 1))


def test_without_any_spread_there_is_no_width() -> None:
    assert welch([4, 4], [4, 4]).p == 1
    different = welch([5, 5], [4, 4])
    assert (different.low, different.high, different.p) == (1, 1, 0)


def test_the_interval_covers_as_often_as_it_says() -> None:
    random = np.random.default_rng(1)
    covered = 0
    for _ in range(1_000):
        found = welch(random.normal(0, 1, 8), random.normal(0, 4, 15))
        covered += found.low <= 0 <= found.high
    assert 0.93 < covered / 1_000 < 0.97


@pytest.mark.parametrize("counts", [(2, 1, 0, 1), (0, 0, 0, 1), (-1, 1, 0, 1), (1.0, 2, 0, 1), (0, 1, 2, 1)])
def test_what_are_no_counts_is_refused(counts: Any) -> None:
    with pytest.raises(InvalidArgument):
        two_proportions(*counts)


@pytest.mark.parametrize(
    ("values", "others", "level"),
    [
        ([1.0], [1.0, 2.0], 0.95),
        ([1.0, math.nan], [1.0, 2.0], 0.95),
        ([1.0, 2.0], [1.0, 2.0], 1),
        ("ab", [1, 2], 0.9),
    ],
)
def test_bad_arguments_of_welch(values: Any, others: Any, level: Any) -> None:
    with pytest.raises(InvalidArgument):
        welch(values, others, level=level)


def test_a_level_of_one_has_no_interval() -> None:
    with pytest.raises(InvalidArgument):
        two_proportions(1, 2, 1, 2, level=1)
