"""Writing what is derived from the memories of a namespace anew: records, sessions, words, vector codes.

All of it follows from the memories and their vectors. Rows of memories are never changed.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Collection, Iterator, Mapping
from contextlib import nullcontext
from itertools import count
from typing import Final, NamedTuple

from memorata.index import segments
from memorata.index.record import FORGOTTEN, gone, packed
from memorata.index.segments import Embedder
from memorata.index.vector_rows import is_sound, stored_bytes
from memorata.model.errors import StoreCorrupt
from memorata.model.memory import Memory
from memorata.store import entities
from memorata.store.database import Rows, Session
from memorata.store.entries import Terms, TermsOf
from memorata.store.memory.insertion import statement_of
from memorata.store.rows import SELECTED, SLOTS, SOURCE, find_namespace, sound
from memorata.store.rows import memory as memory_of

_NUMBERS: Final = range(2**31)
"""The numbers of sessions that a record can hold."""


def rebuild(
    session: Session, path: str, terms_of: TermsOf, embedder: Embedder | None, *, partly: bool = False
) -> None:
    """Write all derived data of a namespace anew; `partly`: without memories that cannot be read.

    No search returns these until they can be read. Vectors come from an embedder and cannot be rebuilt
    here; one that is damaged is removed, and its memory waits to be embedded again.
    """
    namespace = find_namespace(session, path)
    if namespace is None:
        return
    with session.dialect.leniently(session) if partly else nullcontext():
        _rebuild(session, namespace.number, terms_of, embedder, partly=partly)


def _rebuild(
    session: Session, number: int, terms_of: TermsOf, embedder: Embedder | None, *, partly: bool
) -> None:
    slots = _slots(session, number)
    left_out = dict(unreadable(session, number)) if partly else {}
    memories = {stated.slot: stated for stated in stated_memories(session, number, left_out)}
    _remove_useless_vectors(session, number)
    passages = _passages(session, number, embedder)
    sessions = _renumbered(session, number)
    session.execute("DELETE FROM records WHERE namespace = ?", (number,))
    session.executemany(
        "UPDATE memories SET statement = ? WHERE namespace = ? AND number = ?",
        [
            (statement_of(stated.memory), number, session.dialect.number(number, slot))
            for slot, stated in memories.items()
        ],
    )
    documents, records = [], []
    for slot in range(slots):
        record = gone()
        if slot in memories:
            terms = terms_of(memories[slot].memory)
            documents.append((slot, terms))
            record = memories[slot].record(sessions, passages.get(slot, 0), terms)
        records.append((number, slot, record))
    session.executemany("INSERT INTO records (namespace, slot, record) VALUES (?, ?, ?)", records)
    segments.rebuild(session, number, documents, slots, embedder)
    _list_again(session, number)
    entities.refold(session, number)


class Stated(NamedTuple):
    """The content of the row of a memory, from which its record follows."""

    slot: int
    memory: Memory
    state: int
    superseded_at: float | None

    def record(self, sessions: Mapping[str, int], vectors: int, terms: Terms) -> bytes:
        """Return the record; `sessions` holds their numbers, `vectors` is how many the memory has."""
        return packed(
            self.memory,
            state=self.state,
            session=sessions.get(self.memory.source.session, -1),
            vectors=vectors,
            superseded_at=self.superseded_at,
            lengths={field: sum(words.values()) for field, words in terms.items()},
        )


def stated_memories(session: Session, number: int, left_out: Collection[int] = ()) -> Iterator[Stated]:
    """Yield the memories of a namespace as their rows state them, except some slots."""
    for slot, forgotten_at, superseded_at, *columns in _rows_of(session, number):
        if slot not in left_out:
            ended = None if superseded_at is None else superseded_at / 1_000_000
            yield Stated(slot, memory_of(columns), 0 if forgotten_at is None else FORGOTTEN, ended)


def unreadable(session: Session, number: int) -> Iterator[tuple[int, str]]:
    """Yield the slots of memories of a namespace that cannot be read, and why."""
    for row in _rows_of(session, number):
        try:
            sound(row[3:])
        except StoreCorrupt as error:
            yield row[0], str(error)


def is_left_out(session: Session, number: int, slot: int) -> bool:
    """Return whether no search finds a slot."""
    find = "SELECT record FROM records WHERE namespace = ? AND slot = ?"
    row = session.execute(find, (number, slot)).fetchone()
    return row is not None and bytes(row[0]) == gone()


def _rows_of(session: Session, number: int) -> Rows:
    """Return the slots of a namespace's memories, since when they are hidden, and their rows."""
    return session.execute(
        f"SELECT m.slot, m.forgotten_at, m.superseded_at, {SELECTED} FROM {SOURCE} WHERE m.namespace = ? "
        "ORDER BY m.slot",
        (number,),
    )


def session_numbers(session: Session, number: int) -> tuple[dict[str, int], bool]:
    """Return the numbers of the sessions of memories, and whether each session has one of its own."""
    named = "SELECT DISTINCT session FROM memories WHERE namespace = ? AND session <> ''"
    held = {name for (name,) in session.execute(named, (number,))}
    by_number: dict[int, str] = {}
    for name, session_number in session.execute(
        "SELECT name, number FROM sessions WHERE namespace = ? ORDER BY name", (number,)
    ):
        if name in held and session_number in _NUMBERS:
            by_number.setdefault(session_number, name)
    numbers = {name: session_number for session_number, name in by_number.items()}
    return numbers, held == numbers.keys()


def unlisted(session: Session) -> dict[int, list[int]]:
    """Return by namespace the slots of memories whose adding is not in the change feed, once and no more.

    The feed is what an export reads: it would leave them out, or have them twice.
    """
    rows = session.execute(
        "SELECT namespace, slot FROM (SELECT namespace, slot FROM memories "
        "EXCEPT SELECT namespace, slot FROM changes WHERE change > 0 AND kind = 'add') missing UNION "
        "SELECT namespace, slot FROM changes WHERE change > 0 AND kind = 'add' "
        "GROUP BY 1, 2 HAVING count(*) > 1 "
        "ORDER BY 1, 2"
    ).fetchall()
    slots: dict[int, list[int]] = {}
    for number, slot in rows:
        slots.setdefault(number, []).append(slot)
    return slots


def _slots(session: Session, number: int) -> int:
    """Return how many slots a namespace has, after correcting that number, which is derived as well.

    Slots are assigned one after the other, so there are no more of them than memories, records or additions:
    a larger number is damaged, and a file has no room for two thousand million records.
    """
    last, records, changes = session.execute(
        "SELECT (SELECT max(slot) FROM memories WHERE namespace = ?1), "
        "(SELECT count(*) FROM records WHERE namespace = ?1), "
        "(SELECT count(*) FROM changes WHERE namespace = ?1 AND kind = 'add')",
        (number,),
    ).fetchone()
    slots = max(0 if last is None else int(last) + 1, int(records), int(changes))
    session.execute("UPDATE namespaces SET slots = ? WHERE number = ?", (slots, number))
    return slots


def _passages(session: Session, number: int, embedder: Embedder | None) -> dict[int, int]:
    if embedder is None:
        return {}
    place = session.dialect.vectors_number
    rows = session.execute(
        "SELECT slot, length(vectors) FROM vectors WHERE +namespace = ? AND number >= ? AND number < ?",
        (number, place(embedder[0], number, 0), place(embedder[0], number, SLOTS)),
    ).fetchall()
    # A damaged row may have none.
    return {slot: (length or 0) // stored_bytes(embedder[1]) for slot, length in rows}


def _remove_useless_vectors(session: Session, number: int) -> None:
    """Remove vectors that are damaged, or of no memory."""
    embedders = session.execute("SELECT number FROM embedders").fetchall()
    session.dialect.remove_strays(session, number, [embedder for (embedder,) in embedders])
    session.execute(
        "DELETE FROM vectors WHERE namespace = ?1 "
        "AND slot NOT IN (SELECT slot FROM memories WHERE namespace = ?1)",
        (number,),
    )
    for row, dimension, blob in session.execute(
        "SELECT v.number, e.dimension, v.vectors FROM vectors v JOIN embedders e ON e.number = v.embedder "
        "WHERE v.namespace = ?",
        (number,),
    ).fetchall():
        if not is_sound(blob, dimension):
            session.execute("DELETE FROM vectors WHERE +namespace = ? AND number = ?", (number, row))


def _renumbered(session: Session, number: int) -> dict[str, int]:
    """Give every session a number of its own, and return them; valid numbers stay."""
    existing, _ = session_numbers(session, number)
    named = "SELECT session FROM memories WHERE namespace = ? AND session <> '' GROUP BY 1 ORDER BY min(slot)"
    held = [name for (name,) in session.execute(named, (number,))]
    taken = set(existing.values())
    free = (candidate for candidate in count() if candidate not in taken)
    numbers = {name: existing[name] if name in existing else next(free) for name in held}
    session.execute("DELETE FROM sessions WHERE namespace = ?", (number,))
    session.executemany(
        "INSERT INTO sessions (namespace, name, number) VALUES (?, ?, ?)",
        [(number, name, session_number) for name, session_number in numbers.items()],
    )
    return numbers


def _list_again(session: Session, number: int) -> None:
    """Add the additions that the change feed lacks to it, in the order of their slots.

    A memory that is in the feed twice has the number of another, which gets it back.
    """
    if number not in unlisted(session):
        return
    taken = {change for (change,) in session.execute(session.dialect.taken_changes, (number,))}
    added: dict[int, list[int]] = {}
    for change, slot in session.execute(
        "SELECT change, slot FROM changes WHERE namespace = ? AND change > 0 AND kind = 'add' "
        "ORDER BY change",
        (number,),
    ):
        added.setdefault(slot, []).append(change)
    once = sorted((changes[0], slot) for slot, changes in added.items() if len(changes) == 1)
    right = {slot: _in_order(changes, slot, once) for slot, changes in added.items()}
    free = {change for changes in added.values() for change in changes} - set(right.values())
    held = session.execute("SELECT slot FROM memories WHERE namespace = ? ORDER BY slot", (number,))
    last = 0
    for (slot,) in held.fetchall():
        if slot in right:
            last = max(last, right[slot])
            continue
        last = next(change for change in count(last + 1) if change not in taken or change in free)
        taken.add(last)
        free.discard(last)
        session.execute(
            "INSERT INTO changes (change, namespace, slot, kind) VALUES (?, ?, ?, 'add') "
            f"ON CONFLICT ({session.dialect.change_columns}) DO UPDATE SET slot = excluded.slot",
            (last, number, slot),
        )
    session.executemany(
        "UPDATE changes SET kind = 'update' WHERE +namespace = ? AND change = ?",
        [(number, change) for change in free],
    )


def _in_order(changes: list[int], slot: int, once: list[tuple[int, int]]) -> int:
    """Return which of the additions of a slot comes between those of its neighbours."""
    for change in changes:
        at = bisect(once, (change, slot))
        if (at == 0 or once[at - 1][1] <= slot) and (at == len(once) or once[at][1] >= slot):
            return change
    return changes[0]
