"""Which memories took the place of which, as another store has it, and where a chain of them leads.

Every function here runs inside a transaction that its caller opened.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from recollect.index.record import changed
from recollect.model.errors import InvalidArgument
from recollect.model.memory import Memory
from recollect.store.instants import microseconds
from recollect.store.sqlite import addresses
from recollect.store.sqlite.finding import find, put_record, record_of
from recollect.store.sqlite.rows import SELECTED, SOURCE, marks, memory
from recollect.store.sqlite.segments import Namespace
from recollect.store.taking_over import KINDS, Note

if TYPE_CHECKING:
    from recollect.store.repeats import Linked


class Replaced(NamedTuple):
    """A memory that another took the place of, and whether that gave it its end."""

    number: int
    slot: int
    memory: Memory
    end_given: bool


def replaced_by(connection: sqlite3.Connection, namespace: Namespace, id_: str) -> list[Replaced]:
    """Return the memories that one superseded, in the order in which they were added."""
    rows = connection.execute(
        f"SELECT m.number, m.slot, m.end_given, {SELECTED} FROM {SOURCE} "
        "WHERE m.superseded_by = ? AND m.namespace = ? ORDER BY m.number",
        (id_, namespace.number),
    )
    return [Replaced(number, slot, memory(row), bool(given)) for number, slot, given, *row in rows.fetchall()]


def notes_of(connection: sqlite3.Connection, path: str, id_: str) -> list[Note]:
    """Return the notes of what only repeats a memory, and what it took over from each."""
    rows = connection.execute(
        f"SELECT r.number, r.gained, {SELECTED} FROM {SOURCE} JOIN repeats r ON r.memory = m.number "
        "JOIN memories w ON w.number = r.winner AND w.id = m.superseded_by "
        f"WHERE n.path = ? AND w.id = ? AND r.kind IN ({marks(KINDS)}) ORDER BY r.number",
        (path, id_, *KINDS),
    )
    return [Note(number, taken, memory(row)) for number, taken, *row in rows.fetchall()]


def note_taken(connection: sqlite3.Connection, taken: Mapping[int, str | None]) -> None:
    """Note what was taken over from others, by the numbers of their notes."""
    connection.executemany(
        "UPDATE repeats SET gained = ? WHERE number = ?", [(text, number) for number, text in taken.items()]
    )


def ended_later(connection: sqlite3.Connection, number: int, as_of: datetime) -> list[int]:
    """Return the slots of memories that had no end at a moment, for what gave it to them came later."""
    rows = connection.execute(
        "SELECT slot FROM memories WHERE namespace = ? AND superseded_at > ? AND end_given",
        (number, microseconds(as_of)),
    )
    return [slot for (slot,) in rows]


def note_repeat(connection: sqlite3.Connection, path: str, id_: str, kind: str, at: datetime) -> None:
    """Note that a superseded memory repeats what superseded it, unless there is a note about it."""
    from recollect.store.repeats import repeat_from_elsewhere

    namespace, number, _, loser = find(connection, path, id_)
    _, winner_number, _, winner = find(connection, path, str(loser.superseded_by))
    note = repeat_from_elsewhere(loser, winner, kind, at)
    support = microseconds(winner.supported_at)
    # A note about what it was said to repeat before is out of date.
    connection.execute("DELETE FROM repeats WHERE memory = ? AND winner <> ?", (number, winner_number))
    connection.execute(
        "INSERT INTO repeats (namespace, memory, winner, kind, reason, at, mentions, before, after, "
        "supported_before, supported_after) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT DO NOTHING",
        (namespace.number, number, winner_number, note.kind, note.reason, microseconds(at), note.mentions,
         note.confidence, note.confidence, support, support),
    )  # fmt: skip


def relink(connection: sqlite3.Connection, path: str, links: Sequence[Linked]) -> None:
    """Give memories these links and no others; until when each held stays as it is, and who said so."""
    for each in links:
        _, number, _, _ = find(connection, path, each.memory_id)
        # First none of them has one: a link may go the other way round than it did.
        connection.execute("UPDATE memories SET superseded_by = NULL WHERE number = ?", (number,))
    for each in links:
        namespace, number, slot, _ = find(connection, path, each.memory_id)
        for other in (*filter(None, [each.superseded_by]), *each.supersedes):
            find(connection, path, other)
        winner = each.superseded_by
        if winner is not None and slot in led_to(connection, namespace.number, winner):
            raise InvalidArgument(
                "superseded_by", winner, f"a memory that does not lead back to {each.memory_id!r}"
            )
        connection.execute(
            "UPDATE memories SET superseded_by = ?1, superseded_at = ?2, supersedes = ?3, "
            "end_given = end_given AND ?1 IS NOT NULL, version = version + 1 WHERE number = ?4",
            (
                each.superseded_by,
                microseconds(each.superseded_at),
                json.dumps(each.supersedes, ensure_ascii=False),
                number,
            ),
        )
        since = math.inf if each.superseded_at is None else each.superseded_at.timestamp()
        record = changed(record_of(connection, namespace, slot), superseded=since)
        kind = "reinstate" if each.superseded_by is None else "supersede"
        put_record(connection, namespace, slot, record, kind)
        if each.superseded_by is None:
            addresses.add_current(connection, [number])


def led_to(connection: sqlite3.Connection, number: int, id_: str) -> list[int]:
    """Return the slots of a memory, of what superseded it, and so on; none if it is not there."""
    rows = connection.execute(
        "WITH RECURSIVE way (slot, next) AS ("
        "SELECT slot, superseded_by FROM memories WHERE namespace = ?1 AND id = ?2 UNION ALL "
        "SELECT m.slot, m.superseded_by FROM way JOIN memories m ON m.namespace = ?1 AND m.id = way.next"
        ") SELECT slot FROM way",
        (number, id_),
    )
    return [slot for (slot,) in rows]
