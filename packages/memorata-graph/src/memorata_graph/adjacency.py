"""A typed, weighted, directed graph that is never changed, only extended.

Nodes are the numbers from 0; what they stand for (an entity, a memory) is the caller's to know. An unknown
one raises, so that no algorithm wraps around to the last row on -1 or reads past the end. Edges lie in
compressed sparse rows (Gustavson, "Two fast algorithms for sparse matrices", 1978), so that the edges of a
thousand nodes are read by one numpy call: all edges in one array per property, a node's edges side by side,
and an array of where each row begins. A block of edges either has a row for every node, or, where a few edges
are added to a large graph, rows for the few nodes in `keys` only.

**Parallel edges are kept**, for each has its own type and its own provenance: an edge's number is its
position in the order in which edges were given, and leads the caller back to the relation behind it. Whatever
adds weights up (PageRank, label propagation) adds those of parallel edges up with them.

**Growing.** :meth:`Adjacency.extended` puts new edges into a small tail beside the big rows, which both
graphs share; only when the tail outgrows the square root of the whole are they merged: the logarithmic
method of Bentley and Saxe, "Decomposable searching problems" (1980), with two blocks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from memorata.extend import frozen
from memorata.extend.errors import InvalidArgument
from memorata.extend.model import BoolArray, FloatArray, IntArray, Numbers, checks

TypeArray = npt.NDArray[np.int16]


def sums(places: IntArray, amounts: FloatArray, count: int) -> FloatArray:
    """Return the sum of the amounts at each of `count` places, added in the order given."""
    # Of nothing, numpy makes whole numbers, and its type hints take them for whole numbers always.
    return np.bincount(places, amounts, count).astype(np.float64, copy=False)


def in_order(keys: IntArray, bound: int) -> tuple[IntArray, IntArray]:
    """Return `keys`, from 0 and below `bound`, ascending, and the position each had; a stable sort."""
    bits = int(keys.size).bit_length()
    if int(bound).bit_length() + bits > 62:
        order = np.argsort(keys, kind="stable")
        return keys[order], order
    # Key and position in one number: numpy sorts numbers several times faster than it finds their order.
    packed = (keys << bits) | np.arange(keys.size)
    packed.sort()
    return packed >> bits, packed & ((1 << bits) - 1)


class EdgeList(NamedTuple):
    """Edges in any order, one element of each array per edge; `numbers` are the edges' own."""

    sources: IntArray
    targets: IntArray
    weights: FloatArray
    types: TypeArray
    numbers: IntArray

    def at(self, chosen: IntArray | BoolArray) -> EdgeList:
        """Return some of the edges, by position or by mask."""
        sources, targets, weights, types, numbers = self
        return EdgeList(sources[chosen], targets[chosen], weights[chosen], types[chosen], numbers[chosen])

    def with_more(self, other: EdgeList) -> EdgeList:
        """Return both lists in one."""
        pairs: Any = zip(self, other, strict=True)
        return EdgeList(*map(np.concatenate, pairs))


@frozen(eq=False)
class Rows:
    """A block of edges, row by row; one element of each array per edge, unless stated otherwise."""

    keys: IntArray | None
    """The nodes that have a row, ascending; None when row i is node i."""
    starts: IntArray
    """Where each row begins, and after the last one where it ends."""
    targets: IntArray
    weights: FloatArray
    types: TypeArray
    edges: IntArray
    """The edge's own number."""
    strengths: FloatArray
    """The sum of each row's weights."""
    total: float

    @classmethod
    def of(cls, edges: EdgeList, *, count: int | None) -> Rows:
        """Return the rows of a checked edge list, each row in the list's order.

        `count` nodes get a row; None gives one to the nodes that edges leave. Weights whose sum is beyond
        float64 are refused.
        """
        with np.errstate(over="ignore"):
            total = float(edges.weights.sum())
        if not math.isfinite(total):
            raise InvalidArgument("weights", edges.weights, "weights with a finite sum")
        sources = edges.sources
        if sources.size > 1 and (sources[1:] < sources[:-1]).any():
            sources, order = in_order(sources, int(sources.max()) + 1)
            edges = edges.at(order)
        weights = edges.weights
        if count is None:
            first = np.ones(sources.size, dtype=bool)
            first[1:] = sources[1:] != sources[:-1]
            keys: IntArray | None = sources[first]
            starts = np.append(np.flatnonzero(first), sources.size)
            rows = np.cumsum(first) - 1
            strengths = sums(rows, weights, starts.size - 1)
        else:
            keys = None
            starts = np.zeros(count + 1, dtype=np.intp)
            np.cumsum(np.bincount(sources, minlength=count), out=starts[1:])
            strengths = sums(sources, weights, count)
        columns = (starts, edges.targets, weights, edges.types, edges.numbers, strengths)
        for array in columns if keys is None else (keys, *columns):
            array.flags.writeable = False
        return cls(keys, *columns, float(strengths.sum()))

    def __len__(self) -> int:
        return self.targets.size

    def listed(self) -> EdgeList:
        """Return the edges, row by row."""
        degrees = np.diff(self.starts)
        sources = np.repeat(np.arange(degrees.size) if self.keys is None else self.keys, degrees)
        return EdgeList(sources, self.targets, self.weights, self.types, self.edges)

    def turned(self) -> Rows:
        """Return the same edges by the node they lead to, with the node they leave as target."""
        edges = self.listed()
        turned = edges._replace(sources=edges.targets, targets=edges.sources)
        return Rows.of(turned, count=self.strengths.size if self.keys is None else None)

    def edges_of(self, nodes: IntArray) -> tuple[IntArray, IntArray]:
        """Return the edges that leave `nodes`: how many for each, and the positions of all, node by node.

        The positions index `targets`, `weights`, `types` and `edges`.
        """
        rows, has_row = self._rows_of(nodes)
        begin = self.starts[rows]
        degrees = self.starts[rows + 1] - begin
        if has_row is not None:
            degrees[~has_row] = 0
        ends = np.cumsum(degrees)
        total = int(ends[-1]) if ends.size else 0
        # Position k of row i is begin[i] + (k - the number of positions before row i).
        return degrees, np.repeat(begin - ends + degrees, degrees) + np.arange(total)

    def strengths_of(self, nodes: IntArray) -> FloatArray:
        """Return the sums of the weights of the edges that leave `nodes`."""
        rows, has_row = self._rows_of(nodes)
        strengths = self.strengths[rows]
        return strengths if has_row is None else np.where(has_row, strengths, 0.0)

    def _rows_of(self, nodes: IntArray) -> tuple[IntArray, npt.NDArray[np.bool_] | None]:
        """Return a row for each node, and which of them are really theirs; None when all are."""
        rows = self.strengths.size
        if self.keys is not None:
            positions = np.minimum(np.searchsorted(self.keys, nodes), rows - 1)
            return positions, self.keys[positions] == nodes
        if nodes.size and nodes.max() >= rows:
            # A node that was added after this block was made has no row in it yet.
            return np.minimum(nodes, rows - 1), nodes < rows
        return nodes, None


Nodes: TypeAlias = Sequence[int] | npt.NDArray[np.integer[Any]]
"""Node numbers: a list, a tuple or a one-dimensional array of whole numbers."""
DIRECTIONS = ("out", "in", "both")
"""Whether edges are followed from source to target, backwards, or either way."""


def whole_numbers(argument: str, values: object, below: int, what: str) -> IntArray:
    """Return a flat array of whole numbers from 0 and below `below`; fractions, flags and text are refused.

    >>> whole_numbers("nodes", [0, 7], 5, "nodes")
    Traceback (most recent call last):
    ...
    memorata.model.errors.InvalidArgument: nodes[1] must be one of the 5 nodes (0 to 4), got 7
    """
    expected = f"a flat list of {what} (whole numbers from 0)"
    if isinstance(values, str | bytes):
        raise InvalidArgument(argument, values, expected)
    try:
        array = np.asarray(values)
    except (ValueError, TypeError, OverflowError) as error:
        raise InvalidArgument(argument, values, expected) from error
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InvalidArgument(argument, values, expected)
    if array.size and (array.min() < 0 or array.max() >= below):
        bad = int(np.flatnonzero((array < 0) | (array >= below))[0])
        raise InvalidArgument(f"{argument}[{bad}]", array[bad].item(), one_of_many(below, what))
    return array.astype(np.intp, copy=False)


def type_numbers(argument: str, values: Sequence[str] | None, names: Sequence[str]) -> IntArray | None:
    """Return the numbers of the named edge types; None, for all of them, stays None."""
    if values is None:
        return None
    chosen = checks.texts(argument, values)
    for index, name in enumerate(chosen):
        checks.one_of(f"{argument}[{index}]", name, names)
    return np.array([names.index(name) for name in chosen], dtype=np.intp)


def one_of_many(count: int, what: str) -> str:
    """Return which of `count` things may be named, for an error."""
    return f"one of the {count} {what} (0 to {count - 1})" if count else f"nothing, for there are no {what}"


_MIN_MERGE = 1024
"""A tail of fewer edges is left as it is; searching it costs next to nothing."""
_MERGE_RATIO = 4.0
"""Times the square root of the edges: there sorting the tail costs as much as moving all edges at a merge."""
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
class Adjacency:
    """Nodes and edges, both fixed; made by :meth:`of` and :meth:`extended`.

    Examples
    --------
    >>> graph = Adjacency.of(3, [0, 2], [1, 1], types=[0, 1], type_names=["belongs_to", "knows"])
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
    ) -> Adjacency:
        """Return the graph of an edge list.

        Parameters
        ----------
        nodes
            How many nodes there are; they are the numbers from 0 and below it.
        sources, targets
            The ends of each edge, which may be one node.
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
        rows = Rows.of(_edges(count, sources, targets, weights, types, names, first=0), count=count)
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
    ) -> Adjacency:
        """Return this graph with `nodes` more nodes and with these edges; this one stays as it is.

        The new nodes get the next numbers, and the edges, given as for :meth:`of`, may name old nodes and
        new. Where there are new types, `type_names` are those of this graph, and after them the new.

        Examples
        --------
        >>> chain = Adjacency.of(2, [0], [1]).extended(1, [1], [2])
        >>> chain.nodes, chain.around([1], "both").numbers.tolist()
        (3, [1, 0])
        """
        count = self.nodes + checks.whole("nodes", nodes)
        if count > _MAX_NODES:
            raise InvalidArgument("nodes", nodes, f"at most {_MAX_NODES - self.nodes} more")
        names = self.type_names if type_names is None else _type_names(type_names)
        if names[: len(self.type_names)] != self.type_names:
            raise InvalidArgument("type_names", type_names, f"a list that begins with {self.type_names}")
        joined = _edges(count, sources, targets, weights, types, names, first=self.next_edge)
        next_edge = self.next_edge + joined.sources.size
        if self.tail:
            joined = self.tail.listed().with_more(joined)
        capacity = max(_MIN_MERGE, _MERGE_RATIO * math.sqrt(len(self.base)))
        if joined.sources.size > capacity or not self.base.strengths.size:
            rows = Rows.of(self.base.listed().with_more(joined), count=count)
            return Adjacency(count, names, next_edge, rows, None)
        tail = Rows.of(joined, count=None) if joined.sources.size else None
        # The rows that were turned around for this graph serve the next one as well.
        turned = {"base": self._turned["base"]} if "base" in self._turned else {}
        return Adjacency(count, names, next_edge, self.base, tail, turned, self._spare)

    def without(self, edges: Nodes) -> Adjacency:
        """Return this graph without the edges of these numbers, for relations that no longer hold.

        All edges are looked at, so take many away at once rather than one after the other. The others keep
        their numbers, and nodes stay even when their last edge goes.

        Examples
        --------
        >>> Adjacency.of(2, [0, 0], [1, 1]).without([0]).around([0]).numbers.tolist()
        [1]
        """
        removed = whole_numbers("edges", edges, self.next_edge, "edges")
        keep = np.ones(self.next_edge, dtype=bool)
        keep[removed] = False
        edges_left = self.listed()
        return self._of(edges_left.at(keep[edges_left.numbers]))

    def undirected(self) -> Adjacency:
        """Return the graph in which every edge is there in both directions, with the same weight and number.

        An edge between a and b and one between b and a become two edges each way. Loops stay single.

        Examples
        --------
        >>> Adjacency.of(2, [0], [1]).undirected().around([1]).nodes.tolist()
        [0]
        """
        edges = self.listed()
        back = edges.at(edges.sources != edges.targets)
        return self._of(edges.with_more(back._replace(sources=back.targets, targets=back.sources)))

    def compact(self) -> Adjacency:
        """Return the same graph without a tail: what goes over all edges wants one block."""
        if self.tail is None and self.base.strengths.size == self.nodes:
            return self
        return self._of(self.listed())

    def listed(self) -> EdgeList:
        """Return all edges."""
        return self.base.listed().with_more(self.tail.listed()) if self.tail else self.base.listed()

    def _of(self, edges: EdgeList) -> Adjacency:
        """Return a graph of the same nodes with these edges, in one block."""
        rows = Rows.of(edges, count=self.nodes)
        return Adjacency(self.nodes, self.type_names, self.next_edge, rows, None)

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
                    self._turned[name] = rows.turned()
                blocks.append(rows if forward else self._turned[name])
        return blocks


def checked_graph(graph: object) -> Adjacency:
    """Return `graph` if it is one."""
    if not isinstance(graph, Adjacency):
        raise InvalidArgument("graph", graph, "an Adjacency")
    return graph


def _edges(
    count: int,
    sources: object,
    targets: object,
    weights: object,
    types: object,
    names: tuple[str, ...],
    *,
    first: int,
) -> EdgeList:
    """Return a checked edge list, numbered from `first`."""
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
    numbers = np.arange(first, first + source.size)
    return EdgeList(source.copy(), target.copy(), weight.copy(), kind.astype(np.int16), numbers)


def _type_names(names: Sequence[str]) -> tuple[str, ...]:
    checked = checks.texts("type_names", names)
    if len(set(checked)) < len(checked):
        raise InvalidArgument("type_names", names, "names that differ from each other")
    if len(checked) > _MAX_TYPES:
        raise InvalidArgument("type_names", len(checked), f"at most {_MAX_TYPES} names")
    return checked
