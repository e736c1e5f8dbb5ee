"""The weekly rule at work: once a week, within bounds, recorded, and taken back by a rollback."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from memorata.engine import Engine
from memorata.engine import open as open_engine
from memorata.learn.retune import Move
from memorata.learn.retuning import RECORD, RETUNED, decision_of, recorded, retune_record, retune_week
from memorata.model.errors import InvalidArgument, WorkUnderWay
from memorata.store.recall_log import Lesson

Ask = Callable[..., None]


def test_a_week_of_complaints_raises_the_threshold(engine: Engine, ask: Ask) -> None:
    ask()
    tried = retune_week(engine, dry_run=True)
    assert tried.decision is not None
    assert (tried.decision.move, tried.decision.events, tried.decision.wrong) == (Move.RAISED, 80, 0.5)
    assert retune_record(engine) == ()
    assert engine.recipe_named().name == "plain"
    found = retune_week(engine)
    assert (found.recipe, engine.recipe_named().name) == (RETUNED, RETUNED)
    assert engine.recipe_named().least_similarity == pytest.approx(0.35 * 1.05)
    ((at, decision),) = retune_record(engine)
    assert (at, decision) == (engine.moment, found.decision)
    engine.rollback_recipe()
    assert engine.recipe_named().name == "plain"


def test_it_looks_once_in_seven_days(engine: Engine, ask: Ask, clock: Any) -> None:
    ask()
    first = retune_week(engine)
    assert first.due == engine.moment + timedelta(days=7)
    clock.wait(days=6)
    assert retune_week(engine).decision is None
    assert retune_week(engine, force=True).decision is not None
    clock.wait(days=7)
    ask(["thingav"])
    again = retune_week(engine)
    assert again.decision is not None
    assert (again.decision.events, again.decision.move) == (2, Move.KEPT)
    assert again.decision.reason == "2 events are too few, 18 more are needed"
    assert [each.move for _, each in retune_record(engine)] == [Move.RAISED, Move.RAISED, Move.KEPT]


def test_without_an_embedder_there_is_no_line_to_draw() -> None:
    with open_engine(":memory:", embedder=None) as engine, pytest.raises(InvalidArgument, match="embedder"):
        retune_week(engine)


def test_a_threshold_outside_the_bounds_is_said(engine: Engine) -> None:
    with pytest.raises(InvalidArgument, match=r"within the bounds 0\.5 to 0\.9"):
        retune_week(engine, bounds=(0.5, 0.9))


def test_a_decision_survives_being_written_down(engine: Engine) -> None:
    empty = retune_week(engine, dry_run=True).decision
    assert empty is not None
    assert recorded(empty)["missed"] is None
    assert str(decision_of(recorded(empty))) == str(empty)


def test_one_worker_at_a_time_looks_at_a_namespace(engine: Engine, ask: Ask) -> None:
    ask()
    taken = engine.store.acquire("tune", engine.namespace, "another server", 60, engine.moment)
    assert taken is not None
    with pytest.raises(WorkUnderWay, match="is being done by another server"):
        retune_week(engine)
    assert retune_week(engine, dry_run=True).decision is not None
    assert retune_record(engine) == ()
    engine.store.release(taken)
    assert retune_week(engine).decision is not None
    assert engine.store.leases() == []


def test_who_is_stopped_half_way_has_moved_nothing(
    engine: Engine, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask()
    keep = engine.store.keep_lesson

    def stopped(namespace: str, kind: str, *rest: Any) -> Lesson:
        if kind == RECORD:
            raise KeyboardInterrupt
        return keep(namespace, kind, *rest)

    with monkeypatch.context() as patched:
        patched.setattr(engine.store, "keep_lesson", stopped)
        with pytest.raises(KeyboardInterrupt):
            retune_week(engine)
    assert engine.recipe_named().name == "plain"
    assert engine.saved_recipes() == ()
    assert retune_week(engine).recipe == RETUNED
    assert len(retune_record(engine)) == 1
