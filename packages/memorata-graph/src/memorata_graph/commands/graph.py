"""Entities and relations, the graph, place and time: from relate and entities to paths, near and timeline."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Final, TextIO

from typer import Argument, Option

import memorata_graph
from memorata.extend.commands import (
    Session,
    counted,
    dumps,
    memories,
    memory_of,
    memory_table,
    one_line,
    one_of,
    open_target,
    options,
    place_of,
    plain_line,
    visible,
)
from memorata.extend.errors import NOT_FOUND, InvalidArgument

if TYPE_CHECKING:
    from memorata import Engine
    from memorata.extend.model import Relation
    from memorata_graph.entities import About
    from memorata_graph.results import FoundPath, KnownEntity

_MAX_SHOWN: Final = 5


EntityName = Annotated[str, Argument(metavar="ENTITY", help="The entity, by any of its names.")]
Text = Annotated[bool, Option("--text", help="Every memory with that word, even if it is no known entity.")]


def relate(
    session: Session,
    subject: str = Argument(metavar="SUBJECT", help="The entity that has the relation."),
    type: str = Argument(metavar="TYPE", help="The type of relation: knows, works_at, …"),
    object: str = Argument(metavar="OBJECT", help="The entity it leads to."),
    weight: float = Option(1.0, help="How strong it is, above 0."),
    memory: str | None = Option(None, metavar="ID", help="The memory that asserts it."),
    valid_from: datetime | None = Option(None, help="Since when it is true."),
    valid_to: datetime | None = Option(None, help="Until when it is true."),
    remove: bool = Option(False, help="Remove it instead."),
) -> None:
    """Relate one entity to another."""
    from memorata.extend.json import relation_json

    with session.memory(create=not remove) as engine:
        if remove:
            removed = memorata_graph.Graph(engine).entities.unrelate(subject, type, object)
            session.output.result({"removed": removed}, f"removed {counted(removed, 'relation')}")
            return
        id_ = None if memory is None else memory_of(engine, memory).id
        relation = memorata_graph.Graph(engine).entities.relate(
            subject, type, object, weight=weight, memory=id_, valid_from=valid_from, valid_to=valid_to
        )
    session.output.result(relation_json(relation), _relation_line(relation))


def entities(
    session: Session,
    entity: str | None = Argument(None, metavar="[ENTITY]", help="One entity; all otherwise."),
    prefix: str = Option("", help="Only names that begin so."),
    limit: options.Limit = 20,
    type: str | None = Option(None, "-t", help="Set the type of the entity."),
    alias: list[str] | None = Option(None, help="Another name of it; repeatable."),
    description: str | None = Option(None, help="A few words about it."),
    place: str | None = Option(None, metavar="LAT,LON", help="Where it is; none takes it away."),
    merge: str | None = Option(None, metavar="OTHER", help="Read OTHER as ENTITY from now on."),
    undo_merge: bool = Option(False, help="Let ENTITY stand for itself again."),
    nicknames: bool = Option(False, help="List the nicknames of speakers instead."),
    undo_alias: bool = Option(False, help="No longer read the nickname ENTITY as a name."),
    restore_alias: bool = Option(False, help="Read it as a name again."),
    as_of: datetime | None = Option(None, help="The relations that held at that time."),
) -> None:
    """List the entities, or describe and show one of them; list nicknames, or undo one."""
    if nicknames or undo_alias or restore_alias:
        _aliases(session, entity, undo=undo_alias, restore=restore_alias)
        return
    described = any(value is not None for value in (type, alias, description, place))
    if entity is None and (described or undo_merge or merge is not None or as_of is not None):
        raise InvalidArgument(
            "ENTITY", entity, "given with --type, --alias, --description, --place, a merge or --as-of"
        )
    with session.memory() as engine:
        entities = memorata_graph.Graph(engine).entities
        if entity is None:
            _list_entities(session, entities.list(prefix=prefix, limit=limit))
            return
        if described:
            entities.describe(
                entity,
                type=type,
                aliases=alias,
                description=description,
                place={} if place == "none" else place_of("--place", place),
            )
        if merge is not None:
            entities.merge(entity, merge)
        if undo_merge:
            entities.undo_merge(entity)
        _show_entity(
            session,
            entities.get(entity),
            entities.relations(entity, as_of=as_of),
        )


def _aliases(session: Session, word: str | None, *, undo: bool, restore: bool) -> None:
    """List the nicknames of speakers, once one of them is undone or restored."""
    if (undo or restore) and word is None:
        raise InvalidArgument("ENTITY", word, "given with --undo-alias and --restore-alias")
    with session.memory() as engine:
        if word is not None and (undo or restore):
            memorata_graph.Graph(engine).entities.undo_alias(word, restore=restore)
        aliases = memorata_graph.Graph(engine).entities.aliases()
    lines = []
    for alias in aliases:
        stands = "itself (undone)" if alias.undone else visible(alias.name)
        lines.append(f"{alias.memories}\t{one_line(alias.word)}\t{stands}")
    empty = "" if aliases else "No nickname of a speaker is known here"
    session.output.result({"aliases": aliases}, *lines, notes=[empty])


def about(
    session: Session,
    entity: EntityName,
    file: options.OutputFile = "-",
    text: Text = False,
    force: options.Force = False,
) -> None:
    """Write everything about an entity as JSONL, as export does: memories, hidden ones too."""
    with session.memory() as engine:
        result = memorata_graph.Graph(engine).entities.about(entity, text=text)
        with open_target(file, force=force) as target:
            _write(result, engine.namespace, target)
    if file != "-" and session.output.json:
        session.output.data({**_counts(result), "file": file})
    else:
        session.output.say(_summary(result))
    _note_other_texts(session, result)


def purge(
    session: Session,
    entity: EntityName,
    export: str | None = Option(None, metavar="FILE", help="Export everything before it is removed."),
    text: Text = False,
    dry_run: options.DryRun = False,
    force: options.Force = False,
    yes: options.Yes = False,
) -> None:
    """Remove everything about an entity for good. This cannot be undone.

    It must be a known entity; of a name that is an ordinary word, such as Will, only what names it counts.
    """
    output = session.output
    with session.memory() as engine:
        result = memorata_graph.Graph(engine).entities.purge(entity, text=text, dry_run=True)
        for memory in result.memories[:_MAX_SHOWN]:
            output.say(f"  {one_line(memory.content, 100)}", "")
        if len(result.memories) > _MAX_SHOWN:
            output.say(f"  … and {len(result.memories) - _MAX_SHOWN:,} more", "")
        _note_other_texts(session, result)
        if dry_run:
            ids = [memory.id for memory in result.memories]
            output.result(
                {**_counts(result), "file": None, "would_remove": ids}, f"Would remove {_summary(result)}."
            )
            return
        if not session.confirm(f"Remove {_summary(result)} for good?", yes=yes):
            return
        if export is not None:
            with open_target(export, force=force) as target:
                _write(result, engine.namespace, target)
        removed = memorata_graph.Graph(engine).entities.purge(entity, text=text)
    output.result({**_counts(removed), "file": export}, f"Removed {_summary(removed)}.")


def _list_entities(session: Session, records: Sequence[KnownEntity]) -> None:
    from memorata_graph.codec import entity_json

    output = session.output
    if output.json:
        output.data({"entities": list(map(entity_json, records))})
    elif output.terminal and records:
        rows = []
        for record in records:
            names = ", ".join((record.entity.name, *record.entity.aliases))
            rows.append((f"{record.memories:,}", f"{record.relations:,}", record.entity.type, names))
        output.table(("memories", "relations", "type", "name"), rows, style="")
    else:
        for record in records:
            output.line(_entity_line(record))
    if not records:
        output.say("No entity is known here")


def _show_entity(session: Session, record: KnownEntity, relations: Sequence[Relation]) -> None:
    from memorata.extend.json import relation_json
    from memorata_graph.codec import entity_json

    output = session.output
    if output.json:
        rows = [relation_json(relation) for relation in relations]
        output.data({"entities": [entity_json(record)], "relations": rows})
        return
    output.line(_entity_line(record))
    entity = record.entity
    named = {"aliases": ", ".join(entity.aliases), "merged": ", ".join(record.merged)}
    where = "" if entity.place is None else f"{entity.place.lat},{entity.place.lon} {entity.place.name}"
    for label, text in {**named, "description": entity.description, "place": where.rstrip()}.items():
        if text:
            output.line(f"{label}\t{visible(text)}")
    for relation in relations:
        output.line(_relation_line(relation))


def _entity_line(record: KnownEntity) -> str:
    return f"{record.memories}\t{visible(record.entity.type)}\t{one_line(record.entity.name)}"


def _relation_line(relation: Relation) -> str:
    return one_line(f"{relation.source} —{relation.type}→ {relation.target}")


def _note_other_texts(session: Session, result: About) -> None:
    if result.in_texts:
        more = counted(result.in_texts, "more memory has", "more memories have")
        session.output.say(f"{more} the word, and probably not as the name; --text includes them")


def _write(result: About, namespace: str, target: TextIO) -> None:
    from memorata_graph.codec import about_rows

    for row in about_rows(result, namespace):
        target.write(dumps(row, target) + "\n")


def _counts(result: About) -> dict[str, int]:
    return {name: len(getattr(result, name)) for name in ("memories", "entities", "relations")}


def _summary(result: About) -> str:
    entities = counted(len(result.entities), "entity", "entities")
    return f"{memories(len(result.memories))}, {entities}, {counted(len(result.relations), 'relation')}"


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
    from memorata_graph.codec import paths_json

    output = session.output
    with session.memory() as engine:
        result = memorata_graph.Graph(engine).paths(
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
    method: str = Option("propagation", help="propagation, or leiden (memorata-graph[leiden])."),
    levels: int = Option(3, help="How many levels label propagation makes."),
    iterations: int | None = Option(None, help="The most rounds: 100, or 2 of leiden."),
    resolution: float = Option(1.0, help="More makes smaller communities."),
    partitions: int | None = Option(None, help="All memories in so many parts instead, for distribution."),
    as_of: options.AsOf = None,
) -> None:
    """Show the communities of memories and entities, and their topics."""
    from memorata_graph.codec import communities_json

    output = session.output
    with session.memory() as engine:
        if partitions is not None:
            parts = memorata_graph.Graph(engine).partitions(partitions, seed=seed, as_of=as_of)
            lines = [
                f"{place}\t{counted(len(part), 'memory', 'memories')}" for place, part in enumerate(parts)
            ]
            output.result({"partitions": parts}, *lines)
            return
        result = memorata_graph.Graph(engine).communities(
            level=level,
            limit=limit,
            seed=seed,
            method=method,
            levels=levels,
            iterations=iterations,
            resolution=resolution,
            as_of=as_of,
        )
    lines = []
    for group in result.groups:
        written = f" {group.written_by}: {group.written}" if group.written else ""
        lines.append(visible(group.summary.text + written))
    output.result(communities_json(result), *lines)
    if result.failure:
        output.warn(f"Note: the model wrote no summaries: {result.failure}")
    if not result.groups:
        session.leave(NOT_FOUND, "There are no communities here yet")
    output.say(f"{counted(result.count, 'community', 'communities')} · modularity {result.modularity:.2f}")


def hubs(
    session: Session,
    limit: options.Limit = 10,
    direction: str = Option("out", help="out or both: how edges are followed."),
    damping: float = Option(0.85, help="How likely an edge is followed instead of starting again."),
    iterations: int = Option(100, help="The most rounds."),
    tolerance: float = Option(1e-6, help="The sum of changes of a round that ends it."),
    as_of: options.AsOf = None,
) -> None:
    """Show the entities of the highest PageRank: those that most of the graph leads to."""
    with session.memory() as engine:
        hubs = memorata_graph.Graph(engine).hubs(
            limit=limit,
            direction=direction,
            damping=damping,
            iterations=iterations,
            tolerance=tolerance,
            as_of=as_of,
        )
    lines = [f"{hub.score:.4f}\t{visible(hub.entity)}\t{hub.memories}" for hub in hubs]
    session.output.result({"hubs": hubs}, *lines)
    if not hubs:
        session.leave(NOT_FOUND, "No entities are known here yet")


def cells(
    session: Session,
    precision: int = Option(7, "-p", help="4 (2.5 km) to 8 (5 m)."),
    limit: options.Limit = 50,
    as_of: options.AsOf = None,
) -> None:
    """Show the cells of the grid in which memories are, those with the most memories first."""
    with session.memory() as engine:
        cells = memorata_graph.Graph(engine).cells(precision=precision, limit=limit, as_of=as_of)
    lines = [f"{cell.name}\t{cell.lat:.5f},{cell.lon:.5f}\t{len(cell.memories)}" for cell in cells]
    session.output.result({"cells": cells}, *lines)
    if not cells:
        session.leave(NOT_FOUND, "No memory here has a place")


def near(
    session: Session,
    place: str = Argument(metavar="LAT,LON", help="The place, in degrees."),
    radius: float | None = Option(None, "-r", help="How far at most, in metres."),
    limit: options.Limit = 10,
    entities: bool = Option(False, help="The entities with a place of their own, instead of memories."),
    as_of: options.AsOf = None,
) -> None:
    """Show the memories nearest to a place, and their distances."""
    from memorata_graph.codec import nearby_entity_json, nearby_json

    output = session.output
    point = place_of("LAT,LON", place)
    assert point is not None  # only no text gives no place
    if entities:
        with session.memory() as engine:
            named = memorata_graph.Graph(engine).near_entities(point.lat, point.lon, radius, limit=limit)
        lines = [f"{near.metres:.1f}\t{one_line(near.entity.name)}" for near in named]
        output.result({"entities": list(map(nearby_entity_json, named))}, *lines)
        if not named:
            session.leave(NOT_FOUND, "No entity here has a place" + ("" if radius is None else " so near"))
        return
    with session.memory() as engine:
        nearest = memorata_graph.Graph(engine).near(point.lat, point.lon, radius, limit=limit, as_of=as_of)
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
    from memorata.extend.json import memories_json

    output = session.output
    with session.memory() as engine:
        memories = memorata_graph.Graph(engine).timeline(
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
