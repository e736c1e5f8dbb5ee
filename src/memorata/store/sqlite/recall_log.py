"""The log of recalls in SQLite: one row for a recall, its candidates in one blob.

How a blob is made is told in :mod:`memorata.store.recall_packing`. Rows carry the size of all that ever came
before them, so that the oldest which no longer fit are found without adding anything up.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import numpy as np

from memorata.model.errors import RecallNotFound
from memorata.store.instants import microseconds
from memorata.store.limits import LARGEST
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
from memorata.store.sqlite.places import place
from memorata.store.sqlite.segments import Namespace

_ADD: Final = (
    "INSERT INTO recalls (namespace, id, at, query, recipe, embedder, said, candidates, shown, start, bytes) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
)
"""Who is interrupted when a recall has just been written does not know of it, and writes it again."""
_READ: Final = (
    "SELECT r.id, r.at, r.query, p.data, r.embedder, r.said, r.candidates, r.shown FROM recalls r "
    "JOIN recall_recipes p ON p.number = r.recipe "
)
_MEGABYTE: Final = 10**6
_OVERHEAD: Final = 100
"""About how many bytes a row takes beside what is in it."""


def add(
    connection: sqlite3.Connection, number: int, entries: Sequence[LoggedRecall], bounds: LogBounds
) -> None:
    """Write recalls of a namespace, leaving out memories that are gone, and let go of the oldest."""
    known = still_there(entries, lambda slots: names(connection, number, slots))
    recipes: dict[int, int] = {}
    last = connection.execute("SELECT start + bytes FROM recalls ORDER BY number DESC LIMIT 1").fetchone()
    size = 0 if last is None else last[0]
    rows = []
    for entry in entries:
        kept = entry if known is None else without(entry, np.isin(entry.slots, known))
        said, blob = packed(kept)
        shown = np.array(kept.shown, "<u2").tobytes()
        length = len(blob) + len(shown) + len(said) + len((entry.query or "").encode()) + _OVERHEAD
        recipe = recipes.get(id(entry.recipe))
        if recipe is None:
            recipe = recipes[id(entry.recipe)] = _recipe(connection, number, entry.recipe)
        at = microseconds(entry.at)
        rows.append(
            (number, entry.id, at, entry.query, recipe, entry.embedder, said, blob, shown, size, length)
        )
        size += length
    connection.executemany(_ADD, rows)
    (latest,) = connection.execute("SELECT max(number) FROM recalls").fetchone()
    connection.execute(
        "DELETE FROM recalls WHERE number <= ? OR start < ?",
        (latest - bounds.recalls, size - bounds.megabytes * _MEGABYTE),
    )


def untouched(
    connection: sqlite3.Connection, namespace: Namespace, entries: Sequence[LoggedRecall]
) -> list[LoggedRecall]:
    """Return the recalls since which nothing was purged: a question may name what is gone."""
    (last,) = connection.execute(
        "SELECT coalesce(max(change), 0) FROM changes "
        "WHERE namespace = ? AND kind <> 'add' AND kind = 'purge' AND change > ?",
        (namespace.number, min((entry.seen for entry in entries if entry.seen is not None), default=0)),
    ).fetchone()
    # The name may have been another's, which was purged as a whole.
    purged = max(last, namespace.begun)
    return [entry for entry in entries if entry.seen is None or entry.seen >= purged]


def read(
    connection: sqlite3.Connection,
    number: int,
    path: str,
    *,
    since: datetime | None = None,
    limit: int | None = None,
    ids: Sequence[str] | None = None,
) -> list[LoggedRecall]:
    """Return recalls of a namespace, the latest first."""
    condition, values = "r.namespace = ?", [number]
    if since is not None:
        condition += " AND r.at >= ?"
        values.append(microseconds(since) or 0)
    if ids is not None:
        condition += " AND r.id IN (SELECT value FROM json_each(?))"
        values.append(json.dumps(list(ids)))  # type: ignore[arg-type]
    rows = connection.execute(
        f"{_READ}WHERE {condition} ORDER BY r.number DESC LIMIT ?",
        (*values, LARGEST if limit is None else min(limit, LARGEST)),
    ).fetchall()
    return read_back(rows, path, lambda slots: names(connection, number, slots))


def slots_of(connection: sqlite3.Connection, number: int, ids: Sequence[str]) -> dict[str, int]:
    """Return the slots of memories by id; those that are not there are left out."""
    rows = connection.execute(
        "SELECT id, slot FROM memories WHERE namespace = ? AND id IN (SELECT value FROM json_each(?))",
        (number, json.dumps(list(ids))),
    )
    return dict(rows.fetchall())


def purge(connection: sqlite3.Connection, number: int, slots: Sequence[int]) -> None:
    """Remove every trace of memories that are being purged from the logged recalls of a namespace.

    A recall that found nothing else goes with them; so does the whole log, once no memory is left.
    """
    gone = np.array(sorted(slots), np.intp)
    rows = connection.execute(
        "SELECT number, said, candidates, shown FROM recalls WHERE namespace = ?", (number,)
    ).fetchall()
    for row, text, blob, shown in rows:
        said = json.loads(text)
        found = np.isin(np.frombuffer(blob, "<i4", said["count"]), gone)
        if not found.any():
            continue
        if found.all():
            connection.execute("DELETE FROM recalls WHERE number = ?", (row,))
            continue
        candidates, columns, matrix, said = unpacked(said, blob)
        positions = tuple(np.frombuffer(shown, "<u2").tolist())
        kept, values, places = kept_rows(candidates, matrix, positions, ~found)
        head, blob = encoded(kept, columns, values, said["situation"], said["milliseconds"])
        connection.execute(
            "UPDATE recalls SET said = ?, candidates = ?, shown = ? WHERE number = ?",
            (head, blob, np.array(places, "<u2").tobytes(), row),
        )
    if connection.execute("SELECT 1 FROM memories WHERE namespace = ? LIMIT 1", (number,)).fetchone() is None:
        connection.execute("DELETE FROM recalls WHERE namespace = ?", (number,))
    connection.execute(
        "DELETE FROM recall_recipes WHERE namespace = ? "
        "AND number NOT IN (SELECT recipe FROM recalls WHERE namespace = ?)",
        (number, number),
    )


def candidate(connection: sqlite3.Connection, number: int, path: str, recall_id: str) -> LoggedRecall:
    """Return one logged recall, or raise."""
    found = read(connection, number, path, ids=[recall_id])
    if not found:
        raise RecallNotFound(recall_id, path)
    return found[0]


def names(connection: sqlite3.Connection, number: int, slots: set[int]) -> dict[int, str]:
    """Return the ids of the memories that are in these slots."""
    if not slots:
        return {}
    rows = connection.execute(
        "SELECT slot, id FROM memories WHERE number IN (SELECT value FROM json_each(?))",
        (json.dumps([place(number, slot) for slot in slots]),),
    )
    return dict(rows.fetchall())


def _recipe(connection: sqlite3.Connection, number: int, recipe: Mapping[str, Any]) -> int:
    """Return the number of a recipe's data, which most recalls share."""
    data = json.dumps(dict(recipe), sort_keys=True)
    digest = hashlib.blake2b(data.encode(), digest_size=16).digest()
    found = connection.execute(
        "SELECT number FROM recall_recipes WHERE namespace = ? AND digest = ?", (number, digest)
    ).fetchone()
    if found is None:
        found = connection.execute(
            "INSERT INTO recall_recipes (namespace, digest, data) VALUES (?, ?, ?) RETURNING number",
            (number, digest, data),
        ).fetchone()
    return int(found[0])
