"""Entities and relations, the graph, place and time over HTTP, and the schemas of these answers."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import Path, Query
from pydantic import BaseModel, Field

from memorata.extend.json import Json, memories_json, plain, relation_json
from memorata_graph import codec
from memorata_graph.entities import SpeakerAlias
from memorata_graph.graph import Graph
from memorata_graph.results import FoundPath, PathStep, PlaceCell
from memorata_server import answers
from memorata_server.http.context import (
    ReadContext,
    UnkeyedAdminContext,
    WriteContext,
    read_route,
    write_route,
)
from memorata_server.http.errors import api_router
from memorata_server.http.telemetry import CREATE, DELETE, SEARCH, UPDATE
from memorata_server.schemas import (
    MAX_LIST,
    MAX_RESULTS,
    MAX_WORD,
    Id,
    Number,
    PlaceInput,
    RequestBody,
    Time,
    Word,
    Words,
)

router = api_router("/v1", "entities and graph")

Name = Annotated[str, Query(max_length=MAX_WORD)]
EntityName = Annotated[str, Path(max_length=MAX_WORD, description="Any of its names.")]
EntityQuery = Annotated[
    str, Query(min_length=1, max_length=MAX_WORD, description="A person or a thing, by any name.")
]
InTexts = Annotated[
    bool, Query(description="Every memory with that word counts, though it be no name that is known.")
]
DryRun = Annotated[bool, Query(description="Remove nothing, and only tell how many would be.")]
Limit = Annotated[int, Query(ge=1, le=MAX_RESULTS)]
AsOf = Annotated[Time | None, Query(description="As it was known and believed then.")]
MAX_SECONDS = 20.0


class EntityUpdate(RequestBody):
    """Fields of an entity to set; others stay as they are."""

    type: Word | None = None
    aliases: Words | None = None
    description: Word | None = None
    place: PlaceInput | None = Field(None, description="Where it is, for one that stays in a place.")


class MergeRequest(RequestBody):
    """Two names of one entity."""

    keep: Word
    other: Word


class UndoMergeRequest(RequestBody):
    """A merged name to separate again."""

    name: Word


class UndoAliasRequest(RequestBody):
    """A nickname or misspelt name that is no longer read as a speaker's name, or is again."""

    word: Word
    restore: bool = False


class NewRelation(RequestBody):
    """A relation between two entities."""

    subject: Word = Field(examples=["Anna"])
    type: Word = Field(examples=["works_at"])
    object: Word = Field(examples=["Bank of England"])
    weight: Number = 1.0
    memory: Id | None = Field(None, description="The memory that asserts it.")
    valid_from: Time | None = None
    valid_to: Time | None = None


class EntityDescription(BaseModel):
    """An entity as it was described."""

    name: str
    type: str
    aliases: list[str]
    description: str
    place: answers.PlaceAnswer | None


class EntityAnswer(EntityDescription):
    """An entity, and how many memories and relations it has."""

    memories: int
    relations: int
    merged: list[str]


EntitiesAnswer = answers.list_of(
    EntityAnswer, "entities", "The entities, those that most memories mention first."
)


@answers.fields_of(SpeakerAlias)
class AliasAnswer(BaseModel):
    """A nickname of a speaker that queries may use; `undone` if it stands for itself."""


AliasesAnswer = answers.list_of(
    AliasAnswer, "aliases", "The nicknames of speakers, and those that were undone."
)


class RelationAnswer(BaseModel):
    """A relation."""

    subject: str
    type: str
    object: str
    weight: float
    memory: str | None
    valid_from: datetime | None
    valid_to: datetime | None
    created_at: datetime | None


class RelationsAnswer(BaseModel):
    """Relations that hold, in the order in which they were declared."""

    relations: list[RelationAnswer]
    more: bool = Field(description="Whether there are more than the limit.")


class EntityPurgeAnswer(answers.RemovedAnswer):
    """How many memories were removed, or would be in a dry run."""

    would_remove: int | None = None


class AboutAnswer(BaseModel):
    """Everything about an entity, hidden memories too."""

    entity: str
    memories: list[answers.MemoryAnswer]
    entities: list[dict[str, Any]]
    relations: list[RelationAnswer]
    in_texts: int = Field(description="How many more memories have the word, probably with another meaning.")


@answers.fields_of(PathStep)
class StepAnswer(BaseModel):
    """One edge of a path, to an entity or a memory."""


@answers.fields_of(FoundPath)
class PathAnswer(BaseModel):
    """A path from an entity."""

    steps: list[StepAnswer]


class EntityScoreAnswer(BaseModel):
    """An entity and its score."""

    entity: str
    score: float


class PathsAnswer(BaseModel):
    """Paths, the shortest first, the limit that was reached, if any, and the score of each entity."""

    paths: list[PathAnswer]
    truncated: str | None
    scores: list[EntityScoreAnswer]


class HubAnswer(EntityScoreAnswer):
    """An entity, its PageRank, and how many memories mention it."""

    memories: int


HubsAnswer = answers.list_of(HubAnswer, "hubs", "The entities of the highest PageRank, best first.")


@answers.fields_of(PlaceCell)
class CellAnswer(BaseModel):
    """A cell of the grid, the mean of the places in it, and the ids of the memories there."""


CellsAnswer = answers.list_of(
    CellAnswer, "cells", "The cells in which memories are, those with the most first."
)


class CommunityAnswer(BaseModel):
    """A community."""

    summary: str
    terms: list[str]
    entities: list[str]
    memories: list[str]
    since: datetime | None
    until: datetime | None
    representative: str | None
    written: str | None
    written_by: str | None


class CommunitiesAnswer(BaseModel):
    """The communities of a namespace, the largest first."""

    communities: list[CommunityAnswer]
    partitions: list[list[str]] = Field(
        description="Ids of memories, part by part, where parts were asked for."
    )
    level: int
    count: int
    modularity: float
    converged: bool
    method: str
    failure: str


class NearbyAnswer(BaseModel):
    """A memory and its distance."""

    metres: float
    memory: answers.MemoryAnswer


class NearbyEntityAnswer(BaseModel):
    """An entity with a place of its own, and its distance."""

    metres: float
    entity: EntityDescription


class NearAnswer(BaseModel):
    """The memories nearest to a point, and the entities whose own place is near it."""

    memories: list[NearbyAnswer]
    entities: list[NearbyEntityAnswer]


# --- entities and relations ---------------------------------------------------------------------------


@read_route(router.get, "/entities", EntitiesAnswer, SEARCH)
def list_entities(
    context: ReadContext, prefix: Name = "", limit: Annotated[int, Query(ge=1, le=MAX_RESULTS)] = 50
) -> Json:
    """List the entities of the namespace."""
    entities = Graph(context.engine).entities.list(prefix=prefix, limit=limit)
    return {"entities": list(map(codec.entity_json, entities))}


@write_route(router.post, "/entities/merge", EntityAnswer, UPDATE)
def merge_entities(context: WriteContext, body: MergeRequest) -> Json:
    """Read one name as another from now on."""
    return codec.entity_json(Graph(context.engine).entities.merge(body.keep, body.other))


@write_route(router.post, "/entities/undo_merge", EntityAnswer, UPDATE)
def undo_merge(context: WriteContext, body: UndoMergeRequest) -> Json:
    """Undo a merge: the name stands for itself again."""
    Graph(context.engine).entities.undo_merge(body.name)
    return codec.entity_json(Graph(context.engine).entities.get(body.name))


@read_route(router.get, "/entities/aliases", AliasesAnswer, SEARCH)
def list_aliases(context: ReadContext) -> Json:
    """List the nicknames of speakers that queries are expanded by, and the undone ones."""
    return {"aliases": plain(Graph(context.engine).entities.aliases())}


@write_route(router.post, "/entities/undo_alias", AliasesAnswer, UPDATE)
def undo_alias(context: WriteContext, body: UndoAliasRequest) -> Json:
    """Let a nickname or a misspelt name stand for itself in queries, or no longer."""
    Graph(context.engine).entities.undo_alias(body.word, restore=body.restore)
    return {"aliases": plain(Graph(context.engine).entities.aliases())}


@read_route(router.get, "/entities/{name:path}", EntityAnswer, SEARCH)
def get_entity(context: ReadContext, name: EntityName) -> Json:
    """Return what is known about one entity, by any of its names."""
    return codec.entity_json(Graph(context.engine).entities.get(name))


@write_route(router.put, "/entities/{name:path}", EntityAnswer, UPDATE)
def describe_entity(context: WriteContext, name: EntityName, body: EntityUpdate) -> Json:
    """Describe an entity; a new name becomes one."""
    Graph(context.engine).entities.describe(name, **body.set_fields())
    return codec.entity_json(Graph(context.engine).entities.get(name))


@read_route(router.get, "/relations", RelationsAnswer, SEARCH)
def list_relations(
    context: ReadContext,
    entity: Annotated[str | None, Query(max_length=MAX_WORD, description="At either end.")] = None,
    as_of: Annotated[Time | None, Query(description="As it was believed then.")] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_RESULTS)] = 100,
) -> Json:
    """Return the relations that hold."""
    relations = Graph(context.engine).entities.relations(entity, as_of=as_of)
    return {"relations": list(map(relation_json, relations[:limit])), "more": len(relations) > limit}


@write_route(router.post, "/relations", RelationAnswer, CREATE, status=201)
def relate(context: WriteContext, body: NewRelation) -> Json:
    """Relate two entities; a relation that exists gets the new weight and end."""
    fields = body.set_fields()
    ends = fields.pop("subject"), fields.pop("type"), fields.pop("object")
    return relation_json(Graph(context.engine).entities.relate(*ends, **fields))


@write_route(router.delete, "/relations", answers.RemovedAnswer, DELETE)
def unrelate(context: WriteContext, subject: Name, type: Name, object: Name) -> Json:
    """Remove every relation of a type from one entity to another."""
    return {"removed": Graph(context.engine).entities.unrelate(subject, type, object)}


@read_route(router.get, "/about", AboutAnswer)
def about(context: ReadContext, entity: EntityQuery, text: InTexts = False) -> Json:
    """Return everything about a person or a thing that is known."""
    return codec.about_json(Graph(context.engine).entities.about(entity, text=text))


@read_route(router.delete, "/about", EntityPurgeAnswer, DELETE)
def purge_entity(
    context: UnkeyedAdminContext, entity: EntityQuery, text: InTexts = False, dry_run: DryRun = False
) -> Json:
    """Remove everything about a person or a thing that is known. This cannot be undone, and takes a while."""
    about = Graph(context.engine).entities.purge(entity, text=text, dry_run=dry_run)
    if dry_run:
        return {"removed": 0, "would_remove": len(about.memories)}
    context.server.jobs.forget(context.namespace)
    return {"removed": len(about.memories)}


# --- the graph, time and place ------------------------------------------------------------------------


@read_route(router.get, "/paths", PathsAnswer, SEARCH)
def find_paths(
    context: ReadContext,
    start: Annotated[str, Query(max_length=MAX_WORD, description="The entity to start from.")],
    to: Annotated[str | None, Query(max_length=MAX_WORD, description="Only ways to this entity.")] = None,
    depth: Annotated[int, Query(ge=1, le=10)] = 2,
    type: Annotated[
        list[str] | None, Query(max_length=MAX_LIST, description="A type of relation to follow; repeatable.")
    ] = None,
    direction: Literal["both", "out", "in"] = "both",
    order: Literal["breadth", "depth"] = "breadth",
    decay: Annotated[float, Query(gt=0, le=1, description="What each step leaves of a score.")] = 0.85,
    shortest: Annotated[bool, Query(description="Only the shortest way to `to`, by Dijkstra.")] = False,
    nodes: Limit = 100,
    limit: Limit = 100,
    seconds: Annotated[float, Query(gt=0, le=MAX_SECONDS)] = 5.0,
    as_of: AsOf = None,
) -> Json:
    """Return the ways that lead from an entity through relations and memories."""
    found = Graph(context.engine).paths(
        start,
        to=to,
        depth=depth,
        types=type or None,
        direction=direction,
        order=order,
        decay=decay,
        shortest=shortest,
        nodes=nodes,
        paths=limit,
        seconds=seconds,
        as_of=as_of,
    )
    return codec.paths_json(found)


@read_route(router.get, "/communities", CommunitiesAnswer, SEARCH)
def list_communities(
    context: ReadContext,
    level: Annotated[int, Query(ge=0, le=19, description="0 for the finest.")] = 0,
    limit: Limit = 10,
    seed: Annotated[int, Query(ge=0, lt=2**31)] = 0,
    method: Annotated[
        Literal["propagation", "leiden"], Query(description="leiden needs memorata-graph[leiden].")
    ] = "propagation",
    levels: Annotated[int, Query(ge=1, le=20, description="How many levels propagation makes.")] = 3,
    iterations: Annotated[
        int | None, Query(ge=1, le=1000, description="The most rounds; 100, or 2 of leiden.")
    ] = None,
    resolution: Annotated[float, Query(gt=0, le=100, description="More: smaller communities.")] = 1.0,
    partitions: Annotated[
        int, Query(ge=0, le=1000, description="Also all memories in so many parts, for distribution.")
    ] = 0,
    as_of: AsOf = None,
) -> Json:
    """Return the groups of memories and entities that hang together."""
    found = Graph(context.engine).communities(
        level=level,
        limit=limit,
        seed=seed,
        method=method,
        levels=levels,
        iterations=iterations,
        resolution=resolution,
        as_of=as_of,
    )
    graph = Graph(context.engine)
    parts = graph.partitions(partitions, seed=seed, as_of=as_of) if partitions else ()
    return codec.communities_json(found) | {"partitions": [list(part) for part in parts]}


@read_route(router.get, "/hubs", HubsAnswer, SEARCH)
def list_hubs(
    context: ReadContext,
    limit: Limit = 10,
    direction: Annotated[Literal["out", "both"], Query(description="How edges are followed.")] = "out",
    damping: Annotated[float, Query(ge=0, le=1)] = 0.85,
    iterations: Annotated[int, Query(ge=1, le=1000, description="The most rounds.")] = 100,
    tolerance: Annotated[float, Query(gt=0, le=1, description="The change of a round that ends it.")] = 1e-6,
    as_of: AsOf = None,
) -> Json:
    """Return the entities of the highest PageRank."""
    hubs = Graph(context.engine).hubs(
        limit=limit,
        direction=direction,
        damping=damping,
        iterations=iterations,
        tolerance=tolerance,
        as_of=as_of,
    )
    return {"hubs": plain(hubs)}


@read_route(router.get, "/cells", CellsAnswer, SEARCH)
def list_cells(
    context: ReadContext,
    precision: Annotated[int, Query(ge=4, le=8, description="4 is 2.5 km, 7 is 30 m.")] = 7,
    limit: Limit = 50,
    as_of: AsOf = None,
) -> Json:
    """Return the grid cells in which memories are, those with the most memories first."""
    return {"cells": plain(Graph(context.engine).cells(precision=precision, limit=limit, as_of=as_of))}


@read_route(router.get, "/timeline", answers.MemoriesAnswer, SEARCH)
def timeline(
    context: ReadContext,
    entity: Annotated[str | None, Query(max_length=MAX_WORD, description="Only what mentions it.")] = None,
    start: Annotated[Time | None, Query(description="From then on.")] = None,
    end: Annotated[Time | None, Query(description="Before then.")] = None,
    limit: Limit = 50,
    newest_first: Annotated[bool, Query(description="What happened last first.")] = False,
    as_of: AsOf = None,
) -> Json:
    """Return memories in the order in which what they tell happened."""
    memories = Graph(context.engine).timeline(
        entity, start=start, end=end, limit=limit, newest_first=newest_first, as_of=as_of
    )
    return memories_json(memories)


@read_route(router.get, "/near", NearAnswer, SEARCH)
def near(
    context: ReadContext,
    lat: Annotated[float, Query(ge=-90, le=90, allow_inf_nan=False)],
    lon: Annotated[float, Query(ge=-180, le=180, allow_inf_nan=False)],
    radius: Annotated[float | None, Query(ge=0, allow_inf_nan=False, description="In metres.")] = None,
    limit: Limit = 10,
    as_of: AsOf = None,
) -> Json:
    """Return the memories and the entities that were nearest to a point, and how far each was."""
    graph = Graph(context.engine)
    memories = graph.near(lat, lon, radius, limit=limit, as_of=as_of)
    entities = graph.near_entities(lat, lon, radius, limit=limit)
    return {
        "memories": [codec.nearby_json(memory) for memory in memories],
        "entities": [codec.nearby_entity_json(entity) for entity in entities],
    }
