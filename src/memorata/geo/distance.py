"""Distance between two points of the Earth along its surface.

The haversine formula takes the Earth for a sphere of its mean radius. It stays accurate for points that lie
next to each other, where the plain law of cosines loses all digits (Sinnott 1984, "Virtues of the
haversine"). A real Earth is flattened: against the ellipsoid the result is off by at most 0.6 %.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from memorata.model import checks
from memorata.model.checks import FloatArray, Numbers

EARTH_RADIUS: Final = 6_371_008.8
"""Mean radius of the Earth in metres, (2a + b) / 3 of the WGS 84 ellipsoid."""
HALFWAY_ROUND: Final = math.pi * EARTH_RADIUS
"""The largest distance there is, from a point to the one opposite it."""


def haversine(lat_a: float, lon_a: float, lat_b: float, lon_b: float) -> float:
    """Return the metres between two points given in degrees.

    ``2·R·asin(√(sin²(Δlat/2) + cos lat_a · cos lat_b · sin²(Δlon/2)))``

    Examples
    --------
    >>> round(haversine(52.52, 13.405, 48.8566, 2.3522) / 1000)  # Berlin to Paris
    877
    >>> haversine(90, 0, 90, 135)  # a pole has every longitude
    0.0
    """
    a, b = point("lat_a", lat_a, "lon_a", lon_a), point("lat_b", lat_b, "lon_b", lon_b)
    if a[0] == b[0] and abs(a[0]) == 90:
        return 0.0
    (north_a, east_a), (north_b, east_b) = map(math.radians, a), map(math.radians, b)
    up, along = math.sin((north_b - north_a) / 2), math.sin((east_b - east_a) / 2)
    h = up * up + math.cos(north_a) * math.cos(north_b) * along * along
    # Rounding may leave the points opposite each other a hair more than half the way round apart.
    return 2 * EARTH_RADIUS * math.asin(math.sqrt(min(1.0, h)))


def haversines(lat: float, lon: float, lats: Numbers, lons: Numbers) -> FloatArray:
    """Return the metres from one point to each of many: :func:`haversine` on arrays.

    Examples
    --------
    >>> haversines(0, 0, [0, 0, 90], [0, 180, 0]).round()
    array([       0., 20015114., 10007557.])
    """
    at = point("lat", lat, "lon", lon)
    norths, easts = points(lats, lons)
    return metres_between(
        math.radians(at[0]), math.radians(at[1]), np.radians(norths), np.radians(easts), cosines(norths)
    )


def metres_between(
    north: float, east: float, norths: FloatArray, easts: FloatArray, cosine: FloatArray
) -> FloatArray:
    """Return the metres from a point to many, in radians, given the cosines of their latitudes; no checks."""
    up, along = np.sin((norths - north) / 2), np.sin((easts - east) / 2)
    mine = 0.0 if abs(north) == math.pi / 2 else math.cos(north)
    h = np.minimum(up * up + mine * cosine * along * along, 1.0)
    return np.asarray(2 * EARTH_RADIUS * np.arcsin(np.sqrt(h)))


def cosines(lats: FloatArray) -> FloatArray:
    """Return the cosines of latitudes in degrees, exactly 0 at the poles, which have every longitude."""
    return np.where(np.abs(lats) == 90, 0.0, np.cos(np.radians(lats)))


def point(lat_argument: str, lat: object, lon_argument: str, lon: object) -> tuple[float, float]:
    """Return a latitude from -90 to 90 and a longitude from -180 to 180."""
    return checks.within(lat_argument, lat, -90, 90), checks.within(lon_argument, lon, -180, 180)


def points(lats: object, lons: object) -> tuple[FloatArray, FloatArray]:
    """Return as many latitudes as longitudes, each in its range."""
    norths, easts = checks.all_within("lats", lats, -90, 90), checks.all_within("lons", lons, -180, 180)
    checks.same_length(lats=norths, lons=easts)
    return norths, easts
