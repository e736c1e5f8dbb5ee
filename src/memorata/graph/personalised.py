"""Personalised PageRank: how near every node is to a few seeds, over all paths at once.

Two ways to the same scores. :func:`personalised_pagerank` iterates over the whole graph (Haveliwala,
"Topic-sensitive PageRank", 2002). :func:`local_push` keeps a residual of mass that has still to walk, and
pushes it on from wherever there is enough of it (Andersen, Chung, Lang, "Local graph partitioning using
PageRank vectors", 2006); all nodes of a round at once, and the nodes it never reaches cost nothing.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from memorata._frozen import frozen
from memorata.graph.adjacency import Graph, checked_graph
from memorata.graph.arguments import Nodes, distinct_nodes
from memorata.graph.pagerank import Damping, Iterations, Ranking, Tolerance, settled
from memorata.model import checks
from memorata.model.checks import FloatArray, IntArray, Numbers
from memorata.model.errors import InvalidArgument
from memorata.model.parameter import Declared

_FINEST = 1e-9
_MOST_DAMPING = 0.99
"""Nearer to 1, what walks on from a push is as good as all of it, and pushing would take for ever."""
_WEAKEST = 1e-9
"""Units of a mean edge that every node with edges counts as having; with less, mass would never rest."""

Epsilon = Annotated[
    float, Declared("Residual per unit of degree that may stay where it is: the error bound.", 1e-7, 1e-2)
]


@frozen(eq=False)
class LocalRanking:
    """Scores of the nodes near the seeds; all others have 0."""

    nodes: IntArray
    """Ascending."""
    scores: FloatArray
    """Never above the exact ones."""
    residual: float
    """By how much all exact scores together exceed these."""


def personalised_pagerank(
    graph: Graph,
    seeds: Nodes,
    weights: Numbers | None = None,
    *,
    damping: Damping = 0.85,
    iterations: Iterations = 100,
    tolerance: Tolerance = 1e-6,
) -> Ranking:
    r"""Return the score of every node for a reader who always starts again at a seed.

    .. math:: x_v = d \Big(\sum_{u \to v} \frac{w_{uv}}{s_u} x_u + p_v \sum_{s_u = 0} x_u\Big) + (1 - d) p_v

    with :math:`p` the seeds' weights, divided by their sum: from a dead end, too, one goes back to a seed.

    Parameters
    ----------
    graph
        Edges are followed from source to target.
    seeds
        At least one node, each named once.
    weights
        One for each seed, not negative and not all zero; equal when not given.
    damping, iterations, tolerance
        As for :func:`~memorata.graph.pagerank.pagerank`.

    Examples
    --------
    >>> personalised_pagerank(Graph.of(3, [0, 1], [1, 0]), [0]).scores.round(3).tolist()
    [0.541, 0.459, 0.0]
    """
    nodes, shares = _seeds(graph, seeds, weights)
    restart = np.zeros(graph.nodes)
    restart[nodes] = shares
    return settled(graph, restart, damping, iterations, tolerance)


def local_push(
    graph: Graph,
    seeds: Nodes,
    weights: Numbers | None = None,
    *,
    damping: Damping = 0.85,
    epsilon: Epsilon = 1e-5,
) -> LocalRanking:
    r"""Return the scores near the seeds, looking at their neighbourhood only.

    A node u with residual :math:`r_u > \varepsilon\, s_u / \bar w` keeps :math:`(1 - d)\, r_u` as score and
    gives :math:`d\, r_u\, w_{uv} / s_u` to each v it leads to (to the seeds, when it leads nowhere), where
    :math:`\bar w` is the mean weight of all edges: without weights, :math:`s_u / \bar w` is the degree. (A
    node with edges counts as having at least 1e-9 of a mean one.)

    At the end no score is above the exact one, and together they lack exactly `residual`. On a graph whose
    edges all go both ways, and where every seed has one, each single score moreover lacks at most
    :math:`\varepsilon\, s_v / \bar w`. At most :math:`1 / ((1 - d)\, \varepsilon)` units of degree are looked
    at, however large the graph is.

    Parameters
    ----------
    graph
        Edges are followed from source to target.
    seeds, weights
        As for :func:`personalised_pagerank`.
    damping
        From 0 to 0.99.
    epsilon
        From 1e-9 to 1.

    Examples
    --------
    >>> near = local_push(Graph.of(4, [0, 1, 2, 3], [1, 0, 3, 2]), [0])
    >>> near.nodes.tolist(), near.scores.round(3).tolist(), near.residual < 2e-5
    ([0, 1], [0.541, 0.459], True)
    """
    nodes, shares = _seeds(graph, seeds, weights)
    damping = checks.within("damping", damping, 0.0, _MOST_DAMPING)
    epsilon = checks.within("epsilon", epsilon, _FINEST, 1.0)
    blocks = graph.blocks()
    total = sum(rows.total for rows in blocks)
    scores, residual = graph.zeros(), graph.zeros()
    residual[nodes] = shares
    pushed, touched = [nodes], [nodes]
    active = _ready(graph, nodes, residual, epsilon, total)
    while active.size:
        pushed.append(active)
        strengths = _strengths(graph, active)
        amount = residual[active]
        residual[active] = 0.0
        scores[active] += (1.0 - damping) * amount
        walking = damping * amount
        stuck = strengths == 0.0
        back = float(walking[stuck].sum())
        np.divide(walking, strengths, out=walking, where=~stuck)
        residual[nodes] += back * shares
        reached = [nodes]
        for rows in blocks:
            degrees, at = rows.found(active)
            targets = rows.targets[at]
            np.add.at(residual, targets, np.repeat(walking, degrees) * rows.weights[at])
            reached.append(targets)
        touched += reached[1:]
        active = _ready(graph, np.concatenate(reached), residual, epsilon, total)
    found = np.unique(np.concatenate(pushed))
    found = found[scores[found] > 0.0]
    kept = scores[found]
    graph.give_back(scores, found)
    graph.give_back(residual, *touched)
    # Mass is only ever moved: what is not in the scores is still waiting to be.
    return LocalRanking(found, kept, max(0.0, 1.0 - float(kept.sum())))


def _ready(graph: Graph, nodes: IntArray, residual: FloatArray, epsilon: float, total: float) -> IntArray:
    """Return those of `nodes`, once each, whose residual is enough to be pushed."""
    enough = residual[nodes] > epsilon * _units(_strengths(graph, nodes), total, graph.edges)
    return np.unique(nodes[enough])


def _strengths(graph: Graph, nodes: IntArray) -> FloatArray:
    first, *rest = graph.blocks()
    strengths = first.strengths_of(nodes)
    return strengths + rest[0].strengths_of(nodes) if rest else strengths


def _units(strengths: FloatArray, total: float, edges: int) -> FloatArray:
    """Return strengths in units of a mean edge; 1 for a node without edges, so that its mass rests too."""
    if not edges:
        return np.ones(strengths.size)
    return np.where(strengths > 0.0, np.maximum(strengths / total * edges, _WEAKEST), 1.0)


def _seeds(graph: Graph, seeds: Nodes, weights: Numbers | None) -> tuple[IntArray, FloatArray]:
    """Return the seeds and their weights, which sum to 1."""
    nodes = distinct_nodes("seeds", seeds, checked_graph(graph).nodes)
    if not nodes.size:
        raise InvalidArgument("seeds", seeds, "at least one node")
    given = np.ones(nodes.size) if weights is None else checks.counts("weights", weights)
    checks.same_length(seeds=nodes, weights=given)
    checked = checks.weights("weights", given, nodes.size)
    return nodes, checked / checked.sum()
