"""Distances along the surface of the Earth, and the worth of a distance in a ranking.

The haversine formula takes the Earth for a sphere of its mean radius. It stays accurate for points that lie
next to each other, where the plain law of cosines loses all digits (Sinnott 1984, "Virtues of the
haversine"). A real Earth is flattened: against the ellipsoid the result is off by at most 0.6 %.

Nearness is a hyperbola rather than an exponential: both are 1 at no distance and fall for ever, but the
exponential has fallen to nothing after a few scales, so that 100 km and 10,000 km away would tie at 0. Under
the hyperbola a distance ten times as long is worth about a tenth, at any size, as in gravity models of travel
(Wilson 1971, "A family of spatial interaction models").
"""

from __future__ import annotations

import math
from typing import Annotated, Final

import numpy as np

from memorata.model import checks
from memorata.model.checks import FloatArray, Numbers
from memorata.model.parameter import Declared

EARTH_RADIUS: Final = 6_371_008.8
"""Mean radius of the Earth in metres, (2a + b) / 3 of the WGS 84 ellipsoid."""


def haversines(lat: float, lon: float, lats: Numbers, lons: Numbers) -> FloatArray:
    """Return the metres from one point to each of many, all in degrees.

    ``2·R·asin(√(sin²(Δlat/2) + cos lat_a · cos lat_b · sin²(Δlon/2)))``; a pole has every longitude.

    Examples
    --------
    >>> haversines(0, 0, [0, 0, 90], [0, 180, 0]).round()
    array([       0., 20015114., 10007557.])
    """
    at = checks.within("lat", lat, -90, 90), checks.within("lon", lon, -180, 180)
    norths, easts = checks.all_within("lats", lats, -90, 90), checks.all_within("lons", lons, -180, 180)
    checks.same_length(lats=norths, lons=easts)
    # Exactly 0 at the poles, which have every longitude.
    cosines = np.where(np.abs(norths) == 90, 0.0, np.cos(np.radians(norths)))
    cosine = 0.0 if abs(at[0]) == 90 else math.cos(math.radians(at[0]))
    up = np.sin((np.radians(norths) - math.radians(at[0])) / 2)
    along = np.sin((np.radians(easts) - math.radians(at[1])) / 2)
    h = np.minimum(up * up + cosine * cosines * along * along, 1.0)
    return np.asarray(2 * EARTH_RADIUS * np.arcsin(np.sqrt(h)))


def nearness(
    metres: Numbers,
    *,
    scale: Annotated[float, Declared("Metres at which a memory counts half.", 10, 100_000)] = 1_000.0,
) -> FloatArray:
    """Return ``1 / (1 + metres / scale)`` for each distance: 1 here, a half at `scale`, never 0.

    Examples
    --------
    >>> nearness([0, 1_000, 9_000], scale=1_000)
    array([1. , 0.5, 0.1])
    """
    away, half = checks.counts("metres", metres), checks.above("scale", scale, 0)
    # Dividing by the larger of the two keeps the quotient finite for every scale above 0.
    larger = np.maximum(away, half)
    return np.asarray((half / larger) / (half / larger + away / larger))
