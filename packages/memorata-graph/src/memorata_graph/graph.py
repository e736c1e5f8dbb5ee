"""The graph of a memory: paths, communities, and memories near a point or along a timeline."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING, Final

import numpy as np

from memorata.extend.errors import InvalidArgument
from memorata.extend.graph import BM25, NOWHERE, LexicalQuery, Runtime, haversines
from memorata.extend.model import FloatArray, IntArray, Memory, Place, checks
from memorata_graph.adjacency import Adjacency
from memorata_graph.cells import cell_height, cell_name, cells_of
from memorata_graph.communities import Level, balanced
from memorata_graph.entities import Entities
from memorata_graph.lookup import Look, looked
from memorata_graph.namespace_graph import NamespaceGraph
from memorata_graph.pagerank import pagerank
from memorata_graph.paths import Path, find_paths, shortest_path
from memorata_graph.results import (
    Communities,
    FoundPath,
    Group,
    Hub,
    Nearby,
    NearbyEntity,
    Paths,
    PathStep,
    PlaceCell,
    Summary,
)
from memorata_graph.summaries import (
    LEVELS,
    METHODS,
    Members,
    Partitioning,
    groups_of,
    members_of,
    summaries,
    written_by,
)

if TYPE_CHECKING:
    from memorata import Engine

_MAX_SUMMARIES: Final = 4_096
_DECAY: Final = 0.85
"""What each step of a way leaves of its score."""


class KeptSummaries:
    """The summaries of communities of an engine, by the hash of their members, and a model's in its words."""

    def __init__(self, runtime: Runtime) -> None:
        self.by_statistics: dict[str, Summary] = {}
        self.by_model: dict[str, str] = {}


class Graph:
    """The graph of a memory: what it mentions, how that relates, and where and when it was.

    What is kept between calls (graphs, communities, summaries) is kept by the memory, so that any number of
    these may be made of it. The `namespace` of a verb is None for that of the memory; `as_of` is a moment
    whose state of knowledge and belief is looked at, None for now.

    Parameters
    ----------
    memory
        What :func:`memorata.open` returned.

    Examples
    --------
    >>> import memorata
    >>> with memorata.open(":memory:", embedder=None) as memory:
    ...     graph = Graph(memory)
    ...     _ = graph.entities.relate("Anna", "works_at", "Bank of England")
    ...     [str(path) for path in graph.paths("Anna").paths]
    ['Anna —works_at→ Bank of England']
    """

    def __init__(self, memory: Engine) -> None:
        self._runtime = memory.runtime
        self._writer = memory.summaries
        self._kept = memory.runtime.part(KeptSummaries)
        self.entities = Entities(memory)

    def paths(
        self,
        start: str,
        *,
        to: str | None = None,
        depth: int = 2,
        types: Sequence[str] | None = None,
        direction: str = "both",
        order: str = "breadth",
        decay: float = _DECAY,
        shortest: bool = False,
        nodes: int = 100,
        paths: int = 100,
        seconds: float | None = None,
        as_of: checks.Instant | None = None,
        namespace: str | None = None,
    ) -> Paths:
        """Return the ways that lead from an entity through relations and memories.

        Parameters
        ----------
        start
            The entity to start from.
        to
            Only ways to this entity, each as far as there; None for all, as far as they go.
        depth
            How many edges a way may have, from 1 to 100.
        types
            The types of edges to follow: relations' own, ``"mentions"``, ``"next"``, ``"supersedes"``; None
            for all.
        direction
            Whether edges are followed ``"out"``, ``"in"`` or ``"both"`` ways.
        order
            ``"breadth"`` or ``"depth"`` first, which matters when a limit is hit.
        decay
            What each step leaves of a score, above 0 and at most 1.
        shortest
            Only the shortest way to `to`, by Dijkstra's algorithm: an edge is 1 / weight long, and `depth`
            and the limits do not matter.
        nodes, paths, seconds
            The most nodes to reach, ways to find, and time to take.
        """
        if checks.flag("shortest", shortest) and to is None:
            raise InvalidArgument("to", to, "an entity, where the shortest way to it is asked for")

        def answer(look: Look) -> Paths:
            graph = look.graph()
            keys = [look.key("start", start)]
            if to is not None:
                keys.append(look.key("to", to))
                if keys[0] == keys[1]:
                    raise InvalidArgument("to", to, f"another entity than {start!r}")
            ends = [graph.entity_node(key) for key in keys]
            if types is not None:
                graph.graph.type_numbers(types)
            if shortest:
                if ends[0] is None or ends[1] is None:
                    return Paths((), None)
                route = shortest_path(graph.graph, ends[0], ends[1], types=types, direction=direction)
                if route is None:
                    return Paths((), None)
                score = checks.probability("decay", decay) ** len(route.steps)
                return Paths(_described(look, graph, [replace(route, score=score)]), None)
            # What was only described has no edges, and no node either.
            alone = Adjacency.of(1, [], [], type_names=graph.graph.type_names)
            search = find_paths(
                *((alone, 0) if ends[0] is None else (graph.graph, ends[0])),
                depth=depth,
                nodes=nodes,
                paths=paths,
                seconds=seconds,
                clock=None if seconds is None else monotonic,
                types=types,
                direction=direction,
                order=order,
                decay=decay,
            )
            ways = search.paths if to is None else _cut(search.paths, ends[1], decay)
            ordered = sorted(ways, key=lambda path: len(path.steps))
            reached = {} if ends[0] is None else search.scores
            reached_names = {graph.name_of(node): score for node, score in reached.items()}
            scores = [(name, score) for name, score in reached_names.items() if name is not None]
            by_name = dict(sorted(scores, key=lambda scored: (-scored[1], scored[0])))
            return Paths(_described(look, graph, ordered), search.truncated, by_name)

        return looked(self._runtime, namespace, answer, as_of)

    def communities(
        self,
        *,
        level: int = 0,
        limit: int = 10,
        seed: int = 0,
        method: str = "propagation",
        levels: int = 3,
        iterations: int | None = None,
        resolution: float = 1.0,
        as_of: checks.Instant | None = None,
        namespace: str | None = None,
    ) -> Communities:
        """Return the groups of memories and entities that hang together, the largest first.

        Parameters
        ----------
        level
            0 for the finest communities, up to one less than `levels` for the coarsest.
        limit
            How many to return at most.
        seed
            The same seed gives the same communities of the same graph.
        method
            ``"propagation"`` of labels, or ``"leiden"`` where memorata-graph[leiden] is installed, which has
            one level.
        levels
            How many levels label propagation makes, from 1 to 20.
        iterations
            After how many rounds a level of label propagation ends at the latest, 100 unless given; how often
            Leiden is applied to its own result, 2 unless given.
        resolution
            More of it makes smaller communities.
        """
        checks.one_of("method", method, METHODS)
        most = checks.whole("levels", levels, 1) if method == "propagation" else 1
        if checks.whole("level", level) >= most:
            raise InvalidArgument("level", level, f"a whole number from 0 to {most - 1}")
        rounds = 100 if method == "propagation" else 2
        if iterations is not None:
            rounds = checks.whole("iterations", iterations)
        checks.at_least("resolution", resolution, 0)
        partitioning = Partitioning(method, most, rounds, resolution, checks.whole("seed", seed))
        checks.whole("limit", limit)

        def select(look: Look) -> tuple[Level, int, list[Members]]:
            graph = look.graph()
            found = partitioning.levels_of(graph)[level]
            visible = np.ones(graph.graph.nodes, np.bool_)
            visible[: graph.memories.size] = look.shows(look.view.records(graph.memories))
            groups = groups_of(found, visible)
            groups.sort(key=lambda members: (-members.size, int(members[0])))
            return found, len(groups), [members_of(graph, group, look.view) for group in groups[:limit]]

        def frequencies_of(terms: list[str]) -> tuple[int, dict[str, int]]:
            return looked(self._runtime, namespace, lambda look: look.view.document_frequencies(terms), as_of)

        found, count, largest = looked(self._runtime, namespace, select, as_of)
        kept = self._kept
        for cache in (kept.by_statistics, kept.by_model):
            if len(cache) >= _MAX_SUMMARIES:
                cache.clear()
        groups = tuple(
            Group(tuple(memory.id for memory in members.memories), tuple(members.entities), summary)
            for members, summary in zip(
                largest,
                summaries(largest, self._runtime.terms_of, frequencies_of, kept.by_statistics),
                strict=True,
            )
        )
        result = Communities(level, count, found.modularity, found.converged, groups, method)
        # The statistics are there by now, whatever becomes of the model.
        return result if self._writer is None else written_by(result, largest, self._writer, kept.by_model)

    def partitions(
        self,
        count: int,
        *,
        level: int = LEVELS - 1,
        seed: int = 0,
        as_of: checks.Instant | None = None,
        namespace: str | None = None,
    ) -> tuple[tuple[str, ...], ...]:
        """Return all memories in so many parts of about the same size, with every community in one of them.

        For distribution over machines or workers: what hangs together stays together, so that few edges lead
        from one part to another. Each memory that may be seen is in exactly one part, by its id.

        Parameters
        ----------
        count
            How many parts, from 1 on; some are empty where there are fewer communities.
        level, seed
            The communities by propagation that are kept whole, the coarsest by default; see
            :meth:`communities`.
        """
        parts = checks.whole("count", count, 1)
        if checks.whole("level", level) >= LEVELS:
            raise InvalidArgument("level", level, f"a whole number from 0 to {LEVELS - 1}")

        def answer(look: Look) -> tuple[tuple[str, ...], ...]:
            graph = look.graph()
            communities = Partitioning(seed=seed).levels_of(graph)[level].labels
            records = look.view.records()
            shown = np.flatnonzero(look.shows(records))
            labels = -1 - np.arange(records.size)
            labels[graph.memories] = communities[: graph.memories.size]
            part = balanced(labels[shown], parts)
            ids = np.array([memory.id for memory in look.memories(shown)], object)
            return tuple(tuple(ids[part == number].tolist()) for number in range(parts))

        return looked(self._runtime, namespace, answer, as_of)

    def hubs(
        self,
        *,
        limit: int = 10,
        direction: str = "out",
        damping: float = 0.85,
        iterations: int = 100,
        tolerance: float = 1e-6,
        as_of: checks.Instant | None = None,
        namespace: str | None = None,
    ) -> tuple[Hub, ...]:
        """Return the entities of the highest PageRank: those that most of the graph leads to.

        Parameters
        ----------
        limit
            How many at most.
        direction
            Whether edges are followed ``"out"``, from a memory to what it mentions and from the subject of a
            relation to its object, or ``"both"`` ways.
        damping
            How likely an edge is followed instead of starting again, from 0 to 1.
        iterations, tolerance
            After how many rounds to stop, and at which sum of changes of one round.
        """
        checks.whole("limit", limit)
        checks.one_of("direction", direction, ("out", "both"))

        def answer(look: Look) -> tuple[Hub, ...]:
            graph = look.graph()
            nodes = graph.entity_nodes()
            if not nodes.size:
                return ()
            edges = graph.graph.both_ways if direction == "both" else graph.graph
            ranking = pagerank(edges, damping=damping, iterations=iterations, tolerance=tolerance)
            ranks, mentions = ranking.scores[nodes], graph.mention_counts()[nodes]
            order = np.lexsort((nodes, -ranks))[:limit]
            columns = (nodes[order].tolist(), ranks[order].tolist(), mentions[order].tolist())
            return tuple(
                Hub(graph.name_of(node) or "", rank, count)
                for node, rank, count in zip(*columns, strict=True)
            )

        return looked(self._runtime, namespace, answer, as_of)

    def cells(
        self,
        *,
        precision: int = 7,
        limit: int = 50,
        as_of: checks.Instant | None = None,
        namespace: str | None = None,
    ) -> tuple[PlaceCell, ...]:
        """Return the cells of the grid in which memories are, those with the most memories first.

        Parameters
        ----------
        precision
            How fine the grid is: 4 (2.5 km), 5 (600 m), 6 (120 m), 7 (30 m) or 8 (5 m).
        limit
            How many cells at most.
        """
        cell_height(precision)
        checks.whole("limit", limit)

        def answer(look: Look) -> tuple[PlaceCell, ...]:
            slots, lats, lons = _places(look)
            rows, columns = cells_of(lats, lons, precision)
            _, groups, sizes = np.unique(
                np.stack([rows, columns]), axis=1, return_inverse=True, return_counts=True
            )
            largest = np.argsort(-sizes, kind="stable")[:limit]
            cells = []
            for group in largest.tolist():
                members = np.flatnonzero(groups.ravel() == group)
                first = members[0]
                name = cell_name(precision, rows[first], columns[first])
                ids = tuple(memory.id for memory in look.memories(slots[members]))
                lat, lon = float(lats[members].mean()), float(lons[members].mean())
                cells.append(PlaceCell(name, lat, lon, ids))
            return tuple(cells)

        return looked(self._runtime, namespace, answer, as_of)

    def near(
        self,
        lat: float,
        lon: float,
        radius: float | None = None,
        *,
        limit: int = 10,
        as_of: checks.Instant | None = None,
        namespace: str | None = None,
    ) -> tuple[Nearby, ...]:
        """Return the memories that were nearest to a point, and how far each was, exactly.

        Parameters
        ----------
        lat, lon
            The point, in degrees.
        radius
            How far in metres at most; None for any distance.
        limit
            How many at most.
        """
        point = Place(lat, lon)
        reach = math.inf if radius is None else checks.at_least("radius", radius, 0)
        checks.whole("limit", limit)

        def answer(look: Look) -> tuple[Nearby, ...]:
            slots, lats, lons = _places(look)
            metres = haversines(point.lat, point.lon, lats, lons)
            order = np.argsort(metres, kind="stable")[:limit]
            order = order[metres[order] <= reach]
            return tuple(map(Nearby, look.memories(slots[order]), metres[order].tolist()))

        return looked(self._runtime, namespace, answer, as_of)

    def near_entities(
        self,
        lat: float,
        lon: float,
        radius: float | None = None,
        *,
        limit: int = 10,
        namespace: str | None = None,
    ) -> tuple[NearbyEntity, ...]:
        """Return the entities whose own place is nearest to a point, and how far each is, exactly.

        An entity has a place where `entities.describe` gave it one. Arguments are those of :meth:`near`.
        """
        point = Place(lat, lon)
        reach = math.inf if radius is None else checks.at_least("radius", radius, 0)
        checks.whole("limit", limit)

        def answer(look: Look) -> tuple[NearbyEntity, ...]:
            described = [look.names.entity(key, key) for key in look.names.declared()]
            placed = [(entity, entity.place) for entity in described if entity.place is not None]
            if not placed:
                return ()
            lats, lons = [place.lat for _, place in placed], [place.lon for _, place in placed]
            metres = haversines(point.lat, point.lon, lats, lons)
            order = np.argsort(metres, kind="stable")
            nearest = [NearbyEntity(placed[at][0], float(metres[at])) for at in order.tolist()]
            return tuple([near for near in nearest if near.metres <= reach][:limit])

        return looked(self._runtime, namespace, answer)

    def timeline(
        self,
        entity: str | None = None,
        *,
        start: checks.Instant | None = None,
        end: checks.Instant | None = None,
        limit: int = 50,
        newest_first: bool = False,
        as_of: checks.Instant | None = None,
        namespace: str | None = None,
    ) -> tuple[Memory, ...]:
        """Return memories by their event times.

        Parameters
        ----------
        entity
            Only those that mention this one; None for all.
        start, end
            Only those from `start` on, and before `end`.
        limit
            How many at most.
        newest_first
            Begin with what happened last, not with the oldest.
        """
        checks.flag("newest_first", newest_first)
        since, until = checks.optional_instant("start", start), checks.optional_instant("end", end)
        if since is not None and until is not None and until < since:
            raise InvalidArgument("end", end, f"at or after start ({since.isoformat()})")
        checks.whole("limit", limit)

        def answer(look: Look) -> tuple[Memory, ...]:
            slots = self._slots(look, entity)
            records = look.view.records(slots)
            events = records["event"]
            selected = look.shows(records)
            selected &= events >= (-math.inf if since is None else since.timestamp())
            selected &= events < (math.inf if until is None else until.timestamp())
            order = np.lexsort((slots[selected], events[selected]))
            chosen = slots[selected][order[::-1] if newest_first else order][:limit]
            return tuple(look.memories(chosen))

        return looked(self._runtime, namespace, answer, as_of)

    # --- inside ---------------------------------------------------------------------------------------

    def _slots(self, look: Look, entity: str | None) -> IntArray:
        """Return the slots of the memories that mention an entity; None for all slots."""
        if entity is None:
            return np.arange(look.view.records().size)
        spellings = look.names.spellings(look.key("entity", entity))
        query = LexicalQuery(dict.fromkeys(spellings, 1.0), {"names": 1.0}, (), BM25())
        return look.view.search(query, max(1, look.view.status.count)).slots


def _places(look: Look) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return the slots of the visible memories that have a place, and their latitudes and longitudes."""
    records = look.view.records()
    slots = np.flatnonzero((records["lat"] != NOWHERE) & look.shows(records))
    return slots, records["lat"][slots], records["lon"][slots]


def _described(look: Look, graph: NamespaceGraph, paths: Sequence[Path]) -> tuple[FoundPath, ...]:
    nodes = np.array(sorted({step.node for path in paths for step in path.steps}), np.intp)
    slots = graph.slots_of(nodes)
    memories = look.memories(slots[slots >= 0])
    ids = dict(zip(nodes[slots >= 0].tolist(), (memory.id for memory in memories), strict=True))

    def described(path: Path) -> FoundPath:
        steps = tuple(
            PathStep(step.type, step.forward, step.weight, graph.name_of(step.node), ids.get(step.node))
            for step in path.steps
        )
        return FoundPath(graph.name_of(path.start) or "", steps, path.score, path.cost)

    return tuple(map(described, paths))


def _cut(paths: Sequence[Path], goal: int | None, decay: float) -> list[Path]:
    """Return the ways to a node, each once and no further than there."""
    ways: dict[tuple[int, ...], Path] = {}
    for path in paths:
        for position, step in enumerate(path.steps, 1):
            if step.node == goal:
                steps = path.steps[:position]
                ways.setdefault(tuple(step.edge for step in steps), Path(path.start, steps, decay**position))
    return list(ways.values())
