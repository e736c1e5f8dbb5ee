"""What goes wrong, as ``application/problem+json`` (RFC 9457), for every error there is.

The type is ``memorata:`` and a word that programs can compare; the title says what it means; the detail says
what to do about it. What happened inside the server is in its log, under the id that `instance` gives.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from memorata.http.unknown import unknown_field
from memorata.http.workers import Overloaded, TookTooLong
from memorata.model.errors import (
    AccessDenied,
    DatasetError,
    InvalidArgument,
    LeaseLost,
    MemorataError,
    MissingExtra,
    NotAdmitted,
    NotEnoughData,
    PurgeUnfinished,
    ReplyErased,
    ServiceUnreachable,
    StoreReadOnly,
    StoreUnavailable,
    VersionConflict,
    WorkUnderWay,
    shown,
)

MEDIA_TYPE: Final = "application/problem+json"
_SHOWN_FAULTS: Final = 20
_PLAINLY: Final = {
    "model_attributes_type": "a JSON object with named fields is expected",
    "dict_type": "a JSON object is expected",
    "list_type": "a list is expected",
}
"""What pydantic says in the words of Python, in those of JSON."""
_NOT_GIVEN: Final = ("missing", "unknown")
"""Kinds of fault that are not about a value."""


class Fault(BaseModel):
    """One thing that is wrong with a request."""

    at: str = Field(description="Where it is.")
    problem: str = Field(description="What is wrong with it.")


class Problem(BaseModel):
    """What went wrong."""

    type: str = Field(description="A word for programs, after memorata:")
    title: str = Field(description="What kind of problem it is.")
    status: int = Field(description="The status of the answer.")
    detail: str = Field("", description="What happened, and what to do about it.")
    instance: str = Field("", description="The request, as the server's log calls it.")
    errors: list[Fault] = Field([], description="Each thing that is wrong with the request.")


_TITLES: Final[Mapping[int, tuple[str, str]]] = {
    400: ("malformed", "The request cannot be read"),
    401: ("not-admitted", "A key is needed"),
    403: ("access-denied", "This key may not do that"),
    404: ("not-found", "There is no such thing"),
    405: ("method-not-allowed", "Nothing answers to this method here"),
    408: ("too-slow", "The request did not arrive in time"),
    409: ("version-conflict", "Somebody else was faster"),
    410: ("answer-erased", "It was done, but its answer is gone"),
    413: ("too-large", "The request is too large"),
    415: ("media-type", "The body is not of a type that is read here"),
    421: ("misdirected", "This server does not answer under that name"),
    422: ("invalid", "The request cannot be carried out as it is"),
    429: ("too-many", "Too many requests"),
    500: ("internal", "Something went wrong in the server"),
    501: ("not-installed", "A package that this needs is not installed"),
    503: ("unavailable", "The server cannot do this now"),
    504: ("took-too-long", "The answer was not there in time"),
}
_READ_ONLY: Final = ("read-only", "This memory can only be read")
"""What no key may do is not the fault of the one that was shown."""
_BY_ERROR: Final[tuple[tuple[type[Exception], int], ...]] = (
    (ClientDisconnect, 400),
    (NotAdmitted, 401),
    (AccessDenied, 403),
    (VersionConflict, 409),
    (WorkUnderWay, 409),
    (LeaseLost, 409),
    (ReplyErased, 410),
    (MissingExtra, 501),
    (InvalidArgument, 422),
    (NotEnoughData, 422),
    (DatasetError, 422),
    (Overloaded, 503),
    (TookTooLong, 504),
    (StoreReadOnly, 403),
    (StoreUnavailable, 503),
    (ServiceUnreachable, 503),
)
_OWN_WORDS: Final = (
    (ClientDisconnect, "whoever asked has left before all of the body was there"),
    (Overloaded, "too many requests are waiting; try again in a moment"),
    (TookTooLong, "it may still be carried out; a write can be sent again under the same Idempotency-Key"),
    (PurgeUnfinished, "it is removed, but traces are left in the file; run `memorata vacuum` on the server"),
    (
        StoreReadOnly,
        "nothing was changed; whoever runs the server can copy the file to where it can be written",
    ),
    (StoreUnavailable, "the database cannot be used now; the server's log says why"),
)


def problem(
    status: int,
    detail: str = "",
    *,
    instance: str = "",
    errors: Sequence[Mapping[str, str]] = (),
    headers: Mapping[str, str] | None = None,
    title: tuple[str, str] | None = None,
) -> Response:
    """Return a problem as an answer.

    Examples
    --------
    >>> problem(404, "no memory has the id 'm1'").body.decode()[:60]
    '{"type":"memorata:not-found","title":"There is no such thing'
    """
    word, said = title or _TITLES.get(status, ("error", "The request was refused"))
    body: dict[str, Any] = {"type": f"memorata:{word}", "title": said, "status": status}
    body |= {"detail": detail, "instance": instance}
    if errors:
        body["errors"] = list(errors)
    content = json.dumps(body, ensure_ascii=True, separators=(",", ":")).encode()
    return Response(content, status, headers=dict(headers or {}), media_type=MEDIA_TYPE)


def status_of(error: Exception) -> int:
    """Return the status that an error has.

    Examples
    --------
    >>> status_of(InvalidArgument("limit", -1, "at least 0")), status_of(KeyError("x"))
    (422, 500)
    """
    if isinstance(error, HTTPException):
        return error.status_code
    for kind, status in _BY_ERROR:
        if isinstance(error, kind):
            return status
    return 404 if isinstance(error, MemorataError) and isinstance(error, LookupError) else 500


def detail_of(error: Exception) -> str:
    """Return what is told of an error, without what only the operator should know.

    Examples
    --------
    >>> detail_of(InvalidArgument("limit", -1, "at least 0"))
    'limit must be at least 0, got -1'
    >>> detail_of(KeyError("what somebody said"))
    "the server's log says more"
    """
    own = next((words for kind, words in _OWN_WORDS if isinstance(error, kind)), "")
    if not own and status_of(error) < 500:
        own = error.detail if isinstance(error, HTTPException) else str(error)
    return own or "the server's log says more"


def answer_to(error: Exception, instance: str) -> Response:
    """Return the answer that tells of an error."""
    status = status_of(error)
    headers = {}
    if status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="memorata"'
    if status == 503:
        headers["Retry-After"] = "1"
    title = _READ_ONLY if isinstance(error, StoreReadOnly) else None
    return problem(status, detail_of(error), instance=instance, headers=headers, title=title)


def too_many(seconds: float, instance: str) -> Response:
    """Return the answer to somebody who asks too often."""
    wait = max(1, math.ceil(seconds))
    return problem(429, f"try again in {wait} s", instance=instance, headers={"Retry-After": str(wait)})


def install(app: FastAPI) -> None:
    """Let an application answer with problems."""
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(MemorataError, _ours)
    app.add_exception_handler(Overloaded, _ours)
    app.add_exception_handler(TookTooLong, _ours)


def instance_of(request: Request) -> str:
    """Return what the log calls a request."""
    return str(request.scope.get("state", {}).get("request_id", ""))


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    found = error.errors()
    faults = [
        {"at": shown_text(".".join(map(str, each["loc"]))), "problem": shown_text(_said(each, request))}
        for each in found[:_SHOWN_FAULTS]
    ]
    unreadable = any(each["type"] == "json_invalid" for each in found)
    detail = "; ".join(f"{fault['at']}: {fault['problem']}" for fault in faults[:3])
    return problem(400 if unreadable else 422, detail, instance=instance_of(request), errors=faults)


def _said(fault: Mapping[str, Any], request: Request) -> str:
    """Return what is wrong, in few words: what was given may be a megabyte."""
    cause = fault.get("ctx", {}).get("error")
    if fault["type"] == "json_invalid":
        return f"not JSON: {cause}"
    if fault["type"] == "extra_forbidden":
        return unknown_field(request, fault["loc"])
    if isinstance(cause, InvalidArgument):
        return str(cause)
    said = str(cause) if isinstance(cause, Exception) else _PLAINLY.get(fault["type"], str(fault["msg"]))
    # What is missing was not given, and what is around it says nothing.
    return f"{said}, got {shown(fault['input'])}" if fault["type"] not in _NOT_GIVEN else said


def shown_text(text: str) -> str:
    """Return a text that an answer repeats, cut to a readable length."""
    return text if len(text) <= 300 else text[:300] + "…"


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    said = error.detail if isinstance(error.detail, str) else shown(error.detail)
    if error.status_code == 400 and error.__cause__ is not None:
        # The framework says of a body only that it could not be read.
        said = _unreadable(error.__cause__)
    headers = dict(error.headers or {})
    return problem(error.status_code, said, instance=instance_of(request), headers=headers)


def _unreadable(cause: BaseException) -> str:
    """Return why a body could not be read."""
    if isinstance(cause, UnicodeDecodeError):
        return f"the body is not UTF-8 at byte {cause.start + 1}"
    if isinstance(cause, RecursionError):
        return "the body is nested more deeply than can be read"
    return f"the body cannot be read: {shown_text(str(cause))}"


async def _ours(request: Request, error: Exception) -> Response:
    request.scope.setdefault("state", {})["error"] = error
    return answer_to(error, instance_of(request))
