"""Are these vectors of meaning? All of them have the length 1, so that products of them are cosines.

Embedders promise it (:mod:`memorata.embed.port`). Where it does not hold, one has broken its promise, or the
bytes of a vector are no longer those that were written: one bit of an exponent makes it longer than any.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

_NOT_ONE: Final = 0.02
"""How far from 1 the squared length of a vector may be: some have been rounded on the way."""


def are_directions(rows: npt.NDArray[np.floating[Any]]) -> bool:
    """Tell whether all rows have the length 1, or 0 for a text in which an embedder finds nothing.

    Examples
    --------
    >>> are_directions(np.array([[0.6, 0.8], [0, 0]])), are_directions(np.array([[0.6, 0.8], [3, 4]]))
    (True, False)
    >>> are_directions(np.array([[np.nan, 1]]))
    False
    """
    if len(rows) == 1:
        # Of one, plain numbers tell in a quarter of the time.
        return is_direction(rows) or float(np.vdot(rows, rows)) == 0
    squares = np.einsum("ij,ij->i", rows, rows)
    # Not a number is in no range.
    return bool(((np.abs(squares - 1) <= _NOT_ONE) | (squares == 0)).all())


def is_direction(row: npt.NDArray[np.floating[Any]]) -> bool:
    """Tell whether one row has the length 1; then all of its numbers are finite, too.

    Examples
    --------
    >>> is_direction(np.array([0.6, 0.8])), is_direction(np.zeros(2))
    (True, False)
    """
    return abs(float(np.vdot(row, row)) - 1) <= _NOT_ONE
