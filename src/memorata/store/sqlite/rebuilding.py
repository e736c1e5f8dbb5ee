"""Writing what is derived from the memories of a namespace anew: records, sessions, words, vector codes.

All of it follows from the memories and their vectors. What was said is never touched.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect
from collections.abc import Callable, Iterator
from itertools import count
from typing import Final, cast

import numpy as np

from memorata.index.directions import are_directions
from memorata.index.postings import PLACES
from memorata.index.record import FORGOTTEN, gone, packed
from memorata.model.memory import Memory
from memorata.store import entities
from memorata.store.database import Session
from memorata.store.port import Terms
from memorata.store.sqlite import approximation, segments
from memorata.store.sqlite.kinds import remove_wrong_kinds
from memorata.store.sqlite.places import vectors_place
from memorata.store.sqlite.rows import SELECTED, SOURCE, memory

Words = Callable[[Memory], Terms]

_DERIVED: Final = ("approximations", "records", "segments", "sessions", "vector_codes", "vectors")
"""Tables whose rows can be made again, or in the case of vectors be embedded again."""
_NUMBERS: Final = range(2**31)
"""What the number of a session may be, in a record."""


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
    known = {slot: (said, state, ended) for slot, said, state, ended in stated(connection, number)}
    _remove_useless_vectors(connection, number)
    passages = _passages(connection, number, embedder)
    sessions = _renumbered(connection, number)
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
    # A segment that was lost left its words behind.
    connection.execute(f"DELETE FROM postings WHERE number / {PLACES} NOT IN (SELECT number FROM segments)")
    _list_again(connection, number)
    entities.refold(cast(Session, connection), number)


def mend_file(connection: sqlite3.Connection) -> None:
    """Make the indexes of SQLite anew, and remove what stands in the way of what is derived.

    Of a file in which SQLite itself cannot find its way nothing is changed.
    """
    connection.execute("SAVEPOINT mending")
    try:
        connection.execute("REINDEX")
        _remove_strays(connection)
    except sqlite3.DatabaseError:
        connection.execute("ROLLBACK TO mending")
    connection.execute("RELEASE mending")


def _remove_strays(connection: sqlite3.Connection) -> None:
    """Remove derived rows that belong to nothing or cannot be read; they can be written anew.

    If their namespace itself is what was lost they stay, for whoever brings that back.
    """
    (lost,) = connection.execute(
        "SELECT count(*) FROM memories WHERE namespace NOT IN (SELECT number FROM namespaces)"
    ).fetchone()
    if lost:
        return
    remove_wrong_kinds(connection, (*_DERIVED, "address_runs", "new_addresses"))
    for table in _DERIVED:
        connection.execute(f"DELETE FROM {table} WHERE namespace NOT IN (SELECT number FROM namespaces)")
    connection.execute(
        "DELETE FROM vectors WHERE embedder NOT IN (SELECT number FROM embedders) "
        "OR number <> (((embedder << 25) + namespace) << 31) + slot"
    )


def stated(connection: sqlite3.Connection, number: int) -> Iterator[tuple[int, Memory, int, float | None]]:
    """Yield every memory of a namespace with its slot, its state and when it was superseded."""
    for row in rows_of(connection, number):
        ended = None if row[2] is None else row[2] / 1_000_000
        yield row[0], memory(row[3:]), 0 if row[1] is None else FORGOTTEN, ended


def rows_of(connection: sqlite3.Connection, number: int) -> sqlite3.Cursor:
    """Return the slots of a namespace's memories, since when they are hidden, and their rows."""
    return connection.execute(
        f"SELECT m.slot, m.forgotten_at, m.superseded_at, {SELECTED} FROM {SOURCE} WHERE m.namespace = ? "
        "ORDER BY m.slot",
        (number,),
    )


def session_numbers(connection: sqlite3.Connection, number: int) -> tuple[dict[str, int], bool]:
    """Return the numbers of the sessions that memories are of, and whether each has one of its own."""
    named = "SELECT DISTINCT session FROM memories WHERE namespace = ? AND session <> ''"
    held = {name for (name,) in connection.execute(named, (number,))}
    by_number: dict[int, str] = {}
    for name, given in connection.execute(
        "SELECT name, number FROM sessions WHERE namespace = ? ORDER BY name", (number,)
    ):
        if name in held and given in _NUMBERS:
            by_number.setdefault(given, name)
    return {name: given for given, name in by_number.items()}, held == set(by_number.values())


def unlisted(connection: sqlite3.Connection) -> dict[int, list[int]]:
    """Return by namespace the slots of memories whose adding is not in the change feed, once and no more.

    The feed is what an export reads: it would leave them out, or have them twice.
    """
    rows = connection.execute(
        "SELECT namespace, slot FROM (SELECT namespace, slot FROM memories "
        "EXCEPT SELECT namespace, slot FROM changes WHERE change > 0 AND kind = 'add') UNION "
        "SELECT namespace, slot FROM changes WHERE change > 0 AND kind = 'add' "
        "GROUP BY 1, 2 HAVING count(*) > 1 "
        "ORDER BY 1, 2"
    )
    found: dict[int, list[int]] = {}
    for number, slot in rows:
        found.setdefault(number, []).append(slot)
    return found


def is_direction(blob: bytes, dimension: int) -> bool:
    """Return whether bytes are vectors of a number of dimensions, each of length 1."""
    if not blob or len(blob) % (4 * dimension):
        return False
    return are_directions(np.frombuffer(blob, np.float32).reshape(-1, dimension))


def _slots(connection: sqlite3.Connection, number: int) -> int:
    """Return how many slots a namespace has, after correcting that number, which is derived as well.

    Slots are given out one after the other, so there are no more of them than were ever written of: what
    says otherwise is damaged, and a file has no room for two thousand million records.
    """
    (last, most) = connection.execute(
        "SELECT max(slot), max(records, changes) FROM (SELECT "
        "(SELECT max(slot) FROM memories WHERE namespace = ?1) AS slot, "
        "(SELECT count(*) FROM records WHERE namespace = ?1) AS records, "
        "(SELECT count(*) FROM changes WHERE namespace = ?1 AND kind = 'add') AS changes)",
        (number,),
    ).fetchone()
    slots = max(0 if last is None else int(last) + 1, int(most))
    connection.execute("UPDATE namespaces SET slots = ? WHERE number = ?", (slots, number))
    return slots


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


def _remove_useless_vectors(connection: sqlite3.Connection, number: int) -> None:
    """Remove vectors that are damaged, or of no memory."""
    for (embedder,) in connection.execute("SELECT number FROM embedders").fetchall():
        # A row that stands here and says that it belongs elsewhere.
        connection.execute(
            "DELETE FROM vectors WHERE number >= ?1 AND number < ?2 AND (typeof(vectors) <> 'blob' "
            "OR namespace IS NOT ?3 OR embedder IS NOT ?4 OR slot IS NOT number - ?1)",
            (vectors_place(embedder, number, 0), vectors_place(embedder, number + 1, 0), number, embedder),
        )
    connection.execute(
        "DELETE FROM vectors WHERE namespace = ?1 "
        "AND slot NOT IN (SELECT slot FROM memories WHERE namespace = ?1)",
        (number,),
    )
    for row, dimension, blob in connection.execute(
        "SELECT v.number, e.dimension, v.vectors FROM vectors v JOIN embedders e ON e.number = v.embedder "
        "WHERE v.namespace = ?",
        (number,),
    ).fetchall():
        if not is_direction(blob, dimension):
            connection.execute("DELETE FROM vectors WHERE number = ?", (row,))


def _renumbered(connection: sqlite3.Connection, number: int) -> dict[str, int]:
    """Give every session a number of its own, and return them; those that have one keep it."""
    known, _ = session_numbers(connection, number)
    named = "SELECT session FROM memories WHERE namespace = ? AND session <> '' GROUP BY 1 ORDER BY min(slot)"
    held = [name for (name,) in connection.execute(named, (number,))]
    taken = set(known.values())
    free = (each for each in count() if each not in taken)
    found = {name: known[name] if name in known else next(free) for name in held}
    connection.execute("DELETE FROM sessions WHERE namespace = ?", (number,))
    connection.executemany(
        "INSERT INTO sessions (namespace, name, number) VALUES (?, ?, ?)",
        [(number, name, given) for name, given in found.items()],
    )
    return found


def _list_again(connection: sqlite3.Connection, number: int) -> None:
    """Write the adding of memories that is not in the change feed into it, in the order of their slots.

    One that stands in the feed twice holds the number of another, and gives it back.
    """
    if number not in unlisted(connection):
        return
    taken = {change for (change,) in connection.execute("SELECT change FROM changes")}
    added: dict[int, list[int]] = {}
    for change, slot in connection.execute(
        "SELECT change, slot FROM changes WHERE namespace = ? AND change > 0 AND kind = 'add' "
        "ORDER BY change",
        (number,),
    ):
        added.setdefault(slot, []).append(change)
    once = sorted((changes[0], slot) for slot, changes in added.items() if len(changes) == 1)
    right = {slot: _in_order(changes, slot, once) for slot, changes in added.items()}
    free = {change for changes in added.values() for change in changes} - set(right.values())
    held = connection.execute("SELECT slot FROM memories WHERE namespace = ? ORDER BY slot", (number,))
    last = 0
    for (slot,) in held.fetchall():
        if slot in right:
            last = max(last, right[slot])
            continue
        last = next(change for change in count(last + 1) if change not in taken or change in free)
        taken.add(last)
        free.discard(last)
        connection.execute(
            "INSERT INTO changes (change, namespace, slot, kind) VALUES (?, ?, ?, 'add') "
            "ON CONFLICT DO UPDATE SET slot = excluded.slot",
            (last, number, slot),
        )
    connection.executemany("UPDATE changes SET kind = 'update' WHERE change = ?", [(each,) for each in free])


def _in_order(changes: list[int], slot: int, once: list[tuple[int, int]]) -> int:
    """Return which of the changes by which a slot is said to have been added comes between its neighbours."""
    for change in changes:
        at = bisect(once, (change, slot))
        if (at == 0 or once[at - 1][1] <= slot) and (at == len(once) or once[at][1] >= slot):
            return change
    return changes[0]
