"""Edges ordered by the node they leave: the compressed sparse rows that every algorithm here walks over.

The format is the one of Gustavson, "Two fast algorithms for sparse matrices" (1978): all edges in one array
per property, a node's edges side by side, and an array of where each row begins. A block of edges either has
a row for every node, or, where a few edges are added to a large graph, rows for the few nodes in `keys` only.

Checks of nodes, directions and edge types.

Nodes are whole numbers from 0 and below the graph's node count. An unknown one raises here, so that no
algorithm wraps around to the last row on -1 or reads past the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.checks import FloatArray, IntArray
from memorata.model.errors import InvalidArgument

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
        columns = (starts, targets, weights, types, edges, strengths)
        for array in columns if keys is None else (keys, *columns):
            array.flags.writeable = False
        return cls(keys, *columns, float(strengths.sum()))

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
        raise InvalidArgument(f"{argument}[{bad}]", array[bad].item(), _one_of(below, what))
    return array.astype(np.intp, copy=False)


def node(argument: str, value: object, count: int) -> int:
    """Return one node of a graph of `count` nodes."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or not 0 <= value < count:
        raise InvalidArgument(argument, value, _one_of(count, "nodes"))
    return int(value)


def distinct_nodes(argument: str, values: object, count: int) -> IntArray:
    """Return nodes of a graph of `count` nodes, none of them twice."""
    array = whole_numbers(argument, values, count, "nodes")
    if array.size > 1:
        ordered = np.sort(array)
        twice = np.flatnonzero(ordered[1:] == ordered[:-1])
        if twice.size:
            raise InvalidArgument(argument, int(ordered[twice[0]]), "nodes that are named once each")
    return array


def type_numbers(argument: str, values: Sequence[str] | None, names: Sequence[str]) -> IntArray | None:
    """Return the numbers of the named edge types; None, for all of them, stays None."""
    if values is None:
        return None
    chosen = checks.texts(argument, values)
    for index, name in enumerate(chosen):
        checks.one_of(f"{argument}[{index}]", name, names)
    return np.array([names.index(name) for name in chosen], dtype=np.intp)


def _one_of(count: int, what: str) -> str:
    return f"one of the {count} {what} (0 to {count - 1})" if count else f"nothing, for there are no {what}"
