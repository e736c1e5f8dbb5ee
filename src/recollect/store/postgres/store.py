"""The store on a PostgreSQL server."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import numpy as np

from recollect.model.errors import InvalidArgument, MemoryNotFound, NotSupportedHere
from recollect.model.memory import Memory
from recollect.store.filters import Filter, matches
from recollect.store.instants import instant
from recollect.store.port import Change, Entry, Floats, Hidden, Page, Terms
from recollect.store.postgres import (
    check,
    emptying,
    entities,
    erasing,
    lessons,
    methods,
    migrating,
    namespaces,
    recall_log,
    statistics,
    writing,
)
from recollect.store.postgres.access import AccessStore, erase_replies
from recollect.store.postgres.address import parsed
from recollect.store.postgres.conditions import Condition, compiled
from recollect.store.postgres.connection import Database, Server
from recollect.store.postgres.embedding import EmbeddingStore
from recollect.store.postgres.learning import LearningStore
from recollect.store.postgres.leases import LeaseStore
from recollect.store.postgres.namespaces import EMPTY
from recollect.store.postgres.naming import NamingStore
from recollect.store.postgres.repeats import RepeatStore, link_repeats
from recollect.store.postgres.replica import LAG, PATIENCE, Replica, ReplicaStore
from recollect.store.postgres.rows import OWN, memory
from recollect.store.postgres.view import PostgresView
from recollect.store.room import EMBEDDERS, checked_room
from recollect.text.folding import folded

_LARGEST: Final = 2**63 - 1
_DIGITS: Final = 18
"""More than any cursor has, and fewer than the largest number."""
_AT_ONCE: Final = 500


class PostgresStore(
    LearningStore, NamingStore, AccessStore, EmbeddingStore, RepeatStore, LeaseStore, ReplicaStore
):
    """A :class:`~recollect.store.port.Store` on a server; any number of processes may open it.

    Parameters
    ----------
    url
        The address: ``postgresql://user:password@host:port/database``.
    durable
        Whether an acknowledged write survives a crash of the server (``synchronous_commit``).
    must_exist
        Whether a database without our tables is an error rather than a new store.
    connections
        How many connections are kept at most.
    patience
        For how many seconds a connection, or a lock of others, is waited for.
    statement_seconds
        How long one statement may take.
    replica
        The address of a server that repeats what this one writes, for reads that may be a little old; None
        for none. It need not be there yet.
    replica_lag
        How many seconds it may be behind.
    replica_patience
        For how many seconds it, or what it has not repeated yet, is waited for before the first is asked.

    Attributes
    ----------
    path
        The address without its password.
    """

    def __init__(
        self,
        url: str,
        *,
        durable: bool = True,
        must_exist: bool = False,
        connections: int = 10,
        patience: float = 30.0,
        statement_seconds: float = 30.0,
        replica: str | None = None,
        replica_lag: float = LAG,
        replica_patience: float = PATIENCE,
    ) -> None:
        if replica is not None:
            parsed(replica)
        migrating.made_ready(url, must_exist=must_exist)
        self._database = Database(
            url,
            durable=durable,
            connections=connections,
            patience=patience,
            statement_seconds=statement_seconds,
        )
        self.path = self._database.name
        self._durable = durable
        self._embedder: tuple[int, int] | None = None
        self._database.open()
        if replica is not None:
            self._replica = Replica(
                replica,
                connections=connections,
                lag=replica_lag,
                patience=replica_patience,
                statement_seconds=statement_seconds,
            )

    # --- what a store knows of itself -----------------------------------------------------------------

    def use_embedder(self, name: str, dimension: int) -> None:
        """Say which embedder the vectors of queries come from; remembered in the database."""
        find = "SELECT number, dimension FROM embedders WHERE name = %s"
        found = self._database.read(lambda connection: connection.execute(find, (name,)).fetchone())
        if found is None:

            def remember(connection: Server) -> Any:  # noqa: ANN401 - a row
                connection.execute(
                    "INSERT INTO embedders (name, dimension) VALUES (%s, %s) ON CONFLICT DO NOTHING",
                    (name, dimension),
                )
                return connection.execute(find, (name,)).fetchone()

            found = self._database.write(remember)
            checked_room("embedders", found[0], EMBEDDERS)
        if found[1] != dimension:
            raise InvalidArgument("dimension", dimension, f"{found[1]}, as recorded for {name!r}")
        self._embedder = (found[0], found[1])

    def setting(self, name: str) -> str | None:
        """Return a setting that was remembered in the database."""
        found = self._database.read(
            lambda connection: connection.execute(
                "SELECT value FROM settings WHERE name = %s", (name,)
            ).fetchone()
        )
        return None if found is None else str(found[0])

    def remember_setting(self, name: str, value: str) -> None:
        """Remember a setting in the database."""
        self._database.write(
            lambda connection: connection.execute(
                "INSERT INTO settings (name, value) VALUES (%s, %s) "
                "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                (name, value),
            )
        )

    # --- writing --------------------------------------------------------------------------------------

    def add(self, entries: Sequence[Entry]) -> int:
        """Add memories, all or none, and return the number of the last change."""

        def write(connection: Server) -> int:
            change = writing.add(connection, entries, self._embedder)
            return link_repeats(connection, entries) or change

        return self._database.write(write)

    def update(
        self, memory: Memory, expected_version: int, terms_of: Callable[[Memory], Terms] | None = None
    ) -> Memory:
        """Replace what is known about a memory, if it is at that version; return it at the next one."""
        return self._database.write(
            lambda connection: writing.update(connection, memory, expected_version, terms_of)
        )

    def use(self, namespace: str, ids: Sequence[str], now: datetime) -> None:
        """Count that memories were of use at `now`, all or none; each is at its next version then."""
        self._database.write(lambda connection: writing.use(connection, namespace, ids, now))

    def forget(self, namespace: str, ids: Sequence[str], now: datetime) -> None:
        """Hide memories; `restore` brings them back."""
        self._database.write(lambda connection: writing.set_forgotten(connection, namespace, ids, now))

    def restore(self, namespace: str, ids: Sequence[str]) -> None:
        """Show forgotten memories again."""
        self._database.write(lambda connection: writing.set_forgotten(connection, namespace, ids, None))

    def hidden(self, namespace: str) -> list[Hidden]:
        """Return since when the hidden memories of a namespace have been so, in the order they were added."""

        def read(connection: Server) -> list[Hidden]:
            rows = connection.execute(
                "SELECT id, forgotten_at, superseded_at FROM memories WHERE namespace = %s "
                "AND (forgotten_at IS NOT NULL OR superseded_at IS NOT NULL) ORDER BY slot",
                ((namespaces.find(connection, namespace) or EMPTY).number,),
            )
            return [
                Hidden(id_, instant(forgotten), instant(superseded)) for id_, forgotten, superseded in rows
            ]

        return self._database.read(read)

    def hide(self, namespace: str, hidden: Sequence[Hidden]) -> None:
        """Hide memories as :meth:`hidden` told it elsewhere; None leaves a part as it is."""

        def write(connection: Server) -> None:
            for each in hidden:
                writing.hide(connection, namespace, each)

        self._database.write(write)

    def purge(self, namespace: str, ids: Sequence[str], names: Sequence[str] = ()) -> None:
        """Remove memories and everything derived from them, for good, and the entities with these names.

        Rows are gone for everybody when this returns. The server gives their space out again as it vacuums;
        until something is written there, and in its log and its backups, bytes may remain: `vacuum` writes
        the tables anew, and how long logs and backups are kept is for their owner to say.
        """
        if ids or names:
            self._database.write(lambda connection: self._purge(connection, namespace, ids, names))

    def purge_namespace(self, namespace: str) -> int:
        """Remove a namespace for good, with its name and all that belongs to it; see :meth:`purge`.

        Returns how many memories it had.
        """
        return self._database.write(lambda connection: emptying.empty(connection, namespace))

    # --- reading --------------------------------------------------------------------------------------

    def get(self, namespace: str, ids: Sequence[str]) -> list[Memory]:
        """Return memories by id, hidden ones too; raise for an id nobody has."""
        return self._database.read(
            lambda connection: [writing.find(connection, namespace, id_).memory for id_ in ids]
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
        before = _LARGEST
        if cursor is not None:
            if not cursor.isascii() or not cursor.isdigit() or len(cursor) > _DIGITS:
                raise InvalidArgument("cursor", cursor, "the cursor of a page before")
            before = int(cursor)
        shown = "" if hidden else " AND m.forgotten_at IS NULL AND m.superseded_by IS NULL"
        wanted = min(limit, _LARGEST - 1) + 1

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

    @contextmanager
    def view(
        self,
        namespace: str,
        now: datetime,
        *,
        as_of: datetime | None = None,
        filter: Filter | None = None,
        true_at: datetime | None = None,
    ) -> Iterator[PostgresView]:
        """Open a consistent look at a namespace: see :meth:`recollect.store.port.Store.view`."""
        with self._database.reading() as connection:
            yield PostgresView(connection, namespace, self._embedder, now, as_of, filter, true_at)

    def cached_vectors(self, digests: Sequence[bytes]) -> dict[bytes, Floats]:
        """Return the vectors that texts with these addresses have from the current embedder."""
        embedder = self._embedder
        if embedder is None:
            return {}

        def read(connection: Server) -> dict[bytes, Floats]:
            rows = connection.execute(
                "SELECT DISTINCT ON (digest, passage) digest, embedding FROM vectors "
                "WHERE embedder = %s AND digest = ANY (%s) ORDER BY digest, passage",
                (embedder[0], list(digests)),
                binary=True,
            )
            found: dict[bytes, list[Floats]] = {}
            for digest, vector in rows:
                found.setdefault(bytes(digest), []).append(vector.to_numpy())
            return {digest: np.stack(each).astype(np.float32) for digest, each in found.items()}

        return self._database.read(read)

    def changes(self, since: int, limit: int) -> list[Change]:
        """Return the changes after `since`, oldest first."""
        last = _LARGEST
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
                {"since": since, "last": last, "limit": limit},
            )
            return [Change(*row) for row in rows]

        return self._database.read(read)

    def namespaces(self) -> Mapping[str, int]:
        """Return every namespace and how many memories it holds, hidden ones included."""
        rows = self._database.read(
            lambda connection: connection.execute(
                "SELECT path, memories FROM namespaces ORDER BY path"
            ).fetchall()
        )
        return dict(rows)

    def export(self, namespace: str | None) -> Iterator[Memory]:
        """Yield every memory, hidden ones too, in the order they were added."""
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
            yield from (memory(row, path) for _, path, *row in rows)

    def statistics(self) -> Mapping[str, Any]:
        """Return sizes and counts, for people."""

        def read(connection: Server) -> dict[str, Any]:
            counts = statistics.counted(connection)
            return {**counts, "methods": methods.methods(connection), "server": methods.server(connection)}

        found = self._database.read(read)
        if self._replica is not None:
            found["replica"] = self._replica.state()
        return found

    def methods(self) -> Mapping[str, str]:
        """Return how searches are done, by leg, for people."""
        return self._database.read(methods.methods)

    def check(self, terms_of: Callable[[Memory], Terms], *, repair: bool = False) -> list[str]:
        """Return what is wrong, in words; with `repair`, write derived data that is wrong anew."""
        found = self._database.read(lambda connection: check.problems(connection, terms_of))
        for namespace in sorted({problem.namespace for problem in found}) if repair else ():
            self.rebuild(namespace, terms_of)
        return [problem.text for problem in found]

    def rebuild(self, namespace: str, terms_of: Callable[[Memory], Terms]) -> None:
        """Write everything derived from the memories of a namespace anew."""
        self._database.write(
            lambda connection: check.rebuild(connection, namespace, terms_of, self._embedder)
        )

    def vacuum(self) -> None:
        """Write every table anew: give back the space of what was removed, and erase every trace of it.

        Others wait meanwhile, one table at a time.
        """
        erasing.write_anew(self._database.url)

    def backup(self, target: str | Path) -> None:
        """Refuse: a server is copied by its own means."""
        raise NotSupportedHere(
            f"a store on a server cannot be copied to {target}; use pg_dump {self.path}, or the server's own "
            "backups"
        )

    def close(self) -> None:
        """Let go of the database."""
        if self._replica is not None:
            self._replica.close()
        self._database.close()

    def _purge(self, connection: Server, namespace: str, ids: Sequence[str], names: Sequence[str]) -> None:
        whose = namespaces.locked(connection, namespace)
        if whose is None:
            if ids:
                raise MemoryNotFound(ids[0], namespace)
            return
        entities_of_these = entities.referred_to(connection, whose.number, ids)
        slots = writing.purge(connection, namespace, ids)
        recall_log.purge(connection, whose.number, slots)
        lessons.purge(connection, whose.number, slots)
        entities.remove_unreferred(connection, whose, entities_of_these)
        entities.remove_named(connection, whose, [folded(name) for name in names])
        if names:
            emptying.forget_questions(connection, whose.number, names)
            # Of those who wait to log a question, nobody is to bring a name back.
            entities.log(connection, whose, "purge", naming=False)
        erase_replies(connection, namespace)
