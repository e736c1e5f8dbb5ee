import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.learn.sequential import mixture_difference, sign_evidence, sign_test
from memorata.model.errors import InvalidArgument


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
def test_what_are_no_counts_is_refused(wins: Any, losses: Any) -> None:
    with pytest.raises(InvalidArgument):
        sign_test(wins, losses)
    with pytest.raises(InvalidArgument):
        sign_evidence(wins, losses)
