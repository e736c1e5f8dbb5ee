"""The part of the store on a server that keeps entities and relations, and tells what connects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import Final, TypeVar

from memorata.model.entity import Entity, Relation
from memorata.store.naming import EntityRecord, GraphNews, Link, Points
from memorata.store.postgres import entities, links, namespaces, relations
from memorata.store.postgres.connection import Server
from memorata.store.postgres.database import Database
from memorata.store.postgres.namespaces import EMPTY, Namespace

_Result = TypeVar("_Result")
_ANEW: Final = frozenset({"purge", "rename"})
"""What has happened to a namespace that is another than it was: everything is gone, and names mean others."""
_AT_ONCE: Final = 1_000


class NamingStore:
    """What :class:`~memorata.store.port.Store` promises about entities and relations."""

    _database: Database

    def entities(self, namespace: str, first: int = 0) -> list[EntityRecord]:
        """Return the declared entities of a namespace in the order of their declaration, from one on."""
        return self._look(namespace, lambda server, found: entities.all_of(server, found.number, first))

    def naming(self, namespace: str) -> int:
        """Return the last change of a namespace's declared names; 0 if there was none."""
        return self._look(namespace, lambda server, found: found.naming)

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
        names = None if aliases is None else given.aliases
        return self._write(
            namespace,
            lambda server, found: entities.describe(server, found, name, type, names, description),
        )

    def merge_entities(self, namespace: str, keep: str, other: str) -> None:
        """Read `other` as `keep` from now on; `undo_merge` takes it back."""
        self._write(namespace, lambda server, found: entities.merge(server, found, keep, other))

    def undo_merge(self, namespace: str, name: str) -> None:
        """Let a merged name stand for itself again; what was merged into it stays with it."""
        self._write(namespace, lambda server, found: entities.undo_merge(server, found, name))

    def relate(self, namespace: str, given: Sequence[Relation], now: datetime) -> list[Relation]:
        """Write relations down, all or none, and return them as they are now."""
        return self._write(namespace, lambda server, found: relations.relate(server, found, given, now))

    def unrelate(self, namespace: str, subjects: Sequence[str], type: str, objects: Sequence[str]) -> int:
        """Remove relations between entities given by all their folded names; return how many there were."""
        return self._write(
            namespace, lambda server, found: relations.unrelate(server, found, subjects, type, objects)
        )

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
        return self._look(
            namespace,
            lambda server, found: relations.listed(
                server, found.number, now=now, as_of=as_of, names=names, since=since
            ),
        )

    def next_turn(self, namespace: str, now: datetime) -> datetime | None:
        """Return the next moment at which a relation begins or ends to hold by itself."""
        return self._look(namespace, lambda server, found: relations.next_turn(server, found.number, now))

    def graph_news(self, namespace: str, since: int) -> GraphNews:
        """Return what has happened to a namespace after the change `since`."""

        def read(server: Server, found: Namespace) -> GraphNews:
            if found is EMPTY:
                return GraphNews(0, 0, (), _ANEW if since else frozenset())
            if since and since < found.begun:
                return GraphNews(found.change, found.slots, (), _ANEW)
            if found.change == since:
                return GraphNews(since, found.slots, (), frozenset())
            return links.news(server, found, since)

        return self._look(namespace, read)

    def links(self, namespace: str, first: int, slots: Sequence[int] = ()) -> Iterator[Link]:
        """Yield what connects the given memories, and all of them from the slot `first` on."""
        # A page at a time, each on its own: no connection is kept while somebody works on what was read.
        for start in range(0, len(slots), _AT_ONCE):
            yield from self._look(namespace, partial(_links_of, slots=slots[start : start + _AT_ONCE]))
        while True:
            page = self._look(namespace, partial(_links_from, first=first))
            yield from page
            if len(page) < _AT_ONCE:
                return
            first = page[-1].slot + 1

    def points(self, namespace: str, first: int) -> Points:
        """Return the places of memories, from the slot `first` on."""
        return self._look(namespace, lambda server, found: links.points_from(server, found.number, first))

    def _look(self, path: str, read: Callable[[Server, Namespace], _Result]) -> _Result:
        return self._database.read(lambda server: read(server, namespaces.find(server, path) or EMPTY))

    def _write(self, path: str, write: Callable[[Server, Namespace], _Result]) -> _Result:
        return self._database.write(lambda server: write(server, namespaces.made(server, path)))


def _links_of(server: Server, found: Namespace, slots: Sequence[int]) -> list[Link]:
    return links.links_of(server, found.number, slots)


def _links_from(server: Server, found: Namespace, first: int) -> list[Link]:
    return links.links_from(server, found.number, first, _AT_ONCE)
