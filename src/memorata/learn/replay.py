"""Past questions under other settings: what would have moved, and whether it would have been better.

Nothing is searched again. A scorer looks at the features that were logged and gives each candidate a score;
the order that makes is compared with the order people were shown (or with another scorer's), in metrics where
people said what was relevant, and result by result everywhere. A candidate that was never found stays not
found, so a replay says nothing about larger pools or other words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from memorata._frozen import frozen
from memorata.evaluate.metrics import measure
from memorata.evaluate.significance import Difference, paired_bootstrap
from memorata.learn.features import Features, rescored
from memorata.model import checks
from memorata.model.checks import FloatArray, Numbers
from memorata.model.errors import InvalidArgument

Scorer: TypeAlias = Callable[[Features], Numbers]
"""From the candidates of a recall to a score for each; higher is better."""


@frozen
class Moved:
    """A result that changed its place: its rank before and after, from 1; None beyond the depth looked at."""

    recall_id: str
    item: str
    before: int | None
    after: int | None


@frozen
class Replay:
    """What other settings would have done.

    Attributes
    ----------
    recalls, judged
        How many were replayed, and how many of them have a relevant result, which the metrics are over.
    changed
        How many recalls show other results, or in another order.
    gains
        By metric, how much higher it is, with interval and p value; empty if nothing was judged.
    moved
        Every result that changed its place among the first ones, in the order of the log.
    """

    recalls: int
    judged: int
    changed: int
    gains: Mapping[str, Difference]
    moved: tuple[Moved, ...]


def replay(
    logged: Sequence[Features],
    scorer: Scorer,
    relevant: Mapping[str, Mapping[str, float]] | None = None,
    *,
    baseline: Scorer | None = None,
    measures: Sequence[str] = ("ndcg@10", "mrr@10", "recall@10"),
    depth: int = 10,
    seed: int = 0,
) -> Replay:
    """Rank logged recalls anew and compare.

    Parameters
    ----------
    logged
        Recalls, their candidates in the order they were shown.
    scorer
        The settings to try; :func:`weighted` makes one of weights.
    relevant
        By recall and item, how relevant it is, as far as anybody has said.
    baseline
        What to compare with; by default what was shown.
    measures
        Names of metrics, as for :func:`~memorata.evaluate.metrics.measure`.
    depth
        How far down a change of place is reported.
    seed
        Of the bootstrap.

    Examples
    --------
    >>> logged = Features("r1", ["a", "b"], {"meaning": [0.9, 0.5], "words": [0.0, 7.0]})
    >>> found = replay([logged], weighted({"words": 1.0}), {"r1": {"b": 1}}, measures=["mrr"])
    >>> found.changed, found.gains["mrr"].mean, found.moved[0]
    (1, 0.5, Moved(recall_id='r1', item='b', before=2, after=1))
    """
    room = checks.whole("depth", depth, 1)
    metrics = {name: measure(name) for name in checks.texts("measures", measures)}
    said = {} if relevant is None else relevant
    if not isinstance(said, Mapping):
        raise InvalidArgument("relevant", relevant, "a mapping of recalls to the gains of their items")
    moved: list[Moved] = []
    before_after: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in metrics}
    changed = judged = 0
    for each in logged:
        before = tuple(each.ids) if baseline is None else ranking(each, baseline)
        after = ranking(each, scorer)
        differences = _moves(each.recall_id, before, after, room)
        changed += bool(differences)
        moved += differences
        gains = said.get(each.recall_id, {})
        if any(gain > 0 for gain in gains.values()):
            judged += 1
            for name, metric in metrics.items():
                before_after[name][0].append(metric(before, gains))
                before_after[name][1].append(metric(after, gains))
    compared = {
        name: paired_bootstrap(after, before, seed=seed)
        for name, (before, after) in before_after.items()
        if before
    }
    return Replay(len(logged), judged, changed, compared, tuple(moved))


def weighted(weights: Mapping[str, float], *, scale: str = "min_max") -> Scorer:
    """Return the scorer of some weights, as :func:`~memorata.learn.features.rescored` has it.

    Examples
    --------
    >>> weighted({"words": 2.0})(Features("r", ["a", "b"], {"words": [1.0, 3.0]})).tolist()
    [0.0, 2.0]
    """

    def score(features: Features) -> FloatArray:
        return rescored(features, weights, scale=scale)

    return score


def ranking(features: Features, scorer: Scorer) -> tuple[str, ...]:
    """Return the candidates best first by a scorer; equal scores keep the order in which they were shown.

    Examples
    --------
    >>> ranking(Features("r", ["a", "b", "c"], {"words": [1.0, 3.0, 1.0]}), weighted({"words": 1.0}))
    ('b', 'a', 'c')
    """
    scores = checks.numbers("scorer", scorer(features))
    checks.same_length(candidates=features.ids, scorer=scores)
    return tuple(features.ids[place] for place in np.argsort(-scores, kind="stable").tolist())


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
