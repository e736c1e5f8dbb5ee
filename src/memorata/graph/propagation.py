"""Spreading relevance: what is near to something relevant is relevant too, by how the two are connected.

A few steps of personalised propagation over typed edges, each type with weights of its own for either
direction. The context diffusion of a conversation is one case: edges "next" from turn to turn, and each turn
also gets a part of the scores of the turns before and after it. Crestani, "Application of spreading
activation techniques in information retrieval" (1997), tells the family's story.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import numpy as np

from memorata._frozen import frozen
from memorata.graph.adjacency import Edges, Graph, checked_graph
from memorata.graph.arguments import Nodes, distinct_nodes
from memorata.graph.rows import sums
from memorata.model import checks
from memorata.model.checks import FloatArray, IntArray, Numbers
from memorata.model.errors import InvalidArgument
from memorata.model.parameter import Declared

NORMALISATIONS = ("none", "mean", "share")
_MOST_STEPS = 100


@frozen(eq=False)
class Spread:
    """Scores after spreading, of the nodes that were reached; all others have 0."""

    nodes: IntArray
    """Ascending."""
    scores: FloatArray


def spread(
    graph: Graph,
    nodes: Nodes,
    scores: Numbers,
    *,
    forward: Mapping[str, float],
    backward: Mapping[str, float] | None = None,
    steps: Annotated[int, Declared("How far relevance travels, in edges.", 1, 4)] = 1,
    normalise: Annotated[
        str, Declared("What a node with many edges of one type gets or gives.", choices=NORMALISATIONS)
    ] = "none",
) -> Spread:
    r"""Return the scores after `steps` rounds of spreading.

    .. math:: x^{(k+1)}_v = x^{(0)}_v + \sum_t \lambda_t \sum_{u \xrightarrow{t} v} \hat w_{uv}\, x^{(k)}_u

    so every node keeps what it had at first, and after k rounds has something of all within k edges. The sum
    is over the types of `forward` along edges, and over those of `backward` against them.

    Parameters
    ----------
    graph
        The graph.
    nodes, scores
        Where relevance is at first; each node once.
    forward
        For each type of edge, which part of its source's score the target gets; types not named carry
        nothing.
    backward
        For each type of edge, which part of its target's score the source gets.
    steps
        From 0 to 100.
    normalise
        What :math:`\hat w` is, within one type and direction. ``"none"``: the edge's weight. ``"mean"``: it
        divided by the weights of all such edges that lead to v, so v gets the mean of its neighbours.
        ``"share"``: it divided by the weights of all such edges that leave u, so u gives away no more than
        its score.

    Examples
    --------
    Three turns; the middle one was found. The one after it gets 0.3 of that, the one before it 0.15.

    >>> turns = Graph.of(3, [0, 1], [1, 2], type_names=["next"])
    >>> found = spread(turns, [1], [1.0], forward={"next": 0.3}, backward={"next": 0.15})
    >>> found.scores.tolist()
    [0.15, 1.0, 0.3]
    """
    first = distinct_nodes("nodes", nodes, checked_graph(graph).nodes)
    start = checks.numbers("scores", scores)
    checks.same_length(nodes=first, scores=start)
    ways = [
        ("out", _type_weights("forward", forward, graph)),
        ("in", _type_weights("backward", {} if backward is None else backward, graph)),
    ]
    steps = checks.whole("steps", steps)
    if steps > _MOST_STEPS:
        raise InvalidArgument("steps", steps, f"a whole number from 0 to {_MOST_STEPS}")
    checks.one_of("normalise", normalise, NORMALISATIONS)
    now, amount = _summed(first, start)
    with checks.finite_arithmetic("scores", scores):
        for _ in range(steps):
            ends, gains = [first], [start]
            for direction, weights in ways:
                if weights.any():
                    edges = graph.edges_at(now, direction, np.flatnonzero(weights))
                    shares = _normalised(graph, direction, edges, normalise)
                    ends.append(edges.nodes)
                    gains.append(weights[edges.types] * shares * amount[edges.origin])
            now, amount = _summed(np.concatenate(ends), np.concatenate(gains))
            if not np.isfinite(amount).all():
                raise InvalidArgument("scores", scores, "small enough to be added up in float64")
    return Spread(now, amount)


def _normalised(graph: Graph, direction: str, edges: Edges, normalise: str) -> FloatArray:
    """Return the weights of edges over those of all edges of their type at the end they are divided by."""
    if normalise == "none" or not edges.weights.size:
        return edges.weights
    kinds = len(graph.type_names)
    if normalise == "share":
        # All edges of a type that leave a node are among these.
        groups = edges.origin * kinds + edges.types
        shares: FloatArray = edges.weights / sums(groups, edges.weights, int(groups.max()) + 1)[groups]
        return shares
    reached, places = np.unique(edges.nodes, return_inverse=True)
    all_there = graph.edges_at(reached, "in" if direction == "out" else "out", np.unique(edges.types))
    groups = all_there.origin * kinds + all_there.types
    totals = sums(groups, all_there.weights, reached.size * kinds)
    parts: FloatArray = edges.weights / totals[places * kinds + edges.types]
    return parts


def _summed(nodes: IntArray, amounts: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return each node once, ascending, with the sum of its amounts."""
    distinct, places = np.unique(nodes, return_inverse=True)
    return distinct, sums(places, amounts, distinct.size)


def _type_weights(argument: str, given: object, graph: Graph) -> FloatArray:
    """Return a weight for each type of the graph's edges, 0 for those not named."""
    if not isinstance(given, Mapping):
        raise InvalidArgument(argument, given, "a mapping of edge types to weights")
    weights = np.zeros(len(graph.type_names))
    for name, weight in given.items():
        checks.one_of(argument, name, graph.type_names)
        weights[graph.type_names.index(name)] = checks.at_least(f"{argument}[{name!r}]", weight, 0)
    return weights
