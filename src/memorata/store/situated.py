"""The time and place legs over records: memories from about a time, or from near a place.

Both look at every memory that may be returned, in one pass over two columns: exact, and done only when a
question names a time or a caller says where.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from memorata.geo.distance import haversines, nearness
from memorata.index.record import NOWHERE, Records
from memorata.model.checks import FloatArray, IntArray
from memorata.model.period import Period
from memorata.model.place import Place
from memorata.rank.order import ranked
from memorata.rank.temporal import proximity
from memorata.store.port import Found

Mask = npt.NDArray[np.bool_]


def timely(records: Records, allowed: Mask | None, period: Period, limit: int) -> Found:
    """Return the memories from about a period, best first, with their proximity; ties by slot.

    Of memories inside the period none is closer than another.
    """
    slots = _allowed(len(records), allowed)
    return _best(slots, proximity(records["event"][slots], period), limit)


def nearby(records: Records, allowed: Mask | None, here: Place, limit: int, scale: float) -> Found:
    """Return the memories closest to a point, best first, with their nearness; only those with a place."""
    slots = _allowed(len(records), allowed)
    slots = slots[records["lat"][slots] != NOWHERE]
    metres = haversines(here.lat, here.lon, records["lat"][slots], records["lon"][slots])
    return _best(slots, nearness(metres, scale=scale), limit)


def _allowed(count: int, allowed: Mask | None) -> IntArray:
    return np.arange(count) if allowed is None else np.flatnonzero(allowed)


def _best(slots: IntArray, scores: FloatArray, limit: int) -> Found:
    order = ranked(scores, limit)
    order = order[scores[order] > 0]
    return Found(slots[order], scores[order])
