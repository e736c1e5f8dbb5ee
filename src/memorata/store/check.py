"""Integrity checks: of the rows of memories, of the data derived from them, and whether the two agree.

Derived data (records, waiting terms, segments, vector codes) can always be rebuilt from the memories and
their vectors (rebuild.py). Rows of memories are never changed: a broken link between memories that superseded
each other is reported and left as it is, and a row that cannot be read is reported and left out of searches.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

import numpy as np

from memorata._frozen import frozen
from memorata.dedupe.fingerprint import fingerprint
from memorata.index import segments
from memorata.index.codes import Codes
from memorata.index.postings import MAX_FREQUENCY, SegmentLists, parts_of
from memorata.index.record import GONE, body_of, decoded_terms, unpacked
from memorata.index.segments import Embedder
from memorata.index.vector_rows import is_sound
from memorata.model.errors import IndexCorrupt
from memorata.store import entities, rebuild
from memorata.store.database import Session
from memorata.store.entries import TermsOf
from memorata.store.memory.insertion import statement_of
from memorata.store.rebuild import session_numbers, stated_memories, unlisted
from memorata.store.rows import NAMED

_VECTORS_BY_EMBEDDER: Final = (
    "SELECT e.name, count(v.number) FROM embedders e LEFT JOIN vectors v ON v.embedder = e.number "
    "GROUP BY e.number, e.name ORDER BY e.number"
)


@frozen
class Problem:
    """Something wrong with a namespace; an empty one means the whole file.

    One that is not mendable is in the rows of memories: rebuilding derived data does not change it.
    """

    namespace: str
    text: str
    mendable: bool = True


def problems(session: Session, terms_of: TermsOf) -> list[Problem]:
    """Return all problems."""
    all_problems = [Problem("", text) for text in session.dialect.problems(session)]
    if all_problems:
        return all_problems
    missing, lost = unlisted(session), _lost(session)
    for number, path, slots, flushed in session.execute(
        f"SELECT number, path, slots, flushed FROM namespaces WHERE {NAMED} ORDER BY path"
    ).fetchall():
        with session.dialect.leniently(session):
            unreadable = dict(rebuild.unreadable(session, number))
            all_problems += [
                Problem(path, f"{path}: {text}", mendable=not rebuild.is_left_out(session, number, slot))
                for slot, text in unreadable.items()
            ]
            texts = [
                *_namespace_problems(session, number, slots, flushed, terms_of, unreadable),
                *entities.problems(session, number),
            ]
        if number in missing:
            texts.append(f"{len(missing[number])} memories are not listed once among the changes")
        all_problems += [Problem(path, f"{path}: {text}") for text in texts]
        texts = [*lost.get(number, ())]
        if not unreadable:
            texts += [*broken_links(session, number), *session.dialect.row_problems(session, number)]
        all_problems += [Problem(path, f"{path}: {text}", mendable=False) for text in texts]
    return all_problems


def checked(session: Session, terms_of: TermsOf, embedder: Embedder | None, *, repair: bool) -> list[str]:
    """Return messages of all problems; with `repair`, rebuild derived data that has one."""
    all_problems = problems(session, terms_of)
    sound = all(problem.namespace for problem in all_problems)
    if repair and not sound:
        # An index of the database itself can be rebuilt; other damage of the file stays.
        session.dialect.mend(session)
        if sound := not session.dialect.problems(session):
            all_problems += problems(session, terms_of)
    mendable = {problem.namespace for problem in all_problems if problem.mendable}
    for namespace in sorted(mendable - {""}) if repair else ():
        rebuild.rebuild(session, namespace, terms_of, embedder, partly=True)
    return [problem.text for problem in all_problems]


def statistics(session: Session) -> Mapping[str, Any]:
    """Return sizes and counts for display."""

    def count(query: str) -> int:
        return int(session.execute(query).fetchone()[0])

    return {
        "memories": count("SELECT count(*) FROM memories"),
        "forgotten": count("SELECT count(*) FROM memories WHERE forgotten_at IS NOT NULL"),
        "superseded": count("SELECT count(*) FROM memories WHERE superseded_by IS NOT NULL"),
        "namespaces": count(f"SELECT count(*) FROM namespaces WHERE {NAMED}"),
        "sessions": count("SELECT count(*) FROM sessions"),
        "entities": count("SELECT count(*) FROM entities"),
        "relations": count("SELECT count(*) FROM relations"),
        "segments": count("SELECT count(*) FROM segments"),
        "waiting": count("SELECT coalesce(sum(slots - flushed), 0) FROM namespaces"),
        "vectors": dict(session.execute(_VECTORS_BY_EMBEDDER).fetchall()),
        "changes": count("SELECT coalesce(max(change), 0) FROM changes"),
    }


def _lost(session: Session) -> dict[int, list[str]]:
    """Return by namespace how many memories were added and are missing without having been purged."""
    rows = session.execute(
        "SELECT namespace, count(*) FROM (SELECT namespace, slot FROM changes WHERE kind = 'add' "
        "EXCEPT SELECT namespace, slot FROM changes WHERE kind = 'purge' "
        "EXCEPT SELECT namespace, slot FROM memories) lost GROUP BY namespace"
    ).fetchall()
    return {
        number: [f"{count} memories are missing, though they were not purged; restore a backup"]
        for number, count in rows
    }


def _namespace_problems(
    session: Session,
    number: int,
    slots: int,
    flushed: int,
    terms_of: TermsOf,
    unreadable: Collection[int],
) -> Iterator[str]:
    rows = session.execute(
        "SELECT slot, record FROM records WHERE namespace = ? ORDER BY slot", (number,)
    ).fetchall()
    if len(rows) != slots or [slot for slot, _ in rows] != list(range(slots)):
        yield f"there are not {slots} records, one for each slot"
        return
    try:
        records = unpacked([record for _, record in rows])
    except IndexCorrupt as error:
        yield str(error)
        return
    sessions, are_distinct = session_numbers(session, number)
    if not are_distinct:
        yield "sessions have no number, or that of another"
        return
    wanted: dict[tuple[str, str], dict[int, int]] = {}
    living = np.zeros(slots, np.bool_)
    statements = dict(
        session.execute("SELECT slot, statement FROM memories WHERE namespace = ?", (number,)).fetchall()
    )
    for stated in stated_memories(session, number, unreadable):
        slot, memory = stated.slot, stated.memory
        living[slot] = True
        if statements.get(slot) != statement_of(memory):
            yield f"the key of the statement of memory {memory.id} does not match its content"
        terms = terms_of(memory)
        # The number of passages is not checked: it depends on the embedder.
        expected = stated.record(sessions, int(records["vectors"][slot]), terms)
        if memory.fingerprint and memory.fingerprint != fingerprint(memory.content):
            yield (
                f"the content of memory {memory.id} does not match its fingerprint; restore it from a backup"
            )
        written = records[slot].tobytes()
        if written != expected and body_of(written) != body_of(expected):
            yield f"the record of memory {memory.id} does not match the memory"
        for field, words in terms.items():
            for term, times in words.items():
                wanted.setdefault((field, term), {})[slot] = min(times, MAX_FREQUENCY)
    unread = np.array([*unreadable], np.intp)
    shown = records["state"] != GONE
    shown[unread] = False
    if not np.array_equal(living, shown):
        yield "records and memories do not belong together"
    yield from _word_problems(session, number, slots, flushed, wanted, unreadable)
    living[unread] = True
    damaged = [
        slot
        for slot, dimension, blob in session.execute(
            "SELECT v.slot, e.dimension, v.vectors FROM vectors v JOIN embedders e ON e.number = v.embedder "
            "WHERE v.namespace = ?",
            (number,),
        )
        if not is_sound(blob, dimension)
    ]
    if damaged:
        yield f"the vectors of {len(damaged)} memories are damaged; without them they are found by words only"
        return
    yield from _code_problems(session, number, flushed, living)


def _word_problems(
    session: Session,
    number: int,
    slots: int,
    flushed: int,
    wanted: dict[tuple[str, str], dict[int, int]],
    unreadable: Collection[int],
) -> Iterator[str]:
    spans = session.execute(
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
    waiting = session.execute("SELECT slot, terms FROM rewordings WHERE namespace = ?", (number,)).fetchall()
    reworded = np.array([slot for slot, _ in waiting], np.int64)
    waiting += session.execute(
        "SELECT slot, terms FROM records WHERE namespace = ? AND terms IS NOT NULL", (number,)
    ).fetchall()
    values = session.execute(
        "SELECT number, first, lists FROM segments WHERE namespace = ? ORDER BY first", (number,)
    )
    for segment, first, value in values.fetchall():
        try:
            lists = SegmentLists.decoded(value)
            for position, key in enumerate(lists.keys()):
                relative, times = lists.postings(position)
                at = relative.astype(np.int64) + first
                current = ~np.isin(at, reworded)
                if current.any():
                    by_slot = zip(at[current].tolist(), times[current].tolist(), strict=True)
                    stored.setdefault(parts_of(key), {}).update(by_slot)
        except IndexCorrupt as error:
            yield f"segment {segment}: {error}"
    for slot, blob in waiting:
        try:
            terms = decoded_terms(blob)
        except IndexCorrupt as error:
            yield f"slot {slot}: {error}"
            continue
        for field, words in terms.items():
            for term, frequency in words.items():
                stored.setdefault((field, term), {})[slot] = min(frequency, MAX_FREQUENCY)
    if unreadable:
        # Their texts cannot be read; their terms may be listed or not.
        readable = {
            key: {at: times for at, times in by.items() if at not in unreadable} for key, by in stored.items()
        }
        stored = {key: by for key, by in readable.items() if by}
    different = sum(stored.get(key) != wanted.get(key) for key in stored.keys() | wanted.keys())
    if different:
        yield f"{different} words are not listed for the memories that contain them"


def _code_problems(
    session: Session,
    number: int,
    flushed: int,
    living: np.ndarray[tuple[int], np.dtype[np.bool_]],
) -> Iterator[str]:
    runs = session.execute(
        "SELECT first, slots, embedder, codes FROM vector_codes WHERE namespace = ? ORDER BY first", (number,)
    ).fetchall()
    ends = [0, *(first + slots for first, slots, _, _ in runs)]
    if ends != [*(first for first, _, _, _ in runs), flushed]:
        yield f"vector codes do not lie end to end from slot 0 to {flushed}"
        return
    embedders = dict(session.execute("SELECT number, dimension FROM embedders").fetchall())
    for first, slots, embedder, blob in runs:
        if blob is None:
            continue
        try:
            stored = Codes.decoded(blob)
        except IndexCorrupt as error:
            yield f"slots from {first} on: {error}"
            continue
        if embedder not in embedders:
            yield f"slots from {first} on: vector codes of no embedder"
            continue
        source = embedder, embedders[embedder]
        owners, vectors = segments.stored_vectors(session, number, source, first, first + slots)
        expected = Codes.of(owners, vectors)
        same = stored.encoded() == expected.encoded()
        if not same or not living[stored.owners].all():
            yield f"slots from {first} on: vector codes do not match the vectors"


def broken_links(session: Session, number: int) -> Iterator[str]:
    """Yield messages of the problems with the links between the memories of a namespace."""
    rows = session.execute(
        "SELECT id, slot, supersedes, superseded_by, superseded_at FROM memories WHERE namespace = ?1 "
        "AND (supersedes <> '[]' OR superseded_by IS NOT NULL OR superseded_at IS NOT NULL OR id IN "
        "(SELECT superseded_by FROM memories WHERE namespace = ?1 AND superseded_by IS NOT NULL))",
        (number,),
    ).fetchall()
    slots = {id_: slot for id_, slot, _, _, _ in rows}
    replaced = {id_: set(json.loads(older)) for id_, _, older, _, _ in rows}
    by = {id_: newer for id_, _, _, newer, _ in rows if newer is not None}
    for id_, _, _, newer, since in rows:
        if (newer is None) != (since is None):
            yield f"memory {id_} has a successor but not since when, or the other way round"
        if newer is not None and newer not in slots:
            yield f"memory {id_} was superseded by {newer}, which is not there"
        elif newer is not None and slots[newer] > slots[id_] and id_ not in replaced[newer]:
            yield f"memory {newer} does not list {id_}, which it superseded"
        for older in sorted(replaced[id_]):
            if by.get(older) != id_:
                yield f"memory {id_} superseded {older}, which does not name it or is not there"
    yield from (f"memory {id_} was superseded by itself, over others" for id_ in sorted(_circular(by)))


def _circular(by: dict[str, str]) -> set[str]:
    """Return the memories whose chain of successors (`by`) leads back to themselves."""
    circular: set[str] = set()
    done: set[str] = set()
    for start in by:
        chain: dict[str, None] = {}
        at: str | None = start
        while at is not None and at not in done and at not in chain:
            chain[at] = None
            at = by.get(at)
        if at in chain:
            ids = list(chain)
            circular.update(ids[ids.index(str(at)) :])
        done |= chain.keys()
    return circular
