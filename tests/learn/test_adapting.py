"""Weights of a namespace's own: off until they win, drawn towards those of all, and only there."""

from collections.abc import Callable

import pytest

from memorata.engine import Engine
from memorata.engine.leasing import Held
from memorata.learn.adapting import ADAPTED, adapt, adapt_material
from memorata.learn.material import from_feedback
from memorata.learn.tuning import Tuned
from memorata.model.errors import NotEnoughData, WorkUnderWay

Ask = Callable[..., None]


def test_a_namespace_with_enough_feedback_gets_its_own(engine: Engine, ask: Ask) -> None:
    ask()
    engine.remember("A note about thingav.", namespace="acme/quiet")
    tried = adapt(engine, dry_run=True)
    assert isinstance(tried["default"], Tuned)
    assert engine.recipe_named().name == "plain"
    found = adapt(engine)
    assert isinstance(found["acme/quiet"], NotEnoughData)
    assert "20 more than there are" in str(found["acme/quiet"])
    assert engine.recipe_named().name == ADAPTED
    assert engine.recipe_named(namespace="acme/quiet").name == "plain"


def test_its_lease_is_renewed_while_it_looks(
    engine: Engine, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    renewed = []
    monkeypatch.setattr(Held, "renew", lambda held: renewed.append(held))
    ask()
    adapt(engine, dry_run=True)
    assert renewed == []
    adapt(engine)
    assert len(renewed) >= len(from_feedback(engine).questions)


def test_little_feedback_moves_little(engine: Engine, ask: Ask) -> None:
    ask()
    material = from_feedback(engine)
    near, far = (
        adapt_material(material, engine.recipe, strength=strength).recipe.vector_weight
        for strength in (1000.0, 0.0)
    )
    assert 0.8 < near < 0.9
    assert far == pytest.approx(0.0)  # the first of the shares that are equally good


def test_what_does_not_win_stays_off(engine: Engine, ask: Ask) -> None:
    ask()
    good = engine.recipe.changed({"vector_weight": 0.2})
    found = adapt_material(from_feedback(engine), good)
    assert not found.verdict.accepted


def test_a_namespace_that_another_worker_tunes_is_left_to_it(engine: Engine, ask: Ask) -> None:
    ask()
    engine.store.acquire("tune", engine.namespace, "another server", 60, engine.moment)
    found = adapt(engine, [engine.namespace])
    assert isinstance(found[engine.namespace], WorkUnderWay)
    assert engine.saved_recipes() == ()


def test_it_has_to_win_against_what_the_namespace_uses(engine: Engine, ask: Ask) -> None:
    ask()
    better = engine.recipe.changed({"vector_weight": 0.2, "session_weight": 0.1})
    engine.save_recipe("ours", better)
    engine.use_recipe("ours")
    found = adapt(engine, [engine.namespace])[engine.namespace]
    assert isinstance(found, Tuned)
    assert (found.verdict.accepted, found.base.name) == (False, "ours")
    assert found.verdict.reason == "no change: nothing that was tried is better than the current setting"
    assert engine.recipe_named().name == "ours"
    # Where it wins, all else is as the namespace has it, and the share is drawn towards everybody's.
    worse = better.changed({"vector_weight": 1.0})
    engine.save_recipe("ours", worse)
    won = adapt(engine, [engine.namespace])[engine.namespace]
    assert isinstance(won, Tuned)
    assert won.verdict.accepted
    assert won.recipe.session_weight == 0.1
    assert won.recipe.vector_weight == pytest.approx((40 * 0.0 + 50 * 0.9) / 90)
    assert engine.recipe_named().name == ADAPTED


def test_looking_again_goes_on_from_where_it_is(engine: Engine, ask: Ask) -> None:
    ask()
    adapt(engine)
    once = engine.recipe_named()
    again = adapt(engine)[engine.namespace]
    assert isinstance(again, Tuned)
    assert not again.verdict.accepted
    assert engine.recipe_named() == once
