"""Weights of a namespace's own, switched on only where they win.

A namespace with enough feedback may be served better by other weights than all the others. Its own best ones
are drawn towards those of all (:func:`~memorata.learn.adaptive.shrunken`) and what comes of it is judged
like any other setting: on questions that were held out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memorata.learn.adaptive import STRENGTH, AdaptiveWeights, Learnt, Strength, shrunken
from memorata.learn.folds import grouped_folds
from memorata.learn.grid import Weighting, search_grid, weight_grid
from memorata.learn.judged import Judged
from memorata.learn.verdict import LEAST_GROUPS, Verdict, judge
from memorata.model import checks
from memorata.model.errors import InvalidArgument, NotEnoughData


def tune_namespace(
    judged: Judged,
    everywhere: Weighting,
    settings: Sequence[Weighting] | None = None,
    *,
    strength: Strength = STRENGTH,
    k: int = 10,
    folds: int = 5,
    seed: int = 0,
    level: float = 0.95,
    least: int = LEAST_GROUPS,
) -> tuple[Learnt, Verdict]:
    """Look for weights of one namespace, and say whether they beat those of all on held-out questions.

    Parameters
    ----------
    judged
        The questions of this namespace.
    everywhere
        The weights of all, which it uses now.
    settings
        What to try; by default every weighting of the columns in tenths.
    strength
        How strongly its own are drawn towards those of all.
    k, folds, seed, level, least
        As for :func:`~memorata.learn.grid.tune_weights`.

    Returns
    -------
    tuple
        What the namespace's own feedback says, to be kept if accepted; and the verdict, whose setting is that
        drawn towards all.

    Raises
    ------
    NotEnoughData
        There are too few groups of questions; the message says how many more it takes.

    Examples
    --------
    >>> from memorata.learn.simulation import simulated_log
    >>> log = simulated_log(60, best=0.3, seed=1)
    >>> learnt, verdict = tune_namespace(Judged.of(log.recalls, log.gains), {"meaning": 0.9, "words": 0.1})
    >>> learnt.questions, dict(learnt.weights), verdict.accepted, round(verdict.setting["meaning"], 3)
    (60, {'meaning': 0.2, 'words': 0.8}, True, 0.518)
    """
    found, needed = len(set(judged.groups)), checks.whole("least", least, 2)
    if found < needed:
        raise NotEnoughData("groups of questions with a relevant result", found, needed)
    tried = weight_grid(judged.names) if settings is None else settings
    scores = search_grid(judged, [everywhere, *tried], k=k)
    divided = grouped_folds(judged.groups, count=folds, seed=seed)
    chosen = [
        shrunken(scores.settings[scores.best(fold.learnt)], fold.learnt.size, everywhere, strength=strength)
        for fold in divided
    ]
    count, pick = len(judged.questions), scores.best()
    drawn = [shrunken(each, count, everywhere, strength=strength) for each in scores.settings]
    verdict = judge(
        drawn[pick],
        chosen,
        [judged.ndcg(each, k=k) for each in chosen],
        scores.values[0],
        divided,
        judged.groups,
        tried=search_grid(judged, drawn, k=k).values,
        picked=pick,
        seed=seed,
        level=level,
        least=least,
    )
    return Learnt(scores.settings[pick], count), verdict


def adapted(
    everywhere: Weighting, namespaces: Mapping[str, Judged], *, strength: Strength = STRENGTH, seed: int = 0
) -> tuple[AdaptiveWeights, Mapping[str, Verdict | NotEnoughData]]:
    """Tune every namespace that has enough feedback, and switch on those that win.

    Parameters
    ----------
    everywhere
        The weights of all.
    namespaces
        By namespace, its questions.
    strength, seed
        As for :func:`tune_namespace`.

    Returns
    -------
    tuple
        The weights, and by namespace the verdict, or how much is missing for one.

    Examples
    --------
    >>> weights, verdicts = adapted({"meaning": 0.4, "words": 0.6}, {"acme": Judged.of([], {})})
    >>> dict(weights.of("acme")), str(verdicts["acme"])[:43]
    ({'meaning': 0.4, 'words': 0.6}, '0 groups of questions with a relevant resul')
    """
    if not isinstance(namespaces, Mapping):
        raise InvalidArgument("namespaces", namespaces, "a mapping of namespaces to their questions")
    winning: dict[str, Learnt] = {}
    verdicts: dict[str, Verdict | NotEnoughData] = {}
    for name, judged in namespaces.items():
        try:
            learnt, verdict = tune_namespace(judged, everywhere, strength=strength, seed=seed)
        except NotEnoughData as missing:
            # One quiet namespace must not keep the others from learning; what it lacks is reported.
            verdicts[name] = missing
        else:
            verdicts[name] = verdict
            if verdict.accepted:
                winning[name] = learnt
    return AdaptiveWeights(everywhere, winning, strength), verdicts
