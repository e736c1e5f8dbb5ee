r"""Agreement of several recalls of one query, as confidence in the answer.

The query is repeated in other words, or without one of the legs. Hits that stay rest on more than an
accident of wording (self-consistency: Wang et al., ICLR 2023; for retrieval, robustness to query variants:
Bailey et al., SIGIR 2017). Two rankings are compared by rank-biased overlap (Webber, Moffat & Zobel, *ACM
TOIS* 28(4), 2010), which weighs the top most: it compares what both have up to each depth.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, islice
from typing import Any, Final

import numpy as np

from memorata._frozen import frozen
from memorata.engine.recall.query import Request
from memorata.engine.recall.recaller import Recaller
from memorata.engine.recall.result import MissedThreshold, RecallResult, Rejected
from memorata.model import checks
from memorata.model.checks import FloatArray
from memorata.model.errors import InvalidArgument

_MIN_WORDS: Final = 3
"""A query of fewer words loses its sense with one of them."""


@frozen(eq=False)
class Agreement:
    """How far several rankings agree.

    - `confidence`: the mean over all pairs of rankings, from 0 to 1.
    - `pairs`: the overlap of each ranking with each.
    - `support`: by item, the share of the rankings that have it among their first `depth`; most support
      first, then in the order they come.
    - `samples`: the query variant of each ranking, in words.
    - `refused`: why nothing is shown; empty where something is.
    """

    confidence: float
    pairs: FloatArray
    support: Mapping[str, float]
    samples: tuple[str, ...] = ()
    refused: str = ""


def agreement(rankings: Sequence[Sequence[str]], *, depth: int = 10, persistence: float = 0.9) -> Agreement:
    """Return how far several rankings of the same query agree."""
    if isinstance(rankings, str) or not isinstance(rankings, Sequence) or len(rankings) < 2:
        raise InvalidArgument("rankings", rankings, "at least two rankings")
    places = checks.whole("depth", depth, 1)
    tops = [_ranking(f"rankings[{place}]", ranking)[:places] for place, ranking in enumerate(rankings)]
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
        support={item: support[item] / count for item in sorted(support, key=lambda item: -support[item])},
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
    left, right = _ranking("first", first), _ranking("second", second)
    chance = checks.within("persistence", persistence, 0, 1)
    if chance in (0, 1):
        raise InvalidArgument("persistence", persistence, "a number above 0 and below 1")
    length = max(len(left), len(right))
    if not length:
        return 1.0
    place = {item: depth for depth, item in enumerate(right)}
    # An item is common from the deeper of its two places on.
    meets = [max(depth, place[item]) for depth, item in enumerate(left) if item in place]
    common = np.cumsum(np.bincount(np.array(meets, np.intp), minlength=length))
    depths = np.arange(1, length + 1)
    sizes = np.minimum(depths, len(left)) + np.minimum(depths, len(right))
    weights = chance ** np.arange(length)
    return float((weights * (2 * common / sizes)).sum() / weights.sum())


def _ranking(argument: str, ranking: Sequence[str]) -> tuple[str, ...]:
    ids = checks.texts(argument, ranking)
    if len(set(ids)) < len(ids):
        raise InvalidArgument(argument, ids, "a ranking with each item once")
    return ids


def agreed(
    recaller: Recaller, request: Request, result: RecallResult, variants: Sequence[str] = ()
) -> RecallResult:
    """Repeat a recall in other ways, and return a result that says how far the rankings agree.

    The other ways are `variants` of the query, then as many as the recipe's `samples`: each leg alone, then
    the query without one of its words, longest first. Below `least_agreement` nothing is shown, and no hit
    that fewer than `least_support` of the samples found.
    """
    recipe = request.recipe
    samples = [("as asked", result)]
    for label, variant_request in [
        *((f"as {variant!r}", replace(request, text=variant, vector=None)) for variant in variants),
        *islice(_perturbed(recaller, request), recipe.samples),
    ]:
        samples.append((label, recaller.answer(replace(variant_request, id=""))))
    if len(samples) < 2:
        note = f"recipe {recipe.name!r} compares several answers, and this query can be asked in one way only"
        return replace(result, degraded=(*result.degraded, note))
    rankings = [[hit.memory.id for hit in sample] for _, sample in samples]
    # A recall of sessions limits sessions, each of which has several hits.
    overlap = agreement(rankings, depth=max(1, *map(len, rankings)))
    overlap = replace(overlap, samples=tuple(label for label, _ in samples))
    if overlap.confidence < recipe.least_agreement:
        missed = MissedThreshold("agreement", overlap.confidence, recipe.least_agreement)
        overlap = replace(overlap, refused=str(missed))
        return _filtered(result, frozenset(), missed, overlap)
    least = recipe.least_support
    kept = frozenset(hit.memory.id for hit in result if overlap.support[hit.memory.id] >= least)
    best = next((hit for hit in result if hit.memory.id not in kept), None)
    share = 0.0 if best is None else overlap.support[best.memory.id]
    return _filtered(result, kept, MissedThreshold("support", share, least), overlap)


def _perturbed(recaller: Recaller, request: Request) -> Iterator[tuple[str, Request]]:
    """Yield other requests with the same meaning."""
    recipe = request.recipe
    if recipe.vector_pool and recipe.lexical_pool and recaller.meaning.embedder is not None:
        for label, leg in (("vector leg alone", "lexical_pool"), ("lexical leg alone", "vector_pool")):
            alone: dict[str, Any] = {leg: 0}
            yield label, replace(request, recipe=replace(recipe, **alone))
    words = request.text.split()
    longest = sorted(range(len(words)), key=lambda place: -len(words[place]))
    for place in longest[: len(words) - 1] if len(words) >= _MIN_WORDS else ():
        shorter = " ".join(words[:place] + words[place + 1 :])
        yield f"without {words[place]!r}", replace(request, text=shorter, vector=None)


def _filtered(
    result: RecallResult, kept: frozenset[str], missed: MissedThreshold, overlap: Agreement
) -> RecallResult:
    """Return a result with the kept hits only; the best of the others becomes `rejected`."""
    hits = tuple(hit for hit in result if hit.memory.id in kept)
    rejected = next(
        (Rejected(hit, (missed,)) for hit in result if hit.memory.id not in kept), result.rejected
    )
    sessions = [
        replace(session, hits=tuple(hit for hit in session.hits if hit.memory.id in kept))
        for session in result.sessions
    ]
    if result.trace is not None:
        shown = zip(result.trace.shown, result.hits, strict=True)
        result.trace.seen([position for position, hit in shown if hit.memory.id in kept])
    return replace(
        result,
        hits=hits,
        refused=(
            *(replace(hit, refused=True) for hit in result if hit.memory.id not in kept),
            *result.refused,
        ),
        sessions=tuple(session for session in sessions if session.hits),
        rejected=rejected,
        agreement=overlap,
    )
