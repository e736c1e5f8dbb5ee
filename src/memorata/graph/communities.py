"""Communities: groups of nodes that are tied to each other more than to the rest, in levels that nest.

Label propagation (:mod:`memorata.graph.label_propagation`) on the graph, then on the graph whose nodes are
the communities of the level below, and so on, as Blondel and others do for modularity, "Fast unfolding of
communities in large networks" (2008). A community of one level is a union of communities of the level below.
Modularity, how much more weight lies inside communities than chance would put there, is that of Newman and
Girvan, "Finding and evaluating community structure in networks" (2004), with the resolution of Reichardt and
Bornholdt (2006).

:func:`leiden` is that of Traag, Waltman, van Eck, "From Louvain to Leiden: guaranteeing well-connected
communities" (2019), as implemented in graspologic-native (MIT licence, wheels for the usual platforms). It
climbs to a high modularity in one level, and every community it finds is connected; an extra, because it
needs compiled code.
"""

from __future__ import annotations

import importlib
from typing import Annotated

import numpy as np

from memorata._frozen import frozen
from memorata.graph.adjacency import Graph, checked_graph
from memorata.graph.label_propagation import UndirectedEdges, propagated_labels
from memorata.graph.rows import sums
from memorata.model import checks
from memorata.model.checks import FloatArray, IntArray
from memorata.model.errors import InvalidArgument, MissingExtra
from memorata.model.parameter import Declared

_MAX_LEVELS = 20
_MAX_ROUNDS = 10_000
_MAX_SEED = 2**63 - 1
_MAX_ITERATIONS = 1000
_MIN_RESOLUTION, _MAX_RESOLUTION = 1e-6, 1e6
_REQUIREMENT = "'memorata[communities]'"

Resolution = Annotated[
    float, Declared("How much is expected by chance: more of it makes smaller communities.", 0.0, 3.0)
]
Levels = Annotated[int, Declared("How many levels of communities, the finest first.", 1, 5)]
Rounds = Annotated[int, Declared("After how many rounds to stop, settled or not.", 1, 100)]
Seed = Annotated[int, Declared("Decides ties and order; the same seed gives the same communities.", 0, 1000)]


@frozen(eq=False)
class Partition:
    """A community for each node."""

    labels: IntArray
    """Communities are numbered from 0 in the order of their first nodes."""
    modularity: float

    @property
    def count(self) -> int:
        """How many communities there are."""
        return int(self.labels.max(initial=-1)) + 1

    def members(self) -> tuple[IntArray, ...]:
        """Return the nodes of each community, ascending."""
        order = np.argsort(self.labels, kind="stable")
        return tuple(np.split(order, np.flatnonzero(np.diff(self.labels[order])) + 1)) if order.size else ()


@frozen(eq=False)
class Level(Partition):
    """One level of communities, and whether label propagation ended by itself."""

    rounds: int
    converged: bool
    """Whether no node had a better label when it ended; otherwise the rounds were used up."""


def communities(
    graph: Graph,
    *,
    levels: Levels = 3,
    resolution: Resolution = 1.0,
    rounds: Rounds = 100,
    seed: Seed = 0,
) -> tuple[Level, ...]:
    r"""Return communities by label propagation, level by level, the finest first.

    A node u takes the label l of the largest :math:`\sum_{v \in l} w_{uv} - \gamma\, s_u S_l / 2m`, with
    :math:`S_l` the strength of the other nodes of that label; of equals its own if it is among them.

    Parameters
    ----------
    graph
        Edges are read without their direction; those of both directions, and parallel ones, add up.
    levels
        From 1 to 20. A level that finds nothing to join is the same as the one below it.
    resolution
        :math:`\gamma`, at least 0. With 1 labels follow modularity; 0 is label propagation as first
        published, which on dense graphs ends with one community for all.
    rounds
        For each level, from 1 to 10,000.
    seed
        The same graph and seed give the same communities.

    Examples
    --------
    Two triangles and a bridge.

    >>> graph = Graph.of(6, [0, 1, 2, 3, 4, 5, 2], [1, 2, 0, 4, 5, 3, 3])
    >>> finest, *_ = communities(graph)
    >>> finest.labels.tolist(), round(finest.modularity, 4), finest.converged
    ([0, 0, 0, 1, 1, 1], 0.3571, True)
    """
    checked_graph(graph)
    levels = _integer("levels", levels, 1, _MAX_LEVELS)
    rounds = _integer("rounds", rounds, 1, _MAX_ROUNDS)
    seed = _integer("seed", seed, 0, _MAX_SEED)
    resolution = checks.at_least("resolution", resolution, 0)
    sources, targets, weights, _, _ = graph.listed()
    labels = np.arange(graph.nodes)
    count, one, other = graph.nodes, sources, targets
    result: list[Level] = []
    for _ in range(levels):
        with checks.finite_arithmetic("resolution", resolution):
            edges = UndirectedEdges.of(count, one, other, weights)
            fresh, taken, converged = propagated_labels(edges, resolution, rounds, seed)
            fresh = renumbered(fresh)
            labels = fresh[labels]
            reached = modularity((sources, targets, weights), labels, resolution)
        result.append(Level(labels, reached, taken, converged))
        count, one, other = int(fresh.max(initial=-1)) + 1, fresh[one], fresh[other]
    return tuple(result)


def leiden(graph: Graph, *, resolution: Resolution = 1.0, iterations: int = 2, seed: Seed = 0) -> Partition:
    """Return communities of high modularity, the edges read without their direction.

    Parameters
    ----------
    graph
        Those of both directions, and parallel edges, add up; loops are left to the modularity that is
        reported.
    resolution
        From 1e-6 to 1e6; more makes smaller communities.
    iterations
        How often the whole procedure is applied to its own result, from 1 to 1,000.
    seed
        The same graph and seed give the same communities.

    Raises
    ------
    MissingExtra
        The library is not installed; the message says what to install.

    Examples
    --------
    >>> graph = Graph.of(6, [0, 1, 2, 3, 4, 5, 2], [1, 2, 0, 4, 5, 3, 3])
    >>> leiden(graph).labels.tolist()
    [0, 0, 0, 1, 1, 1]
    """
    checked_graph(graph)
    resolution = checks.within("resolution", resolution, _MIN_RESOLUTION, _MAX_RESOLUTION)
    iterations = _integer("iterations", iterations, 1, _MAX_ITERATIONS)
    seed = _integer("seed", seed, 0, _MAX_SEED)
    try:
        library = importlib.import_module("graspologic_native")
    except ImportError as error:
        raise MissingExtra("The Leiden algorithm", _REQUIREMENT) from error
    sources, targets, weights, _, _ = graph.listed()
    labels = np.arange(graph.nodes)
    edges = UndirectedEdges.of(graph.nodes, sources, targets, weights)
    real = edges.weights > 0.0
    if real.any():
        # The loops that label propagation needs would be edges here. What the library does not name is alone.
        before = np.append(0, np.cumsum(real))
        _, label_of = library.leiden_csr(
            before[edges.starts].astype(np.int64),
            edges.targets[real].astype(np.int32),
            edges.weights[real],
            graph.nodes,
            resolution=resolution,
            iterations=iterations,
            seed=seed,
        )
        nodes = np.fromiter(label_of, dtype=np.intp, count=len(label_of))
        labels[nodes] = graph.nodes + np.fromiter(label_of.values(), dtype=np.intp, count=len(label_of))
    labels = renumbered(labels)
    with checks.finite_arithmetic("resolution", resolution):
        return Partition(labels, modularity((sources, targets, weights), labels, resolution))


def modularity(edges: tuple[IntArray, IntArray, FloatArray], labels: IntArray, resolution: float) -> float:
    r"""Return the modularity of labels, given checked sources, targets and weights read without direction.

    .. math:: Q = \sum_c \left( \frac{W_c}{m} - \gamma \Big(\frac{S_c}{2m}\Big)^2 \right)

    with :math:`W_c` the weight of the edges inside community c, :math:`S_c` the weight of the edge ends in
    it, and :math:`m` the weight of all edges. Without edges it is 0.
    """
    sources, targets, weights = edges
    if not weights.size:
        return 0.0
    # In units of the whole weight, so that no square can overflow.
    shares = weights / weights.sum()
    one, other = labels[sources], labels[targets]
    ends = sums(np.concatenate([one, other]), np.concatenate([shares, shares]), labels.size)
    return float(shares[one == other].sum() - resolution * np.square(ends / 2.0).sum())


def renumbered(labels: IntArray) -> IntArray:
    """Return the same partition with communities numbered from 0 in the order of their first nodes."""
    _, first, places = np.unique(labels, return_index=True, return_inverse=True)
    numbers = np.empty(first.size, dtype=np.intp)
    numbers[np.argsort(first)] = np.arange(first.size)
    return numbers[places]


def _integer(argument: str, value: object, low: int, high: int) -> int:
    checked = checks.whole(argument, value, low)
    if checked > high:
        raise InvalidArgument(argument, value, f"a whole number from {low} to {high}")
    return checked
