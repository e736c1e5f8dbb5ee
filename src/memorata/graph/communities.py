"""Communities: groups of nodes that are tied to each other more than to the rest, in levels that nest.

Label propagation (:mod:`memorata.graph.label_propagation`) on the graph, then on the graph whose nodes are
the communities just found, and so on, as Blondel and others do for modularity, "Fast unfolding of
communities in large networks" (2008). A community of one level is a union of communities of the level below.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from memorata._frozen import frozen
from memorata.graph.adjacency import Graph, checked_graph
from memorata.graph.label_propagation import Weave, propagated_labels
from memorata.graph.modularity import Resolution, modularity_of
from memorata.model import checks
from memorata.model.checks import IntArray
from memorata.model.errors import InvalidArgument
from memorata.model.parameter import Declared

_MOST_LEVELS = 20
_MOST_ROUNDS = 10_000
_LARGEST_SEED = 2**63 - 1

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
    """One level of communities, and how it was come by."""

    rounds: int
    converged: bool
    """Whether it ended by itself: every node was asked since a neighbour left its label, and was content."""


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
    levels = _whole("levels", levels, 1, _MOST_LEVELS)
    rounds = _whole("rounds", rounds, 1, _MOST_ROUNDS)
    seed = _whole("seed", seed, 0, _LARGEST_SEED)
    resolution = checks.at_least("resolution", resolution, 0)
    sources, targets, weights, _, _ = graph.listed()
    labels = np.arange(graph.nodes)
    count, one, other = graph.nodes, sources, targets
    found: list[Level] = []
    for _ in range(levels):
        with checks.finite_arithmetic("resolution", resolution):
            weave = Weave.of(count, one, other, weights)
            fresh, taken, converged = propagated_labels(weave, resolution, rounds, seed)
            fresh = renumbered(fresh)
            labels = fresh[labels]
            reached = modularity_of((sources, targets, weights), labels, resolution)
        found.append(Level(labels, reached, taken, converged))
        count, one, other = int(fresh.max(initial=-1)) + 1, fresh[one], fresh[other]
    return tuple(found)


def renumbered(labels: IntArray) -> IntArray:
    """Return the same partition with communities numbered from 0 in the order of their first nodes."""
    _, first, places = np.unique(labels, return_index=True, return_inverse=True)
    numbers = np.empty(first.size, dtype=np.intp)
    numbers[np.argsort(first)] = np.arange(first.size)
    return numbers[places]


def _whole(argument: str, value: object, low: int, high: int) -> int:
    checked = checks.whole(argument, value, low)
    if checked > high:
        raise InvalidArgument(argument, value, f"a whole number from {low} to {high}")
    return checked
