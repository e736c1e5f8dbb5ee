"""All of a namespace over HTTP: out as lines of JSON, and in again."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import asdict
from itertools import islice
from typing import Any, Final

from fastapi import APIRouter, Request
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import Response, StreamingResponse

from memorata.engine import Engine
from memorata.http.asked import Asked, Reading, Working, as_json, as_lines
from memorata.http.importing import Importer
from memorata.http.problems import instance_of, problem
from memorata.http.shapes import memory_json, time_json
from memorata.model.entity import Relation
from memorata.store.naming import EntityRecord

router = APIRouter(prefix="/v1", tags=["all of it"])

NDJSON: Final = "application/x-ndjson"
_ROWS: Final = 200


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
    rows = rows_of(asked.engine, asked.namespace)
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
    importer = Importer(asked.engine, asked.namespace)
    async for lines in _read(request, asked.service.limits.body):
        await asked.recheck()
        await asked.run(lambda lines=lines: importer.take(lines), writing=True)  # type: ignore[misc]
    problems, taken = importer.problems, asdict(importer.taken)
    if problems.failed and not any(taken.values()):
        faults = [{"at": f"line {each['line']}", "problem": each["problem"]} for each in problems.listed[:20]]
        return problem(422, "none of the lines could be read", instance=instance_of(request), errors=faults)
    answer = {**taken, "failed": problems.failed, "problems": problems.listed}
    return Response(as_json(answer), media_type="application/json")


def rows_of(engine: Engine, namespace: str) -> Iterator[dict[str, Any]]:
    """Yield everything in a namespace as plain data: memories, then entities, then relations."""
    hidden = {each.memory_id: each for each in engine.store.hidden(namespace)}
    for memory in engine.store.export(namespace):
        since = hidden.get(memory.id)
        yield {
            **memory_json(memory),
            "fingerprint": memory.fingerprint,
            "forgotten_at": None if since is None else time_json(since.forgotten_at),
            "superseded_at": None if since is None else time_json(since.superseded_at),
            "end_given": None if since is None else since.end_given,
            "repeat": None if since is None else since.repeat,
        }
    for record in engine.store.entities(namespace):
        yield _entity_row(record, namespace)
    for relation in engine.store.relations(namespace):
        yield _relation_row(relation, namespace)


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


def _entity_row(record: EntityRecord, namespace: str) -> dict[str, Any]:
    return {
        "kind": "entity",
        "namespace": namespace,
        **asdict(record.entity),
        "aliases": list(record.entity.aliases),
        "merged_into": record.merged_into,
    }


def _relation_row(relation: Relation, namespace: str) -> dict[str, Any]:
    times = {name: time_json(getattr(relation, name)) for name in ("valid_from", "valid_to", "created_at")}
    return {"kind": "relation", "namespace": namespace, **asdict(relation), **times}
