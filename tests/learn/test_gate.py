"""Four rules for the gate, each judged by what it was meant to make; and what a similarity is worth."""

import numpy as np
import pytest

from memorata.engine.recipes.recipe import Recipe
from memorata.learn.calibration import calibrate
from memorata.learn.gate import METHODS, tune_thresholds
from memorata.learn.training_set import Pairs
from memorata.model.errors import InvalidArgument, NotEnoughData

BASE = Recipe(name="plain", vector_weight=0.9)


def pairs(count: int = 200, *, signal: bool = True, seed: int = 0) -> Pairs:
    """Return pairs that are relevant with the probability of their similarity squared, or by chance."""
    random = np.random.default_rng(seed)
    similar = random.random(count)
    chance = similar**2 if signal else np.full(count, 0.4)
    relevant = random.random(count) < chance
    sure = np.where(relevant, 0.9, 0.4) if signal else random.random(count)
    return Pairs(similar, sure, relevant, tuple(f"q{number // 2}" for number in range(count)))


@pytest.mark.parametrize("method", METHODS)
def test_every_rule_beats_a_gate_that_lets_everything_through(method: str) -> None:
    found = tune_thresholds(pairs(), BASE, -1.0, method=method, target=0.6)
    assert found.verdict.accepted, found.verdict.reason
    assert found.verdict.gain.low > 0
    assert found.recipe.least_similarity == found.verdict.setting["least_similarity"]
    assert found.evidence()["pairs"] == 200
    assert (found.grid is not None) == (method == "f1")


def test_precision_is_reached_where_it_can_be() -> None:
    found = tune_thresholds(pairs(), BASE, -1.0, method="precision", target=0.6)
    assert found.choice.precision >= 0.6
    assert found.choice.warning is None


def test_a_precision_nobody_reaches_keeps_the_threshold_and_warns() -> None:
    falling = np.linspace(0.9, 0.1, 60)
    never_first = Pairs(
        falling, np.ones(60), np.arange(60) % 2 == 1, tuple(f"q{place}" for place in range(60))
    )
    found = tune_thresholds(never_first, BASE, 0.4, method="precision", target=0.9)
    assert str(found.choice.warning).startswith("no threshold reaches a precision of 0.9; the best is 0.5")
    assert found.choice.threshold == 0.4
    assert not found.verdict.accepted


def test_f1_also_draws_a_line_at_confidence() -> None:
    found = tune_thresholds(pairs(), BASE, -1.0, method="f1")
    assert found.recipe.least_confidence > 0.4


@pytest.mark.parametrize("method", METHODS)
def test_without_a_signal_nothing_is_installed(method: str) -> None:
    refused = [
        tune_thresholds(pairs(signal=False, seed=seed), BASE, 0.0, method=method, target=0.4).verdict
        for seed in range(5)
    ]
    assert sum(verdict.accepted for verdict in refused) <= 1


def test_a_threshold_in_use_that_is_as_good_stays() -> None:
    best = tune_thresholds(pairs(), BASE, -1.0, method="youden").recipe.least_similarity
    found = tune_thresholds(pairs(), BASE, best, method="youden")
    assert not found.verdict.accepted


def test_too_few_or_one_kind_say_what_is_missing() -> None:
    with pytest.raises(NotEnoughData, match=r"5 labelled pairs are too few .* 15 more"):
        tune_thresholds(pairs(5), BASE, 0.5)
    given = pairs(60)
    ones = Pairs(given.similarity, given.confidence, np.ones(60, np.bool_), given.groups)
    with pytest.raises(NotEnoughData, match="0 pairs labelled not relevant are too few"):
        tune_thresholds(ones, BASE, 0.5)
    with pytest.raises(NotEnoughData, match=r"15 judged questions are too few .* 5 more"):
        tune_thresholds(pairs(30), BASE, 0.5)


@pytest.mark.parametrize(("method", "target"), [("precision", 0.0), ("probability", 1.0), ("precision", 1.5)])
def test_a_target_is_between_zero_and_one(method: str, target: float) -> None:
    with pytest.raises(InvalidArgument, match="target"):
        tune_thresholds(pairs(), BASE, 0.5, method=method, target=target)
    with pytest.raises(InvalidArgument, match="method must be one of"):
        tune_thresholds(pairs(), BASE, 0.5, method="guess")


@pytest.mark.parametrize("fit", ["logistic", "isotonic"])
def test_a_calibration_keeps_its_word_better_than_the_similarity(fit: str) -> None:
    found = calibrate(pairs(600), "e", fit=fit)
    assert found.accepted
    assert found.after.error < 0.1 < found.before.error
    assert found.curve["kind"] == fit
    assert found.evidence()["pairs"] == 600
    with pytest.raises(InvalidArgument, match="fit must be one of"):
        calibrate(pairs(), "e", fit="straight")
