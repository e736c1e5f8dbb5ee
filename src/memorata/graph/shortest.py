"""The shortest path between two nodes, by the sum of what its edges cost.

Dijkstra, "A note on two problems in connexion with graphs" (1959), with a heap.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence

from memorata._frozen import frozen
from memorata.graph.adjacency import Graph, checked_graph
from memorata.graph.arguments import DIRECTIONS, node, type_numbers
from memorata.graph.paths import Step, steps_from
from memorata.model import checks
from memorata.model.errors import InvalidArgument

COSTS = ("inverse", "weight", "unit")


@frozen
class Route:
    """A shortest path; no steps when it ends where it starts."""

    start: int
    steps: tuple[Step, ...]
    cost: float

    @property
    def nodes(self) -> tuple[int, ...]:
        """The nodes it comes by, the start first."""
        return (self.start, *(step.node for step in self.steps))


def shortest_path(
    graph: Graph,
    start: int,
    goal: int,
    *,
    cost: str = "inverse",
    direction: str = "both",
    types: Sequence[str] | None = None,
) -> Route | None:
    """Return the cheapest way from one node to another; None when there is none.

    Parameters
    ----------
    graph
        The graph.
    start, goal
        The two nodes.
    cost
        What an edge costs. ``"inverse"``: 1 / weight, as strong ties are short. ``"weight"``: its weight,
        for graphs whose weights are distances. ``"unit"``: 1, for the fewest steps.
    direction
        ``"out"``, ``"in"`` or ``"both"``.
    types
        The types of edges to follow; None for all.

    Examples
    --------
    >>> graph = Graph.of(3, [0, 1, 0], [1, 2, 2], [4.0, 4.0, 1.0])
    >>> shortest_path(graph, 0, 2).nodes, shortest_path(graph, 0, 2).cost
    ((0, 1, 2), 0.5)
    >>> shortest_path(graph, 0, 2, cost="unit").nodes
    (0, 2)
    """
    checked_graph(graph)
    origin, end = node("start", start, graph.nodes), node("goal", goal, graph.nodes)
    checks.one_of("cost", cost, COSTS)
    checks.one_of("direction", direction, DIRECTIONS)
    chosen = type_numbers("types", types, graph.type_names)
    best = {origin: 0.0}
    came: dict[int, tuple[int, Step]] = {}
    done: set[int] = set()
    heap = [(0.0, origin)]
    while heap:
        so_far, at = heapq.heappop(heap)
        if at == end:
            return Route(origin, _walked_back(came, origin, end), so_far)
        if at in done:
            continue
        done.add(at)
        for step in steps_from(graph, at, direction, chosen, lightest_first=cost == "weight"):
            total = so_far + _cost(step.weight, cost)
            if not math.isfinite(total):
                raise InvalidArgument("cost", cost, "a cost that float64 can hold on every path")
            if total < best.get(step.node, math.inf):
                best[step.node] = total
                came[step.node] = (at, step)
                heapq.heappush(heap, (total, step.node))
    return None


def _cost(weight: float, cost: str) -> float:
    if cost == "unit":
        return 1.0
    return 1.0 / weight if cost == "inverse" else weight


def _walked_back(came: dict[int, tuple[int, Step]], origin: int, end: int) -> tuple[Step, ...]:
    steps = []
    while end != origin:
        end, step = came[end]
        steps.append(step)
    return tuple(reversed(steps))
