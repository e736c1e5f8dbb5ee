"""PageRank: how often a reader who follows edges for ever comes by each node.

Brin and Page, "The anatomy of a large-scale hypertextual web search engine" (1998), by power iteration. A
reader at a node without outgoing edges goes on at any node at all, so the scores sum to 1; networkx treats
them alike.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from memorata._frozen import frozen
from memorata.graph.adjacency import Graph, checked_graph
from memorata.graph.rows import sums
from memorata.model import checks
from memorata.model.checks import FloatArray
from memorata.model.parameter import Declared

Damping = Annotated[
    float, Declared("How likely the reader follows an edge instead of starting again.", 0.5, 0.95)
]
Iterations = Annotated[int, Declared("After how many iterations to stop, converged or not.", 1, 1000)]
Tolerance = Annotated[
    float, Declared("The sum of all changes of one iteration at which the scores are final.", 1e-12, 1e-3)
]


@frozen(eq=False)
class Ranking:
    """A score for every node, and how it was come by."""

    scores: FloatArray
    """One per node; they sum to 1."""
    iterations: int
    converged: bool
    """Whether the last iteration changed less than the tolerance; else the scores are as far as they got."""


def pagerank(
    graph: Graph, *, damping: Damping = 0.85, iterations: Iterations = 100, tolerance: Tolerance = 1e-6
) -> Ranking:
    r"""Return the PageRank of every node.

    .. math:: x_v = d \Big(\sum_{u \to v} \frac{w_{uv}}{s_u} x_u + \frac{1}{n} \sum_{s_u = 0} x_u\Big)
              + \frac{1 - d}{n}

    with :math:`s_u` the sum of the weights that leave u.

    Parameters
    ----------
    graph
        Edges are followed from source to target; take ``graph.undirected()`` to follow them both ways.
    damping
        From 0 to 1. At 1 nothing is ever started again, and a graph that swings to and fro does not converge.
    iterations
        At least 1.
    tolerance
        Above 0.

    Examples
    --------
    >>> found = pagerank(Graph.of(3, [0, 1], [2, 2]))
    >>> found.scores.round(4).tolist(), found.converged
    ([0.2128, 0.2128, 0.5745], True)
    """
    checked_graph(graph)
    uniform = np.full(graph.nodes, 1.0 / max(graph.nodes, 1))
    return settled(graph, uniform, damping, iterations, tolerance)


def settled(graph: Graph, restart: FloatArray, damping: float, iterations: int, tolerance: float) -> Ranking:
    """Return the scores of a reader who starts again, and leaves dead ends, by the distribution `restart`."""
    damping = checks.probability("damping", damping)
    iterations = checks.whole("iterations", iterations, 1)
    tolerance = checks.above("tolerance", tolerance, 0)
    if not graph.nodes:
        return Ranking(np.empty(0), 0, True)
    rows = graph.compact().base
    degrees = np.diff(rows.starts)
    followed = damping * rows.weights / np.repeat(rows.strengths, degrees)
    scores = restart
    for iteration in range(1, iterations + 1):
        fresh = sums(rows.targets, np.repeat(scores, degrees) * followed, graph.nodes)
        # What did not follow an edge starts again: the undamped part, dead ends, and what rounding lost.
        fresh += (1.0 - fresh.sum()) * restart
        change = float(np.abs(fresh - scores).sum())
        scores = fresh
        if change < tolerance:
            return Ranking(scores, iteration, True)
    return Ranking(scores, iterations, False)
