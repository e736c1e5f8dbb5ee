"""Posting lists as bytes: which slots of a segment have a term, and how often.

A segment spans at most 65,536 slots, so a slot is two bytes relative to the segment's first, and a frequency
two more. Every list carries a version and a checksum: what does not check is rebuilt, never trusted.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from recollect.model.errors import IndexCorrupt

SPAN: Final = 65_536
"""The most slots one segment covers."""

_VERSION: Final = 1
_HEAD: Final = struct.Struct("<BxxxI")
MOST: Final = 65_535
"""Frequencies above this count as this; BM25 has long stopped telling them apart."""

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
    body = slots.tobytes() + frequencies.tobytes()
    return _HEAD.pack(_VERSION, zlib.crc32(body)) + body


def decoded(blob: bytes) -> tuple[Slots, Frequencies]:
    """Return the slots and frequencies of a posting list, or raise :class:`IndexCorrupt`."""
    if len(blob) < _HEAD.size or (len(blob) - _HEAD.size) % 4:
        raise IndexCorrupt("a posting list is cut short")
    version, checksum = _HEAD.unpack_from(blob)
    body = memoryview(blob)[_HEAD.size :]
    if version != _VERSION:
        raise IndexCorrupt(f"a posting list has the unknown version {version}")
    if zlib.crc32(body) != checksum:
        raise IndexCorrupt("a posting list does not match its checksum")
    half = len(body) // 2
    return np.frombuffer(body[:half], np.uint16), np.frombuffer(body[half:], np.uint16)


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
    lists: dict[tuple[str, str], tuple[list[int], list[int]]] = {}
    for slot, fields in documents:
        relative = slot - first
        for field, terms in fields.items():
            for term, frequency in terms.items():
                entry = lists.get((field, term))
                if entry is None:
                    lists[field, term] = ([relative], [min(frequency, MOST)])
                else:
                    entry[0].append(relative)
                    entry[1].append(min(frequency, MOST))
    for (field, term), (slots, frequencies) in sorted(lists.items()):
        yield field, term, encoded(np.array(slots, np.uint16), np.array(frequencies, np.uint16))


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
    parts = [decoded(blob) for _, _, blob in lists]
    if not parts:
        return
    sizes = np.array([slots.size for slots, _ in parts])
    shifts = np.array([start - first for _, start, _ in lists])
    moved = np.concatenate([slots for slots, _ in parts]).astype(np.int64) + np.repeat(shifts, sizes)
    kept = ~dropped[moved]
    left = np.concatenate([[0], np.cumsum(kept)])[np.concatenate([[0], np.cumsum(sizes)])].tolist()
    slots = moved[kept].astype(np.uint16)
    frequencies = np.concatenate([times for _, times in parts])[kept]
    position = 0
    for key, group in groupby(lists, key=itemgetter(0)):
        end = position + sum(1 for _ in group)
        if left[end] > left[position]:
            span = slice(left[position], left[end])
            yield key, encoded(slots[span], frequencies[span])
        position = end
