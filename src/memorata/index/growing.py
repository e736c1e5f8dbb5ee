"""Arrays that grow at the end, with room to spare, so that adding one row does not copy the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


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
