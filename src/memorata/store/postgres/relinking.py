"""Which memories took the place of which, and the notes of those that only repeat others.

Every function here runs inside a transaction that its caller opened. What each of them means is what its
namesake for files means (:mod:`memorata.store.supersession`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime

from memorata.index.record import changed
from memorata.model.errors import InvalidArgument
from memorata.store.inheritance import INHERITED_KINDS, Note
from memorata.store.instants import EPOCH, MICROSECOND, microseconds, moment
from memorata.store.postgres.connection import Server
from memorata.store.postgres.finding import Kept, find, put_record, set_columns
from memorata.store.postgres.namespaces import Namespace
from memorata.store.postgres.rows import OWN, memory
from memorata.store.repeats import Linked, repeat_from_elsewhere
from memorata.store.supersession import Succession, earliest, ended_again, ends_known


def replaced_by(
    connection: Server, namespace: Namespace, id_: str, *, telling: bool = False
) -> list[tuple[Kept, bool]]:
    """Return the memories that one superseded, as they were added, and whether it gave each its end.

    Those that were only said again and took nobody's place are left out with `telling`.
    """
    told = " AND (m.end_given OR EXISTS (SELECT 1 FROM memories o WHERE o.namespace = m.namespace "
    told += "AND o.superseded_by = m.id))"
    rows = connection.execute(
        "SELECT m.id, m.end_given FROM memories m WHERE m.namespace = %s AND m.superseded_by = %s"
        f"{told if telling else ''} ORDER BY m.slot",
        (namespace.number, id_),
    ).fetchall()
    return [(find(connection, namespace.path, id_), given) for id_, given in rows]


def ends_at(connection: Server, number: int, as_of: datetime) -> dict[int, float]:
    """Return by slot until when memories were known to hold at a moment, where more is known today."""
    rows = connection.rows(
        "SELECT m.slot, m.valid_from, m.valid_to, m.superseded_at, m.end_given, w.slot, "
        "coalesce(w.valid_from, w.created_at) FROM memories m "
        "JOIN memories w ON w.namespace = m.namespace AND w.id = m.superseded_by "
        "WHERE m.namespace = %s AND m.superseded_at IS NOT NULL",
        (number,),
    )
    known = ends_known(map(Succession._make, rows), (as_of - EPOCH) // MICROSECOND)
    return {slot: math.inf if end is None else moment(end).timestamp() for slot, end in known.items()}


def began(connection: Server, number: int, id_: str) -> datetime:
    """Return when a memory began, or the first of what took its place, if that was before."""
    chain = connection.execute(
        "WITH RECURSIVE way (slot, began, next, step) AS ("
        "SELECT slot, coalesce(valid_from, created_at), superseded_by, 0 FROM memories "
        "WHERE namespace = %(whose)s AND id = %(id)s UNION ALL "
        "SELECT m.slot, coalesce(m.valid_from, m.created_at), m.superseded_by, way.step + 1 FROM way "
        "JOIN memories m ON m.namespace = %(whose)s AND m.id = way.next) "
        "SELECT slot, began FROM way ORDER BY step",
        {"whose": number, "id": id_},
    )
    return moment(earliest(chain))


def settle_ends(connection: Server, namespace: Namespace, id_: str) -> None:
    """Let everything that a memory took the place of, and what that did, have held until it began."""
    first = began(connection, namespace.number, id_)
    open_ = [(id_, find(connection, namespace.path, id_).slot, first)]
    while open_:
        winner, winner_slot, first = open_.pop()
        for kept, given in replaced_by(connection, namespace, winner, telling=True):
            ended = ended_again(kept.memory, given, first)
            if ended != kept.memory.valid_to:
                set_columns(connection, kept, valid_to=microseconds(ended))
                until = math.inf if ended is None else ended.timestamp()
                put_record(connection, kept, changed(kept.record, until=until), "update")
            own = kept.memory.event_time
            open_.append((kept.memory.id, kept.slot, min(own, first) if winner_slot > kept.slot else own))


def is_end_given(connection: Server, kept: Kept) -> bool:
    """Return whether a memory was given its end by what superseded it."""
    found = connection.execute(
        "SELECT end_given FROM memories WHERE namespace = %s AND slot = %s",
        (kept.namespace.number, kept.slot),
    ).fetchone()
    assert found is not None  # it was just read
    return bool(found[0])


def notes_of(connection: Server, namespace: Namespace, id_: str) -> list[Note]:
    """Return the notes of what only repeats a memory, and what it took over from each."""
    rows = connection.execute(
        f"SELECT r.number, r.gained, {OWN} FROM memories m "
        "JOIN repeats r ON r.namespace = m.namespace AND r.memory = m.slot "
        "JOIN memories w ON w.namespace = r.namespace AND w.slot = r.winner AND w.id = m.superseded_by "
        "WHERE m.namespace = %s AND w.id = %s AND r.kind = ANY (%s::text[]) ORDER BY r.number",
        (namespace.number, id_, sorted(INHERITED_KINDS)),
    )
    return [Note(number, taken, memory(row, namespace.path)) for number, taken, *row in rows]


def note_taken(connection: Server, namespace: Namespace, taken: Mapping[int, str | None]) -> None:
    """Note what was taken over from others, by the numbers of their notes."""
    for number, text in taken.items():
        connection.execute(
            "UPDATE repeats SET gained = %s WHERE namespace = %s AND number = %s",
            (text, namespace.number, number),
        )


def note_repeat(connection: Server, kept: Kept, kind: str, at: datetime) -> None:
    """Note that a superseded memory repeats what superseded it, unless there is a note about it."""
    winner = find(connection, kept.namespace.path, str(kept.memory.superseded_by))
    note = repeat_from_elsewhere(kept.memory, winner.memory, kind, at)
    support = microseconds(winner.memory.supported_at)
    # A note about what it was said to repeat before is out of date.
    connection.execute(
        "DELETE FROM repeats WHERE namespace = %s AND memory = %s AND winner <> %s",
        (kept.namespace.number, kept.slot, winner.slot),
    )
    connection.execute(
        "INSERT INTO repeats (namespace, memory, winner, kind, reason, at, mentions, before, after, "
        "supported_before, supported_after) "
        "VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
        (
            kept.namespace.number,
            kept.slot,
            winner.slot,
            note.kind,
            note.reason,
            microseconds(at),
            note.mentions,
            note.confidence,
            note.confidence,
            support,
            support,
        ),
    )


def relink(connection: Server, path: str, links: Sequence[Linked]) -> None:
    """Give memories these links and no others; until when each held stays as it is, and who said so."""
    for each in links:
        kept = find(connection, path, each.memory_id, lock=True)
        # First none of them has one: a link may go the other way round than it did.
        set_columns(connection, kept, superseded_by=None)
    for each in links:
        kept = find(connection, path, each.memory_id)
        for other in (*filter(None, [each.superseded_by]), *each.supersedes):
            find(connection, path, other)
        if each.superseded_by is not None and kept.slot in led_to(
            connection, kept.namespace.number, each.superseded_by
        ):
            raise InvalidArgument(
                "superseded_by", each.superseded_by, f"a memory that does not lead back to {each.memory_id!r}"
            )
        set_columns(
            connection,
            kept,
            superseded_by=each.superseded_by,
            superseded_at=microseconds(each.superseded_at),
            supersedes=list(each.supersedes),
        )
        if each.superseded_by is None:
            set_columns(connection, kept, end_given=False)
        since = math.inf if each.superseded_at is None else each.superseded_at.timestamp()
        kind = "reinstate" if each.superseded_by is None else "supersede"
        put_record(connection, kept, changed(kept.record, superseded=since), kind)


def led_to(connection: Server, number: int, id_: str) -> list[int]:
    """Return the slots of a memory, of what superseded it, and so on; none if it is not there."""
    rows = connection.execute(
        "WITH RECURSIVE way (slot, next, step) AS ("
        "SELECT slot, superseded_by, 0 FROM memories WHERE namespace = %(whose)s AND id = %(id)s UNION ALL "
        "SELECT m.slot, m.superseded_by, way.step + 1 FROM way "
        "JOIN memories m ON m.namespace = %(whose)s AND m.id = way.next) SELECT slot FROM way ORDER BY step",
        {"whose": number, "id": id_},
    )
    return [slot for (slot,) in rows]
