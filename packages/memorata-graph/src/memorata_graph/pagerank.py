"""PageRank, of the whole graph and from a few seeds.

PageRank is how often a reader who follows edges for ever comes by each node: Brin and Page, "The anatomy of a
large-scale hypertextual web search engine" (1998), by power iteration. A reader at a node without outgoing
edges goes on at any node at all, so the scores sum to 1; networkx treats them alike.

Personalised PageRank is how near every node is to a few seeds, over all paths at once, in two ways.
:func:`personalised_pagerank` iterates over the whole graph (Haveliwala, "Topic-sensitive PageRank", 2002).
:func:`local_push` keeps a residual of mass that has still to walk, and pushes it on from wherever there is
enough of it (Andersen, Chung, Lang, "Local graph partitioning using PageRank vectors", 2006); all nodes of a
round at once, and the nodes it never reaches cost nothing. :func:`seed_weights` says how much of the walk
begins at each entity: Memento's mix of what the entity is, what its memories say, and how well connected it
is.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from memorata.extend import frozen
from memorata.extend.errors import InvalidArgument
from memorata.extend.model import Declared, FloatArray, IntArray, Numbers, checks
from memorata_graph.adjacency import Adjacency, Nodes, checked_graph, sums, whole_numbers

_MIN_EPSILON = 1e-9
_MAX_DAMPING = 0.99
"""Nearer to 1, what walks on from a push is as good as all of it, and pushing would take for ever."""
_MIN_STRENGTH = 1e-9
"""Units of a mean edge that every node with edges counts as having; with less, mass would never rest."""

Damping = Annotated[
    float, Declared("How likely the reader follows an edge instead of starting again.", 0.5, 0.95)
]
Iterations = Annotated[int, Declared("After how many iterations to stop, converged or not.", 1, 1000)]
Tolerance = Annotated[
    float, Declared("The sum of all changes of one iteration at which the scores are final.", 1e-12, 1e-3)
]
Epsilon = Annotated[
    float, Declared("Residual per unit of degree that may stay where it is: the error bound.", 1e-7, 1e-2)
]


@frozen(eq=False)
class Ranking:
    """A score for every node, and whether the iteration converged."""

    scores: FloatArray
    """One per node; they sum to 1."""
    iterations: int
    converged: bool
    """Whether the last iteration changed less than the tolerance; else the scores are as far as they got."""


@frozen(eq=False)
class LocalRanking:
    """Scores of the nodes near the seeds; all others have 0."""

    nodes: IntArray
    """Ascending."""
    scores: FloatArray
    """Never above the exact ones."""
    residual: float
    """By how much all exact scores together exceed these."""


def pagerank(
    graph: Adjacency, *, damping: Damping = 0.85, iterations: Iterations = 100, tolerance: Tolerance = 1e-6
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
    >>> ranking = pagerank(Adjacency.of(3, [0, 1], [2, 2]))
    >>> ranking.scores.round(4).tolist(), ranking.converged
    ([0.2128, 0.2128, 0.5745], True)
    """
    checked_graph(graph)
    uniform = np.full(graph.nodes, 1.0 / max(graph.nodes, 1))
    return _power_iteration(graph, uniform, damping, iterations, tolerance)


def personalised_pagerank(
    graph: Adjacency,
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
        As for :func:`pagerank`.

    Examples
    --------
    >>> personalised_pagerank(Adjacency.of(3, [0, 1], [1, 0]), [0]).scores.round(3).tolist()
    [0.541, 0.459, 0.0]
    """
    nodes, shares = _seeds(graph, seeds, weights)
    restart = np.zeros(graph.nodes)
    restart[nodes] = shares
    return _power_iteration(graph, restart, damping, iterations, tolerance)


def local_push(
    graph: Adjacency,
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
    >>> near = local_push(Adjacency.of(4, [0, 1, 2, 3], [1, 0, 3, 2]), [0])
    >>> near.nodes.tolist(), near.scores.round(3).tolist(), near.residual < 2e-5
    ([0, 1], [0.541, 0.459], True)
    """
    nodes, shares = _seeds(graph, seeds, weights)
    damping = checks.within("damping", damping, 0.0, _MAX_DAMPING)
    epsilon = checks.within("epsilon", epsilon, _MIN_EPSILON, 1.0)
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
            degrees, at = rows.edges_of(active)
            targets = rows.targets[at]
            np.add.at(residual, targets, np.repeat(walking, degrees) * rows.weights[at])
            reached.append(targets)
        touched += reached[1:]
        active = _ready(graph, np.concatenate(reached), residual, epsilon, total)
    ranked = np.unique(np.concatenate(pushed))
    ranked = ranked[scores[ranked] > 0.0]
    kept_scores = scores[ranked]
    graph.give_back(scores, ranked)
    graph.give_back(residual, *touched)
    # Mass is only ever moved: what is not in the scores is still waiting to be.
    return LocalRanking(ranked, kept_scores, max(0.0, 1.0 - float(kept_scores.sum())))


def seed_weights(
    entity_similarity: Numbers,
    memory_similarity: Numbers,
    degrees: Numbers,
    *,
    entity_weight: Annotated[float, Declared("Weight of the entity's own cosine.", 0, 1)] = 0.5,
    memory_weight: Annotated[float, Declared("Weight of its memories' mean cosine.", 0, 1)] = 0.3,
    degree_weight: Annotated[float, Declared("Weight of how well connected it is.", 0, 1)] = 0.2,
) -> FloatArray:
    r"""Return the seeds' weights, which sum to 1.

    .. math:: 0.5 \cos(e, q) + 0.3\, \overline{\cos(m, q)} + 0.2\, \frac{\ln(1 + deg)}{\ln(1 + \max deg)}

    divided by their sum. Where no degree is above 1, the last term is 1 for an entity with an edge and 0
    without. An entity whose sum is below 0 points away from the query and gets 0; when none is above 0,
    all get the same.

    Parameters
    ----------
    entity_similarity
        Cosine of each entity with the query, from -1 to 1.
    memory_similarity
        Mean cosine of each entity's memories with the query, from -1 to 1; 0 for an entity without any.
    degrees
        How many edges each entity has.
    entity_weight, memory_weight, degree_weight
        At least 0 each, and not all 0.

    Examples
    --------
    0.5 + 0.3 + 0.2 · 1 = 1, and 0 + 0 + 0.2 · ln 2 / ln 4 = 0.1.

    >>> seed_weights([1.0, 0.0], [1.0, 0.0], [3, 1]).round(4).tolist()
    [0.9091, 0.0909]
    """
    entity = checks.all_within("entity_similarity", entity_similarity, -1.0, 1.0)
    memory = checks.all_within("memory_similarity", memory_similarity, -1.0, 1.0)
    degree = checks.counts("degrees", degrees)
    checks.same_length(entity_similarity=entity, memory_similarity=memory, degrees=degree)
    named_weights = {
        "entity_weight": entity_weight,
        "memory_weight": memory_weight,
        "degree_weight": degree_weight,
    }
    parts = [checks.at_least(argument, value, 0) for argument, value in named_weights.items()]
    shares = checks.weights("entity_weight", parts, 3)
    shares = shares / shares.sum()
    raw = np.maximum(shares[0] * entity + shares[1] * memory + shares[2] * _connectedness(degree), 0.0)
    total = raw.sum()
    return raw / total if total > 0 else np.full(raw.size, 1.0 / max(raw.size, 1))


def _power_iteration(
    graph: Adjacency, restart: FloatArray, damping: float, iterations: int, tolerance: float
) -> Ranking:
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


def _ready(graph: Adjacency, nodes: IntArray, residual: FloatArray, epsilon: float, total: float) -> IntArray:
    """Return those of `nodes`, once each, whose residual is enough to be pushed."""
    enough = residual[nodes] > epsilon * _units(_strengths(graph, nodes), total, graph.edges)
    return np.unique(nodes[enough])


def _strengths(graph: Adjacency, nodes: IntArray) -> FloatArray:
    first, *rest = graph.blocks()
    strengths = first.strengths_of(nodes)
    return strengths + rest[0].strengths_of(nodes) if rest else strengths


def _units(strengths: FloatArray, total: float, edges: int) -> FloatArray:
    """Return strengths in units of a mean edge; 1 for a node without edges, so that its mass rests too."""
    if not edges:
        return np.ones(strengths.size)
    return np.where(strengths > 0.0, np.maximum(strengths / total * edges, _MIN_STRENGTH), 1.0)


def _seeds(graph: Adjacency, seeds: Nodes, weights: Numbers | None) -> tuple[IntArray, FloatArray]:
    """Return the seeds and their weights, which sum to 1."""
    nodes = distinct_nodes("seeds", seeds, checked_graph(graph).nodes)
    if not nodes.size:
        raise InvalidArgument("seeds", seeds, "at least one node")
    amounts = np.ones(nodes.size) if weights is None else checks.counts("weights", weights)
    checks.same_length(seeds=nodes, weights=amounts)
    checked = checks.weights("weights", amounts, nodes.size)
    return nodes, checked / checked.sum()


def distinct_nodes(argument: str, values: object, count: int) -> IntArray:
    """Return nodes of a graph of `count` nodes, none of them twice."""
    array = whole_numbers(argument, values, count, "nodes")
    if array.size > 1:
        ordered = np.sort(array)
        twice = np.flatnonzero(ordered[1:] == ordered[:-1])
        if twice.size:
            raise InvalidArgument(argument, int(ordered[twice[0]]), "nodes that are named once each")
    return array


def _connectedness(degrees: FloatArray) -> FloatArray:
    max_degree = degrees.max(initial=0.0)
    return np.log1p(degrees) / np.log1p(max_degree) if max_degree > 1 else (degrees > 0).astype(np.float64)
