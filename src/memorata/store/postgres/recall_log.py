"""The log of recalls on a server: one row for a recall, its candidates in one blob.

Rows carry the size of all that ever came before them, so that the oldest which no longer fit are found
without adding anything up; who writes takes the next bytes from a counter.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import numpy as np

from memorata.model.errors import RecallNotFound
from memorata.store.instants import microseconds
from memorata.store.limits import LARGEST
from memorata.store.postgres.connection import Server
from memorata.store.postgres.namespaces import Namespace
from memorata.store.recall_log import LogBounds, LoggedRecall
from memorata.store.recall_packing import (
    encoded,
    kept_rows,
    packed,
    read_back,
    still_there,
    unpacked,
    without,
)

_ADD: Final = (
    "INSERT INTO recalls (namespace, id, at, query, recipe, embedder, said, candidates, shown, start, bytes) "
    "VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING"
)
"""Who is interrupted when a recall has just been written does not know of it, and writes it again."""
_READ: Final = (
    "SELECT r.id, r.at, r.query, p.data, r.embedder, r.said, r.candidates, r.shown FROM recalls r "
    "JOIN recall_recipes p ON p.namespace = r.namespace AND p.number = r.recipe "
)
_MEGABYTE: Final = 10**6
_OVERHEAD: Final = 100
"""About how many bytes a row takes beside what is in it."""


def add(connection: Server, number: int, entries: Sequence[LoggedRecall], bounds: LogBounds) -> None:
    """Write recalls of a namespace, leaving out memories that are gone, and let go of the oldest."""
    known = still_there(entries, lambda slots: names(connection, number, slots))
    recipes: dict[int, int] = {}
    rows: list[tuple[object, ...]] = []
    lengths: list[int] = []
    for entry in entries:
        kept = entry if known is None else without(entry, np.isin(entry.slots, known))
        said, blob = packed(kept)
        shown = np.array(kept.shown, "<u2").tobytes()
        if id(entry.recipe) not in recipes:
            recipes[id(entry.recipe)] = _recipe(connection, number, entry.recipe)
        recipe, at = recipes[id(entry.recipe)], microseconds(entry.at)
        rows.append((number, entry.id, at, entry.query, recipe, entry.embedder, said, blob, shown))
        lengths.append(len(blob) + len(shown) + len(said) + len((entry.query or "").encode()) + _OVERHEAD)
    taken = connection.execute(
        "UPDATE recall_bytes SET bytes = bytes + %s RETURNING bytes", (sum(lengths),)
    ).fetchone()
    assert taken is not None  # a migration made the row
    starts = taken[0] - sum(lengths) + np.cumsum([0, *lengths[:-1]], dtype=np.int64)
    with connection.cursor() as cursor:
        cursor.executemany(
            _ADD,
            [
                (*row, start, length)
                for row, start, length in zip(rows, starts.tolist(), lengths, strict=True)
            ],
        )
    connection.execute(
        "DELETE FROM recalls WHERE number <= (SELECT max(number) FROM recalls) - %s OR start < %s",
        (bounds.recalls, taken[0] - bounds.megabytes * _MEGABYTE),
    )


def read(
    connection: Server,
    number: int,
    path: str,
    *,
    since: datetime | None = None,
    limit: int | None = None,
    ids: Sequence[str] | None = None,
) -> list[LoggedRecall]:
    """Return recalls of a namespace, the latest first."""
    condition = "r.namespace = %(whose)s"
    if since is not None:
        condition += " AND r.at >= %(since)s"
    if ids is not None:
        condition += " AND r.id = ANY (%(ids)s::text[])"
    rows = connection.execute(
        f"{_READ}WHERE {condition} ORDER BY r.number DESC LIMIT %(limit)s",
        {
            "whose": number,
            "since": microseconds(since),
            "ids": None if ids is None else list(ids),
            "limit": None if limit is None else min(limit, LARGEST),
        },
    ).fetchall()
    return read_back(rows, path, lambda slots: names(connection, number, slots))


def slots_of(connection: Server, number: int, ids: Sequence[str]) -> dict[str, int]:
    """Return the slots of memories by id; those that are not there are left out."""
    rows = connection.execute(
        "SELECT id, slot FROM memories WHERE namespace = %s AND id = ANY (%s::text[])", (number, list(ids))
    )
    return dict(rows.fetchall())


def purge(connection: Server, number: int, slots: Sequence[int]) -> None:
    """Remove every trace of memories that are being purged from the logged recalls of a namespace.

    A recall that found nothing else goes with them; so does the whole log, once no memory is left.
    """
    gone = np.array(sorted(slots), np.intp)
    rows = connection.execute(
        "SELECT number, said, candidates, shown FROM recalls WHERE namespace = %s", (number,)
    ).fetchall()
    for row, text, blob, shown in rows:
        said = json.loads(text)
        found = np.isin(np.frombuffer(blob, "<i4", said["count"]), gone)
        if not found.any():
            continue
        if found.all():
            connection.execute("DELETE FROM recalls WHERE namespace = %s AND number = %s", (number, row))
            continue
        candidates, columns, matrix, said = unpacked(said, blob)
        positions = tuple(np.frombuffer(shown, "<u2").tolist())
        kept, values, places = kept_rows(candidates, matrix, positions, ~found)
        head, left = encoded(kept, columns, values, said["situation"], said["milliseconds"])
        connection.execute(
            "UPDATE recalls SET said = %s, candidates = %s, shown = %s WHERE namespace = %s AND number = %s",
            (head, left, np.array(places, "<u2").tobytes(), number, row),
        )
    if not is_inhabited(connection, number):
        connection.execute("DELETE FROM recalls WHERE namespace = %s", (number,))
    connection.execute(
        "DELETE FROM recall_recipes p WHERE p.namespace = %s AND NOT EXISTS "
        "(SELECT 1 FROM recalls r WHERE r.namespace = p.namespace AND r.recipe = p.number)",
        (number,),
    )


def candidate(connection: Server, number: int, path: str, recall_id: str) -> LoggedRecall:
    """Return one logged recall, or raise."""
    found = read(connection, number, path, ids=[recall_id])
    if not found:
        raise RecallNotFound(recall_id, path)
    return found[0]


def names(connection: Server, number: int, slots: set[int]) -> dict[int, str]:
    """Return the ids of the memories that are in these slots."""
    rows = connection.execute(
        "SELECT slot, id FROM memories WHERE namespace = %s AND slot = ANY (%s::int[])",
        (number, sorted(slots)),
    )
    return dict(rows.fetchall())


def untouched(
    connection: Server, namespace: Namespace, entries: Sequence[LoggedRecall]
) -> list[LoggedRecall]:
    """Return the recalls since which nothing was purged: a question may name what is gone."""
    since = min((entry.seen for entry in entries if entry.seen is not None), default=0)
    row = connection.execute(
        "SELECT coalesce(max(change), 0) FROM changes "
        "WHERE namespace = %s AND kind = 'purge' AND change > %s",
        (namespace.number, since),
    ).fetchone()
    # The name may have been another's, which was purged as a whole.
    purged = max((row or (0,))[0], namespace.begun)
    return [entry for entry in entries if entry.seen is None or entry.seen >= purged]


def is_inhabited(connection: Server, number: int) -> bool:
    """Return whether a namespace has any memory."""
    row = connection.execute("SELECT 1 FROM memories WHERE namespace = %s LIMIT 1", (number,)).fetchone()
    return row is not None


def _recipe(connection: Server, number: int, recipe: Mapping[str, Any]) -> int:
    """Return the number of a recipe's data, which most recalls share."""
    data = json.dumps(dict(recipe), sort_keys=True)
    digest = hashlib.blake2b(data.encode(), digest_size=16).digest()
    found = connection.execute(
        "INSERT INTO recall_recipes (namespace, digest, data) VALUES (%s, %s, %s) "
        "ON CONFLICT (namespace, digest) DO UPDATE SET data = excluded.data RETURNING number",
        (number, digest, data),
    ).fetchone()
    assert found is not None  # RETURNING gives the row, new or not
    return int(found[0])
