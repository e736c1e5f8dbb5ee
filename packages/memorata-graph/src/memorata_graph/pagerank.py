"""PageRank, of the whole graph and from a few seeds.

PageRank is how often a reader who follows edges for ever comes by each node: Brin and Page, "The anatomy of a
large-scale hypertextual web search engine" (1998), by power iteration. A reader at a node without outgoing
edges goes on at any node at all, so the scores sum to 1; networkx treats them alike, and tests compare.

Personalised PageRank is how near every node is to a few seeds, over all paths at once, in two ways.
:func:`personalised_pagerank` iterates over the whole graph (Haveliwala, "Topic-sensitive PageRank", 2002).
:func:`local_push` keeps a residual of mass that has still to walk, and pushes it on from wherever there is
enough of it (Andersen, Chung, Lang, "Local graph partitioning using PageRank vectors", 2006).
:func:`seed_weights` is how much of the walk begins at each entity: Memento's mix of the entity, its memories,
and its connections.
"""

from __future__ import annotations

import numpy as np

from memorata.extend import frozen
from memorata.extend.errors import InvalidArgument
from memorata.extend.model import FloatArray, IntArray, Numbers, checks
from memorata_graph.adjacency import Adjacency, Nodes, sums

_MIN_EPSILON = 1e-9
_MAX_DAMPING = 0.99
"""Nearer to 1, what walks on from a push is as good as all of it, and pushing would take for ever."""
_MIN_STRENGTH = 1e-9
"""Units of a mean edge that every node with edges counts as having; with less, mass would never rest."""


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
    graph: Adjacency, *, damping: float = 0.85, iterations: int = 100, tolerance: float = 1e-6
) -> Ranking:
    r"""Return the PageRank of every node.

    .. math:: x_v = d \Big(\sum_{u \to v} \frac{w_{uv}}{s_u} x_u + \frac{1}{n} \sum_{s_u = 0} x_u\Big)
              + \frac{1 - d}{n}

    with :math:`s_u` the sum of the weights that leave u. Edges are followed from source to target; take
    `both_ways` of a graph to follow them both ways.

    Examples
    --------
    >>> ranking = pagerank(Adjacency.of(3, [0, 1], [2, 2]))
    >>> ranking.scores.round(4).tolist(), ranking.converged
    ([0.2128, 0.2128, 0.5745], True)
    """
    return _iterated(graph, np.full(graph.nodes, 1.0 / max(graph.nodes, 1)), damping, iterations, tolerance)


def personalised_pagerank(
    graph: Adjacency,
    seeds: Nodes,
    weights: Numbers | None = None,
    *,
    damping: float = 0.85,
    iterations: int = 100,
    tolerance: float = 1e-6,
) -> Ranking:
    r"""Return the score of every node for a reader who always starts again at a seed.

    .. math:: x_v = d \Big(\sum_{u \to v} \frac{w_{uv}}{s_u} x_u + p_v \sum_{s_u = 0} x_u\Big) + (1 - d) p_v

    with :math:`p` the seeds' weights, divided by their sum: from a dead end, too, one goes back to a seed.

    Examples
    --------
    >>> personalised_pagerank(Adjacency.of(3, [0, 1], [1, 0]), [0]).scores.round(3).tolist()
    [0.541, 0.459, 0.0]
    """
    nodes, shares = _seeds(graph, seeds, weights)
    restart = np.zeros(graph.nodes)
    restart[nodes] = shares
    return _iterated(graph, restart, damping, iterations, tolerance)


def local_push(
    graph: Adjacency,
    seeds: Nodes,
    weights: Numbers | None = None,
    *,
    damping: float = 0.85,
    epsilon: float = 1e-5,
) -> LocalRanking:
    r"""Return the scores near the seeds, looking at their neighbourhood only.

    A node u with residual :math:`r_u > \varepsilon\, s_u / \bar w` keeps :math:`(1 - d)\, r_u` as score and
    gives :math:`d\, r_u\, w_{uv} / s_u` to each v it leads to (to the seeds, when it leads nowhere), where
    :math:`\bar w` is the mean weight of all edges: without weights, :math:`s_u / \bar w` is the degree. (A
    node with edges counts as having at least 1e-9 of a mean one.)

    At the end no score is above the exact one, and together they lack exactly `residual`. On a graph whose
    edges all go both ways, and where every seed has one, each single score moreover lacks at most
    :math:`\varepsilon\, s_v / \bar w`. At most :math:`1 / ((1 - d)\, \varepsilon)` units of degree are looked
    at, however large the graph is. Damping is at most 0.99, epsilon at least 1e-9.

    Examples
    --------
    >>> near = local_push(Adjacency.of(4, [0, 1, 2, 3], [1, 0, 3, 2]), [0])
    >>> near.nodes.tolist(), near.scores.round(3).tolist(), near.residual < 2e-5
    ([0, 1], [0.541, 0.459], True)
    """
    nodes, shares = _seeds(graph, seeds, weights)
    damping = checks.within("damping", damping, 0.0, _MAX_DAMPING)
    epsilon = checks.within("epsilon", epsilon, _MIN_EPSILON, 1.0)
    scores, residual = np.zeros(graph.nodes), np.zeros(graph.nodes)
    residual[nodes] = shares
    pushed = [nodes]
    active = _ready(graph, nodes, residual, epsilon)
    while active.size:
        pushed.append(active)
        strengths, amount = graph.strengths[active], residual[active]
        residual[active] = 0.0
        scores[active] += (1.0 - damping) * amount
        walking = damping * amount
        stuck = strengths == 0.0
        back = float(walking[stuck].sum())
        np.divide(walking, strengths, out=walking, where=~stuck)
        residual[nodes] += back * shares
        degrees, at = graph.edges_of(active)
        targets = graph.targets[at]
        np.add.at(residual, targets, np.repeat(walking, degrees) * graph.weights[at])
        active = _ready(graph, np.concatenate([nodes, targets]), residual, epsilon)
    ranked = np.unique(np.concatenate(pushed))
    ranked = ranked[scores[ranked] > 0.0]
    # Mass is only ever moved: what is not in the scores is still waiting to be.
    return LocalRanking(ranked, scores[ranked], max(0.0, 1.0 - float(scores[ranked].sum())))


def seed_weights(
    entity_similarity: Numbers,
    memory_similarity: Numbers,
    degrees: Numbers,
    *,
    entity_weight: float = 0.5,
    memory_weight: float = 0.3,
    degree_weight: float = 0.2,
) -> FloatArray:
    r"""Return the seeds' weights, which sum to 1.

    .. math:: 0.5 \cos(e, q) + 0.3\, \overline{\cos(m, q)} + 0.2\, \frac{\ln(1 + deg)}{\ln(1 + \max deg)}

    divided by their sum. Where no degree is above 1, the last term is 1 for an entity with an edge and 0
    without. An entity whose sum is below 0 points away from the query and gets 0; when none is above 0,
    all get the same.

    Parameters
    ----------
    entity_similarity, memory_similarity
        Cosine of each entity, and mean cosine of its memories, with the query; 0 for one without memories.
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
    entity, memory, degree = (
        np.asarray(values, np.float64) for values in (entity_similarity, memory_similarity, degrees)
    )
    shares = checks.weights("entity_weight", [entity_weight, memory_weight, degree_weight], 3)
    shares = shares / shares.sum()
    most = degree.max(initial=0.0)
    tied = np.log1p(degree) / np.log1p(most) if most > 1 else (degree > 0).astype(np.float64)
    raw: FloatArray = np.maximum(shares[0] * entity + shares[1] * memory + shares[2] * tied, 0.0)
    total = raw.sum()
    return raw / total if total > 0 else np.full(raw.size, 1.0 / max(raw.size, 1))


def _iterated(
    graph: Adjacency, restart: FloatArray, damping: float, iterations: int, tolerance: float
) -> Ranking:
    """Return the scores of a reader who starts again, and leaves dead ends, by the distribution `restart`."""
    damping = checks.probability("damping", damping)
    iterations = checks.whole("iterations", iterations, 1)
    tolerance = checks.above("tolerance", tolerance, 0)
    if not graph.nodes:
        return Ranking(np.empty(0), 0, True)
    followed = damping * graph.weights / graph.strengths[graph.sources]
    scores = restart
    for iteration in range(1, iterations + 1):
        fresh = sums(graph.targets, scores[graph.sources] * followed, graph.nodes)
        # What did not follow an edge starts again: the undamped part, dead ends, and what rounding lost.
        fresh += (1.0 - fresh.sum()) * restart
        change = float(np.abs(fresh - scores).sum())
        scores = fresh
        if change < tolerance:
            return Ranking(scores, iteration, True)
    return Ranking(scores, iterations, False)


def _ready(graph: Adjacency, nodes: IntArray, residual: FloatArray, epsilon: float) -> IntArray:
    """Return some nodes, once each, whose residual is enough to be pushed.

    Strengths are in units of a mean edge; 1 for a node without edges, so that its mass rests too.
    """
    strengths = graph.strengths[nodes]
    units = np.ones(nodes.size)
    if graph.edges:
        units = np.where(
            strengths > 0.0, np.maximum(strengths / graph.total * graph.edges, _MIN_STRENGTH), 1.0
        )
    return np.unique(nodes[residual[nodes] > epsilon * units])


def _seeds(graph: Adjacency, seeds: Nodes, weights: Numbers | None) -> tuple[IntArray, FloatArray]:
    """Return the seeds and their weights, which sum to 1."""
    nodes = np.asarray(seeds, np.intp)
    if not nodes.size or np.unique(nodes).size < nodes.size or nodes.min() < 0 or nodes.max() >= graph.nodes:
        raise InvalidArgument("seeds", nodes.tolist(), f"one or more of {graph.nodes} nodes, each once")
    amounts = np.ones(nodes.size) if weights is None else checks.counts("weights", weights)
    checks.same_length(seeds=nodes, weights=amounts)
    checked = checks.weights("weights", amounts, nodes.size)
    return nodes, checked / checked.sum()
