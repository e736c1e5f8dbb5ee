"""A calibration that is kept tells how likely each hit is relevant."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from memorata.engine import Engine
from memorata.engine.recipe import Recipe
from memorata.learn.assignment import Variant
from memorata.learn.calibrations import calibration_for, keep_calibration, probabilities
from memorata.learn.confident import confident_recall
from memorata.learn.experiments import create_experiment, recall_in_experiment
from memorata.learn.material import from_feedback
from memorata.learn.tuning_thresholds import calibrate
from memorata.model.errors import InvalidArgument

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
    create_experiment(engine, "both", variants, method="interleave")
    for user in "abcdefgh":
        mixed = recall_in_experiment(engine, "both", user, "what of thingav?", limit=2)
        assert probabilities(engine, mixed) == expected
    # What too few samples found is left out, and what stays keeps its number.
    sure = confident_recall(engine, "what of thingav?", limit=1, support=0.5).recall
    assert probabilities(engine, sure) == pytest.approx({"thingaw": 0.8})
    assert probabilities(engine, replace(sure, hits=sure.hits[1:])) == {}
    some = confident_recall(engine, "what of thingav?", variants=["thingaw"], limit=3, support=0.6).recall
    assert len(some) < 3
    assert set(probabilities(engine, some)) <= {hit.memory.id for hit in some}
