"""Addresses: where things with a given hash are, as sorted runs of hashes and places.

Hashes come in no order, so that a thousand new ones touch a thousand leaves of a large tree, and every leaf
is written whole. Sorted runs are written one after the other and merged when there are enough of a size (the
log-structured merge of O'Neil et al., 1996): each hash is written a handful of times in all, among others.
"""

from __future__ import annotations

import struct
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from memorata._frozen import frozen
from memorata.model.errors import IndexCorrupt

Keys = npt.NDArray[np.int64]
Places = npt.NDArray[np.int64]

_VERSION: Final = 1
_HEAD: Final = struct.Struct("<BxxxI")


@frozen(eq=False)
class Addresses:
    """Hashes in ascending order, and beside each the place of something that has it.

    Examples
    --------
    >>> import numpy as np
    >>> run = Addresses.of(np.array([7, -3, 7]), np.array([1, 2, 0]))
    >>> run.keys.tolist(), run.places.tolist()
    ([-3, 7, 7], [2, 0, 1])
    """

    keys: Keys
    places: Places

    def __len__(self) -> int:
        return len(self.keys)

    @classmethod
    def of(cls, keys: Keys, places: Places) -> Addresses:
        """Return hashes and their places in order."""
        order = np.lexsort((places, keys))
        return cls(keys[order], places[order])

    @classmethod
    def joined(cls, runs: Sequence[Addresses]) -> Addresses:
        """Return several as one; what stands in two of them stands there once."""
        keys = np.concatenate([run.keys for run in runs])
        places = np.concatenate([run.places for run in runs])
        # Each of them is in order: a merge sort finds that out, and only merges.
        order = np.argsort(keys, kind="stable")
        keys, places = keys[order], places[order]
        if (keys[1:] == keys[:-1]).any():
            # Few hashes are equal; where they are, places decide.
            order = np.lexsort((places, keys))
            keys, places = keys[order], places[order]
            fresh = np.ones(len(keys), np.bool_)
            fresh[1:] = (keys[1:] != keys[:-1]) | (places[1:] != places[:-1])
            keys, places = keys[fresh], places[fresh]
        return cls(keys, places)

    def without(self, gone: npt.NDArray[np.bool_]) -> Addresses:
        """Return those that are not marked."""
        return Addresses(self.keys[~gone], self.places[~gone])

    def of_one(self, key: int) -> list[int]:
        """Return the places of one hash; for one, this takes a fifth of the time of :meth:`found`.

        Examples
        --------
        >>> import numpy as np
        >>> Addresses.of(np.array([3, 5, 5]), np.array([0, 2, 1])).of_one(5)
        [1, 2]
        """
        ordered = self.keys.data
        first = bisect_left(ordered, key)
        if first == len(ordered) or ordered[first] != key:
            return []
        places: list[int] = self.places[first : bisect_right(ordered, key, first)].tolist()
        return places

    def found(self, wanted: Keys, most: int | None = None) -> Addresses:
        """Return those with one of the wanted hashes, which ascend; no more than `most` of each.

        Examples
        --------
        >>> import numpy as np
        >>> run = Addresses.of(np.array([3, 5, 5, 5]), np.array([0, 1, 2, 3]))
        >>> run.found(np.array([4, 5, 6])).places.tolist(), run.found(np.array([5]), 2).places.tolist()
        ([1, 2, 3], [1, 2])
        """
        first = np.searchsorted(self.keys, wanted)
        there = first < len(self.keys)
        there[there] = self.keys[first[there]] == wanted[there]
        first = first[there]
        if not first.size:
            return Addresses(first, first)
        counts = np.searchsorted(self.keys, wanted[there], "right") - first
        if most is not None:
            counts = np.minimum(counts, most)
        # From where each begins, as many as there are of it.
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        at = np.repeat(first, counts) + within
        return Addresses(self.keys[at], self.places[at])

    def encoded(self) -> bytes:
        """Return them as bytes, with a version and a checksum."""
        body = b"".join([np.ascontiguousarray(part, "<i8").data for part in (self.keys, self.places)])
        return _HEAD.pack(_VERSION, zlib.crc32(body)) + body

    @classmethod
    def decoded(cls, blob: bytes) -> Addresses:
        """Return what :meth:`encoded` wrote, or raise :class:`IndexCorrupt`."""
        if len(blob) < _HEAD.size or (len(blob) - _HEAD.size) % 16:
            raise IndexCorrupt("addresses are cut short")
        version, checksum = _HEAD.unpack_from(blob)
        if version != _VERSION:
            raise IndexCorrupt(f"addresses have the unknown version {version}")
        if zlib.crc32(memoryview(blob)[_HEAD.size :]) != checksum:
            raise IndexCorrupt("addresses do not match their checksum")
        keys, places = np.frombuffer(blob, "<i8", offset=_HEAD.size).reshape(2, -1)
        return cls(keys, places)
