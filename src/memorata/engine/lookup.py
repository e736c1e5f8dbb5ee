"""One consistent look at the entities and the graph of a namespace, for the facets `entities` and `graph`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeVar

from memorata._frozen import frozen
from memorata.engine.naming import NameBook, Names
from memorata.engine.runtime import Runtime
from memorata.index.record import Records, visible
from memorata.model import checks
from memorata.model.checks import BoolArray
from memorata.model.errors import EntityNotFound, InvalidArgument
from memorata.store.port import View
from memorata.text.folding import folded

if TYPE_CHECKING:
    from memorata.engine.kept_graphs import Graphs
    from memorata.engine.namespace_graph import NamespaceGraph

_NEAREST: Final = 3
_Answer = TypeVar("_Answer")


@frozen(eq=False)
class Look:
    """One consistent look at a namespace: as it is, or as it was believed to be at `as_of`."""

    path: str
    now: datetime
    view: View
    names: Names
    as_of: datetime | None = None

    def shows(self, records: Records) -> BoolArray:
        """Return which memories may be seen in it."""
        then = None if self.as_of is None else self.as_of.timestamp()
        return visible(records, self.now.timestamp(), as_of=then)


class Lookup:
    """Looks at namespaces: their names, their graphs, and which entities are known."""

    def __init__(self, runtime: Runtime, names: NameBook) -> None:
        self._runtime = runtime
        self.names = names

    @cached_property
    def graphs(self) -> Graphs:
        """The graphs of the namespaces."""
        # Most processes never ask for the graph, and should not load what builds it.
        from memorata.engine.kept_graphs import Graphs

        return Graphs(self._runtime.store, self.names)

    def at(
        self, namespace: str | None, look: Callable[[Look], _Answer], as_of: datetime | None = None
    ) -> _Answer:
        """Run a function on one consistent look at a namespace, and return its answer."""
        path, now = self._runtime.path(namespace), self._runtime.clock()

        def action() -> _Answer:
            with self._runtime.store.view(path, now, as_of=as_of) as view:
                return look(Look(path, now, view, self.names.of(path), as_of))

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
        known = self.graph(look)
        from difflib import get_close_matches

        alike = get_close_matches(key, [each for each, _ in self.counted(known)], _NEAREST)
        raise EntityNotFound(name, look.path, tuple(map(known.name, alike)))

    def counted(self, known: NamespaceGraph) -> list[tuple[str, int]]:
        """Return the keys of all known entities and how many memories mention each."""
        counts = known.mention_counts()
        found = dict.fromkeys(known.names.declared(), 0)
        for key, node in zip(known.entity_keys, known.entity_nodes().tolist(), strict=True):
            if counts[node] or key in found:
                found[key] = int(counts[node])
        return sorted(found.items())


def checked_name(argument: str, name: str) -> None:
    """Raise unless a name says something."""
    if not folded(checks.writable(argument, name)):
        raise InvalidArgument(argument, name, "a name that is not blank")
