"""Entities and relations over HTTP, and everything about one of them, shown and purged."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from memorata.http.context import ReadContext, RequestContext, UnkeyedAdminContext, WriteContext, answers
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


@router.get("/entities", **answers(EntitiesAnswer))
async def entities(
    context: ReadContext, prefix: Name = "", limit: Annotated[int, Query(ge=1, le=MAX_RESULTS)] = 50
) -> Response:
    """List who and what is known."""

    def work() -> Json:
        entities = context.engine.entities.list(prefix=prefix, limit=limit, namespace=context.namespace)
        return {"entities": [entity_json(entity) for entity in entities]}

    return await context.read(work, SEARCH)


@router.post("/entities/merge", **answers(EntityAnswer))
async def merge(context: WriteContext, body: MergeRequest) -> Response:
    """Read one name as another from now on."""

    def work() -> Json:
        return entity_json(context.engine.entities.merge(body.keep, body.other, namespace=context.namespace))

    return await context.write(work, UPDATE)


@router.post("/entities/undo_merge", **answers(EntityAnswer))
async def undo_merge(context: WriteContext, body: UndoMergeRequest) -> Response:
    """Undo a merge: the name stands for itself again."""

    def work() -> Json:
        context.engine.entities.undo_merge(body.name, namespace=context.namespace)
        return entity_json(context.engine.entities.get(body.name, namespace=context.namespace))

    return await context.write(work, UPDATE)


@router.get("/entities/aliases", **answers(AliasesAnswer))
async def aliases(context: ReadContext) -> Response:
    """List the nicknames of who speaks, as queries are read by them, and those that were undone."""
    return await context.read(lambda: _aliases(context), SEARCH)


@router.post("/entities/undo_alias", **answers(AliasesAnswer))
async def undo_alias(context: WriteContext, body: UndoAliasRequest) -> Response:
    """Let a nickname or a misspelt name stand for itself in queries, or no longer."""

    def work() -> Json:
        context.engine.entities.undo_alias(body.word, restore=body.restore, namespace=context.namespace)
        return _aliases(context)

    return await context.write(work, UPDATE)


def _aliases(context: RequestContext) -> Json:
    aliases = context.engine.entities.aliases(namespace=context.namespace)
    return {"aliases": plain(aliases)}


@router.get("/entities/{name:path}", **answers(EntityAnswer))
async def entity(context: ReadContext, name: EntityName) -> Response:
    """Return what is known about one entity, by any of its names."""
    return await context.read(
        lambda: entity_json(context.engine.entities.get(name, namespace=context.namespace)), SEARCH
    )


@router.put("/entities/{name:path}", **answers(EntityAnswer))
async def describe(context: WriteContext, name: EntityName, body: EntityUpdate) -> Response:
    """Describe an entity; a new name becomes one."""

    def work() -> Json:
        context.engine.entities.describe(
            name,
            type=body.type,
            aliases=body.aliases,
            description=body.description,
            namespace=context.namespace,
        )
        return entity_json(context.engine.entities.get(name, namespace=context.namespace))

    return await context.write(work, UPDATE)


@router.get("/relations", **answers(RelationsAnswer))
async def relations(
    context: ReadContext,
    entity: Annotated[str | None, Query(max_length=MAX_WORD, description="At either end.")] = None,
    as_of: Annotated[Time | None, Query(description="As it was believed then.")] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_RESULTS)] = 100,
) -> Response:
    """Return the relations that hold."""

    def work() -> Json:
        relations = context.engine.entities.relations(entity, as_of=as_of, namespace=context.namespace)
        return {
            "relations": [relation_json(relation) for relation in relations[:limit]],
            "more": len(relations) > limit,
        }

    return await context.read(work, SEARCH)


@router.post("/relations", **answers(RelationAnswer, 201))
async def relate(context: WriteContext, body: NewRelation) -> Response:
    """Relate two entities; a relation that exists gets the new weight and end."""

    def work() -> Json:
        fields = body.set_fields()
        ends = fields.pop("subject"), fields.pop("type"), fields.pop("object")
        return relation_json(context.engine.entities.relate(*ends, namespace=context.namespace, **fields))

    return await context.write(work, CREATE, status=201)


@router.delete("/relations", **answers(RemovedAnswer))
async def unrelate(context: WriteContext, subject: Name, type: Name, object: Name) -> Response:
    """Remove every relation of a type from one entity to another."""

    def work() -> Json:
        return {
            "removed": context.engine.entities.unrelate(subject, type, object, namespace=context.namespace)
        }

    return await context.write(work, DELETE)


@router.get("/about", **answers(AboutAnswer))
async def about(context: ReadContext, entity: EntityQuery, text: InTexts = False) -> Response:
    """Return everything about a person or a thing that is known."""
    return await context.read(
        lambda: about_json(context.engine.entities.about(entity, text=text, namespace=context.namespace))
    )


@router.delete("/about", **answers(EntityPurgeAnswer))
async def purge(
    context: UnkeyedAdminContext, entity: EntityQuery, text: InTexts = False, dry_run: DryRun = False
) -> Response:
    """Remove everything about a person or a thing that is known. This cannot be undone, and takes a while."""

    def work() -> Json:
        about = context.engine.entities.purge(entity, text=text, dry_run=dry_run, namespace=context.namespace)
        if dry_run:
            return {"removed": 0, "would_remove": len(about.memories)}
        context.server.jobs.forget(context.namespace)
        return {"removed": len(about.memories)}

    return await context.read(work, DELETE)
