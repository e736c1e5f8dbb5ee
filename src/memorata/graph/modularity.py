"""Modularity: how much more weight lies inside communities than chance would put there.

Newman and Girvan, "Finding and evaluating community structure in networks" (2004), with the resolution of
Reichardt and Bornholdt (2006).
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from memorata.graph.adjacency import Graph, checked_graph
from memorata.graph.arguments import Nodes, whole_numbers
from memorata.graph.rows import sums
from memorata.model import checks
from memorata.model.checks import FloatArray, IntArray
from memorata.model.parameter import Declared

Resolution = Annotated[
    float, Declared("How much is expected by chance: more of it makes smaller communities.", 0.0, 3.0)
]


def modularity(graph: Graph, labels: Nodes, *, resolution: Resolution = 1.0) -> float:
    r"""Return the modularity of a partition, the edges read without their direction.

    .. math:: Q = \sum_c \left( \frac{W_c}{m} - \gamma \Big(\frac{S_c}{2m}\Big)^2 \right)

    with :math:`W_c` the weight of the edges inside community c, :math:`S_c` the weight of the edge ends in
    it, and :math:`m` the weight of all edges. Every edge of the graph counts once: give the graph as it was
    made, not ``undirected()``. Without edges it is 0.

    Parameters
    ----------
    graph
        The graph.
    labels
        The community of each node, whole numbers from 0 and below the number of nodes.
    resolution
        At least 0.

    Examples
    --------
    Two triangles and a bridge: 2 · (3/7 - (7/14)²) = 5/14.

    >>> graph = Graph.of(6, [0, 1, 2, 3, 4, 5, 2], [1, 2, 0, 4, 5, 3, 3])
    >>> round(modularity(graph, [0, 0, 0, 1, 1, 1]), 4)
    0.3571
    """
    checked_graph(graph)
    checked = whole_numbers("labels", labels, graph.nodes, "communities")
    checks.same_length(nodes=range(graph.nodes), labels=checked)
    resolution = checks.at_least("resolution", resolution, 0)
    with checks.finite_arithmetic("resolution", resolution):
        return modularity_of(graph.listed()[:3], checked, resolution)


def modularity_of(edges: tuple[IntArray, IntArray, FloatArray], labels: IntArray, resolution: float) -> float:
    """Return the modularity of checked sources, targets and weights."""
    sources, targets, weights = edges
    if not weights.size:
        return 0.0
    # In units of the whole weight, so that no square can overflow.
    shares = weights / weights.sum()
    one, other = labels[sources], labels[targets]
    ends = sums(np.concatenate([one, other]), np.concatenate([shares, shares]), labels.size)
    return float(shares[one == other].sum() - resolution * np.square(ends / 2.0).sum())
