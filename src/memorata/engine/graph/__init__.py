"""Entities, relations and the graph of a namespace: one consistent look at it, and what is kept for the next.

The facets `entities` and `graph` look through a :class:`Lookup`. Graphs and places are kept of namespaces
that are asked about them, and follow the change feed.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from memorata._frozen import frozen
from memorata.engine.graph.namespace_graph import NamespaceGraph
from memorata.engine.runtime import Runtime
from memorata.engine.write.names import NameIndex, Names
from memorata.index.index import Index
from memorata.index.record import Records, visible
from memorata.model import checks
from memorata.model.checks import BoolArray, FloatArray, IntArray
from memorata.model.errors import EntityNotFound, InvalidArgument
from memorata.model.memory import Memory
from memorata.store.store import Store
from memorata.text.tokens import folded

if TYPE_CHECKING:
    from memorata.geo.places import Near, Places

_MAX_SUGGESTIONS: Final = 3
_PAGE_SIZE: Final = 500
_Answer = TypeVar("_Answer")


@frozen(eq=False)
class Look:
    """One consistent look at a namespace: as it is, or as it was believed to be at `as_of`."""

    path: str
    now: datetime
    view: Index
    names: Names
    as_of: datetime | None = None

    def shows(self, records: Records) -> BoolArray:
        """Return which memories may be seen in it."""
        then = None if self.as_of is None else self.as_of.timestamp()
        return visible(records, self.now.timestamp(), as_of=then)


class Lookup:
    """Looks at namespaces: their names, their graphs, and which entities are known."""

    def __init__(self, runtime: Runtime, names: NameIndex) -> None:
        self._runtime = runtime
        self.names = names
        self.graphs = Graphs(runtime.store, names)

    def scope(self, runtime: Runtime) -> Lookup:
        """Return this look-up for the namespace of another runtime; both share what is kept."""
        other = copy(self)
        other._runtime = runtime
        return other

    def at(
        self, namespace: str | None, look: Callable[[Look], _Answer], as_of: checks.Instant | None = None
    ) -> _Answer:
        """Run a function on one consistent look at a namespace, and return its answer."""
        then = checks.optional_instant("as_of", as_of)
        path, now = self._runtime.path(namespace), self._runtime.clock()

        def action() -> _Answer:
            with self._runtime.store.view(path, now, as_of=then) as view:
                return look(Look(path, now, view, self.names.of(path), then))

        return self._runtime.run([path], action)

    def graph(self, look: Look) -> NamespaceGraph:
        """Return the graph of the namespace that is looked at."""
        return self.graphs.at(look.path, look.now, look.as_of)

    def key(self, look: Look, argument: str, name: str) -> str:
        """Return the key of a known entity, or raise with the names that are most like it."""
        checked_name(argument, name)
        key = look.names.key(name)
        if look.names.is_declared(key):
            return key
        _, mentioned = look.view.document_frequencies(look.names.spellings(key), field="names")
        if any(mentioned.values()):
            return key
        from difflib import get_close_matches

        graph = self.graph(look)
        alike = get_close_matches(key, dict(self.counted(graph)), _MAX_SUGGESTIONS)
        raise EntityNotFound(name, look.path, tuple(map(graph.name, alike)))

    def counted(self, graph: NamespaceGraph) -> list[tuple[str, int]]:
        """Return the keys of all known entities and how many memories mention each."""
        counts = graph.mention_counts()
        mentions = dict.fromkeys(graph.names.declared(), 0)
        for key, node in zip(graph.entity_keys, graph.entity_nodes().tolist(), strict=True):
            if counts[node] or key in mentions:
                mentions[key] = int(counts[node])
        return sorted(mentions.items())


def memories_at(view: Index, slots: IntArray) -> list[Memory]:
    """Return the memories at slots, read a page at a time."""
    pages = range(0, slots.size, _PAGE_SIZE)
    return [memory for start in pages for memory in view.memories(slots[start : start + _PAGE_SIZE])]


def checked_name(argument: str, name: str) -> None:
    """Raise unless a name says something."""
    if not folded(checks.writable(argument, name)):
        raise InvalidArgument(argument, name, "a name that is not blank")


_CACHE_BYTES: Final = 256 * 1024**2


class Graphs:
    """The graphs of a store's namespaces, as many as there is memory for."""

    def __init__(self, store: Store, names: NameIndex, budget: int = _CACHE_BYTES) -> None:
        self._store = store
        self._names = names
        self._budget = budget
        self._rollbacks = store.rollbacks
        self._cache: OrderedDict[str, NamespaceGraph] = OrderedDict()

    def at(self, namespace: str, now: datetime, as_of: datetime | None = None) -> NamespaceGraph:
        """Return the graph of a namespace now, or as it was believed to be, which is not kept."""
        # Names, changes and links must be of one moment.
        with self._store.view(namespace, now) as view:
            names = self._names.of(namespace)
            if as_of is not None:
                return NamespaceGraph.believed(names, self._store, namespace, view, now, as_of)
            if self._store.rollbacks != self._rollbacks:
                # A graph may hold changes that were rolled back, and whose numbers later changes have now.
                self._rollbacks = self._store.rollbacks
                self._cache.clear()
            cached = self._cache.pop(namespace, None)
            graph = None if cached is None else cached.at(self._store, namespace, now, names)
            if graph is None:
                graph = NamespaceGraph(names).at(self._store, namespace, now, names)
            assert graph is not None  # an empty one is never too old
            self._cache[namespace] = graph
            # A copy, for another thread may add to it.
            while (
                len(self._cache) > 1
                and sum(cached.nbytes for cached in [*self._cache.values()]) > self._budget
            ):
                self._cache.popitem(last=False)
        return graph


_MAX_NAMESPACES: Final = 64
"""How many namespaces' places are kept; the least recently used go first."""
_CHANGES_OF_PLACES: Final = frozenset({"update", "purge"})
_EXTRA_PLACES: Final = 64
"""How many more than the limit are looked up at first, for some may be hidden."""


@dataclass(slots=True)
class _CachedPlaces:
    change: int
    slot_count: int
    slots: IntArray
    places: Places


class PlaceIndex:
    """The places of every namespace of a store, as they are now."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._rollbacks = store.rollbacks
        self._cache: OrderedDict[str, _CachedPlaces] = OrderedDict()

    def near(
        self,
        namespace: str,
        view: Index,
        shows: Callable[[Records], BoolArray],
        lat: float,
        lon: float,
        radius: float | None,
        limit: int,
    ) -> tuple[IntArray, FloatArray]:
        """Return the slots of the visible memories nearest to a point, and their distances in metres."""
        cached = self._caught_up(namespace)
        if radius is not None:
            return _visible(view, shows, cached, cached.places.within(lat, lon, radius), limit)
        # Hidden memories have places too: ask for more until enough of them are seen, or there are no more.
        count = limit + _EXTRA_PLACES
        while True:
            nearest = _visible(view, shows, cached, cached.places.nearest(lat, lon, limit=count), limit)
            if nearest[0].size == limit or count >= len(cached.places):
                return nearest
            count *= 4

    def _caught_up(self, namespace: str) -> _CachedPlaces:
        if self._store.rollbacks != self._rollbacks:
            # Places may be of changes that were rolled back, and whose numbers later changes have now.
            self._rollbacks = self._store.rollbacks
            self._cache.clear()
        # Loaded on demand: few processes ask for places.
        from memorata.geo.places import Places

        cached = self._cache.pop(namespace, None)
        delta = self._store.graph.delta(namespace, 0 if cached is None else cached.change)
        if cached is None or delta.kinds & _CHANGES_OF_PLACES:
            points = self._store.graph.points(namespace, 0)
            cached = _CachedPlaces(delta.change, delta.slots, points.slots, Places(points.lats, points.lons))
        elif delta.change != cached.change:
            points = self._store.graph.points(namespace, cached.slot_count)
            places = cached.places.added(points.lats, points.lons)
            cached = _CachedPlaces(
                delta.change, delta.slots, np.concatenate([cached.slots, points.slots]), places
            )
        self._cache[namespace] = cached
        while len(self._cache) > _MAX_NAMESPACES:
            self._cache.popitem(last=False)
        return cached


def _visible(
    view: Index, shows: Callable[[Records], BoolArray], cached: _CachedPlaces, near: Near, limit: int
) -> tuple[IntArray, FloatArray]:
    slots = cached.slots[near.positions]
    at = np.flatnonzero(shows(view.records(slots)))[:limit]
    return slots[at], near.metres[at]
