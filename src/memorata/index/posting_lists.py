"""Posting lists: read from the blocks of all segments, those of a whole query at once, and amended.

The words of a query stand in some ten lists, those of a word in one block of every segment, and asking for
a block takes as long as reading it. The blocks of a small namespace that is asked again and again are few
enough to keep: then nothing is asked for.

The tags, names and day of a memory may be changed later, and it is found by their words. The lists of a term
are found by its hash, so that a change of a few words reads and writes a few blocks of about a kilobyte,
however large the segment is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import accumulate
from typing import Final, TypeAlias

import numpy as np

from memorata.index.lexical import TermList
from memorata.index.partition import Segment
from memorata.index.postings import (
    Checked,
    Frequencies,
    Key,
    Slots,
    amended,
    checked,
    checked_term_lists,
    key_of,
    places_of,
    term_lists,
)
from memorata.index.record import encoded_terms
from memorata.store.database import Session
from memorata.store.entries import Terms
from memorata.store.rows import Namespace

Block: TypeAlias = tuple[int, int]
"""The number of a segment, and the place of one of its blocks."""
Blocks: TypeAlias = Mapping[Block, Checked]

SEGMENTS: Final = "SELECT number, first, buckets FROM segments WHERE namespace = ? ORDER BY first"
_NO_SLOTS: Final = TermList(np.zeros(0, np.int32), np.zeros(0, np.uint16))


def segments_of(session: Session, namespace: int) -> list[Segment]:
    """Return the segments of a namespace in the order of their slots; they stay so for a generation."""
    return session.execute(SEGMENTS, (namespace,)).fetchall()


def some_blocks(session: Session, namespace: int, numbers: Collection[Block]) -> Blocks:
    """Return the blocks that exist of those requested, by segment and place."""
    if not numbers:
        return {}
    rows = session.execute(*session.dialect.postings.some(namespace, numbers)).fetchall()
    return {(segment, place): checked(block) for segment, place, block in rows}


def all_blocks(session: Session, namespace: int, segments: Sequence[Segment]) -> Blocks:
    """Return the blocks of all segments, by segment and place."""
    numbers = [segment for segment, _, _ in segments]
    rows = session.execute(*session.dialect.postings.of_segments(namespace, numbers)).fetchall()
    return {(segment, place): checked(block) for segment, place, block in rows}


def read_lists(
    blocks_of: Callable[[Collection[Block]], Blocks],
    segments: Sequence[Segment],
    keys: Sequence[tuple[str, str]],
) -> dict[tuple[str, str], TermList]:
    """Return the list that each term has in a field, over all segments of a namespace.

    `blocks_of`: returns blocks by their numbers, at least the requested ones that exist. `keys`: fields and
    terms; one that no memory has gets an empty list.
    """
    places = {}
    for term in dict.fromkeys([term for _, term in keys]):
        low, long = places_of(key_of("", term))
        places[term] = [
            (first, (number, place))
            for number, first, buckets in segments
            for place in (low & (buckets - 1), long)
        ]
    numbers = {number for numbered in places.values() for _, number in numbered}
    blocks = blocks_of(numbers)
    lists: dict[tuple[str, str], list[tuple[int, Slots, Frequencies]]] = {key: [] for key in keys}
    for term, numbered in places.items():
        for first, number in numbered:
            if number in blocks:
                for field, listed in checked_term_lists(blocks[number], term).items():
                    if (field, term) in lists:
                        lists[field, term].append((first, *listed))
    return _joined(lists)


def _joined(
    lists: Mapping[tuple[str, str], Sequence[tuple[int, Slots, Frequencies]]],
) -> dict[tuple[str, str], TermList]:
    """Return the lists that each key has in neighbouring segments as one, given the first slot of each."""
    every = [part for parts in lists.values() for part in parts]
    if not every:
        return dict.fromkeys(lists, _NO_SLOTS)
    # All keys at once: numpy takes longer to begin with a list than to join it.
    firsts, relative, frequencies = zip(*every, strict=True)
    sizes = [slots_of_part.size for slots_of_part in relative]
    start = np.repeat(np.array(firsts, np.int32), sizes)
    slots, times = np.add(np.concatenate(relative), start, dtype=np.int32), np.concatenate(frequencies)
    ends = [0, *accumulate(sizes)]
    result, before = {}, 0
    for key, parts in lists.items():
        after = before + len(parts)
        own = slice(ends[before], ends[after])
        # Copies, so that a cached list does not hold the others in memory.
        result[key] = TermList(slots[own].copy(), times[own].copy()) if parts else _NO_SLOTS
        before = after
    return result


def reword(session: Session, namespace: Namespace, slot: int, old: Terms, new: Terms) -> None:
    """List a memory under other words, in the transaction of the write that changes it."""
    if slot >= namespace.flushed:
        session.execute(
            "UPDATE records SET terms = ? WHERE namespace = ? AND slot = ?",
            (encoded_terms(new), namespace.number, slot),
        )
    else:
        _relist(session, namespace.number, slot, _differences(old, new))
    # Lists that a process keeps are those of the generation it knows.
    session.execute("UPDATE namespaces SET generation = generation + 1 WHERE number = ?", (namespace.number,))


def _differences(old: Terms, new: Terms) -> dict[tuple[str, str], int]:
    """Return every term whose posting differs, and its new frequency."""
    before = {(field, term): times for field, terms in old.items() for term, times in terms.items()}
    after = {(field, term): times for field, terms in new.items() for term, times in terms.items()}
    return {
        key: after.get(key, 0) for key in before.keys() | after.keys() if before.get(key) != after.get(key)
    }


def _relist(session: Session, number: int, slot: int, changes: dict[tuple[str, str], int]) -> None:
    segment, first, buckets = session.execute(
        "SELECT number, first, buckets FROM segments WHERE namespace = ? AND first <= ? "
        "ORDER BY first DESC LIMIT 1",
        (number, slot),
    ).fetchone()
    by_place: dict[int, dict[Key, dict[int, int]]] = {}
    for (field, term), times in sorted(changes.items()):
        key = key_of(field, term)
        low, long = places_of(key)[0] % buckets, places_of(key)[1]
        # A list stays where it is, long or short: readers look in both places.
        listed = _block(session, number, segment, long)
        place = long if listed is not None and field in term_lists(listed, term) else low
        by_place.setdefault(place, {})[key] = {slot - first: times}
    for place, postings in by_place.items():
        block = amended(_block(session, number, segment, place), postings)
        if block is None:
            session.execute(session.dialect.postings.drop, (number, segment, place))
        else:
            session.execute(session.dialect.postings.put, (number, segment, place, block))


def _block(session: Session, number: int, segment: int, place: int) -> bytes | None:
    row = session.execute(session.dialect.postings.one, (number, segment, place)).fetchone()
    return None if row is None else bytes(row[0])
