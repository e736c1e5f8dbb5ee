"""Bounded path search: what can be reached from a node, and by which ways.

The traversal of PathRAG (semstreams): every path without a repeated node, as far as the limits let it go,
depth first or breadth first. A node counts by how near it is, ``decay ** steps``. Nothing is left out in
silence: `truncated` says which limit was hit.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from memorata._frozen import frozen
from memorata.graph.adjacency import Graph, checked_graph
from memorata.graph.arguments import DIRECTIONS, node, type_numbers
from memorata.model import checks
from memorata.model.checks import IntArray
from memorata.model.errors import InvalidArgument
from memorata.model.parameter import Declared

ORDERS = ("breadth", "depth")
MOST_DEPTH = 100
Clock = Callable[[], float]
"""Returns seconds that only ever grow, as ``time.monotonic`` does."""
Precedence = Callable[[IntArray], IntArray]
"""Returns a whole number for each of some nodes; the smaller comes first."""


@frozen
class Step:
    """One edge of a path, as it was walked."""

    node: int
    """Where it leads."""
    type: str
    forward: bool
    """Whether it was walked from its source to its target."""
    edge: int
    """The edge's number."""
    weight: float


@frozen
class Path:
    """A way from the start: at least one step."""

    start: int
    steps: tuple[Step, ...]
    score: float
    """``decay ** len(steps)``."""

    @property
    def nodes(self) -> tuple[int, ...]:
        """The nodes it comes by, the start first."""
        return (self.start, *(step.node for step in self.steps))


@frozen
class PathSearch:
    """What a search found."""

    paths: tuple[Path, ...]
    """In the order in which they ended. None is the beginning of another."""
    scores: dict[int, float]
    """For each node on a path but the start ``decay ** d``, with d its fewest steps from there."""
    truncated: str | None
    """The limit that was hit: ``"time"``, ``"paths"`` or ``"nodes"``, the last that cut something off, else
    ``"depth"`` when there is more beyond it, else None."""


def find_paths(
    graph: Graph,
    start: int,
    *,
    depth: Annotated[int, Declared("How many edges a path may have.", 1, 5)] = 2,
    nodes: Annotated[int, Declared("How many nodes may be reached.", 1, 1000)] = 100,
    paths: Annotated[int, Declared("How many paths may be found.", 1, 1000)] = 100,
    seconds: float | None = None,
    clock: Clock | None = None,
    types: Sequence[str] | None = None,
    direction: str = "both",
    order: Annotated[str, Declared("Which path is followed next.", choices=ORDERS)] = "breadth",
    decay: Annotated[float, Declared("What each step leaves of the score.", 0.5, 1)] = 0.85,
    precedence: Precedence | None = None,
) -> PathSearch:
    """Return the paths from a node that cannot be continued within the limits.

    From each node the heaviest edges are followed first, of equals in the graph's order or by `precedence`,
    so a search that is cut short has the strongest ties. Of parallel edges of one type and direction only the
    heaviest is walked.

    Parameters
    ----------
    graph
        The graph.
    start
        The node to start from.
    depth
        The most edges of a path, from 1 to 100.
    nodes
        The most different nodes on all paths, the start not counted; at least 1. Beyond it no new node is
        entered.
    paths
        The most paths; at least 1.
    seconds
        The most time to take, or None; looked at before every node. Paths under way are returned as far as
        they got.
    clock
        What the time is measured by; needed with `seconds`.
    types
        The types of edges to follow; None for all.
    direction
        ``"out"``, ``"in"`` or ``"both"``.
    order
        ``"breadth"``: all paths grow by one edge in turn. ``"depth"``: each to its end before the next.
    decay
        Above 0, at most 1.
    precedence
        Which nodes come first where edges are equally heavy, and then the names of types: the search is then
        the same in whatever order the graph has grown. None for the graph's order.

    Examples -------- Two drones of one fleet: UAV-001 (0) and UAV-002 (3) belong to fleet-rescue (1), which
    is stationed at base-west (2).

    >>> graph = Graph.of(4, [0, 1, 3], [1, 2, 1], None, [0, 1, 0], ["belongs_to", "stationed_at"])
    >>> found = find_paths(graph, 0, depth=2)
    >>> [path.nodes for path in found.paths]
    [(0, 1, 2), (0, 1, 3)]
    >>> {reached: round(score, 4) for reached, score in found.scores.items()}
    {1: 0.85, 2: 0.7225, 3: 0.7225}
    """
    checked_graph(graph)
    origin = node("start", start, graph.nodes)
    depth = checks.whole("depth", depth, 1)
    if depth > MOST_DEPTH:
        raise InvalidArgument("depth", depth, f"a whole number from 1 to {MOST_DEPTH}")
    checks.one_of("direction", direction, DIRECTIONS)
    checks.one_of("order", order, ORDERS)
    if checks.probability("decay", decay) == 0.0:
        raise InvalidArgument("decay", decay, "a number above 0 and at most 1")
    if precedence is not None and not callable(precedence):
        raise InvalidArgument("precedence", precedence, "a function that returns a number for each node")
    search = _Search(
        graph=graph,
        depth=depth,
        most_nodes=checks.whole("nodes", nodes, 1),
        most_paths=checks.whole("paths", paths, 1),
        is_late=_deadline(seconds, clock),
        types=type_numbers("types", types, graph.type_names),
        direction=direction,
        depth_first=order == "depth",
        precedence=precedence,
        reached={origin},
    )
    walked = search.run(origin)
    scores: dict[int, float] = {}
    for steps in walked:
        for index, step in enumerate(steps):
            score = decay ** (index + 1)
            scores[step.node] = max(score, scores.get(step.node, 0.0))
    found = tuple(Path(origin, steps, decay ** len(steps)) for steps in walked)
    return PathSearch(found, scores, search.truncated)


def steps_from(
    graph: Graph,
    at: int,
    direction: str,
    types: IntArray | None,
    *,
    lightest_first: bool = False,
    precedence: Precedence | None = None,
) -> list[Step]:
    """Return the steps that can be taken from a node, the heaviest edges first, or the lightest.

    Of parallel edges of one type and direction only the first in that order is a step.
    """
    edges = graph.edges_at(np.array([at]), direction, types)
    by_weight = edges.weights if lightest_first else -edges.weights
    if precedence is None:
        order = np.argsort(by_weight, kind="stable")
    else:
        named = np.argsort(np.argsort(np.array(graph.type_names)))
        order = np.lexsort((~edges.forward, named[edges.types], precedence(edges.nodes), by_weight))
    columns = (edges.nodes, edges.types, edges.forward, edges.numbers, edges.weights)
    known = set()
    steps = []
    for to, kind, forward, number, weight in zip(*(each[order].tolist() for each in columns), strict=True):
        if (to, kind, forward) not in known:
            known.add((to, kind, forward))
            steps.append(Step(to, graph.type_names[kind], forward, number, weight))
    return steps


@dataclass(slots=True)
class _Search:
    """A search under way: its limits, and what it has reached."""

    graph: Graph
    depth: int
    most_nodes: int
    most_paths: int
    is_late: Callable[[], bool]
    types: IntArray | None
    direction: str
    depth_first: bool
    precedence: Precedence | None
    reached: set[int]
    truncated: str | None = None

    def run(self, start: int) -> list[tuple[Step, ...]]:
        """Return the steps of every path, in the order in which they ended."""
        ended: list[tuple[Step, ...]] = []
        open_paths: deque[tuple[Step, ...]] = deque([()])
        while open_paths:
            if self.is_late():
                self.truncated = "time"
                ended += (path for path in open_paths if path)
                break
            path = open_paths.pop() if self.depth_first else open_paths.popleft()
            # Each open path becomes at least one in the end, so there is no room for more than these.
            longer = self._continued(start, path, self.most_paths - len(ended) - len(open_paths))
            if longer:
                open_paths.extend(reversed(longer) if self.depth_first else longer)
            elif path:
                ended.append(path)
        return ended

    def _continued(self, start: int, path: tuple[Step, ...], room: int) -> list[tuple[Step, ...]]:
        """Return the paths that are one step longer, at most `room` of them."""
        visited = {start, *(step.node for step in path)}
        longer: list[tuple[Step, ...]] = []
        at = path[-1].node if path else start
        for step in steps_from(self.graph, at, self.direction, self.types, precedence=self.precedence):
            if step.node in visited:
                continue
            if len(path) == self.depth:
                self.truncated = self.truncated or "depth"
                break
            if len(longer) == room:
                self.truncated = "paths"
                break
            if step.node not in self.reached:
                if len(self.reached) > self.most_nodes:
                    self.truncated = "nodes"
                    continue
                self.reached.add(step.node)
            longer.append((*path, step))
        return longer


def _deadline(seconds: object, clock: object) -> Callable[[], bool]:
    """Return what says whether the time is over."""
    if clock is not None and not callable(clock):
        raise InvalidArgument("clock", clock, "a function that returns seconds")
    if seconds is None:
        return lambda: False
    limit = checks.at_least("seconds", seconds, 0)
    if clock is None:
        raise InvalidArgument("clock", clock, "a function that returns seconds, since seconds are limited")
    begun = checks.number("clock()", clock())
    return lambda: clock() - begun > limit
