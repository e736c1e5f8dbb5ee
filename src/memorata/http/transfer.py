"""Export and import of a namespace over HTTP, as lines of JSON."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from itertools import islice
from typing import Any, Final

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response, StreamingResponse

from memorata.engine.access import ADMIN
from memorata.http.context import (
    ReadContext,
    RequestContext,
    UnkeyedAdminContext,
    UnkeyedWriteContext,
    answers,
    json_bytes,
    json_lines,
    read_route,
)
from memorata.http.errors import RESPONSES, problem, request_id
from memorata.http.telemetry import DELETE, SEARCH
from memorata.service.answers import ImportAnswer, ImportsAnswer, UndoneImportAnswer
from memorata.service.codec import Json, plain
from memorata.service.formats.record import jsonl_record
from memorata.service.schemas import MAX_TEXT, UndoImport
from memorata.service.transfer import Importer, export_rows

router = APIRouter(prefix="/v1", tags=["import and export"], responses=RESPONSES)

NDJSON: Final = "application/x-ndjson"
_MEMORIES_PER_CHUNK: Final = 200
MAX_PROBLEMS: Final = 100
"""How many lines that could not be read are listed in an answer."""


@router.get("/export", response_model=None, responses={200: {"content": {NDJSON: {}}}})
async def export(context: ReadContext) -> Response:
    """Write out everything in a namespace, hidden memories too, as lines of JSON that `import` reads."""
    rows = export_rows(context.engine, context.namespace)
    # The first rows are read before the answer begins, so that an error can still be answered.
    first = await context.run(lambda: list(islice(rows, _MEMORIES_PER_CHUNK)))
    return StreamingResponse(_lines(context, first, rows), media_type=NDJSON)


@router.post(
    "/import",
    **answers(ImportAnswer),
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
        max_content=MAX_TEXT,
        max_problems=MAX_PROBLEMS,
        batch=f"http: {context.access.name}",
    )
    async for lines in _read(request, context.server.limits.body):
        await context.recheck()
        await context.run(lambda lines=lines: _add(importer, lines), writing=True)  # type: ignore[misc]
    counts, failed = asdict(importer.counts), importer.notes.failed
    problems = [{"line": note["line"], "problem": note["problem"]} for note in importer.notes.problems]
    if failed and not any(counts.values()):
        faults = [{"at": f"line {note['line']}", "problem": note["problem"]} for note in problems[:20]]
        return problem(422, "none of the lines could be read", instance=request_id(request), errors=faults)
    answer = {**counts, "import_id": importer.import_id, "failed": failed, "problems": problems}
    return Response(json_bytes(answer), media_type="application/json")


@read_route(router.get, "/imports", ImportsAnswer, SEARCH)
def imports(context: ReadContext) -> Json:
    """List the imports into a namespace that were not undone, the latest first."""
    runs = context.engine.transfer.imports.list(namespace=context.namespace)
    return {"imports": [plain(run) for run in runs]}


@read_route(router.post, "/imports/undo", UndoneImportAnswer, DELETE)
def undo_import(context: UnkeyedAdminContext, body: UndoImport) -> Json:
    """Undo an import as one: forget what it brought, or with `purge` remove it for good."""
    undo = partial(context.engine.transfer.imports.undo, body.id)
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
