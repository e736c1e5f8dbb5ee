"""A calibration that is kept tells how likely each hit is relevant."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from recollect.engine import Engine
from recollect.engine.recipe import Recipe
from recollect.learn.calibrations import calibration_for, keep_calibration, probabilities
from recollect.learn.material import from_feedback
from recollect.learn.tuning_thresholds import calibrate
from recollect.model.errors import InvalidArgument

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
