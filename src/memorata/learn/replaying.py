"""The log under another recipe: what would have moved, and whether it would have been better.

The comparison is with the recipe each recall was made with, ranked again from the log like the other one, so
that only the settings differ. How many recalls come out of that exactly as they were is counted, too: it says
how far the log can be trusted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from memorata._frozen import frozen
from memorata.engine import Engine
from memorata.engine.recipe import Recipe
from memorata.learn.features import Features
from memorata.learn.logged_ranking import (
    checked_changes,
    features_of,
    kept_as_logged,
    logged_recipe,
    order_of,
    recipe_scorer,
)
from memorata.learn.material import from_feedback
from memorata.learn.replay import Replay, replay
from memorata.model.checks import FloatArray
from memorata.model.errors import NotEnoughData

MEASURES = ("ndcg@10", "mrr@10", "recall@10")
"""What is compared, where the caller does not say."""


@frozen
class Replayed:
    """What another recipe would have done.

    Attributes
    ----------
    recipe
        Its parameters.
    replay
        The differences.
    faithful
        How many of the recalls come out exactly as logged under the recipe they were made with.
    kept
        The parameters of the recipe that ask for another search, and stayed as they were.
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
    measures: Sequence[str] = MEASURES,
    depth: int = 10,
    seed: int = 0,
) -> Replayed:
    """Rank the logged recalls of a namespace by another recipe, without searching.

    Parameters
    ----------
    engine
        Whose log.
    recipe
        A recipe or the name of one; None for what a recall uses.
    changes
        Parameters of it to change; one that needs a search is refused.
    namespace
        Whose recalls; None for the engine's.
    since, limit
        Which recalls: those since a moment, and how many of the latest at most.
    measures, depth, seed
        As for :func:`~memorata.learn.replay.replay`.

    Raises
    ------
    NotEnoughData
        Nothing was logged.
    """
    chosen = engine.recipe_named(recipe, namespace=namespace)
    wanted = chosen.changed(checked_changes(changes)) if changes else chosen
    recalls = [
        recall
        for recall in reversed(engine.recalls(namespace=namespace, since=since, limit=limit))
        if len(recall.values)
    ]
    if not recalls:
        raise NotEnoughData("logged recalls", 0, 1)
    known = {recall.id: recall for recall in recalls}
    faithful = 0
    places: dict[str, FloatArray] = {}
    for recall in recalls:
        order = order_of(recall, logged_recipe(recall))
        faithful += bool((order == np.arange(order.size)).all())
        places[recall.id] = np.empty(order.size)
        places[recall.id][order] = -np.arange(order.size, dtype=np.float64)

    def as_it_was(features: Features) -> FloatArray:
        return places[features.recall_id]

    found = replay(
        [features_of(recall) for recall in recalls],
        recipe_scorer(wanted, known.values()),
        from_feedback(engine, namespace=namespace).gains,
        baseline=as_it_was,
        measures=measures,
        depth=depth,
        seed=seed,
    )
    return Replayed(wanted, found, faithful, kept_as_logged(wanted, recalls))
