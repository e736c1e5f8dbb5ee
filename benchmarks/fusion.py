"""Fusion against ranx and against the loops that people write by hand.

Ranx fuses typed dictionaries with compiled code, for whole runs of many queries; here it gets one query, as
an agent's memory does, with its Run objects made beforehand and its code compiled. The loops are the usual
ones: a dictionary of scores, then a sort. Ours gets what searchers return: ids and scores as lists or arrays.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from ranx import Run, fuse

from benchmarks.timing import Rival, Subject
from memorata.rank import Fused, Leg, borda, comb_mnz, comb_sum, isr, relative_score_fusion, rrf

Pairs = list[tuple[Any, float]]


def subjects(size: int) -> Iterator[Subject]:
    """Yield every fusion of two legs of `size` items that share about half of them."""
    first, second = _legs(size)
    names = [[f"memory-{row:08d}" for row in leg] for leg in (first, second)]
    scores = [np.sort(np.random.default_rng(seed).random(size))[::-1].copy() for seed in (1, 2)]
    runs = [
        Run({"query": dict(zip(ids, leg.tolist(), strict=True))})
        for ids, leg in zip(names, scores, strict=True)
    ]
    arrays = [np.array(leg) for leg in (first, second)]

    ranx_rrf = Rival("ranx", partial(fuse, runs, norm=None, method="rrf"), _ranx_scores, is_library=True)
    yield _positional("rrf, string ids", rrf, names, None, rrf_by_hand, [ranx_rrf])
    yield _positional("rrf, string ids, first 10", rrf, names, 10, rrf_by_hand, [])
    yield _positional("rrf, integer arrays", rrf, arrays, None, rrf_by_hand, [])
    yield _positional("rrf, integer arrays, first 10", rrf, arrays, 10, rrf_by_hand, [])
    ranx_isr = Rival("ranx", partial(fuse, runs, norm=None, method="isr"), _ranx_scores, is_library=True)
    yield _positional("isr, string ids", isr, names, None, isr_by_hand, [ranx_isr])
    # Ranx shares out the points of items a leg did not find; ours does not, so only the loops are compared.
    yield _positional("borda, string ids", borda, names, None, borda_by_hand, [])

    for name, ours, method, weights, votes_count in (
        ("comb_sum", comb_sum, "sum", (1.0, 1.0), False),
        ("comb_mnz", comb_mnz, "mnz", (1.0, 1.0), True),
        ("relative", relative_score_fusion, "wsum", (0.5, 0.5), False),
    ):
        params = {"weights": list(weights)} if method == "wsum" else None
        ranx = partial(fuse, runs, norm="min-max", method=method, params=params)
        pairs = [list(zip(ids, leg.tolist(), strict=True)) for ids, leg in zip(names, scores, strict=True)]
        yield Subject(
            f"{name}, string ids and scores",
            partial(_scored, ours, names, scores),
            _fused_scores,
            [
                Rival("ranx", ranx, _ranx_scores, is_library=True),
                Rival("hand loops", partial(scores_by_hand, pairs, weights, votes_count), _pair_scores),
            ],
        )


def rrf_by_hand(legs: Sequence[Sequence[Any]], limit: int | None) -> Pairs:
    scores: dict[Any, float] = {}
    for leg in legs:
        for rank, item in enumerate(_listed(leg), 1):
            scores[item] = scores.get(item, 0.0) + 1.0 / (60 + rank)
    return sorted(scores.items(), key=lambda pair: pair[1], reverse=True)[:limit]


def isr_by_hand(legs: Sequence[Sequence[Any]], limit: int | None) -> Pairs:
    scores: dict[Any, float] = {}
    found: dict[Any, int] = {}
    for leg in legs:
        for rank, item in enumerate(_listed(leg), 1):
            scores[item] = scores.get(item, 0.0) + 1.0 / rank**2
            found[item] = found.get(item, 0) + 1
    fused = [(item, found[item] * score) for item, score in scores.items()]
    return sorted(fused, key=lambda pair: pair[1], reverse=True)[:limit]


def borda_by_hand(legs: Sequence[Sequence[Any]], limit: int | None) -> Pairs:
    union = len({item for leg in legs for item in _listed(leg)})
    scores: dict[Any, float] = {}
    for leg in legs:
        for place, item in enumerate(_listed(leg)):
            scores[item] = scores.get(item, 0.0) + union - place
    return sorted(scores.items(), key=lambda pair: pair[1], reverse=True)[:limit]


def scores_by_hand(legs: Sequence[Pairs], weights: Sequence[float], times_found: bool) -> Pairs:
    scores: dict[Any, float] = {}
    found: dict[Any, int] = {}
    for leg, weight in zip(legs, weights, strict=True):
        low, high = min(score for _, score in leg), max(score for _, score in leg)
        for item, score in leg:
            scores[item] = scores.get(item, 0.0) + weight * (score - low) / (high - low)
            if times_found:
                found[item] = found.get(item, 0) + 1
    if times_found:
        scores = {item: found[item] * score for item, score in scores.items()}
    return sorted(scores.items(), key=lambda pair: pair[1], reverse=True)


def _positional(
    name: str,
    ours: Callable[..., Fused[Any]],
    legs: Sequence[Any],
    limit: int | None,
    by_hand: Callable[[Sequence[Any], int | None], Pairs],
    rivals: list[Rival],
) -> Subject:
    loops = Rival("hand loops", partial(by_hand, legs, limit), _pair_scores)
    return Subject(name, partial(ours, legs, limit=limit), _fused_scores, [*rivals, loops])


def _scored(ours: Callable[..., Fused[Any]], ids: Sequence[Any], scores: Sequence[Any]) -> Fused[Any]:
    return ours([Leg(leg, values) for leg, values in zip(ids, scores, strict=True)])


def _legs(size: int) -> tuple[list[int], list[int]]:
    chance = random.Random(size)
    pool = range(size + size // 2)
    return chance.sample(pool, size), chance.sample(pool, size)


def _listed(leg: Sequence[Any] | np.ndarray[Any, Any]) -> Sequence[Any]:
    # Looping over the array itself would hash numpy scalars, which takes half as long again.
    listed: Sequence[Any] = leg.tolist() if isinstance(leg, np.ndarray) else leg
    return listed


def _fused_scores(fused: Fused[Any]) -> list[float]:
    return list(fused.scores.tolist())


def _pair_scores(pairs: Pairs) -> list[float]:
    return [score for _, score in pairs]


def _ranx_scores(run: Any) -> list[float]:  # noqa: ANN401 - ranx has no types
    return list(run.run["query"].values())
