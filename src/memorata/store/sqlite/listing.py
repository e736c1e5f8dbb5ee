"""The part of the store on one SQLite file that lists what is there: by id, in pages, in order of change."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Final

from memorata.model.errors import InvalidArgument, StoreCorrupt
from memorata.model.memory import Memory
from memorata.store.instants import instant
from memorata.store.limits import LARGEST
from memorata.store.port import Change, Hidden, Page
from memorata.store.sqlite import emptying
from memorata.store.sqlite.connection import reading
from memorata.store.sqlite.finding import find, find_namespace
from memorata.store.sqlite.kinds import undecoded
from memorata.store.sqlite.places import place
from memorata.store.sqlite.rows import SELECTED, SOURCE, memory, sound

if TYPE_CHECKING:
    from memorata.store.filters import Filter

_IS_KNOWN: Final = f"SELECT 1 FROM {SOURCE} WHERE n.path = ? AND m.id = ?"


class ListingStore:
    """What :class:`~memorata.store.port.Store` promises about listing memories, namespaces and changes."""

    path: str
    _connection: sqlite3.Connection
    _lock: threading.RLock

    def get(self, namespace: str, ids: Sequence[str]) -> list[Memory]:
        """Return memories by id, hidden ones too; raise for an id nobody has."""
        with self._lock, reading(self._connection, self.path):
            return [find(self._connection, namespace, id_)[3] for id_ in ids]

    def known(self, memories: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
        """Return which of the given (namespace, id) pairs there are."""
        with self._lock, reading(self._connection, self.path):
            rows = [
                (path, id_)
                for path, id_ in memories
                if self._connection.execute(_IS_KNOWN, (path, id_)).fetchone() is not None
            ]
        return set(rows)

    def page(
        self, namespace: str, filter: Filter | None, limit: int, cursor: str | None, *, hidden: bool
    ) -> Page:
        """Return memories newest first, a page at a time."""
        condition, values = "1", list[object]()
        if filter is not None:
            from memorata.store.sqlite.conditions import compiled

            condition, values = compiled(filter)
        if not hidden:
            condition += " AND m.forgotten_at IS NULL AND m.superseded_by IS NULL"
        if cursor is not None:
            digits = cursor.isascii() and cursor.isdigit() and len(cursor) <= len(str(LARGEST))
            if not digits or int(cursor) > LARGEST:
                raise InvalidArgument("cursor", cursor, "the cursor of a page before")
            condition += " AND m.number < ?"
            values = [*values, int(cursor)]
        with self._lock, reading(self._connection, self.path):
            whose = _number(self._connection, namespace)
            rows = self._connection.execute(
                f"SELECT m.number, {SELECTED} FROM {SOURCE} "
                f"WHERE m.number >= ? AND m.number < ? AND {condition} ORDER BY m.number DESC LIMIT ?",
                (place(whose, 0), place(whose + 1, 0), *values, min(limit, LARGEST - 1) + 1),
            ).fetchall()
        more = len(rows) > limit
        shown = rows[:limit]
        return Page(tuple(memory(row[1:]) for row in shown), str(shown[-1][0]) if more and shown else None)

    def hidden(self, namespace: str) -> list[Hidden]:
        """Return since when the hidden memories of a namespace have been so, in the order they were added."""
        with self._lock, reading(self._connection, self.path):
            whose = _number(self._connection, namespace)
            rows = self._connection.execute(
                "SELECT m.id, m.forgotten_at, m.superseded_at, m.end_given, iif(w.id IS NULL, NULL, r.kind) "
                "FROM memories m LEFT JOIN repeats r ON r.memory = m.number "
                "LEFT JOIN memories w ON w.number = r.winner AND w.id = m.superseded_by "
                "WHERE m.number >= ? AND m.number < ? "
                "AND (m.forgotten_at IS NOT NULL OR m.superseded_at IS NOT NULL) ORDER BY m.number",
                (place(whose, 0), place(whose + 1, 0)),
            ).fetchall()
        return [
            Hidden(id_, instant(forgotten), instant(since), None if since is None else bool(given), kind)
            for id_, forgotten, since, given, kind in rows
        ]

    def export(
        self, namespace: str | None, unreadable: Callable[[StoreCorrupt], None] | None = None
    ) -> Iterator[Memory]:
        """Yield every memory, hidden ones too, in the order they were added.

        One whose row is damaged is an error, or is left out where `unreadable` is given and told about it.
        """
        after = 0
        while True:
            leniently = nullcontext() if unreadable is None else undecoded(self._connection)
            with self._lock, reading(self._connection, self.path), leniently:
                rows = self._connection.execute(
                    f"SELECT c.change, {SELECTED} FROM changes c "
                    "JOIN memories m ON m.number = (c.namespace << 31) + c.slot "
                    "JOIN namespaces n ON n.number = c.namespace "
                    "WHERE c.change > ?1 AND c.kind = 'add' AND (?2 IS NULL OR n.path = ?2) "
                    "ORDER BY c.change LIMIT 500",
                    (after, namespace),
                ).fetchall()
            if not rows:
                return
            after = rows[-1][0]
            if unreadable is None:
                yield from (memory(row[1:]) for row in rows)
            else:
                yield from _readable([row[1:] for row in rows], unreadable)

    def namespaces(self) -> Mapping[str, int]:
        """Return every namespace and how many memories it holds, hidden ones included."""
        with self._lock, reading(self._connection, self.path):
            rows = self._connection.execute(
                "SELECT n.path, (SELECT count(*) FROM memories m WHERE m.namespace = n.number) "
                f"FROM namespaces n WHERE {emptying.NAMED} ORDER BY n.path"
            ).fetchall()
        return dict(rows)

    def changes(self, since: int, limit: int) -> list[Change]:
        """Return the changes after `since`, oldest first."""
        with self._lock, reading(self._connection, self.path):
            rows = self._connection.execute(
                "SELECT c.change, n.path, coalesce(m.id, ''), c.kind "
                "FROM changes c JOIN namespaces n ON n.number = c.namespace "
                "LEFT JOIN memories m ON m.number = (c.namespace << 31) + c.slot "
                "WHERE c.change > ? ORDER BY c.change LIMIT ?",
                (min(since, LARGEST), min(limit, LARGEST)),
            ).fetchall()
        return [Change(*row) for row in rows]


def _readable(rows: Sequence[Sequence[Any]], unreadable: Callable[[StoreCorrupt], None]) -> Iterator[Memory]:
    for row in rows:
        try:
            said = sound(row)
        except StoreCorrupt as error:
            unreadable(error)
        else:
            yield said


def _number(connection: sqlite3.Connection, path: str) -> int:
    """Return the number of a namespace; one that no memory has if there is none."""
    found = find_namespace(connection, path)
    return 0 if found is None else found.number
