"""Reading posting lists from the blocks of all segments, those of a whole question at once.

The words of a question stand in some ten lists, those of a word in one block of every segment, and asking for
a block takes as long as reading it.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Final

import numpy as np

from recollect.index.lexical import TermList
from recollect.index.partition import Segment
from recollect.index.postings import PLACES, Frequencies, Slots, found, key_of, places_of

_SEGMENTS: Final = "SELECT number, first, buckets FROM segments WHERE namespace = ? ORDER BY first"
_BLOCKS: Final = "SELECT number, block FROM postings WHERE number IN (SELECT value FROM json_each(?))"
_NO_SLOTS: Final = TermList(np.zeros(0, np.int32), np.zeros(0, np.uint16))


def segments_of(connection: sqlite3.Connection, namespace: int) -> list[Segment]:
    """Return the segments of a namespace in the order of their slots; they stay so for a generation."""
    return connection.execute(_SEGMENTS, (namespace,)).fetchall()


def read_lists(
    connection: sqlite3.Connection, segments: Sequence[Segment], keys: Sequence[tuple[str, str]]
) -> dict[tuple[str, str], TermList]:
    """Return the list that each term has in a field, over all segments of a namespace.

    Parameters
    ----------
    connection
        Inside a transaction.
    segments
        Those of the namespace.
    keys
        Fields and terms; one that no memory has gets an empty list.
    """
    places = {}
    for term in dict.fromkeys([term for _, term in keys]):
        low, long = places_of(key_of("", term))
        places[term] = [
            (first, number * PLACES + place)
            for number, first, buckets in segments
            for place in (low & (buckets - 1), long)
        ]
    numbers = {number for each in places.values() for _, number in each}
    blocks = dict(connection.execute(_BLOCKS, (json.dumps(list(numbers)),)).fetchall())
    lists: dict[tuple[str, str], list[tuple[int, Slots, Frequencies]]] = {key: [] for key in keys}
    for term, each in places.items():
        for first, number in each:
            if number in blocks:
                for field, listed in found(blocks[number], term).items():
                    if (field, term) in lists:
                        lists[field, term].append((first, *listed))
    return {key: _joined(each) if each else _NO_SLOTS for key, each in lists.items()}


def _joined(lists: Sequence[tuple[int, Slots, Frequencies]]) -> TermList:
    """Return the lists of neighbouring segments as one, given the first slot of each."""
    firsts, relative, frequencies = zip(*lists, strict=True)
    if len(lists) == 1:
        return TermList(np.add(relative[0], firsts[0], dtype=np.int32), frequencies[0])
    start = np.repeat(np.array(firsts, np.int32), [each.size for each in relative])
    return TermList(np.add(np.concatenate(relative), start, dtype=np.int32), np.concatenate(frequencies))
