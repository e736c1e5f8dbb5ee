"""Products of one vector with many: of floats, of bytes, and of sign bits, where they differ.

SimSIMD (Vardanian, 2023) has a kernel of each for the processor at hand. Every row is compared by itself,
whatever stands around it: equal rows have equal products, to the last bit, wherever they stand. The kernels
read memory as it lies, so what lies otherwise (a view with steps, another type) is copied first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt
import simsimd

from memorata.index.codes import Bits, Bytes, Floats

_TYPES: Final[Mapping[str, np.dtype[Any]]] = {
    "float32": np.dtype(np.float32),
    "int8": np.dtype(np.int8),
    "bin8": np.dtype(np.uint8),
}


def products(rows: Floats, query: Floats) -> Floats:
    """Return the dot product of every row with `query`.

    Examples
    --------
    >>> products(np.array([[1, 0], [3, 4]], np.float32), np.array([2, 1], np.float32))
    array([ 2., 10.], dtype=float32)
    """
    return _with_each(query, rows, "dot", "float32")


def byte_products(rows: Bytes, query: Bytes) -> Floats:
    """Return the dot product of every row of bytes with one row of bytes; they are added up as whole numbers.

    Examples
    --------
    >>> byte_products(np.array([[127, 127], [-127, 1]], np.int8), np.array([127, 100], np.int8))
    array([ 28829., -16029.], dtype=float32)
    """
    return _with_each(query, rows, "dot", "int8")


def differing(rows: Bits, query: Bits) -> npt.NDArray[np.uint16]:
    """Return in how many bits each row of words differs from the words of `query`.

    Examples
    --------
    >>> differing(np.array([[0b1010], [0b0110]], np.uint64), np.array([0b1011], np.uint64))
    array([1, 3], dtype=uint16)
    """
    asked, others = np.ascontiguousarray(query), np.ascontiguousarray(rows)
    bits = _with_each(asked.view(np.uint8), others.view(np.uint8), "hamming", "bin8")
    return bits.astype(np.uint16)


def _with_each(
    query: npt.NDArray[Any],
    rows: npt.NDArray[Any],
    metric: Literal["dot", "hamming"],
    dtype: Literal["float32", "int8", "bin8"],
) -> Floats:
    if not rows.size:
        return np.zeros(len(rows), np.float32)
    plain = _plain(query, dtype)[np.newaxis], _plain(rows, dtype)
    compared = simsimd.cdist(*plain, metric, dtype=dtype, out_dtype="float32")
    result: Floats = np.asarray(compared)[0]
    return result


def _plain(array: npt.NDArray[Any], dtype: str) -> npt.NDArray[Any]:
    """Return an array as the kernels need it: of one type, every number where it belongs."""
    kind, flags = _TYPES[dtype], array.flags
    if array.dtype == kind and flags.c_contiguous and flags.aligned:
        return array
    return np.require(array, kind, ["C", "A"])
