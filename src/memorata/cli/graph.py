"""The graph, place and time: paths, communities, hubs, near, cells, timeline."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final

from typer import Argument, Option

from memorata.cli import options
from memorata.cli.command import Session
from memorata.cli.options import one_of, place_of
from memorata.cli.output import counted, memory_table, one_line, plain_line, visible
from memorata.service.errors import NOT_FOUND

if TYPE_CHECKING:
    from memorata.engine import Engine
    from memorata.engine.graph.communities import FoundPath

_DIRECTIONS: Final = ("both", "out", "in")
_ORDERS: Final = ("breadth", "depth")
_EXCERPT_LENGTH: Final = 60
_KILOMETRE: Final = 1000


def paths(
    session: Session,
    entity: str = Argument(metavar="ENTITY", help="The entity to start from."),
    to: str | None = Option(None, metavar="ENTITY", help="Only paths to this entity."),
    depth: int = Option(2, help="How many steps a path may have."),
    type: list[str] | None = Option(None, "-t", help="A type of relation to follow; repeatable."),
    direction: str = Option("both", help="both, out or in."),
    order: str = Option("breadth", help="breadth or depth first."),
    decay: float = Option(0.85, help="What each step leaves of a score, above 0 up to 1."),
    shortest: bool = Option(False, help="Only the shortest path to --to, by Dijkstra."),
    scores: bool = Option(False, help="The score of each entity that is reached instead."),
    nodes: int = Option(100, help="How many entities and memories to reach at most."),
    limit: options.Limit = 100,
    seconds: float | None = Option(None, help="How much time to take at most."),
    as_of: options.AsOf = None,
) -> None:
    """Show the paths that lead from an entity through relations and memories."""
    from memorata.service.codec import paths_json

    output = session.output
    with session.memory() as engine:
        result = engine.graph.paths(
            entity,
            to=to,
            depth=depth,
            types=type or None,
            direction=one_of("--direction", direction, _DIRECTIONS),
            order=one_of("--order", order, _ORDERS),
            decay=decay,
            shortest=shortest,
            nodes=nodes,
            paths=limit,
            seconds=seconds,
            as_of=as_of,
        )
        lines = [] if output.json or scores else [_path_line(engine, path) for path in result.paths]
    if output.json:
        output.data(paths_json(result))
    elif scores:
        for name, score in result.scores.items():
            output.line(f"{score:.4f}\t{visible(name)}")
    for path, line in zip(result.paths, lines, strict=False):
        output.line(f"{path.score:.4f}  {line}" if output.terminal else f"{path.score:.4f}\t{line}")
    if result.truncated is not None:
        output.say(f"There is more: the search ended at its limit of {result.truncated}")
    if not result.paths:
        session.leave(NOT_FOUND, "No path leads from there" + ("" if to is None else f" to {visible(to)}"))


def communities(
    session: Session,
    level: int = Option(0, help="0 for the finest communities."),
    limit: options.Limit = 10,
    seed: int = Option(0, help="The same seed gives the same communities."),
    method: str = Option("propagation", help="propagation, or leiden (memorata[communities])."),
    levels: int = Option(3, help="How many levels label propagation makes."),
    iterations: int | None = Option(None, help="The most rounds: 100, or 2 of leiden."),
    resolution: float = Option(1.0, help="More makes smaller communities."),
    as_of: options.AsOf = None,
) -> None:
    """Show the communities of memories and entities, and their topics."""
    from memorata.service.codec import communities_json

    output = session.output
    with session.memory() as engine:
        result = engine.graph.communities(
            level=level,
            limit=limit,
            seed=seed,
            method=method,
            levels=levels,
            iterations=iterations,
            resolution=resolution,
            as_of=as_of,
        )
    lines = [
        visible(
            f"{group.summary.text} {group.written_by}: {group.written}"
            if group.written
            else group.summary.text
        )
        for group in result.groups
    ]
    output.result(communities_json(result), *lines)
    if result.failure:
        output.warn(f"Note: the model wrote no summaries: {result.failure}")
    if not result.groups:
        session.leave(NOT_FOUND, "There are no communities here yet")
    output.say(f"{counted(result.count, 'community', 'communities')} · modularity {result.modularity:.2f}")


def hubs(session: Session, limit: options.Limit = 10, as_of: options.AsOf = None) -> None:
    """Show the entities of the highest PageRank: those that most of the graph leads to."""
    output = session.output
    with session.memory() as engine:
        hubs = engine.graph.hubs(limit=limit, as_of=as_of)
    output.result(
        {"hubs": hubs},
        *(f"{hub.score:.4f}\t{visible(hub.entity)}\t{hub.memories}" for hub in hubs),
    )
    if not hubs:
        session.leave(NOT_FOUND, "No entities are known here yet")


def cells(
    session: Session,
    precision: int = Option(7, "-p", help="4 (2.5 km) to 8 (5 m)."),
    limit: options.Limit = 50,
    as_of: options.AsOf = None,
) -> None:
    """Show the cells of the grid in which memories are, those with the most memories first."""
    output = session.output
    with session.memory() as engine:
        cells = engine.graph.cells(precision=precision, limit=limit, as_of=as_of)
    output.result(
        {"cells": cells},
        *(f"{cell.name}\t{cell.lat:.5f},{cell.lon:.5f}\t{len(cell.memories)}" for cell in cells),
    )
    if not cells:
        session.leave(NOT_FOUND, "No memory here has a place")


def near(
    session: Session,
    place: str = Argument(metavar="LAT,LON", help="The place, in degrees."),
    radius: float | None = Option(None, "-r", help="How far at most, in metres."),
    limit: options.Limit = 10,
    as_of: options.AsOf = None,
) -> None:
    """Show the memories nearest to a place, and their distances."""
    from memorata.service.codec import nearby_json

    output = session.output
    point = place_of("LAT,LON", place)
    assert point is not None  # only no text gives no place
    with session.memory() as engine:
        nearest = engine.graph.near(point.lat, point.lon, radius, limit=limit, as_of=as_of)
    if not output.terminal:
        lines = [f"{near.metres:.1f}\t{near.memory.id}\t{one_line(near.memory.content)}" for near in nearest]
        output.result({"memories": [nearby_json(near) for near in nearest]}, *lines)
    elif nearest:
        distances = [distance(near.metres) for near in nearest]
        output.show(memory_table([near.memory for near in nearest], heads=distances))
    if not nearest:
        session.leave(NOT_FOUND, "No memory here has a place" + ("" if radius is None else " so near"))


def timeline(
    session: Session,
    entity: str | None = Argument(None, metavar="[ENTITY]", help="Only memories that mention it."),
    start: datetime | None = Option(None, help="Only from that time on."),
    end: datetime | None = Option(None, help="Only before that time."),
    limit: options.Limit = 50,
    newest_first: bool = Option(False, help="What happened last first."),
    as_of: options.AsOf = None,
) -> None:
    """Show memories by the time of what they tell, the oldest first."""
    from memorata.service.codec import memories_json

    output = session.output
    with session.memory() as engine:
        memories = engine.graph.timeline(
            entity, start=start, end=end, limit=limit, newest_first=newest_first, as_of=as_of
        )
    if not output.terminal:
        output.result(memories_json(memories), *map(plain_line, memories))
    elif memories:
        output.show(memory_table(memories))
    if not memories:
        session.leave(NOT_FOUND, "No memory is from that time")


def distance(metres: float) -> str:
    """Return a distance in metres or kilometres."""
    return f"{metres:.0f} m" if metres < _KILOMETRE else f"{metres / _KILOMETRE:,.0f} km"


def _path_line(engine: Engine, path: FoundPath) -> str:
    """Return a path as text, memories by their content."""
    line = path.start
    for step in path.steps:
        node = step.entity
        if step.memory is not None:
            node = f"“{one_line(engine.get(step.memory).content, _EXCERPT_LENGTH)}”"
        line += f" —{step.type}→ {node}" if step.forward else f" ←{step.type}— {node}"
    return one_line(line)
