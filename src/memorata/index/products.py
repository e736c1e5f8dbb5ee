"""Products of one vector with many: of floats, of bytes, and of sign bits, where they differ.

SimSIMD (Vardanian, 2023) has a kernel of each for the processor at hand; where it cannot be imported, numpy
computes the same. Every row is compared by itself, whatever stands around it: equal rows have equal products,
to the last bit, wherever they stand. The kernels read memory as it lies, so what lies otherwise (a view with
steps, another type) is copied first.

On 20,000 rows of 384, numpy takes as long for floats (1.3 ms), 15 times as long for bytes (6.8 against
0.45 ms) and 5 times as long for bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from memorata.index.codes import Bits, Bytes, Floats

try:
    import simsimd
except ImportError:  # no wheel for this platform
    simsimd = None  # type: ignore[assignment]

_Metric: TypeAlias = Literal["dot", "hamming"]
_Type: TypeAlias = Literal["float32", "int8", "bin8"]
_MAX_EXACT_BYTES: Final = 2**24 // 128**2
"""Up to how many bytes a row's product, added up as float32 in any order, is exact."""
_BLOCK_ROWS: Final = 4_096

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


def _with_each(query: npt.NDArray[Any], rows: npt.NDArray[Any], metric: _Metric, dtype: _Type) -> Floats:
    if not rows.size:
        return np.zeros(len(rows), np.float32)
    plain = _plain(query, dtype), _plain(rows, dtype)
    return _by_numpy(*plain, dtype) if simsimd is None else _by_simsimd(*plain, metric, dtype)


def _by_simsimd(query: npt.NDArray[Any], rows: npt.NDArray[Any], metric: _Metric, dtype: _Type) -> Floats:
    compared = simsimd.cdist(query[np.newaxis], rows, metric, dtype=dtype, out_dtype="float32")
    result: Floats = np.asarray(compared)[0]
    return result


def _by_numpy(query: npt.NDArray[Any], rows: npt.NDArray[Any], dtype: _Type) -> Floats:
    """Return what the kernels do, in blocks where a block is converted first."""
    if dtype == "float32":
        # Not rows @ query, which adds up the last few rows in another order than the others.
        floats: Floats = np.vecdot(rows, query)
        return floats
    result = np.empty(len(rows), np.float32)
    wide = np.float32 if rows.shape[1] <= _MAX_EXACT_BYTES else np.float64
    for start in range(0, len(rows), _BLOCK_ROWS):
        block = rows[start : start + _BLOCK_ROWS]
        result[start : start + _BLOCK_ROWS] = (
            block.astype(wide) @ query.astype(wide)
            if dtype == "int8"
            else np.bitwise_count(block ^ query).sum(axis=1, dtype=np.uint32)
        )
    return result


def _plain(array: npt.NDArray[Any], dtype: str) -> npt.NDArray[Any]:
    """Return an array as the kernels need it: of one type, every number where it belongs."""
    kind, flags = _TYPES[dtype], array.flags
    if array.dtype == kind and flags.c_contiguous and flags.aligned:
        return array
    return np.require(array, kind, ["C", "A"])
