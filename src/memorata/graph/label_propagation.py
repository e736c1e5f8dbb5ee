"""Label propagation: every node takes the label that weighs most among its neighbours, until none changes.

Raghavan, Albert, Kumara, "Near linear time algorithm to detect community structures in large-scale networks"
(2007). Left to itself one label floods a dense graph: of 1,005 people who write e-mails to each other
(email-eu-core), 986 end up with the same. Barber and Clark, "Detecting network communities by propagating
labels under constraints" (2009), weigh a label less the more of the graph already has it; then a node that
changes its label raises the modularity. `resolution` 0 is the first, 1 the second.

All at once, neighbours would swap labels for ever; one after the other, nothing is vectorised. So the nodes
are dealt into a few parts anew in each round, and the nodes of one part change together, seeing what the
parts before them did.
"""

from __future__ import annotations

import numpy as np

from memorata._frozen import frozen
from memorata.graph.rows import in_order, sums
from memorata.model.checks import BoolArray, FloatArray, IntArray

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


def run_starts(ordered: IntArray) -> IntArray:
    """Return where each run of equal numbers begins."""
    fresh = np.ones(ordered.size, dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=fresh[1:])
    return np.flatnonzero(fresh)
