"""What the best memories of a session say for the whole of it.

A conversation has a topic: where several turns answer a question somewhat, the turn that answers it is more
likely there than in a conversation with one lucky word. The mean of the best few is the classic way to score
a document by its passages (Callan, "Passage-level evidence in document retrieval", SIGIR 1994).
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from memorata.model import checks
from memorata.model.checks import FloatArray, IntArray, Numbers
from memorata.model.errors import InvalidArgument

BEST: Final = 3
"""How many memories speak for their session."""
FADE: Final = 0.5
"""What each of them counts of the one before it, where sessions are ranked."""


def session_means(sessions: npt.ArrayLike, scores: Numbers, *, best: int = BEST) -> FloatArray:
    """Return for each memory the sum of the best scores of its session, divided by `best`.

    A session with fewer memories has zeros in place of those it lacks, so that one good turn does not weigh
    as much as three. A memory of no session is a session of its own.

    Parameters
    ----------
    sessions
        The number of each memory's session; below 0 for none.
    scores
        Their scores, at least 0.
    best
        How many memories speak for a session.

    Examples
    --------
    >>> session_means([7, 7, 8, -1], [0.9, 0.3, 0.6, 0.6])
    array([0.4, 0.4, 0.2, 0.2])
    """
    score, number = _checked(sessions, scores)
    return means(number, score, checks.whole("best", best, 1))


def means(sessions: IntArray, scores: FloatArray, best: int = BEST) -> FloatArray:
    """Do the work of :func:`session_means` on values that are known to be good."""
    if not (sessions >= 0).any():
        return scores / best
    order, starts, rank, group = _by_session(sessions, scores)
    sums = np.add.reduceat(np.where(rank < best, scores[order], 0.0), starts)
    result = np.empty(scores.size)
    result[order] = (sums / best)[group]
    return result


def best_sessions(
    sessions: npt.ArrayLike, scores: Numbers, limit: int, *, best: int = BEST, fade: float = FADE
) -> list[tuple[float, IntArray]]:
    """Return the best sessions: the score of each, and the positions of the memories that speak for it.

    A session's score is ``Σ fade^i · s_i / Σ fade^i`` over its best scores ``s_0 ≥ s_1 ≥ …``, zeros standing
    in for those it lacks: what is said best counts most, for an answer may take one line of each of several
    conversations. Equal ones go by their best memory's position.

    Parameters
    ----------
    sessions, scores, best
        As for :func:`session_means`.
    limit
        How many sessions to return.
    fade
        What each memory counts of the one before it; 1 is the mean, 0 the best alone.

    Examples
    --------
    >>> found = best_sessions([7, 8, 7, -1], [0.7, 0.9, 0.7, 0.5], 2)
    >>> [(round(score, 2), who.tolist()) for score, who in found]
    [(0.6, [0, 2]), (0.51, [1])]
    """
    score, number = _checked(sessions, scores)
    few = checks.whole("best", best, 1)
    count = checks.whole("limit", limit)
    worth = checks.probability("fade", fade) ** np.arange(few)
    worth /= worth.sum()
    if not score.size or not count:
        return []
    order, starts, rank, _ = _by_session(number, score)
    counted = np.where(rank < few, score[order] * worth[np.minimum(rank, few - 1)], 0.0)
    sums = np.add.reduceat(counted, starts)
    ends = np.append(starts[1:], order.size)
    ranking = np.lexsort((order[starts], -sums))[:count]
    return [
        (float(sums[group]), order[starts[group] : min(ends[group], starts[group] + few)])
        for group in ranking.tolist()
    ]


def _checked(sessions: npt.ArrayLike, scores: Numbers) -> tuple[FloatArray, IntArray]:
    score = checks.counts("scores", scores)
    number = np.asarray(sessions)
    if number.shape != score.shape or not np.issubdtype(number.dtype, np.integer):
        raise InvalidArgument("sessions", sessions, f"{score.size} whole numbers, one for each score")
    return score, number.astype(np.intp, copy=False)


def _by_session(sessions: IntArray, scores: FloatArray) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Return an order by session, best first in each; where each begins; in that order, ranks and groups."""
    count = np.arange(scores.size)
    # A memory of no session gets a number that nobody else has.
    own = np.where(sessions < 0, -1 - count, sessions)
    order = np.lexsort((-scores, own))
    ordered = own[order]
    new = np.ones(scores.size, np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    starts, group = new.nonzero()[0], new.cumsum() - 1
    return order, starts, count - starts[group], group
