"""Writing memories: rows, records, vectors, words and the change feed, in one transaction.

Every function here runs inside a transaction that its caller opened; a raised error undoes all of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from typing import Any, Final

import numpy as np

from memorata.dedupe.wording import statement_key
from memorata.index import segments
from memorata.index.cache import Added, rows_of
from memorata.index.codes import Floats
from memorata.index.record import FIELDS, FORGOTTEN, packed
from memorata.index.record import changed as changed_record
from memorata.index.segments import TAIL, Embedder
from memorata.index.vector_rows import sealed
from memorata.model.errors import AlreadySuperseded, InvalidArgument, MemoryNotFound, VersionConflict
from memorata.model.memory import Memory
from memorata.store.database import Session, Statement
from memorata.store.entries import Entry, Hidden, TermsOf
from memorata.store.memory.insertion import (
    add_records,
    add_vectors,
    as_added,
    can_be_cut,
    checked_numbers,
    checked_passages,
    insertion,
    records_of,
)
from memorata.store.memory.lookup import LOCATE, Located, locate, located, same_statement
from memorata.store.memory.supersession import began, ended_by, mark_superseded, note_repeat, settle_ends
from memorata.store.rows import (
    COLUMNS,
    SLOTS,
    Namespace,
    checked_limit,
    expect_found,
    find_namespace,
    log_change,
    marks,
    new_namespace,
    put_record,
    row,
    set_columns,
)

_AT: Final = " WHERE +namespace = ? AND number = ?"
_SET_MEMORY: Final = "UPDATE memories SET " + ", ".join(f"{c} = ?" for c in COLUMNS) + _AT
_ADD_RECORD: Final = "INSERT INTO records (namespace, slot, record, terms) VALUES (?, ?, ?, ?)"
_ADD_VECTORS: Final = (
    "INSERT INTO vectors (number, namespace, embedder, slot, digest, vectors) VALUES (?, ?, ?, ?, ?, ?)"
)
_FIXED: Final = (
    "content", "source", "created_at", "supersedes", "superseded_by", "fingerprint", "embedder",
)  # fmt: skip
"""The fields that an update leaves alone: the text, its source and time, and those that the store sets."""
_WORDED: Final = ("tags", "entities", "valid_from")
"""The fields that are searched by their terms, so that a change of them changes posting lists."""
_NO_SESSION: Final = frozenset({""})
_TAKEN: Final = (
    "SELECT id FROM memories WHERE namespace = ? AND id IN (SELECT value FROM json_each(?)) AND slot < ?"
)
_IDS_PER_STATEMENT: Final = 1_000
_SESSIONS: Final = "SELECT name, number FROM sessions WHERE namespace = ? AND name IN ({})"
_LAST_SESSION: Final = "SELECT coalesce(max(number), -1) FROM sessions WHERE namespace = ?"


def expect(
    session: Session,
    path: str,
    entries: Sequence[Entry],
    now: datetime | None = None,
) -> None:
    """Read ahead the rows that adding entries to a namespace needs, where that saves round trips.

    With `now`, also the rows that deduplication needs: memories that make the same statement.
    """
    if not session.dialect.remote or (number := session.dialect.namespace_number(path)) is None:
        return
    statements = _taken(session, number, SLOTS, [entry.memory.id for entry in entries])
    statements += [(LOCATE, (number, id_)) for id_ in _superseded_ids(entries)]
    if names := sorted({entry.memory.source.session for entry in entries} - _NO_SESSION):
        statements += [(_SESSIONS.format(marks(names)), (number, *names)), (_LAST_SESSION, (number,))]
    if now is not None:
        keys = [statement_key(entry.memory.content) for entry in entries]
        statements.append(same_statement(session, number, keys, now))
    session.namespace(path, statements)


def add(
    session: Session,
    entries: Sequence[Entry],
    embedder: Embedder | None,
    added: list[Added] | None = None,
) -> int:
    """Add memories, mark those they supersede, and return the number of the last change.

    A memory is superseded by its successor's `supersedes` alone, so a `superseded_by` that it brings along
    (from an export, say) is ignored; it is set again when the newer memory is added. `added` gets what was
    added where no segment was written, for caches to follow.
    """
    change = 0
    for path, members in groupby(entries, key=lambda entry: entry.memory.namespace):
        batch = list(members)
        expect(session, path, batch)
        namespace = find_namespace(session, path) or new_namespace(session, path)
        slots = namespace.slots + len(batch)
        checked_limit("memories in one namespace", slots, SLOTS)
        full = slots - namespace.flushed >= TAIL
        matrix = _lone_rows(batch, embedder)
        # Before anything is written: on a server they came with the row of the namespace.
        superseded = {id_: locate(session, namespace, id_) for id_ in _superseded_ids(batch)}
        change, records = _add_rows(session, namespace, batch, embedder, matrix, waiting=not full)
        if added is not None and not full:
            added.append(Added(namespace, batch, records, change))
        for slot, entry in enumerate(batch, namespace.slots):
            for old in entry.memory.supersedes:
                # What the batch itself added or superseded is read as it is now.
                older = superseded.pop(old, None) or locate(session, namespace, old)
                if older is None:
                    raise MemoryNotFound(old, path)
                change = _supersede(session, older, slot, entry.memory)
        if full:
            fresh = [(slot, entry.terms) for slot, entry in enumerate(batch, namespace.slots)]
            vectors = None
            if embedder is not None and matrix is not None:
                vectors = embedder, np.arange(namespace.slots, slots, dtype=np.int32), matrix
            elif embedder is not None:
                vectors = embedder, *rows_of(batch, namespace.slots, embedder[1])
            segments.flush(session, namespace, fresh, vectors)
    return change


def update(
    session: Session,
    changed: Memory,
    expected_version: int,
    terms_of: TermsOf | None = None,
) -> Memory:
    """Replace the fields of a memory that an update may change; words only with `terms_of`."""
    namespace, number, slot, current, old = located(session, changed.namespace, changed.id)
    if current.version != expected_version:
        raise VersionConflict(changed.id, expected_version, current.version)
    for fixed in _FIXED if terms_of else (*_FIXED, *_WORDED):
        if getattr(changed, fixed) != getattr(current, fixed):
            raise InvalidArgument(fixed, getattr(changed, fixed), "unchanged; to say something new, correct")
    following = replace(checked_numbers(changed), version=current.version + 1)
    if following.valid_from != current.valid_from and following.valid_to == current.valid_to:
        following = _ended_anew(session, namespace.number, following, number)
    session.execute(_SET_MEMORY, (*row(following), namespace.number, number))
    lengths = dict(zip(FIELDS, old["lengths"][0].tolist(), strict=True))
    if terms_of is not None and any(getattr(changed, name) != getattr(current, name) for name in _WORDED):
        terms = terms_of(following)
        segments.reword(session, namespace, slot, terms)
        lengths = {field: sum(words.values()) for field, words in terms.items()}
    record = packed(
        following,
        state=int(old["state"][0]),
        session=int(old["session"][0]),
        vectors=int(old["vectors"][0]),
        superseded_at=None if np.isinf(old["superseded"][0]) else float(old["superseded"][0]),
        lengths=lengths,
    )
    put_record(session, namespace, slot, record, "update")
    if changed.valid_to != current.valid_to:
        # An explicit end is the memory's own: no successor changes it.
        set_columns(session, namespace.number, number, version=0, end_given=False)
    if following.event_time != current.event_time:
        settle_ends(session, namespace, following.id)
    return following


def use(session: Session, path: str, ids: Sequence[str], now: datetime) -> None:
    """Count that memories were of use at `now`, all or none; `last_accessed_at` is the latest of those."""
    for id_ in ids:
        namespace, number, slot, current, record = located(session, path, id_)
        latest = now if current.last_accessed_at is None else max(now, current.last_accessed_at)
        used = checked_numbers(replace(current, access_count=current.access_count + 1))
        counted = used.access_count
        set_columns(session, namespace.number, number, access_count=counted, last_accessed_at=latest)
        put_record(session, namespace, slot, changed_record(record, accesses=counted), "use")


def set_forgotten(session: Session, path: str, ids: Sequence[str], at: datetime | None) -> None:
    """Hide memories (`at` says when) or show them again (None); one that already is so stays so."""
    distinct = list(dict.fromkeys(ids))
    expect_found(session, path, distinct, LOCATE)
    # All are read before anything is written: a write discards rows that a server's session read ahead.
    for namespace, number, slot, _, record in [located(session, path, id_) for id_ in distinct]:
        state = int(record["state"][0])
        wanted = state & ~FORGOTTEN if at is None else state | FORGOTTEN
        if state != wanted:
            set_columns(session, namespace.number, number, version=0, forgotten_at=at)
            kind = "restore" if at is None else "forget"
            put_record(session, namespace, slot, changed_record(record, state=wanted), kind)


def hide(session: Session, path: str, hidden: Sequence[Hidden]) -> None:
    """Hide memories as :func:`lookup.hidden` of another store returned it; None leaves a part as it is.

    Only a superseded memory can get another `superseded_at`. A repeat without a note yet gets one.
    """
    for entry in hidden:
        _hide(session, path, entry)


def _hide(session: Session, path: str, hidden: Hidden) -> None:
    namespace, number, slot, current, record = located(session, path, hidden.memory_id)
    if hidden.superseded_at is not None:
        if current.superseded_by is None:
            raise InvalidArgument("superseded_at", hidden.superseded_at, "left out for a current memory")
        columns: dict[str, Any] = {"superseded_at": hidden.superseded_at}
        if hidden.end_given is not None:
            columns["end_given"] = hidden.end_given and current.valid_to is not None
        set_columns(session, namespace.number, number, version=0, **columns)
        ended = changed_record(record, superseded=hidden.superseded_at.timestamp())
        put_record(session, namespace, slot, ended, "supersede")
        if hidden.repeat is not None:
            note_repeat(session, path, hidden.memory_id, hidden.repeat, hidden.superseded_at)
    if hidden.forgotten_at is not None:
        set_forgotten(session, path, [hidden.memory_id], hidden.forgotten_at)


def _add_rows(
    session: Session,
    namespace: Namespace,
    batch: Sequence[Entry],
    embedder: Embedder | None,
    matrix: Floats | None,
    *,
    waiting: bool,
) -> tuple[int, list[bytes]]:
    """Write all rows of a batch, and return its last change and its records; with terms if `waiting`."""
    number, first = namespace.number, namespace.slots
    alone = matrix is not None
    passages = [1 if alone else checked_passages(entry, embedder) for entry in batch]
    memories = [as_added(entry.memory) for entry in batch]
    if session.dialect.remote:
        # A server reports a violated UNIQUE later.
        _refuse_taken(session, number, SLOTS, memories)
    sessions = _session_numbers(session, number, {memory.source.session for memory in memories})
    try:
        session.executemany(*insertion(session.dialect, number, first, memories))
    except session.dialect.unique_errors:
        _refuse_taken(session, number, first, memories)
        raise
    derived = records_of(memories, batch, passages, sessions, waiting=waiting)
    records = [record for record, _ in derived]
    slots = range(first, first + len(batch))
    if waiting:
        session.executemany(
            _ADD_RECORD, [(number, slot, *row) for slot, row in zip(slots, derived, strict=True)]
        )
    else:
        add_records(session, number, first, records)
    digests = [entry.digest for entry in batch]
    if embedder is not None and matrix is not None and not waiting and can_be_cut(digests):
        add_vectors(session, (embedder[0], number, first), digests, matrix)
    elif embedder is not None:
        start = session.dialect.vectors_number(embedder[0], number, 0)
        session.executemany(
            _ADD_VECTORS,
            [
                (start + slot, number, embedder[0], slot, entry.digest, written)
                for slot, entry, written in zip(slots, batch, _written(batch, matrix), strict=True)
                if written is not None
            ],
        )
    last = first + len(batch) - 1
    if len(batch) > 1:
        session.dialect.log_added(session, number, first, last)
    return log_change(session, number, "add", last, slots=last + 1), records


def _refuse_taken(session: Session, number: int, first: int, memories: Sequence[Memory]) -> None:
    """Raise for the first id of a batch that occurs in it twice or existed before its first slot."""
    ids = [memory.id for memory in memories]
    taken = {
        id_ for statement in _taken(session, number, first, ids) for (id_,) in session.execute(*statement)
    }
    if not taken and len(set(ids)) == len(ids):
        return
    for id_ in ids:
        if id_ in taken:
            raise InvalidArgument("id", id_, "an id that is not taken yet")
        taken.add(id_)


def _taken(session: Session, number: int, first: int, ids: Sequence[str]) -> list[Statement]:
    """Return the statements that select which ids are taken by slots before `first`."""
    return [
        (_TAKEN, (number, session.dialect.array(ids[start : start + _IDS_PER_STATEMENT]), first))
        for start in range(0, len(ids), _IDS_PER_STATEMENT)
    ]


def _lone_rows(batch: Sequence[Entry], embedder: Embedder | None) -> Floats | None:
    """Return the vectors of a batch as one matrix, if each memory has one and all are valid.

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
        return [None if entry.vectors is None else sealed(entry.vectors).tobytes() for entry in batch]
    return [row.data.cast("B") for row in sealed(matrix)]


def _session_numbers(session: Session, number: int, names: set[str]) -> dict[str, int]:
    """Return the numbers of sessions by name; new sessions get the next ones."""
    wanted = sorted(names - _NO_SESSION)
    if not wanted:
        return {}
    for name in wanted:
        session.dialect.checked_name("session", name)
    numbers = dict(session.execute(_SESSIONS.format(marks(wanted)), (number, *wanted)).fetchall())
    new = [name for name in wanted if name not in numbers]
    if new:
        (last,) = session.execute(_LAST_SESSION, (number,)).fetchone()
        numbers |= {name: place for place, name in enumerate(new, last + 1)}
        session.executemany(
            "INSERT INTO sessions (namespace, name, number) VALUES (?, ?, ?)",
            [(number, name, numbers[name]) for name in new],
        )
    return numbers


def _superseded_ids(entries: Sequence[Entry]) -> list[str]:
    """Return the ids of the memories that entries supersede, except ids of the entries themselves."""
    own = {entry.memory.id for entry in entries}
    return [id_ for entry in entries for id_ in entry.memory.supersedes if id_ not in own]


def _supersede(session: Session, older: Located, new_slot: int, new: Memory) -> int:
    """Mark a memory as superseded, from the moment on at which the newer one was learnt."""
    old = older.memory
    if older.slot >= new_slot:
        # Only an older memory can be superseded, so that no chain is circular.
        raise InvalidArgument("supersedes", old.id, "a memory that was added before this one")
    if old.superseded_by is not None:
        raise AlreadySuperseded(old.id, old.superseded_by)
    return mark_superseded(session, older, new.id, new.created_at, new.event_time)


def _ended_anew(session: Session, namespace: int, memory: Memory, number: int) -> Memory:
    """Return a memory whose `valid_from` changed, with the end that its successor sets, if that set one."""
    successor = session.execute(
        f"SELECT superseded_by FROM memories{_AT} AND end_given <> 0", (namespace, number)
    ).fetchone()
    if successor is None:
        return memory
    return replace(memory, valid_to=ended_by(memory, began(session, namespace, successor[0])))
