"""Namespaces over HTTP: list, link, move, split, purge, and export and import as lines of JSON.

A key must be for every namespace that is touched.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from itertools import islice
from typing import Annotated, Any, Final

from fastapi import Query, Request
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import Response, StreamingResponse

from memorata.extend.access import ADMIN, READ
from memorata.extend.json import Json, plain
from memorata.extend.model import checks
from memorata.extend.transfer import Importer, export_rows, jsonl_record
from memorata_server import answers, schemas
from memorata_server.http.context import (
    Caller,
    ReadContext,
    RequestContext,
    ServerState,
    UnkeyedAdminContext,
    UnkeyedWriteContext,
    described,
    json_lines,
    json_response,
    read_route,
)
from memorata_server.http.errors import api_router, problem, request_id
from memorata_server.http.telemetry import DELETE, SEARCH

transfer_router = api_router("/v1", "import and export")
router = api_router("/v1", "server")

NDJSON: Final = "application/x-ndjson"
_MEMORIES_PER_CHUNK: Final = 200
MAX_PROBLEMS: Final = 100
"""How many lines that could not be read are listed in an answer."""

NamespacePath = Annotated[
    str,
    Query(
        max_length=512,
        json_schema_extra={"pattern": f"^{checks.NAMESPACE_PATTERN}$"},
        description="The namespace, by its whole path.",
    ),
]


class NamespaceAnswer(BaseModel):
    """A namespace, and how many memories it holds, hidden ones too."""

    namespace: str
    memories: int


NamespacesAnswer = answers.list_of(NamespaceAnswer, "namespaces", "The namespaces that a key is for.")


@router.get("/namespaces", **described(NamespacesAnswer))
async def list_namespaces(request: Request, access: Caller) -> Response:
    """List the namespaces that the key is for, and that something was ever written to."""
    server: ServerState = request.app.state.server
    counts = await server.workers.run(server.engine.store.namespaces)
    allowed = [
        {"namespace": path, "memories": count} for path, count in counts.items() if access.allows(READ, path)
    ]
    return json_response({"namespaces": allowed})


@read_route(router.delete, "/namespaces", answers.RemovedAnswer, DELETE)
def purge_namespace(context: UnkeyedAdminContext, namespace: NamespacePath) -> Json:
    """Remove a namespace for good, with its name and all that belongs to it. This cannot be undone.

    It has to be named, even if it is the server's own.
    """
    removed = context.engine.admin.namespaces.purge(context.namespace)
    context.server.jobs.forget(context.namespace)
    return {"removed": removed}


@transfer_router.get("/export", response_model=None, responses={200: {"content": {NDJSON: {}}}})
async def export(context: ReadContext) -> Response:
    """Write out everything in a namespace, hidden memories too, as lines of JSON that `import` reads."""
    rows = export_rows(context.engine, context.namespace)
    # The first rows are read before the answer begins, so that an error can still be answered.
    first = await context.run(lambda: list(islice(rows, _MEMORIES_PER_CHUNK)))
    return StreamingResponse(_lines(context, first, rows), media_type=NDJSON)


@transfer_router.post(
    "/import",
    **described(answers.ImportAnswer),
    openapi_extra={"requestBody": {"content": {NDJSON: {"schema": {"type": "string"}}}, "required": True}},
)
async def import_(context: UnkeyedWriteContext, request: Request) -> Response:
    """Import lines of JSON, as `export` writes them; what is there already is left as it is.

    A line that cannot be read is listed, and the others are imported. Everything goes to the one namespace
    of the request. Lines are written some hundred at a time: an import that breaks off can be sent again.
    """
    importer = Importer(
        context.engine,
        context.namespace,
        max_content=schemas.MAX_TEXT,
        max_problems=MAX_PROBLEMS,
        batch=f"http: {context.access.name}",
    )
    async for lines in _read(request, context.server.limits.body):
        await context.recheck()
        await context.run(partial(_add, importer, lines), writing=True)
    counts, failed = asdict(importer.counts), importer.notes.failed
    problems = [{"line": note["line"], "problem": note["problem"]} for note in importer.notes.problems]
    if failed and not any(counts.values()):
        faults = [{"at": f"line {note['line']}", "problem": note["problem"]} for note in problems[:20]]
        return problem(
            422, "none of the lines could be read", instance=request_id(request.scope), errors=faults
        )
    answer = {**counts, "import_id": importer.import_id, "failed": failed, "problems": problems}
    return json_response(answer)


@read_route(transfer_router.get, "/imports", answers.ImportsAnswer, SEARCH)
def list_imports(context: ReadContext) -> Json:
    """List the imports into a namespace that were not undone, the latest first."""
    return {"imports": plain(context.engine.admin.transfer.imports.list())}


@read_route(transfer_router.post, "/imports/undo", answers.UndoneImportAnswer, DELETE)
def undo_import(context: UnkeyedAdminContext, body: schemas.UndoImport) -> Json:
    """Undo an import as one: forget what it brought, or with `purge` remove it for good."""
    undo = partial(context.engine.admin.transfer.imports.undo, body.id)
    # It may have written to namespaces that this key is not for.
    for path in undo(dry_run=True).memories:
        context.access.require(ADMIN, path)
    answer: Json = plain(undo(purge=body.purge, dry_run=body.dry_run))
    return answer


def _add(importer: Importer, lines: Sequence[tuple[int, bytes]]) -> None:
    importer.add([jsonl_record(number, line) for number, line in lines])


async def _lines(
    context: RequestContext, first: list[dict[str, Any]], rows: Iterator[dict[str, Any]]
) -> AsyncIterator[bytes]:
    chunk = first
    while chunk:
        yield b"".join(json_lines(chunk))
        await context.recheck()
        chunk = await context.run(lambda: list(islice(rows, _MEMORIES_PER_CHUNK)))


async def _read(request: Request, max_bytes: int) -> AsyncIterator[list[tuple[int, bytes]]]:
    """Yield the lines of a body that are not blank, with their numbers, some at a time."""
    number, rest, size = 0, b"", 0
    lines: list[tuple[int, bytes]] = []
    async for chunk in request.stream():
        *complete, rest = (rest + chunk).split(b"\n")
        if len(rest) > max_bytes:
            raise HTTPException(413, f"a line has at most {max_bytes:,} bytes")
        for line in complete:
            number += 1
            if line.strip():
                lines.append((number, line))
                size += len(line)
            # Some hundred lines are little, unless each is as long as a line may be.
            if len(lines) == _MEMORIES_PER_CHUNK or size > max_bytes:
                yield lines
                lines, size = [], 0
    if rest.strip():
        lines.append((number + 1, rest))
    if lines:
        yield lines
