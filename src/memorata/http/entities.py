"""Entities and relations over HTTP: who and what memories speak of, and what holds between them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field
from starlette.responses import Response

from memorata.http.asked import Reading, Writing
from memorata.http.limits import RESULTS, WORD
from memorata.http.shapes import Given, Id, Number, Time, Word, Words
from memorata.http.tracing import CREATE, DELETE, SEARCH, UPDATE
from memorata.service.codec import entity_json, relation_json

router = APIRouter(prefix="/v1", tags=["entities and relations"])

Name = Annotated[str, Query(max_length=WORD)]
EntityName = Annotated[str, Path(max_length=WORD, description="Any of its names.")]


class EntityShown(BaseModel):
    """An entity, and how much is known about it."""

    name: str
    type: str
    aliases: list[str]
    description: str
    memories: int
    relations: int
    merged: list[str]


class EntitiesShown(BaseModel):
    """Who and what is known, those that most memories mention first."""

    entities: list[EntityShown]


class EntityGiven(Given):
    """What is said about an entity; what is left out stays as it is."""

    type: Word | None = None
    aliases: Words | None = None
    description: Word | None = None


class Merge(Given):
    """Two names that mean one entity."""

    keep: Word
    other: Word


class Unmerge(Given):
    """A name that is to stand for itself again."""

    name: Word


class RelationGiven(Given):
    """That one entity has a relation to another."""

    subject: Word = Field(examples=["Anna"])
    type: Word = Field(examples=["works_at"])
    object: Word = Field(examples=["Bank of England"])
    weight: Number = 1.0
    memory: Id | None = Field(None, description="The memory that says so.")
    valid_from: Time | None = None
    valid_to: Time | None = None


class RelationShown(BaseModel):
    """A relation."""

    subject: str
    type: str
    object: str
    weight: float
    memory: str | None
    valid_from: datetime | None
    valid_to: datetime | None
    created_at: datetime | None


class RelationsShown(BaseModel):
    """Relations that hold, in the order in which they were said."""

    relations: list[RelationShown]
    more: bool = Field(description="Whether there are more than were asked for.")


class Removed(BaseModel):
    """How many there were."""

    removed: int


@router.get("/entities", response_model=None, responses={200: {"model": EntitiesShown}})
async def entities(
    asked: Reading, prefix: Name = "", limit: Annotated[int, Query(ge=1, le=RESULTS)] = 50
) -> Response:
    """List who and what is known."""

    def work() -> Any:  # noqa: ANN401
        found = asked.engine.entities.list(prefix=prefix, limit=limit, namespace=asked.namespace)
        return {"entities": [entity_json(each) for each in found]}

    return await asked.look(work, SEARCH)


@router.post("/entities/merge", response_model=None, responses={200: {"model": EntityShown}})
async def merge(asked: Writing, names: Merge) -> Response:
    """Read one name as another from now on."""

    def work() -> Any:  # noqa: ANN401
        return entity_json(asked.engine.entities.merge(names.keep, names.other, namespace=asked.namespace))

    return await asked.write(work, UPDATE)


@router.post("/entities/unmerge", response_model=None, responses={200: {"model": EntityShown}})
async def unmerge(asked: Writing, named: Unmerge) -> Response:
    """Let a merged name stand for itself again."""

    def work() -> Any:  # noqa: ANN401
        asked.engine.entities.undo_merge(named.name, namespace=asked.namespace)
        return entity_json(asked.engine.entities.get(named.name, namespace=asked.namespace))

    return await asked.write(work, UPDATE)


@router.get("/entities/{name:path}", response_model=None, responses={200: {"model": EntityShown}})
async def entity(asked: Reading, name: EntityName) -> Response:
    """Return what is known about one entity, by any of its names."""
    return await asked.look(
        lambda: entity_json(asked.engine.entities.get(name, namespace=asked.namespace)), SEARCH
    )


@router.put("/entities/{name:path}", response_model=None, responses={200: {"model": EntityShown}})
async def describe(asked: Writing, name: EntityName, said: EntityGiven) -> Response:
    """Say what an entity is; a name nobody has yet becomes one."""

    def work() -> Any:  # noqa: ANN401
        asked.engine.entities.describe(
            name,
            type=said.type,
            aliases=said.aliases,
            description=said.description,
            namespace=asked.namespace,
        )
        return entity_json(asked.engine.entities.get(name, namespace=asked.namespace))

    return await asked.write(work, UPDATE)


@router.get("/relations", response_model=None, responses={200: {"model": RelationsShown}})
async def relations(
    asked: Reading,
    entity: Annotated[str | None, Query(max_length=WORD, description="At either end.")] = None,
    as_of: Annotated[Time | None, Query(description="As it was believed then.")] = None,
    limit: Annotated[int, Query(ge=1, le=RESULTS)] = 100,
) -> Response:
    """Return the relations that hold."""

    def work() -> Any:  # noqa: ANN401
        found = asked.engine.entities.relations(entity, as_of=as_of, namespace=asked.namespace)
        return {"relations": [relation_json(each) for each in found[:limit]], "more": len(found) > limit}

    return await asked.look(work, SEARCH)


@router.post("/relations", status_code=201, response_model=None, responses={201: {"model": RelationShown}})
async def relate(asked: Writing, said: RelationGiven) -> Response:
    """Say that one entity has a relation to another; said again, it gets the new weight and end."""

    def work() -> Any:  # noqa: ANN401
        given = said.given()
        made = asked.engine.entities.relate(
            given.pop("subject"), given.pop("type"), given.pop("object"), namespace=asked.namespace, **given
        )
        return relation_json(made)

    return await asked.write(work, CREATE, status=201)


@router.delete("/relations", response_model=None, responses={200: {"model": Removed}})
async def unrelate(asked: Writing, subject: Name, type: Name, object: Name) -> Response:
    """Take back every relation of a type from one entity to another."""

    def work() -> Any:  # noqa: ANN401
        return {"removed": asked.engine.entities.unrelate(subject, type, object, namespace=asked.namespace)}

    return await asked.write(work, DELETE)
