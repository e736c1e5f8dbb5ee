"""What the record of a candidate says for it beside its relevance: its quality, its session, its neighbours.

Quality is how good a memory is in itself, whatever the query: salience, confidence and use (memini's quality
prior). Short-lived tiers fade with age, the slower the more they were used.

A conversation has a topic: where several turns match a query somewhat, the turn that answers it is more
likely there than in a conversation with one lucky word. The mean of the best few is the classic way to score
a document by its passages (Callan, "Passage-level evidence in document retrieval", SIGIR 1994).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from memorata.model import checks
from memorata.model.checks import BoolArray, FloatArray, IntArray, Numbers
from memorata.model.errors import InvalidArgument
from memorata.rank.bm25 import REACH

SESSION_BEST: Final = 3
"""How many memories stand for their session."""
NEIGHBOUR_FADE: Final = 0.8
"""What the score of the next but one counts of what it would beside a turn."""
NEW_SESSIONS: Final = 30
"""So many sessions later one is half as new."""
SESSION_FADE: Final = 0.5
"""What each of them counts of the one before it, where sessions are ranked."""

TIER_SALIENCE: Mapping[str, float] = MappingProxyType(
    {"working": 0.30, "episodic": 0.55, "semantic": 0.90, "procedural": 0.95}
)
SHORT_LIVED = frozenset({"working", "episodic"})

_FADING_DAYS = 7.0
_SALIENCES = np.array(list(TIER_SALIENCE.values()))
_FADES = np.array([tier in SHORT_LIVED for tier in TIER_SALIENCE])


Tiers: TypeAlias = Sequence[str] | npt.NDArray[np.integer[Any]]
"""One tier per memory: by name, or as an array of positions in :data:`TIER_SALIENCE`, as indexes keep it."""


def salience(tiers: Tiers, importance: Numbers) -> FloatArray:
    """Return ``tier · (0.5 + 0.5 · importance)``.

    Parameters
    ----------
    tiers
        One of working (0.30), episodic (0.55), semantic (0.90) and procedural (0.95) per memory, by name or,
        in an integer array, by position in this order.
    importance
        One number from 0 to 1 per memory.

    Examples
    --------
    >>> salience(["semantic", "working"], [1.0, 0.0])
    array([0.9 , 0.15])
    """
    numbers, weight = _numbers(tiers), checks.probabilities("importance", importance)
    checks.same_length(tiers=numbers, importance=weight)
    return _SALIENCES[numbers] * (0.5 + 0.5 * weight)


def usage(accesses: Numbers) -> FloatArray:
    """Return ``1 + ln(1 + accesses)``.

    Examples
    --------
    >>> usage([0, 1]).round(4)
    array([1.    , 1.6931])
    """
    return 1.0 + np.log1p(checks.counts("accesses", accesses))


def quality(
    tiers: Tiers,
    importance: Numbers,
    confidence: Numbers,
    accesses: Numbers,
    age_days: Numbers,
) -> FloatArray:
    """Return ``salience · confidence · usage``, faded by age for short-lived tiers, the best scaled to 1.

    The fading of working and episodic memories is ``exp(-age / (7 d · (1 + ln(1 + accesses))))``. A set in
    which nothing has any quality stays at 0.

    Parameters
    ----------
    tiers, importance
        As for :func:`salience`.
    confidence
        One number from 0 to 1 per memory.
    accesses
        How often each memory was used.
    age_days
        How old each is, in days; not negative.

    Examples
    --------
    >>> quality(["semantic", "episodic"], [0.5, 0.5], [1.0, 1.0], [0, 0], [0.0, 7.0]).round(4)
    array([1.    , 0.2248])
    """
    numbers, weight = _numbers(tiers), checks.probabilities("importance", importance)
    confident, used = checks.probabilities("confidence", confidence), checks.counts("accesses", accesses)
    age = checks.counts("age_days", age_days)
    checks.same_length(tiers=numbers, importance=weight, confidence=confident, accesses=used, age_days=age)
    return record_quality(numbers, weight, confident, used, age)


def record_quality(
    tiers: IntArray,
    importance: FloatArray,
    confidence: FloatArray,
    accesses: FloatArray,
    age_days: FloatArray,
) -> FloatArray:
    """Return :func:`quality` of values that are known to be good, as records have them."""
    used = 1.0 + np.log1p(accesses)
    raw: FloatArray = _SALIENCES[tiers] * (0.5 + 0.5 * importance) * confidence * used
    fades = _FADES[tiers]
    if fades.any():
        raw *= np.where(fades, np.exp(-age_days / (_FADING_DAYS * used)), 1.0)
    best = raw.max(initial=0.0)
    return raw / best if best > 0 else raw


def _numbers(tiers: Tiers) -> IntArray:
    """Return each tier's position in :data:`TIER_SALIENCE`."""
    if isinstance(tiers, np.ndarray) and tiers.dtype.kind in "iu" and tiers.ndim == 1:
        if tiers.size and not 0 <= tiers.min() <= tiers.max() < len(TIER_SALIENCE):
            raise InvalidArgument("tiers", tiers, f"positions from 0 to {len(TIER_SALIENCE) - 1}")
        return tiers.astype(np.intp)
    names = {name: position for position, name in enumerate(TIER_SALIENCE)}
    labels = checks.texts("tiers", tiers)
    positions = (names[checks.one_of(f"tiers[{row}]", tier, tuple(names))] for row, tier in enumerate(labels))
    return np.fromiter(positions, np.intp, len(labels))


def session_means(sessions: IntArray, scores: FloatArray, best: int = SESSION_BEST) -> FloatArray:
    """Return for each memory the sum of the best scores of its session, divided by `best`.

    A session with fewer memories has zeros in place of those it lacks, so that one good turn does not weigh
    as much as three. A memory of no session (a number below 0) is a session of its own.

    >>> session_means(np.array([7, 7, 8, -1]), np.array([0.9, 0.3, 0.6, 0.6]))
    array([0.4, 0.4, 0.2, 0.2])
    """
    if not (sessions >= 0).any():
        return scores / best
    order, starts, rank, group = _by_session(sessions, scores)
    sums = np.add.reduceat(np.where(rank < best, scores[order], 0.0), starts)
    result = np.empty(scores.size)
    result[order] = (sums / best)[group]
    return result


def talks(sessions: IntArray, spoken: BoolArray) -> BoolArray:
    """Return which memories are of sessions that people talk in: those in which any of these is spoken.

    What is in no session (a number below 0) is taken as spoken.

    >>> talks(np.array([7, 7, 8, -1]), np.array([True, False, False, False]))
    array([ True,  True, False,  True])
    """
    among = spoken | (sessions < 0)
    return among if among.all() else among | np.isin(sessions, sessions[spoken & (sessions >= 0)])


def neighbour_leads(sessions: IntArray, positions: IntArray, scores: FloatArray) -> FloatArray:
    """Return how far the best neighbour of each memory stands above it, 0 if none does.

    Neighbours are at most two turns away in the same session; of one two turns away 0.8 of the score counts.
    What has no session or no position (a number below 0) has none.

    >>> neighbour_leads(np.array([7, 7, 8]), np.array([3, 5, 4]), np.array([0.2, 1.0, 0.9])).round(2)
    array([0.6, 0. , 0. ])
    """
    placed = (sessions >= 0) & (positions >= 0)
    if not placed.any():
        return np.zeros(scores.size)
    # One number tells session and position, and those that have none are far from each other.
    places = np.where(
        placed, (sessions.astype(np.int64) << 32) + positions, -10 * np.arange(1, scores.size + 1)
    )
    order = places.argsort(kind="stable")
    place, score = places[order], scores[order]
    best = np.zeros(scores.size)
    for step in range(1, REACH + 1):
        gaps = place[step:] - place[:-step]
        weights = (gaps == 1) + NEIGHBOUR_FADE * (gaps == REACH)
        np.maximum(best[step:], weights * score[:-step], out=best[step:])
        np.maximum(best[:-step], weights * score[step:], out=best[:-step])
    leads = np.empty(scores.size)
    leads[order] = np.maximum(best - score, 0.0)
    return leads


def newness(sessions: IntArray, share: float) -> FloatArray:
    """Return what is left of 1 for each of some numbered sessions: old ones lose `share`, the newest nothing.

    Half of it is lost thirty sessions before the newest. What is in no session (a number below 0) is new.

    >>> newness(np.array([40, 10, -1]), 0.5)
    array([1.  , 0.75, 1.  ])
    """
    new = np.where(sessions < 0, 1.0, np.exp2((sessions - sessions.max(initial=0)) / NEW_SESSIONS))
    return 1.0 - share * (1.0 - new)


def best_sessions(
    sessions: npt.ArrayLike,
    scores: Numbers,
    limit: int,
    *,
    best: int = SESSION_BEST,
    fade: float = SESSION_FADE,
) -> list[tuple[float, IntArray]]:
    """Return the best sessions: the score of each, and the positions of the memories that stand for it.

    A session's score is ``Σ fade^i · s_i / Σ fade^i`` over its best scores ``s_0 ≥ s_1 ≥ …``, zeros standing
    in for those it lacks: the best counts most, for an answer may take one line of each of several
    conversations. Equal ones go by their best memory's position. A fade of 1 is the mean, 0 the best alone.

    >>> ranked = best_sessions([7, 8, 7, -1], [0.7, 0.9, 0.7, 0.5], 2)
    >>> [(round(score, 2), positions.tolist()) for score, positions in ranked]
    [(0.6, [0, 2]), (0.51, [1])]
    """
    score = checks.counts("scores", scores)
    number = np.asarray(sessions)
    if number.shape != score.shape or not np.issubdtype(number.dtype, np.integer):
        raise InvalidArgument("sessions", sessions, f"{score.size} whole numbers, one for each score")
    few = checks.whole("best", best, 1)
    count = checks.whole("limit", limit)
    worth = checks.probability("fade", fade) ** np.arange(few)
    worth /= worth.sum()
    if not score.size or not count:
        return []
    order, starts, rank, _ = _by_session(number.astype(np.intp, copy=False), score)
    counted = np.where(rank < few, score[order] * worth[np.minimum(rank, few - 1)], 0.0)
    sums = np.add.reduceat(counted, starts)
    ends = np.append(starts[1:], order.size)
    ranking = np.lexsort((order[starts], -sums))[:count]
    return [
        (float(sums[group]), order[starts[group] : min(ends[group], starts[group] + few)])
        for group in ranking.tolist()
    ]


def _by_session(sessions: IntArray, scores: FloatArray) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Return an order by session, best first in each; where each begins; in that order, ranks and groups."""
    count = np.arange(scores.size)
    # A memory of no session gets a number of its own.
    own = np.where(sessions < 0, -1 - count, sessions)
    order = np.lexsort((-scores, own))
    ordered = own[order]
    new = np.ones(scores.size, np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    starts, group = new.nonzero()[0], new.cumsum() - 1
    return order, starts, count - starts[group], group
