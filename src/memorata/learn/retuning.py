"""The weekly rule at work: a threshold that follows the feedback of the last seven days, with a record.

Run it as often as you like, from a scheduler or by hand: it looks at once in seven days, and says when the
next look is due. Each decision is recorded, whether or not anything moved. A threshold that moved is a new
version of the recipe ``retuned``, put in use; ``rollback`` takes it back.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from memorata._frozen import frozen
from memorata.engine import Engine
from memorata.learn.material import from_feedback
from memorata.learn.retune import BOUNDS, LEAST_EVENTS, Decision, Event, Move, retune
from memorata.learn.tuning import WORK
from memorata.model.errors import InvalidArgument

RETUNED: Final = "retuned"
"""The name of the recipe whose threshold follows the feedback."""
RECORD: Final = "retune"
"""The kind of lesson that records a decision."""
WEEK: Final = timedelta(days=7)
_CALIBRATED: Final = -1.0


@frozen
class Retuned:
    """What a look at the week came to.

    Attributes
    ----------
    due
        When the next look is due; the decision is None before that.
    decision
        What the rule said.
    recipe
        The recipe that is in use since; empty if nothing moved, or it was only tried.
    """

    due: datetime
    decision: Decision | None = None
    recipe: str = ""


def retune_week(
    engine: Engine,
    *,
    namespace: str | None = None,
    dry_run: bool = False,
    force: bool = False,
    bounds: tuple[float, float] = BOUNDS,
    least_events: int = LEAST_EVENTS,
) -> Retuned:
    """Look at the feedback of the last seven days and move the threshold as the weekly rule says.

    Parameters
    ----------
    engine
        Whose feedback, embedder and recipe.
    namespace
        Whose; None for the engine's.
    dry_run
        Whether to say what would happen, and change and record nothing.
    force
        Whether to look although the last look was less than seven days ago.
    bounds
        The lowest and the highest threshold; cosines of some embedders need lower ones.
    least_events
        With fewer nothing moves, and the decision says how many more it takes.

    Raises
    ------
    InvalidArgument
        There is no embedder, or the threshold in use is outside the bounds.
    WorkUnderWay, LeaseLost
        Another tunes the namespace, or has taken it over.
    """
    path = engine.namespace if namespace is None else namespace
    look = partial(_looked, engine, path, force=force, bounds=bounds, least_events=least_events)
    if dry_run:
        return look(dry_run=True)
    with engine.leasing.hold(WORK, path):
        return look(dry_run=False)


def _looked(
    engine: Engine,
    path: str,
    *,
    dry_run: bool,
    force: bool,
    bounds: tuple[float, float],
    least_events: int,
) -> Retuned:
    now = engine.moment
    if engine.embedder is None:
        raise InvalidArgument(
            "embedder", None, "in use: without one there is no similarity to draw a line at"
        )
    before = engine.store.lessons(path, RECORD)
    if before and not force and not dry_run and now < before[0].at + WEEK:
        return Retuned(before[0].at + WEEK)
    base = engine.recipe_named(namespace=path)
    threshold = base.least_similarity
    if threshold == _CALIBRATED:
        threshold = engine.embedder.similarity_threshold
    pairs = from_feedback(engine, namespace=path, since=now - WEEK).pairs(engine.embedder.name)
    events = [
        Event(similar, relevant)
        for similar, relevant in zip(pairs.similarity.tolist(), pairs.relevant.tolist(), strict=True)
    ]
    decision = retune(threshold, events, least_events=least_events, bounds=bounds)
    if dry_run:
        return Retuned(now, decision)
    recipe = ""
    # A threshold that moved without a record would move again at the next look, on the same feedback.
    with engine.store.together():
        if decision.move is not Move.KEPT:
            recipe = RETUNED
            changed = base.changed({"least_similarity": decision.after})
            engine.save_recipe(recipe, changed, evidence=recorded(decision), namespace=path)
            engine.use_recipe(recipe, namespace=path)
        engine.store.keep_lesson(path, RECORD, base.name, recorded(decision), {}, now)
    return Retuned(now + WEEK, decision, recipe)


def retune_record(engine: Engine, *, namespace: str | None = None) -> tuple[tuple[datetime, Decision], ...]:
    """Return the decisions of the past, the earliest first."""
    path = engine.namespace if namespace is None else namespace
    found = reversed(engine.store.lessons(path, RECORD))
    return tuple((each.at, decision_of(dict(each.data))) for each in found)


def recorded(decision: Decision) -> dict[str, Any]:
    """Return a decision as plain data; rates without events are None."""
    return {
        "by": "weekly rule",
        "move": decision.move.value,
        "before": decision.before,
        "after": decision.after,
        "events": decision.events,
        "missed": decision.missed if decision.events else None,
        "wrong": decision.wrong if decision.events else None,
        "reason": decision.reason,
    }


def decision_of(data: dict[str, Any]) -> Decision:
    """Return a decision from the plain data of :func:`recorded`."""
    missed, wrong = (float("nan") if data[name] is None else data[name] for name in ("missed", "wrong"))
    return Decision(
        Move(data["move"]), data["before"], data["after"], data["events"], missed, wrong, data["reason"]
    )
