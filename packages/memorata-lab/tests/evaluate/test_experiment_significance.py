import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model.errors import InvalidArgument
from memorata_lab.evaluate.significance import (
    critical_t,
    mixture_difference,
    sign_evidence,
    sign_test,
    two_proportions,
    two_sided_p,
    welch,
)


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


@pytest.mark.untraced
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


def ratio_slowly(estimate: float, variance: float, scale: float) -> float:
    """The likelihood ratio against no difference, averaged over a normal of differences by adding up."""
    steps = np.linspace(-12 * scale, 12 * scale, 400_001)
    weight = np.exp(-(steps**2) / (2 * scale**2)) / (scale * math.sqrt(2 * math.pi))
    ratio = np.exp((estimate * steps - steps**2 / 2) / variance)
    return float((weight * ratio).sum() * (steps[1] - steps[0]))


@pytest.mark.parametrize(("estimate", "variance"), [(0.04, 1e-4), (0.0, 1e-4), (0.02, 1e-3), (-0.05, 4e-4)])
def test_the_p_value_is_one_over_the_averaged_likelihood_ratio(estimate: float, variance: float) -> None:
    found = mixture_difference(estimate, variance, scale=0.05)
    assert found.p == pytest.approx(min(1, 1 / ratio_slowly(estimate, variance, 0.05)), rel=1e-6)


@given(st.floats(-0.2, 0.2), st.floats(1e-6, 1e-2), st.floats(0.005, 0.2))
def test_interval_and_p_value_say_the_same(estimate: float, variance: float, scale: float) -> None:
    found = mixture_difference(estimate, variance, scale=scale)
    if abs(found.p - 0.05) > 1e-9:
        assert (found.low > 0 or found.high < 0) == (found.p < 0.05)
    assert found.low <= estimate <= found.high


@given(st.floats(1e-6, 1e-2))
def test_it_is_wider_than_what_is_right_for_one_look(variance: float) -> None:
    found = mixture_difference(0.0, variance, scale=0.05)
    assert found.high > 1.96 * math.sqrt(variance)


def test_nothing_follows_from_no_spread() -> None:
    found = mixture_difference(0.5, 0.0, scale=0.05)
    assert (found.low, found.high, found.p) == (-math.inf, math.inf, 1.0)


def test_looking_after_every_step_names_a_difference_that_is_not_there_in_at_most_5_percent() -> None:
    random = np.random.default_rng(2)
    walks = random.normal(0, 1, (2_000, 500)).cumsum(axis=1)
    count = np.arange(1, 501)
    found = np.zeros(2_000, np.bool_)
    for step in range(9, 500):
        line = mixture_difference(0.0, 1 / count[step], scale=0.3).high
        found |= np.abs(walks[:, step] / count[step]) > line
    usual = (np.abs(walks[:, 9:] / np.sqrt(count[9:])) > 1.96).any(axis=1)
    assert found.mean() <= 0.05
    assert usual.mean() > 0.3


def evidence_slowly(wins: int, losses: int, prior: float) -> float:
    """The likelihood ratio against a fair coin, averaged over unfair ones by adding up."""
    chance = (np.arange(200_000) + 0.5) / 200_000
    weight = (chance * (1 - chance)) ** (prior - 1)
    return float((weight * (2 * chance) ** wins * (2 * (1 - chance)) ** losses).sum() / weight.sum())


@given(st.integers(0, 40), st.integers(0, 40), st.floats(1, 20))
def test_sign_evidence_is_one_over_the_averaged_ratio(wins: int, losses: int, prior: float) -> None:
    expected = min(1, 1 / evidence_slowly(wins, losses, prior))
    assert sign_evidence(wins, losses, prior=prior) == pytest.approx(expected, rel=1e-4)
    assert sign_evidence(wins, losses, prior=prior) == sign_evidence(losses, wins, prior=prior)


def test_on_average_a_fair_coin_gives_no_evidence() -> None:
    # The mean over all sequences of eight throws is exactly 1: that is what makes it a martingale.
    ratios = [1 / _uncapped(sum(throws), 8 - sum(throws)) for throws in product((0, 1), repeat=8)]
    assert np.mean(ratios) == pytest.approx(1)


def _uncapped(wins: int, losses: int) -> float:
    def beta(a: float, b: float) -> float:
        return math.gamma(a) * math.gamma(b) / math.gamma(a + b)

    ratio = 2.0 ** (wins + losses) * beta(10 + wins, 10 + losses) / beta(10, 10)
    assert sign_evidence(wins, losses) == pytest.approx(min(1, 1 / ratio))
    return 1 / ratio


@given(st.integers(0, 60), st.integers(0, 60))
def test_the_sign_test_is_the_sum_of_binomials(wins: int, losses: int) -> None:
    count = wins + losses
    tail = sum(math.comb(count, some) for some in range(min(wins, losses) + 1)) / 2**count
    assert sign_test(wins, losses) == pytest.approx(min(1, 2 * tail), rel=1e-9)


def test_the_sign_test_of_many_throws_does_not_underflow_on_the_way() -> None:
    assert 0 < sign_test(3_000, 2_000) < 1e-40
    assert sign_test(100_000, 100_000) == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"estimate": math.nan},
        {"variance": -1.0},
        {"scale": 0},
        {"level": 1},
        {"level": 1.2},
        {"estimate": "1"},
    ],
)
def test_bad_arguments(changes: dict[str, Any]) -> None:
    good: dict[str, Any] = {"estimate": 0.1, "variance": 0.01, "scale": 0.05, "level": 0.95}
    with pytest.raises(InvalidArgument):
        mixture_difference(**good | changes)


@pytest.mark.parametrize(("wins", "losses"), [(-1, 0), (0, 1.5), (None, 0), (True, 0)])
def test_what_are_no_counts_is_refused_of_sequential(wins: Any, losses: Any) -> None:
    with pytest.raises(InvalidArgument):
        sign_test(wins, losses)
    with pytest.raises(InvalidArgument):
        sign_evidence(wins, losses)


def tail_slowly(t: float, freedom: float) -> float:
    """Both tails by adding up the density, over the angle x = tan(a) that makes the range finite."""
    constant = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(
        freedom * math.pi
    )
    edges = np.linspace(math.atan(t), math.pi / 2, 200_001)
    at = np.tan((edges[1:] + edges[:-1]) / 2)
    density = constant * (1 + at * at / freedom) ** (-(freedom + 1) / 2) * (1 + at * at)
    return float(2 * density.sum() * (edges[1] - edges[0]))


@given(st.floats(0, 1e6))
def test_with_one_degree_it_is_cauchys(t: float) -> None:
    assert two_sided_p(t, 1) == pytest.approx(1 - 2 / math.pi * math.atan(t), abs=1e-12)


@given(st.floats(-1e3, 1e3))
def test_with_two_degrees_there_is_a_formula_too(t: float) -> None:
    assert two_sided_p(t, 2) == pytest.approx(1 - abs(t) / math.sqrt(2 + t * t), abs=1e-12)


@pytest.mark.parametrize("freedom", [2.5, 7.3, 30, 200])
@pytest.mark.parametrize("t", [0.1, 1.0, 2.5, 6.0])
def test_the_tail_is_what_adding_up_the_density_gives(t: float, freedom: float) -> None:
    assert two_sided_p(t, freedom) == pytest.approx(tail_slowly(t, freedom), rel=1e-6)


def test_with_much_freedom_it_is_the_normal_distribution() -> None:
    assert two_sided_p(1.959964, 1e8) == pytest.approx(0.05, abs=1e-6)


@pytest.mark.parametrize(
    ("freedom", "value"), [(1, 12.706), (4, 2.776), (10, 2.228), (30, 2.042), (120, 1.980)]
)
def test_critical_values_are_those_of_the_tables(freedom: int, value: float) -> None:
    assert critical_t(0.95, freedom) == pytest.approx(value, abs=5e-4)


@given(st.floats(0.01, 0.999), st.floats(0.5, 500))
def test_the_critical_value_has_the_tail_that_was_asked_for(level: float, freedom: float) -> None:
    assert two_sided_p(critical_t(level, freedom), freedom) == pytest.approx(1 - level, abs=1e-9)


def test_the_ends() -> None:
    assert two_sided_p(0, 5) == 1
    assert two_sided_p(1e200, 5) == 0
    assert critical_t(0, 5) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(("t", "freedom"), [(math.nan, 1), (1, 0), (1, -1), (1, math.inf), ("1", 1)])
def test_bad_arguments_of_student(t: Any, freedom: Any) -> None:
    with pytest.raises(InvalidArgument):
        two_sided_p(t, freedom)


@pytest.mark.parametrize(("level", "freedom"), [(1, 5), (1.1, 5), (0.95, 0), (1 - 1e-15, 0.01)])
def test_bad_levels(level: Any, freedom: Any) -> None:
    with pytest.raises(InvalidArgument):
        critical_t(level, freedom)
