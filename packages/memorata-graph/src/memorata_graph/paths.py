"""Paths: bounded search from a node, and the shortest path between two.

The bounded search is the traversal of PathRAG (semstreams): every path without a repeated node, as far as the
limits let it go, depth first or breadth first. A node counts by how near it is, ``decay ** steps``. Nothing
is left out in silence: `truncated` is the limit that was hit. The shortest path is Dijkstra's, "A note on two
problems in connexion with graphs" (1959), with a heap: a graph in arrays is walked as it is, and the way back
names the edges, which libraries over matrices and copies of the graph do not.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from memorata.extend import frozen
from memorata.extend.errors import InvalidArgument
from memorata.extend.model import IntArray, checks
from memorata_graph.adjacency import DIRECTIONS, Adjacency

ORDERS = ("breadth", "depth")
MAX_DEPTH = 100
Clock = Callable[[], float]
"""Returns seconds that only ever grow, as ``time.monotonic`` does."""


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
    """Steps from a node, with their score, ``decay ** len(steps)``, or for a shortest path their cost."""

    start: int
    steps: tuple[Step, ...]
    score: float = 1.0
    cost: float | None = None

    @property
    def nodes(self) -> tuple[int, ...]:
        """The nodes it comes by, the start first."""
        return (self.start, *(step.node for step in self.steps))


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
    depth: int = 2,
    nodes: int = 100,
    paths: int = 100,
    seconds: float | None = None,
    clock: Clock | None = None,
    types: Sequence[str] | None = None,
    direction: str = "both",
    order: str = "breadth",
    decay: float = 0.85,
) -> PathSearch:
    """Return the paths from a node that cannot be continued within the limits.

    From each node the heaviest edges are followed first, of equals the lowest node, then by the names of the
    types, then forwards; so a search that is cut short has the strongest ties. Of parallel edges of one type
    and direction only the heaviest is walked.

    Parameters
    ----------
    graph, start
        The graph, and the node to start from.
    depth
        The most edges of a path, from 1 to 100.
    nodes
        The most different nodes on all paths, the start not counted; beyond it no new node is entered.
    paths
        The most paths.
    seconds, clock
        The most time to take, or None; looked at before every node. Paths under way are returned as far as
        they got.
    types
        The types of edges to follow; None for all.
    direction
        ``"out"``, ``"in"`` or ``"both"``.
    order
        ``"breadth"``: all paths grow by one edge in turn. ``"depth"``: each to its end before the next.
    decay
        Above 0, at most 1.

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
    if checks.whole("depth", depth, 1) > MAX_DEPTH:
        raise InvalidArgument("depth", depth, f"a whole number from 1 to {MAX_DEPTH}")
    checks.one_of("order", order, ORDERS)
    if checks.probability("decay", decay) == 0.0:
        raise InvalidArgument("decay", decay, "a number above 0 and at most 1")
    search = _Search(
        walk=_Walk(graph, direction, types),
        depth=depth,
        max_nodes=checks.whole("nodes", nodes, 1),
        max_paths=checks.whole("paths", paths, 1),
        is_late=_deadline(seconds, clock),
        depth_first=order == "depth",
        reached={start},
    )
    walked = search.run(start)
    scores: dict[int, float] = {}
    for steps in walked:
        for index, step in enumerate(steps):
            scores[step.node] = max(decay ** (index + 1), scores.get(step.node, 0.0))
    result = tuple(Path(start, steps, decay ** len(steps)) for steps in walked)
    return PathSearch(result, scores, search.truncated)


def shortest_path(
    graph: Adjacency, start: int, goal: int, *, direction: str = "both", types: Sequence[str] | None = None
) -> Path | None:
    """Return the shortest way from one node to another; None when there is none.

    An edge is 1 / weight long: strong ties are short. Directions and types are those of :func:`find_paths`.

    Examples
    --------
    >>> graph = Adjacency.of(3, [0, 1, 0], [1, 2, 2], [4.0, 4.0, 1.0])
    >>> shortest_path(graph, 0, 2).nodes, shortest_path(graph, 0, 2).cost
    ((0, 1, 2), 0.5)
    """
    walk = _Walk(graph, direction, types)
    best = {start: 0.0}
    previous: dict[int, tuple[int, Step]] = {}
    settled: set[int] = set()
    heap = [(0.0, start)]
    while heap:
        so_far, at = heapq.heappop(heap)
        if at == goal:
            steps: list[Step] = []
            while at != start:
                at, step = previous[at]
                steps.append(step)
            return Path(start, tuple(reversed(steps)), cost=so_far)
        if at in settled:
            continue
        settled.add(at)
        for step in walk.steps_from(at):
            total = so_far + 1.0 / step.weight
            if total < best.get(step.node, math.inf):
                best[step.node] = total
                previous[step.node] = (at, step)
                heapq.heappush(heap, (total, step.node))
    return None


class _Walk:
    """The edges of a graph that may be followed."""

    def __init__(self, graph: Adjacency, direction: str, types: Sequence[str] | None) -> None:
        self._graph = graph
        self._direction = checks.one_of("direction", direction, DIRECTIONS)
        self._types: IntArray | None = None if types is None else graph.type_numbers(types)
        self._type_ranks = np.argsort(np.argsort(np.array(graph.type_names)))

    def steps_from(self, at: int) -> list[Step]:
        """Return the steps from a node, the heaviest edges first; of parallel ones of one type the first."""
        edges = self._graph.around([at], self._direction, self._types)
        order = np.lexsort((~edges.forward, self._type_ranks[edges.types], edges.nodes, -edges.weights))
        columns = (edges.nodes, edges.types, edges.forward, edges.numbers, edges.weights)
        steps: dict[tuple[int, int, bool], Step] = {}
        for to, kind, forward, number, weight in zip(*(c[order].tolist() for c in columns), strict=True):
            if (to, kind, forward) not in steps:
                steps[to, kind, forward] = Step(to, self._graph.type_names[kind], forward, number, weight)
        return list(steps.values())


@dataclass(slots=True)
class _Search:
    """A search under way: its limits, and what it has reached."""

    walk: _Walk
    depth: int
    max_nodes: int
    max_paths: int
    is_late: Callable[[], bool]
    depth_first: bool
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
        for step in self.walk.steps_from(path[-1].node if path else start):
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


def _deadline(seconds: float | None, clock: Clock | None) -> Callable[[], bool]:
    """Return what says whether the time is over."""
    if seconds is None:
        return lambda: False
    limit = checks.at_least("seconds", seconds, 0)
    assert clock is not None  # who limits the time brings a clock
    begun = clock()
    return lambda: clock() - begun > limit
