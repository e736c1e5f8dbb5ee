"""Unit vectors: every vector leaves an embedder with length one, so that cosine is a plain dot product."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from memorata.embed.port import Vectors

_FAINT = 1e-15
"""A length of which the squares may have lost digits in float32."""


def unit_rows(rows: npt.NDArray[np.floating[Any]]) -> Vectors:
    """Return the rows scaled to length one; a row of zeros has no direction and stays as it is.

    Examples
    --------
    >>> unit_rows(np.array([[3, 4], [0, 0]], dtype=np.float32))
    array([[0.6, 0.8],
           [0. , 0. ]], dtype=float32)
    """
    with np.errstate(over="ignore"):
        lengths = np.sqrt(np.add.reduce(rows * rows, axis=1, keepdims=True))
    if (lengths > _FAINT).all() and np.isfinite(lengths).all():
        # All but always; what follows takes several times as long for the vector of one question.
        return (rows / lengths).astype(np.float32, copy=False)
    odd = (
        np.isfinite(rows).all(axis=1)
        & rows.any(axis=1)
        & ~((lengths[:, 0] > _FAINT) & np.isfinite(lengths[:, 0]))
    )
    if odd.any():
        # Their squares have no room, or nothing is left of them; their direction is as good as any.
        rows = rows.copy()
        rows[odd] /= np.abs(rows[odd]).max(axis=1, keepdims=True)
        lengths[odd] = np.linalg.norm(rows[odd], axis=1, keepdims=True)
    unit: npt.NDArray[np.floating[Any]] = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return unit.astype(np.float32, copy=False)


def unit_means(groups: Sequence[Vectors], dimension: int) -> Vectors:
    """Return one unit row per group: the direction of the mean of the group's rows.

    Examples
    --------
    >>> unit_means([np.array([[1, 0], [0, 1]], dtype=np.float32)], 2).round(4)
    array([[0.7071, 0.7071]], dtype=float32)
    """
    means = np.empty((len(groups), dimension), dtype=np.float32)
    for row, group in enumerate(groups):
        # A lone passage is copied, not averaged, so that its vector is the same to the last bit.
        means[row] = group[0] if len(group) == 1 else unit_rows(group.mean(axis=0, keepdims=True))[0]
    return means
