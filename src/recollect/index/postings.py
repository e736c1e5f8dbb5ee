"""Posting lists as bytes: which slots of a segment have a term, and how often.

A segment spans at most 65,536 slots, so a slot is two bytes relative to the segment's first, and a frequency
two more. Every list carries a version and a checksum: what does not check is rebuilt, never trusted.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import numpy as np
import numpy.typing as npt

from recollect.model.errors import IndexCorrupt

SPAN: Final = 65_536
"""The most slots one segment covers."""

_VERSION: Final = 1
_HEAD: Final = struct.Struct("<BxxxI")
_MOST: Final = 65_535
"""Frequencies above this count as this; BM25 has long stopped telling them apart."""

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
                    lists[field, term] = ([relative], [min(frequency, _MOST)])
                else:
                    entry[0].append(relative)
                    entry[1].append(min(frequency, _MOST))
    for (field, term), (slots, frequencies) in sorted(lists.items()):
        yield field, term, encoded(np.array(slots, np.uint16), np.array(frequencies, np.uint16))


def merged(parts: Iterable[tuple[int, bytes]], first: int, dropped: npt.NDArray[np.bool_]) -> bytes | None:
    """Return one list made of the lists of neighbouring segments.

    Parameters
    ----------
    parts
        (first slot of the segment, list), in slot order.
    first
        The first slot of the merged segment.
    dropped
        Which slots, relative to `first`, are gone and are to leave no trace.

    Returns
    -------
    bytes or None
        The list; None when nothing is left of it.
    """
    slots, frequencies = [], []
    for start, blob in parts:
        relative, times = decoded(blob)
        moved = relative.astype(np.int64) + (start - first)
        kept = ~dropped[moved]
        slots.append(moved[kept].astype(np.uint16))
        frequencies.append(times[kept])
    every, times = np.concatenate(slots), np.concatenate(frequencies)
    return encoded(every, times) if len(every) else None
