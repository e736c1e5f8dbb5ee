"""Tools for agents: relate two things, and explore what is known and how it connects."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, ClassVar, Final

from pydantic import Field

import memorata_graph
from memorata.extend.quoting import row
from memorata_server.mcp.answers import DEFAULT_BUDGET, Answer, Row, memory_row, within_budget
from memorata_server.mcp.arguments import Arguments, Budget, Id, Limit, Name, Time, Word
from memorata_server.mcp.tools import counted, tool

if TYPE_CHECKING:
    from memorata import Engine
    from memorata.extend.model import Relation
    from memorata_graph.results import KnownEntity


class Relate(Arguments):
    """A relation between two entities."""

    former_names: ClassVar = {"relation": "type", "since": "valid_from"}

    subject: Name = Field(description="Who or what has the relation, such as Anna Keller.")
    type: Word = Field(description="What it is, in a few words joined by _: works_at, knows, part_of.")
    object: Name = Field(description="Whom or what it leads to, such as Bank of England.")
    memory: Id | None = Field(
        None,
        description="The memory that says so; the relation ends when that is forgotten or corrected.",
    )
    valid_from: Time | None = Field(None, description="Since when it holds: ISO 8601 with a zone.")


class Explore(Arguments):
    """The entities to explore."""

    former_names: ClassVar = {"about": "entity"}

    entity: Name | None = Field(
        None, description="A person, place or thing; left out, the best known ones are listed."
    )
    to: Name | None = Field(None, description="Another one: show how the two are connected. Needs `entity`.")
    depth: Annotated[int, Field(ge=1, le=4)] = Field(2, description="How many steps a connection may have.")
    hubs: bool = Field(False, description="Without `entity`: those that most leads to, by PageRank, instead.")
    limit: Limit = 10
    budget: Budget = DEFAULT_BUDGET


@tool("Relate two things", idempotent=True)
def relate(engine: Engine, args: Relate) -> Answer:
    """Say how two people, places or things relate: Anna works_at Bank of England.

    Worth it for ties that will be asked about by way of others; a plain memory is enough for everything
    else.
    """
    from memorata.extend.errors import EntityNotFound
    from memorata.extend.model import folded

    try:
        around = memorata_graph.Graph(engine).entities.relations(args.subject)
    except EntityNotFound:
        around = ()
    existing = {
        (folded(edge.source), edge.type, folded(edge.target), edge.asserted_by, edge.valid_from)
        for edge in around
    }
    if (folded(args.subject), args.type, folded(args.object), args.memory, args.valid_from) in existing:
        return Answer("That is known already; nothing was changed.")
    memorata_graph.Graph(engine).entities.relate(
        args.subject, args.type, args.object, memory=args.memory, valid_from=args.valid_from
    )
    return Answer("Noted. explore shows it with everything else that is known about either.")


@tool("Explore entities and their relations", read_only=True, idempotent=True)
def explore(engine: Engine, args: Explore) -> Answer:
    """List the entities, show one of them (relations, newest memories), or how two connect.

    For a question in words, call recall.
    """
    from memorata.extend.errors import NotGiven

    if args.entity is None:
        if args.to is not None:
            raise NotGiven("entity", "together with to: the two to connect")
        if args.hubs:
            hubs = [Row(row(asdict(hub))) for hub in memorata_graph.Graph(engine).hubs(limit=args.limit)]
            return within_budget("What most leads to, by PageRank.", hubs, args.budget)
        entities = memorata_graph.Graph(engine).entities.list(limit=args.limit)
        if not entities:
            return Answer("No entity is known yet. remember something first.")
        rows = [entity_row(entity) for entity in entities]
        return within_budget("The people, places and things that most is known about.", rows, args.budget)
    if args.to is not None:
        return _connections(engine, args.entity, args.to, args)
    return _surroundings(engine, args.entity, args)


def _connections(engine: Engine, entity: str, to: str, args: Explore) -> Answer:
    paths = memorata_graph.Graph(engine).paths(entity, to=to, depth=args.depth, paths=args.limit)
    if not paths.paths:
        return Answer(f"No connection of up to {args.depth} steps is known between the two.")
    rows = []
    for path in paths.paths:
        # The relation, whether it is followed backwards, and where it leads.
        steps = [
            {"type": step.type}
            | ({} if step.forward else {"backwards": True})
            | ({"entity": step.entity} if step.memory is None else {"memory": step.memory})
            for step in path.steps
        ]
        rows.append(Row(row({"from": path.start, "steps": steps})))
    more = "" if paths.truncated is None else " There may be more than these."
    return within_budget(f"How the two are connected, shortest first.{more}", rows, args.budget)


def _surroundings(engine: Engine, entity: str, args: Explore) -> Answer:
    record = memorata_graph.Graph(engine).entities.get(entity)
    relations = memorata_graph.Graph(engine).entities.relations(entity)
    newest = memorata_graph.Graph(engine).timeline(entity, limit=args.limit, newest_first=True)
    rows = [entity_row(record), *map(relation_row, relations[-args.limit :])]
    rows += [memory_row(memory) for memory in newest]
    counts = (
        f"{counted(len(relations), 'relation', 'relations')}, "
        f"{counted(record.memories, 'memory', 'memories')}"
    )
    newest_of = f"; the newest {len(newest)} of these" if newest else ""
    return within_budget(f"What is known: {counts}{newest_of}.", rows, args.budget)


def entity_row(record: KnownEntity) -> Row:
    """Return an entity as a row of data."""
    from memorata_graph.codec import entity_json

    return Row(row(entity_json(record)))


def relation_row(relation: Relation) -> Row:
    """Return a relation as a row of data."""
    from memorata.extend.json import relation_json

    data = relation_json(relation)
    return Row(row({name: data[name] for name in ("subject", "type", "object", "valid_from", "memory")}))


TOOLS: Final = (relate, explore)
"""The tools, in the order in which they are listed."""
