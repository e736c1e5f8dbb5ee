"""Recall over HTTP: the right few memories for a query, and why."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from memorata.engine.access import READ
from memorata.http.context import ReadContext, answers
from memorata.http.errors import RESPONSES
from memorata.http.telemetry import SEARCH
from memorata.service.answers import BriefingAnswer, RecallAnswer
from memorata.service.codec import Json, briefing_json, recall_json
from memorata.service.schemas import MAX_BUDGET, RecallRequest

router = APIRouter(prefix="/v1", tags=["recall"], responses=RESPONSES)


@router.post("/recall", **answers(RecallAnswer))
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


@router.get("/briefing", **answers(BriefingAnswer))
async def briefing(
    context: ReadContext,
    budget: Annotated[int, Query(ge=0, le=MAX_BUDGET, description="How many tokens it may take.")] = 1_000,
) -> Response:
    """Tell what to know before anything is asked: pinned, instructions, preferences, important, recent."""
    return await context.read(
        lambda: briefing_json(context.engine.briefing(budget=budget, namespace=context.namespace)), SEARCH
    )
