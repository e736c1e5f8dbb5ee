"""Paths: bounded search from a node, and the shortest path between two.

The bounded search is the traversal of PathRAG (semstreams): every path without a repeated node, as far as the
limits let it go, depth first or breadth first. A node counts by how near it is, ``decay ** steps``. Nothing
is left out in silence: `truncated` says which limit was hit. The shortest path is Dijkstra's, "A note on two
problems in connexion with graphs" (1959), with a heap.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from memorata.extend import frozen
from memorata.extend.errors import InvalidArgument
from memorata.extend.model import Declared, IntArray, checks
from memorata_graph.adjacency import DIRECTIONS, Adjacency, checked_graph, one_of_many, type_numbers

ORDERS = ("breadth", "depth")
MAX_DEPTH = 100
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
class Walk:
    """Steps from a node."""

    start: int
    steps: tuple[Step, ...]

    @property
    def nodes(self) -> tuple[int, ...]:
        """The nodes it comes by, the start first."""
        return (self.start, *(step.node for step in self.steps))


@frozen
class Path(Walk):
    """A path of a bounded search: at least one step."""

    score: float
    """``decay ** len(steps)``."""


@frozen
class Route(Walk):
    """A shortest path; no steps when it ends where it starts."""

    cost: float


@frozen
class PathSearch:
    """The result of a bounded search."""

    paths: tuple[Path, ...]
    """In the order in which they ended. None is the beginning of another."""
    scores: dict[int, float]
    """For each node on a path but the start ``decay ** d``, with d its fewest steps from there."""
    truncated: str | None
    """The limit that was hit: ``"time"``, ``"paths"`` or ``"nodes"``, the last that cut something off, else
    ``"depth"`` when there is more beyond it, else None."""


def find_paths(
    graph: Adjacency,
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

    Examples
    --------
    Two drones of one fleet: UAV-001 (0) and UAV-002 (3) belong to fleet-rescue (1), which is stationed at
    base-west (2).

    >>> graph = Adjacency.of(4, [0, 1, 3], [1, 2, 1], None, [0, 1, 0], ["belongs_to", "stationed_at"])
    >>> search = find_paths(graph, 0, depth=2)
    >>> [path.nodes for path in search.paths]
    [(0, 1, 2), (0, 1, 3)]
    >>> {reached: round(score, 4) for reached, score in search.scores.items()}
    {1: 0.85, 2: 0.7225, 3: 0.7225}
    """
    checked_graph(graph)
    origin = checked_node("start", start, graph.nodes)
    depth = checks.whole("depth", depth, 1)
    if depth > MAX_DEPTH:
        raise InvalidArgument("depth", depth, f"a whole number from 1 to {MAX_DEPTH}")
    checks.one_of("direction", direction, DIRECTIONS)
    checks.one_of("order", order, ORDERS)
    if checks.probability("decay", decay) == 0.0:
        raise InvalidArgument("decay", decay, "a number above 0 and at most 1")
    if precedence is not None and not callable(precedence):
        raise InvalidArgument("precedence", precedence, "a function that returns a number for each node")
    search = _Search(
        graph=graph,
        depth=depth,
        max_nodes=checks.whole("nodes", nodes, 1),
        max_paths=checks.whole("paths", paths, 1),
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
    result = tuple(Path(origin, steps, decay ** len(steps)) for steps in walked)
    return PathSearch(result, scores, search.truncated)


def shortest_path(
    graph: Adjacency,
    start: int,
    goal: int,
    *,
    direction: str = "both",
    types: Sequence[str] | None = None,
) -> Route | None:
    """Return the shortest way from one node to another; None when there is none.

    An edge is 1 / weight long: strong ties are short.

    Parameters
    ----------
    graph
        The graph.
    start, goal
        The two nodes.
    direction
        ``"out"``, ``"in"`` or ``"both"``.
    types
        The types of edges to follow; None for all.

    Examples
    --------
    >>> graph = Adjacency.of(3, [0, 1, 0], [1, 2, 2], [4.0, 4.0, 1.0])
    >>> shortest_path(graph, 0, 2).nodes, shortest_path(graph, 0, 2).cost
    ((0, 1, 2), 0.5)
    """
    checked_graph(graph)
    origin, end = checked_node("start", start, graph.nodes), checked_node("goal", goal, graph.nodes)
    checks.one_of("direction", direction, DIRECTIONS)
    chosen = type_numbers("types", types, graph.type_names)
    best = {origin: 0.0}
    previous: dict[int, tuple[int, Step]] = {}
    settled: set[int] = set()
    heap = [(0.0, origin)]
    while heap:
        so_far, at = heapq.heappop(heap)
        if at == end:
            return Route(origin, _walked_back(previous, origin, end), so_far)
        if at in settled:
            continue
        settled.add(at)
        for step in _steps_from(graph, at, direction, chosen):
            total = so_far + 1.0 / step.weight
            if not math.isfinite(total):
                raise InvalidArgument("graph", step.weight, "one of weights whose inverse float64 can hold")
            if total < best.get(step.node, math.inf):
                best[step.node] = total
                previous[step.node] = (at, step)
                heapq.heappush(heap, (total, step.node))
    return None


def checked_node(argument: str, value: object, count: int) -> int:
    """Return one node of a graph of `count` nodes."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or not 0 <= value < count:
        raise InvalidArgument(argument, value, one_of_many(count, "nodes"))
    return int(value)


def _steps_from(
    graph: Adjacency,
    at: int,
    direction: str,
    types: IntArray | None,
    precedence: Precedence | None = None,
) -> list[Step]:
    """Return the steps from a node, the heaviest edges first; of parallel ones of one type the first."""
    edges = graph.edges_at(np.array([at]), direction, types)
    by_weight = -edges.weights
    if precedence is None:
        order = np.argsort(by_weight, kind="stable")
    else:
        type_ranks = np.argsort(np.argsort(np.array(graph.type_names)))
        order = np.lexsort((~edges.forward, type_ranks[edges.types], precedence(edges.nodes), by_weight))
    columns = (edges.nodes, edges.types, edges.forward, edges.numbers, edges.weights)
    seen = set()
    steps = []
    for to, kind, forward, number, weight in zip(
        *(column[order].tolist() for column in columns), strict=True
    ):
        if (to, kind, forward) not in seen:
            seen.add((to, kind, forward))
            steps.append(Step(to, graph.type_names[kind], forward, number, weight))
    return steps


@dataclass(slots=True)
class _Search:
    """A search under way: its limits, and what it has reached."""

    graph: Adjacency
    depth: int
    max_nodes: int
    max_paths: int
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
            longer = self._continued(start, path, self.max_paths - len(ended) - len(open_paths))
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
        for step in _steps_from(self.graph, at, self.direction, self.types, self.precedence):
            if step.node in visited:
                continue
            if len(path) == self.depth:
                self.truncated = self.truncated or "depth"
                break
            if len(longer) == room:
                self.truncated = "paths"
                break
            if step.node not in self.reached:
                if len(self.reached) > self.max_nodes:
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


def _walked_back(previous: dict[int, tuple[int, Step]], origin: int, end: int) -> tuple[Step, ...]:
    steps = []
    while end != origin:
        end, step = previous[end]
        steps.append(step)
    return tuple(reversed(steps))
