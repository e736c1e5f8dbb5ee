"""Segments: the posting lists of runs of memories, written together, merged as they grow, read and amended.

The words of new memories wait beside their records until there are enough for a segment; eight neighbours of
a size become one, up to 65,536 slots (the log-structured merge of O'Neil et al., 1996). All of it happens
inside the transaction of the write that caused it, so the index never lags behind the data and a new process
rebuilds nothing.

The words of a query stand in some ten lists, those of a word in one block of every segment, and asking for a
block takes as long as reading it: a search reads those of a whole query at once. The tags, names and day of a
memory may be changed later, and it is found by their words. The lists of a term are found by its hash, so
that a change of a few words reads and writes a few blocks of about a kilobyte, however large the segment is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import accumulate, groupby
from typing import Final, TypeAlias

import numpy as np

from memorata.index.codes import (
    Codes,
    Floats,
    Owners,
    join_short_runs,
    rewrite_runs,
    runs_within,
    write_run,
)
from memorata.index.lexical import TermList
from memorata.index.partition import Segment
from memorata.index.postings import (
    SPAN,
    Checked,
    Frequencies,
    Key,
    Lists,
    Slots,
    amended,
    checked,
    checked_term_lists,
    inverted,
    key_of,
    merged,
    places_of,
)
from memorata.index.record import GONE, decoded_terms, encoded_terms, unpacked_run
from memorata.index.vector_rows import stored_bytes, unsealed
from memorata.model.errors import IndexCorrupt, StoreCorrupt
from memorata.store.database import Session, Statement
from memorata.store.entries import Terms
from memorata.store.rows import Namespace

Embedder: TypeAlias = tuple[int, int]
"""The number of an embedder, and the dimension of its vectors."""

TAIL: Final = 256
"""Most memories in the tail before they become a segment."""

_FAN_OUT: Final = 8
_MAX_LEVELS: Final = 4
"""How many sizes of segments there are: `TAIL`, then `_FAN_OUT` times as many slots each, up to `SPAN`."""
_VECTORS: Final = (
    "SELECT slot, vectors FROM vectors WHERE +namespace = ? AND number >= ? AND number < ? ORDER BY number"
)


def flush(
    session: Session,
    namespace: Namespace,
    fresh: Sequence[tuple[int, Terms]],
    vectors: tuple[Embedder, Owners, Floats] | None,
) -> None:
    """Turn what waits and fresh memories into segments, then merge what has become too many.

    `namespace`: as it was before the write. `fresh`: the slots and words of the memories just written, which
    follow those that wait. `vectors`: whose vectors get codes, and the owners and rows of those just written.
    """
    number, first = namespace.number, namespace.flushed
    rows = session.execute(
        "SELECT slot, terms FROM records WHERE namespace = ? AND slot >= ? AND terms IS NOT NULL "
        "ORDER BY slot",
        (number, first),
    ).fetchall()
    slots = namespace.slots + len(fresh)

    def coded(start: int, end: int) -> tuple[int, Codes] | None:
        if vectors is None:
            return None
        embedder, owners, matrix = vectors
        inside = slice(*np.searchsorted(owners, [start, end]).tolist())
        owners, matrix = owners[inside], matrix[inside]
        if start < namespace.slots:
            waiting = stored_vectors(session, number, embedder, start, namespace.slots)
            owners, matrix = np.concatenate([waiting[0], owners]), np.concatenate([waiting[1], matrix])
        return embedder[0], Codes.of(owners, matrix)

    documents = [*((slot, decoded_terms(words)) for slot, words in rows), *fresh]
    _write(session, number, range(first, slots), documents, coded)
    if rows:
        session.execute("UPDATE records SET terms = NULL WHERE namespace = ? AND slot >= ?", (number, first))
    _merge_newest(session, number)
    session.execute(
        "UPDATE namespaces SET flushed = ?, generation = generation + 1 WHERE number = ?", (slots, number)
    )


def rebuild(
    session: Session,
    number: int,
    documents: Iterable[tuple[int, Terms]],
    slots: int,
    embedder: Embedder | None,
) -> None:
    """Write all segments of a namespace anew from the words of its memories."""

    def coded(start: int, end: int) -> tuple[int, Codes] | None:
        if embedder is None:
            return None
        return embedder[0], Codes.of(*stored_vectors(session, number, embedder, start, end))

    drop(session, number)
    _write(session, number, range(slots), documents, coded)
    session.execute(
        "UPDATE namespaces SET flushed = slots, generation = generation + 1 WHERE number = ?", (number,)
    )


def drop(session: Session, number: int) -> None:
    """Remove all segments and waiting words of a namespace."""
    rows = session.execute("SELECT number FROM segments WHERE namespace = ?", (number,)).fetchall()
    _remove(session, number, [segment for (segment,) in rows])
    session.execute("DELETE FROM vector_codes WHERE namespace = ?", (number,))
    session.execute("UPDATE records SET terms = NULL WHERE namespace = ? AND terms IS NOT NULL", (number,))


def rewrite_without(session: Session, number: int, slots: Iterable[int]) -> None:
    """Write the segments and codes that hold some slots anew, without what is gone."""
    gone = np.sort(np.fromiter(slots, np.int64))
    for segment in session.execute(
        "SELECT number, first, slots FROM segments WHERE namespace = ? ORDER BY first", (number,)
    ).fetchall():
        first, end = np.searchsorted(gone, [segment[1], segment[1] + segment[2]])
        if first < end:
            _merge(session, number, [segment])
    rewrite_runs(session, number, gone)
    session.execute("UPDATE namespaces SET generation = generation + 1 WHERE number = ?", (number,))


def stored_vectors(
    session: Session, number: int, embedder: Embedder, start: int, end: int
) -> tuple[Owners, Floats]:
    """Return the owners and float32 rows of the vectors of slots from `start` up to `end`."""
    rows = session.execute(*vectors_statement(session, number, embedder, start, end)).fetchall()
    return unpacked_vectors(rows, embedder[1])


def vectors_statement(session: Session, number: int, embedder: Embedder, start: int, end: int) -> Statement:
    """Return what reads the vectors of slots from `start` up to `end`."""
    place = session.dialect.vectors_number
    return _VECTORS, (number, place(embedder[0], number, start), place(embedder[0], number, end))


def unpacked_vectors(rows: Sequence[tuple[int, bytes]], dimension: int) -> tuple[Owners, Floats]:
    """Return the owners and float32 rows of slots and their vectors, which are selected in order."""
    if any(type(blob) is not bytes or len(blob) % stored_bytes(dimension) for _, blob in rows):
        raise IndexCorrupt(f"a vector does not have {dimension} dimensions and a checksum")
    matrix = unsealed(b"".join([blob for _, blob in rows]), dimension)
    slots = np.fromiter((slot for slot, _ in rows), np.int32, len(rows))
    if (slots[1:] <= slots[:-1]).any():
        # Pages of the file changed places, which SQLite does not notice itself.
        raise StoreCorrupt("the vectors are not in the order of their memories; run `memorata check`")
    passages = np.fromiter((len(blob) for _, blob in rows), np.intp, len(rows)) // stored_bytes(dimension)
    return np.repeat(slots, passages), matrix


def _write(
    session: Session,
    number: int,
    slots: range,
    documents: Iterable[tuple[int, Terms]],
    coded: Callable[[int, int], tuple[int, Codes] | None],
) -> None:
    """Write segments of documents in the order of their slots, and an embedder's codes of their vectors."""
    parts = groupby(documents, key=lambda document: (document[0] - slots.start) // SPAN)
    by_part = {part: list(members) for part, members in parts}
    for part, start in enumerate(range(slots.start, slots.stop, SPAN)):
        end = min(start + SPAN, slots.stop)
        span, codes = (number, start, end - start), coded(start, end)
        _insert(session, span, inverted(by_part.get(part, []), start))
        write_run(session, span, codes)


def _insert(session: Session, span: tuple[int, int, int], lists: Lists) -> int:
    """Write a segment and return its number; `span` is its namespace, first slot and number of slots."""
    buckets, blocks = lists.blocks()
    segment = session.insert("segments", "namespace, first, slots, buckets", (*span, buckets))
    session.executemany(
        session.dialect.postings.add, [(span[0], segment, place, block) for place, block in blocks]
    )
    return segment


def _remove(session: Session, number: int, segments: Sequence[int]) -> None:
    for segment in segments:
        session.execute(session.dialect.postings.remove, (number, segment))
    session.executemany(
        "DELETE FROM segments WHERE +namespace = ? AND number = ?",
        [(number, segment) for segment in segments],
    )


def _merge_newest(session: Session, number: int) -> None:
    """Merge the newest neighbours as long as there are enough of one size."""
    rows = session.execute(
        "SELECT number, first, slots FROM segments WHERE namespace = ? ORDER BY first DESC LIMIT ?",
        (number, _FAN_OUT * _MAX_LEVELS),
    )
    segments = rows.fetchall()[::-1]
    while True:
        newest = segments[-_FAN_OUT:]
        together = sum(slots for _, _, slots in newest)
        if len(newest) < _FAN_OUT or together > SPAN or len({_level(slots) for _, _, slots in newest}) > 1:
            return
        # Sent before rows of the merge are read, so that a server answers all of it at once.
        runs = runs_within(session, number, newest[0][1], together)
        segments[-_FAN_OUT:] = [_merge(session, number, newest)]
        join_short_runs(session, number, runs.fetchall())


def _level(slots: int) -> int:
    level = 0
    while slots >= TAIL * _FAN_OUT:
        slots //= _FAN_OUT
        level += 1
    return level


def _merge(session: Session, number: int, parts: list[tuple[int, int, int]]) -> tuple[int, int, int]:
    """Replace neighbouring segments by one, leaving out what is gone; return its number, start and slots."""
    first = parts[0][1]
    slots = sum(part[2] for part in parts)
    starts = {segment: start for segment, start, _ in parts}
    states = session.execute(
        "SELECT record FROM records WHERE namespace = ? AND slot >= ? AND slot < ? ORDER BY slot",
        (number, first, first + slots),
    )
    rows = session.execute(*session.dialect.postings.of_segments(number, list(starts)))
    # Both are read to the end before either is checked: SQLite vacuums no file while rows are left over.
    records, postings = states.fetchall(), rows.fetchall()
    gone = unpacked_run(b"".join([record for (record,) in records]), len(records))["state"] == GONE
    blocks = sorted(((starts[segment], block) for segment, _, block in postings), key=lambda block: block[0])
    lists = merged(blocks, first, gone)
    _remove(session, number, list(starts))
    return _insert(session, (number, first, slots), lists), first, slots


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
    """Return the list that each term has in a field, over all segments; one that no memory has is empty.

    `blocks_of` returns blocks by their numbers, at least the requested ones that exist.
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
    places = {key: places_of(key_of(*key)) for key in sorted(changes)}
    wanted = {(segment, place) for low, long in places.values() for place in (low % buckets, long)}
    blocks = some_blocks(session, number, wanted)
    by_place: dict[int, dict[Key, dict[int, int]]] = {}
    for (field, term), (low, long) in places.items():
        # A list stays where it is, long or short: readers look in both places.
        listed = blocks.get((segment, long))
        is_long = listed is not None and field in checked_term_lists(listed, term)
        by_key = by_place.setdefault(long if is_long else low % buckets, {})
        by_key[key_of(field, term)] = {slot - first: changes[field, term]}
    for place, postings in by_place.items():
        (block, *_) = blocks.get((segment, place), (None,))
        amended_block = amended(block, postings)
        if amended_block is None:
            session.execute(session.dialect.postings.drop, (number, segment, place))
        else:
            session.execute(session.dialect.postings.put, (number, segment, place, amended_block))
