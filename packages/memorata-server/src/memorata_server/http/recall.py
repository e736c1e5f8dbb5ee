"""Recall over HTTP: the right few memories for a query, and why."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Annotated, Final

from fastapi import Query, Request
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memorata import MemorataError, RecallResult
from memorata.extend.access import READ
from memorata.extend.json import Json, briefing_json, recall_json
from memorata.extend.serving import only_computes, turn_of
from memorata_server.answers import BriefingAnswer, RecallAnswer
from memorata_server.http.context import (
    MAX_PATH,
    ReadContext,
    authenticate,
    authorised,
    described,
    fast_json,
    json_bytes,
    read_route,
)
from memorata_server.http.errors import api_router, respond
from memorata_server.http.telemetry import SEARCH
from memorata_server.schemas import MAX_BUDGET, RecallRequest

router = api_router("/v1", "recall")


async def recall(context: ReadContext, body: RecallRequest) -> Response:
    """Find the right few memories for a query."""

    def work() -> bytes:
        arguments = body.arguments()
        if body.namespaces:
            # acme/* stands for what the key is for, of what there is; what is named must be allowed.
            for path in body.namespaces:
                if not path.endswith("/*"):
                    context.access.require(READ, path)
            allows = partial(context.access.allows, READ)
            result = context.engine.admin.namespaces.recall(
                namespaces=body.namespaces, inherit=body.inherit, allows=allows, **arguments
            )
        else:
            result = context.engine.recall(namespace=context.namespace, **arguments)
        return _answer(result, explain=body.explain)

    def work_in_turn() -> bytes:
        with turn_of(context.engine, context.namespace):
            return work()

    usual = body.recipe is None and not body.parameters and not body.namespaces
    computing = usual and only_computes(context.engine, context.namespace)
    return await context.read(work_in_turn if usual and not computing else work, SEARCH, computing=computing)


def _answer(result: RecallResult, *, explain: bool) -> bytes:
    """Return a result as JSON. orjson reads memories as they are, in half the time of dicts made of them."""
    if fast_json is not None and not explain:
        data = result.without_memories()
        for key, hits in (("hits", result.hits), ("refused", result.refused)):
            data[key] = [
                {
                    "id": hit.memory.id,
                    "score": hit.score,
                    "confidence": hit.confidence,
                    "refused": hit.refused,
                    "memory": hit.memory,
                }
                for hit in hits
            ]
        with suppress(TypeError):  # as in json_bytes
            return fast_json(data, _plain_mapping)
    return json_bytes(recall_json(result, explain=explain))


def _plain_mapping(value: object) -> Json:
    """Return the metadata of a memory as orjson can write it."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a {type(value).__name__} has no JSON form")


router.add_api_route("/recall", recall, methods=["POST"], **described(RecallAnswer))
_ROUTE: Final = router.routes[0]
_PATH: Final = "/v1/recall"


class RecallMiddleware:
    """ASGI middleware that answers good recalls itself: the framework takes 0.25 ms of a processor for one.

    What is not as described (a parameter, a field) is left to the framework, which says why it is refused.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a recall, or pass a request on."""
        if scope["type"] != "http" or scope["path"] != _PATH or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        try:
            response = await self._response(request)
        except (HTTPException, MemorataError) as error:
            response = await respond(request, error)
        except ClientDisconnect:
            await self._app(scope, receive, send)
            return
        if response is None:
            await self._app(scope, _replay(await request.body(), receive), send)
        else:
            await response(scope, receive, send)

    async def _response(self, request: Request) -> Response | None:
        """Return the answer; None for what the framework has to look at."""
        parameters = request.query_params.multi_items() if request.scope["query_string"] else []
        namespace = parameters[0][1] if parameters else None
        data = await request.body()
        if any(name != "namespace" or len(path) > MAX_PATH for name, path in parameters) or parameters[1:]:
            return None
        try:
            body = RecallRequest.model_validate(json.loads(data))
        except (ValueError, RecursionError):
            return None
        request.scope["route"] = _ROUTE
        access = await authenticate(request, None)
        return await recall(authorised(request, access, READ, namespace), body)


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return what receives a body that was read already, and then whatever follows it."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return messages.pop() if messages else await receive()

    return receive_again


@read_route(router.get, "/briefing", BriefingAnswer, SEARCH)
def briefing(
    context: ReadContext,
    budget: Annotated[int, Query(ge=0, le=MAX_BUDGET, description="How many tokens it may take.")] = 1_000,
) -> Json:
    """Tell what to know before anything is asked: pinned, instructions, preferences, important, recent."""
    return briefing_json(context.engine.briefing(budget=budget))
