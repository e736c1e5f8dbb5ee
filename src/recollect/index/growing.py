"""Arrays that grow at the end, with room to spare, so that adding one row does not copy the rest."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

_LANES: Final = 16
"""Products are computed over a multiple of this many columns, so that none of them is a remainder, which
kernels add up in another order: equal columns have equal products, to the last bit."""
_BLOCK: Final = 64
"""How many rows are turned into columns at a time: few enough to stay in the nearest cache."""


class Growing:
    """Rows of one dtype and shape in a buffer that doubles when it is full.

    Examples
    --------
    >>> rows = Growing(np.int32, ())
    >>> rows.extend(np.array([1, 2])); rows.append(3)
    >>> rows.view
    array([1, 2, 3], dtype=int32)
    """

    def __init__(self, dtype: npt.DTypeLike, shape: tuple[int, ...]) -> None:
        self._buffer: npt.NDArray[Any] = np.empty((0, *shape), dtype)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def view(self) -> npt.NDArray[Any]:
        """The rows so far; valid until the next change."""
        return self._buffer[: self._count]

    @property
    def nbytes(self) -> int:
        """How much memory the buffer takes."""
        return int(self._buffer.nbytes)

    def reserve(self, count: int) -> None:
        """Make room for `count` rows in all."""
        if count > len(self._buffer):
            grown = np.empty((count, *self._buffer.shape[1:]), self._buffer.dtype)
            grown[: self._count] = self.view
            self._buffer = grown

    def copy(self) -> Growing:
        """Return the same rows in a buffer of their own."""
        other = Growing(self._buffer.dtype, self._buffer.shape[1:])
        other.extend(self.view)
        return other

    def append(self, row: object) -> None:
        """Add one row at the end."""
        if self._count == len(self._buffer):
            self.reserve(max(1, 2 * self._count))
        self._buffer[self._count] = row
        self._count += 1

    def extend(self, rows: npt.NDArray[Any]) -> None:
        """Add rows at the end."""
        needed = self._count + len(rows)
        if needed > len(self._buffer):
            self.reserve(max(needed, 2 * len(self._buffer)))
        self._buffer[self._count : needed] = rows
        self._count = needed


class GrowingColumns:
    """Rows of one dtype kept column by column: what is the same component of all rows lies side by side.

    A product with one row then runs along memory, several times as fast as one that jumps from row to row.

    Examples
    --------
    >>> rows = GrowingColumns(2, np.float32)
    >>> rows.extend(np.array([[1, 0], [0, 1], [1, 1]], np.float32))
    >>> rows.view
    array([[1., 0., 1.],
           [0., 1., 1.]], dtype=float32)
    >>> rows.product(np.array([2, 3], np.float32))
    array([2., 3., 5.], dtype=float32)
    """

    def __init__(self, width: int, dtype: npt.DTypeLike) -> None:
        self._table: npt.NDArray[Any] = np.zeros((width, 0), dtype)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def view(self) -> npt.NDArray[Any]:
        """The rows so far, one per column; valid until the next change."""
        return self._table[:, : self._count]

    @property
    def nbytes(self) -> int:
        """How much memory the table takes."""
        return int(self._table.nbytes)

    def reserve(self, count: int) -> None:
        """Make room for `count` rows in all."""
        if count > self._table.shape[1]:
            grown = np.zeros((len(self._table), _whole_lanes(count)), self._table.dtype)
            grown[:, : self._count] = self.view
            self._table = grown

    def extend(self, rows: npt.NDArray[Any]) -> None:
        """Add rows at the end."""
        needed = self._count + len(rows)
        if needed > self._table.shape[1]:
            self.reserve(max(needed, 2 * self._table.shape[1]))
        for start in range(0, len(rows), _BLOCK):
            block = rows[start : start + _BLOCK].T
            self._table[:, self._count : self._count + block.shape[1]] = block
            self._count += block.shape[1]

    def product(self, row: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the dot product of every row with `row`."""
        products: npt.NDArray[Any] = row @ self._table[:, : _whole_lanes(self._count)]
        return products[: self._count]


def _whole_lanes(count: int) -> int:
    return -(-count // _LANES) * _LANES
