"""The arithmetic of a grid on the Earth whose cells are about square everywhere.

Rows are bands of equal height. A band has as many columns as fit round its wider edge, so no cell is wider
than it is high, and next to a pole a handful of cells suffice; a grid of equal degrees would be cut into
slivers there. This is the sinusoidal tiling that satellite products use (MODIS "integerised sinusoidal
grid"), with whole rows counted from the equator.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from memorata.model.checks import FloatArray

Whole = npt.NDArray[np.int64]


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
