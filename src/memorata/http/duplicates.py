"""Duplicates, contradictions and proposed summaries over HTTP, and what was decided about them."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from starlette.responses import Response

from memorata.http.context import ReadContext, WriteContext, answers
from memorata.http.errors import RESPONSES
from memorata.http.telemetry import UPDATE
from memorata.service.answers import (
    ContradictionAnswer,
    ContradictionsAnswer,
    DoneAnswer,
    DuplicateRunsAnswer,
    RepeatsAnswer,
    SummariesAnswer,
    UndoneAnswer,
)
from memorata.service.codec import Json, plain
from memorata.service.schemas import Decision, MemoryIds, UndoRequest

router = APIRouter(prefix="/v1", tags=["duplicates and contradictions"], responses=RESPONSES)


@router.get("/repeats", **answers(RepeatsAnswer))
async def repeats(context: ReadContext, id: Annotated[str, Query(max_length=128)]) -> Response:
    """Return the repeats of a memory."""
    return await context.read(
        lambda: {
            "repeats": [
                plain(repeat) for repeat in context.engine.duplicates.repeats(id, namespace=context.namespace)
            ]
        }
    )


@router.get("/duplicates/runs", **answers(DuplicateRunsAnswer))
async def runs(context: ReadContext) -> Response:
    """List the runs that superseded duplicates; ``POST /v1/jobs/duplicates`` begins one."""
    return await context.read(
        lambda: {"runs": [plain(run) for run in context.engine.duplicates.runs(namespace=context.namespace)]}
    )


@router.post("/duplicates/undo", **answers(UndoneAnswer))
async def undo(context: WriteContext, body: UndoRequest) -> Response:
    """Undo a run: what it superseded is current again."""
    return await context.write(
        lambda: plain(context.engine.duplicates.undo(body.run, namespace=context.namespace)), UPDATE
    )


@router.post("/duplicates/reinstate", **answers(DoneAnswer))
async def reinstate(context: WriteContext, body: MemoryIds) -> Response:
    """Take back that memories were superseded: they are current again."""

    def work() -> Json:
        for id_ in body.ids:
            context.engine.duplicates.reinstate(id_, namespace=context.namespace)
        return {"done": len(body.ids)}

    return await context.write(work, UPDATE)


@router.get("/contradictions", **answers(ContradictionsAnswer))
async def contradictions(
    context: ReadContext,
    id: Annotated[str | None, Query(max_length=128, description="Only those of this memory.")] = None,
    resolved: Annotated[bool, Query(description="Also what was decided.")] = False,
) -> Response:
    """Return which memories may contradict each other."""

    def work() -> Json:
        notes = context.engine.duplicates.contradictions(id, resolved=resolved, namespace=context.namespace)
        return {"contradictions": [plain(note) for note in notes]}

    return await context.read(work)


@router.post("/contradictions", **answers(ContradictionAnswer))
async def decide(context: WriteContext, body: Decision) -> Response:
    """Decide about a contradiction: if it is one, the newer memory supersedes the older one."""

    def work() -> Json:
        answer: Json = plain(
            context.engine.duplicates.resolve_contradiction(
                body.newer,
                body.older,
                contradicts=body.contradicts,
                because=body.because,
                by=context.access.name,
                namespace=context.namespace,
            )
        )
        return answer

    return await context.write(work, UPDATE)


@router.get("/summaries", **answers(SummariesAnswer))
async def summaries(
    context: ReadContext, state: Literal["open", "accepted", "rejected"] = "open"
) -> Response:
    """List summaries of episodes: those that wait, or were accepted or rejected."""

    def work() -> Json:
        proposals = context.engine.lifecycle.summaries(state=state, namespace=context.namespace)
        rows = [
            {
                "id": proposal.summary.id,
                "content": proposal.summary.content,
                "sources": list(proposal.sources),
            }
            for proposal in proposals
        ]
        return {"summaries": rows}

    return await context.read(work)


@router.post("/summaries/accept", **answers(DoneAnswer))
async def accept(context: WriteContext, body: MemoryIds) -> Response:
    """Let proposed summaries be memories like others."""

    def work() -> Json:
        context.engine.lifecycle.accept_summary(*body.ids, namespace=context.namespace)
        return {"done": len(body.ids)}

    return await context.write(work, UPDATE)


@router.post("/summaries/reject", **answers(DoneAnswer))
async def reject(context: WriteContext, body: MemoryIds) -> Response:
    """Leave proposed summaries hidden for good."""

    def work() -> Json:
        context.engine.lifecycle.reject_summary(*body.ids, namespace=context.namespace)
        return {"done": len(body.ids)}

    return await context.write(work, UPDATE)
