"""Replay of the log under another recipe: which results would have moved, and whether for the better.

Nothing is searched again: a candidate that was never found stays not found, so a replay says nothing about
larger pools or other words. The comparison is with the recipe each recall was made with, ranked again from
the log like the other one, so that only the settings differ. How many recalls come out of that exactly as
they were is counted, too: it says how far the log can be trusted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from memorata import Engine, Recipe
from memorata.extend import frozen
from memorata.extend.errors import InvalidArgument, NotEnoughData
from memorata.extend.model import checks
from memorata_lab.evaluate.metrics import measure
from memorata_lab.evaluate.significance import Difference, paired_bootstrap
from memorata_lab.learn.logged_ranking import checked_changes, kept_as_logged, logged_recipe, ranking
from memorata_lab.learn.training_set import from_feedback

MEASURES: Final = ("ndcg@10", "mrr@10", "recall@10")
"""What is compared, where the caller does not say."""


@frozen
class Moved:
    """A result that changed its place: its rank before and after, from 1; None beyond the depth looked at."""

    recall_id: str
    item: str
    before: int | None
    after: int | None


@frozen
class Replay:
    """What other settings would have done: to how many recalls, to which results, and by metric."""

    recalls: int
    judged: int
    changed: int
    gains: Mapping[str, Difference]
    moved: tuple[Moved, ...]


@frozen
class Replayed:
    """What another recipe would have done.

    `faithful` recalls come out exactly as logged under the recipe they were made with; `kept` parameters of
    the recipe ask for another search, and stayed as they were.
    """

    recipe: Recipe
    replay: Replay
    faithful: int
    kept: tuple[str, ...]


def replay_log(
    engine: Engine,
    recipe: Recipe | str | None = None,
    changes: Mapping[str, Any] | None = None,
    *,
    namespace: str | None = None,
    since: datetime | None = None,
    limit: int | None = 1_000,
) -> Replayed:
    """Rank the logged recalls of a namespace by another recipe, without searching.

    A recipe is given, named, or the one in use; of its changes those that need a search are refused. Of the
    latest recalls at most `limit` are looked at.
    """
    chosen = engine.admin.recipes.get(recipe, namespace=namespace)
    changed = chosen.changed(checked_changes(changes)) if changes else chosen
    recalls = [
        recall
        for recall in reversed(engine.admin.feedback.recalls(namespace=namespace, since=since, limit=limit))
        if len(recall.values)
    ]
    if not recalls:
        raise NotEnoughData("logged recalls", 0, 1)
    before = {recall.id: ranking(recall, logged_recipe(recall)) for recall in recalls}
    replay = compare_rankings(
        before,
        {recall.id: ranking(recall, changed) for recall in recalls},
        from_feedback(engine, namespace=namespace).gains,
    )
    faithful = sum(before[recall.id] == tuple(recall.ids) for recall in recalls)
    return Replayed(changed, replay, faithful, kept_as_logged(changed, recalls))


def compare_rankings(
    before: Mapping[str, Sequence[str]],
    after: Mapping[str, Sequence[str]],
    relevant: Mapping[str, Mapping[str, float]] | None = None,
    *,
    measures: Sequence[str] = MEASURES,
    depth: int = 10,
    seed: int = 0,
) -> Replay:
    """Compare two rankings of each recall, by result and, where `relevant` has gains for it, by metric."""
    places = checks.whole("depth", depth, 1)
    metrics = {name: measure(name) for name in checks.texts("measures", measures)}
    gains_of = {} if relevant is None else relevant
    if not isinstance(gains_of, Mapping):
        raise InvalidArgument("relevant", relevant, "a mapping of recalls to the gains of their items")
    moved: list[Moved] = []
    values: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in metrics}
    changed = judged = 0
    for recall_id, old in before.items():
        new = after[recall_id]
        moves = _moves(recall_id, old, new, places)
        changed += bool(moves)
        moved += moves
        gains = gains_of.get(recall_id, {})
        if any(gain > 0 for gain in gains.values()):
            judged += 1
            for name, metric in metrics.items():
                values[name][0].append(metric(old, gains))
                values[name][1].append(metric(new, gains))
    differences = {
        name: paired_bootstrap(new_values, old_values, seed=seed)
        for name, (old_values, new_values) in values.items()
        if old_values
    }
    return Replay(len(before), judged, changed, differences, tuple(moved))


def _moves(recall_id: str, before: Sequence[str], after: Sequence[str], depth: int) -> list[Moved]:
    """Return what changed its place among the first, in its new order, then what has left."""
    old = {item: rank for rank, item in enumerate(before[:depth], 1)}
    new = {item: rank for rank, item in enumerate(after[:depth], 1)}
    items = [*new, *(item for item in old if item not in new)]
    return [
        Moved(recall_id, item, old.get(item), new.get(item))
        for item in items
        if old.get(item) != new.get(item)
    ]
