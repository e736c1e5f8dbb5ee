"""Weights of a namespace's own: off until they win, drawn towards those of all, and only there."""

from collections.abc import Callable

import pytest

from recollect.engine import Engine
from recollect.engine.leasing import Held
from recollect.learn.adapting import ADAPTED, adapt, adapt_material
from recollect.learn.material import from_feedback
from recollect.learn.tuning import Tuned
from recollect.model.errors import NotEnoughData, WorkUnderWay

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
