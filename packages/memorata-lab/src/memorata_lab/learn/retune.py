r"""The weekly retune: thresholds of similarity and confidence that follow feedback on what they let through.

With at least 20 events in the week, a false-negative rate above 0.15 lowers the threshold by 5 %, and a
false-positive rate above 0.10 raises it by 5 %, within 0.3 and 0.99. The steps are small and the bounds hard,
so that a bad week does little.

Two things the rule leaves open are decided here. *Rates* are shares of all events of the week: people mostly
judge what they were shown, so among what was not shown there are hardly any judgements to divide by, and a
rate over those alone would be 100 % after a single one. *Both* rates too high is no reason to move: either
step would make the other error worse. It says that similarity does not tell the two apart, which needs better
weights, not another threshold.

A move is installed only if it wins on held-out feedback: the rule is applied to four fifths of the queries at
a time, and the step it takes there must make fewer errors on the rest, in all. A step over a stretch without
a single judgement changes nothing that was judged, and is not taken. A recipe without a least confidence
has none to retune.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields, replace
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial
from typing import Any, Final

from memorata import Engine
from memorata.extend import frozen
from memorata.extend.embedding import carried
from memorata.extend.errors import InvalidArgument
from memorata.extend.model import checks
from memorata_lab.learn.thresholds import similarity_threshold
from memorata_lab.learn.training_set import Pairs, from_feedback
from memorata_lab.learn.tuning import WORK
from memorata_lab.learn.validation import grouped_folds

MIN_EVENTS: Final = 20
MISSED_LIMIT: Final = 0.15
WRONG_LIMIT: Final = 0.10
STEP: Final = 0.05
BOUNDS: Final = (0.3, 0.99)
REFERENCE_NOISE: Final = 0.35
"""The noise ceiling of the embedders that the bounds of similarity are meant for."""
FOLDS: Final = 5
SIMILARITY: Final = "similarity"
CONFIDENCE: Final = "confidence"


@frozen
class Event:
    """A judged hit: its similarity, or confidence, at the time, and whether it was relevant."""

    value: float
    relevant: bool

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", checks.within("value", self.value, -1, 1))
        checks.flag("relevant", self.relevant)


class Move(StrEnum):
    """What becomes of the threshold."""

    LOWERED = "lowered"
    RAISED = "raised"
    KEPT = "kept"


@frozen
class Decision:
    """What the rule says, and the false-negative and false-positive rates that say so; NaN without events."""

    move: Move
    before: float
    after: float
    events: int
    missed: float
    wrong: float
    reason: str
    measure: str = SIMILARITY


def retune(
    threshold: float,
    events: Iterable[Event],
    *,
    least_events: int = MIN_EVENTS,
    bounds: tuple[float, float] = BOUNDS,
) -> Decision:
    r"""Return what the events of a week say about a threshold within the bounds.

    .. math::
        \mathrm{missed} = \frac{\#\{\text{relevant}, s < t\}}{\#\text{events}}, \quad
        \mathrm{wrong} = \frac{\#\{\text{not relevant}, s \ge t\}}{\#\text{events}}

    >>> week = [Event(0.8, True)] * 16 + [Event(0.6, True)] * 4
    >>> decision = retune(0.7, week)
    >>> decision.move.value, round(decision.after, 4), decision.reason
    ('lowered', 0.665, '4 of 20 events (20.0%) were relevant and below the threshold, more than 15%')
    """
    low, high = _bounds(bounds)
    now = checks.number("threshold", threshold)
    if not low <= now <= high:
        raise InvalidArgument(
            "threshold", threshold, f"within the bounds {low:g} to {high:g}; give the bounds of this embedder"
        )
    week = list(events)
    needed, count = checks.whole("least_events", least_events, 1), len(week)
    missing = sum(event.relevant and event.value < now for event in week)
    false = sum(not event.relevant and event.value >= now for event in week)
    missed, wrong = (missing / count, false / count) if count else (float("nan"), float("nan"))

    def decided(move: Move, after: float, reason: str) -> Decision:
        return Decision(move, now, after, count, missed, wrong, reason)

    if count < needed:
        return decided(Move.KEPT, now, f"{count} events are too few, {needed - count} more are needed")
    too_strict = f"{missing} of {count} events ({missed:.1%}) were relevant and below the threshold"
    too_lax = f"{false} of {count} events ({wrong:.1%}) were not relevant and above the threshold"
    if missed > MISSED_LIMIT and wrong > WRONG_LIMIT:
        return decided(Move.KEPT, now, f"{too_strict}, and {too_lax}: no threshold mends both")
    if missed > MISSED_LIMIT:
        reason = f"{too_strict}, more than {MISSED_LIMIT:.0%}"
        return decided(*_moved(Move.LOWERED, now, now * (1 - STEP), low, reason))
    if wrong > WRONG_LIMIT:
        reason = f"{too_lax}, more than {WRONG_LIMIT:.0%}"
        return decided(*_moved(Move.RAISED, now, now * (1 + STEP), high, reason))
    return decided(Move.KEPT, now, f"{too_strict} and {too_lax}: both within their limits")


def _moved(move: Move, now: float, target: float, bound: float, reason: str) -> tuple[Move, float, str]:
    """Return the move as far as the bound allows, saying so where it does not."""
    beyond = target < bound if move is Move.LOWERED else target > bound
    if now == bound:
        return Move.KEPT, now, f"{reason}; but it is at its bound of {bound:g}"
    if beyond:
        return move, bound, f"{reason}; stopped at the bound of {bound:g}"
    return move, target, reason


def _bounds(bounds: tuple[float, float]) -> tuple[float, float]:
    if not isinstance(bounds, tuple) or len(bounds) != 2:
        raise InvalidArgument("bounds", bounds, "a pair: the lowest and the highest threshold")
    # Five per cent of a negative threshold would move it the wrong way.
    low, high = checks.above("bounds[0]", bounds[0], 0), checks.within("bounds[1]", bounds[1], 0, 1)
    if low >= high:
        raise InvalidArgument("bounds", bounds, "a pair of which the first is lower")
    return low, high


def won_held_out(
    decision: Decision,
    events: Sequence[Event],
    groups: Sequence[str],
    *,
    bounds: tuple[float, float] = BOUNDS,
) -> Decision:
    """Return a decision as it is if its move wins on held-out queries, else one that moves nothing.

    >>> events = [Event(0.71, False)] * 20
    >>> decision = won_held_out(retune(0.7, events), events, [str(n) for n in range(20)])
    >>> decision.move.value, decision.reason.rpartition("; ")[2]
    ('raised', 'held out, 20 errors become 0')
    """
    if decision.move is Move.KEPT:
        return decision
    count = min(FOLDS, len(set(groups)))
    if count < 2:
        return _unchanged(decision, "all events are of one query, so that none can be held out")
    before = after = 0
    for fold in grouped_folds(groups, count=count):
        learnt, held_out = ([events[row] for row in rows.tolist()] for rows in (fold.learnt, fold.held_out))
        step = retune(decision.before, learnt, least_events=1, bounds=bounds).after
        before += _errors(decision.before, held_out)
        after += _errors(step, held_out)
    if after < before:
        return replace(decision, reason=f"{decision.reason}; held out, {before} errors become {after}")
    return _unchanged(decision, f"held out it does not win: {before} errors as it is, {after} with the move")


def _unchanged(decision: Decision, why: str) -> Decision:
    reason = f"{decision.reason}; {why}"
    return replace(decision, move=Move.KEPT, after=decision.before, reason=reason)


def _errors(threshold: float, events: Iterable[Event]) -> int:
    return sum((event.value >= threshold) != event.relevant for event in events)


RETUNED: Final = "retuned"
"""The name of the recipe whose threshold follows the feedback."""
RECORD: Final = "retune"
"""The kind of saved setting that records a decision."""
WEEK: Final = timedelta(days=7)


@frozen
class Retuned:
    """What a look at the week came to."""

    due: datetime
    decision: Decision | None = None
    recipe: str = ""
    confidence: Decision | None = None
    """The same for the least confidence; None where the recipe in use has none."""


def retune_week(
    engine: Engine,
    *,
    namespace: str | None = None,
    dry_run: bool = False,
    force: bool = False,
    bounds: tuple[float, float] | None = None,
) -> Retuned:
    """Look at the feedback of the last seven days and move the thresholds as the rule says, if that wins.

    Without `bounds` those of similarity are 0.3 and 0.99, carried over to the embedder by its calibration.
    `dry_run` changes and records nothing; `force` looks although the last look was less than seven days ago.
    Raises `WorkUnderWay` or `LeaseLost` where another tunes the namespace, or has taken it over.
    """
    path = engine.namespace if namespace is None else namespace
    look = partial(_retune_now, engine, path, force=force, bounds=bounds)
    if dry_run:
        return look(dry_run=True)
    with engine.leases.hold(WORK, path):
        return look(dry_run=False)


def _retune_now(
    engine: Engine, path: str, *, dry_run: bool, force: bool, bounds: tuple[float, float] | None
) -> Retuned:
    now = engine.now()
    if engine.embedder is None:
        raise InvalidArgument(
            "embedder", None, "in use: without one there is no similarity to draw a line at"
        )
    before = engine.store.saved_settings.list(path, RECORD)
    if before and not force and not dry_run and now < before[0].at + WEEK:
        return Retuned(before[0].at + WEEK)
    base = engine.admin.recipes.get(namespace=path)
    threshold = similarity_threshold(base, engine.embedder)
    if bounds is None:
        noise = engine.embedder.similarity_threshold
        low, high = (carried(bound, noise, REFERENCE_NOISE) for bound in BOUNDS)
        bounds = low, high
    pairs = from_feedback(engine, namespace=path, since=now - WEEK).pairs(engine.embedder.name)
    decision = _decided(pairs, SIMILARITY, threshold, bounds)
    # A least confidence below the usual bounds is a choice: to see nearly everything.
    usual = BOUNDS[0] <= base.least_confidence <= BOUNDS[1]
    confidence = _decided(pairs, CONFIDENCE, base.least_confidence, BOUNDS) if usual else None
    if dry_run:
        return Retuned(now, decision, confidence=confidence)
    recipe = ""
    # A threshold that moved without a record would move again at the next look, on the same feedback.
    with engine.store.together():
        decisions = [candidate for candidate in (decision, confidence) if candidate is not None]
        moved = {f"least_{change.measure}": change for change in decisions if change.move is not Move.KEPT}
        if moved:
            recipe = RETUNED
            if SIMILARITY in (change.measure for change in moved.values()):
                base = replace(base, reference_noise=0.0)
            after: dict[str, Any] = {name: change.after for name, change in moved.items()}
            changed = replace(base, **after)
            reason = "; ".join(change.reason for change in moved.values())
            evidence = {**recorded(next(iter(moved.values()))), "reason": reason}
            engine.admin.recipes.save(recipe, changed, evidence=evidence, namespace=path)
            engine.admin.recipes.use(recipe, namespace=path)
        for change in decisions:
            engine.store.saved_settings.save(path, RECORD, base.name, recorded(change), {}, now)
    return Retuned(now + WEEK, decision, recipe, confidence)


def _decided(pairs: Pairs, measure: str, threshold: float, bounds: tuple[float, float]) -> Decision:
    """Return what becomes of one threshold: what the rule says, if that wins on held-out queries."""
    values = pairs.similarity if measure == SIMILARITY else pairs.confidence
    events = [
        Event(value, relevant)
        for value, relevant in zip(values.tolist(), pairs.relevant.tolist(), strict=True)
    ]
    decision = retune(threshold, events, bounds=bounds)
    return won_held_out(replace(decision, measure=measure), events, pairs.groups, bounds=bounds)


def retune_record(engine: Engine, *, namespace: str | None = None) -> tuple[tuple[datetime, Decision], ...]:
    """Return the decisions of the past, the earliest first."""
    path = engine.namespace if namespace is None else namespace
    records = reversed(engine.store.saved_settings.list(path, RECORD))
    return tuple((record.at, decision_of(dict(record.data))) for record in records)


def recorded(decision: Decision) -> dict[str, Any]:
    """Return a decision as plain data; rates without events are None."""
    rates = {} if decision.events else {"missed": None, "wrong": None}
    return {"by": "weekly rule", **asdict(decision), "move": decision.move.value, **rates}


def decision_of(data: dict[str, Any]) -> Decision:
    """Return a decision from the plain data of :func:`recorded`."""
    values = {part.name: data[part.name] for part in fields(Decision) if part.name in data}
    rates = {name: float("nan") for name in ("missed", "wrong") if values[name] is None}
    return Decision(**values | rates | {"move": Move(data["move"])})
