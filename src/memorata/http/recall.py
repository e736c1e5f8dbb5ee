"""Recall over HTTP: the right few memories for a query, and why."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from memorata.http.context import ReadContext, answers
from memorata.http.errors import RESPONSES
from memorata.http.telemetry import SEARCH
from memorata.service.answers import RecallAnswer
from memorata.service.codec import Json, recall_json
from memorata.service.schemas import RecallRequest

router = APIRouter(prefix="/v1", tags=["recall"], responses=RESPONSES)


@router.post("/recall", **answers(RecallAnswer))
async def recall(context: ReadContext, body: RecallRequest) -> Response:
    """Find the right few memories for a query."""

    def work() -> Json:
        result = context.engine.recall(
            body.query,
            namespace=context.namespace,
            recipe=body.recipe,
            changes=body.parameters or None,
            **body.options(),
        )
        return recall_json(result, explain=body.explain)

    return await context.read(work, SEARCH)
