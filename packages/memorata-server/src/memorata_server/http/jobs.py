"""Jobs over HTTP: start one (check, duplicates, maintain, reembed), look at it, watch it, stop it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from time import monotonic
from typing import Annotated, Final

from fastapi import Path, Query, Request
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import Response, StreamingResponse

from memorata.extend.access import ADMIN, EVERYWHERE, READ, WRITE, Access
from memorata.extend.errors import NotAdmitted
from memorata.extend.json import Json
from memorata.extend.model import checks
from memorata_server import jobs as work
from memorata_server.answers import JobAnswer, JobsAnswer
from memorata_server.http.context import (
    Caller,
    GlobalContext,
    RequestContext,
    ServerState,
    UnkeyedWriteContext,
    described,
    json_bytes,
    json_response,
    recheck,
)
from memorata_server.http.errors import api_router
from memorata_server.jobs import Job, TooManyJobs
from memorata_server.schemas import DuplicatesJob, MaintenanceJob, ReembedJob

router = api_router("/v1/jobs", "jobs")

_POLL_SECONDS: Final = 0.1
_PING_SECONDS: Final = 15.0
_RETRY_SECONDS: Final = "10"

JobId = Annotated[str, Path(max_length=64)]
NamespaceFilter = Annotated[
    str | None, Query(max_length=512, description="Only those about it; * for those about all.")
]


@router.get("", **described(JobsAnswer))
async def list_jobs(request: Request, access: Caller, namespace: NamespaceFilter = None) -> Response:
    """List the jobs about the namespaces that the key is for, or about one of them."""
    if namespace not in (None, EVERYWHERE):
        access.require(READ, checks.namespace("namespace", namespace))
    server: ServerState = request.app.state.server
    jobs = [
        job.as_dict()
        for job in server.jobs.all()
        if access.allows(READ, job.namespace) and namespace in (None, job.namespace)
    ]
    return json_response({"jobs": jobs})


@router.get("/{id}", **described(JobAnswer))
async def get_job(request: Request, access: Caller, id: JobId) -> Response:
    """Return a job as it is now."""
    return json_response(_job(request, access, READ, id).as_dict())


@router.delete("/{id}", **described(JobAnswer))
async def stop_job(request: Request, access: Caller, id: JobId) -> Response:
    """Ask a job to stop at its next step; what it has written stays. One that waits is over at once."""
    job = _job(request, access, WRITE, id)
    if job.namespace == EVERYWHERE:
        access.require_everywhere(ADMIN)
    server: ServerState = request.app.state.server
    server.jobs.stop(job)
    return json_response(job.as_dict())


@router.get("/{id}/events", response_model=None, responses={200: {"content": {"text/event-stream": {}}}})
async def watch_job(request: Request, access: Caller, id: JobId) -> Response:
    """Watch a job: an event with all of it at every step, until its end, as long as the key is good."""
    job = _job(request, access, READ, id)
    headers = {"X-Accel-Buffering": "no"}
    return StreamingResponse(_events(job, request), media_type="text/event-stream", headers=headers)


@router.post("/check", **described(JobAnswer, 202))
async def start_check(context: GlobalContext) -> Response:
    """Start a check of the whole database; nothing is changed."""
    return start(context, "check", work.check, None)


@router.post("/duplicates", **described(JobAnswer, 202))
async def start_duplicates(context: UnkeyedWriteContext, body: DuplicatesJob) -> Response:
    """Start a search for duplicates."""
    return start(context, "duplicates", work.find_duplicates, body)


@router.post("/maintain", **described(JobAnswer, 202))
async def start_maintain(context: UnkeyedWriteContext, body: MaintenanceJob) -> Response:
    """Start maintenance: promote, demote, expire, summarise; nothing is removed."""
    return start(context, "maintain", work.maintain, body)


@router.post("/reembed", **described(JobAnswer, 202))
async def start_reembed(context: GlobalContext, body: ReembedJob) -> Response:
    """Start to embed everything with the server's embedder; searches go on meanwhile."""
    return start(context, "reembed", work.reembed, body)


def start(context: RequestContext, kind: str, run: Callable[..., Json], body: BaseModel | None) -> Response:
    """Start a job about the namespace of the request, and return the answer."""
    engine, namespace = context.engine, context.namespace
    try:
        job = context.server.jobs.start(
            kind, namespace, context.access.name, lambda job: run(engine, namespace, body, job.progress)
        )
    except TooManyJobs as error:
        detail = "this key has as many jobs in hand as one may have: wait for one, or DELETE /v1/jobs/ID"
        raise HTTPException(429, detail, {"Retry-After": _RETRY_SECONDS}) from error
    return json_response(job.as_dict(), 202, {"Location": f"/v1/jobs/{job.id}"})


async def _events(job: Job, request: Request) -> AsyncIterator[bytes]:
    server: ServerState = request.app.state.server
    sent_version, sent_at = -1, monotonic()
    while True:
        try:
            await recheck(request)
        except NotAdmitted:
            # Without the event that ends it: a client that reconnects gets the reason.
            return
        version, ended = job.version, not job.running
        if version != sent_version or ended:
            sent_version, sent_at = version, monotonic()
            kind = b"end" if ended else b"progress"
            yield b"event: " + kind + b"\ndata: " + json_bytes(job.as_dict()) + b"\n\n"
        if ended or server.jobs.closing:
            return
        if monotonic() - sent_at > _PING_SECONDS:
            sent_at = monotonic()
            yield b": still there\n\n"
        await asyncio.sleep(_POLL_SECONDS)


def _job(request: Request, access: Access, scope: str, id: str) -> Job:
    """Return a job that the key may know of; of others not even whether they exist."""
    server: ServerState = request.app.state.server
    job = server.jobs.find(id)
    if job is None or not access.allows(READ, job.namespace):
        raise HTTPException(404, "no job has that id")
    access.require(scope, job.namespace)
    return job
