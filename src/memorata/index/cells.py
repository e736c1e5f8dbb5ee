"""Vectors sorted into cells, each with a small code: what an approximate index is made of, as plain arrays.

A cell is what lies closest to one centre (an inverted file; Jégou, Douze & Schmid, "Product quantization for
nearest neighbor search", 2011), so that a question reads only the cells about it. The codes are made and read
by a library (:mod:`memorata.index.approximate`); keeping, checking and taking out what was purged need none.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from memorata._frozen import frozen
from memorata.index.codes import Floats, Owners
from memorata.model.errors import IndexCorrupt

_VERSION: Final = 1
_HEAD: Final = struct.Struct("<B15sIIIIIII")
"""Version, maker, checksum, cells, dimension, vectors, bytes of a code, trained, until."""
_MAKER_BYTES: Final = 15


@frozen(eq=False)
class Cells:
    """The vectors of a namespace, cell by cell.

    Attributes
    ----------
    maker
        The library, and its version, that alone can read the codes.
    centres
        One unit vector per cell.
    sizes
        How many vectors each cell holds.
    slots
        The owners of the vectors, those of the first cell first; a slot may own several.
    codes
        One row of bytes per vector, in the same order.
    trained
        How many vectors there were when the centres were chosen.
    until
        Vectors of this slot and later ones are not in here.
    """

    maker: str
    centres: Floats
    sizes: Owners
    slots: Owners
    codes: npt.NDArray[np.uint8]
    trained: int
    until: int

    @property
    def nbytes(self) -> int:
        """How much memory the arrays take."""
        return sum(part.nbytes for part in (self.centres, self.sizes, self.slots, self.codes))

    def encoded(self) -> bytes:
        """Return the cells as bytes, with a version and a checksum."""
        parts = (self.centres, self.sizes, self.slots, self.codes)
        body = b"".join(part.tobytes() for part in parts)
        cells, dimension = self.centres.shape
        count, width = self.codes.shape
        maker = self.maker.encode("ascii")
        if len(maker) > _MAKER_BYTES:
            raise ValueError(f"the name of a maker has at most {_MAKER_BYTES} letters, not {self.maker!r}")
        numbers = (cells, dimension, count, width, self.trained, self.until)
        checksum = zlib.crc32(struct.pack("<15s6I", maker, *numbers) + body)
        return _HEAD.pack(_VERSION, maker, checksum, *numbers) + body

    @classmethod
    def decoded(cls, blob: bytes) -> Cells:
        """Return the cells that :meth:`encoded` wrote, or raise :class:`IndexCorrupt`."""
        if len(blob) < _HEAD.size:
            raise IndexCorrupt("the approximate index is cut short")
        version, maker, checksum, *numbers = _HEAD.unpack_from(blob)
        if version != _VERSION:
            raise IndexCorrupt(f"the approximate index has the unknown version {version}")
        cells, dimension, count, width, trained, until = numbers
        body = memoryview(blob)[_HEAD.size :]
        lengths = [4 * cells * dimension, 4 * cells, 4 * count, width * count]
        found = zlib.crc32(body, zlib.crc32(struct.pack("<15s6I", maker, *numbers)))
        if len(body) != sum(lengths) or found != checksum:
            raise IndexCorrupt("the approximate index does not match its checksum")
        ends = np.cumsum(lengths)
        result = cls(
            maker.rstrip(b"\0").decode("ascii"),
            np.frombuffer(body[: ends[0]], np.float32).reshape(cells, dimension),
            np.frombuffer(body[ends[0] : ends[1]], np.int32),
            np.frombuffer(body[ends[1] : ends[2]], np.int32),
            np.frombuffer(body[ends[2] :], np.uint8).reshape(count, width),
            trained,
            until,
        )
        if int(result.sizes.sum(dtype=np.int64)) != count or result.sizes.min(initial=0) < 0:
            raise IndexCorrupt("the cells of the approximate index do not add up")
        return result

    def without(self, slots: npt.NDArray[np.integer]) -> Cells:
        """Return the cells without what some slots own.

        Examples
        --------
        >>> cells = Cells("any", np.zeros((2, 4), np.float32), np.array([2, 1], np.int32),
        ...               np.array([7, 8, 9], np.int32), np.zeros((3, 5), np.uint8), 3, 10)
        >>> left = cells.without(np.array([8]))
        >>> left.sizes.tolist(), left.slots.tolist()
        ([1, 1], [7, 9])
        """
        kept = ~np.isin(self.slots, slots)
        cell = np.repeat(np.arange(len(self.sizes)), self.sizes)
        sizes = np.bincount(cell[kept], minlength=len(self.sizes)).astype(np.int32)
        return replace(self, sizes=sizes, slots=self.slots[kept], codes=self.codes[kept])
