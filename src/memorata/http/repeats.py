"""What was said twice and what contradicts, over HTTP: notes, runs that can be undone, decisions."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field
from starlette.responses import Response

from memorata.http.asked import Reading, Writing
from memorata.http.shapes import Flag, Given, Id, Ids, Word
from memorata.http.tracing import UPDATE
from memorata.service.codec import plain

router = APIRouter(prefix="/v1", tags=["what was said twice"])


class RepeatShown(BaseModel):
    """That a memory says what another one says, and was superseded for that."""

    memory_id: str
    of: str
    kind: str
    reason: str
    at: datetime
    mentions: int
    confidence: float | None
    supported_at: datetime | None
    run: int | None


class RepeatsShown(BaseModel):
    """How often a memory was said again."""

    repeats: list[RepeatShown]


class RunShown(BaseModel):
    """A run that superseded duplicates."""

    number: int
    started_at: datetime
    finished_at: datetime | None
    undone_at: datetime | None
    strategy: str
    repeats: int


class RunsShown(BaseModel):
    """Runs, the latest first."""

    runs: list[RunShown]


class Undo(Given):
    """The run to take back; null for the latest."""

    run: Annotated[int, Field(strict=True, ge=0)] | None = None


class UndoneShown(BaseModel):
    """The memories that are current again, and those that something newer has taken the place of."""

    reinstated: list[str]
    left: list[str]


class ContradictionShown(BaseModel):
    """A remark that a newer memory may contradict an older one, and what was decided."""

    newer: str
    older: str
    cue: str
    reason: str
    at: datetime
    verdict: str | None
    decided_by: str
    decided_because: str
    decided_at: datetime | None


class ContradictionsShown(BaseModel):
    """Contradictions, in the order in which they were noticed."""

    contradictions: list[ContradictionShown]


class Decision(Given):
    """Whether a newer memory contradicts an older one, and why one thinks so."""

    newer: Id
    older: Id
    contradicts: Flag
    because: Word


class SummaryShown(BaseModel):
    """A proposed summary, and the memories it was made from."""

    id: str
    content: str
    sources: list[str]


class SummariesShown(BaseModel):
    """Proposed summaries."""

    summaries: list[SummaryShown]


class Named(Given):
    """The summaries that are meant."""

    ids: Ids


class Done(BaseModel):
    """How many were decided."""

    done: int


@router.get("/repeats", response_model=None, responses={200: {"model": RepeatsShown}})
async def repeats(asked: Reading, id: Annotated[str, Query(max_length=128)]) -> Response:
    """Tell how often a memory was said again."""
    return await asked.look(
        lambda: {
            "repeats": [
                plain(each) for each in asked.engine.duplicates.repeats(id, namespace=asked.namespace)
            ]
        }
    )


@router.get("/duplicates/runs", response_model=None, responses={200: {"model": RunsShown}})
async def runs(asked: Reading) -> Response:
    """List the runs that superseded duplicates; ``POST /v1/jobs/duplicates`` begins one."""
    return await asked.look(
        lambda: {"runs": [plain(each) for each in asked.engine.duplicates.runs(namespace=asked.namespace)]}
    )


@router.post("/duplicates/undo", response_model=None, responses={200: {"model": UndoneShown}})
async def undo(asked: Writing, which: Undo) -> Response:
    """Take a run back: what it superseded is current again."""
    return await asked.write(
        lambda: plain(asked.engine.duplicates.undo(which.run, namespace=asked.namespace)), UPDATE
    )


@router.get("/contradictions", response_model=None, responses={200: {"model": ContradictionsShown}})
async def contradictions(
    asked: Reading,
    id: Annotated[str | None, Query(max_length=128, description="Only those of this memory.")] = None,
    settled: Annotated[bool, Query(description="Also what was decided.")] = False,
) -> Response:
    """Return which memories may contradict each other."""

    def work() -> Any:  # noqa: ANN401
        found = asked.engine.duplicates.contradictions(id, settled=settled, namespace=asked.namespace)
        return {"contradictions": [plain(each) for each in found]}

    return await asked.look(work)


@router.post("/contradictions", response_model=None, responses={200: {"model": ContradictionShown}})
async def decide(asked: Writing, decision: Decision) -> Response:
    """Decide about a contradiction: if it is one, the newer memory supersedes the older one."""

    def work() -> Any:  # noqa: ANN401
        return plain(
            asked.engine.duplicates.resolve_contradiction(
                decision.newer,
                decision.older,
                contradicts=decision.contradicts,
                because=decision.because,
                by=asked.access.name,
                namespace=asked.namespace,
            )
        )

    return await asked.write(work, UPDATE)


@router.get("/summaries", response_model=None, responses={200: {"model": SummariesShown}})
async def summaries(asked: Reading, state: Literal["open", "accepted", "rejected"] = "open") -> Response:
    """List summaries of episodes: those that wait, or were accepted or rejected."""

    def work() -> Any:  # noqa: ANN401
        found = asked.engine.lifecycle.summaries(state=state, namespace=asked.namespace)
        rows = [
            {"id": each.summary.id, "content": each.summary.content, "sources": list(each.sources)}
            for each in found
        ]
        return {"summaries": rows}

    return await asked.look(work)


@router.post("/summaries/accept", response_model=None, responses={200: {"model": Done}})
async def accept(asked: Writing, named: Named) -> Response:
    """Let proposed summaries be memories like others."""

    def work() -> Any:  # noqa: ANN401
        asked.engine.lifecycle.accept_summary(*named.ids, namespace=asked.namespace)
        return {"done": len(named.ids)}

    return await asked.write(work, UPDATE)


@router.post("/summaries/reject", response_model=None, responses={200: {"model": Done}})
async def reject(asked: Writing, named: Named) -> Response:
    """Leave proposed summaries hidden for good."""

    def work() -> Any:  # noqa: ANN401
        asked.engine.lifecycle.reject_summary(*named.ids, namespace=asked.namespace)
        return {"done": len(named.ids)}

    return await asked.write(work, UPDATE)
