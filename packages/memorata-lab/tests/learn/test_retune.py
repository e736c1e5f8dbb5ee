"""The weekly rule at work: once a week, within bounds, recorded, and taken back by a rollback."""

import math
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.engine import RECIPES, Engine
from memorata.engine import open as open_engine
from memorata.model.errors import InvalidArgument, WorkUnderWay
from memorata.store.saved_settings import SavedSetting
from memorata_lab.learn.retune import (
    RECORD,
    RETUNED,
    Event,
    Move,
    decision_of,
    recorded,
    retune,
    retune_record,
    retune_week,
    won_held_out,
)

from .conftest import PLAIN, THINGS


def week(*, hits: int = 0, missed: int = 0, wrong: int = 0, rightly_out: int = 0) -> list[Event]:
    """A week at a threshold of 0.7."""
    return (
        [Event(0.8, True)] * hits
        + [Event(0.6, True)] * missed
        + [Event(0.7, False)] * wrong
        + [Event(0.5, False)] * rightly_out
    )


def test_nineteen_events_are_too_few_and_it_says_how_many_more() -> None:
    found = retune(0.7, week(missed=19))
    assert (found.move, found.after, found.events) == (Move.KEPT, 0.7, 19)
    assert found.reason == "19 events are too few, 1 more are needed"
    assert retune(0.7, week(missed=20)).move is Move.LOWERED
    assert math.isnan(retune(0.7, []).missed)


def test_more_than_15_percent_missed_lowers_by_5_percent() -> None:
    found = retune(0.7, week(hits=16, missed=4))
    assert (found.move, found.missed, found.wrong) == (Move.LOWERED, 0.2, 0.0)
    assert found.after == pytest.approx(0.665)
    assert retune(0.7, week(hits=17, missed=3)).move is Move.KEPT


def test_more_than_10_percent_wrong_raises_by_5_percent() -> None:
    found = retune(0.7, week(hits=17, wrong=3))
    assert (found.move, found.wrong) == (Move.RAISED, 0.15)
    assert found.after == pytest.approx(0.735)
    assert retune(0.7, week(hits=18, wrong=2)).move is Move.KEPT


def test_both_too_high_moves_nothing_for_either_step_would_worsen_the_other() -> None:
    found = retune(0.7, week(hits=10, missed=5, wrong=5))
    assert (found.move, found.after) == (Move.KEPT, 0.7)
    assert "no threshold mends both" in found.reason


def test_the_bounds_hold_and_are_named() -> None:
    low = retune(0.31, [Event(0.2, True)] * 20)
    assert (low.move, low.after) == (Move.LOWERED, 0.3)
    assert "stopped at the bound of 0.3" in low.reason
    assert retune(0.3, [Event(0.2, True)] * 20).move is Move.KEPT
    high = retune(0.96, [Event(0.97, False)] * 20)
    assert (high.move, high.after) == (Move.RAISED, 0.99)
    at = retune(0.99, [Event(1.0, False)] * 20)
    assert (at.move, at.after) == (Move.KEPT, 0.99)
    assert "at its bound of 0.99" in at.reason


def test_an_embedder_with_small_cosines_has_bounds_of_its_own() -> None:
    with pytest.raises(InvalidArgument, match="give the bounds of this embedder"):
        retune(0.2, week(missed=20))
    assert retune(0.2, [Event(0.1, True)] * 20, bounds=(0.1, 0.6)).after == pytest.approx(0.19)


events = st.lists(st.builds(Event, st.floats(-1, 1), st.booleans()), max_size=60)


@given(st.floats(0.3, 0.99), events)
def test_it_never_moves_by_more_than_5_percent_nor_out_of_bounds_and_says_why(
    threshold: float, seen: list[Event]
) -> None:
    found = retune(threshold, seen)
    assert 0.3 <= found.after <= 0.99
    assert abs(found.after / threshold - 1) <= 0.05 + 1e-12
    assert found.reason
    assert (found.after == threshold) == (found.move is Move.KEPT)


def test_week_after_week_it_settles_where_both_rates_are_low() -> None:
    # Relevant from 0.55 up, by nature; a threshold that starts too high comes down and stays.
    seen = [Event(place / 100, place >= 55) for place in range(30, 100)]
    threshold = 0.9
    for _ in range(30):
        threshold = retune(threshold, seen).after
    assert retune(threshold, seen).move is Move.KEPT
    assert 0.45 < threshold < 0.70


@pytest.mark.parametrize(
    "changes",
    [
        {"threshold": math.nan},
        {"threshold": 1.5},
        {"threshold": "0.7"},
        {"least_events": 0},
        {"bounds": (0.9, 0.3)},
        {"bounds": (0.0, 0.9)},
        {"bounds": (0.3, 1.5)},
        {"bounds": [0.3, 0.9]},
    ],
)
def test_bad_arguments(changes: dict[str, Any]) -> None:
    good: dict[str, Any] = {"threshold": 0.7, "events": [], "least_events": 20, "bounds": (0.3, 0.99)}
    with pytest.raises(InvalidArgument):
        retune(**good | changes)


@pytest.mark.parametrize(("similarity", "relevant"), [(1.1, True), (math.nan, True), (0.5, 1), (None, True)])
def test_what_is_no_event_is_refused(similarity: Any, relevant: Any) -> None:
    with pytest.raises(InvalidArgument):
        Event(similarity, relevant)


Ask = Callable[..., None]


def complain(engine: Engine) -> None:
    """Say of forty hits with a similarity of 0.8 that they are not relevant, where the least is 0.78."""
    engine.admin.recipes.save("strict", PLAIN.changed({"least_similarity": 0.78}))
    engine.admin.recipes.use("strict")
    for thing in THINGS:
        found = engine.recall(f"what of {thing}?", limit=1)
        engine.admin.feedback.record(found.id, found.hits[0].memory.id, "thumbs", "down")


def test_a_move_that_changes_nothing_that_anybody_judged_is_refused(engine: Engine, ask: Ask) -> None:
    ask()
    found = retune_week(engine)
    assert found.decision is not None
    assert (found.decision.move, found.decision.wrong, found.recipe) == (Move.KEPT, 0.5, "")
    assert found.decision.reason.endswith("held out it does not win: 40 errors as it is, 40 with the move")
    assert engine.admin.recipes.get().name == "plain"


def test_events_of_one_query_cannot_be_held_out() -> None:
    events = week(wrong=20)
    kept = won_held_out(retune(0.7, events), events, ["same"] * 20)
    assert (kept.move, kept.after) == (Move.KEPT, 0.7)
    assert "none can be held out" in kept.reason


def test_the_least_confidence_follows_feedback_too() -> None:
    with open_engine(":memory:", embedder="lexical") as memory:
        memory.admin.recipes.save("sure", RECIPES["vector"].changed({"least_confidence": 0.6}))
        memory.admin.recipes.use("sure")
        for number in range(25):
            memory.remember(f"Note {number} is about topic{number * 7}.", confidence=0.61, id=f"note{number}")
            found = memory.recall(f"what of topic{number * 7}", limit=1)
            memory.admin.feedback.record(found.id, f"note{number}", "relevant", "no")
        outcome = retune_week(memory, bounds=(0.1, 0.99))
        assert outcome.decision is not None
        assert outcome.confidence is not None
        assert (outcome.decision.move, outcome.confidence.move) == (Move.KEPT, Move.RAISED)
        assert outcome.confidence.measure == "confidence"
        assert outcome.confidence.reason.endswith("held out, 25 errors become 0")
        assert memory.admin.recipes.get().name == RETUNED
        assert memory.admin.recipes.get().least_confidence == pytest.approx(0.63)
        assert len(memory.recall("what of topic7")) == 0
        assert [each.measure for _, each in retune_record(memory)] == ["similarity", "confidence"]


def test_a_week_of_complaints_raises_the_threshold(engine: Engine) -> None:
    complain(engine)
    tried = retune_week(engine, dry_run=True)
    assert tried.decision is not None
    assert (tried.decision.move, tried.decision.events, tried.decision.wrong) == (Move.RAISED, 40, 1.0)
    assert retune_record(engine) == ()
    assert engine.admin.recipes.get().name == "strict"
    found = retune_week(engine)
    assert (found.recipe, engine.admin.recipes.get().name) == (RETUNED, RETUNED)
    assert engine.admin.recipes.get().least_similarity == pytest.approx(0.78 * 1.05)
    ((at, decision),) = retune_record(engine)
    assert (at, decision) == (engine.now(), found.decision)
    engine.admin.recipes.rollback()
    assert engine.admin.recipes.get().name == "strict"


def test_it_looks_once_in_seven_days(engine: Engine, ask: Ask, clock: Any) -> None:
    complain(engine)
    first = retune_week(engine)
    assert first.due == engine.now() + timedelta(days=7)
    clock.wait(days=6)
    assert retune_week(engine).decision is None
    assert retune_week(engine, force=True).decision is not None
    clock.wait(days=7)
    engine.admin.recipes.use(None)
    ask(["thingav"])
    again = retune_week(engine)
    assert again.decision is not None
    assert (again.decision.events, again.decision.move) == (2, Move.KEPT)
    assert again.decision.reason == "2 events are too few, 18 more are needed"
    assert [each.move for _, each in retune_record(engine)] == [Move.RAISED, Move.KEPT, Move.KEPT]


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
    taken = engine.store.leases.acquire("tune", engine.namespace, "another server", 60, engine.now())
    assert taken is not None
    with pytest.raises(WorkUnderWay, match="is being done by another server"):
        retune_week(engine)
    assert retune_week(engine, dry_run=True).decision is not None
    assert retune_record(engine) == ()
    engine.store.leases.release(taken)
    assert retune_week(engine).decision is not None
    assert engine.store.leases.list() == []


def test_who_is_stopped_half_way_has_moved_nothing(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    complain(engine)
    keep = engine.store.saved_settings.save

    def stopped(namespace: str, kind: str, *rest: Any) -> SavedSetting:
        if kind == RECORD:
            raise KeyboardInterrupt
        return keep(namespace, kind, *rest)

    with monkeypatch.context() as patched:
        patched.setattr(engine.store.saved_settings, "save", stopped)
        with pytest.raises(KeyboardInterrupt):
            retune_week(engine)
    assert engine.admin.recipes.get().name == "strict"
    assert [each.recipe.name for each in engine.admin.recipes.list()] == ["strict"]
    assert retune_week(engine).recipe == RETUNED
    assert len(retune_record(engine)) == 1


def test_it_runs_on_a_new_store_with_whatever_embedder() -> None:
    for embedder, noise in (("builtin", 0.26), ("lexical", 0.18)):
        with open_engine(":memory:", embedder=embedder) as memory:
            memory.remember("Tea is in the jar.")
            found = retune_week(memory).decision
            assert found is not None
            assert (found.move, found.before, found.reason.partition(" ")[0]) == (Move.KEPT, noise, "0")
            with pytest.raises(InvalidArgument, match=r"within the bounds 0\.3 to 0\.99"):
                retune_week(memory, bounds=(0.3, 0.99), force=True)
