"""Duplicates, contradictions and proposed summaries over HTTP, and what was decided about them."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query

from memorata.http.context import ReadContext, WriteContext, read_route, write_route
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


@read_route(router.get, "/repeats", RepeatsAnswer)
def repeats(context: ReadContext, id: Annotated[str, Query(max_length=128)]) -> Json:
    """Return the repeats of a memory."""
    repeats = context.engine.duplicates.repeats(id, namespace=context.namespace)
    return {"repeats": [plain(repeat) for repeat in repeats]}


@read_route(router.get, "/duplicates/runs", DuplicateRunsAnswer)
def runs(context: ReadContext) -> Json:
    """List the runs that superseded duplicates; ``POST /v1/jobs/duplicates`` begins one."""
    return {"runs": [plain(run) for run in context.engine.duplicates.runs(namespace=context.namespace)]}


@write_route(router.post, "/duplicates/undo", UndoneAnswer, UPDATE)
def undo(context: WriteContext, body: UndoRequest) -> Json:
    """Undo a run: what it superseded is current again."""
    answer: Json = plain(context.engine.duplicates.undo(body.run, namespace=context.namespace))
    return answer


@write_route(router.post, "/duplicates/reinstate", DoneAnswer, UPDATE)
def reinstate(context: WriteContext, body: MemoryIds) -> Json:
    """Take back that memories were superseded: they are current again."""
    for id_ in body.ids:
        context.engine.duplicates.reinstate(id_, namespace=context.namespace)
    return {"done": len(body.ids)}


@read_route(router.get, "/contradictions", ContradictionsAnswer)
def contradictions(
    context: ReadContext,
    id: Annotated[str | None, Query(max_length=128, description="Only those of this memory.")] = None,
    resolved: Annotated[bool, Query(description="Also what was decided.")] = False,
) -> Json:
    """Return which memories may contradict each other."""
    notes = context.engine.duplicates.contradictions(id, resolved=resolved, namespace=context.namespace)
    return {"contradictions": [plain(note) for note in notes]}


@write_route(router.post, "/contradictions", ContradictionAnswer, UPDATE)
def decide(context: WriteContext, body: Decision) -> Json:
    """Decide about a contradiction: if it is one, the newer memory supersedes the older one."""
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


@read_route(router.get, "/summaries", SummariesAnswer)
def summaries(context: ReadContext, state: Literal["open", "accepted", "rejected"] = "open") -> Json:
    """List summaries of episodes: those that wait, or were accepted or rejected."""
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


@write_route(router.post, "/summaries/accept", DoneAnswer, UPDATE)
def accept(context: WriteContext, body: MemoryIds) -> Json:
    """Let proposed summaries be memories like others."""
    context.engine.lifecycle.accept_summary(*body.ids, namespace=context.namespace)
    return {"done": len(body.ids)}


@write_route(router.post, "/summaries/reject", DoneAnswer, UPDATE)
def reject(context: WriteContext, body: MemoryIds) -> Json:
    """Leave proposed summaries hidden for good."""
    context.engine.lifecycle.reject_summary(*body.ids, namespace=context.namespace)
    return {"done": len(body.ids)}
