"""Everything else that runs over a pool of candidates, against the plain Python form of its definition.

No library computes these as such. Ours gets numpy arrays, as it does inside a search; the loops get lists.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import numpy as np

from benchmarks.timing import Rival, Run, Subject
from memorata.model import Period
from memorata.model.checks import FloatArray
from memorata.rank import (
    additive,
    best_first,
    composite_multiplicative,
    cosines,
    importance_decay,
    min_max,
    proximity,
    quality,
    rank_based,
    z_score,
)
from memorata_lab.duplicates import near_pairs

_DIMENSION = 384
_DAY = 86_400.0
_TIERS = {"working": 0.30, "episodic": 0.55, "semantic": 0.90, "procedural": 0.95}
_NEAR = 0.92
_MOST_PAIRS = 1_000
"""At 10,000 the double loop would take about eighteen minutes for each run."""
_PERIOD = Period.around(datetime(2026, 5, 7, tzinfo=UTC), timedelta(days=5))


def subjects(size: int) -> Iterator[Subject]:
    """Yield every step that scores, orders or compares `size` candidates."""
    chance = np.random.default_rng(size)
    scores, sure, matters = chance.random((3, size))
    listed = scores.tolist()
    uses = chance.integers(0, 20, size).astype(np.float64)
    ages = chance.random(size) * 100
    numbers = chance.integers(0, 4, size)
    tiers = [list(_TIERS)[number] for number in numbers]
    times = _PERIOD.start.timestamp() + chance.normal(0, 10, size) * _DAY
    vectors = chance.normal(size=(size, _DIMENSION))
    query = chance.normal(size=_DIMENSION)
    unit = vectors / np.linalg.norm(vectors, axis=1)[:, None]
    importance = 1 + 4 * matters

    yield _against_loop("min_max", partial(min_max, scores), partial(min_max_by_hand, listed))
    yield _against_loop("z_score", partial(z_score, scores), partial(z_score_by_hand, listed))
    yield _against_loop("rank_based", partial(rank_based, scores), partial(rank_based_by_hand, listed))
    yield _against_loop("best_first", partial(best_first, scores), partial(best_by_hand, listed))
    yield _against_loop("best_first, 10", partial(best_first, scores, 10), partial(best_ten_by_hand, listed))
    yield _against_loop(
        "cosines, 384-d",
        partial(cosines, vectors, query),
        partial(cosines_by_hand, vectors.tolist(), query.tolist()),
    )
    yield _against_loop(
        "cosines, 384-d, of length 1",
        partial(cosines, unit, unit[0], normalised=True),
        partial(dots_by_hand, unit.tolist(), unit[0].tolist()),
    )
    yield _against_loop(
        "additive",
        partial(additive, scores, sure),
        partial(additive_by_hand, listed, sure.tolist()),
        lambda made: made.scores,
    )
    yield _against_loop(
        "composite_multiplicative",
        partial(composite_multiplicative, scores, sure),
        partial(composite_by_hand, listed, sure.tolist()),
        lambda made: made.scores,
    )
    loop = partial(quality_by_hand, tiers, matters.tolist(), sure.tolist(), uses.tolist(), ages.tolist())
    yield _against_loop("quality, tiers by name", partial(quality, tiers, matters, sure, uses, ages), loop)
    yield _against_loop(
        "quality, tiers by number", partial(quality, numbers, matters, sure, uses, ages), loop
    )
    yield _against_loop(
        "importance_decay",
        partial(importance_decay, ages, importance, uses),
        partial(decay_by_hand, ages.tolist(), importance.tolist(), uses.tolist()),
    )
    yield _against_loop(
        "proximity", partial(proximity, times, _PERIOD), partial(proximity_by_hand, times.tolist())
    )
    if size <= _MOST_PAIRS:
        yield _pairs(vectors, chance)


def min_max_by_hand(scores: Sequence[float]) -> list[float]:
    low, high = min(scores), max(scores)
    return [(score - low) / (high - low) for score in scores] if high > low else [1.0] * len(scores)


def z_score_by_hand(scores: Sequence[float]) -> list[float]:
    mean = sum(scores) / len(scores)
    deviation = math.sqrt(sum((score - mean) ** 2 for score in scores) / len(scores))
    return [(score - mean) / deviation for score in scores] if deviation else [0.0] * len(scores)


def rank_based_by_hand(scores: Sequence[float]) -> list[float]:
    result = [0.0] * len(scores)
    for rank, item in enumerate(best_by_hand(scores)):
        result[item] = 1 - rank / len(scores)
    return result


def best_by_hand(scores: Sequence[float]) -> list[int]:
    return sorted(range(len(scores)), key=scores.__getitem__, reverse=True)


def best_ten_by_hand(scores: Sequence[float]) -> list[int]:
    return heapq.nlargest(10, range(len(scores)), key=scores.__getitem__)


def dots_by_hand(vectors: Sequence[Sequence[float]], query: Sequence[float]) -> list[float]:
    return [sum(x * y for x, y in zip(vector, query, strict=True)) for vector in vectors]


def cosines_by_hand(vectors: Sequence[Sequence[float]], query: Sequence[float]) -> list[float]:
    lengths = [math.sqrt(sum(x * x for x in vector)) for vector in vectors]
    target = math.sqrt(sum(x * x for x in query))
    return [
        dot / (length * target) for dot, length in zip(dots_by_hand(vectors, query), lengths, strict=True)
    ]


def additive_by_hand(similarity: Sequence[float], confidence: Sequence[float]) -> list[float]:
    return [0.65 * similar + 0.35 * sure for similar, sure in zip(similarity, confidence, strict=True)]


def composite_by_hand(relevance: Sequence[float], good: Sequence[float]) -> list[float]:
    best = max(relevance)
    return [related / best * (0.8 + 0.2 * value) for related, value in zip(relevance, good, strict=True)]


def quality_by_hand(
    tiers: Sequence[str],
    importance: Sequence[float],
    confidence: Sequence[float],
    accesses: Sequence[float],
    ages: Sequence[float],
) -> list[float]:
    raw = []
    for tier, matters, sure, uses, age in zip(tiers, importance, confidence, accesses, ages, strict=True):
        used = 1 + math.log1p(uses)
        value = _TIERS[tier] * (0.5 + 0.5 * matters) * sure * used
        raw.append(value * math.exp(-age / (7 * used)) if tier in ("working", "episodic") else value)
    best = max(raw)
    return [value / best for value in raw]


def decay_by_hand(
    distances: Sequence[float], importance: Sequence[float], hits: Sequence[float]
) -> list[float]:
    result = []
    for distance, matters, used in zip(distances, importance, hits, strict=True):
        fading = 0.05 / matters**2 * max(0.5, 1 / (1 + 0.1 * used))
        left = matters * math.exp(-fading * distance)
        result.append(max(left, 1.0) if matters == 5 else left)
    return result


def proximity_by_hand(times: Sequence[float]) -> list[float]:
    start, end = _PERIOD.start.timestamp(), _PERIOD.end.timestamp()
    tolerance = _PERIOD.tolerance.total_seconds()
    result = []
    for at in times:
        away = max(0.0, start - at, at - end)
        result.append(min(1.0, max(0.0, (3 * tolerance - away) / (2 * tolerance))))
    return result


def pairs_by_hand(vectors: Sequence[Sequence[float]]) -> list[list[int]]:
    lengths = [math.sqrt(sum(x * x for x in vector)) for vector in vectors]
    found = []
    for first, left in enumerate(vectors):
        for second in range(first + 1, len(vectors)):
            dot = sum(x * y for x, y in zip(left, vectors[second], strict=True))
            if dot >= _NEAR * lengths[first] * lengths[second]:
                found.append([first, second])
    return found


def _pairs(vectors: FloatArray, chance: np.random.Generator) -> Subject:
    """Return the search for near pairs where every second vector is nearly the one before it."""
    half = vectors[: len(vectors) // 2]
    near = half + 0.1 * chance.normal(size=half.shape)
    both = np.stack([half, near], axis=1).reshape(-1, vectors.shape[1])
    return Subject(
        "near_pairs, 384-d",
        partial(near_pairs, both, _NEAR),
        lambda found: found.positions(),
        [Rival("double loop", partial(pairs_by_hand, both.tolist()), np.asarray)],
    )


def _against_loop(name: str, ours: Run, loop: Run, answer: Callable[[Any], Any] = np.asarray) -> Subject:
    return Subject(name, ours, answer, [Rival("loop", loop, np.asarray)])
