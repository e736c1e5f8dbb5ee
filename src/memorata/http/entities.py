"""Entities and relations over HTTP, and everything about one of them, shown and purged."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query

from memorata.http.context import (
    ReadContext,
    RequestContext,
    UnkeyedAdminContext,
    WriteContext,
    read_route,
    write_route,
)
from memorata.http.errors import RESPONSES
from memorata.http.telemetry import CREATE, DELETE, SEARCH, UPDATE
from memorata.service.answers import RemovedAnswer
from memorata.service.codec import Json, about_json, entity_json, plain, relation_json
from memorata.service.graph_answers import (
    AboutAnswer,
    AliasesAnswer,
    EntitiesAnswer,
    EntityAnswer,
    EntityPurgeAnswer,
    RelationAnswer,
    RelationsAnswer,
)
from memorata.service.schemas import (
    MAX_RESULTS,
    MAX_WORD,
    EntityUpdate,
    MergeRequest,
    NewRelation,
    Time,
    UndoAliasRequest,
    UndoMergeRequest,
)

router = APIRouter(prefix="/v1", tags=["entities and relations"], responses=RESPONSES)

Name = Annotated[str, Query(max_length=MAX_WORD)]
EntityName = Annotated[str, Path(max_length=MAX_WORD, description="Any of its names.")]
EntityQuery = Annotated[
    str, Query(min_length=1, max_length=MAX_WORD, description="A person or a thing, by any name.")
]

InTexts = Annotated[
    bool, Query(description="Every memory with that word counts, though it be no name that is known.")
]
DryRun = Annotated[bool, Query(description="Remove nothing, and only tell how many would be.")]


@read_route(router.get, "/entities", EntitiesAnswer, SEARCH)
def entities(
    context: ReadContext, prefix: Name = "", limit: Annotated[int, Query(ge=1, le=MAX_RESULTS)] = 50
) -> Json:
    """List the entities of the namespace."""
    entities = context.engine.entities.list(prefix=prefix, limit=limit, namespace=context.namespace)
    return {"entities": [entity_json(entity) for entity in entities]}


@write_route(router.post, "/entities/merge", EntityAnswer, UPDATE)
def merge(context: WriteContext, body: MergeRequest) -> Json:
    """Read one name as another from now on."""
    return entity_json(context.engine.entities.merge(body.keep, body.other, namespace=context.namespace))


@write_route(router.post, "/entities/undo_merge", EntityAnswer, UPDATE)
def undo_merge(context: WriteContext, body: UndoMergeRequest) -> Json:
    """Undo a merge: the name stands for itself again."""
    context.engine.entities.undo_merge(body.name, namespace=context.namespace)
    return entity_json(context.engine.entities.get(body.name, namespace=context.namespace))


@read_route(router.get, "/entities/aliases", AliasesAnswer, SEARCH)
def aliases(context: ReadContext) -> Json:
    """List the nicknames of speakers that queries are expanded by, and the undone ones."""
    return _aliases(context)


@write_route(router.post, "/entities/undo_alias", AliasesAnswer, UPDATE)
def undo_alias(context: WriteContext, body: UndoAliasRequest) -> Json:
    """Let a nickname or a misspelt name stand for itself in queries, or no longer."""
    context.engine.entities.undo_alias(body.word, restore=body.restore, namespace=context.namespace)
    return _aliases(context)


def _aliases(context: RequestContext) -> Json:
    aliases = context.engine.entities.aliases(namespace=context.namespace)
    return {"aliases": plain(aliases)}


@read_route(router.get, "/entities/{name:path}", EntityAnswer, SEARCH)
def entity(context: ReadContext, name: EntityName) -> Json:
    """Return what is known about one entity, by any of its names."""
    return entity_json(context.engine.entities.get(name, namespace=context.namespace))


@write_route(router.put, "/entities/{name:path}", EntityAnswer, UPDATE)
def describe(context: WriteContext, name: EntityName, body: EntityUpdate) -> Json:
    """Describe an entity; a new name becomes one."""
    context.engine.entities.describe(
        name,
        type=body.type,
        aliases=body.aliases,
        description=body.description,
        namespace=context.namespace,
    )
    return entity_json(context.engine.entities.get(name, namespace=context.namespace))


@read_route(router.get, "/relations", RelationsAnswer, SEARCH)
def relations(
    context: ReadContext,
    entity: Annotated[str | None, Query(max_length=MAX_WORD, description="At either end.")] = None,
    as_of: Annotated[Time | None, Query(description="As it was believed then.")] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_RESULTS)] = 100,
) -> Json:
    """Return the relations that hold."""
    relations = context.engine.entities.relations(entity, as_of=as_of, namespace=context.namespace)
    return {
        "relations": [relation_json(relation) for relation in relations[:limit]],
        "more": len(relations) > limit,
    }


@write_route(router.post, "/relations", RelationAnswer, CREATE, status=201)
def relate(context: WriteContext, body: NewRelation) -> Json:
    """Relate two entities; a relation that exists gets the new weight and end."""
    fields = body.set_fields()
    ends = fields.pop("subject"), fields.pop("type"), fields.pop("object")
    return relation_json(context.engine.entities.relate(*ends, namespace=context.namespace, **fields))


@write_route(router.delete, "/relations", RemovedAnswer, DELETE)
def unrelate(context: WriteContext, subject: Name, type: Name, object: Name) -> Json:
    """Remove every relation of a type from one entity to another."""
    return {"removed": context.engine.entities.unrelate(subject, type, object, namespace=context.namespace)}


@read_route(router.get, "/about", AboutAnswer)
def about(context: ReadContext, entity: EntityQuery, text: InTexts = False) -> Json:
    """Return everything about a person or a thing that is known."""
    return about_json(context.engine.entities.about(entity, text=text, namespace=context.namespace))


@read_route(router.delete, "/about", EntityPurgeAnswer, DELETE)
def purge(
    context: UnkeyedAdminContext, entity: EntityQuery, text: InTexts = False, dry_run: DryRun = False
) -> Json:
    """Remove everything about a person or a thing that is known. This cannot be undone, and takes a while."""
    about = context.engine.entities.purge(entity, text=text, dry_run=dry_run, namespace=context.namespace)
    if dry_run:
        return {"removed": 0, "would_remove": len(about.memories)}
    context.server.jobs.forget(context.namespace)
    return {"removed": len(about.memories)}
