"""Memories over HTTP: create, read, list, update, correct, forget, restore, purge, history."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Header, Path, Query
from starlette.responses import Response

from memorata.http.context import (
    AdminContext,
    ReadContext,
    RequestContext,
    WriteContext,
    answers,
    read_route,
    write_route,
)
from memorata.http.errors import RESPONSES
from memorata.http.telemetry import CREATE, DELETE, SEARCH, UPDATE
from memorata.model.errors import InvalidArgument
from memorata.service.answers import (
    DoneAnswer,
    ForgetAnswer,
    MemoriesAnswer,
    MemoryAnswer,
    MemoryPageAnswer,
    PurgeAnswer,
    RememberedAnswer,
)
from memorata.service.codec import Json, memories_json, memory_json
from memorata.service.schemas import (
    MAX_RESULTS,
    MAX_WORD,
    Correction,
    KeyedMemory,
    MemoryIds,
    MemorySelection,
    MemoryUpdate,
    NewMemories,
    NewMemory,
    Whole,
)

router = APIRouter(prefix="/v1/memories", tags=["memories"], responses=RESPONSES)

MemoryKey = Annotated[str, Query(min_length=1, max_length=MAX_WORD, description="A key of the caller's.")]
MemoryId = Annotated[str, Path(min_length=1, max_length=128, description="The id of a memory.")]


@write_route(router.post, "", MemoryAnswer, CREATE, status=201, remembers=True)
def create(context: WriteContext, body: NewMemory) -> Json:
    """Remember one thing; when the answer is there, it is on the disk."""
    return memory_json(context.engine.remember(namespace=context.namespace, **body.set_fields()))


@write_route(router.post, "/batch", RememberedAnswer, CREATE, status=201, remembers=True)
def create_many(context: WriteContext, body: NewMemories) -> Json:
    """Remember several things, all or none; one whose id is known already is left as it is."""
    items = [item.set_fields() for item in body.items]
    memories = context.engine.remember_many(items, namespace=context.namespace)
    return {**memories_json(memories), "known": len(items) - len(memories)}


@write_route(router.put, "/keyed", MemoryAnswer, CREATE, remembers=True)
def put(context: WriteContext, key: MemoryKey, body: KeyedMemory) -> Json:
    """Remember under a key; what stood there before stays readable in the history."""
    return memory_json(context.engine.put(key, namespace=context.namespace, **body.set_fields()))


@read_route(router.get, "/keyed", MemoryAnswer, SEARCH)
def get_keyed(context: ReadContext, key: MemoryKey) -> Json:
    """Return the current version under a key."""
    return memory_json(context.engine.get(key=key, namespace=context.namespace))


@write_route(router.delete, "/keyed", MemoryAnswer, DELETE)
def delete_keyed(context: WriteContext, key: MemoryKey) -> Json:
    """Forget the current version under a key, which is free then."""
    return memory_json(context.engine.delete(key=key, namespace=context.namespace))


@read_route(router.get, "", MemoryPageAnswer, SEARCH)
def list_memories(
    context: ReadContext,
    limit: Annotated[int, Query(ge=1, le=MAX_RESULTS)] = 50,
    cursor: Annotated[str | None, Query(max_length=40, description="Of the page before.")] = None,
    hidden: Annotated[bool, Query(description="Forgotten and superseded memories too.")] = False,
    oldest_first: Annotated[bool, Query(description="The first written first.")] = False,
    fresh: Annotated[
        bool, Query(description="Know all that was written before; without it, a replica may answer.")
    ] = True,
    filter: Annotated[
        str | None, Query(max_length=20_000, description='A JSON object, such as {"category":"preference"}.')
    ] = None,
) -> Json:
    """List memories, the newest first, a page at a time."""
    page = context.engine.list(
        namespace=context.namespace,
        filter=_object(filter),
        limit=limit,
        cursor=cursor,
        hidden=hidden,
        oldest_first=oldest_first,
        fresh=fresh,
    )
    return {**memories_json(page.memories), "cursor": page.cursor}


async def _by_ids(
    context: RequestContext, ids: list[str], verb: Callable[..., object], operation: str
) -> Response:
    def work() -> Json:
        verb(*ids, namespace=context.namespace)
        return {"done": len(ids)}

    return await context.write(work, operation)


@router.post("/forget", **answers(ForgetAnswer))
async def forget(context: WriteContext, body: MemorySelection) -> Response:
    """Hide memories from every recall, by ids or by a filter; `restore` brings them back."""
    ids, how = body.selection()
    verb = partial(context.engine.forget, *ids, **how, namespace=context.namespace)
    if body.dry_run:
        return await context.read(lambda: {"done": 0, "would_forget": list(verb(dry_run=True))}, SEARCH)
    return await context.write(lambda: {"done": len(verb())}, DELETE)


@router.post("/restore", **answers(DoneAnswer))
async def restore(context: WriteContext, body: MemoryIds) -> Response:
    """Show forgotten memories again."""
    return await _by_ids(context, body.ids, context.engine.restore, UPDATE)


@router.post("/pin", **answers(DoneAnswer))
async def pin(context: WriteContext, body: MemoryIds) -> Response:
    """Keep memories: they do not fade, and no maintenance touches them."""
    return await _by_ids(context, body.ids, context.engine.lifecycle.pin, UPDATE)


@router.post("/unpin", **answers(DoneAnswer))
async def unpin(context: WriteContext, body: MemoryIds) -> Response:
    """Undo `pin`."""
    return await _by_ids(context, body.ids, context.engine.lifecycle.unpin, UPDATE)


@router.post("/mark_used", **answers(DoneAnswer))
async def mark_used(context: WriteContext, body: MemoryIds) -> Response:
    """Record that memories were of use, which makes them last and count more."""
    return await _by_ids(context, body.ids, context.engine.lifecycle.mark_used, UPDATE)


@router.post("/confirm", **answers(DoneAnswer))
async def confirm(context: WriteContext, body: MemoryIds) -> Response:
    """Confirm that memories are still true, which raises their confidence."""
    return await _by_ids(context, body.ids, context.engine.lifecycle.confirm, UPDATE)


@router.post("/purge", **answers(PurgeAnswer))
async def purge(context: AdminContext, body: MemorySelection) -> Response:
    """Remove memories for good, with every trace of them. This cannot be undone, and takes a while."""
    ids, how = body.selection()
    verb = partial(context.engine.purge, *ids, **how, namespace=context.namespace)
    if body.dry_run:
        return await context.read(lambda: {"done": 0, "would_purge": list(verb(dry_run=True))}, SEARCH)

    def work() -> Json:
        purged = verb()
        # Here, and not after the answer: the client may have stopped waiting for it.
        context.server.jobs.forget(context.namespace)
        return {"done": len(ids or purged)}

    return await context.write(work, DELETE, apart=True)


@read_route(router.get, "/{id:path}/history", MemoriesAnswer, SEARCH)
def history(context: ReadContext, id: MemoryId) -> Json:
    """Return the chain a memory is part of: what was replaced before what replaced it."""
    return memories_json(context.engine.history(id, namespace=context.namespace))


@write_route(router.post, "/{id:path}/correct", MemoryAnswer, UPDATE, status=201, remembers=True)
def correct(context: WriteContext, id: MemoryId, body: Correction) -> Json:
    """Replace a memory; the old one stays readable in its history."""
    return memory_json(context.engine.correct(id, namespace=context.namespace, **body.set_fields()))


@router.get("/{id:path}", **answers(MemoryAnswer))
async def get(context: ReadContext, id: MemoryId) -> Response:
    """Return one memory, a hidden one too; its ETag is its version."""
    memory = await context.run(lambda: context.engine.get(id, namespace=context.namespace))
    answer = await context.read(lambda: memory_json(memory))
    answer.headers["ETag"] = f'"{memory.version}"'
    return answer


@router.patch("/{id:path}", **answers(MemoryAnswer))
async def update(
    context: WriteContext,
    id: MemoryId,
    body: MemoryUpdate,
    if_match: Annotated[str | None, Header(max_length=40, description="The ETag it was read with.")] = None,
) -> Response:
    """Change what is known about a memory, never its content; 409 if it has changed meanwhile."""
    fields = body.set_fields()
    expected = _version(if_match, fields.pop("expected_version", None))

    def work() -> Json:
        return memory_json(
            context.engine.update(id, expected_version=expected, namespace=context.namespace, **fields)
        )

    return await context.write(work, UPDATE)


@router.delete("/{id:path}", **answers(DoneAnswer))
async def forget_one(context: WriteContext, id: MemoryId) -> Response:
    """Hide a memory from every recall; POST its id to restore to bring it back."""
    return await _by_ids(context, [id], context.engine.forget, DELETE)


def _version(header: str | None, expected: Whole | None) -> int | None:
    """Return the version that a change expects, by either of the two ways to say so."""
    if header is None or header == "*":
        return expected
    number = header.removeprefix("W/").strip('"')
    if not number.isascii() or not number.isdigit() or len(number) > 18 or int(number) < 1:
        raise InvalidArgument("If-Match", header, "the ETag of a memory")
    if expected is not None and expected != int(number):
        raise InvalidArgument("expected_version", expected, f"the same as If-Match, {number}")
    return int(number)


def _object(text: str | None) -> dict[str, Any] | None:
    """Return a JSON object that came as a text."""
    if text is None:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidArgument("filter", text, "a JSON object") from error
    if not isinstance(value, dict):
        raise InvalidArgument("filter", text, "a JSON object")
    return value
