"""Segments: the posting lists of runs of memories, written together, merged as they grow, and read.

The words of new memories wait beside their records until there are enough for a segment; eight neighbours of
a size become one, up to 65,536 slots (the log-structured merge of O'Neil et al., 1996). All of it happens
inside the transaction of the write that caused it, so the index never lags behind the data and a new process
rebuilds nothing.

A segment is never changed. The tags, names and day of a memory may be changed later, and it is found by their
words: these wait, and hide what the segment lists of it, until the segment is merged or too many wait.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
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
from memorata.index.postings import (
    SPAN,
    Frequencies,
    Lists,
    SegmentLists,
    Slots,
    inverted,
    key_of,
    merged,
    term_hashes,
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
    session.execute("DELETE FROM segments WHERE namespace = ?", (number,))
    session.execute("DELETE FROM rewordings WHERE namespace = ?", (number,))
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
        raise StoreCorrupt("the vectors are not in the order of their memories; run `memorata admin check`")
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
    return session.insert("segments", "namespace, first, slots, lists", (*span, lists.encoded()))


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
    """Replace neighbouring segments by one; return its number, first slot and number of slots.

    Memories that are gone are left out, and those that were reworded since are listed under their new words.
    """
    first = parts[0][1]
    slots = sum(part[2] for part in parts)
    span = number, first, first + slots
    states = session.execute(
        "SELECT record FROM records WHERE namespace = ? AND slot >= ? AND slot < ? ORDER BY slot", span
    )
    rewordings = session.execute(
        "SELECT slot, terms FROM rewordings WHERE namespace = ? AND slot >= ? AND slot < ? ORDER BY slot",
        span,
    )
    rows = session.execute(
        "SELECT first, lists FROM segments WHERE namespace = ? AND first >= ? AND first < ? ORDER BY first",
        span,
    )
    # All are read to the end before any is checked: SQLite vacuums no file while rows are left over.
    records, waiting, values = states.fetchall(), rewordings.fetchall(), rows.fetchall()
    dropped = unpacked_run(b"".join([record for (record,) in records]), len(records))["state"] == GONE
    reworded = [(slot, decoded_terms(terms)) for slot, terms in waiting if not dropped[slot - first]]
    dropped[[slot - first for slot, _ in reworded]] = True
    added = inverted(reworded, first) if reworded else None
    lists = merged([(start, SegmentLists.decoded(value)) for start, value in values], first, dropped, added)
    session.executemany(
        "DELETE FROM segments WHERE +namespace = ? AND number = ?", [(number, part[0]) for part in parts]
    )
    if waiting:
        session.execute("DELETE FROM rewordings WHERE namespace = ? AND slot >= ? AND slot < ?", span)
    return _insert(session, (number, first, slots), lists), first, slots


_SEGMENTS: Final = (
    "SELECT number, first, CASE WHEN number > ? THEN lists END FROM segments WHERE namespace = ? "
    "ORDER BY first"
)
_NO_SLOTS: Final = TermList(np.zeros(0, np.int32), np.zeros(0, np.uint16))


def segments_statement(namespace: int, known: int) -> Statement:
    """Return what reads the segments of a namespace, the lists only of those numbered above `known`."""
    return _SEGMENTS, (known, namespace)


def read_lists(
    segments: Sequence[tuple[int, SegmentLists]], keys: Sequence[tuple[str, str]]
) -> dict[tuple[str, str], TermList]:
    """Return the list that each term has in a field, over all segments; one that no memory has is empty."""
    by_key = {key_of(*key): key for key in keys}
    hashes = term_hashes([*dict.fromkeys(term for _, term in keys)])
    lists: dict[tuple[str, str], list[tuple[int, Slots, Frequencies]]] = {key: [] for key in keys}
    for first, of_segment in segments:
        for name, slots, frequencies in of_segment.found(hashes):
            if name in by_key:
                lists[by_key[name]].append((first, slots, frequencies))
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


def reword(session: Session, namespace: Namespace, slot: int, terms: Terms) -> None:
    """List a memory under other words, in the transaction of the write that changes it."""
    number = namespace.number
    if slot >= namespace.flushed:
        session.execute(
            "UPDATE records SET terms = ? WHERE namespace = ? AND slot = ?",
            (encoded_terms(terms), number, slot),
        )
    else:
        session.execute(
            "INSERT INTO rewordings (namespace, slot, terms) VALUES (?, ?, ?) "
            "ON CONFLICT (namespace, slot) DO UPDATE SET terms = excluded.terms",
            (number, slot, encoded_terms(terms)),
        )
        _merge_if_reworded(session, number, slot)
    # Lists that a process keeps are those of the generation it knows.
    session.execute("UPDATE namespaces SET generation = generation + 1 WHERE number = ?", (number,))


def _merge_if_reworded(session: Session, number: int, slot: int) -> None:
    """Write the segment of a slot anew where as many of its memories wait as a segment has at least."""
    segment = session.execute(
        "SELECT number, first, slots FROM segments WHERE namespace = ? AND first <= ? "
        "ORDER BY first DESC LIMIT 1",
        (number, slot),
    ).fetchone()
    (waiting,) = session.execute(
        "SELECT count(*) FROM rewordings WHERE namespace = ? AND slot >= ? AND slot < ?",
        (number, segment[1], segment[1] + segment[2]),
    ).fetchone()
    if waiting >= TAIL:
        _merge(session, number, [segment])
