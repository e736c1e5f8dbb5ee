"""The part of the store on one SQLite file that keeps entities and relations, and tells what connects."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Final

import numpy as np

from memorata.model.entity import Entity, Relation
from memorata.store.naming import EntityRecord, GraphNews, Link, Points
from memorata.store.sqlite import entities, links, relations
from memorata.store.sqlite.connection import reading, translated
from memorata.store.sqlite.connection import writing as transaction
from memorata.store.sqlite.finding import find_namespace, new_namespace
from memorata.store.sqlite.segments import Namespace

_ANEW: Final = frozenset({"purge", "rename"})
"""What has happened to a namespace that is another than it was: everything is gone, and names mean others."""


class NamingStore:
    """What :class:`~memorata.store.port.Store` promises about entities and relations."""

    path: str
    _connection: sqlite3.Connection
    _lock: threading.RLock

    def entities(self, namespace: str, first: int = 0) -> list[EntityRecord]:
        """Return the declared entities of a namespace in the order of their declaration, from one on."""
        with self._look(namespace) as found:
            return [] if found is None else entities.all_of(self._connection, found.number, first)

    def naming(self, namespace: str) -> int:
        """Return the last change of a namespace's declared names; 0 if there was none."""
        # Asked for every memory that is written: one statement, which needs no view in common with others.
        with self._lock, translated(self.path):
            found = self._connection.execute(
                "SELECT naming FROM namespaces WHERE path = ?", (namespace,)
            ).fetchone()
        return 0 if found is None else int(found[0])

    def describe_entity(
        self,
        namespace: str,
        name: str,
        *,
        type: str | None = None,
        aliases: Sequence[str] | None = None,
        description: str | None = None,
    ) -> EntityRecord:
        """Say what is known about an entity, new or not; None leaves a part as it is."""
        # The constructor checks what it is given.
        given = Entity(name, type or "", () if aliases is None else tuple(aliases), description or "")
        with self._write(namespace) as found:
            names = None if aliases is None else given.aliases
            return entities.describe(self._connection, found, name, type, names, description)

    def merge_entities(self, namespace: str, keep: str, other: str) -> None:
        """Read `other` as `keep` from now on; `undo_merge` takes it back."""
        with self._write(namespace) as found:
            entities.merge(self._connection, found, keep, other)

    def undo_merge(self, namespace: str, name: str) -> None:
        """Let a merged name stand for itself again; what was merged into it stays with it."""
        with self._write(namespace) as found:
            entities.undo_merge(self._connection, found, name)

    def relate(self, namespace: str, given: Sequence[Relation], now: datetime) -> list[Relation]:
        """Write relations down, all or none, and return them as they are now."""
        with self._write(namespace) as found:
            return relations.relate(self._connection, found, given, now)

    def unrelate(self, namespace: str, subjects: Sequence[str], type: str, objects: Sequence[str]) -> int:
        """Remove relations between entities given by all their folded names; return how many there were."""
        with self._write(namespace) as found:
            return relations.unrelate(self._connection, found, subjects, type, objects)

    def relations(
        self,
        namespace: str,
        *,
        now: datetime | None = None,
        as_of: datetime | None = None,
        names: Sequence[str] | None = None,
        since: int = 0,
    ) -> list[Relation]:
        """Return relations in the order in which they were said: all, or those that hold."""
        with self._look(namespace) as found:
            if found is None:
                return []
            return relations.listed(
                self._connection, found.number, now=now, as_of=as_of, names=names, since=since
            )

    def next_turn(self, namespace: str, now: datetime) -> datetime | None:
        """Return the next moment at which a relation begins or ends to hold by itself."""
        with self._look(namespace) as found:
            return None if found is None else relations.next_turn(self._connection, found.number, now)

    def graph_news(self, namespace: str, since: int) -> GraphNews:
        """Return what has happened to a namespace after the change `since`."""
        with self._look(namespace) as found:
            if found is None:
                return GraphNews(0, 0, (), _ANEW if since else frozenset())
            if since and since < found.begun:
                return GraphNews(found.change, found.slots, (), _ANEW)
            if found.change == since:
                return GraphNews(since, found.slots, (), frozenset())
            return links.news(self._connection, found, since)

    def links(self, namespace: str, first: int, slots: Sequence[int] = ()) -> Iterator[Link]:
        """Yield what connects the given memories, and all of them from the slot `first` on."""
        with self._look(namespace) as found:
            if found is not None:
                yield from links.links_of(self._connection, found.number, slots)
                yield from links.links_from(self._connection, found.number, first)

    def points(self, namespace: str, first: int) -> Points:
        """Return the places of memories, from the slot `first` on."""
        with self._look(namespace) as found:
            if found is None:
                return Points(np.zeros(0, np.intp), np.zeros(0), np.zeros(0))
            return links.points_from(self._connection, found.number, first)

    @contextmanager
    def _look(self, path: str) -> Iterator[Namespace | None]:
        with self._lock, reading(self._connection, self.path):
            yield find_namespace(self._connection, path)

    @contextmanager
    def _write(self, path: str) -> Iterator[Namespace]:
        with self._lock, transaction(self._connection, self.path):
            yield find_namespace(self._connection, path) or new_namespace(self._connection, path)
