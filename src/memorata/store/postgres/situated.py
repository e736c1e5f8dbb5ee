"""The time and place legs on a server: memories from about a time, or from near a place.

Both read an index: event times in order, and latitudes in bands that widen until enough are inside. What is
selected is scored by the functions that score for a file.
"""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Final

import numpy as np

from memorata.geo.distance import EARTH_RADIUS, MAX_DISTANCE, haversines, nearness
from memorata.model.checks import FloatArray, IntArray
from memorata.model.period import Period
from memorata.model.place import Place
from memorata.rank.order import ranked
from memorata.rank.temporal import proximity
from memorata.store.instants import instant, microseconds
from memorata.store.port import Found
from memorata.store.postgres.connection import Server
from memorata.store.postgres.sight import Restriction

_EVENT: Final = "coalesce(m.valid_from, m.created_at)"
_REACH: Final = 3
"""Beyond so many tolerances nothing is close (:func:`memorata.rank.temporal.proximity`)."""
_FIRST_METRES: Final = 10_000.0
_WIDER: Final = 8
_SLACK: Final = 1.001
_SPARE: Final = 100
"""So many more are scored than are wanted: what ties here may differ in the last bit there."""


def timely(connection: Server, number: int, allowed: Restriction, period: Period, limit: int) -> Found:
    """Return the memories from about a period, the closest first, with how close each is, above 0."""
    start, end = microseconds(period.start), microseconds(period.end)
    assert start is not None  # a period has both
    assert end is not None
    tolerance = period.tolerance // timedelta(microseconds=1)
    rows = connection.execute(
        f"SELECT m.slot, {_EVENT} FROM memories m WHERE m.namespace = %s "
        f"AND {_EVENT} BETWEEN %s AND %s{allowed.on('m')} "
        f"ORDER BY greatest(%s - {_EVENT}, {_EVENT} - %s, %s), m.slot LIMIT %s",
        (
            number,
            start - _REACH * tolerance,
            end + _REACH * tolerance,
            *allowed.values,
            start,
            end,
            tolerance,
            limit + _SPARE,
        ),
    ).fetchall()
    slots = np.array([slot for slot, _ in rows], np.intp)
    events = [moment.timestamp() for _, event in rows if (moment := instant(event)) is not None]
    return _best(slots, proximity(np.array(events), period), limit)


def nearby(
    connection: Server, number: int, allowed: Restriction, here: Place, limit: int, scale: float
) -> Found:
    """Return the memories closest to a point, with how near each is."""
    metres = _FIRST_METRES
    while True:
        band = math.degrees(metres / EARTH_RADIUS) * _SLACK
        rows = connection.execute(
            "SELECT m.slot, m.lat, m.lon FROM memories m WHERE m.namespace = %s AND m.lat IS NOT NULL "
            f"AND m.lat BETWEEN %s AND %s{allowed.on('m')} ORDER BY {_AWAY}, m.slot LIMIT %s",
            (number, here.lat - band, here.lat + band, *allowed.values, *_towards(here), limit + _SPARE),
        ).fetchall()
        found = sorted(rows)
        slots = np.array([slot for slot, _, _ in found], np.intp)
        away = haversines(here.lat, here.lon, [lat for _, lat, _ in found], [lon for *_, lon in found])
        # Everything that is outside of the band is farther away than its edge.
        if metres >= MAX_DISTANCE or int(np.count_nonzero(away <= metres)) >= limit:
            return _best(slots, nearness(away, scale=scale), limit)
        metres *= _WIDER


_AWAY: Final = (
    "(sin(radians(m.lat - %s) / 2) ^ 2 + CASE WHEN abs(m.lat) = 90 THEN 0 ELSE cos(radians(m.lat)) END "
    "* %s * sin(radians(m.lon - %s) / 2) ^ 2)"
)
"""Half of what the haversine formula takes the root of: it grows with the distance, and is cheaper."""


def _towards(here: Place) -> tuple[float, float, float]:
    # A pole has every longitude.
    return here.lat, 0.0 if abs(here.lat) == 90 else math.cos(math.radians(here.lat)), here.lon


def _best(slots: IntArray, scores: FloatArray, limit: int) -> Found:
    ascending = np.argsort(slots, kind="stable")
    slots, scores = slots[ascending], scores[ascending]
    order = ranked(scores, limit)
    order = order[scores[order] > 0]
    return Found(slots[order], scores[order])
