"""Is the file sound? What was said, what was derived from it, and whether the two agree.

Derived data (records, waiting words, segments, vector codes) can always be rebuilt from the memories and
their vectors; `rebuild` does so for one namespace. What was said is never touched.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from recollect.duplicates.fingerprint import fingerprint
from recollect.index import tail
from recollect.index.approximate import LARGE
from recollect.index.codes import Codes
from recollect.index.directions import are_directions
from recollect.index.postings import MOST, PLACES, opened, parts_of, places_of
from recollect.index.record import FORGOTTEN, GONE, gone, packed, unpacked
from recollect.model.errors import IndexCorrupt, StoreCorrupt
from recollect.model.memory import Memory
from recollect.store.port import Terms
from recollect.store.sqlite import approximation, emptying, entities, erasing, segments
from recollect.store.sqlite.places import vectors_place
from recollect.store.sqlite.rows import SELECTED, SOURCE, memory

Words = Callable[[Memory], Terms]

_VECTORS_BY_EMBEDDER: Final = (
    "SELECT e.name, count(v.number) FROM embedders e LEFT JOIN vectors v ON v.embedder = e.number "
    "GROUP BY e.number ORDER BY e.number"
)


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with the derived data of a namespace; an empty namespace means the whole file.

    One that is not mendable is wrong with what was said, from which nothing can be derived then.
    """

    namespace: str
    text: str
    mendable: bool = True


def problems(connection: sqlite3.Connection, terms_of: Words) -> list[Problem]:
    """Return everything that is wrong."""
    found = file_problems(connection)
    if found:
        return found
    for number, path, slots, flushed in connection.execute(
        f"SELECT number, path, slots, flushed FROM namespaces WHERE {emptying.NAMED} ORDER BY path"
    ).fetchall():
        try:
            texts = [
                *_namespace_problems(connection, number, slots, flushed, terms_of),
                *entities.problems(connection, number),
            ]
            found += [Problem(path, f"{path}: {text}") for text in texts]
        except StoreCorrupt:
            found += [
                Problem(path, f"{path}: {text}", mendable=False) for text in _unreadable(connection, number)
            ]
    return found


def file_problems(connection: sqlite3.Connection) -> list[Problem]:
    """Return what SQLite itself finds wrong with the file."""
    found = [
        Problem("", f"the file: {text}")
        for (text,) in connection.execute("PRAGMA integrity_check(20)")
        if text != "ok"
    ]
    found += [
        Problem("", f"the file: row {row} of {table} refers to nothing in {parent}")
        for table, row, parent, _ in connection.execute("PRAGMA foreign_key_check")
    ]
    return found


def rebuild(
    connection: sqlite3.Connection, path: str, terms_of: Words, embedder: tuple[int, int] | None
) -> None:
    """Write all derived data of a namespace anew.

    Vectors come from an embedder and cannot be rebuilt here; one that is damaged is removed, and its memory
    waits to be embedded again.
    """
    row = connection.execute("SELECT number FROM namespaces WHERE path = ?", (path,)).fetchone()
    if row is None:
        return
    (number,) = row
    slots = _slots(connection, number)
    known = {slot: (said, state, ended) for slot, said, state, ended in _memories(connection, number)}
    _remove_damaged_vectors(connection, number)
    passages = _passages(connection, number, embedder)
    sessions = dict(connection.execute("SELECT name, number FROM sessions WHERE namespace = ?", (number,)))
    connection.execute("DELETE FROM records WHERE namespace = ?", (number,))
    approximation.drop(connection, number)
    documents = []
    for slot in range(slots):
        record = gone()
        if slot in known:
            said, state, ended = known[slot]
            terms = terms_of(said)
            documents.append((slot, terms))
            record = packed(
                said,
                state=state,
                session=sessions.get(said.source.session, -1),
                vectors=passages.get(slot, 0),
                superseded_at=ended,
                lengths={field: sum(words.values()) for field, words in terms.items()},
            )
        connection.execute(
            "INSERT INTO records (namespace, slot, record) VALUES (?, ?, ?)", (number, slot, record)
        )
    segments.rebuild(connection, number, documents, slots, None if embedder is None else embedder[0])
    entities.refold(connection, number)


def _slots(connection: sqlite3.Connection, number: int) -> int:
    """Return how many slots a namespace has, after correcting that number, which is derived as well."""
    (last,) = connection.execute(
        "SELECT max(slot) FROM (SELECT max(slot) AS slot FROM memories WHERE namespace = ?1 "
        "UNION ALL SELECT max(slot) FROM records WHERE namespace = ?1 "
        # Changes of names are about no memory.
        "UNION ALL SELECT max(slot) FROM changes WHERE namespace = ?1 AND slot <> ?2)",
        (number, entities.NOBODY),
    ).fetchone()
    slots = 0 if last is None else int(last) + 1
    connection.execute("UPDATE namespaces SET slots = ? WHERE number = ?", (slots, number))
    return slots


def statistics(connection: sqlite3.Connection, path: str, least: int = LARGE) -> Mapping[str, Any]:
    """Return sizes and counts, for people."""

    def count(query: str) -> int:
        return int(connection.execute(query).fetchone()[0])

    files = [Path(path + suffix) for suffix in ("", "-wal")]
    ways, advice = approximation.methods(connection, least)
    return {
        "memories": count("SELECT count(*) FROM memories"),
        "forgotten": count("SELECT count(*) FROM memories WHERE forgotten_at IS NOT NULL"),
        "superseded": count("SELECT count(*) FROM memories WHERE superseded_by IS NOT NULL"),
        "namespaces": count(f"SELECT count(*) FROM namespaces WHERE {emptying.NAMED}"),
        "sessions": count("SELECT count(*) FROM sessions"),
        "entities": count("SELECT count(*) FROM entities"),
        "relations": count("SELECT count(*) FROM relations"),
        "segments": count("SELECT count(*) FROM segments"),
        "waiting": count("SELECT coalesce(sum(slots - flushed), 0) FROM namespaces"),
        "vectors": dict(connection.execute(_VECTORS_BY_EMBEDDER).fetchall()),
        "changes": count("SELECT coalesce(max(change), 0) FROM changes"),
        "unfinished_purge": erasing.is_owed(connection),
        "bytes": sum(file.stat().st_size for file in files if file.exists()),
        "vector_search": ways,
        "vector_search_advice": advice,
    }


def _memories(connection: sqlite3.Connection, number: int) -> Iterator[tuple[int, Memory, int, float | None]]:
    """Yield every memory of a namespace with its slot, its state and when it was superseded."""
    for row in _rows(connection, number):
        ended = None if row[2] is None else row[2] / 1_000_000
        yield row[0], memory(row[3:]), 0 if row[1] is None else FORGOTTEN, ended


def _unreadable(connection: sqlite3.Connection, number: int) -> Iterator[str]:
    """Yield why memories of a namespace cannot be read."""
    for row in _rows(connection, number):
        try:
            memory(row[3:])
        except StoreCorrupt as error:
            yield str(error)


def _rows(connection: sqlite3.Connection, number: int) -> sqlite3.Cursor:
    return connection.execute(
        f"SELECT m.slot, m.forgotten_at, m.superseded_at, {SELECTED} FROM {SOURCE} WHERE m.namespace = ? "
        "ORDER BY m.slot",
        (number,),
    )


def _passages(
    connection: sqlite3.Connection, number: int, embedder: tuple[int, int] | None
) -> dict[int, int]:
    if embedder is None:
        return {}
    rows = connection.execute(
        "SELECT slot, length(vectors) FROM vectors WHERE number >= ? AND number < ?",
        (vectors_place(embedder[0], number, 0), vectors_place(embedder[0], number + 1, 0)),
    )
    return {slot: length // (4 * embedder[1]) for slot, length in rows}


def _remove_damaged_vectors(connection: sqlite3.Connection, number: int) -> None:
    for row, dimension, blob in connection.execute(
        "SELECT v.number, e.dimension, v.vectors FROM vectors v JOIN embedders e ON e.number = v.embedder "
        "WHERE v.namespace = ?",
        (number,),
    ).fetchall():
        if not _sound_vector(blob, dimension):
            connection.execute("DELETE FROM vectors WHERE number = ?", (row,))


def _sound_vector(blob: bytes, dimension: int) -> bool:
    if not blob or len(blob) % (4 * dimension):
        return False
    return are_directions(np.frombuffer(blob, np.float32).reshape(-1, dimension))


def _namespace_problems(
    connection: sqlite3.Connection, number: int, slots: int, flushed: int, terms_of: Words
) -> Iterator[str]:
    rows = connection.execute(
        "SELECT slot, record FROM records WHERE namespace = ? ORDER BY slot", (number,)
    ).fetchall()
    if [slot for slot, _ in rows] != list(range(slots)):
        yield f"there are not {slots} records, one for each slot"
        return
    try:
        records = unpacked([record for _, record in rows])
    except IndexCorrupt as error:
        yield str(error)
        return
    sessions = dict(connection.execute("SELECT name, number FROM sessions WHERE namespace = ?", (number,)))
    wanted: dict[tuple[str, str], dict[int, int]] = {}
    living = np.zeros(slots, np.bool_)
    for slot, said, state, ended in _memories(connection, number):
        living[slot] = True
        terms = terms_of(said)
        expected = packed(
            said,
            state=state,
            session=sessions.get(said.source.session, -1),
            # How many passages there were says nothing about the memory: another embedder makes others.
            vectors=int(records["vectors"][slot]),
            superseded_at=ended,
            lengths={field: sum(words.values()) for field, words in terms.items()},
        )
        if said.fingerprint and said.fingerprint != fingerprint(said.content):
            yield f"the content of memory {said.id} does not match its fingerprint; restore it from a backup"
        if records[slot].tobytes() != expected:
            yield f"the record of memory {said.id} does not say what the memory says"
        for field, words in terms.items():
            for term, times in words.items():
                wanted.setdefault((field, term), {})[slot] = min(times, MOST)
    if not np.array_equal(living, records["state"] != GONE):
        yield "records and memories do not belong together"
    yield from _word_problems(connection, number, slots, flushed, wanted)
    damaged = [
        slot
        for slot, dimension, blob in connection.execute(
            "SELECT v.slot, e.dimension, v.vectors FROM vectors v JOIN embedders e ON e.number = v.embedder "
            "WHERE v.namespace = ?",
            (number,),
        )
        if not _sound_vector(blob, dimension)
    ]
    if damaged:
        yield f"the vectors of {len(damaged)} memories are damaged; without them they are found by words only"
        return
    yield from _code_problems(connection, number, flushed, living)
    yield from approximation.problems(connection, number, living)


def _word_problems(
    connection: sqlite3.Connection,
    number: int,
    slots: int,
    flushed: int,
    wanted: dict[tuple[str, str], dict[int, int]],
) -> Iterator[str]:
    spans = connection.execute(
        "SELECT first, slots FROM segments WHERE namespace = ? ORDER BY first", (number,)
    ).fetchall()
    position = 0
    for first, size in spans:
        if first != position:
            yield f"slots {position} to {first} are in no segment, or in two"
        position = first + size
    if position != flushed or flushed > slots:
        yield f"segments end at slot {position}, not at {flushed}"
    stored: dict[tuple[str, str], dict[int, int]] = {}
    for segment, first, buckets, place, blob in connection.execute(
        f"SELECT s.number, s.first, s.buckets, p.number % {PLACES}, p.block FROM segments s "
        f"JOIN postings p ON p.number >= s.number * {PLACES} AND p.number < (s.number + 1) * {PLACES} "
        "WHERE s.namespace = ?",
        (number,),
    ):
        try:
            keys, lengths, slots_of, times_of = opened(blob)
        except IndexCorrupt as error:
            yield f"segment {segment}: {error}"
            continue
        ends = np.cumsum(lengths)[:-1]
        lists = zip(keys, np.split(slots_of, ends), np.split(times_of, ends), strict=True)
        for key, at, times in lists:
            low, long = places_of(key)
            # A list where nobody looks for it is as good as none.
            if place in (low % buckets, long):
                stored.setdefault(parts_of(key), {}).update(
                    zip((at.astype(np.int64) + first).tolist(), times.tolist(), strict=True)
                )
    for slot, blob in connection.execute(
        "SELECT slot, terms FROM records WHERE namespace = ? AND terms IS NOT NULL", (number,)
    ):
        try:
            terms = tail.decoded(blob)
        except IndexCorrupt as error:
            yield f"slot {slot}: {error}"
            continue
        for field, words in terms.items():
            for term, frequency in words.items():
                stored.setdefault((field, term), {})[slot] = min(frequency, MOST)
    different = sum(stored.get(key) != wanted.get(key) for key in stored.keys() | wanted.keys())
    if different:
        yield f"{different} words are not listed where they are said"


def _code_problems(
    connection: sqlite3.Connection,
    number: int,
    flushed: int,
    living: np.ndarray[tuple[int], np.dtype[np.bool_]],
) -> Iterator[str]:
    runs = connection.execute(
        "SELECT first, slots, embedder, codes FROM vector_codes WHERE namespace = ? ORDER BY first", (number,)
    ).fetchall()
    ends = [0, *(first + slots for first, slots, _, _ in runs)]
    if ends != [*(first for first, _, _, _ in runs), flushed]:
        yield f"vector codes do not lie end to end from slot 0 to {flushed}"
        return
    for first, slots, embedder, blob in runs:
        if blob is None:
            continue
        try:
            stored = Codes.decoded(blob)
        except IndexCorrupt as error:
            yield f"slots from {first} on: {error}"
            continue
        owners, vectors = segments.stored_vectors(connection, number, embedder, first, first + slots)
        fresh = Codes.of(owners, vectors)
        same = stored.encoded() == fresh.encoded()
        if not same or not living[stored.owners].all():
            yield f"slots from {first} on: vector codes are not those of the vectors"
