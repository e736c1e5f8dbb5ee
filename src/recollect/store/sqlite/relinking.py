"""Which memories took the place of which, as another store has it, and where a chain of them leads.

Every function here runs inside a transaction that its caller opened.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING

from recollect.index.record import changed
from recollect.model.errors import InvalidArgument
from recollect.store.instants import microseconds
from recollect.store.sqlite.finding import find, put_record, record_of

if TYPE_CHECKING:
    from recollect.store.repeats import Linked


def relink(connection: sqlite3.Connection, path: str, links: Sequence[Linked]) -> None:
    """Give memories these links and no others; until when each held stays as it is."""
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
            "UPDATE memories SET superseded_by = ?, superseded_at = ?, supersedes = ?, version = version + 1 "
            "WHERE number = ?",
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
