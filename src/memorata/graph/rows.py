"""Edges ordered by the node they leave: the compressed sparse rows that every algorithm here walks over.

The format is the one of Gustavson, "Two fast algorithms for sparse matrices" (1978): all edges in one array
per property, a node's edges side by side, and an array of where each row begins. A block of edges either has
a row for every node, or, where a few edges are added to a large graph, rows for the few nodes in `keys` only.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from memorata._frozen import frozen
from memorata.model.checks import FloatArray, IntArray

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


@frozen(eq=False)
class Rows:
    """A block of edges, row by row; one element of each array per edge, unless said otherwise."""

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
    def of(
        cls,
        sources: IntArray,
        targets: IntArray,
        weights: FloatArray,
        types: TypeArray,
        edges: IntArray,
        *,
        count: int | None,
    ) -> Rows:
        """Return the rows of a checked edge list, each row in the list's order.

        `count` nodes get a row; None gives one to the nodes that edges leave.
        """
        if sources.size > 1 and (sources[1:] < sources[:-1]).any():
            sources, order = in_order(sources, int(sources.max()) + 1)
            targets, weights, types, edges = targets[order], weights[order], types[order], edges[order]
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
        made = (starts, targets, weights, types, edges, strengths)
        for array in made if keys is None else (keys, *made):
            array.flags.writeable = False
        return cls(keys, *made, float(strengths.sum()))

    def __len__(self) -> int:
        return self.targets.size

    def sources(self) -> IntArray:
        """Return the node that each edge leaves."""
        degrees = np.diff(self.starts)
        return np.repeat(np.arange(degrees.size) if self.keys is None else self.keys, degrees)

    def turned(self, count: int | None) -> Rows:
        """Return the same edges by the node they lead to, with the node they leave as target."""
        return Rows.of(self.targets, self.sources(), self.weights, self.types, self.edges, count=count)

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
