"""Communities: groups of nodes that are tied to each other more than to the rest, in levels that nest.

Label propagation: every node takes the label that weighs most among its neighbours, until none changes
(Raghavan, Albert, Kumara, "Near linear time algorithm to detect community structures in large-scale
networks", 2007). Left to itself one label floods a dense graph: of 1,005 people who write e-mails to each
other (email-eu-core), 986 end up with the same. Barber and Clark, "Detecting network communities by
propagating labels under constraints" (2009), weigh a label less the more of the graph already has it; then a
node that changes its label raises the modularity. `resolution` 0 is the first, 1 the second. All at once,
neighbours would swap labels for ever; one after the other, nothing is vectorised. So the nodes are dealt into
a few parts anew in each round, and the nodes of one part change together, seeing what the parts before did.

It runs on the graph, then on the graph whose nodes are the communities of the level below, and so on, as
Blondel and others do for modularity, "Fast unfolding of communities in large networks" (2008). A community of
one level is a union of communities of the level below. Modularity, how much more weight lies inside
communities than chance would put there, is that of Newman and Girvan, "Finding and evaluating community
structure in networks" (2004), with the resolution of Reichardt and Bornholdt (2006).

:func:`leiden` is that of Traag, Waltman, van Eck, "From Louvain to Leiden: guaranteeing well-connected
communities" (2019), as implemented in graspologic-native (MIT licence, wheels for the usual platforms). It
climbs to a high modularity in one level, and every community it finds is connected; an extra, because it
needs compiled code. Label propagation of networkx has neither a resolution nor a limit of rounds, and takes a
graph of Python objects.
"""

from __future__ import annotations

import importlib

import numpy as np

from memorata.extend import frozen
from memorata.extend.errors import InvalidArgument, MissingExtra
from memorata.extend.model import BoolArray, FloatArray, IntArray, checks
from memorata_graph.adjacency import Adjacency, sums

_PARTS = 8
_TIE_TOLERANCE = 1e-9
"""Labels whose weights differ by less than this part of a node's strength weigh the same."""


@frozen(eq=False)
class UndirectedEdges:
    """An undirected graph to propagate labels on: each edge from both ends, parallel ones joined.

    Every node has one loop, of weight 0: so its own label is among those it may choose.
    """

    starts: IntArray
    targets: IntArray
    weights: FloatArray
    strengths: FloatArray
    """Weight of the edge ends at each node, those of loops counted twice."""

    @classmethod
    def of(cls, count: int, sources: IntArray, targets: IntArray, weights: FloatArray) -> UndirectedEdges:
        """Return a directed edge list over `count` nodes without directions, in units of its whole weight."""
        shares = weights / weights.sum() if weights.size else weights
        ends = np.concatenate([sources, targets])
        strengths = sums(ends, np.concatenate([shares, shares]), count)
        apart = sources != targets
        one, other, shares = sources[apart], targets[apart], shares[apart]
        loops = np.arange(count) * (count + 1)
        pairs = np.concatenate([one * count + other, other * count + one, loops])
        pairs, order = in_order(pairs, count * count)
        first = run_starts(pairs)
        amounts = np.concatenate([shares, shares, np.zeros(count)])[order]
        nodes, neighbours = np.divmod(pairs[first], max(count, 1))
        starts = np.zeros(count + 1, dtype=np.intp)
        np.cumsum(np.bincount(nodes, minlength=count), out=starts[1:])
        joined = np.add.reduceat(amounts, first) if first.size else amounts
        return cls(starts, neighbours, joined, strengths)


def propagated_labels(
    edges: UndirectedEdges, resolution: float, rounds: int, seed: int
) -> tuple[IntArray, int, bool]:
    """Return a label for each node, how many rounds it took, and whether every node keeps its label.

    The seed decides ties and the order of the nodes.
    """
    count = edges.strengths.size
    random = np.random.default_rng(seed)
    labels = np.arange(count)
    spread = edges.strengths.copy()
    waiting = np.ones(count, dtype=bool)
    for done in range(rounds):
        queued = np.flatnonzero(waiting)
        if not queued.size:
            return labels, done, True
        favour = random.random(count)
        dealt = random.integers(_PARTS, size=queued.size)
        for number in range(_PARTS):
            part = queued[dealt == number]
            if part.size:
                waiting[part] = False
                _update_labels(edges, part, labels, spread, waiting, favour, resolution)
    return labels, rounds, not waiting.any()


def _update_labels(
    edges: UndirectedEdges,
    part: IntArray,
    labels: IntArray,
    spread: FloatArray,
    waiting: BoolArray,
    favour: FloatArray,
    resolution: float,
) -> None:
    """Update the labels of the nodes of `part`, and queue the neighbours of those that change."""
    begin = edges.starts[part]
    degrees = edges.starts[part + 1] - begin
    ends = np.cumsum(degrees)
    at = np.repeat(begin - ends + degrees, degrees)
    at += np.arange(at.size)
    neighbours = edges.targets[at]
    current, strengths = labels[part], edges.strengths[part]
    asking = np.repeat(np.arange(part.size), degrees)
    offers = (asking, labels[neighbours], edges.weights[at])
    chosen = _choices(current, strengths, offers, spread, favour, resolution)
    moving = chosen != current
    fresh = chosen[moving]
    labels[part[moving]] = fresh
    np.subtract.at(spread, current[moving], strengths[moving])
    np.add.at(spread, fresh, strengths[moving])
    # A neighbour that has the label already is only bound to it more firmly.
    near = neighbours[np.repeat(moving, degrees)]
    waiting[near[labels[near] != np.repeat(fresh, degrees[moving])]] = True


def _choices(
    current: IntArray,
    strengths: FloatArray,
    offers: tuple[IntArray, IntArray, FloatArray],
    spread: FloatArray,
    favour: FloatArray,
    resolution: float,
) -> IntArray:
    """Return the heaviest label for each node; of equals its own, else the one with the largest `favour`.

    `offers` are, for each edge, the position of the node it is asked for, its neighbour's label and its
    weight; `spread` is the strength that has each label, `favour` a number below 1 for each.
    """
    asking, offered, weights = offers
    bits = int(spread.size).bit_length()
    pairs, order = in_order((asking << bits) | offered, current.size << bits)
    first = run_starts(pairs)
    weight = np.add.reduceat(weights[order], first)
    pairs = pairs[first]
    node, label = pairs >> bits, pairs & ((1 << bits) - 1)
    own, strength = label == current[node], strengths[node]
    if resolution:
        # Shares of the whole are in use, so m is 1: s · S / 2, with the node itself not among the others.
        weight -= (resolution / 2.0) * strength * (spread[label] - own * strength)
    # Of two that weigh the same the one with more of this wins, and it is too little to matter otherwise.
    weight += _TIE_TOLERANCE * strength * (favour[label] + own)
    begin = run_starts(node)
    heaviest = np.maximum.reduceat(weight, begin)
    won = weight == heaviest[node]
    chosen = np.empty(current.size, dtype=np.intp)
    chosen[node[won]] = label[won]
    return chosen


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


def run_starts(ordered: IntArray) -> IntArray:
    """Return where each run of equal numbers begins."""
    fresh = np.ones(ordered.size, dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=fresh[1:])
    return np.flatnonzero(fresh)


_MAX_LEVELS = 20
_MAX_ROUNDS = 10_000
_MAX_SEED = 2**63 - 1
_MAX_ITERATIONS = 1000
_MIN_RESOLUTION, _MAX_RESOLUTION = 1e-6, 1e6
_REQUIREMENT = ". 'packages/memorata-graph[leiden]'"


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
    graph: Adjacency,
    *,
    levels: int = 3,
    resolution: float = 1.0,
    rounds: int = 100,
    seed: int = 0,
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

    >>> graph = Adjacency.of(6, [0, 1, 2, 3, 4, 5, 2], [1, 2, 0, 4, 5, 3, 3])
    >>> finest, *_ = communities(graph)
    >>> finest.labels.tolist(), round(finest.modularity, 4), finest.converged
    ([0, 0, 0, 1, 1, 1], 0.3571, True)
    """
    levels = _integer("levels", levels, 1, _MAX_LEVELS)
    rounds = _integer("rounds", rounds, 1, _MAX_ROUNDS)
    seed = _integer("seed", seed, 0, _MAX_SEED)
    resolution = checks.at_least("resolution", resolution, 0)
    sources, targets, weights = graph.sources, graph.targets, graph.weights
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


def leiden(graph: Adjacency, *, resolution: float = 1.0, iterations: int = 2, seed: int = 0) -> Partition:
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
    >>> graph = Adjacency.of(6, [0, 1, 2, 3, 4, 5, 2], [1, 2, 0, 4, 5, 3, 3])
    >>> leiden(graph).labels.tolist()
    [0, 0, 0, 1, 1, 1]
    """
    resolution = checks.within("resolution", resolution, _MIN_RESOLUTION, _MAX_RESOLUTION)
    iterations = _integer("iterations", iterations, 1, _MAX_ITERATIONS)
    seed = _integer("seed", seed, 0, _MAX_SEED)
    try:
        library = importlib.import_module("graspologic_native")
    except ImportError as error:
        raise MissingExtra("The Leiden algorithm", _REQUIREMENT) from error
    sources, targets, weights = graph.sources, graph.targets, graph.weights
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


def balanced(labels: IntArray, count: int) -> IntArray:
    """Return a part for each item, from 0 to `count` - 1: all of one label in one, parts of like size.

    The largest labels are dealt first, each to the smallest part so far (Graham, "Bounds on multiprocessing
    timing anomalies", 1969: the largest part has at most 4/3 of the least possible size).

    >>> balanced(np.array([7, 7, 7, 1, 1, 4, 4, 9]), 2).tolist()
    [0, 0, 0, 1, 1, 1, 1, 0]
    """
    _, places, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    parts, loads = np.zeros(sizes.size, np.intp), [0] * checks.whole("count", count, 1)
    for place in np.argsort(-sizes, kind="stable").tolist():
        parts[place] = lightest = loads.index(min(loads))
        loads[lightest] += int(sizes[place])
    result: IntArray = parts[places.ravel()]
    return result
