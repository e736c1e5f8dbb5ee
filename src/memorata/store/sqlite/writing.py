"""Writing memories: rows, records, vectors, words and the change feed, in one transaction.

Every function here runs inside a transaction that its caller opened; a raised error undoes all of it.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby, repeat
from typing import Final

import numpy as np

from memorata.index import tail
from memorata.index.codes import Floats
from memorata.index.record import FIELDS, FORGOTTEN, packed
from memorata.index.record import changed as changed_record
from memorata.model.errors import AlreadySuperseded, InvalidArgument, VersionConflict
from memorata.model.memory import Memory
from memorata.store.adding import as_added, checked_numbers, checked_passages, records_of
from memorata.store.instants import microseconds
from memorata.store.limits import SLOTS, checked_limit
from memorata.store.port import Entry, Hidden, Terms
from memorata.store.sqlite import addresses, hashes, pieces, rewording, segments
from memorata.store.sqlite.columns import insertion
from memorata.store.sqlite.finding import (
    add_change,
    find,
    find_namespace,
    last_change,
    new_namespace,
    put_record,
    record_of,
)
from memorata.store.sqlite.keeping_up import Added, rows_of
from memorata.store.sqlite.places import place, vectors_place
from memorata.store.sqlite.relinking import began, note_repeat, settle_ends
from memorata.store.sqlite.rows import COLUMNS, row
from memorata.store.sqlite.segments import TAIL, Namespace
from memorata.store.succession import ended_by

_SET_MEMORY: Final = "UPDATE memories SET " + ", ".join(f"{c} = ?" for c in COLUMNS) + " WHERE number = ?"
_ADD_RECORD: Final = "INSERT INTO records (namespace, slot, record, terms) VALUES (?, ?, ?, ?)"
_ADD_CHANGES: Final = (
    "WITH RECURSIVE added (slot) AS (VALUES (?2) UNION ALL SELECT slot + 1 FROM added WHERE slot < ?3) "
    "INSERT INTO changes (namespace, slot, kind) SELECT ?1, slot, 'add' FROM added"
)
"""From one slot up to another, in order; nobody has to hand over each of them."""
_ADD_VECTORS: Final = (
    "INSERT INTO vectors (number, namespace, embedder, slot, digest, vectors) VALUES (?, ?, ?, ?, ?, ?)"
)
_FIXED: Final = (
    "content", "source", "created_at", "supersedes", "superseded_by", "fingerprint", "embedder",
)  # fmt: skip
"""What an update leaves alone: what was said, by whom and when, and what the store itself keeps."""
_WORDED: Final = ("tags", "entities", "valid_from")
"""What is searched by its words, so that a change of it is a change of those."""
_NO_SESSION: Final = frozenset({""})
_TOGETHER: Final = 512
"""After about how many memories those that came one by one become a run of addresses."""
_GROWN: Final = "UPDATE namespaces SET slots = ?, change = ? WHERE number = ?"


def add(
    connection: sqlite3.Connection,
    entries: Sequence[Entry],
    embedder: tuple[int, int] | None,
    added: list[Added] | None = None,
) -> int:
    """Add memories, mark those they supersede, and return the number of the last change.

    What supersedes a memory is said by the newer one alone, so a `superseded_by` that a memory brings along
    (from an export, say) counts for nothing; it is set again when the newer memory is added.

    Parameters
    ----------
    connection
        Inside a write transaction.
    entries
        The memories, of any namespaces.
    embedder
        The number and dimension of the embedder that made the vectors; None if there are none.
    added
        Gets what was added where no segment was written, for what is in memory to keep up with.
    """
    change = 0
    for path, members in groupby(entries, key=lambda entry: entry.memory.namespace):
        batch = list(members)
        namespace = find_namespace(connection, path) or new_namespace(connection, path)
        slots = namespace.slots + len(batch)
        checked_limit("memories in one namespace", slots, SLOTS)
        full = slots - namespace.flushed >= TAIL
        matrix = _lone_rows(batch, embedder)
        change, records = _add_rows(connection, namespace, batch, embedder, matrix, waiting=not full)
        if added is not None and not full:
            added.append(Added(namespace, batch, records, change))
        connection.execute(_GROWN, (slots, change, namespace.number))
        # Once in a while, for where no namespace ever has enough for a segment.
        enough = full or change // _TOGETHER > (change - len(batch)) // _TOGETHER
        _add_addresses(connection, namespace, batch, embedder, together=enough)
        for slot, entry in enumerate(batch, namespace.slots):
            for old in entry.memory.supersedes:
                change = _supersede(connection, namespace, old, slot, entry.memory)
        if full:
            fresh = [(slot, entry.terms) for slot, entry in enumerate(batch, namespace.slots)]
            vectors = None
            if embedder is not None and matrix is not None:
                vectors = embedder[0], np.arange(namespace.slots, slots, dtype=np.int32), matrix
            elif embedder is not None:
                vectors = embedder[0], *rows_of(batch, namespace.slots, embedder[1])
            segments.flush(connection, namespace, fresh, vectors)
    return change or last_change(connection)


def update(
    connection: sqlite3.Connection,
    changed: Memory,
    expected_version: int,
    terms_of: Callable[[Memory], Terms] | None = None,
) -> Memory:
    """Replace what is known about a memory, except what was said.

    Parameters
    ----------
    connection
        Inside a write transaction.
    changed
        The memory as it should be.
    expected_version
        The version it was read at.
    terms_of
        Tells the words of a memory; None to leave alone what is searched by words.
    """
    namespace, number, slot, current = find(connection, changed.namespace, changed.id)
    if current.version != expected_version:
        raise VersionConflict(changed.id, expected_version, current.version)
    for fixed in _FIXED if terms_of else (*_FIXED, *_WORDED):
        if getattr(changed, fixed) != getattr(current, fixed):
            raise InvalidArgument(fixed, getattr(changed, fixed), "unchanged; to say something new, correct")
    following = replace(checked_numbers(changed), version=current.version + 1)
    if following.valid_from != current.valid_from and following.valid_to == current.valid_to:
        following = _ended_anew(connection, following, number)
    connection.execute(_SET_MEMORY, (*row(following), number))
    old = record_of(connection, namespace, slot)
    lengths = dict(zip(FIELDS, old["lengths"][0].tolist(), strict=True))
    if terms_of is not None and any(getattr(changed, name) != getattr(current, name) for name in _WORDED):
        terms = terms_of(following)
        rewording.reword(connection, namespace, slot, terms_of(current), terms)
        lengths = {field: sum(words.values()) for field, words in terms.items()}
    record = packed(
        following,
        state=int(old["state"][0]),
        session=int(old["session"][0]),
        vectors=int(old["vectors"][0]),
        superseded_at=None if np.isinf(old["superseded"][0]) else float(old["superseded"][0]),
        lengths=lengths,
    )
    put_record(connection, namespace, slot, record, "update")
    if changed.valid_to != current.valid_to:
        # Whoever says until when it held says it for good.
        connection.execute("UPDATE memories SET end_given = 0 WHERE number = ?", (number,))
    if following.event_time != current.event_time:
        settle_ends(connection, namespace, following.id)
    return following


def use(connection: sqlite3.Connection, path: str, ids: Sequence[str], now: datetime) -> None:
    """Count that memories were of use; the last use is the latest, whatever the order they are told in."""
    for id_ in ids:
        namespace, number, slot, current = find(connection, path, id_)
        latest = now if current.last_accessed_at is None else max(now, current.last_accessed_at)
        used = checked_numbers(replace(current, access_count=current.access_count + 1))
        connection.execute(
            "UPDATE memories SET access_count = ?, last_accessed_at = ?, version = version + 1 "
            "WHERE number = ?",
            (used.access_count, microseconds(latest), number),
        )
        record = changed_record(record_of(connection, namespace, slot), accesses=used.access_count)
        put_record(connection, namespace, slot, record, "use")


def set_forgotten(connection: sqlite3.Connection, path: str, ids: Sequence[str], at: datetime | None) -> None:
    """Hide memories (`at` says when) or show them again (None); one that already is so stays so."""
    for id_ in ids:
        namespace, number, slot, _ = find(connection, path, id_)
        when = microseconds(at)
        record = record_of(connection, namespace, slot)
        state = int(record["state"][0])
        wanted = state & ~FORGOTTEN if at is None else state | FORGOTTEN
        if state != wanted:
            connection.execute("UPDATE memories SET forgotten_at = ? WHERE number = ?", (when, number))
            kind = "restore" if at is None else "forget"
            put_record(connection, namespace, slot, changed_record(record, state=wanted), kind)


def hide(connection: sqlite3.Connection, path: str, hidden: Hidden) -> None:
    """Say since when a memory has been hidden, for one that comes from another database."""
    namespace, number, slot, current = find(connection, path, hidden.memory_id)
    if hidden.superseded_at is not None:
        if current.superseded_by is None:
            raise InvalidArgument("superseded_at", hidden.superseded_at, "left out for a current memory")
        connection.execute(
            "UPDATE memories SET superseded_at = ? WHERE number = ?",
            (microseconds(hidden.superseded_at), number),
        )
        record = changed_record(
            record_of(connection, namespace, slot), superseded=hidden.superseded_at.timestamp()
        )
        put_record(connection, namespace, slot, record, "supersede")
        if hidden.end_given is not None:
            given = hidden.end_given and current.valid_to is not None
            connection.execute("UPDATE memories SET end_given = ? WHERE number = ?", (given, number))
        if hidden.repeat is not None:
            note_repeat(connection, path, hidden.memory_id, hidden.repeat, hidden.superseded_at)
    if hidden.forgotten_at is not None:
        set_forgotten(connection, path, [hidden.memory_id], hidden.forgotten_at)


def _add_rows(
    connection: sqlite3.Connection,
    namespace: Namespace,
    batch: Sequence[Entry],
    embedder: tuple[int, int] | None,
    matrix: Floats | None,
    *,
    waiting: bool,
) -> tuple[int, list[bytes]]:
    """Write all rows of a batch, and return its last change and its records; words are kept if `waiting`."""
    number, first = namespace.number, namespace.slots
    alone = matrix is not None
    passages = [1 if alone else checked_passages(entry, embedder) for entry in batch]
    memories = [as_added(entry.memory) for entry in batch]
    sessions = _session_numbers(connection, number, {memory.source.session for memory in memories})
    try:
        connection.executemany(*insertion(number, first, memories))
    except sqlite3.IntegrityError as error:
        taken = _taken(connection, number, batch)
        raise InvalidArgument("id", taken, "an id that is not taken yet") from error
    records = records_of(memories, batch, passages, sessions)
    slots = range(first, first + len(batch))
    if waiting:
        words = [tail.encoded(entry.terms) for entry in batch]
        connection.executemany(_ADD_RECORD, zip(repeat(number), slots, records, words))
    else:
        pieces.add_records(connection, number, first, records)
    digests = [entry.digest for entry in batch]
    if embedder is not None and matrix is not None and not waiting and pieces.can_be_cut(digests):
        pieces.add_vectors(connection, (embedder[0], number, first), digests, matrix)
    elif embedder is not None:
        start = vectors_place(embedder[0], number, 0)
        connection.executemany(
            _ADD_VECTORS,
            [
                (start + slot, number, embedder[0], slot, entry.digest, written)
                for slot, entry, written in zip(slots, batch, _written(batch, matrix), strict=True)
                if written is not None
            ],
        )
    last = first + len(batch) - 1
    if len(batch) > 1:
        connection.execute(_ADD_CHANGES, (number, first, last - 1))
    return add_change(connection, namespace, last, "add"), records


def _add_addresses(
    connection: sqlite3.Connection,
    namespace: Namespace,
    batch: Sequence[Entry],
    embedder: tuple[int, int] | None,
    *,
    together: bool,
) -> None:
    """Let a batch be found by the hashes of its texts, and of what was embedded."""
    from memorata.dedupe.verification import is_turn

    number, first = namespace.number, namespace.slots
    said, embedded = place(number, first), vectors_place(embedder[0] if embedder else 0, number, first)
    if len(batch) == 1 and not together:
        (entry,) = batch
        found = []
        if not is_turn(entry.memory):
            found.append((hashes.fingerprint_key(number, entry.memory.fingerprint), said))
        if embedder is not None and entry.vectors is not None:
            found.append((hashes.digest_key(embedder[0], number, entry.digest), embedded))
        addresses.add_few(connection, found)
        return
    plain = [at for at, entry in enumerate(batch) if not is_turn(entry.memory)]
    rows = [] if embedder is None else [at for at, entry in enumerate(batch) if entry.vectors is not None]
    keys = hashes.fingerprint_keys(number, [batch[at].memory.fingerprint for at in plain])
    digests = [batch[at].digest for at in rows]
    keys = np.concatenate([keys, hashes.digest_keys(embedder[0] if embedder else 0, number, digests)])
    places = np.concatenate([said + np.array(plain, np.int64), embedded + np.array(rows, np.int64)])
    addresses.add(connection, keys, places, together=together)


def _taken(connection: sqlite3.Connection, number: int, batch: Sequence[Entry]) -> str:
    """Return the first id of a batch that stands in it twice or was in the table before."""
    before = "SELECT 1 FROM memories m JOIN namespaces n ON n.number = m.namespace "
    before += "WHERE m.namespace = ? AND m.id = ? AND m.slot < n.slots"
    seen: set[str] = set()
    for entry in batch:
        if entry.memory.id in seen or connection.execute(before, (number, entry.memory.id)).fetchone():
            break
        seen.add(entry.memory.id)
    return entry.memory.id


def _lone_rows(batch: Sequence[Entry], embedder: tuple[int, int] | None) -> Floats | None:
    """Return the vectors of a batch as one matrix, if each memory has one and all are as they should be.

    None if any is not, or may not be: finite numbers may have an infinite sum of squares.
    """
    rows = [entry.vectors for entry in batch if entry.vectors is not None]
    shape = None if embedder is None else (1, embedder[1])
    if len(rows) < len(batch) or any(row.shape != shape for row in rows):
        return None
    whole = np.ascontiguousarray(rows[0] if len(rows) == 1 else np.concatenate(rows), np.float32)
    return whole if math.isfinite(np.vdot(whole, whole)) else None


def _written(batch: Sequence[Entry], matrix: Floats | None) -> list[bytes | memoryview | None]:
    """Return the vectors of each memory as its row has them; None for one without."""
    if matrix is None:
        return [
            None if entry.vectors is None else np.asarray(entry.vectors, np.float32).tobytes()
            for entry in batch
        ]
    whole, width = matrix.data.cast("B"), matrix.nbytes // len(matrix)
    return [whole[start : start + width] for start in range(0, whole.nbytes, width)]


def _session_numbers(connection: sqlite3.Connection, number: int, names: set[str]) -> dict[str, int]:
    known: dict[str, int] = {}
    if names == _NO_SESSION:
        return known
    for name in sorted(names - _NO_SESSION):
        connection.execute(
            "INSERT INTO sessions (namespace, name, number) "
            "SELECT ?1, ?2, coalesce(max(number) + 1, 0) FROM sessions WHERE namespace = ?1 "
            "ON CONFLICT DO NOTHING",
            (number, name),
        )
        known[name] = connection.execute(
            "SELECT number FROM sessions WHERE namespace = ? AND name = ?", (number, name)
        ).fetchone()[0]
    return known


def _supersede(
    connection: sqlite3.Connection, namespace: Namespace, old_id: str, new_slot: int, new: Memory
) -> int:
    """Mark a memory as superseded, from the moment on at which the newer one was learnt."""
    _, number, slot, old = find(connection, namespace.path, old_id)
    if slot >= new_slot:
        # Only what was there before can be superseded, so a chain never comes back to where it began.
        raise InvalidArgument("supersedes", old_id, "a memory that was added before this one")
    if old.superseded_by is not None:
        raise AlreadySuperseded(old_id, old.superseded_by)
    ended = old.valid_to or ended_by(old, new.event_time)
    connection.execute(
        "UPDATE memories SET superseded_by = ?, superseded_at = ?, valid_to = ?, end_given = ?, "
        "version = version + 1 WHERE number = ?",
        (new.id, microseconds(new.created_at), microseconds(ended), old.valid_to is None, number),
    )
    record = changed_record(
        record_of(connection, namespace, slot),
        superseded=new.created_at.timestamp(),
        until=ended.timestamp(),
    )
    change = put_record(connection, namespace, slot, record, "supersede")
    if new.event_time < old.event_time:
        # What it had itself taken the place of ended sooner, too.
        settle_ends(connection, namespace, old.id)
        return last_change(connection)
    return change


def _ended_anew(connection: sqlite3.Connection, memory: Memory, number: int) -> Memory:
    """Return a memory that is said to have begun at another time, its end no earlier if it was given one."""
    given = connection.execute(
        "SELECT superseded_by FROM memories WHERE number = ? AND end_given", (number,)
    ).fetchone()
    if given is None:
        return memory
    return replace(memory, valid_to=ended_by(memory, began(connection, number // SLOTS, given[0])))
