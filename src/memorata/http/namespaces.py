"""Namespaces over HTTP: list, link, move, split, purge. A key must be for every one that is touched."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel
from starlette.responses import Response

from memorata.engine.access import ADMIN, READ
from memorata.http.context import (
    Caller,
    ReadContext,
    ServerState,
    UnkeyedAdminContext,
    WriteContext,
    answers,
    json_response,
    read_route,
    write_route,
)
from memorata.http.errors import RESPONSES
from memorata.http.telemetry import DELETE, SEARCH, UPDATE
from memorata.service.answers import DoneAnswer, RemovedAnswer
from memorata.service.codec import Json, plain
from memorata.service.schemas import NamespaceMove, NamespaceSplit, NewLink

router = APIRouter(prefix="/v1", tags=["server"], responses=RESPONSES)

NamespacePath = Annotated[str, Query(max_length=512, description="The namespace, by its whole path.")]


class NamespaceAnswer(BaseModel):
    """A namespace, and how many memories it holds, hidden ones too."""

    namespace: str
    memories: int


class LinkAnswer(BaseModel):
    """A linked namespace, and which of its memories are seen; null for all."""

    namespace: str
    filter: dict[str, Any] | None
    linked_at: str


class LinksAnswer(BaseModel):
    """What a namespace is linked to."""

    links: list[LinkAnswer]


class MovedAnswer(BaseModel):
    """By old path, the new one."""

    moved: dict[str, str]


class SplitAnswer(BaseModel):
    """The ids of the memories that went, or would go."""

    moved: list[str] | None = None
    would_move: list[str] | None = None


class NamespacesAnswer(BaseModel):
    """The namespaces that a key is for."""

    namespaces: list[NamespaceAnswer]


@router.get("/namespaces", **answers(NamespacesAnswer))
async def namespaces(request: Request, access: Caller) -> Response:
    """List the namespaces that the key is for, and that something was ever written to."""
    server: ServerState = request.app.state.server
    counts = await server.workers.run(server.engine.store.namespaces)
    allowed = [
        {"namespace": path, "memories": count} for path, count in counts.items() if access.allows(READ, path)
    ]
    return json_response({"namespaces": allowed})


@read_route(router.delete, "/namespaces", RemovedAnswer, DELETE)
def purge_namespace(context: UnkeyedAdminContext, namespace: NamespacePath) -> Json:
    """Remove a namespace for good, with its name and all that belongs to it. This cannot be undone.

    It has to be named, even if it is the server's own.
    """
    removed = context.engine.admin.purge_namespace(context.namespace)
    context.server.jobs.forget(context.namespace)
    return {"removed": removed}


@read_route(router.get, "/namespaces/links", LinksAnswer, SEARCH)
def links(context: ReadContext) -> Json:
    """List what a namespace is linked to."""
    links = context.engine.namespaces.links(namespace=context.namespace)
    return {"links": [plain(asdict(link)) for link in links]}


@router.post("/namespaces/links", **answers(LinkAnswer))
async def link(context: WriteContext, body: NewLink) -> Response:
    """Let a namespace inherit from another, which the key must be for as well."""
    context.access.require(READ, body.to)
    return await context.write(
        lambda: plain(
            asdict(context.engine.namespaces.link(body.to, filter=body.filter, namespace=context.namespace))
        ),
        UPDATE,
    )


@write_route(router.delete, "/namespaces/links", DoneAnswer, UPDATE)
def unlink(context: WriteContext, to: NamespacePath) -> Json:
    """Take a link back."""
    context.engine.namespaces.unlink(to, namespace=context.namespace)
    return {"done": 1}


@read_route(router.post, "/namespaces/move", MovedAnswer, UPDATE)
def move(context: UnkeyedAdminContext, namespace: NamespacePath, body: NamespaceMove) -> Json:
    """Give a namespace, which has to be named, another path with everything in it, all or nothing."""
    context.access.require(ADMIN, body.to)
    if body.below:
        for path in context.engine.store.namespaces():
            if path.startswith(f"{context.namespace}/"):
                context.access.require(ADMIN, path)
                context.access.require(ADMIN, body.to + path.removeprefix(context.namespace))
    return {"moved": context.engine.namespaces.move(context.namespace, body.to, below=body.below)}


@read_route(router.post, "/namespaces/split", SplitAnswer, UPDATE)
def split(context: UnkeyedAdminContext, body: NamespaceSplit) -> Json:
    """Move the memories that pass a filter into another namespace, all or nothing."""
    context.access.require(ADMIN, body.to)
    moved = context.engine.namespaces.split(
        body.filter, body.to, namespace=context.namespace, dry_run=body.dry_run
    )
    return {"would_move" if body.dry_run else "moved": list(moved)}
