"""Memories over HTTP: create, read, change, forget, purge; their duplicates, contradictions and summaries."""

from __future__ import annotations

import json
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import Header, Path, Query
from starlette.responses import Response

from memorata.extend.errors import InvalidArgument
from memorata.extend.json import Json, memories_json, memory_json, plain, summary_json
from memorata.extend.model import checks
from memorata_server import answers, schemas
from memorata_server.http.context import (
    AdminContext,
    ReadContext,
    WriteContext,
    described,
    read_route,
    write_route,
)
from memorata_server.http.errors import api_router
from memorata_server.http.telemetry import CREATE, DELETE, SEARCH, UPDATE

router = api_router("/v1/memories", "memories")
duplicates_router = api_router("/v1", "duplicates and contradictions")

MemoryKey = Annotated[
    str, Query(min_length=1, max_length=schemas.MAX_WORD, description="A key of the caller's.")
]
MemoryId = Annotated[
    str,
    Path(
        min_length=1,
        max_length=128,
        json_schema_extra={"pattern": f"^{checks.ID_PATTERN}$"},
        description="The id of a memory.",
    ),
]


@write_route(router.post, "", answers.MemoryAnswer, CREATE, status=201, remembers=True)
def remember(context: WriteContext, body: schemas.NewMemory) -> Json:
    """Remember one thing; when the answer is there, it is on the disk."""
    return memory_json(context.engine.remember(**body.set_fields()))


@write_route(router.post, "/batch", answers.RememberedAnswer, CREATE, status=201, remembers=True)
def remember_many(context: WriteContext, body: schemas.NewMemories) -> Json:
    """Remember several things, all or none; one whose id is known already is left as it is."""
    memories = context.engine.remember_many([item.set_fields() for item in body.items])
    return {**memories_json(memories), "known": len(body.items) - len(memories)}


@write_route(router.put, "/keyed", answers.MemoryAnswer, CREATE, remembers=True)
def put(context: WriteContext, key: MemoryKey, body: schemas.KeyedMemory) -> Json:
    """Remember under a key; what stood there before stays readable in the history."""
    return memory_json(context.engine.put(key, **body.set_fields()))


@read_route(router.get, "/keyed", answers.MemoryAnswer, SEARCH)
def get_keyed(context: ReadContext, key: MemoryKey) -> Json:
    """Return the current version under a key."""
    return memory_json(context.engine.get(key=key))


@write_route(router.delete, "/keyed", answers.MemoryAnswer, DELETE)
def delete(context: WriteContext, key: MemoryKey) -> Json:
    """Forget the current version under a key, which is free then."""
    return memory_json(context.engine.delete(key=key))


@read_route(router.get, "", answers.MemoryPageAnswer, SEARCH)
def list_(
    context: ReadContext,
    limit: Annotated[int, Query(ge=1, le=schemas.MAX_RESULTS)] = 50,
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
    conditions = _object(filter)
    page = context.engine.list(
        filter=conditions, limit=limit, cursor=cursor, hidden=hidden, oldest_first=oldest_first, fresh=fresh
    )
    return {**memories_json(page.memories), "cursor": page.cursor}


@router.post("/forget", **described(answers.ForgetAnswer))
async def forget(context: WriteContext, body: schemas.MemorySelection) -> Response:
    """Hide memories from every recall, by ids or by a filter; `restore` brings them back."""
    ids, how = body.selection()
    verb = partial(context.engine.forget, *ids, **how, namespace=context.namespace)
    if body.dry_run:
        return await context.read(lambda: {"done": 0, "would_forget": list(verb(dry_run=True))}, SEARCH)
    return await context.write(lambda: {"done": len(verb())}, DELETE)


@write_route(router.post, "/restore", answers.DoneAnswer, UPDATE)
def restore(context: WriteContext, body: schemas.MemoryIds) -> Json:
    """Show forgotten memories again."""
    context.engine.restore(*body.ids)
    return {"done": len(body.ids)}


@write_route(router.post, "/trust", answers.DoneAnswer, UPDATE)
def set_trust(context: AdminContext, body: schemas.TrustChange) -> Json:
    """Trust what a tool, a page or an unknown speaker said, or take the trust away."""
    context.engine.admin.set_trust(*body.ids, trusted=body.trusted, namespace=context.namespace)
    return {"done": len(body.ids)}


@write_route(router.post, "/mark_used", answers.DoneAnswer, UPDATE)
def mark_used(context: WriteContext, body: schemas.MemoryIds) -> Json:
    """Record that memories were of use, which makes them last and count more."""
    context.engine.admin.lifecycle.mark_used(*body.ids)
    return {"done": len(body.ids)}


@write_route(router.post, "/confirm", answers.DoneAnswer, UPDATE)
def confirm(context: WriteContext, body: schemas.MemoryIds) -> Json:
    """Confirm that memories are still true, which raises their confidence."""
    context.engine.admin.lifecycle.confirm(*body.ids)
    return {"done": len(body.ids)}


@router.post("/purge", **described(answers.PurgeAnswer))
async def purge(context: AdminContext, body: schemas.MemorySelection) -> Response:
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


@read_route(router.get, "/{id:path}/history", answers.MemoriesAnswer, SEARCH)
def history(context: ReadContext, id: MemoryId) -> Json:
    """Return the chain a memory is part of: what was replaced before what replaced it."""
    return memories_json(context.engine.history(id))


@write_route(router.post, "/{id:path}/correct", answers.MemoryAnswer, UPDATE, status=201, remembers=True)
def correct(context: WriteContext, id: MemoryId, body: schemas.Correction) -> Json:
    """Replace a memory; the old one stays readable in its history."""
    return memory_json(context.engine.correct(id, **body.set_fields()))


@router.get("/{id:path}", **described(answers.MemoryAnswer))
async def get(context: ReadContext, id: MemoryId) -> Response:
    """Return one memory, a hidden one too; its ETag is its version."""
    memory = await context.run(lambda: context.engine.get(id, namespace=context.namespace))
    answer = await context.read(lambda: memory_json(memory))
    answer.headers["ETag"] = f'"{memory.version}"'
    return answer


@write_route(router.patch, "/{id:path}", answers.MemoryAnswer, UPDATE)
def update(
    context: WriteContext,
    id: MemoryId,
    body: schemas.MemoryUpdate,
    if_match: Annotated[str | None, Header(max_length=40, description="The ETag it was read with.")] = None,
) -> Json:
    """Change what is known about a memory, never its content; 409 if it has changed meanwhile."""
    fields = body.set_fields()
    expected = _version(if_match, fields.pop("expected_version", None))
    return memory_json(context.engine.update(id, expected_version=expected, **fields))


def _version(header: str | None, expected: int | None) -> int | None:
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
    try:
        value = None if text is None else json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidArgument("filter", text, "a JSON object") from error
    if text is not None and not isinstance(value, dict):
        raise InvalidArgument("filter", text, "a JSON object")
    return value


# --- duplicates, contradictions, summaries ------------------------------------------------------------


@read_route(duplicates_router.get, "/duplicates/runs", answers.DuplicateRunsAnswer)
def list_duplicate_runs(context: ReadContext) -> Json:
    """List the runs that superseded duplicates; ``POST /v1/jobs/duplicates`` begins one."""
    return {"runs": plain(context.engine.admin.duplicates.runs())}


@write_route(duplicates_router.post, "/duplicates/undo", answers.UndoneAnswer, UPDATE)
def undo_duplicates(context: WriteContext, body: schemas.UndoRequest) -> Json:
    """Undo a run: what it superseded is current again."""
    answer: Json = plain(context.engine.admin.duplicates.undo(body.run))
    return answer


@write_route(duplicates_router.post, "/duplicates/reinstate", answers.DoneAnswer, UPDATE)
def reinstate(context: WriteContext, body: schemas.MemoryIds) -> Json:
    """Take back that memories were superseded: they are current again."""
    for id_ in body.ids:
        context.engine.admin.duplicates.reinstate(id_)
    return {"done": len(body.ids)}


@read_route(duplicates_router.get, "/contradictions", answers.ContradictionsAnswer)
def list_contradictions(
    context: ReadContext,
    id: Annotated[str | None, Query(max_length=128, description="Only those of this memory.")] = None,
    resolved: Annotated[bool, Query(description="Also what was decided.")] = False,
) -> Json:
    """Return which memories may contradict each other."""
    return {"contradictions": plain(context.engine.admin.duplicates.contradictions(id, resolved=resolved))}


@write_route(duplicates_router.post, "/contradictions", answers.ContradictionAnswer, UPDATE)
def decide_contradiction(context: WriteContext, body: schemas.Decision) -> Json:
    """Decide about a contradiction: if it is one, the newer memory supersedes the older one."""
    decided = context.engine.admin.duplicates.resolve_contradiction(
        **body.set_fields(), by=context.access.name
    )
    answer: Json = plain(decided)
    return answer


@read_route(duplicates_router.get, "/summaries", answers.SummariesAnswer)
def list_summaries(context: ReadContext, state: Literal["open", "accepted", "rejected"] = "open") -> Json:
    """List summaries of episodes: those that wait, or were accepted or rejected."""
    return {"summaries": list(map(summary_json, context.engine.admin.lifecycle.summaries(state=state)))}


@write_route(duplicates_router.post, "/summaries", answers.DoneAnswer, UPDATE)
def decide_summaries(context: WriteContext, body: schemas.SummaryDecision) -> Json:
    """Accept proposed summaries, which are memories like others then, or leave them hidden for good."""
    lifecycle = context.engine.admin.lifecycle
    decide = lifecycle.accept_summary if body.accepted else lifecycle.reject_summary
    decide(*body.ids)
    return {"done": len(body.ids)}
