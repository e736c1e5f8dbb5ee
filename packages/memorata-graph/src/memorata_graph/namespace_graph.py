"""The graph of a namespace: memories, the entities they mention, sessions, supersession and relations."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import replace
from datetime import datetime
from itertools import chain, pairwise
from typing import Any, Final, TypeVar

import numpy as np

from memorata.extend import frozen
from memorata.extend.graph import (
    MENTIONS,
    NEXT,
    OWN_TYPES,
    SUPERSEDES,
    GraphDelta,
    Growing,
    Link,
    Names,
    NamespaceIndex,
    visible,
)
from memorata.extend.model import FloatArray, IntArray
from memorata.extend.stores import Store
from memorata_graph.adjacency import Adjacency
from memorata_graph.pagerank import pagerank

_Computed = TypeVar("_Computed")

_RENAMED: Final = frozenset({"rename", "merge", "unmerge"})
"""Changes after which a name may mean another entity."""
_UNRELATED: Final = frozenset({"rerelate", "unrelate", "purge"})
"""Changes after which a relation may be gone, or another than it was."""
_RELATION: Final = -1
"""The owner of edges that are relations; a memory's are owned by its slot, a session's by -2 and below."""
_REMOVED: Final = np.iinfo(np.int64).min
"""The owner of edges that were removed."""
_NO_SESSION: Final = -1
_NO_SLOT: Final = 2**62
"""A slot after all others."""
_EDGE_BYTES: Final = 60
_NODE_BYTES: Final = 150
_MAX_EDGE_NUMBERS_PER_EDGE: Final = 4
"""Once so many times more edges were ever numbered than there are, the graph is built anew."""


class NamespaceGraph:
    """The graph of one namespace at one moment, which does not change; :class:`Graphs` has the latest."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.graph = Adjacency.of(0, [], [], type_names=OWN_TYPES)
        self.change = 0
        self.slots = 0
        self.since: datetime | None = None
        self.until: datetime | None = None
        """Between these two moments it is true, as long as nothing is written."""
        self._owners = Growing(np.int64, ())
        self._slot_of_node = array("q")
        self._node_of_slot = array("q")
        self._entity_nodes: dict[str, int] = {}
        self._spellings: dict[int, tuple[int, str]] = {}
        """By the node of an entity, the first memory that mentions it, and how that spells it."""
        self._sessions: dict[str, int] = {}
        self._session_of_slot = array("q")
        self._position_of_slot = array("q")
        self._ends: dict[int, tuple[int, int]] = {}
        """By session, the position and the slot of its last memory."""
        self._expiries: dict[int, datetime] = {}
        # Edges on their way into the graph, column by column: tuples would be work for the collector.
        self._new: tuple[array[Any], ...] = tuple(array(kind) for kind in "qqdqq")
        self._derived: dict[str, tuple[Adjacency, Any]] = {}
        self._types = {name: number for number, name in enumerate(self.graph.type_names)}

    @property
    def nbytes(self) -> int:
        """How much memory this takes, roughly."""
        again = 3 * self.graph.edges if "ordered" in self._derived else 0
        return _EDGE_BYTES * (self.graph.next_edge + again) + _NODE_BYTES * self.graph.nodes

    @property
    def ordered(self) -> Ordered:
        """The graph in an order that does not tell how it has grown; made once for each state."""
        return self.once(lambda: in_order(self), "ordered")

    @property
    def ranks(self) -> FloatArray:
        """The PageRank of every node that has an edge, followed both ways; computed once for each state."""
        return self.once(lambda: self.ordered.spread(pagerank(self.ordered.both_ways).scores), "ranks")

    def once(self, compute: Callable[[], _Computed], name: str = "") -> _Computed:
        """Return what follows from the graph, computed once for each state of it; of a name there is one."""
        if name not in self._derived or self._derived[name][0] is not self.graph:
            self._derived[name] = self.graph, compute()
        result: _Computed = self._derived[name][1]
        return result

    @property
    def entity_keys(self) -> tuple[str, ...]:
        """The keys of all entities that are nodes."""
        return tuple(self._entity_nodes)

    def entity_node(self, name: str) -> int | None:
        """Return the node of the entity that a name means."""
        return self._entity_nodes.get(self.names.key(name))

    def entity_nodes(self) -> IntArray:
        """Return the nodes of all entities, in the order of :attr:`entity_keys`."""
        return np.fromiter(self._entity_nodes.values(), np.intp, len(self._entity_nodes))

    def name(self, key: str) -> str:
        """Return the name of an entity, given its key: as declared, else as first seen."""
        node = self._entity_nodes.get(key)
        return self.names.entity(key, key if node is None else self._spellings[node][1]).name

    def name_of(self, node: int) -> str | None:
        """Return the name of an entity's node; None for a memory's."""
        if node not in self._spellings:
            return None
        _, spelt = self._spellings[node]
        return self.names.entity(self.names.key(spelt), spelt).name

    def precedence(self, nodes: IntArray) -> IntArray:
        """Return a number to sort each node by: memories by their slots, then entities by their keys."""
        slots = self.slots_of(nodes)
        entities = np.flatnonzero(slots < 0)
        keys = [self.names.key(self._spellings[node][1]) for node in nodes[entities].tolist()]
        _, ranks = np.unique(np.array(keys, object), return_inverse=True)
        slots[entities] = len(self._node_of_slot) + ranks
        return slots

    def nodes_of(self, slots: IntArray) -> IntArray:
        """Return the nodes of memories; -1 for one that has none."""
        return np.asarray(np.asarray(self._node_of_slot)[slots], np.intp)

    def slots_of(self, nodes: IntArray) -> IntArray:
        """Return the slots of memories' nodes; -1 for an entity's."""
        return np.asarray(np.asarray(self._slot_of_node)[nodes], np.intp)

    def mention_counts(self) -> IntArray:
        """Return for every node how many memories mention it."""
        _, targets, _, types, _ = self.graph.listed()
        return np.bincount(targets[types == self._types[MENTIONS]], minlength=self.graph.nodes)

    def edge_types(self) -> tuple[str, ...]:
        """Return the types that edges can have: the graph's own, and those of relations that hold."""
        present = np.unique(self.graph.listed()[3]).tolist()
        names = {self.graph.type_names[number] for number in present} - set(OWN_TYPES)
        return (*OWN_TYPES, *sorted(names))

    # --- catching up ----------------------------------------------------------------------------------

    @classmethod
    def believed(
        cls, names: Names, store: Store, namespace: str, view: NamespaceIndex, now: datetime, as_of: datetime
    ) -> NamespaceGraph:
        """Return the graph as it was believed to be at a moment; it does not catch up with anything."""
        graph = cls(names)
        slots = store.graph.delta(namespace, 0).slots
        is_visible = visible(view.records(np.arange(slots)), now.timestamp(), as_of=as_of.timestamp())
        links = (
            replace(link, current=True) for link in store.graph.links(namespace, 0) if is_visible[link.slot]
        )
        graph._insert(links, slots, now, set())
        graph._relate(store, namespace, now, since=0, as_of=as_of)
        graph._flush()
        graph.slots = slots
        return graph

    def at(self, store: Store, namespace: str, now: datetime, names: Names) -> NamespaceGraph | None:
        """Return this graph as it is at a moment, in a copy; None if it has to be built anew instead."""
        delta = store.graph.delta(namespace, self.change)
        waited = self.since is not None and not self._is_still_true(now)
        if delta.change == self.change and not waited:
            return self._with_names(names) if self.since is not None or not delta.change else None
        if delta.change < self.change or (self.change and (delta.kinds & _RENAMED or self._is_stale())):
            # What a replica knows may be older than what is known here.
            return None
        later = self._growing()
        later.names = names
        later._catch_up(store, namespace, now, delta, waited=waited)
        return later

    def _with_names(self, names: Names) -> NamespaceGraph:
        if names is self.names:
            return self
        renamed = copy(self)
        renamed.names = names
        return renamed

    def _growing(self) -> NamespaceGraph:
        """Return the same graph with a room of its own to grow in."""
        grown = copy(self)
        for name, value in vars(self).items():
            if isinstance(value, dict | array):
                setattr(grown, name, copy(value))
        grown._owners = self._owners.copy()
        grown._new = tuple(array(column.typecode) for column in self._new)
        return grown

    def _catch_up(
        self, store: Store, namespace: str, now: datetime, delta: GraphDelta, *, waited: bool
    ) -> None:
        changed = {slot for slot in delta.changed if slot < self.slots}
        if waited:
            changed |= {slot for slot, at in self._expiries.items() if self._turned(at, now)}
        links = list(store.graph.links(namespace, delta.slots, sorted(changed)))
        asserted = any(link.asserts for link in links)
        all_relations = bool(asserted or waited or delta.kinds & _UNRELATED or not self.change)
        respelt = self._mentioned_by(changed)
        broken = self._detach(changed, relations=all_relations)
        self._insert(chain(links, store.graph.links(namespace, self.slots)), delta.slots, now, broken)
        self._relate(store, namespace, now, since=0 if all_relations else self.change)
        self._flush()
        self.slots, self.change = delta.slots, delta.change
        self._spell(store, namespace, respelt)
        turns = [at for at in self._expiries.values() if at > now]
        turn = store.relations.next_change(namespace, now)
        self.since, self.until = now, min(filter(None, [*turns, turn]), default=None)

    def _is_still_true(self, now: datetime) -> bool:
        assert self.since is not None  # the caller looked
        return self.since <= now and (self.until is None or now < self.until)

    def _turned(self, at: datetime, now: datetime) -> bool:
        assert self.since is not None  # the caller looked
        return (at <= self.since) != (at <= now)

    def _is_stale(self) -> bool:
        return self.graph.next_edge > _MAX_EDGE_NUMBERS_PER_EDGE * self.graph.edges + 10_000

    def _detach(self, slots: set[int], *, relations: bool) -> set[int]:
        """Remove the edges that memories own, and return their sessions."""
        broken = {self._session_of_slot[slot] for slot in slots} - {_NO_SESSION}
        for slot in slots:
            self._session_of_slot[slot] = _NO_SESSION
            self._expiries.pop(slot, None)
        self._remove([*slots, *([_RELATION] if relations else [])])
        return broken

    def _remove(self, owners: list[int]) -> None:
        numbers = np.flatnonzero(np.isin(self._owners.view, owners)) if owners else np.zeros(0, np.intp)
        if numbers.size:
            self._owners.view[numbers] = _REMOVED
            self.graph = self.graph.without(numbers)

    def _insert(self, links: Iterable[Link], slots: int, now: datetime, broken: set[int]) -> None:
        """Add the edges of memories; `broken` are the sessions whose order has to be found anew."""
        fresh = array("q", [-1]) * (slots - len(self._node_of_slot))
        for column in (self._node_of_slot, self._session_of_slot, self._position_of_slot):
            column.extend(fresh)
        for link in links:
            if link.expires_at is not None:
                self._expiries[link.slot] = link.expires_at
            if not link.current or (link.expires_at is not None and link.expires_at <= now):
                continue
            node = self._memory_node(link.slot)
            for entity in dict.fromkeys(self._entity(name, link.slot) for name in link.entities):
                if entity is not None:
                    self._add(node, entity, 1.0, MENTIONS, link.slot)
            for older in link.supersedes:
                self._add(node, self._memory_node(older), 1.0, SUPERSEDES, link.slot)
            if link.session:
                self._append_to_session(link, node, broken)
        self._chain(broken)

    def _append_to_session(self, link: Link, node: int, broken: set[int]) -> None:
        """Put a memory into its session: at the end, if that is where it belongs."""
        session = self._sessions.setdefault(link.session, len(self._sessions))
        place = (-1 if link.position is None else link.position, link.slot)
        self._session_of_slot[link.slot] = session
        self._position_of_slot[link.slot] = place[0]
        last = self._ends.get(session)
        if last is not None and place < last:
            broken.add(session)
            return
        if last is not None and session not in broken:
            self._add(self._memory_node(last[1]), node, 1.0, NEXT, -2 - session)
        self._ends[session] = place

    def _chain(self, sessions: set[int]) -> None:
        """Write the edges of sessions anew: from each memory to the next one."""
        if not sessions:
            return
        self._flush()
        self._remove([-2 - session for session in sessions])
        for session in sorted(sessions):
            slots = np.flatnonzero(np.asarray(self._session_of_slot) == session)
            positions = np.asarray(self._position_of_slot)[slots]
            order = np.lexsort((slots, positions))
            ordered = slots[order].tolist()
            for slot, following in pairwise(ordered):
                self._add(self._memory_node(slot), self._memory_node(following), 1.0, NEXT, -2 - session)
            self._ends.pop(session, None)
            if ordered:
                self._ends[session] = int(positions[order[-1]]), ordered[-1]

    def _relate(
        self, store: Store, namespace: str, now: datetime, since: int, as_of: datetime | None = None
    ) -> None:
        for relation in store.relations.list(namespace, now=now, as_of=as_of, since=since):
            source, target = (self._entity(name, _NO_SLOT) for name in (relation.source, relation.target))
            # A declared name is never blank.
            if source is not None and target is not None:
                self._add(source, target, relation.weight, relation.type, _RELATION)

    def _memory_node(self, slot: int) -> int:
        node = self._node_of_slot[slot]
        if node < 0:
            node = self._node_of_slot[slot] = self._new_node(slot)
        return node

    def _entity(self, name: str, slot: int) -> int | None:
        """Return the node of an entity, a new one if need be; None for a name with nothing visible in it."""
        key = self.names.key(name)
        node = self._entity_nodes.get(key)
        if node is None and key:
            node = self._entity_nodes[key] = self._new_node(-1)
            self._spellings[node] = slot, name
        elif node is not None and slot < self._spellings[node][0]:
            self._spellings[node] = slot, name
        return node

    def _mentioned_by(self, slots: set[int]) -> list[int]:
        """Return the entities that are spelt as one of these memories spells them."""
        nodes = [node for node in (self._node_of_slot[slot] for slot in slots) if node >= 0]
        mentioned = set(self.graph.around(nodes, "out", [MENTIONS]).nodes.tolist()) if nodes else set()
        return sorted(node for node in mentioned if self._spellings[node][0] in slots)

    def _spell(self, store: Store, namespace: str, nodes: list[int]) -> None:
        """Find out how entities are spelt by the first memory that mentions them now."""
        if not nodes:
            return
        edges = self.graph.around(nodes, "in", [MENTIONS])
        firsts = np.full(len(nodes), _NO_SLOT)
        np.minimum.at(firsts, edges.origin, self.slots_of(edges.nodes))
        at = dict(zip(nodes, firsts.tolist(), strict=True))
        slots = sorted({slot for slot in at.values() if slot != _NO_SLOT})
        links = {link.slot: link for link in store.graph.links(namespace, self.slots, slots)}
        for node, slot in at.items():
            spelt = self._spellings[node][1]
            key = self.names.key(spelt)
            names = links[slot].entities if slot in links else ()
            same = [name for name in names if self.names.key(name) == key]
            self._spellings[node] = slot, same[0] if same else spelt

    def _new_node(self, slot: int) -> int:
        self._slot_of_node.append(slot)
        return len(self._slot_of_node) - 1

    def _add(self, source: int, target: int, weight: float, type_: str, owner: int) -> None:
        number = self._types.setdefault(type_, len(self._types))
        for column, value in zip(self._new, (source, target, weight, number, owner), strict=True):
            column.append(value)

    def _flush(self) -> None:
        """Put the edges that were collected into the graph."""
        sources, targets, weights, types, owners = map(np.array, self._new)
        for column in self._new:
            del column[:]
        added = len(self._slot_of_node) - self.graph.nodes
        self.graph = self.graph.extended(added, sources, targets, weights, types, tuple(self._types))
        self._owners.extend(owners)


@frozen(eq=False)
class Ordered:
    """A graph with its nodes in order."""

    graph: Adjacency
    both_ways: Adjacency
    nodes: IntArray
    places: IntArray

    def spread(self, scores: FloatArray) -> FloatArray:
        """Return the scores of nodes here as those of the graph that has grown; 0 for one without an edge."""
        values = np.zeros(self.places.size)
        values[self.nodes] = scores
        return values


def in_order(original: NamespaceGraph) -> Ordered:
    """Return the nodes that have edges in order: memories by their slots, then entities by their keys."""
    sources, targets, weights, _, _ = original.graph.listed()
    keys = dict(zip(original.entity_nodes().tolist(), original.entity_keys, strict=True))
    linked = np.unique(np.concatenate([sources, targets])).astype(np.intp)
    slots = original.slots_of(linked)
    is_memory = slots >= 0
    memories = linked[is_memory][np.argsort(slots[is_memory])]
    entities = sorted(linked[~is_memory].tolist(), key=keys.__getitem__)
    nodes = np.concatenate([memories, np.array(entities, np.intp)])
    places = np.full(original.graph.nodes, -1, np.intp)
    places[nodes] = np.arange(nodes.size)
    sources, targets = places[sources], places[targets]
    order = np.lexsort((weights, targets, sources))
    graph = Adjacency.of(nodes.size, sources[order], targets[order], weights[order])
    return Ordered(graph, graph.undirected(), nodes, places)
