"""Cells of a grid on the Earth, with names.

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
from types import MappingProxyType
from typing import Final

import numpy as np

from memorata.extend.errors import InvalidArgument
from memorata.extend.graph import EARTH_RADIUS
from memorata.extend.model import FloatArray, IntArray, Numbers, checks

ROWS_PER_DEGREE: Final = MappingProxyType({4: 45, 5: 185, 6: 925, 7: 3_700, 8: 22_200})
"""Rows in a degree of latitude for each precision: heights of 2.47 km, 601 m, 120 m, 30 m and 5 m."""


def cells_of(lats: Numbers, lons: Numbers, precision: int) -> tuple[IntArray, IntArray]:
    """Return the rows and columns of the cells that hold some points.

    Longitude 180 is -180, and a pole has one cell.

    Examples
    --------
    >>> rows, columns = cells_of([48.8584], [2.2945], precision=5)
    >>> cell_name(5, rows[0], columns[0])
    'geo_5_9038_22190'
    """
    norths, easts = checks.all_within("lats", lats, -90, 90), checks.all_within("lons", lons, -180, 180)
    checks.same_length(lats=norths, lons=easts)
    per_degree = _rows_per_degree(precision)
    rows = np.minimum(np.floor(norths * per_degree), 90 * per_degree - 1).astype(np.intp)
    counts = columns_in(rows, per_degree)
    columns = np.minimum(np.floor((easts + 180) / 360 * counts), counts - 1).astype(np.intp)
    columns[(easts == 180) | (np.abs(norths) == 90)] = 0
    return rows, columns


def cell_name(precision: int, row: int, column: int) -> str:
    """Return the name of a cell."""
    return f"geo_{precision}_{row}_{column}"


def cell_height(precision: int) -> float:
    """Return the metres from the southern to the northern edge of every cell of a precision.

    Examples
    --------
    >>> [round(cell_height(precision), 1) for precision in (4, 5, 6, 7, 8)]
    [2471.0, 601.1, 120.2, 30.1, 5.0]
    """
    return math.radians(1) * EARTH_RADIUS / _rows_per_degree(precision)


def columns_in(rows: IntArray, per_degree: int) -> FloatArray:
    """Return the number of cells round each band; whole numbers, as floats to compute with."""
    edges = np.minimum(np.abs(rows), np.abs(rows + 1)) / per_degree
    return np.asarray(np.maximum(1.0, np.ceil(360 * per_degree * np.cos(np.radians(edges)))))


def _rows_per_degree(precision: object) -> int:
    if not isinstance(precision, int) or isinstance(precision, bool) or precision not in ROWS_PER_DEGREE:
        raise InvalidArgument("precision", precision, "a whole number from 4 to 8")
    return ROWS_PER_DEGREE[precision]
