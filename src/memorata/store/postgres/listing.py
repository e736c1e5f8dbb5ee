"""The part of the store on a server that lists what is there: by id, page by page, and in order of change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from memorata.model.errors import InvalidArgument, StoreCorrupt
from memorata.model.memory import Memory
from memorata.store.filters import Filter, matches
from memorata.store.instants import instant
from memorata.store.limits import LARGEST
from memorata.store.port import Change, Hidden, Page
from memorata.store.postgres import namespaces
from memorata.store.postgres.conditions import Condition, compiled
from memorata.store.postgres.connection import Server
from memorata.store.postgres.database import Database
from memorata.store.postgres.finding import find
from memorata.store.postgres.namespaces import EMPTY
from memorata.store.postgres.rows import OWN, memory

_DIGITS: Final = 18
"""More than any cursor has, and fewer than the largest number."""
_AT_ONCE: Final = 500


class ListingStore:
    """What :class:`~memorata.store.port.Store` promises about listing memories, namespaces and changes."""

    _database: Database

    def get(self, namespace: str, ids: Sequence[str]) -> list[Memory]:
        """Return memories by id, hidden ones too; raise for an id nobody has."""
        return self._database.read(
            lambda connection: [find(connection, namespace, id_).memory for id_ in ids]
        )

    def known(self, memories: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
        """Return which of the given (namespace, id) pairs there are."""

        def read(connection: Server) -> set[tuple[str, str]]:
            rows = connection.execute(
                "SELECT n.path, m.id FROM unnest(%s::text[], %s::text[]) AS asked (path, id) "
                "JOIN namespaces n ON n.path = asked.path "
                "JOIN memories m ON m.namespace = n.number AND m.id = asked.id",
                ([path for path, _ in memories], [id_ for _, id_ in memories]),
            )
            return {(path, id_) for path, id_ in rows}

        return self._database.read(read)

    def page(
        self, namespace: str, filter: Filter | None, limit: int, cursor: str | None, *, hidden: bool
    ) -> Page:
        """Return memories newest first, a page at a time."""
        condition = Condition("TRUE") if filter is None else compiled(filter)
        before = LARGEST
        if cursor is not None:
            if not cursor.isascii() or not cursor.isdigit() or len(cursor) > _DIGITS:
                raise InvalidArgument("cursor", cursor, "the cursor of a page before")
            before = int(cursor)
        shown = "" if hidden else " AND m.forgotten_at IS NULL AND m.superseded_by IS NULL"
        wanted = min(limit, LARGEST - 1) + 1

        def read(connection: Server) -> list[tuple[int, Memory]]:
            whose = (namespaces.find(connection, namespace) or EMPTY).number
            found: list[tuple[int, Memory]] = []
            last, at_once = before, wanted if condition.exact else max(wanted, _AT_ONCE)
            while True:
                rows = connection.execute(
                    f"SELECT m.slot, {OWN} FROM memories m WHERE m.namespace = %s AND m.slot < %s "
                    f"AND {condition.sql}{shown} ORDER BY m.slot DESC LIMIT %s",
                    (whose, last, *condition.values, at_once),
                ).fetchall()
                some = [(slot, memory(row, namespace)) for slot, *row in rows]
                found += (
                    some
                    if condition.exact or filter is None
                    else [each for each in some if matches(filter, each[1])]
                )
                if condition.exact or len(rows) < at_once or len(found) >= wanted:
                    return found[:wanted]
                last = rows[-1][0]

        found = self._database.read(read)
        listed = found[:limit]
        more = len(found) > limit
        return Page(tuple(each for _, each in listed), str(listed[-1][0]) if more and listed else None)

    def hidden(self, namespace: str) -> list[Hidden]:
        """Return since when the hidden memories of a namespace have been so, in the order they were added."""

        def read(connection: Server) -> list[Hidden]:
            rows = connection.execute(
                "SELECT m.id, m.forgotten_at, m.superseded_at, m.end_given, "
                "CASE WHEN w.id IS NOT NULL THEN r.kind END FROM memories m "
                "LEFT JOIN repeats r ON r.namespace = m.namespace AND r.memory = m.slot "
                "LEFT JOIN memories w ON w.namespace = r.namespace AND w.slot = r.winner "
                "AND w.id = m.superseded_by WHERE m.namespace = %s "
                "AND (m.forgotten_at IS NOT NULL OR m.superseded_at IS NOT NULL) ORDER BY m.slot",
                ((namespaces.find(connection, namespace) or EMPTY).number,),
            )
            return [
                Hidden(id_, instant(forgotten), instant(since), None if since is None else given, kind)
                for id_, forgotten, since, given, kind in rows
            ]

        return self._database.read(read)

    def export(
        self, namespace: str | None, unreadable: Callable[[StoreCorrupt], None] | None = None
    ) -> Iterator[Memory]:
        """Yield every memory, hidden ones too, in the order they were added.

        One whose row is damaged is an error, or is left out where `unreadable` is given and told about it.
        """
        after = 0
        while True:

            def read(connection: Server, after: int = after) -> list[Any]:
                return connection.execute(
                    f"SELECT m.added, n.path, {OWN} FROM memories m "
                    "JOIN namespaces n ON n.number = m.namespace "
                    "WHERE m.added > %s AND (%s::text IS NULL OR n.path = %s) ORDER BY m.added LIMIT %s",
                    (after, namespace, namespace, _AT_ONCE),
                ).fetchall()

            rows = self._database.read(read)
            if not rows:
                return
            after = rows[-1][0]
            for _, path, *row in rows:
                try:
                    said = memory(row, path)
                except StoreCorrupt as error:
                    if unreadable is None:
                        raise
                    unreadable(error)
                else:
                    yield said

    def namespaces(self) -> Mapping[str, int]:
        """Return every namespace and how many memories it holds, hidden ones included."""
        rows = self._database.read(
            lambda connection: connection.execute(
                "SELECT path, memories FROM namespaces ORDER BY path"
            ).fetchall()
        )
        return dict(rows)

    def changes(self, since: int, limit: int) -> list[Change]:
        """Return the changes after `since`, oldest first."""
        last = LARGEST
        if not self._database.is_writing:
            # Inside a transaction of one's own there is no waiting for the end of all others.
            last = self._database.read(namespaces.settle)

        def read(connection: Server) -> list[Change]:
            rows = connection.execute(
                "SELECT c.change, n.path, coalesce(m.id, ''), c.kind FROM changes c "
                "JOIN namespaces n ON n.number = c.namespace "
                "LEFT JOIN memories m ON m.namespace = c.namespace AND m.slot = c.slot "
                "WHERE c.change > %(since)s AND c.change <= %(last)s "
                "UNION ALL SELECT change, '(purged ' || number || ')', '', 'purge' FROM purges "
                "WHERE change > %(since)s AND change <= %(last)s ORDER BY 1 LIMIT %(limit)s",
                {"since": min(since, LARGEST), "last": last, "limit": min(limit, LARGEST)},
            )
            return [Change(*row) for row in rows]

        return self._database.read(read)
