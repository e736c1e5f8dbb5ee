"""The graphs of namespaces, kept from one question to the next as long as there is memory for them."""

from __future__ import annotations

from collections import OrderedDict
from datetime import datetime
from typing import Final

from memorata.engine.namespace_graph import NamespaceGraph
from memorata.engine.naming import NameBook
from memorata.store.port import Store

_BUDGET: Final = 256 * 1024**2


class Graphs:
    """The graphs of a store's namespaces, as many as there is memory for.

    Parameters
    ----------
    store
        What they are read from.
    names
        Who is who.
    budget
        About how many bytes to keep; the least recently used go first.
    """

    def __init__(self, store: Store, names: NameBook, budget: int = _BUDGET) -> None:
        self._store = store
        self._names = names
        self._budget = budget
        self._rollbacks = store.rollbacks
        self._kept: OrderedDict[str, NamespaceGraph] = OrderedDict()

    def at(self, namespace: str, now: datetime, as_of: datetime | None = None) -> NamespaceGraph:
        """Return the graph of a namespace at a moment; inside an open view it is that view's.

        With `as_of`, what was believed then; that one is built for the question and not kept.
        """
        # Names, changes and links must be of one moment.
        with self._store.view(namespace, now) as view:
            names = self._names.of(namespace)
            if as_of is not None:
                return NamespaceGraph.believed(names, self._store, namespace, view, now, as_of)
            if self._store.rollbacks != self._rollbacks:
                # A graph may be of changes that never came to be, and whose numbers others have now.
                self._rollbacks = self._store.rollbacks
                self._kept.clear()
            kept = self._kept.pop(namespace, None)
            found = None if kept is None else kept.at(self._store, namespace, now, names)
            if found is None:
                found = NamespaceGraph(names).at(self._store, namespace, now, names)
            assert found is not None  # an empty one is never too old
            self._kept[namespace] = found
            while (
                len(self._kept) > 1 and sum(each.nbytes for each in list(self._kept.values())) > self._budget
            ):
                self._kept.popitem(last=False)
        return found
