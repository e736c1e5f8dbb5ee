"""Weights of a namespace's own: learnt where there is enough feedback, in use only where they win.

What a namespace's feedback says is noisy while there is little of it, so its best share of meaning is drawn
towards the one in use everywhere (:func:`~memorata.learn.adaptive.shrunken`), and what comes of that is
judged on questions that were held out, like any other setting.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Final

import numpy as np

from memorata.engine import Engine
from memorata.engine.recipe import Recipe
from memorata.learn.adaptive import STRENGTH, Strength, shrunken
from memorata.learn.folds import grouped_folds
from memorata.learn.material import METRIC, Material, enough, from_feedback
from memorata.learn.tuning import TENTHS, WORK, Tuned, install
from memorata.learn.verdict import LEAST_GROUPS, judge
from memorata.model.checks import IntArray
from memorata.model.errors import NotEnoughData, WorkUnderWay

ADAPTED: Final = "adapted"
"""The name of a namespace's own recipe."""


def adapt_material(
    material: Material,
    base: Recipe,
    *,
    everywhere: Recipe | None = None,
    strength: Strength = STRENGTH,
    metric: str = METRIC,
    folds: int = 5,
    seed: int = 0,
    level: float = 0.95,
    least: int = LEAST_GROUPS,
) -> Tuned:
    """Look for the share of meaning that suits one namespace, drawn towards the one in use.

    Parameters
    ----------
    material
        What its people said.
    base
        The recipe in use there; what is found has to win against it.
    everywhere
        The recipe in use elsewhere, whose share of meaning it is drawn towards; `base` by default.
    strength
        How many questions of its own outweigh what holds everywhere.
    metric, folds, seed, level, least
        As for :func:`~memorata.learn.tuning.tune_weights`.
    """
    enough(material, least)
    values = {
        share: material.values(base.changed({"vector_weight": share}), base, metric) for share in TENTHS
    }
    now = material.values(base, base, metric)
    table = np.stack([now, *values.values()])
    shares = (base.vector_weight, *TENTHS)

    towards = _weights(base if everywhere is None else everywhere)

    def drawn(place: int, questions: int) -> float:
        share = shares[place]
        # Where nothing is better than the share in use, that one stays, wherever it came from.
        if not place:
            return share
        own = {"meaning": share, "words": 1 - share}
        return round(shrunken(own, questions, towards, strength=strength)["meaning"], 6)

    def best(rows: IntArray) -> int:
        return int(table[:, rows].mean(axis=1).argmax())

    def valued(setting: Mapping[str, float]) -> np.typing.NDArray[np.float64]:
        return material.values(base.changed(dict(setting)), base, metric)

    count = len(material.questions)
    divided = grouped_folds(material.groups, count=folds, seed=seed)
    picks = [{"vector_weight": drawn(best(fold.learnt), fold.learnt.size)} for fold in divided]
    picked = best(np.arange(count))
    tried = [drawn(place, count) for place in range(len(shares))]
    final = {"vector_weight": tried[picked]}
    verdict = judge(
        final,
        picks,
        [valued(each) for each in picks],
        now,
        divided,
        material.groups,
        tried=np.stack([valued({"vector_weight": share}) for share in tried]),
        picked=picked,
        seed=seed,
        level=level,
        least=least,
    )
    return Tuned(verdict, base, base.changed(final), count, metric)


def adapt(
    engine: Engine,
    namespaces: Sequence[str] | None = None,
    *,
    dry_run: bool = False,
    strength: Strength = STRENGTH,
    seed: int = 0,
) -> Mapping[str, Tuned | NotEnoughData | WorkUnderWay]:
    """Look at every namespace with feedback, and let those use weights of their own for which these win.

    Parameters
    ----------
    engine
        Whose namespaces.
    namespaces
        Which; None for all.
    dry_run
        Whether to change nothing.
    strength, seed
        As for :func:`adapt_material`.

    Returns
    -------
    Mapping
        By namespace what was found, or how much is missing, or who tunes it at this moment.
    """
    found: dict[str, Tuned | NotEnoughData | WorkUnderWay] = {}
    for path in engine.store.namespaces() if namespaces is None else namespaces:
        try:
            with nullcontext() if dry_run else engine.leasing.hold(WORK, path) as held:
                material = from_feedback(engine, namespace=path)
                tuned = adapt_material(
                    material if held is None else material.under(held),
                    engine.recipe_named(namespace=path),
                    everywhere=engine.recipe,
                    strength=strength,
                    seed=seed,
                )
                if not dry_run:
                    install(engine, tuned, ADAPTED, use=True, namespace=path)
            found[path] = tuned
        except (NotEnoughData, WorkUnderWay) as missing:
            # One quiet or busy namespace must not keep the others from learning; what it lacks is reported.
            found[path] = missing
    return found


def _weights(recipe: Recipe) -> dict[str, float]:
    return {"meaning": recipe.vector_weight, "words": 1 - recipe.vector_weight}
