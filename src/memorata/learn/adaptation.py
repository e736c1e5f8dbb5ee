r"""Weights of a namespace's own: learnt where there is enough feedback, in use only where they win.

What one namespace has shown by its own feedback is noisy while there is little of it, so its best weights are
drawn towards those in use everywhere: with :math:`n` judged questions of its own and a strength of :math:`m`,

.. math:: w = \frac{n\,w_{\text{own}} + m\,w_{\text{all}}}{n + m}

which is the mean of a beta-binomial (or Dirichlet) whose prior is worth :math:`m` questions. What comes of
that is validated on questions that were held out, like any other setting.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import cache
from typing import Annotated, Final

import numpy as np

from memorata.engine import Engine
from memorata.engine.recipes.recipe import Recipe
from memorata.learn.training_set import METRIC, TrainingSet, from_feedback
from memorata.learn.tuning import TENTHS, WORK, Tuned, install
from memorata.learn.validation import QUESTIONS, grouped_folds, judge, require_groups
from memorata.model import checks
from memorata.model.checks import IntArray
from memorata.model.errors import InvalidArgument, NotEnoughData, WorkUnderWay
from memorata.model.parameter import Declared

STRENGTH: Final = 50.0
"""How many judged questions of its own outweigh what holds for all, where the caller does not say."""
Strength = Annotated[float, Declared("Judged questions that count as much as the global weights.", 0, 1000)]
ADAPTED: Final = "adapted"
"""The name of a namespace's own recipe."""


def adapt_training_set(
    training: TrainingSet,
    base: Recipe,
    *,
    everywhere: Recipe | None = None,
    strength: Strength = STRENGTH,
    metric: str = METRIC,
    folds: int = 5,
    seed: int = 0,
) -> Tuned:
    """Look for the share of meaning that suits one namespace, drawn towards the one in use."""
    require_groups(training.groups, name=QUESTIONS)

    @cache
    def valued(share: float) -> np.typing.NDArray[np.float64]:
        return training.values(base.changed({"vector_weight": share}), base, metric)

    shares = (base.vector_weight, *TENTHS)
    table = np.stack([valued(share) for share in shares])

    towards = _weights(base if everywhere is None else everywhere)

    def drawn(place: int, questions: int) -> float:
        share = shares[place]
        # Where nothing is better than the share in use, that one stays, wherever it came from.
        if not place:
            return share
        own = {"vector": share, "lexical": 1 - share}
        return round(shrunken(own, questions, towards, strength=strength)["vector"], 6)

    def best(rows: IntArray) -> int:
        return int(table[:, rows].mean(axis=1).argmax())

    count = len(training.questions)
    divided = grouped_folds(training.groups, count=folds, seed=seed)
    picks = [drawn(best(fold.learnt), fold.learnt.size) for fold in divided]
    picked = best(np.arange(count))
    tried = [drawn(place, count) for place in range(len(shares))]
    final = {"vector_weight": tried[picked]}
    verdict = judge(
        final,
        [{"vector_weight": pick} for pick in picks],
        [valued(pick) for pick in picks],
        valued(base.vector_weight),
        divided,
        training.groups,
        tried=np.stack([valued(share) for share in tried]),
        picked=picked,
        seed=seed,
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
    """Look at every namespace with feedback, and let those use weights of their own for which these win."""
    results: dict[str, Tuned | NotEnoughData | WorkUnderWay] = {}
    for path in engine.store.namespaces() if namespaces is None else namespaces:
        try:
            with nullcontext() if dry_run else engine.leases.hold(WORK, path) as lease:
                training = from_feedback(engine, namespace=path)
                tuned = adapt_training_set(
                    training if lease is None else training.under(lease),
                    engine.recipes.get(namespace=path),
                    everywhere=engine.recipe,
                    strength=strength,
                    seed=seed,
                )
                if not dry_run:
                    install(engine, tuned, ADAPTED, use=True, namespace=path)
            results[path] = tuned
        except (NotEnoughData, WorkUnderWay) as missing:
            # One quiet or busy namespace must not keep the others from learning; what it lacks is reported.
            results[path] = missing
    return results


def _weights(recipe: Recipe) -> dict[str, float]:
    return {"vector": recipe.vector_weight, "lexical": 1 - recipe.vector_weight}


def shrunken(
    own: Mapping[str, float], questions: int, towards: Mapping[str, float], *, strength: Strength = STRENGTH
) -> Mapping[str, float]:
    r"""Return weights between a namespace's own and those of all: :math:`(n w + m w_0) / (n + m)`.

    - `own`: what its feedback says; a weight that is not named is 0.
    - `questions`: :math:`n`, from how many judged questions.
    - `towards`: :math:`w_0`, what holds for all.
    - `strength`: :math:`m`; 0 believes the namespace at once.

    >>> shrunken({"vector": 1.0}, 50, {"vector": 0.5, "lexical": 0.5}, strength=150)
    {'vector': 0.625, 'lexical': 0.375}
    """
    mine, all_ = _checked("own", own), _checked("towards", towards)
    count, prior = checks.whole("questions", questions), checks.at_least("strength", strength, 0)
    share = count / (count + prior) if count else 0.0
    names = dict.fromkeys([*all_, *mine])
    return {name: share * mine.get(name, 0.0) + (1 - share) * all_.get(name, 0.0) for name in names}


def _checked(argument: str, weights: Mapping[str, float]) -> dict[str, float]:
    if not isinstance(weights, Mapping) or not checks.texts(argument, weights):
        raise InvalidArgument(argument, weights, "a mapping of at least one column to its weight")
    values = checks.weights(argument, list(weights.values()), len(weights))
    return dict(zip(weights, values.tolist(), strict=True))
