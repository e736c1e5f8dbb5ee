"""Segments: the words of runs of memories, written together and merged as they grow.

The words of new memories wait beside their records until there are enough for a segment; eight neighbours of
a size become one, up to 65,536 slots (the log-structured merge of O'Neil et al., 1996). All of it happens
inside the transaction of the write that caused it, so the index never lags behind the data and a new process
rebuilds nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final, TypeAlias

import numpy as np

from memorata.embed.vectors import are_directions
from memorata.index import vector_codes as coding
from memorata.index.codes import Codes, Floats, Owners
from memorata.index.postings import SPAN, Lists, inverted, merged
from memorata.index.record import GONE, decoded_terms, unpacked_run
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

    Inside a write transaction. `namespace`: as it was before the write. `fresh`: the slots and words of the
    memories just written, which follow those that wait. `vectors`: whose vectors get codes, and the owners
    and rows of those just written; None if nothing has any.
    """
    rows = session.execute(
        "SELECT slot, terms FROM records WHERE namespace = ? AND slot >= ? AND terms IS NOT NULL "
        "ORDER BY slot",
        (namespace.number, namespace.flushed),
    ).fetchall()
    documents: list[tuple[int, Terms]] = [(slot, decoded_terms(words)) for slot, words in rows]
    documents += fresh
    slots = namespace.slots + len(fresh)
    for start in range(namespace.flushed, slots, SPAN):
        end = min(start + SPAN, slots)
        members = [document for document in documents if start <= document[0] < end]
        coded = None
        if vectors is not None:
            embedder, owners, matrix = vectors
            inside = slice(*np.searchsorted(owners, [start, end]).tolist())
            owners, matrix = owners[inside], matrix[inside]
            if start < namespace.slots:
                waiting = stored_vectors(session, namespace.number, embedder, start, namespace.slots)
                owners, matrix = np.concatenate([waiting[0], owners]), np.concatenate([waiting[1], matrix])
            coded = embedder[0], Codes.of(owners, matrix)
        _write(session, (namespace.number, start, end - start), members, coded)
    if rows:
        session.execute(
            "UPDATE records SET terms = NULL WHERE namespace = ? AND slot >= ?",
            (namespace.number, namespace.flushed),
        )
    _merge_newest(session, namespace.number)
    session.execute(
        "UPDATE namespaces SET flushed = ?, generation = generation + 1 WHERE number = ?",
        (slots, namespace.number),
    )


def rebuild(
    session: Session,
    number: int,
    documents: Iterable[tuple[int, Terms]],
    slots: int,
    embedder: Embedder | None,
) -> None:
    """Write all segments of a namespace anew from the words of its memories."""
    drop(session, number)
    blocks = {
        block: list(members)
        for block, members in groupby(documents, key=lambda document: document[0] // SPAN)
    }
    for start in range(0, slots, SPAN):
        members = blocks.get(start // SPAN, [])
        end = min(start + SPAN, slots)
        coded = None
        if embedder is not None:
            coded = embedder[0], Codes.of(*stored_vectors(session, number, embedder, start, end))
        _write(session, (number, start, end - start), members, coded)
    session.execute(
        "UPDATE namespaces SET flushed = slots, generation = generation + 1 WHERE number = ?", (number,)
    )


def drop(session: Session, number: int) -> None:
    """Remove all segments and waiting words of a namespace."""
    rows = session.execute("SELECT number FROM segments WHERE namespace = ?", (number,)).fetchall()
    _remove(session, number, [segment for (segment,) in rows])
    coding.drop(session, number)
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
    coding.rewrite_without(session, number, gone)
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
    """Return the owners and float32 rows of slots and their vectors, which are selected in order.

    Raises
    ------
    IndexCorrupt
        If a vector is none.
    StoreCorrupt
        If the slots do not ascend: pages of the file changed places, which SQLite does not notice itself.
    """
    if any(type(blob) is not bytes or len(blob) % (4 * dimension) for _, blob in rows):
        raise IndexCorrupt(f"a vector does not have {dimension} dimensions")
    matrix = np.frombuffer(b"".join([blob for _, blob in rows]), np.float32).reshape(-1, dimension)
    if not are_directions(matrix):
        raise IndexCorrupt("a vector is not of length 1")
    slots = np.fromiter((slot for slot, _ in rows), np.int32, len(rows))
    if (slots[1:] <= slots[:-1]).any():
        raise StoreCorrupt("the vectors are not in the order of their memories; run `memorata check`")
    passages = np.fromiter((len(blob) for _, blob in rows), np.intp, len(rows)) // (4 * dimension)
    return np.repeat(slots, passages), matrix


def _write(
    session: Session,
    span: tuple[int, int, int],
    documents: list[tuple[int, Terms]],
    coded: tuple[int, Codes] | None,
) -> None:
    """Write a segment of its documents, and an embedder's codes of their vectors."""
    _insert(session, span, inverted(documents, span[1]))
    coding.write(session, span, coded)


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
        runs = coding.runs_within(session, (number, newest[0][1], together))
        segments[-_FAN_OUT:] = [_merge(session, number, newest)]
        coding.join_short(session, number, runs.fetchall())


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
