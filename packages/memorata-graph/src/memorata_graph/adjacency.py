"""A typed, weighted, directed graph in arrays, which never changes.

Nodes are the numbers from 0; what they stand for (an entity, a memory) is the caller's. Edges lie in
compressed sparse rows (Gustavson, "Two fast algorithms for sparse matrices", 1978), so that the edges of a
thousand nodes are read by one numpy call: all edges in one array per property, a node's edges side by side,
and an array of where each row begins.

Parallel edges are kept, for each has its own type and its own provenance: an edge's number is its position in
the order in which edges were given. PageRank and label propagation add the weights of parallel edges up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from memorata.extend.model import BoolArray, FloatArray, IntArray, Numbers, checks

Nodes: TypeAlias = Sequence[int] | npt.NDArray[np.integer[Any]]
"""Node numbers: a list or a one-dimensional array of whole numbers."""
DIRECTIONS = ("out", "in", "both")
"""Whether edges are followed from source to target, backwards, or either way."""


class Around(NamedTuple):
    """Edges around some nodes, one element each."""

    origin: IntArray
    """Position, in the nodes asked about, of the one the edge was found at."""
    nodes: IntArray
    """The node at the other end."""
    weights: FloatArray
    types: IntArray
    """Number of the edge's type, a position in the graph's `type_names`."""
    numbers: IntArray
    """The edge's own number."""
    forward: BoolArray
    """Whether it is walked from source to target."""


@dataclass(frozen=True, eq=False)
class Adjacency:
    """Nodes and edges in the order of their sources; made by :meth:`of`.

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
    sources: IntArray
    targets: IntArray
    weights: FloatArray
    types: IntArray
    numbers: IntArray

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
        """Return the graph of edges: ends, weights above 0 (1 where not given), types by position."""
        ends = np.asarray(sources, np.intp), np.asarray(targets, np.intp)
        count = ends[0].size
        weight = np.ones(count) if weights is None else np.asarray(weights, np.float64)
        kinds = np.zeros(count, np.intp) if types is None else np.asarray(types, np.intp)
        return cls._by_source(nodes, tuple(type_names), *ends, weight, kinds, np.arange(count))

    @classmethod
    def _by_source(cls, nodes: int, type_names: tuple[str, ...], *columns: Any) -> Adjacency:  # noqa: ANN401
        """Return the graph of edges whose columns are in any order."""
        order = np.argsort(columns[0], kind="stable")
        ordered: Any = (column[order] for column in columns)
        return cls(nodes, type_names, *ordered)

    @property
    def edges(self) -> int:
        """How many edges there are."""
        return self.sources.size

    @cached_property
    def starts(self) -> IntArray:
        """Where each node's edges begin, and after the last one where they end."""
        starts = np.zeros(self.nodes + 1, np.intp)
        np.cumsum(np.bincount(self.sources, minlength=self.nodes), out=starts[1:])
        return starts

    @cached_property
    def strengths(self) -> FloatArray:
        """The sum of the weights of each node's edges."""
        return sums(self.sources, self.weights, self.nodes)

    @cached_property
    def total(self) -> float:
        """The sum of all weights."""
        return float(self.weights.sum())

    @cached_property
    def turned(self) -> Adjacency:
        """The same edges by the node they lead to, with the node they leave as target."""
        columns = (self.targets, self.sources, self.weights, self.types, self.numbers)
        return self._by_source(self.nodes, self.type_names, *columns)

    @cached_property
    def both_ways(self) -> Adjacency:
        """The graph in which every edge is there in both directions, with the same weight and number.

        An edge between a and b and one between b and a become two edges each way. Loops stay single.

        Examples
        --------
        >>> Adjacency.of(2, [0], [1]).both_ways.around([1]).nodes.tolist()
        [0]
        """
        apart = self.sources != self.targets
        there = (self.sources, self.targets, self.weights, self.types, self.numbers)
        back = (self.targets, self.sources, self.weights, self.types, self.numbers)
        both = (np.concatenate([one, other[apart]]) for one, other in zip(there, back, strict=True))
        return self._by_source(self.nodes, self.type_names, *both)

    def around(
        self, nodes: Nodes, direction: str = "out", types: Sequence[str] | IntArray | None = None
    ) -> Around:
        """Return the edges at `nodes`, node by node within each direction.

        Parameters
        ----------
        nodes
            Where to look.
        direction
            ``"out"`` for the edges that leave them, ``"in"`` for those that lead there, ``"both"``.
        types
            The names or numbers of the types to look at; None for all.
        """
        at = np.asarray(nodes, np.intp)
        parts = []
        for forward in (True, False):
            if direction in ("both", "out" if forward else "in"):
                rows = self if forward else self.turned
                degrees, edges = rows.edges_of(at)
                origin = np.repeat(np.arange(at.size), degrees)
                if types is not None:
                    kept = np.isin(rows.types[edges], self.type_numbers(types))
                    origin, edges = origin[kept], edges[kept]
                columns: Any = (rows.targets, rows.weights, rows.types, rows.numbers)
                way = np.full(edges.size, forward)
                found: Any = (origin, *(column[edges] for column in columns), way)
                parts.append(Around(*found))
        return parts[0] if len(parts) == 1 else Around(*map(np.concatenate, zip(*parts, strict=True)))

    def edges_of(self, nodes: IntArray) -> tuple[IntArray, IntArray]:
        """Return how many edges leave each of some nodes, and the positions of all, node by node."""
        begin = self.starts[nodes]
        degrees = self.starts[nodes + 1] - begin
        ends = np.cumsum(degrees)
        # Position k of row i is begin[i] + (k - the number of positions before row i).
        positions = np.repeat(begin - ends + degrees, degrees)
        return degrees, positions + np.arange(positions.size)

    def type_numbers(self, types: Sequence[str] | IntArray) -> IntArray:
        """Return the numbers of the named types."""
        if isinstance(types, np.ndarray):
            return types
        for index, name in enumerate(checks.texts("types", types)):
            checks.one_of(f"types[{index}]", name, self.type_names)
        return np.array([self.type_names.index(name) for name in types], np.intp)


def sums(places: IntArray, amounts: FloatArray, count: int) -> FloatArray:
    """Return the sum of the amounts at each of `count` places, added in the order given."""
    # Of nothing, numpy makes whole numbers.
    return np.bincount(places, amounts, count).astype(np.float64, copy=False)
