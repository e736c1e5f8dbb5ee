"""Weights of a namespace's own: off until they win, drawn towards those of all, and only there."""

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.engine import Engine
from memorata.engine.leases import HeldLease
from memorata.learn.adaptation import ADAPTED, adapt, adapt_training_set, shrunken
from memorata.learn.training_set import from_feedback
from memorata.learn.tuning import Tuned
from memorata.model.errors import InvalidArgument, NotEnoughData, WorkUnderWay

Ask = Callable[..., None]
ALL = {"vector": 0.4, "lexical": 0.6}
OWN = {"vector": 0.8, "lexical": 0.2}


@pytest.mark.untraced
def test_a_namespace_with_enough_feedback_gets_its_own(engine: Engine, ask: Ask) -> None:
    ask()
    engine.remember("A note about thingav.", namespace="acme/quiet")
    tried = adapt(engine, dry_run=True)
    assert isinstance(tried["default"], Tuned)
    assert engine.recipes.get().name == "plain"
    found = adapt(engine)
    assert isinstance(found["acme/quiet"], NotEnoughData)
    assert "20 more than there are" in str(found["acme/quiet"])
    assert engine.recipes.get().name == ADAPTED
    assert engine.recipes.get(namespace="acme/quiet").name == "plain"


@pytest.mark.untraced
def test_its_lease_is_renewed_while_it_looks(
    engine: Engine, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    renewed = []
    monkeypatch.setattr(HeldLease, "renew", lambda held: renewed.append(held))
    ask()
    adapt(engine, dry_run=True)
    assert renewed == []
    adapt(engine)
    assert len(renewed) >= len(from_feedback(engine).questions)


@pytest.mark.untraced
def test_little_feedback_moves_little(engine: Engine, ask: Ask) -> None:
    ask()
    training = from_feedback(engine)
    near, far = (
        adapt_training_set(training, engine.recipe, strength=strength).recipe.vector_weight
        for strength in (1000.0, 0.0)
    )
    assert 0.8 < near < 0.9
    assert far == pytest.approx(0.0)  # the first of the shares that are equally good


@pytest.mark.untraced
def test_what_does_not_win_stays_off(engine: Engine, ask: Ask) -> None:
    ask()
    good = engine.recipe.changed({"vector_weight": 0.2})
    found = adapt_training_set(from_feedback(engine), good)
    assert not found.verdict.accepted


def test_a_namespace_that_another_worker_tunes_is_left_to_it(engine: Engine, ask: Ask) -> None:
    ask()
    engine.store.leases.acquire("tune", engine.namespace, "another server", 60, engine.now())
    found = adapt(engine, [engine.namespace])
    assert isinstance(found[engine.namespace], WorkUnderWay)
    assert engine.recipes.list() == ()


@pytest.mark.untraced
def test_it_has_to_win_against_what_the_namespace_uses(engine: Engine, ask: Ask) -> None:
    ask()
    better = engine.recipe.changed({"vector_weight": 0.2, "session_weight": 0.1})
    engine.recipes.save("ours", better)
    engine.recipes.use("ours")
    found = adapt(engine, [engine.namespace])[engine.namespace]
    assert isinstance(found, Tuned)
    assert (found.verdict.accepted, found.base.name) == (False, "ours")
    assert found.verdict.reason == "no change: nothing that was tried is better than the current setting"
    assert engine.recipes.get().name == "ours"
    # Where it wins, all else is as the namespace has it, and the share is drawn towards everybody's.
    worse = better.changed({"vector_weight": 1.0})
    engine.recipes.save("ours", worse)
    won = adapt(engine, [engine.namespace])[engine.namespace]
    assert isinstance(won, Tuned)
    assert won.verdict.accepted
    assert won.recipe.session_weight == 0.1
    assert won.recipe.vector_weight == pytest.approx((40 * 0.0 + 50 * 0.9) / 90)
    assert engine.recipes.get().name == ADAPTED


@pytest.mark.untraced
def test_looking_again_goes_on_from_where_it_is(engine: Engine, ask: Ask) -> None:
    ask()
    adapt(engine)
    once = engine.recipes.get()
    again = adapt(engine)[engine.namespace]
    assert isinstance(again, Tuned)
    assert not again.verdict.accepted
    assert engine.recipes.get() == once


def test_little_feedback_moves_little_and_much_moves_all_the_way() -> None:
    assert shrunken(OWN, 0, ALL) == ALL
    assert shrunken(OWN, 50, ALL)["vector"] == pytest.approx(0.6)
    assert shrunken(OWN, 1_000_000, ALL)["vector"] == pytest.approx(0.8, abs=1e-4)
    assert shrunken(OWN, 1, ALL, strength=0) == OWN


@given(st.integers(0, 1000), st.floats(0, 1000), st.floats(0, 1))
def test_weights_that_sum_to_one_still_do_and_lie_between(count: int, strength: float, alpha: float) -> None:
    found = shrunken({"vector": alpha, "lexical": 1 - alpha}, count, ALL, strength=strength)
    assert sum(found.values()) == pytest.approx(1)
    assert min(alpha, 0.4) - 1e-12 <= found["vector"] <= max(alpha, 0.4) + 1e-12


@pytest.mark.parametrize(
    "changes",
    [
        {"own": {}},
        {"own": {"vector": math.nan}},
        {"own": {"vector": -1.0}},
        {"own": {"vector": 0.0}},
        {"own": [0.5]},
        {"questions": -1},
        {"questions": 1.5},
        {"strength": -1},
        {"towards": {"vector": "much"}},
    ],
)
def test_bad_arguments_of_shrunken(changes: dict[str, Any]) -> None:
    good: dict[str, Any] = {"own": OWN, "questions": 5, "towards": ALL, "strength": 50}
    with pytest.raises(InvalidArgument):
        shrunken(**good | changes)
