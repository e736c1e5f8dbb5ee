"""Batches of texts of like length, so that little of the work is padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from memorata.model.checks import IntArray, whole

Integers: TypeAlias = npt.NDArray[np.int64]


def length_sorted(lengths: Sequence[int], most_rows: int, most_tokens: int) -> list[IntArray]:
    """Return the indices of every batch, longest first, so that the largest allocation comes at once.

    A batch holds at most `most_rows` texts and, once padded to its longest, at most `most_tokens` tokens; a
    text of more tokens than that is a batch by itself.

    Examples
    --------
    >>> length_sorted([3, 9, 4, 8], most_rows=2, most_tokens=100)
    [array([1, 3]), array([2, 0])]
    >>> length_sorted([3, 9, 4, 8], most_rows=4, most_tokens=16)
    [array([1]), array([3, 2]), array([0])]
    """
    whole("most_rows", most_rows, 1)
    whole("most_tokens", most_tokens, 1)
    order = np.argsort(-np.asarray(lengths, dtype=np.intp), kind="stable")
    batches = []
    start = 0
    while start < len(order):
        longest = max(1, lengths[order[start]])
        size = min(most_rows, max(1, most_tokens // longest))
        batches.append(order[start : start + size])
        start += size
    return batches


def padded(rows: Sequence[Sequence[int]], padding: int) -> tuple[Integers, Integers]:
    """Return token numbers as one rectangle, and the mask that tells tokens (1) from padding (0).

    Examples
    --------
    >>> padded([[5, 6, 7], [8]], padding=0)
    (array([[5, 6, 7],
           [8, 0, 0]]), array([[1, 1, 1],
           [1, 0, 0]]))
    """
    width = max(map(len, rows), default=0)
    numbers = np.full((len(rows), width), padding, dtype=np.int64)
    mask = np.zeros((len(rows), width), dtype=np.int64)
    for index, row in enumerate(rows):
        numbers[index, : len(row)] = row
        mask[index, : len(row)] = 1
    return numbers, mask
