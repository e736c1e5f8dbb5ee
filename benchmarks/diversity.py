"""MMR against pyversity and against the loops of the definition; group coverage against its loops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
from pyversity import Metric
from pyversity import mmr as pyversity_mmr

from benchmarks.timing import Rival, Subject
from memorata.rank import group_coverage, mmr

_DIMENSION = 384
_TRADE = 0.7
_MOST_BY_LOOPS = 1_000


def subjects(size: int) -> Iterator[Subject]:
    """Yield the selection of 10 and of 50 from `size` vectors, and the spreading of sessions."""
    chance = np.random.default_rng(size)
    # Pyversity takes negative cosines for 0 and relevance as it is. Vectors without negative components and
    # relevance from 0 to 1 are where its rule and ours are the same.
    vectors = chance.random((size, _DIMENSION), np.float32)
    relevance = chance.random(size)
    relevance = (relevance - relevance.min()) / (relevance.max() - relevance.min())
    for limit in (10, 50):
        rivals = [
            Rival(
                "pyversity",
                partial(
                    pyversity_mmr, vectors, relevance, k=limit, diversity=1 - _TRADE, metric=Metric.COSINE
                ),
                lambda result: result.indices,
                is_library=True,
            )
        ]
        if limit == 10 and size <= _MOST_BY_LOOPS:
            loops = partial(mmr_by_hand, relevance.tolist(), vectors.tolist(), limit)
            rivals.append(Rival("loops", loops, np.asarray))
        yield Subject(
            f"mmr, {limit} of float32 384-d",
            partial(mmr, relevance, vectors, trade=_TRADE, limit=limit),
            np.asarray,
            rivals,
        )
    sessions = [f"session-{number}" for number in chance.integers(0, max(2, size // 20), size)]
    yield Subject(
        "group_coverage, 2 in the first 10",
        partial(group_coverage, sessions, per_group=2, within=10),
        np.asarray,
        [Rival("loops", partial(coverage_by_hand, sessions, 2, 10), np.asarray)],
    )


def mmr_by_hand(relevance: Sequence[float], vectors: Sequence[Sequence[float]], limit: int) -> list[int]:
    unit = []
    for vector in vectors:
        length = sum(x * x for x in vector) ** 0.5
        unit.append([x / length for x in vector])
    left = list(range(len(relevance)))
    nearest = [0.0] * len(left)
    chosen: list[int] = []
    while left and len(chosen) < limit:
        best = max(left, key=lambda item: _TRADE * relevance[item] - (1 - _TRADE) * nearest[item])
        chosen.append(best)
        left.remove(best)
        for item in left:
            cosine = sum(x * y for x, y in zip(unit[item], unit[best], strict=True))
            nearest[item] = max(nearest[item], cosine)
    return chosen


def coverage_by_hand(groups: Sequence[str], per_group: int, within: int) -> list[int]:
    first: list[int] = []
    behind: list[int] = []
    seen: dict[str, int] = {}
    for item, group in enumerate(groups):
        if len(first) < within and seen.get(group, 0) < per_group:
            first.append(item)
            seen[group] = seen.get(group, 0) + 1
        else:
            behind.append(item)
    return first + behind
