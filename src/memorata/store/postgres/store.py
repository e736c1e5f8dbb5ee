"""The store on a PostgreSQL server."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, cast

import numpy as np

from memorata.model.errors import InvalidArgument, MemoryNotFound, NotSupportedHere
from memorata.model.memory import Memory
from memorata.store import database as ports
from memorata.store.access import KeyStore, ReplyStore, erase_replies
from memorata.store.entities import EntityStore, referred_to, remove_named, remove_unreferred
from memorata.store.exposures import ExposureStore, forget_users, purge_exposures
from memorata.store.feedback import FeedbackStore, purge_feedback
from memorata.store.filters import Filter
from memorata.store.graph import GraphStore
from memorata.store.leases import LeaseStore
from memorata.store.limits import EMBEDDERS, checked_limit
from memorata.store.namespaces import log_change
from memorata.store.port import Entry, Floats, Hidden, Terms
from memorata.store.postgres import (
    check,
    emptying,
    erasing,
    methods,
    migrating,
    namespaces,
    purging,
    statistics,
    writing,
)
from memorata.store.postgres.access import AccessStore
from memorata.store.postgres.address import parsed
from memorata.store.postgres.bridge import Bridge, BridgeSession
from memorata.store.postgres.connection import Server
from memorata.store.postgres.contradictions import ContradictionStore
from memorata.store.postgres.database import Database
from memorata.store.postgres.embedding import EmbeddingStore
from memorata.store.postgres.listing import ListingStore
from memorata.store.postgres.repeats import RepeatStore, link_repeats
from memorata.store.postgres.replica import LAG, PATIENCE, Replica, ReplicaStore
from memorata.store.postgres.view import PostgresView
from memorata.store.recall_log import RecallLogStore, forget_queries, purge_recalls
from memorata.store.relations import RelationStore
from memorata.store.saved_settings import SavedSettingStore
from memorata.text.folding import folded


class PostgresStore(
    ListingStore,
    AccessStore,
    EmbeddingStore,
    RepeatStore,
    ContradictionStore,
    ReplicaStore,
):
    """A :class:`~memorata.store.port.Store` on a server; any number of processes may open it.

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

    read_only = False
    """What may be written is for the server to say, table by table and user by user."""

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
        bridge = cast(ports.Database, Bridge(self._database))
        self.keys, self.replies, self.leases = KeyStore(bridge), ReplyStore(bridge), LeaseStore(bridge)
        self.entities, self.relations = EntityStore(bridge), RelationStore(bridge)
        self.graph = GraphStore(bridge)
        self.recalls, self.feedback = RecallLogStore(bridge), FeedbackStore(bridge)
        self.exposures, self.saved_settings = ExposureStore(bridge), SavedSettingStore(bridge)
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
            checked_limit("embedders", found[0], EMBEDDERS)
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

    def hide(self, namespace: str, hidden: Sequence[Hidden]) -> None:
        """Hide memories as :meth:`hidden` told it elsewhere; None leaves a part as it is."""

        def write(connection: Server) -> None:
            for each in hidden:
                writing.hide(connection, namespace, each)

        self._database.write(write)

    def purge(
        self,
        namespace: str,
        ids: Sequence[str],
        names: Sequence[str] = (),
        terms_of: Callable[[Memory], Terms] | None = None,
    ) -> None:
        """Remove memories and everything derived from them, for good, and the entities with these names.

        Rows are gone for everybody when this returns. The server gives their space out again as it vacuums;
        until something is written there, and in its log and its backups, bytes may remain: `vacuum` writes
        the tables anew, and how long logs and backups are kept is for their owner to say.
        """
        if ids or names:
            self._database.write(lambda connection: self._purge(connection, namespace, ids, names, terms_of))

    def purge_namespace(self, namespace: str) -> int:
        """Remove a namespace for good, with its name and all that belongs to it; see :meth:`purge`.

        Returns how many memories it had.
        """
        return self._database.write(lambda connection: emptying.empty(connection, namespace))

    # --- reading --------------------------------------------------------------------------------------

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
        """Open a consistent look at a namespace: see :meth:`memorata.store.port.Store.view`."""
        with self._database.reading() as connection:
            yield PostgresView(connection, namespace, self._embedder, now, as_of, filter, true_at)

    def cached_vectors(self, namespace: str, digests: Sequence[bytes]) -> dict[bytes, Floats]:
        """Return the vectors of the current embedder that a namespace has of texts with these addresses."""
        embedder = self._embedder
        if embedder is None or not digests:
            return {}

        def read(connection: Server) -> dict[bytes, Floats]:
            rows = connection.execute(
                "SELECT DISTINCT ON (digest, passage) digest, embedding FROM vectors "
                "WHERE namespace = (SELECT number FROM namespaces WHERE path = %s) AND embedder = %s "
                "AND digest = ANY (%s) ORDER BY digest, passage",
                (namespace, embedder[0], list(digests)),
                binary=True,
            )
            found: dict[bytes, list[Floats]] = {}
            for digest, vector in rows:
                found.setdefault(bytes(digest), []).append(vector.to_numpy())
            return {digest: np.stack(each).astype(np.float32) for digest, each in found.items()}

        return self._database.read(read)

    def written(self) -> int:
        """Return a number that moves when another process has written since it was last asked for."""
        return self._database.others_wrote()

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
        for namespace in sorted({each.namespace for each in found if each.mendable}) if repair else ():
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

    def _purge(
        self,
        connection: Server,
        namespace: str,
        ids: Sequence[str],
        names: Sequence[str],
        terms_of: Callable[[Memory], Terms] | None,
    ) -> None:
        whose = namespaces.locked(connection, namespace)
        if whose is None:
            if ids:
                raise MemoryNotFound(ids[0], namespace)
            return
        session = BridgeSession(connection)
        entities = referred_to(session, whose.number, ids)
        slots = purging.purge(connection, namespace, ids, terms_of)
        purge_recalls(session, whose.number, slots)
        purge_feedback(session, whose.number, slots)
        purge_exposures(session, whose.number, slots)
        remove_unreferred(session, whose.number, entities)
        remove_named(session, whose.number, [folded(name) for name in names])
        if names:
            forget_queries(session, whose.number, names)
            forget_users(session, whose.number, names)
            # Of those who wait to log a question, nobody is to bring a name back.
            log_change(session, whose.number, "purge")
        erase_replies(session, namespace)
