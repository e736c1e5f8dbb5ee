"""Memories over HTTP: create, read, list, change, correct, forget, restore, purge, history."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Header, Path, Query
from pydantic import BaseModel, Field, model_validator
from starlette.responses import Response

from memorata.http.asked import Asked, Reading, Ruling, Writing
from memorata.http.limits import BATCH, RESULTS, TEXT
from memorata.http.shapes import Done, Given, Ids, Known, MemoriesShown, MemoryGiven, MemoryShown, Whole
from memorata.http.tracing import CREATE, DELETE, SEARCH, UPDATE
from memorata.model.errors import InvalidArgument
from memorata.service.codec import memories_json, memory_json

router = APIRouter(prefix="/v1/memories", tags=["memories"])

MemoryId = Annotated[str, Path(min_length=1, max_length=128, description="The id of a memory.")]


class Many(Given):
    """Several things to remember; all of them are written, or none."""

    items: list[MemoryGiven] = Field(min_length=1, max_length=BATCH)


class ManyShown(MemoriesShown):
    """What was remembered, and how many had been known already by their ids."""

    known: int


class Changed(Known):
    """What is to be known about a memory from now on; what is left out stays as it is."""

    expected_version: Annotated[int, Field(ge=1)] | None = Field(
        None, strict=True, description="The version it was read at: if it is another by now, nothing changes."
    )

    @model_validator(mode="before")
    @classmethod
    def _not_what_was_said(cls, given: Any) -> Any:  # noqa: ANN401 - whatever came
        if isinstance(given, dict) and "content" in given:
            raise InvalidArgument(
                "content",
                given["content"],
                "left out: what was said stays, and POST …/correct says something new",
            )
        return given


class Corrected(Known):
    """What to say in place of a memory; what is left out is taken over from it."""

    content: str = Field(min_length=1, max_length=TEXT)


class Named(Given):
    """The memories that are meant."""

    ids: Ids


class PageShown(MemoriesShown):
    """Memories, the newest first, and where the list goes on."""

    cursor: str | None


class ChainShown(BaseModel):
    """The chain a memory is part of: what was replaced comes before what replaced it."""

    memories: list[MemoryShown]


@router.post("", status_code=201, response_model=None, responses={201: {"model": MemoryShown}})
async def create(asked: Writing, item: MemoryGiven) -> Response:
    """Remember one thing; when the answer is there, it is on the disk."""

    def work() -> Any:  # noqa: ANN401
        given = item.given()
        return memory_json(asked.engine.remember(given.pop("content"), namespace=asked.namespace, **given))

    return await asked.write(work, CREATE, status=201, remembers=[item.given()])


@router.post("/batch", status_code=201, response_model=None, responses={201: {"model": ManyShown}})
async def create_many(asked: Writing, many: Many) -> Response:
    """Remember several things, all or none; one whose id is known already is left as it is."""
    items = [item.given() for item in many.items]

    def work() -> Any:  # noqa: ANN401
        made = asked.engine.remember_many(items, namespace=asked.namespace)
        return {**memories_json(made), "known": len(items) - len(made)}

    return await asked.write(work, CREATE, status=201, remembers=items)


@router.get("", response_model=None, responses={200: {"model": PageShown}})
async def listed(
    asked: Reading,
    limit: Annotated[int, Query(ge=1, le=RESULTS)] = 50,
    cursor: Annotated[str | None, Query(max_length=40, description="Of the page before.")] = None,
    hidden: Annotated[bool, Query(description="Forgotten and superseded memories too.")] = False,
    fresh: Annotated[
        bool, Query(description="Know all that was written before; without it, a replica may answer.")
    ] = True,
    filter: Annotated[
        str | None, Query(max_length=20_000, description='A JSON object, such as {"category":"preference"}.')
    ] = None,
) -> Response:
    """List memories, the newest first, a page at a time."""
    conditions = _object(filter)

    def work() -> Any:  # noqa: ANN401
        page = asked.engine.list(
            namespace=asked.namespace,
            filter=conditions,
            limit=limit,
            cursor=cursor,
            hidden=hidden,
            fresh=fresh,
        )
        return {**memories_json(page.memories), "cursor": page.cursor}

    return await asked.look(work, SEARCH)


async def _by_ids(asked: Asked, ids: list[str], verb: Callable[..., None], operation: str) -> Response:
    def work() -> Any:  # noqa: ANN401
        verb(*ids, namespace=asked.namespace)
        return {"done": len(ids)}

    return await asked.write(work, operation)


@router.post("/forget", response_model=None, responses={200: {"model": Done}})
async def forget(asked: Writing, named: Named) -> Response:
    """Hide memories from every recall; `restore` brings them back."""
    return await _by_ids(asked, named.ids, asked.engine.forget, DELETE)


@router.post("/restore", response_model=None, responses={200: {"model": Done}})
async def restore(asked: Writing, named: Named) -> Response:
    """Show forgotten memories again."""
    return await _by_ids(asked, named.ids, asked.engine.restore, UPDATE)


@router.post("/pin", response_model=None, responses={200: {"model": Done}})
async def pin(asked: Writing, named: Named) -> Response:
    """Keep memories: they do not fade, and no upkeep touches them."""
    return await _by_ids(asked, named.ids, asked.engine.lifecycle.pin, UPDATE)


@router.post("/unpin", response_model=None, responses={200: {"model": Done}})
async def unpin(asked: Writing, named: Named) -> Response:
    """Let memories live as others do again."""
    return await _by_ids(asked, named.ids, asked.engine.lifecycle.unpin, UPDATE)


@router.post("/used", response_model=None, responses={200: {"model": Done}})
async def used(asked: Writing, named: Named) -> Response:
    """Say that memories were of use, which makes them last and count more."""
    return await _by_ids(asked, named.ids, asked.engine.lifecycle.mark_used, UPDATE)


@router.post("/confirm", response_model=None, responses={200: {"model": Done}})
async def confirm(asked: Writing, named: Named) -> Response:
    """Say that memories are still right, which makes them surer."""
    return await _by_ids(asked, named.ids, asked.engine.lifecycle.confirm, UPDATE)


@router.post("/purge", response_model=None, responses={200: {"model": Done}})
async def purge(asked: Ruling, named: Named) -> Response:
    """Remove memories for good, with every trace of them. This cannot be undone, and takes a while."""

    def work() -> Any:  # noqa: ANN401
        asked.engine.purge(*named.ids, namespace=asked.namespace)
        # Here, and not after the answer: somebody may have stopped waiting for it.
        asked.service.jobs.forget(asked.namespace)
        return {"done": len(named.ids)}

    return await asked.write(work, DELETE, apart=True)


@router.get("/{id:path}/history", response_model=None, responses={200: {"model": ChainShown}})
async def history(asked: Reading, id: MemoryId) -> Response:
    """Return the chain a memory is part of: what was replaced before what replaced it."""
    return await asked.look(
        lambda: memories_json(asked.engine.history(id, namespace=asked.namespace)), SEARCH
    )


@router.post(
    "/{id:path}/correct", status_code=201, response_model=None, responses={201: {"model": MemoryShown}}
)
async def correct(asked: Writing, id: MemoryId, said: Corrected) -> Response:
    """Say something new in place of a memory; the old one stays readable in its history."""

    def work() -> Any:  # noqa: ANN401
        given = said.given()
        made = asked.engine.correct(id, given.pop("content"), namespace=asked.namespace, **given)
        return memory_json(made)

    return await asked.write(work, UPDATE, status=201, remembers=[said.given()])


@router.get("/{id:path}", response_model=None, responses={200: {"model": MemoryShown}})
async def get(asked: Reading, id: MemoryId) -> Response:
    """Return one memory, a hidden one too; its ETag is its version."""
    found = await asked.run(lambda: asked.engine.get(id, namespace=asked.namespace))
    answer = await asked.look(lambda: memory_json(found))
    answer.headers["ETag"] = f'"{found.version}"'
    return answer


@router.patch("/{id:path}", response_model=None, responses={200: {"model": MemoryShown}})
async def change(
    asked: Writing,
    id: MemoryId,
    changed: Changed,
    if_match: Annotated[str | None, Header(max_length=40, description="The ETag it was read with.")] = None,
) -> Response:
    """Change what is known about a memory, never what was said; 409 if somebody else was faster."""
    fields = changed.given()
    expected = _version(if_match, fields.pop("expected_version", None))

    def work() -> Any:  # noqa: ANN401
        return memory_json(
            asked.engine.update(id, expected_version=expected, namespace=asked.namespace, **fields)
        )

    return await asked.write(work, UPDATE)


@router.delete("/{id:path}", response_model=None, responses={200: {"model": Done}})
async def forget_one(asked: Writing, id: MemoryId) -> Response:
    """Hide a memory from every recall; POST its id to restore to bring it back."""
    return await _by_ids(asked, [id], asked.engine.forget, DELETE)


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
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidArgument("filter", text, "a JSON object") from error
    if not isinstance(found, dict):
        raise InvalidArgument("filter", text, "a JSON object")
    return found
