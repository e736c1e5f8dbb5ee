"""Jobs over HTTP: look at one, watch it (server-sent events), stop it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime
from time import monotonic
from typing import Annotated, Any, Final

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import Response, StreamingResponse

from memorata.engine.access import ADMIN, EVERYWHERE, READ, WRITE, Access
from memorata.http.asked import Asked, Bearer, Service, as_json, recheck
from memorata.http.jobs import ENDED, Job, TooManyOfOne, Work
from memorata.model.errors import NotAdmitted
from memorata.model.namespace import namespace as checked_namespace

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])

_LOOK_EVERY: Final = 0.1
_PING_EVERY: Final = 15.0
_COME_BACK: Final = "10"
"""After how many seconds to try again who has too many jobs in hand."""

JobId = Annotated[str, Path(max_length=64)]


class JobShown(BaseModel):
    """A job, as it is now."""

    id: str
    kind: str
    namespace: str
    created_at: datetime
    state: str
    done: int
    total: int | None
    note: str
    result: dict[str, Any] | None
    problem: str


class JobsShown(BaseModel):
    """Jobs, the newest first."""

    jobs: list[JobShown]


@router.get("", response_model=None, responses={200: {"model": JobsShown}})
async def listed(
    request: Request,
    access: Bearer,
    namespace: Annotated[
        str | None, Query(max_length=512, description="Only those about it; * for those about all.")
    ] = None,
) -> Response:
    """List the jobs about the namespaces that the key is for, or about one of them."""
    if namespace not in (None, EVERYWHERE):
        access.require(READ, checked_namespace("namespace", namespace))
    service: Service = request.app.state.service
    seen = [
        job.as_dict()
        for job in service.jobs.all()
        if access.allows(READ, job.namespace) and namespace in (None, job.namespace)
    ]
    return Response(as_json({"jobs": seen}), media_type="application/json")


@router.get("/{id}", response_model=None, responses={200: {"model": JobShown}})
async def get(request: Request, access: Bearer, id: JobId) -> Response:
    """Return a job as it is now."""
    return Response(as_json(_found(request, access, READ, id).as_dict()), media_type="application/json")


@router.delete("/{id}", response_model=None, responses={200: {"model": JobShown}})
async def stop(request: Request, access: Bearer, id: JobId) -> Response:
    """Ask a job to stop at its next step; what it has written stays. One that waits is over at once."""
    job = _found(request, access, WRITE, id)
    if job.namespace == EVERYWHERE:
        access.require_everywhere(ADMIN)
    service: Service = request.app.state.service
    service.jobs.stop(job)
    return Response(as_json(job.as_dict()), media_type="application/json")


@router.get("/{id}/events", response_model=None, responses={200: {"content": {"text/event-stream": {}}}})
async def events(request: Request, access: Bearer, id: JobId) -> Response:
    """Watch a job: an event with all of it at every step, until its end, as long as the key is good."""
    job = _found(request, access, READ, id)
    headers = {"X-Accel-Buffering": "no"}
    return StreamingResponse(_told(job, request), media_type="text/event-stream", headers=headers)


def begun(asked: Asked, kind: str, work: Work) -> Response:
    """Begin a job about the namespace that is asked about, and return the answer."""
    try:
        job = asked.service.jobs.start(kind, asked.namespace, asked.access.name, work)
    except TooManyOfOne as error:
        said = "this key has as many jobs in hand as one may have: wait for one, or DELETE /v1/jobs/ID"
        raise HTTPException(429, said, {"Retry-After": _COME_BACK}) from error
    headers = {"Location": f"/v1/jobs/{job.id}"}
    return Response(as_json(job.as_dict()), 202, headers=headers, media_type="application/json")


async def _told(job: Job, request: Request) -> AsyncIterator[bytes]:
    service: Service = request.app.state.service
    told, quiet = -1, monotonic()
    while True:
        try:
            await recheck(request)
        except NotAdmitted:
            # Without the event that ends it: whoever comes back is told why they may not.
            return
        version, ended = job.version, job.state in ENDED
        if version != told or ended:
            told, quiet = version, monotonic()
            kind = b"end" if ended else b"progress"
            yield b"event: " + kind + b"\ndata: " + as_json(job.as_dict()) + b"\n\n"
        if ended or service.jobs.closing:
            return
        if monotonic() - quiet > _PING_EVERY:
            quiet = monotonic()
            yield b": still there\n\n"
        await asyncio.sleep(_LOOK_EVERY)


def _found(request: Request, access: Access, scope: str, id: str) -> Job:
    """Return a job that the key may know of; of others it is not told whether they exist."""
    service: Service = request.app.state.service
    job = service.jobs.find(id)
    if job is None or not access.allows(READ, job.namespace):
        raise HTTPException(404, "no job has that id")
    access.require(scope, job.namespace)
    return job
