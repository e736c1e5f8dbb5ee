"""Unit vectors: every vector leaves an embedder with length one, so that cosine is a plain dot product."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recollect.embed.port import Vectors
from recollect.model.checks import text as checked_text
from recollect.model.errors import InvalidArgument


def unit_rows(rows: Vectors) -> Vectors:
    """Return the rows scaled to length one; a row of zeros has no direction and stays as it is.

    Examples
    --------
    >>> unit_rows(np.array([[3, 4], [0, 0]], dtype=np.float32))
    array([[0.6, 0.8],
           [0. , 0. ]], dtype=float32)
    """
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Vectors = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return unit


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


def checked_texts(texts: Sequence[str]) -> list[str]:
    """Return the texts as a list; a bare string is refused, since its letters are rarely what was meant.

    Examples
    --------
    >>> checked_texts("hello")
    Traceback (most recent call last):
    ...
    recollect.model.errors.InvalidArgument: texts must be a list of strings, got 'hello'
    """
    if isinstance(texts, str | bytes) or not isinstance(texts, Sequence):
        raise InvalidArgument("texts", texts, "a list of strings")
    return [checked_text(f"texts[{index}]", text) for index, text in enumerate(texts)]
