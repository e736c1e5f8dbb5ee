"""What a ranking was made of, held by reference until the log has time to write it down.

A recall is answered before any of this is looked at: :class:`Trace` is made of arrays that the search has
anyway, and :func:`written_down` makes columns of them later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from recollect.engine.situation import Situation
from recollect.index.record import MACHINE, Records
from recollect.model.checks import BoolArray, FloatArray, IntArray
from recollect.model.period import Period
from recollect.store.recall_log import Singles

if TYPE_CHECKING:
    from recollect.engine.candidates import Legs

DAY: Final = 86_400.0
AS_THEY_ARE: Final = ("tier", "accesses", "confidence", "importance", "pinned", "supported")
"""The parts of a record that are logged unchanged, under their own names."""
RANK: Final = " rank"
"""What follows the name of a leg in the name of the column that holds its order."""


class Trace:
    """The candidates of one recall in their final order, with what they were ranked by.

    Parameters
    ----------
    situation
        The view is not kept.
    legs
        What each search found; how its words came about is not kept.
    slots, scores
        The candidates by falling score.
    records, order
        Their records, in another order, and where in it each of them stands.
    kept
        The positions of those that may be shown, in the order in which they would be.
    """

    __slots__ = ("kept", "legs", "moment", "order", "records", "scores", "shown", "slots", "unread")

    def __init__(
        self,
        situation: Situation,
        legs: Legs,
        slots: IntArray,
        scores: FloatArray,
        records: Records,
        order: IntArray,
        kept: IntArray,
    ) -> None:
        self.moment = Moment(situation, legs.lexical.ceiling)
        self.legs = [(name, found.slots, found.scores) for name, found in legs.named()]
        self.unread = legs.unread
        self.slots = slots
        self.scores = scores
        self.records = records
        self.order = order
        self.kept = kept
        self.shown: Sequence[int] = ()

    def seen(self, positions: Sequence[int]) -> Trace:
        """Note which of the kept candidates were shown."""
        self.shown = positions
        return self


class Moment:
    """The numbers of a situation that a ranking depends on."""

    __slots__ = ("about_time", "ceiling", "here", "least", "meant", "noise", "now", "period")

    def __init__(self, situation: Situation, ceiling: float) -> None:
        self.now = situation.now
        self.period = situation.period
        self.about_time = situation.about_time
        self.here = situation.here is not None
        self.least = situation.least_similarity
        self.noise = situation.noise
        self.meant = situation.vector is not None
        self.ceiling = ceiling

    def as_dict(self) -> dict[str, Any]:
        """Return the moment as plain data."""
        return {
            "least_similarity": self.least,
            "noise": self.noise,
            "ceiling": self.ceiling,
            "meant": self.meant,
            "about_time": self.about_time,
            "here": self.here,
            "period": None if self.period is None else _period_data(self.period),
        }


def _period_data(period: Period) -> dict[str, Any]:
    return {
        "start": period.start.isoformat(),
        "end": period.end.isoformat(),
        "tolerance": period.tolerance.total_seconds(),
    }


@dataclass(frozen=True, slots=True, eq=False)
class WrittenDown:
    """A trace as columns; the candidates stand in the order in which they were, or would have been, shown."""

    slots: IntArray
    columns: tuple[str, ...]
    values: Singles
    shown: tuple[int, ...]


def written_down(trace: Trace) -> WrittenDown:
    """Return what is known of each candidate, as columns of float32.

    The columns are the score a candidate ended with; what each leg said of it, under the leg's name, and
    where the leg ranked it (``words rank``), where its scores alone do not tell;
    ``unread`` for one whose words stood in for its meaning; and of its record the age in days, the days since
    what it is about (``event``), its session and its content as numbers within this recall (``session``,
    ``repeat``), whether a machine said it, and :data:`AS_THEY_ARE`.
    """
    others = np.ones(trace.slots.size, np.bool_)
    others[trace.kept] = False
    order = np.concatenate([trace.kept, others.nonzero()[0]])
    slots, records = trace.slots[order], trace.records[trace.order[order]]
    columns: dict[str, FloatArray] = {"score": trace.scores[order]}
    ascending = slots.argsort(kind="stable")
    ordered = slots[ascending]
    for name, found, scores in trace.legs:
        column = np.full(slots.size, np.nan)
        columns[name] = column
        where = ordered.searchsorted(found)
        # A fusion that knows two legs only leaves out what another one alone has found.
        known = ordered[np.minimum(where, slots.size - 1)] == found
        if not known.all():
            found, scores, where = found[known], scores[known], where[known]
        if not found.size:
            continue
        places = ascending[where]
        column[places] = scores
        if not _tells_order(found, scores):
            rank = np.full(slots.size, np.nan)
            rank[places] = np.arange(found.size)
            columns[f"{name}{RANK}"] = rank
    if trace.unread.size:
        columns["unread"] = np.isin(slots, trace.unread).astype(np.float64)
    now = trace.moment.now.timestamp()
    columns["age"] = (now - records["created"]) / DAY
    columns["event"] = (now - records["event"]) / DAY
    columns["session"] = _numbered(records["session"], records["session"] >= 0)
    columns["repeat"] = _repeats(records["fingerprint"])
    columns["machine"] = (records["role"] == MACHINE).astype(np.float64)
    columns |= {name: records[name] for name in AS_THEY_ARE}
    values = np.empty((slots.size, len(columns)), np.float32)
    for place, column in enumerate(columns.values()):
        values[:, place] = column
    return WrittenDown(slots, tuple(columns), values, tuple(trace.shown))


def _tells_order(slots: IntArray, scores: FloatArray) -> bool:
    """Return whether scores, as they are written down, and slots tell in which order a leg had them."""
    single = scores.astype(np.float32)
    falling, level = single[1:] < single[:-1], single[1:] == single[:-1]
    return bool((falling | (level & (slots[1:] > slots[:-1]))).all())


def _numbered(keys: IntArray, known: BoolArray) -> FloatArray:
    """Return a small number for each key, the same for the same; NaN where there is none."""
    _, numbers = np.unique(keys, return_inverse=True)
    return np.where(known, numbers.astype(np.float64), np.nan)


def _repeats(fingerprints: IntArray) -> FloatArray:
    """Return a number for each content that occurs more than once; NaN for one that is alone."""
    ordered = np.sort(fingerprints)
    if not (ordered[1:] == ordered[:-1]).any():
        return np.full(fingerprints.size, np.nan)
    _, numbers, counts = np.unique(fingerprints, return_inverse=True, return_counts=True)
    return np.where(counts[numbers] > 1, numbers.astype(np.float64), np.nan)
