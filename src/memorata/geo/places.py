"""Which of many places lie near a point: an index of sorted grid cells.

Points are sorted by the grid cell they lie in, row by row, so the cells that a circle can touch are a few
runs of neighbours, found by binary search; the exact distance then decides (the bucket method of Bentley &
Friedman 1979, "Data structures for range searching"). The height of the cells is chosen from the points
themselves, so that a point shares its cell with a few others whether they are spread over the Earth or over
one town. An index never changes; adding gives a new one.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from memorata._frozen import frozen
from memorata.geo.geometry import (
    EARTH_RADIUS,
    Whole,
    column_of,
    columns_in_rows,
    columns_of,
    cosines,
    metres_between,
    point,
    points,
    row_of,
    rows_of,
)
from memorata.model import checks
from memorata.model.checks import FloatArray, IntArray, Numbers

_CELL_MATES: Final = 16.0
"""Others a point shares its cell with, on average, in the height chosen."""
_SAMPLE_SIZE: Final = 4_096
_MAX_ROWS_PER_DEGREE: Final = 1 << 12
"""Rows per degree of the finest grid: 27 m. More would not help where many points are one and the same."""
_REBUILD_GROWTH: Final = 2
"""An index that has grown this many times is cut into cells anew."""
_SLACK: Final = 1e-7
"""Radians (0.6 m) a circle is widened by when its cells are looked up: rounding must lose none, and near
the opposite point of the Earth a haversine is good to 1e-8 only."""
_ROW_STRIDE: Final = 1 << 32
"""Rows are this far apart in the sort key; no row has more columns."""


@frozen
class Near:
    """Places near a point: nearest first, equals in the order they were added."""

    positions: IntArray
    """Where each stands in the arrays the index was made of."""
    metres: FloatArray

    def __len__(self) -> int:
        return len(self.positions)


class Places:
    """An index of points of the Earth.

    Parameters
    ----------
    lats, lons
        Degrees, one pair for each place.

    Examples
    --------
    >>> cities = Places([52.52, 48.86, -36.85, -18.14], [13.41, 2.35, 174.76, 178.44])
    >>> cities.nearest(50.85, 4.35, limit=1)  # from Brussels
    Near(positions=array([1]), metres=array([263...]))
    >>> cities.within(-16.5, -179.9, radius=300_000).positions  # across the 180th meridian
    array([3])
    """

    def __init__(self, lats: Numbers, lons: Numbers) -> None:
        norths, easts = points(lats, lons)
        self._build(norths, easts, _rows_per_degree(norths, easts))

    def __len__(self) -> int:
        return len(self._order)

    def added(self, lats: Numbers, lons: Numbers) -> Places:
        """Return an index that holds these places too; their positions follow those already here.

        The new ones are merged into the sorted cells; once there are twice as many as when the grid was
        chosen, it is chosen anew.

        Examples
        --------
        >>> Places([52.52], [13.41]).added([48.86], [2.35]).nearest(50.85, 4.35, limit=1).positions
        array([1])
        """
        norths, easts = points(lats, lons)
        if len(self) + len(norths) > _REBUILD_GROWTH * self._chosen_for:
            back = np.argsort(self._order)
            return Places(
                np.concatenate([self._lats[back], norths]), np.concatenate([self._lons[back], easts])
            )
        new = Places.__new__(Places)
        new._build(norths, easts, self.rows_per_degree)
        new._order = new._order + len(self)
        # Sorting is stable, so equal cells keep the older places first.
        at = np.searchsorted(self._keys, new._keys, side="right")
        for name in ("_order", "_lats", "_lons", "_keys", "_norths", "_easts", "_cosines"):
            setattr(new, name, np.insert(getattr(self, name), at, getattr(new, name)))
        new._chosen_for = self._chosen_for
        new._find_rows()
        return new

    def within(self, lat: float, lon: float, radius: float, *, limit: int | None = None) -> Near:
        """Return the places at most `radius` metres away, or the nearest `limit` of them."""
        at = point("lat", lat, "lon", lon)
        reach = checks.at_least("radius", radius, 0)
        max_places = None if limit is None else checks.whole("limit", limit)
        if not len(self):
            return _nothing()
        positions, metres = self._measured(*at, self._circle(*at, reach))
        close = metres <= reach
        return self._sorted(positions[close], metres[close], max_places)

    def nearest(self, lat: float, lon: float, *, limit: int = 1) -> Near:
        """Return the `limit` nearest places, or all of them if there are fewer."""
        at, max_places = point("lat", lat, "lon", lon), checks.whole("limit", limit)
        if not max_places or not len(self):
            return _nothing()
        # Any `limit` places say how far the nearest ones can be at most; neighbours in the sorted cells say
        # it well. No place outside of that circle can then be among the nearest.
        if max_places < len(self):
            _, metres = self._measured(*at, self._around(*at, max_places))
            bound = float(np.partition(metres, max_places - 1)[max_places - 1])
            positions, metres = self._measured(*at, self._circle(*at, bound))
        else:
            positions, metres = self._measured(*at, slice(None))
        return self._sorted(positions, metres, max_places)

    def _build(self, lats: FloatArray, lons: FloatArray, per_degree: int) -> None:
        self.rows_per_degree = per_degree
        self._chosen_for = len(lats)
        keys = _keys(lats, lons, per_degree)
        self._order: IntArray = np.argsort(keys, kind="stable")
        self._keys = keys[self._order]
        self._lats, self._lons = lats[self._order], lons[self._order]
        self._norths, self._easts = np.radians(self._lats), np.radians(self._lons)
        self._cosines = cosines(self._lats)
        self._find_rows()

    def _find_rows(self) -> None:
        """Compute the rows that hold a place, and where each begins."""
        rows = self._keys // _ROW_STRIDE
        starts = np.flatnonzero(np.diff(rows, prepend=rows[:1] - 1))
        self._rows: Whole = rows[starts]
        self._begins: IntArray = np.append(starts, len(rows))
        self._columns = columns_in_rows(self._rows, self.rows_per_degree)

    def _circle(self, lat: float, lon: float, metres: float) -> IntArray | slice:
        """Return where the places stand whose cells a circle touches."""
        angle = metres / EARTH_RADIUS + _SLACK
        north = math.radians(lat)
        low, high = north - angle, north + angle
        first = row_of(math.degrees(max(low, -math.pi / 2)), self.rows_per_degree)
        last = row_of(math.degrees(min(high, math.pi / 2)), self.rows_per_degree)
        if low <= -math.pi / 2 or high >= math.pi / 2:
            # The circle holds a pole, and with it every longitude.
            return self._cells(first, last, -180.0, 180.0)
        # The meridians that touch the circle do so nearer to the pole than its centre is.
        wide = math.degrees(math.asin(min(1.0, math.sin(angle) / math.cos(north)))) + math.degrees(_SLACK)
        west, east = lon - wide, lon + wide
        return self._cells(
            first, last, west + 360 if west < -180 else west, east - 360 if east >= 180 else east
        )

    def _cells(self, first: int, last: int, west: float, east: float) -> IntArray | slice:
        """Return where the places stand in rows `first` to `last`, from `west` eastwards to `east`."""
        low = int(np.searchsorted(self._rows, first))
        high = int(np.searchsorted(self._rows, last, side="right"))
        if west == -180 and east == 180:
            return slice(int(self._begins[low]), int(self._begins[high]))
        keys, columns = self._rows[low:high] * _ROW_STRIDE, self._columns[low:high]
        left = np.searchsorted(self._keys, keys + columns_of(west, columns))
        right = np.searchsorted(self._keys, keys + columns_of(east, columns), side="right")
        if west > east:
            left = np.concatenate([left, self._begins[low:high]])
            right = np.concatenate([self._begins[low + 1 : high + 1], right])
            # In a row of few columns both ends may lie in one of them, which must not be counted twice.
            half = len(left) // 2
            right[half:] = np.minimum(right[half:], left[:half])
        return _runs(left, right)

    def _around(self, lat: float, lon: float, count: int) -> IntArray:
        """Return where at least `count` places stand that are probably near."""
        at = int(np.searchsorted(self._rows, row_of(lat, self.rows_per_degree)))
        chosen = slice(max(0, at - 1), at + 2)
        rows = zip(self._rows[chosen].tolist(), self._columns[chosen].tolist(), strict=True)
        keys = [row * _ROW_STRIDE + column_of(lon, int(columns)) for row, columns in rows]
        runs, end = [], 0
        for middle in np.searchsorted(self._keys, keys).tolist():
            # Windows of two rows may overlap, and a place must count once.
            start, end = max(middle - count, end), min(middle + count + 1, len(self))
            runs.append(np.arange(start, end))
        return np.concatenate(runs)

    def _measured(self, lat: float, lon: float, chosen: IntArray | slice) -> tuple[IntArray, FloatArray]:
        metres = metres_between(
            math.radians(lat),
            math.radians(lon),
            self._norths[chosen],
            self._easts[chosen],
            self._cosines[chosen],
        )
        return self._order[chosen], metres

    def _sorted(self, positions: IntArray, metres: FloatArray, limit: int | None) -> Near:
        if limit is not None and 0 < limit < len(metres):
            bound = np.partition(metres, limit - 1)[limit - 1]
            close = metres <= bound
            positions, metres = positions[close], metres[close]
        best = np.lexsort((positions, metres))[:limit]
        return Near(positions[best], metres[best])


def _rows_per_degree(lats: FloatArray, lons: FloatArray) -> int:
    """Return the coarsest grid, a power of two, in which a point shares its cell with few others."""
    if not len(lats):
        return 1
    step = max(1, len(lats) // _SAMPLE_SIZE)
    some_lats, some_lons = lats[::step], lons[::step]
    per_degree = 1
    while per_degree < _MAX_ROWS_PER_DEGREE:
        _, counts = np.unique(_keys(some_lats, some_lons, per_degree), return_counts=True)
        # What a point of the sample sees of the sample, times what the sample leaves out.
        mates = (float(counts @ counts) / len(some_lats) - 1) * len(lats) / len(some_lats)
        if mates <= _CELL_MATES:
            break
        per_degree *= 2
    return per_degree


def _keys(lats: FloatArray, lons: FloatArray, per_degree: int) -> Whole:
    rows = rows_of(lats, per_degree)
    return np.asarray(rows * _ROW_STRIDE + columns_of(lons, columns_in_rows(rows, per_degree)))


def _runs(left: IntArray, right: IntArray) -> IntArray:
    """Return every whole number of the ranges from `left` up to, not including, `right`."""
    lengths = right - left
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.asarray(np.arange(total) + np.repeat(left - ends + lengths, lengths))


def _nothing() -> Near:
    return Near(np.empty(0, np.intp), np.empty(0, np.float64))
