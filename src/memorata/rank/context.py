"""The conversation around a memory: neighbours that are read with it, and the session it belongs to.

"Yes, last summer, with Tom" answers a query whose words stand in the turn before. So each text is scored as a
window: its own terms, and those of its neighbours in the session at a discount. BM25 then saturates over the
whole window (Robertson, Zaragoza & Taylor's BM25F, 2004, with neighbours as the fields), so that a word said
twice in two turns does not count twice. Only terms are read so; the vector of a turn stays its own, since
embedding neighbours together blurs both. The discount grows with the length of a text (a long text speaks for
itself) and with the pause between it and its neighbour.

A conversation also has a topic: where several turns match a query somewhat, the turn that answers it is more
likely there than in a conversation with one lucky word. The mean of the best few is the classic way to score
a document by its passages (Callan, "Passage-level evidence in document retrieval", SIGIR 1994).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Annotated, Any, Final

import numpy as np
import numpy.typing as npt

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.checks import BoolArray, FloatArray, IntArray, Numbers
from memorata.model.errors import InvalidArgument
from memorata.model.parameter import Declared

REACH: Final = 2
"""How many neighbours on either side are read."""
STEPS: Final = (-1, -2, 1, 2)
"""The neighbours in the order every function here takes them: before, the one before that, after, …"""
SESSION_BEST: Final = 3
"""How many memories stand for their session."""
NEIGHBOUR_FADE: Final = 0.8
"""What the score of the next but one counts of what it would beside a turn."""
NEW_SESSIONS: Final = 30
"""So many sessions later one is half as new."""
SESSION_FADE: Final = 0.5
"""What each of them counts of the one before it, where sessions are ranked."""


@frozen
class ContextWindow:
    """How much of what was said around a text is read with it.

    - `before`, `after`: the weight of the neighbour before and after; the next but one has the square of it.
    - `words`: the length up to which a text leans fully on its neighbours; beyond, in inverse proportion.
    - `hours`: the pause that halves a neighbour's weight.

    >>> ContextWindow(before=0.5).weights(np.array([10.0, 60.0]), np.zeros((4, 2))).round(3)[:2]
    array([[0.5  , 0.25 ],
           [0.25 , 0.125]])
    """

    before: Annotated[float, Declared("Weight of the words said just before.", 0, 1)] = 0.7
    after: Annotated[float, Declared("Weight of the words said just after.", 0, 1)] = 0.3
    words: Annotated[float, Declared("Length up to which a text leans on its neighbours.", 1, 1000)] = 30.0
    hours: Annotated[float, Declared("The pause that halves a neighbour's weight.", 0.01, 1000)] = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "before", checks.probability("before", self.before))
        object.__setattr__(self, "after", checks.probability("after", self.after))
        object.__setattr__(self, "words", checks.at_least("words", self.words, 1))
        object.__setattr__(self, "hours", checks.above("hours", self.hours, 0))

    def weights(self, lengths: FloatArray, pauses: FloatArray) -> FloatArray:
        """Return ``base · min(1, words/length) · 0.5^(pause/hours)``, a row for each of `STEPS`.

        `pauses` are the hours between each text and its neighbours; infinite where there is none.
        """
        lean = np.minimum(1.0, self.words / np.maximum(lengths, 1.0))
        result: FloatArray = _bases(self.before, self.after) * lean * np.exp2(-pauses / self.hours)
        return result


def window_bm25(
    frequencies: FloatArray,
    neighbour_frequencies: Iterable[FloatArray],
    lengths: FloatArray,
    neighbour_lengths: npt.NDArray[np.floating[Any]],
    weights: FloatArray,
    scales: FloatArray,
    average_length: float,
    k1: float,
    b: float,
) -> FloatArray:
    """Return what each term adds to each text when it is read with its neighbours.

    With ``x = tf + Σ w·tf_neighbour`` and ``L = len + Σ w·len_neighbour``, a term adds
    ``scale · x·(k1+1) / (x + k1·(1 - b + b·L/Lavg))``, where `Lavg` is the average length times the mean of
    ``1 + Σ w`` over the texts. Without neighbours it is BM25.

    - `frequencies`, `neighbour_frequencies`: how often each term occurs in each text, and the same for each
      neighbour: rows are terms.
    - `lengths`, `neighbour_lengths`: the length of each text, and a row of lengths for each neighbour.
    - `weights`: a row for each neighbour; 0 for one that is not there, whatever its frequencies and length.
    - `scales`: the idf of each term times its weight in the query.
    - `average_length`: the mean length over the whole collection, above 0.
    - `k1`, `b`: BM25's parameters.
    """
    together, length, average = frequencies, lengths, average_length
    if weights.size:
        around = np.zeros(frequencies.shape)
        for weight, tf in zip(weights, neighbour_frequencies, strict=True):
            around += weight * tf
        together = frequencies + around
        length = lengths + (weights * neighbour_lengths).sum(axis=0)
        average = average_length * (1.0 + float(weights.sum(axis=0).mean()))
    norm = k1 * (1 - b + b * (length / average))
    gained: FloatArray = together * (k1 + 1)
    # A term that does not occur adds nothing, also where the norm is 0 and the fraction would be 0/0.
    np.divide(gained, together + norm, out=gained, where=True if k1 * (1 - b) > 0 else together > 0)
    gained *= scales[:, np.newaxis]
    return gained


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


@lru_cache(maxsize=64)
def _bases(before: float, after: float) -> FloatArray:
    """Return the weight of each neighbour of `STEPS` as a column."""
    column = np.array([[(before if step < 0 else after) ** abs(step)] for step in STEPS])
    column.flags.writeable = False
    return column
