"""Recall over HTTP: the right few memories for a query, and why."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.routing import APIRoute
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from memorata.engine.access import READ
from memorata.http.context import MAX_PATH, ReadContext, answers, authenticate, authorised
from memorata.http.errors import RESPONSES
from memorata.http.telemetry import SEARCH
from memorata.service.answers import BriefingAnswer, RecallAnswer
from memorata.service.codec import Json, briefing_json, recall_json
from memorata.service.schemas import MAX_BUDGET, RecallRequest


class _RecallRoute(APIRoute):
    """A route whose good requests are not taken apart by the framework: that takes 0.2 ms of a processor.

    What is not as described (a parameter, a field) is left to the framework, which says why it is refused.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        by_framework = super().get_route_handler()

        async def handle(request: Request) -> Response:
            parameters = request.query_params.multi_items() if request.scope["query_string"] else []
            namespace = parameters[0][1] if parameters else None
            known = all(name == "namespace" and len(path) <= MAX_PATH for name, path in parameters)
            try:
                body = RecallRequest.model_validate(json.loads(await request.body()))
            except (ValueError, RecursionError, ClientDisconnect):
                return await by_framework(request)
            if len(parameters) > 1 or not known:
                return await by_framework(request)
            access = await authenticate(request, None)
            return await recall(authorised(request, access, READ, namespace), body)

        return handle


router = APIRouter(prefix="/v1", tags=["recall"], responses=RESPONSES)


async def recall(context: ReadContext, body: RecallRequest) -> Response:
    """Find the right few memories for a query."""

    def work() -> Json:
        given = {"recipe": body.recipe, "changes": body.parameters or None, **body.options()}
        if body.namespaces:
            given.pop("sessions")
            # acme/* stands for what the key is for, of what there is; what is named must be allowed.
            for path in body.namespaces:
                if not path.endswith("/*"):
                    context.access.require(READ, path)
            allows = partial(context.access.allows, READ)
            result = context.engine.recall_across(
                body.query, body.namespaces, inherit=body.inherit, allows=allows, **given
            )
        else:
            result = context.engine.recall(body.query, namespace=context.namespace, **given)
        return recall_json(result, explain=body.explain)

    return await context.read(work, SEARCH)


router.add_api_route(
    "/recall", recall, methods=["POST"], route_class_override=_RecallRoute, **answers(RecallAnswer)
)


@router.get("/briefing", **answers(BriefingAnswer))
async def briefing(
    context: ReadContext,
    budget: Annotated[int, Query(ge=0, le=MAX_BUDGET, description="How many tokens it may take.")] = 1_000,
) -> Response:
    """Tell what to know before anything is asked: pinned, instructions, preferences, important, recent."""
    return await context.read(
        lambda: briefing_json(context.engine.briefing(budget=budget, namespace=context.namespace)), SEARCH
    )
