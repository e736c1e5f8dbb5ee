import pytest

from memorata.learn.adaptive import shrunken
from memorata.learn.judged import Judged
from memorata.learn.namespaces import adapted, tune_namespace
from memorata.learn.simulation import simulated_log
from memorata.learn.verdict import Verdict
from memorata.model.errors import InvalidArgument, NotEnoughData

ALL = {"meaning": 0.8, "words": 0.2}


def asked(questions: int, best: float | None, seed: int = 1) -> Judged:
    log = simulated_log(questions, best=best, seed=seed)
    return Judged.of(log.recalls, log.gains)


def test_a_namespace_that_differs_gets_weights_between_its_own_and_those_of_all() -> None:
    learnt, verdict = tune_namespace(asked(150, 0.2), ALL, strength=50)
    assert verdict.accepted
    assert learnt.questions == 150
    assert learnt.weights["meaning"] == pytest.approx(0.2, abs=0.15)
    assert verdict.setting == shrunken(learnt.weights, 150, ALL, strength=50)
    assert learnt.weights["meaning"] < verdict.setting["meaning"] < 0.8


def test_a_strong_prior_leaves_it_where_all_are() -> None:
    _, verdict = tune_namespace(asked(60, 0.2), ALL, strength=1e9)
    assert not verdict.accepted
    assert verdict.setting["meaning"] == pytest.approx(0.8, abs=1e-6)


def test_only_those_that_win_are_switched_on_and_the_others_say_why() -> None:
    weights, verdicts = adapted(
        ALL, {"acme": asked(100, 0.2), "noise": asked(60, None, seed=4), "quiet": asked(5, 0.2)}
    )
    assert set(weights.namespaces) == {"acme"}
    assert weights.of("acme")["meaning"] < 0.6
    assert dict(weights.of("noise")) == dict(weights.of("quiet")) == ALL
    noise, quiet = verdicts["noise"], verdicts["quiet"]
    assert isinstance(noise, Verdict)
    assert not noise.accepted
    assert isinstance(quiet, NotEnoughData)
    assert "15 more" in str(quiet)


def test_bad_arguments() -> None:
    with pytest.raises(InvalidArgument):
        adapted(ALL, [])  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument):
        tune_namespace(asked(30, 0.2), {"graph": 1.0})
    with pytest.raises(NotEnoughData):
        tune_namespace(asked(5, 0.2), ALL)
