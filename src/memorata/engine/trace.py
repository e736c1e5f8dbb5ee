"""What a ranking was made of, held by reference until the log has time to write it down.

A recall is answered before any of this is looked at: :class:`Trace` is made of arrays that the search has
anyway, and :func:`memorata.engine.trace_columns.written_down` makes columns of them later.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memorata.engine.situation import Situation
from memorata.index.record import Records
from memorata.model.checks import FloatArray, IntArray
from memorata.model.period import Period

if TYPE_CHECKING:
    from memorata.engine.candidates import Legs


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
