"""Posting lists as bytes: which slots of a segment have a term, and how often.

A segment spans at most 65,536 slots, so a slot is two bytes relative to the segment's first, and a frequency
two more. Every list carries a version and a checksum: what does not check is rebuilt, never trusted.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from struct import Struct, pack
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from recollect.model.errors import IndexCorrupt

SPAN: Final = 65_536
"""The most slots one segment covers."""

_VERSION: Final = 1
_HEAD: Final = Struct("<BxxxI")
MOST: Final = 65_535
"""Frequencies above this count as this; BM25 has long stopped telling them apart."""

_TWO_BYTES: Final = np.dtype("<u2")

Key: TypeAlias = tuple[str, str]
"""A field and a term."""
Slots = npt.NDArray[np.uint16]
Frequencies = npt.NDArray[np.uint16]


def encoded(slots: Slots, frequencies: Frequencies) -> bytes:
    """Return a posting list as bytes.

    Examples
    --------
    >>> import numpy as np
    >>> decoded(encoded(np.array([3, 9], np.uint16), np.array([1, 2], np.uint16)))
    (array([3, 9], dtype=uint16), array([1, 2], dtype=uint16))
    """
    return _sealed(slots.astype(_TWO_BYTES).tobytes() + frequencies.astype(_TWO_BYTES).tobytes())


def decoded(blob: bytes) -> tuple[Slots, Frequencies]:
    """Return the slots and frequencies of a posting list, or raise :class:`IndexCorrupt`."""
    size = _checked(blob)
    return (
        np.frombuffer(blob, _TWO_BYTES, size, _HEAD.size),
        np.frombuffer(blob, _TWO_BYTES, size, _HEAD.size + 2 * size),
    )


def _sealed(body: bytes) -> bytes:
    return _HEAD.pack(_VERSION, zlib.crc32(body)) + body


def _checked(blob: bytes) -> int:
    """Return how many postings a list holds, or raise :class:`IndexCorrupt`."""
    if len(blob) < _HEAD.size or (len(blob) - _HEAD.size) % 4:
        raise IndexCorrupt("a posting list is cut short")
    version, checksum = _HEAD.unpack_from(blob)
    if version != _VERSION:
        raise IndexCorrupt(f"a posting list has the unknown version {version}")
    if zlib.crc32(memoryview(blob)[_HEAD.size :]) != checksum:
        raise IndexCorrupt("a posting list does not match its checksum")
    return (len(blob) - _HEAD.size) // 4


def inverted(
    documents: Iterable[tuple[int, Mapping[str, Mapping[str, int]]]], first: int
) -> Iterator[tuple[str, str, bytes]]:
    """Turn documents into posting lists: yield (field, term, list) for every term of every field.

    Parameters
    ----------
    documents
        (slot, {field: {term: frequency}}), slots ascending, all within `SPAN` of `first`.
    first
        The first slot of the segment.
    """
    lists: dict[str, dict[str, tuple[list[int], list[int]]]] = {}
    for slot, fields in documents:
        relative = slot - first
        for field, terms in fields.items():
            of_field = lists.setdefault(field, {})
            for term, frequency in terms.items():
                entry = of_field.get(term)
                if entry is None:
                    entry = of_field[term] = ([], [])
                entry[0].append(relative)
                entry[1].append(frequency if frequency <= MOST else MOST)
    for field, of_field in sorted(lists.items()):
        for term, (slots, frequencies) in sorted(of_field.items()):
            # Most lists are a handful of numbers, for which struct is several times faster than numpy.
            yield field, term, _sealed(pack(f"<{2 * len(slots)}H", *slots, *frequencies))


def merged(
    lists: Sequence[tuple[Key, int, bytes]], first: int, dropped: npt.NDArray[np.bool_]
) -> Iterator[tuple[Key, bytes]]:
    """Join the lists that neighbouring segments have of each term: yield (key, list) for what is left.

    Parameters
    ----------
    lists
        (key, first slot of the segment, list), sorted: equal keys together, their segments in slot order.
    first
        The first slot of the merged segment.
    dropped
        Which slots, relative to `first`, are gone and are to leave no trace.

    Notes
    -----
    All lists are moved and filtered as one array; only cutting it up again is done list by list.
    """
    if not lists:
        return
    sizes = [_checked(blob) for _, _, blob in lists]
    middles = [_HEAD.size + 2 * size for size in sizes]
    every_slot = b"".join([row[2][_HEAD.size : middle] for row, middle in zip(lists, middles, strict=True)])
    every_time = b"".join([row[2][middle:] for row, middle in zip(lists, middles, strict=True)])
    shifts = np.array([start - first for _, start, _ in lists])
    moved = np.frombuffer(every_slot, _TWO_BYTES).astype(np.int64) + np.repeat(shifts, sizes)
    kept = ~dropped[moved]
    left = np.concatenate([[0], np.cumsum(kept)])[np.concatenate([[0], np.cumsum(sizes)])] * 2
    ends = left.tolist()
    slots = moved[kept].astype(_TWO_BYTES).tobytes()
    frequencies = np.frombuffer(every_time, _TWO_BYTES)[kept].tobytes()
    position = 0
    for key, group in groupby(lists, key=itemgetter(0)):
        end = position + sum(1 for _ in group)
        if ends[end] > ends[position]:
            span = slice(ends[position], ends[end])
            yield key, _sealed(slots[span] + frequencies[span])
        position = end
