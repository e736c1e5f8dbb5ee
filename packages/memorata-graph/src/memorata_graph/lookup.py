"""One consistent look at a namespace: its names, its graph, and which entities are known."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Final, TypeVar

from memorata.extend import frozen
from memorata.extend.errors import EntityNotFound, InvalidArgument
from memorata.extend.graph import Names, NamespaceIndex, Records, Runtime, visible
from memorata.extend.model import BoolArray, IntArray, Memory, checks, folded
from memorata_graph.namespace_graph import Graphs, NamespaceGraph

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
    graphs: Graphs
    as_of: datetime | None = None

    def shows(self, records: Records) -> BoolArray:
        """Return which memories may be seen in it."""
        then = None if self.as_of is None else self.as_of.timestamp()
        return visible(records, self.now.timestamp(), as_of=then)

    def graph(self) -> NamespaceGraph:
        """Return the graph of the namespace."""
        return self.graphs.at(self.path, self.now, self.as_of)

    def key(self, argument: str, name: str) -> str:
        """Return the key of a known entity, or raise with the names that are most like it."""
        checked_name(argument, name)
        key = self.names.key(name)
        if self.names.is_declared(key):
            return key
        _, mentioned = self.view.document_frequencies(self.names.spellings(key), field="names")
        if any(mentioned.values()):
            return key
        from difflib import get_close_matches

        graph = self.graph()
        alike = get_close_matches(key, dict(counted(graph)), _MAX_SUGGESTIONS)
        raise EntityNotFound(name, self.path, tuple(map(graph.name, alike)))

    def memories(self, slots: IntArray) -> list[Memory]:
        """Return the memories at slots, read a page at a time."""
        return memories_at(self.view, slots)


def looked(
    runtime: Runtime,
    namespace: str | None,
    look: Callable[[Look], _Answer],
    as_of: checks.Instant | None = None,
) -> _Answer:
    """Run a function on one consistent look at a namespace, and return its answer."""
    then = checks.optional_instant("as_of", as_of)
    path, now = runtime.path(namespace), runtime.clock()

    def action() -> _Answer:
        with runtime.store.view(path, now, as_of=then) as view:
            return look(Look(path, now, view, runtime.names.of(path), runtime.part(Graphs), then))

    return runtime.run([path], action)


def counted(graph: NamespaceGraph) -> list[tuple[str, int]]:
    """Return the keys of all known entities and how many memories mention each."""
    counts = graph.mention_counts()[graph.entity_nodes()].tolist()
    mentions = dict.fromkeys(graph.names.declared(), 0)
    for key, count in zip(graph.keys, counts, strict=True):
        if count or key in mentions:
            mentions[key] = count
    return sorted(mentions.items())


def memories_at(view: NamespaceIndex, slots: IntArray) -> list[Memory]:
    """Return the memories at slots, read a page at a time."""
    pages = range(0, slots.size, _PAGE_SIZE)
    return [memory for start in pages for memory in view.memories(slots[start : start + _PAGE_SIZE])]


def checked_name(argument: str, name: str) -> None:
    """Raise unless a name says something."""
    if not folded(checks.writable(argument, name)):
        raise InvalidArgument(argument, name, "a name that is not blank")
