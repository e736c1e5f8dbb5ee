r"""Agreement of several recalls of one query, as confidence in the answer.

Ask the same thing in other words, or without one of the legs. Where the results stay, they rest on more than
an accident of wording (self-consistency: Wang et al., ICLR 2023; for retrieval, robustness to query variants:
Bailey et al., SIGIR 2017). Two rankings are compared by rank-biased overlap (Webber, Moffat & Zobel, *ACM
TOIS* 28(4), 2010), which looks most at the top: at each depth, what do both have so far?
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from memorata._frozen import frozen
from memorata.engine import Engine, RecallResult
from memorata.model import checks
from memorata.model.checks import FloatArray
from memorata.model.errors import InvalidArgument


@frozen(eq=False)
class Agreement:
    """How far several rankings agree.

    - `confidence`: the mean over all pairs of rankings, from 0 to 1.
    - `pairs`: the overlap of each ranking with each.
    - `support`: by item, the share of the rankings that have it among their first `depth`; most support
      first, then in the order they come.
    """

    confidence: float
    pairs: FloatArray
    support: Mapping[str, float]


def agreement(rankings: Sequence[Sequence[str]], *, depth: int = 10, persistence: float = 0.9) -> Agreement:
    """Return how far several rankings of the same question agree."""
    if isinstance(rankings, str) or not isinstance(rankings, Sequence) or len(rankings) < 2:
        raise InvalidArgument("rankings", rankings, "at least two rankings")
    places = checks.whole("depth", depth, 1)
    tops = [_ranking(f"rankings[{place}]", each)[:places] for place, each in enumerate(rankings)]
    pairs = np.eye(len(tops))
    for first, second in combinations(range(len(tops)), 2):
        shared = rank_biased_overlap(tops[first], tops[second], persistence=persistence)
        pairs[first, second] = pairs[second, first] = shared
    count = len(tops)
    support: dict[str, int] = {}
    for top in tops:
        for item in top:
            support[item] = support.get(item, 0) + 1
    return Agreement(
        confidence=float((pairs.sum() - count) / (count * (count - 1))),
        pairs=pairs,
        support={item: support[item] / count for item in sorted(support, key=lambda each: -support[each])},
    )


def rank_biased_overlap(first: Sequence[str], second: Sequence[str], *, persistence: float = 0.9) -> float:
    r"""Return how far two rankings agree, from 0 (nothing in common) to 1 (the same), the top counting most.

    .. math:: \frac{\sum_{d=1}^{D} p^{d-1} A_d}{\sum_{d=1}^{D} p^{d-1}}, \quad
        A_d = \frac{2\,|S_d \cap T_d|}{|S_d| + |T_d|}

    where :math:`S_d` and :math:`T_d` are the first :math:`d` items of each (all of them, where there are
    fewer) and :math:`D` is the length of the longer. Webber's measure goes on for ever; this one stops where
    there is nothing more to see and divides by what it could have reached. Two empty rankings agree.

    - `first`, `second`: rankings, each item once.
    - `persistence`: :math:`p`, above 0 and below 1: the chance that a reader goes on to the next item.

    >>> rank_biased_overlap(["a", "b"], ["a", "b"]), rank_biased_overlap(["a"], ["b"])
    (1.0, 0.0)
    >>> round(rank_biased_overlap(["a", "b"], ["b", "a"], persistence=0.5), 4)  # (0 + 0.5 · 1) / 1.5
    0.3333
    """
    one, other = _ranking("first", first), _ranking("second", second)
    chance = checks.within("persistence", persistence, 0, 1)
    if chance in (0, 1):
        raise InvalidArgument("persistence", persistence, "a number above 0 and below 1")
    length = max(len(one), len(other))
    if not length:
        return 1.0
    place = {item: depth for depth, item in enumerate(other)}
    # An item is common from the deeper of its two places on.
    meets = [max(depth, place[item]) for depth, item in enumerate(one) if item in place]
    common = np.cumsum(np.bincount(np.array(meets, np.intp), minlength=length))
    depths = np.arange(1, length + 1)
    sizes = np.minimum(depths, len(one)) + np.minimum(depths, len(other))
    weights = chance ** np.arange(length)
    return float((weights * (2 * common / sizes)).sum() / weights.sum())


def _ranking(argument: str, ranking: Sequence[str]) -> tuple[str, ...]:
    ids = checks.texts(argument, ranking)
    if len(set(ids)) < len(ids):
        raise InvalidArgument(argument, ids, "a ranking with each item once")
    return ids


@frozen
class ConfidentRecall:
    """An answer, and how far others agree with it."""

    recall: RecallResult
    agreement: Agreement
    samples: tuple[str, ...]
    refused: str = ""


def confident_recall(
    engine: Engine,
    text: str,
    *,
    variants: Sequence[str] = (),
    require: float = 0.0,
    support: float = 0.0,
    limit: int = 10,
    **options: Any,  # noqa: ANN401 - those of Engine.recall
) -> ConfidentRecall:
    """Recall, and say how sure one may be.

    - `engine`: whose memories.
    - `text`: the question.
    - `variants`: the same question in other words; the vector leg and the lexical leg are also asked alone.
    - `require`: the least agreement, from 0 to 1; with less, nothing is shown.
    - `support`: the least share of the samples that must have found a hit for it to be shown.
    - `limit`, `**options`: as for :meth:`~memorata.Engine.recall`.
    """
    least, share = checks.probability("require", require), checks.probability("support", support)
    others = checks.texts("variants", variants)
    recipe = engine.recipes.get(options.pop("recipe", None), namespace=options.get("namespace"))
    recipe = recipe.changed(options.pop("changes", None) or {})
    result = engine.recall(text, limit=limit, recipe=recipe, **options)
    samples = [("as asked", result)]
    with engine.recall_log.aside():
        samples += [
            (f"as {other!r}", engine.recall(other, limit=limit, recipe=recipe, **options)) for other in others
        ]
        if recipe.vector_pool and recipe.lexical_pool and engine.embedder is not None:
            for label, leg in (("vector leg alone", "lexical_pool"), ("lexical leg alone", "vector_pool")):
                alone = recipe.changed({leg: 0})
                samples.append((label, engine.recall(text, limit=limit, recipe=alone, **options)))
    if len(samples) < 2:
        raise InvalidArgument(
            "variants", list(others), "at least one, where a recipe has one leg or there is no embedder"
        )
    rankings = [[hit.memory.id for hit in each] for _, each in samples]
    # Of sessions the limit counts those, and each has several hits.
    agreed = agreement(rankings, depth=max(1, *map(len, rankings)))
    names = tuple(label for label, _ in samples)
    if agreed.confidence < least:
        refused = f"the answers agree to {agreed.confidence:.2f}, below {least:.2f}"
        return ConfidentRecall(replace(result, hits=(), sessions=()), agreed, names, refused)
    kept = tuple(hit for hit in result if agreed.support[hit.memory.id] >= share)
    sessions = [
        replace(each, hits=tuple(hit for hit in each.hits if agreed.support[hit.memory.id] >= share))
        for each in result.sessions
    ]
    shown = tuple(each for each in sessions if each.hits)
    return ConfidentRecall(replace(result, hits=kept, sessions=shown), agreed, names)
