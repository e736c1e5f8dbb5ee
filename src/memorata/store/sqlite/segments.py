"""Segments: the words of runs of memories, written together and merged as they grow.

The words of new memories wait beside their records until there are enough for a segment; eight neighbours of
a size become one, up to 65,536 slots (the log-structured merge of O'Neil et al., 1996). All of it happens
inside the transaction of the write that caused it, so the index never lags behind the data and a new process
rebuilds nothing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final, NamedTuple

import numpy as np

from memorata.index import tail
from memorata.index.codes import Codes, Floats, Owners
from memorata.index.directions import are_directions
from memorata.index.postings import PLACES, SPAN, Lists, inverted, merged
from memorata.index.record import GONE, unpacked_run
from memorata.model.errors import IndexCorrupt
from memorata.store.port import Terms
from memorata.store.sqlite import coding
from memorata.store.sqlite.places import vectors_place

TAIL: Final = 256
"""How many memories may wait before they become a segment."""

_FAN_OUT: Final = 8
_ADD_BLOCK: Final = "INSERT INTO postings (number, block) VALUES (?, ?)"
OF_SEGMENT: Final = f"number >= ?1 * {PLACES} AND number < (?1 + 1) * {PLACES}"
"""The condition that a block is one of a segment, whose number is the first parameter."""


class Namespace(NamedTuple):
    """A row of the namespaces table."""

    number: int
    path: str
    slots: int
    flushed: int
    change: int
    generation: int
    begun: int = 0
    """The last change of all before it came to be: what was known of its name until then was another's."""


def flush(
    connection: sqlite3.Connection,
    namespace: Namespace,
    fresh: Sequence[tuple[int, Terms]],
    vectors: tuple[int, Owners, Floats] | None,
) -> None:
    """Turn what waits and fresh memories into segments, then merge what has become too many.

    Parameters
    ----------
    connection
        Inside a write transaction.
    namespace
        As it was before the write.
    fresh
        The slots and words of the memories just written, which follow those that wait.
    vectors
        Whose vectors get codes, and the owners and rows of those just written; None if nothing has any.
    """
    rows = connection.execute(
        "SELECT slot, terms FROM records WHERE namespace = ? AND slot >= ? AND terms IS NOT NULL "
        "ORDER BY slot",
        (namespace.number, namespace.flushed),
    ).fetchall()
    documents: list[tuple[int, Terms]] = [(slot, tail.decoded(words)) for slot, words in rows]
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
                waiting = stored_vectors(connection, namespace.number, embedder, start, namespace.slots)
                owners, matrix = np.concatenate([waiting[0], owners]), np.concatenate([waiting[1], matrix])
            coded = embedder, Codes.of(owners, matrix)
        _write(connection, (namespace.number, start, end - start), members, coded)
    if rows:
        connection.execute(
            "UPDATE records SET terms = NULL WHERE namespace = ? AND slot >= ?",
            (namespace.number, namespace.flushed),
        )
    while _merge_newest(connection, namespace.number):
        pass
    connection.execute(
        "UPDATE namespaces SET flushed = ?, generation = generation + 1 WHERE number = ?",
        (slots, namespace.number),
    )


def rebuild(
    connection: sqlite3.Connection,
    number: int,
    documents: Iterable[tuple[int, Terms]],
    slots: int,
    embedder: int | None,
) -> None:
    """Write all segments of a namespace anew from the words of its memories."""
    drop(connection, number)
    blocks = {
        block: list(members)
        for block, members in groupby(documents, key=lambda document: document[0] // SPAN)
    }
    for start in range(0, slots, SPAN):
        members = blocks.get(start // SPAN, [])
        end = min(start + SPAN, slots)
        coded = None
        if embedder is not None:
            coded = embedder, Codes.of(*stored_vectors(connection, number, embedder, start, end))
        _write(connection, (number, start, end - start), members, coded)
    connection.execute(
        "UPDATE namespaces SET flushed = slots, generation = generation + 1 WHERE number = ?", (number,)
    )


def drop(connection: sqlite3.Connection, number: int) -> None:
    """Remove all segments and waiting words of a namespace."""
    found = connection.execute("SELECT number FROM segments WHERE namespace = ?", (number,)).fetchall()
    _remove(connection, [segment for (segment,) in found])
    coding.drop(connection, number)
    connection.execute("UPDATE records SET terms = NULL WHERE namespace = ? AND terms IS NOT NULL", (number,))


def rewrite_without(connection: sqlite3.Connection, number: int, slots: Iterable[int]) -> None:
    """Write the segments and codes that hold some slots anew, without what is gone."""
    gone = np.sort(np.fromiter(slots, np.int64))
    for segment in connection.execute(
        "SELECT number, first, slots FROM segments WHERE namespace = ? ORDER BY first", (number,)
    ).fetchall():
        first, end = np.searchsorted(gone, [segment[1], segment[1] + segment[2]])
        if first < end:
            _merge(connection, number, [segment])
    coding.rewrite_without(connection, number, gone)
    connection.execute("UPDATE namespaces SET generation = generation + 1 WHERE number = ?", (number,))


def stored_vectors(
    connection: sqlite3.Connection, number: int, embedder: int, start: int, end: int
) -> tuple[Owners, Floats]:
    """Return the owners and float32 rows of the vectors of slots from `start` up to `end`."""
    (dimension,) = connection.execute(
        "SELECT dimension FROM embedders WHERE number = ?", (embedder,)
    ).fetchone()
    rows = connection.execute(
        "SELECT slot, vectors FROM vectors WHERE number >= ? AND number < ? ORDER BY number",
        (vectors_place(embedder, number, start), vectors_place(embedder, number, end)),
    ).fetchall()
    if any(type(blob) is not bytes or len(blob) % (4 * dimension) for _, blob in rows):
        raise IndexCorrupt(f"a vector does not have {dimension} dimensions")
    matrix = np.frombuffer(b"".join([blob for _, blob in rows]), np.float32).reshape(-1, dimension)
    if not are_directions(matrix):
        raise IndexCorrupt("a vector is not of length 1")
    slots = np.fromiter((slot for slot, _ in rows), np.int32, len(rows))
    passages = np.fromiter((len(blob) for _, blob in rows), np.intp, len(rows)) // (4 * dimension)
    return np.repeat(slots, passages), matrix


def _write(
    connection: sqlite3.Connection,
    span: tuple[int, int, int],
    documents: list[tuple[int, Terms]],
    coded: tuple[int, Codes] | None,
) -> None:
    """Write a segment of its documents, and an embedder's codes of their vectors."""
    _insert(connection, span, inverted(documents, span[1]))
    coding.write(connection, span, coded)


def _insert(connection: sqlite3.Connection, span: tuple[int, int, int], lists: Lists) -> None:
    """Write a segment; `span` is its namespace, its first slot and the number of its slots."""
    buckets, blocks = lists.blocks()
    segment = connection.execute(
        "INSERT INTO segments (namespace, first, slots, buckets) VALUES (?, ?, ?, ?)", (*span, buckets)
    ).lastrowid
    assert segment is not None  # an INSERT always has one
    connection.executemany(_ADD_BLOCK, [(segment * PLACES + place, block) for place, block in blocks])


def _remove(connection: sqlite3.Connection, segments: Sequence[int]) -> None:
    for segment in segments:
        connection.execute(f"DELETE FROM postings WHERE {OF_SEGMENT}", (segment,))
    connection.executemany("DELETE FROM segments WHERE number = ?", [(segment,) for segment in segments])


def _merge_newest(connection: sqlite3.Connection, number: int) -> bool:
    """Merge the newest neighbours if there are enough of one size; return whether there were."""
    newest = connection.execute(
        "SELECT number, first, slots FROM segments WHERE namespace = ? ORDER BY first DESC LIMIT ?",
        (number, _FAN_OUT),
    ).fetchall()[::-1]
    together = sum(slots for _, _, slots in newest)
    if len(newest) < _FAN_OUT or together > SPAN or len({_level(slots) for _, _, slots in newest}) > 1:
        return False
    _merge(connection, number, newest)
    coding.join_short(connection, (number, newest[0][1], together))
    return True


def _level(slots: int) -> int:
    level = 0
    while slots >= TAIL * _FAN_OUT:
        slots //= _FAN_OUT
        level += 1
    return level


def _merge(connection: sqlite3.Connection, number: int, parts: list[tuple[int, int, int]]) -> None:
    """Replace neighbouring segments by one, leaving out what is gone."""
    first = parts[0][1]
    slots = sum(part[2] for part in parts)
    records = connection.execute(
        "SELECT record FROM records WHERE namespace = ? AND slot >= ? AND slot < ? ORDER BY slot",
        (number, first, first + slots),
    ).fetchall()
    gone = unpacked_run(b"".join([record for (record,) in records]), len(records))["state"] == GONE
    blocks = []
    for segment, start, _ in parts:
        rows = connection.execute(f"SELECT block FROM postings WHERE {OF_SEGMENT}", (segment,))
        blocks += [(start, block) for (block,) in rows]
    lists = merged(blocks, first, gone)
    _remove(connection, [segment for segment, _, _ in parts])
    _insert(connection, (number, first, slots), lists)
