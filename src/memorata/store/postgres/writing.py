"""Writing memories: rows, records, vectors, words and the change feed, in one transaction.

Every function here runs inside a transaction that its caller opened; a raised error undoes all of it. What
each of them means is what its namesake for files means (:mod:`memorata.store.memories`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from typing import Any, Final

import numpy as np

from memorata.index import tail
from memorata.index.record import FIELDS, FORGOTTEN, packed, unpacked
from memorata.index.record import changed as changed_record
from memorata.model.errors import AlreadySuperseded, InvalidArgument, VersionConflict
from memorata.model.memory import Memory
from memorata.store.insertion import as_added, checked_numbers, checked_passages, records_of
from memorata.store.instants import microseconds
from memorata.store.limits import SLOTS, checked_limit
from memorata.store.port import Entry, Hidden, Terms
from memorata.store.postgres import namespaces
from memorata.store.postgres.connection import Server
from memorata.store.postgres.finding import Kept, find, is_shown, put_record, set_columns
from memorata.store.postgres.namespaces import Namespace
from memorata.store.postgres.relinking import began, is_end_given, note_repeat, settle_ends
from memorata.store.postgres.rows import COLUMNS, row
from memorata.store.postgres.texts import checked_name
from memorata.store.postgres.vectors import put_vectors
from memorata.store.postgres.words import list_words, relist_words, unlist_words
from memorata.store.supersession import ended_by

_ADD: Final = (
    f"INSERT INTO memories (namespace, slot, added, {', '.join(COLUMNS)}, record, words) "
    f"VALUES (%s, %s, %s, {', '.join(['%s'] * len(COLUMNS))}, %s, %s)"
)
_SET: Final = (
    "UPDATE memories SET " + ", ".join(f"{c} = %s" for c in COLUMNS) + " WHERE namespace = %s AND slot = %s"
)
_FIXED: Final = (
    "content", "source", "created_at", "supersedes", "superseded_by", "fingerprint", "embedder",
)  # fmt: skip
"""What an update leaves alone: what was said, by whom and when, and what the store itself keeps."""
_WORDED: Final = ("tags", "entities", "valid_from")
"""What is searched by its words, so that a change of it is a change of those."""


def add(connection: Server, entries: Sequence[Entry], embedder: tuple[int, int] | None) -> int:
    """Add memories, mark those they supersede, and return the number of the last change."""
    change = 0
    locked = namespaces.lock_all(connection, [entry.memory.namespace for entry in entries])
    for path, members in groupby(entries, key=lambda entry: entry.memory.namespace):
        batch = list(members)
        # What was read when it was locked is out of date for a batch that comes back to it.
        namespace = locked.pop(path, None) or namespaces.made(connection, path)
        slots = namespace.slots + len(batch)
        checked_limit("memories in one namespace", slots, SLOTS - 1)
        change = _add_rows(connection, namespace, batch, embedder)
        for slot, entry in enumerate(batch, namespace.slots):
            for old in entry.memory.supersedes:
                change = _supersede(connection, namespace, old, slot, entry.memory)
    return change or namespaces.last_change(connection)


def update(
    connection: Server,
    changed: Memory,
    expected_version: int,
    terms_of: Callable[[Memory], Terms] | None = None,
) -> Memory:
    """Replace what is known about a memory, except what was said."""
    kept = find(connection, changed.namespace, changed.id, lock=True)
    current = kept.memory
    if current.version != expected_version:
        raise VersionConflict(changed.id, expected_version, current.version)
    for fixed in _FIXED if terms_of else (*_FIXED, *_WORDED):
        if getattr(changed, fixed) != getattr(current, fixed):
            raise InvalidArgument(fixed, getattr(changed, fixed), "unchanged; to say something new, correct")
    following = replace(checked_numbers(changed), version=current.version + 1)
    if following.valid_from != current.valid_from and following.valid_to == current.valid_to:
        following = _ended_anew(connection, following, kept)
    connection.execute(_SET, (*row(following), kept.namespace.number, kept.slot))
    lengths = dict(zip(FIELDS, kept.record["lengths"][0].tolist(), strict=True))
    if terms_of is not None and any(getattr(changed, name) != getattr(current, name) for name in _WORDED):
        terms = terms_of(following)
        reword(connection, kept, terms)
        lengths = {field: sum(words.values()) for field, words in terms.items()}
    record = packed(
        following,
        state=int(kept.record["state"][0]),
        session=int(kept.record["session"][0]),
        vectors=int(kept.record["vectors"][0]),
        superseded_at=None if np.isinf(kept.record["superseded"][0]) else float(kept.record["superseded"][0]),
        lengths=lengths,
    )
    put_record(connection, kept, record, "update")
    if changed.valid_to != current.valid_to:
        # Whoever says until when it held says it for good.
        connection.execute(
            "UPDATE memories SET end_given = false WHERE namespace = %s AND slot = %s",
            (kept.namespace.number, kept.slot),
        )
    if following.event_time != current.event_time:
        settle_ends(connection, kept.namespace, following.id)
    return following


def use(connection: Server, path: str, ids: Sequence[str], now: datetime) -> None:
    """Count that memories were of use; the last use is the latest, whatever the order they are told in."""
    for id_ in ids:
        kept = find(connection, path, id_, lock=True)
        current = kept.memory
        latest = now if current.last_accessed_at is None else max(now, current.last_accessed_at)
        used = checked_numbers(replace(current, access_count=current.access_count + 1))
        put_record(
            connection,
            kept,
            changed_record(kept.record, accesses=used.access_count),
            "use",
            access_count=used.access_count,
            last_accessed_at=microseconds(latest),
            version=current.version + 1,
        )


def set_forgotten(connection: Server, path: str, ids: Sequence[str], at: datetime | None) -> None:
    """Hide memories (`at` says when) or show them again (None); one that already is so stays so."""
    for id_ in ids:
        kept = find(connection, path, id_, lock=True)
        state = int(kept.record["state"][0])
        wanted = state & ~FORGOTTEN if at is None else state | FORGOTTEN
        if state != wanted:
            kind = "restore" if at is None else "forget"
            record = changed_record(kept.record, state=wanted)
            put_record(connection, kept, record, kind, forgotten_at=microseconds(at))


def hide(connection: Server, path: str, hidden: Hidden) -> None:
    """Say since when a memory has been hidden, for one that comes from another database."""
    kept = find(connection, path, hidden.memory_id, lock=True)
    if hidden.superseded_at is not None:
        if kept.memory.superseded_by is None:
            raise InvalidArgument("superseded_at", hidden.superseded_at, "left out for a current memory")
        record = changed_record(kept.record, superseded=hidden.superseded_at.timestamp())
        columns: dict[str, object] = {"superseded_at": microseconds(hidden.superseded_at)}
        if hidden.end_given is not None:
            columns["end_given"] = hidden.end_given and kept.memory.valid_to is not None
        put_record(connection, kept, record, "supersede", **columns)
        if hidden.repeat is not None:
            note_repeat(connection, kept, hidden.repeat, hidden.superseded_at)
    if hidden.forgotten_at is not None:
        set_forgotten(connection, path, [hidden.memory_id], hidden.forgotten_at)


def reword(connection: Server, kept: Kept, terms: Terms) -> None:
    """List a memory under other words."""
    number, hidden = kept.namespace.number, not is_shown(kept.record)
    old = connection.execute(
        "SELECT words FROM memories WHERE namespace = %s AND slot = %s", (number, kept.slot)
    ).fetchone()
    assert old is not None  # its row was just read
    unlist_words(connection, number, kept.slot, old[0], hidden=hidden)
    relist_words(connection, number, kept.slot, terms, hidden=hidden)
    connection.execute(
        "UPDATE memories SET words = %s WHERE namespace = %s AND slot = %s",
        (tail.encoded(terms), number, kept.slot),
    )


def _add_rows(
    connection: Server, namespace: Namespace, batch: Sequence[Entry], embedder: tuple[int, int] | None
) -> int:
    number, first = namespace.number, namespace.slots
    passages = [checked_passages(entry, embedder) for entry in batch]
    memories = [as_added(entry.memory) for entry in batch]
    _check_ids(connection, number, [memory.id for memory in memories])
    sessions = _session_numbers(connection, number, {memory.source.session for memory in memories})
    records = records_of(memories, batch, passages, sessions)
    slots = range(first, first + len(batch))
    changes = namespaces.log_added(connection, namespace, unpacked(records))
    rows: list[tuple[Any, ...]] = [
        (number, slot, change, *row(memory), record, tail.encoded(entry.terms))
        for slot, change, memory, record, entry in zip(slots, changes, memories, records, batch, strict=True)
    ]
    with connection.cursor() as cursor:
        cursor.executemany(_ADD, rows)
    list_words(connection, number, [(slot, entry.terms) for slot, entry in zip(slots, batch, strict=True)])
    if embedder is not None:
        put_vectors(
            connection,
            number,
            embedder[0],
            [
                (slot, entry.digest, entry.vectors)
                for slot, entry in zip(slots, batch, strict=True)
                if entry.vectors is not None
            ],
        )
    return changes[-1]


def _check_ids(connection: Server, number: int, ids: Sequence[str]) -> None:
    """Raise for the first id of a batch that stands in it twice or is in the table."""
    rows = connection.execute(
        "SELECT id FROM memories WHERE namespace = %s AND id = ANY (%s)", (number, list(ids))
    )
    taken = {id_ for (id_,) in rows}
    for id_ in ids:
        if id_ in taken:
            raise InvalidArgument("id", id_, "an id that is not taken yet")
        taken.add(id_)


def _session_numbers(connection: Server, number: int, names: set[str]) -> dict[str, int]:
    wanted = sorted(checked_name("session", name) for name in names - {""})
    if not wanted:
        return {}
    connection.execute(
        "INSERT INTO sessions (namespace, name, number) SELECT %(whose)s, name, "
        "(SELECT coalesce(max(number), -1) FROM sessions WHERE namespace = %(whose)s) "
        "+ row_number() OVER (ORDER BY name) FROM unnest(%(names)s::text[]) AS new (name) "
        "WHERE NOT EXISTS (SELECT 1 FROM sessions s WHERE s.namespace = %(whose)s AND s.name = new.name)",
        {"whose": number, "names": wanted},
    )
    rows = connection.execute(
        "SELECT name, number FROM sessions WHERE namespace = %s AND name = ANY (%s)", (number, wanted)
    )
    return dict(rows.fetchall())


def _supersede(connection: Server, namespace: Namespace, old_id: str, new_slot: int, new: Memory) -> int:
    """Mark a memory as superseded, from the moment on at which the newer one was learnt."""
    kept = find(connection, namespace.path, old_id)
    old = kept.memory
    if kept.slot >= new_slot:
        # Only what was there before can be superseded, so a chain never comes back to where it began.
        raise InvalidArgument("supersedes", old_id, "a memory that was added before this one")
    if old.superseded_by is not None:
        raise AlreadySuperseded(old_id, old.superseded_by)
    ended = old.valid_to or ended_by(old, new.event_time)
    set_columns(
        connection,
        kept,
        superseded_by=new.id,
        superseded_at=microseconds(new.created_at),
        valid_to=microseconds(ended),
        end_given=old.valid_to is None,
    )
    record = changed_record(kept.record, superseded=new.created_at.timestamp(), until=ended.timestamp())
    change = put_record(connection, kept, record, "supersede")
    if new.event_time < old.event_time:
        # What it had itself taken the place of ended sooner, too.
        settle_ends(connection, namespace, old.id)
        return namespaces.last_change(connection)
    return change


def _ended_anew(connection: Server, memory: Memory, kept: Kept) -> Memory:
    """Return a memory that is said to have begun at another time, its end no earlier if it was given one."""
    if kept.memory.superseded_by is None or not is_end_given(connection, kept):
        return memory
    first = began(connection, kept.namespace.number, kept.memory.superseded_by)
    return replace(memory, valid_to=ended_by(memory, first))
