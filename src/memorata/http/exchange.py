"""All of a namespace over HTTP: out as lines of JSON, and in again."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any, Final

from fastapi import APIRouter, Request
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import Response, StreamingResponse

from memorata.http.asked import Asked, Reading, Working, as_json, as_lines
from memorata.http.limits import TEXT
from memorata.http.problems import instance_of, problem
from memorata.service.export import export_rows
from memorata.service.formats import jsonl
from memorata.service.importer import Importer

router = APIRouter(prefix="/v1", tags=["all of it"])

NDJSON: Final = "application/x-ndjson"
_ROWS: Final = 200
MAX_PROBLEMS: Final = 100
"""How many lines that could not be read are listed in an answer."""


class LineProblem(BaseModel):
    """A line that could not be taken in."""

    line: int
    problem: str


class Imported(BaseModel):
    """What came of an import; what was there already is known."""

    imported: int
    entities: int
    relations: int
    known: int
    failed: int
    problems: list[LineProblem]


@router.get("/export", response_model=None, responses={200: {"content": {NDJSON: {}}}})
async def export(asked: Reading) -> Response:
    """Write out everything in a namespace, hidden memories too, as lines of JSON that `import` reads."""
    rows = export_rows(asked.engine, asked.namespace)
    # The first rows are read before the answer begins, so that an error can still be told.
    first = await asked.run(lambda: list(islice(rows, _ROWS)))
    return StreamingResponse(_lines(asked, first, rows), media_type=NDJSON)


@router.post(
    "/import",
    response_model=None,
    responses={200: {"model": Imported}},
    openapi_extra={"requestBody": {"content": {NDJSON: {"schema": {"type": "string"}}}, "required": True}},
)
async def import_(asked: Working, request: Request) -> Response:
    """Take in lines of JSON, as `export` writes them; what is there already is left as it is.

    A line that cannot be read is told of, and the others are taken in. Everything goes to the one namespace
    that is asked for. Lines are written some hundred at a time: an import that breaks off can be sent again.
    """
    importer = Importer(asked.engine, asked.namespace, max_content=TEXT, max_problems=MAX_PROBLEMS)
    async for lines in _read(request, asked.service.limits.body):
        await asked.recheck()
        await asked.run(lambda lines=lines: _take(importer, lines), writing=True)  # type: ignore[misc]
    counts, failed = asdict(importer.counts), importer.notes.failed
    problems = [{"line": each["line"], "problem": each["problem"]} for each in importer.notes.problems]
    if failed and not any(counts.values()):
        faults = [{"at": f"line {each['line']}", "problem": each["problem"]} for each in problems[:20]]
        return problem(422, "none of the lines could be read", instance=instance_of(request), errors=faults)
    answer = {**counts, "failed": failed, "problems": problems}
    return Response(as_json(answer), media_type="application/json")


def _take(importer: Importer, lines: Sequence[tuple[int, bytes]]) -> None:
    importer.take([jsonl.record(number, line) for number, line in lines])


async def _lines(
    asked: Asked, first: list[dict[str, Any]], rows: Iterator[dict[str, Any]]
) -> AsyncIterator[bytes]:
    some = first
    while some:
        yield b"".join(as_lines(some))
        await asked.recheck()
        some = await asked.run(lambda: list(islice(rows, _ROWS)))


async def _read(request: Request, longest: int) -> AsyncIterator[list[tuple[int, bytes]]]:
    """Yield the lines of a body that are not blank, with their numbers, some at a time."""
    number, rest, size = 0, b"", 0
    found: list[tuple[int, bytes]] = []
    async for chunk in request.stream():
        *whole, rest = (rest + chunk).split(b"\n")
        if len(rest) > longest:
            raise HTTPException(413, f"a line has at most {longest:,} bytes")
        for line in whole:
            number += 1
            if line.strip():
                found.append((number, line))
                size += len(line)
            # Some hundred lines are little, unless each is as long as a line may be.
            if len(found) == _ROWS or size > longest:
                yield found
                found, size = [], 0
    if rest.strip():
        found.append((number + 1, rest))
    if found:
        yield found
