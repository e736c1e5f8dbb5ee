"""One consistent look at a namespace, and the graphs of namespaces, which follow the change feed."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime
from typing import Final, TypeVar

from memorata.extend import frozen
from memorata.extend.errors import EntityNotFound, InvalidArgument
from memorata.extend.graph import Names, NamespaceIndex, Records, Runtime, visible
from memorata.extend.model import BoolArray, IntArray, Memory, checks, folded
from memorata_graph.namespace_graph import NamespaceGraph

_MAX_SUGGESTIONS: Final = 3
_PAGE_SIZE: Final = 500
_Answer = TypeVar("_Answer")


@frozen(eq=False)
class Look:
    """One consistent look at a namespace: as it is, or as it was believed to be at `as_of`."""

    path: str
    now: datetime
    view: NamespaceIndex
    names: Names
    as_of: datetime | None = None

    def shows(self, records: Records) -> BoolArray:
        """Return which memories may be seen in it."""
        then = None if self.as_of is None else self.as_of.timestamp()
        return visible(records, self.now.timestamp(), as_of=then)


class Lookup:
    """Looks at namespaces: their names, their graphs, and which entities are known."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self.names = runtime.names
        self.graphs = runtime.part(Graphs)

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


def memories_at(view: NamespaceIndex, slots: IntArray) -> list[Memory]:
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

    def __init__(self, runtime: Runtime, budget: int = _CACHE_BYTES) -> None:
        self._store = store = runtime.store
        self._names = runtime.names
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
