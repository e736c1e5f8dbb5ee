r"""Lists as a server reads them in text: a driver takes longer to adapt every value than to send them all.

It looks at each value of a list to find a type that fits all of them, and a statement with another type is
another statement, planned anew. As text, which the statement casts, it is one value of one type.

Lists that a server sends in binary are arrays already, but for the order of their bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from psycopg import Cursor, postgres
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.pq import Format

_ESCAPED: Final = str.maketrans({"\\": "\\\\", '"': '\\"'})
"""What means something else inside the quotes of an array."""
_HEAD: Final = 20
"""The bytes before the first number of an array: dimensions, flags, type, length, first index."""


def register(cursor: Cursor[Any]) -> None:
    """Let a cursor read arrays of numbers, with one dimension and none of them missing, as numpy's."""
    for name, loader in (("int4", _Integers), ("int8", _LongIntegers), ("float8", _Floats)):
        cursor.adapters.register_loader(postgres.types[name].array_oid, loader)


def array(values: Iterable[object]) -> str:
    """Return numbers, or truths, as an array.

    Examples
    --------
    >>> array([1, 2.5, True]), array([])
    ('{1,2.5,True}', '{}')
    """
    return f"{{{','.join(map(str, values))}}}"


def text_array(values: Iterable[str]) -> str:
    r"""Return texts as an array.

    Examples
    --------
    >>> print(text_array(['tea', 'a "b"', 'c\\d', 'NULL', '']))
    {"tea","a \"b\"","c\\d","NULL",""}
    """
    return array(f'"{value.translate(_ESCAPED)}"' for value in values)


class _Numbers(Loader):
    format = Format.BINARY
    each: np.dtype[Any]
    """How one number stands there, after its own length."""

    def load(self, data: Buffer) -> npt.NDArray[Any]:
        if len(data) < _HEAD:
            # An empty one has no dimension.
            return np.zeros(0, self.each["number"].newbyteorder("="))
        return np.frombuffer(data, self.each, offset=_HEAD)["number"].astype(
            self.each["number"].newbyteorder("=")
        )


class _Integers(_Numbers):
    each = np.dtype([("length", ">i4"), ("number", ">i4")])


class _LongIntegers(_Numbers):
    each = np.dtype([("length", ">i4"), ("number", ">i8")])


class _Floats(_Numbers):
    each = np.dtype([("length", ">i4"), ("number", ">f8")])
