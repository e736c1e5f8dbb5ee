import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.learn.adaptive import (
    AdaptiveWeights,
    Learnt,
    james_stein,
    shrunken,
    shrunken_rates,
    similarity_and_confidence,
)
from memorata.model.errors import InvalidArgument
from memorata.rank.weights import BY_CATEGORY, BY_QUERY_TYPE

ALL = {"meaning": 0.4, "words": 0.6}
OWN = {"meaning": 0.8, "words": 0.2}


def test_little_feedback_moves_little_and_much_moves_all_the_way() -> None:
    assert shrunken(OWN, 0, ALL) == ALL
    assert shrunken(OWN, 50, ALL)["meaning"] == pytest.approx(0.6)
    assert shrunken(OWN, 1_000_000, ALL)["meaning"] == pytest.approx(0.8, abs=1e-4)
    assert shrunken(OWN, 1, ALL, strength=0) == OWN


@given(st.integers(0, 1000), st.floats(0, 1000), st.floats(0, 1))
def test_weights_that_sum_to_one_still_do_and_lie_between(count: int, strength: float, alpha: float) -> None:
    found = shrunken({"meaning": alpha, "words": 1 - alpha}, count, ALL, strength=strength)
    assert sum(found.values()) == pytest.approx(1)
    assert min(alpha, 0.4) - 1e-12 <= found["meaning"] <= max(alpha, 0.4) + 1e-12


def test_a_namespace_that_has_learnt_nothing_uses_the_weights_of_all() -> None:
    weights = AdaptiveWeights(ALL, {"acme": Learnt(OWN, 150)}, strength=50)
    assert weights.of("acme")["meaning"] == pytest.approx(0.7)
    assert dict(weights.of("acme/alice")) == ALL


def test_the_question_decides_if_it_is_sure_then_the_category_then_the_default() -> None:
    assert (
        similarity_and_confidence(query_type="preference", category="decision") == BY_QUERY_TYPE["preference"]
    )
    unsure = similarity_and_confidence(query_type="preference", category="decision", sureness=0.59)
    assert unsure == BY_CATEGORY["decision"]
    assert similarity_and_confidence(query_type="preference", sureness=0.1) == (0.65, 0.35)
    assert similarity_and_confidence(category="poem") == (0.65, 0.35)


def test_rates_of_few_trials_lean_on_the_common_one() -> None:
    found = shrunken_rates([0, 1, 500], [0, 1, 1000], strength=50)
    common = 501 / 1001
    assert found.tolist() == pytest.approx([common, (1 + 50 * common) / 51, (500 + 50 * common) / 1050])


def test_shrunken_rates_are_nearer_the_truth_than_raw_ones() -> None:
    random = np.random.default_rng(1)
    truth = random.beta(20, 20, 300)
    trials = random.integers(1, 60, 300)
    wins = random.binomial(trials, truth)
    raw, shrunk = wins / trials, shrunken_rates(wins, trials, strength=40)
    assert np.square(shrunk - truth).mean() < 0.5 * np.square(raw - truth).mean()


def test_james_stein_by_hand() -> None:
    # Away by (0.5, -0.2, -0.3): squares 0.38; pulled by 1 · 0.05, so 1 - 0.05/0.38 = 0.868 of it is left.
    found = james_stein([[0.9, 0.1, 0.0]], [0.05], [0.4, 0.3, 0.3])
    assert found[0].tolist() == pytest.approx([0.4 + 0.5 * 33 / 38, 0.3 - 0.2 * 33 / 38, 0.3 - 0.3 * 33 / 38])


def test_what_differs_by_no_more_than_noise_gets_the_weights_of_all() -> None:
    assert james_stein([[0.5, 0.3, 0.2]], [0.05], [0.4, 0.3, 0.3]).tolist() == [[0.4, 0.3, 0.3]]
    assert james_stein([[0.4, 0.3, 0.3]], [0.0], [0.4, 0.3, 0.3]).tolist() == [[0.4, 0.3, 0.3]]


def test_two_weights_are_left_alone() -> None:
    assert james_stein([[0.9, 0.1]], [0.5], [0.4, 0.6])[0].tolist() == pytest.approx([0.9, 0.1])


def test_james_stein_is_nearer_the_truth_than_each_for_itself() -> None:
    random = np.random.default_rng(2)
    centre = np.full(6, 1 / 6)
    truth = centre + random.normal(0, 0.05, (200, 6))
    noisy = truth + random.normal(0, 0.1, truth.shape)
    found = james_stein(noisy, np.full(200, 0.01), centre)
    assert np.square(found - truth).mean() < 0.6 * np.square(noisy - truth).mean()


@pytest.mark.parametrize(
    "changes",
    [
        {"own": {}},
        {"own": {"meaning": math.nan}},
        {"own": {"meaning": -1.0}},
        {"own": {"meaning": 0.0}},
        {"own": [0.5]},
        {"questions": -1},
        {"questions": 1.5},
        {"strength": -1},
        {"towards": {"meaning": "much"}},
    ],
)
def test_bad_arguments_of_shrunken(changes: dict[str, Any]) -> None:
    good: dict[str, Any] = {"own": OWN, "questions": 5, "towards": ALL, "strength": 50}
    with pytest.raises(InvalidArgument):
        shrunken(**good | changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"successes": [2, 1]},
        {"successes": [-1, 1]},
        {"trials": [1]},
        {"mean": 1.5},
        {"strength": 0},
        {"trials": [0, 0], "successes": [0, 0]},
    ],
)
def test_bad_arguments_of_shrunken_rates(changes: dict[str, Any]) -> None:
    good: dict[str, Any] = {"successes": [1, 1], "trials": [1, 2], "strength": 10}
    with pytest.raises(InvalidArgument):
        shrunken_rates(**good | changes)


def test_bad_arguments_of_the_others() -> None:
    with pytest.raises(InvalidArgument):
        james_stein([[0.5, 0.5]], [0.1], [0.5])
    with pytest.raises(InvalidArgument):
        james_stein([[0.5, 0.5]], [-0.1], [0.5, 0.5])
    with pytest.raises(InvalidArgument):
        similarity_and_confidence(query_type="poem")
    with pytest.raises(InvalidArgument):
        similarity_and_confidence(sureness=2)
    with pytest.raises(InvalidArgument):
        AdaptiveWeights(ALL, [])  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument):
        AdaptiveWeights(ALL, strength=-1)
    with pytest.raises(InvalidArgument):
        Learnt(OWN, -1)
