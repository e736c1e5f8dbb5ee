"""The neighbourhood of some nodes: everything within a few edges, nearest first.

Breadth-first search, a whole ring of nodes at a time.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memorata._frozen import frozen
from memorata.graph.adjacency import Graph, checked_graph
from memorata.graph.arguments import DIRECTIONS, Nodes, distinct_nodes, type_numbers
from memorata.graph.rows import sums
from memorata.model import checks
from memorata.model.checks import IntArray
from memorata.model.errors import InvalidArgument

MOST_HOPS = 100


@frozen(eq=False)
class Neighbourhood:
    """Nodes around the seeds."""

    nodes: IntArray
    """Seeds first, in the order given, then ring after ring."""
    hops: IntArray
    """How many edges each is away from the nearest seed."""
    truncated: bool
    """Whether the limit left nodes out."""


def neighbourhood(
    graph: Graph,
    seeds: Nodes,
    hops: int = 2,
    limit: int | None = None,
    *,
    direction: str = "both",
    types: Sequence[str] | None = None,
) -> Neighbourhood:
    """Return the nodes within `hops` edges of the seeds.

    Parameters
    ----------
    graph
        The graph.
    seeds
        Where to begin; each node once.
    hops
        How far to go, from 0 to 100.
    limit
        The most nodes to return, seeds included; None for all. In the ring that does not fit, those with the
        heaviest edges from the ring before come first, of equals the smaller number.
    direction
        ``"out"``, ``"in"`` or ``"both"``.
    types
        The types of edges to follow; None for all.

    Examples
    --------
    >>> star = Graph.of(5, [0, 0, 0, 3], [1, 2, 3, 4], [1.0, 5.0, 2.0, 1.0])
    >>> neighbourhood(star, [0]).nodes.tolist()
    [0, 2, 3, 1, 4]
    >>> near = neighbourhood(star, [0], limit=3)
    >>> near.nodes.tolist(), near.truncated
    ([0, 2, 3], True)
    """
    checked_graph(graph)
    ring = distinct_nodes("seeds", seeds, graph.nodes)
    hops = checks.whole("hops", hops)
    if hops > MOST_HOPS:
        raise InvalidArgument("hops", hops, f"a whole number from 0 to {MOST_HOPS}")
    room = graph.nodes if limit is None else checks.whole("limit", limit)
    checks.one_of("direction", direction, DIRECTIONS)
    chosen = type_numbers("types", types, graph.type_names)
    rings = [ring[:room]]
    truncated = ring.size > room
    seen = np.sort(ring)
    for _ in range(hops):
        if truncated or not ring.size:
            break
        room -= ring.size
        edges = graph.edges_at(ring, direction, chosen)
        found, places = np.unique(edges.nodes, return_inverse=True)
        ties = sums(places, edges.weights, found.size)
        at = np.minimum(np.searchsorted(seen, found), seen.size - 1)
        fresh = seen[at] != found
        found, ties = found[fresh], ties[fresh]
        # A stable sort of ascending nodes leaves those of equal weight in the order of their numbers.
        ring = found[np.argsort(-ties, kind="stable")]
        truncated = ring.size > room
        rings.append(ring[:room])
        seen = np.sort(np.concatenate([seen, found]))
    distances = np.repeat(np.arange(len(rings)), [part.size for part in rings])
    return Neighbourhood(np.concatenate(rings), distances, truncated)
