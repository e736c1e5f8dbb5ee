"""Distances along the surface of the Earth and what they are worth in a ranking; grid cells with names.

The haversine formula takes the Earth for a sphere of its mean radius. It stays accurate for points that lie
next to each other, where the plain law of cosines loses all digits (Sinnott 1984, "Virtues of the
haversine"). A real Earth is flattened: against the ellipsoid the result is off by at most 0.6 %.

Nearness is a hyperbola rather than an exponential: both are 1 at no distance and fall for ever, but the
exponential has fallen to nothing after a few scales, so that 100 km and 10,000 km away would tie at 0. Under
the hyperbola a distance ten times as long is worth about a tenth, at any size, as in gravity models of travel
(Wilson 1971, "A family of spatial interaction models").

A cell has a name, ``geo_{precision}_{lat}_{lon}``, so that a place can be a term: two memories in one cell
are near each other by plain equality, which every store and every inverted index can look up. The numbers in
a name count rows from the equator and columns eastwards from the 180th meridian. Rows are bands of equal
height. A band has as many columns as fit round its wider edge, so no cell is wider than it is high, and next
to a pole a handful of cells suffice; a grid of equal degrees would be cut into slivers there. This is the
sinusoidal tiling that satellite products use (MODIS "integerised sinusoidal grid"), with whole rows counted
from the equator.
"""

from __future__ import annotations

import math
import re
from types import MappingProxyType
from typing import Annotated, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.checks import FloatArray, Numbers
from memorata.model.errors import InvalidArgument
from memorata.model.parameter import Declared

EARTH_RADIUS: Final = 6_371_008.8
"""Mean radius of the Earth in metres, (2a + b) / 3 of the WGS 84 ellipsoid."""
MAX_DISTANCE: Final = math.pi * EARTH_RADIUS
"""The largest distance there is, from a point to the one opposite it."""


def haversines(lat: float, lon: float, lats: Numbers, lons: Numbers) -> FloatArray:
    """Return the metres from one point to each of many, all in degrees.

    ``2·R·asin(√(sin²(Δlat/2) + cos lat_a · cos lat_b · sin²(Δlon/2)))``; a pole has every longitude.

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


Whole = npt.NDArray[np.int64]

ROWS_PER_DEGREE: Final = MappingProxyType({4: 45, 5: 185, 6: 925, 7: 3_700, 8: 22_200})
"""Rows in a degree of latitude for each precision: heights of 2.47 km, 601 m, 120 m, 30 m and 5 m."""

_NAME = re.compile(r"geo_([0-9])_(-?[0-9]{1,7})_([0-9]{1,7})")


class Box(NamedTuple):
    """The edges of a rectangle in degrees."""

    south: float
    west: float
    north: float
    east: float


@frozen
class Cell:
    """One cell of the grid.

    Parameters
    ----------
    precision
        From 4 (about 2.5 km high) to 8 (about 5 m).
    row
        Counted from the equator; negative in the south.
    column
        Counted eastwards from longitude -180.

    Examples
    --------
    >>> Cell.at(48.8584, 2.2945, precision=5)
    Cell(precision=5, row=9038, column=22190)
    >>> Cell.at(48.8584, 2.2945, precision=5).name
    'geo_5_9038_22190'
    >>> Cell.named("geo_5_9038_22190").box
    Box(south=48.854054..., west=2.291999..., north=48.859459..., east=2.300214...)
    """

    precision: int
    row: int
    column: int

    def __post_init__(self) -> None:
        rows = 90 * _per_degree(self.precision)
        if not -rows <= checks.whole("row", self.row, -rows) < rows:
            raise InvalidArgument("row", self.row, f"a whole number from {-rows} to {rows - 1}")
        columns = columns_in(self.row, ROWS_PER_DEGREE[self.precision])
        if checks.whole("column", self.column) >= columns:
            raise InvalidArgument(
                "column", self.column, f"a whole number from 0 to {columns - 1} in this row"
            )

    @classmethod
    def at(cls, lat: float, lon: float, precision: int = 7) -> Cell:
        """Return the cell that holds a point; longitude 180 is -180, and a pole has one cell."""
        north, east = point("lat", lat, "lon", lon)
        per_degree = _per_degree(precision)
        row = row_of(north, per_degree)
        column = 0 if abs(north) == 90 else column_of(east, columns_in(row, per_degree))
        return cls(precision, row, column)

    @classmethod
    def named(cls, name: str) -> Cell:
        """Return the cell of a name."""
        match = _NAME.fullmatch(checks.text("name", name))
        try:
            if match is not None and (cell := cls(*map(int, match.groups()))).name == name:
                return cell
        except InvalidArgument as error:
            raise InvalidArgument("name", name, f"the name of a cell that exists ({error})") from error
        raise InvalidArgument("name", name, "a cell's name such as geo_5_9038_22190")

    @property
    def name(self) -> str:
        """``geo_{precision}_{lat}_{lon}``."""
        return f"geo_{self.precision}_{self.row}_{self.column}"

    @property
    def box(self) -> Box:
        """The edges of the cell in degrees; the southern and western edge belong to it."""
        per_degree = ROWS_PER_DEGREE[self.precision]
        columns = columns_in(self.row, per_degree)
        west, east = (360 * column / columns - 180 for column in (self.column, self.column + 1))
        return Box(self.row / per_degree, west, (self.row + 1) / per_degree, east)


def names_of(lats: FloatArray, lons: FloatArray, precision: int) -> tuple[Whole, Whole]:
    """Return the rows and columns of the cells that hold some points, as :meth:`Cell.at` does for one."""
    per_degree = _per_degree(precision)
    rows = rows_of(lats, per_degree)
    columns = columns_of(lons, columns_in_rows(rows, per_degree))
    columns[np.abs(lats) == 90] = 0
    return rows, columns


def cell_height(precision: int) -> float:
    """Return the metres from the southern to the northern edge of every cell of a precision.

    Examples
    --------
    >>> [round(cell_height(precision), 1) for precision in (4, 5, 6, 7, 8)]
    [2471.0, 601.1, 120.2, 30.1, 5.0]
    """
    return math.radians(1) * EARTH_RADIUS / _per_degree(precision)


def _per_degree(precision: object) -> int:
    if not isinstance(precision, int) or isinstance(precision, bool) or precision not in ROWS_PER_DEGREE:
        raise InvalidArgument("precision", precision, "a whole number from 4 to 8")
    return ROWS_PER_DEGREE[precision]


def row_of(lat: float, per_degree: int) -> int:
    """Return the band of a latitude: 0 just north of the equator, -1 just south; a pole is in the last."""
    return min(math.floor(lat * per_degree), 90 * per_degree - 1)


def columns_in(row: int, per_degree: int) -> int:
    """Return the number of cells round a band."""
    edge = min(abs(row), abs(row + 1)) / per_degree
    return max(1, math.ceil(360 * per_degree * math.cos(math.radians(edge))))


def column_of(lon: float, columns: int) -> int:
    """Return the cell of a band that holds a longitude; 180 is -180."""
    return 0 if lon == 180 else min(int((lon + 180) / 360 * columns), columns - 1)


def rows_of(lats: FloatArray, per_degree: int) -> Whole:
    """:func:`row_of` on an array."""
    return np.minimum(np.floor(lats * per_degree), 90 * per_degree - 1).astype(np.int64)


def columns_in_rows(rows: Whole, per_degree: int) -> FloatArray:
    """:func:`columns_in` on an array; whole numbers, as floats to compute with."""
    edges = np.minimum(np.abs(rows), np.abs(rows + 1)) / per_degree
    return np.asarray(np.maximum(1.0, np.ceil(360 * per_degree * np.cos(np.radians(edges)))))


def columns_of(lons: FloatArray | float, columns: FloatArray) -> Whole:
    """:func:`column_of` on arrays."""
    inside = np.minimum(np.floor((np.asarray(lons) + 180) / 360 * columns), columns - 1)
    return np.asarray(np.where(np.equal(lons, 180), 0, inside), np.int64)
