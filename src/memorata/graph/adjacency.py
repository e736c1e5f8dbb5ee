"""A typed, weighted, directed graph that is never changed, only extended.

Nodes are the numbers from 0; what they stand for (an entity, a memory) is the caller's to know. Edges lie in
compressed sparse rows (:mod:`memorata.graph.rows`), so that the edges of a thousand nodes are read by one
numpy call.

**Parallel edges are kept**, for each has its own type and its own provenance: an edge's number is its
position in the order in which edges were given, and leads the caller back to the relation, and the memory,
behind it. Whatever adds weights up (PageRank, label propagation, shares of a row) adds those of parallel
edges up with them.

**Growing.** :meth:`Graph.extended` puts new edges into a small tail beside the big rows, which both graphs
share; only when the tail outgrows the square root of the whole are they merged. That is the logarithmic
method of Bentley and Saxe, "Decomposable searching problems" (1980), with two blocks: catching up with a
change feed costs what has changed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field
from typing import NamedTuple

import numpy as np

from memorata._frozen import frozen
from memorata.graph.rows import DIRECTIONS, Nodes, Rows, TypeArray, type_numbers, whole_numbers
from memorata.model import checks
from memorata.model.checks import BoolArray, FloatArray, IntArray, Numbers
from memorata.model.errors import InvalidArgument

_MIN_MERGE = 1024
"""A tail of fewer edges is left as it is; searching it costs next to nothing."""
_MERGE_RATIO = 4.0
"""A tail is merged at this many times the square root of the edges: then neither sorting the tail at every
extension nor moving all edges at every merge outweighs the other."""
_MAX_NODES = 2**31 - 1
_MAX_TYPES = 2**15 - 1


class Edges(NamedTuple):
    """Edges around some nodes, one element each."""

    origin: IntArray
    """Position, in the nodes asked about, of the one the edge was found at."""
    nodes: IntArray
    """The node at the other end."""
    weights: FloatArray
    types: TypeArray
    """Number of the edge's type, a position in the graph's `type_names`."""
    numbers: IntArray
    """The edge's own number."""
    forward: BoolArray
    """Whether it is walked from source to target."""


@frozen(eq=False)
class Graph:
    """Nodes and edges, both fixed; made by :meth:`of` and :meth:`extended`.

    Examples
    --------
    >>> graph = Graph.of(3, [0, 2], [1, 1], types=[0, 1], type_names=["belongs_to", "knows"])
    >>> graph.nodes, graph.edges
    (3, 2)
    >>> graph.around([1], "in").nodes.tolist()
    [0, 2]
    """

    nodes: int
    """How many nodes there are."""
    type_names: tuple[str, ...]
    next_edge: int
    """The number that the next edge will get; numbers of removed edges are not given again."""
    base: Rows
    tail: Rows | None
    _turned: dict[str, Rows] = field(default_factory=dict, repr=False)
    _spare: list[FloatArray] = field(default_factory=list, repr=False)

    @classmethod
    def of(
        cls,
        nodes: int,
        sources: Nodes,
        targets: Nodes,
        weights: Numbers | None = None,
        types: Nodes | None = None,
        type_names: Sequence[str] = ("edge",),
    ) -> Graph:
        """Return the graph of an edge list.

        Parameters
        ----------
        nodes
            How many nodes there are; they are the numbers from 0 and below it.
        sources, targets
            The ends of each edge. An edge from a node to itself is allowed.
        weights
            How strong each edge is, above 0; 1 where not given.
        types
            The type of each edge, as a position in `type_names`; the first where not given.
        type_names
            The names of the types.

        Raises
        ------
        InvalidArgument
            An unknown node or type, lists of different lengths, a weight that is not a finite number above 0.
        """
        count = checks.whole("nodes", nodes)
        if count > _MAX_NODES:
            raise InvalidArgument("nodes", nodes, f"at most {_MAX_NODES}")
        names = _type_names(type_names)
        ends = _edges(count, sources, targets, weights, types, names)
        rows = _rows(*ends, np.arange(ends[0].size), count=count)
        return cls(count, names, len(rows), rows, None)

    @property
    def edges(self) -> int:
        """How many edges there are."""
        return len(self.base) + (len(self.tail) if self.tail else 0)

    def extended(
        self,
        nodes: int = 0,
        sources: Nodes = (),
        targets: Nodes = (),
        weights: Numbers | None = None,
        types: Nodes | None = None,
        type_names: Sequence[str] | None = None,
    ) -> Graph:
        """Return this graph with `nodes` more nodes and with these edges; this one stays as it is.

        The new nodes get the next numbers, and the edges, given as for :meth:`of`, may name old nodes and
        new. Where there are new types, `type_names` are those of this graph, and after them the new.

        Examples
        --------
        >>> chain = Graph.of(2, [0], [1]).extended(1, [1], [2])
        >>> chain.nodes, chain.around([1], "both").numbers.tolist()
        (3, [1, 0])
        """
        count = self.nodes + checks.whole("nodes", nodes)
        if count > _MAX_NODES:
            raise InvalidArgument("nodes", nodes, f"at most {_MAX_NODES - self.nodes} more")
        names = self.type_names if type_names is None else _type_names(type_names)
        if names[: len(self.type_names)] != self.type_names:
            raise InvalidArgument("type_names", type_names, f"a list that begins with {self.type_names}")
        ends = _edges(count, sources, targets, weights, types, names)
        fresh = np.arange(self.next_edge, self.next_edge + ends[0].size)
        existing = [_listed(self.tail)] if self.tail else []
        joined = _joined([*existing, (*ends, fresh)])
        next_edge = self.next_edge + fresh.size
        capacity = max(_MIN_MERGE, _MERGE_RATIO * math.sqrt(len(self.base)))
        if joined[0].size > capacity or not self.base.strengths.size:
            rows = _rows(*_joined([_listed(self.base), joined]), count=count)
            return Graph(count, names, next_edge, rows, None)
        tail = _rows(*joined, count=None) if joined[0].size else None
        # The rows that were turned around for this graph serve the next one as well.
        turned = {"base": self._turned["base"]} if "base" in self._turned else {}
        return Graph(count, names, next_edge, self.base, tail, turned, self._spare)

    def without(self, edges: Nodes) -> Graph:
        """Return this graph without the edges of these numbers, for relations that no longer hold.

        All edges are looked at, so take many away at once rather than one after the other. The others keep
        their numbers, and nodes stay even when their last edge goes.

        Examples
        --------
        >>> Graph.of(2, [0, 0], [1, 1]).without([0]).around([0]).numbers.tolist()
        [1]
        """
        removed = whole_numbers("edges", edges, self.next_edge, "edges")
        keep = np.ones(self.next_edge, dtype=bool)
        keep[removed] = False
        sources, targets, weights, types, numbers = self.listed()
        at = keep[numbers]
        rows = _rows(sources[at], targets[at], weights[at], types[at], numbers[at], count=self.nodes)
        return Graph(self.nodes, self.type_names, self.next_edge, rows, None)

    def undirected(self) -> Graph:
        """Return the graph in which every edge is there in both directions, with the same weight and number.

        An edge between a and b and one between b and a become two edges each way, so weights add up: people
        who write to each other are bound twice as firmly as when one of them does. Loops stay single.

        Examples
        --------
        >>> Graph.of(2, [0], [1]).undirected().around([1]).nodes.tolist()
        [0]
        """
        sources, targets, weights, types, numbers = self.listed()
        across = sources != targets
        back = (targets[across], sources[across], weights[across], types[across], numbers[across])
        rows = _rows(*_joined([(sources, targets, weights, types, numbers), back]), count=self.nodes)
        return Graph(self.nodes, self.type_names, self.next_edge, rows, None)

    def compact(self) -> Graph:
        """Return the same graph without a tail: what goes over all edges wants one block."""
        if self.tail is None and self.base.strengths.size == self.nodes:
            return self
        rows = _rows(*self.listed(), count=self.nodes)
        return Graph(self.nodes, self.type_names, self.next_edge, rows, None)

    def listed(self) -> tuple[IntArray, IntArray, FloatArray, TypeArray, IntArray]:
        """Return the sources, targets, weights, types and numbers of all edges."""
        return _joined([_listed(self.base), *([_listed(self.tail)] if self.tail else [])])

    def around(self, nodes: Nodes, direction: str = "out", types: Sequence[str] | None = None) -> Edges:
        """Return the edges at `nodes`, node by node within each direction and block of rows.

        Parameters
        ----------
        nodes
            Where to look.
        direction
            ``"out"`` for the edges that leave them, ``"in"`` for those that lead there, ``"both"``.
        types
            The names of the types to look at; None for all.
        """
        checked = whole_numbers("nodes", nodes, self.nodes, "nodes")
        checks.one_of("direction", direction, DIRECTIONS)
        return self.edges_at(checked, direction, type_numbers("types", types, self.type_names))

    def edges_at(self, nodes: IntArray, direction: str, types: IntArray | None) -> Edges:
        """Return the edges as :meth:`around` does, without checking the arguments."""
        parts = []
        for forward in (True, False):
            if direction in ("both", "out" if forward else "in"):
                for rows in self.blocks(forward):
                    degrees, at = rows.edges_of(nodes)
                    origin = np.repeat(np.arange(nodes.size), degrees)
                    if types is not None:
                        of_types = np.isin(rows.types[at], types)
                        origin, at = origin[of_types], at[of_types]
                    way = np.full(at.size, forward)
                    columns = (rows.targets[at], rows.weights[at], rows.types[at], rows.edges[at])
                    parts.append(Edges(origin, *columns, way))
        if len(parts) == 1:
            return parts[0]
        return Edges(*map(np.concatenate, zip(*parts, strict=True)))

    def zeros(self) -> FloatArray:
        """Return a zero for each node at least, from an earlier :meth:`give_back` where there is one.

        A search that touches a few hundred nodes of a million should not wait for a million zeros.
        """
        while self._spare:
            try:
                spare = self._spare.pop()
            except IndexError:  # another thread was quicker
                break
            if spare.size >= self.nodes:
                return spare
        # With room for the nodes that will be added to the graphs that grow from this one.
        return np.zeros(self.nodes + self.nodes // 8 + 64)

    def give_back(self, array: FloatArray, *touched: IntArray) -> None:
        """Take back what :meth:`zeros` gave, after clearing it at the nodes that were touched."""
        for nodes in touched:
            array[nodes] = 0.0
        self._spare.append(array)

    def blocks(self, forward: bool = True) -> list[Rows]:
        """Return the rows that hold the edges, by source or, turned around, by target."""
        blocks = []
        for name, rows in (("base", self.base), ("tail", self.tail)):
            if rows is not None:
                if not forward and name not in self._turned:
                    # Two threads may both turn them around; they write the same.
                    self._turned[name] = rows.turned(rows.strengths.size if rows.keys is None else None)
                blocks.append(rows if forward else self._turned[name])
        return blocks


def checked_graph(graph: object) -> Graph:
    """Return `graph` if it is one."""
    if not isinstance(graph, Graph):
        raise InvalidArgument("graph", graph, "a Graph")
    return graph


_Listed = tuple[IntArray, IntArray, FloatArray, TypeArray, IntArray]


def _edges(
    count: int,
    sources: object,
    targets: object,
    weights: object,
    types: object,
    names: tuple[str, ...],
) -> tuple[IntArray, IntArray, FloatArray, TypeArray]:
    """Return an edge list in the form the rows are made of, checked."""
    source = whole_numbers("sources", sources, count, "nodes")
    target = whole_numbers("targets", targets, count, "nodes")
    weight = np.ones(source.size) if weights is None else checks.numbers("weights", weights)
    kind = np.zeros(source.size, dtype=np.intp)
    if types is not None:
        kind = whole_numbers("types", types, len(names), "edge types")
    elif source.size and not names:
        raise InvalidArgument("type_names", names, "at least one name")
    checks.same_length(sources=source, targets=target, weights=weight, types=kind)
    if weight.size and weight.min() <= 0:
        bad = int(np.flatnonzero(weight <= 0)[0])
        raise InvalidArgument(f"weights[{bad}]", float(weight[bad]), "a number above 0")
    # The caller's own arrays are copied, so that the graph cannot be changed from outside.
    return source.copy(), target.copy(), weight.copy(), kind.astype(np.int16)


def _rows(
    sources: IntArray,
    targets: IntArray,
    weights: FloatArray,
    types: TypeArray,
    numbers: IntArray,
    *,
    count: int | None,
) -> Rows:
    """Return the rows of an edge list, and refuse weights whose sum is beyond float64."""
    with np.errstate(over="ignore"):
        total = float(weights.sum())
    if not math.isfinite(total):
        raise InvalidArgument("weights", weights, "weights with a finite sum")
    return Rows.of(sources, targets, weights, types, numbers, count=count)


def _listed(rows: Rows) -> _Listed:
    return rows.sources(), rows.targets, rows.weights, rows.types, rows.edges


def _joined(lists: Sequence[_Listed]) -> _Listed:
    if len(lists) == 1:
        return lists[0]
    sources, targets, weights, types, numbers = (np.concatenate(parts) for parts in zip(*lists, strict=True))
    return sources, targets, weights, types, numbers


def _type_names(names: Sequence[str]) -> tuple[str, ...]:
    checked = checks.texts("type_names", names)
    if len(set(checked)) < len(checked):
        raise InvalidArgument("type_names", names, "names that differ from each other")
    if len(checked) > _MAX_TYPES:
        raise InvalidArgument("type_names", len(checked), f"at most {_MAX_TYPES} names")
    return checked
