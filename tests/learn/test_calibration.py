"""A calibration that is kept tells how likely each hit is relevant."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from memorata.engine import Engine
from memorata.engine.recipes.recipe import Recipe
from memorata.learn.assignment import Variant
from memorata.learn.calibration import (
    calibrate,
    calibration_for,
    calibration_of,
    keep_calibration,
    out_of_fold,
    probabilities,
    reliability,
)
from memorata.learn.curves import fit_isotonic, fit_logistic
from memorata.learn.training_set import from_feedback
from memorata.model.errors import InvalidArgument


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
    engine.experiments.create("both", variants, method="interleave")
    for user in "abcdefgh":
        mixed = engine.experiments.recall("both", user, "what of thingav?", limit=2)
        assert probabilities(engine, mixed) == expected
    # What too few samples found is left out, and what stays keeps its number.
    sure = engine.recall("what of thingav?", limit=1, changes={"samples": 2, "least_support": 0.5})
    assert probabilities(engine, sure) == pytest.approx({"thingaw": 0.8})
    assert probabilities(engine, replace(sure, hits=sure.hits[1:])) == {}
    changes = {"samples": 2, "least_support": 0.6}
    some = engine.recall("what of thingav?", variants=["thingaw"], limit=3, changes=changes)
    assert len(some) < 3
    assert set(probabilities(engine, some)) <= {hit.memory.id for hit in some}
