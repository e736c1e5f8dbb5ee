"""Every error as ``application/problem+json`` (RFC 9457), and the check for unknown parameters.

The type is ``memorata:`` and the code of :mod:`memorata.extend.errors`; the title says what it means; the
detail says what to do about it. What happened inside the server is in its log, under the id in `instance`.

A name that is ignored gives an answer that looks right and is not: `?limitt=5` would be all there is. So a
misspelt parameter or field is an error, with what may have been meant.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from http import HTTPStatus
from itertools import islice
from types import UnionType
from typing import Any, Final, Union, get_args, get_origin

from fastapi import APIRouter, FastAPI, Request
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Scope

from memorata import MemorataError
from memorata.extend.errors import InvalidArgument, kind_of, public_detail, shown
from memorata.extend.model import nearest

MEDIA_TYPE: Final = "application/problem+json"
_PROBLEM: Final = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
MAX_FAULTS: Final = 20
MAX_SHOWN: Final = 300
_IN_JSON_WORDS: Final = {
    "model_attributes_type": "a JSON object with named fields is expected",
    "dict_type": "a JSON object is expected",
    "list_type": "a list is expected",
}
"""What pydantic says in the words of Python, in those of JSON."""
_CODES_WITHOUT_VALUE: Final = ("missing", "unknown")


class Operation(APIRoute):
    """A route by the name of its verb, with the errors that it may answer."""

    def __init__(
        self,
        path: str,
        endpoint: Callable[..., Any],
        *,
        methods: list[str],
        responses: dict[int | str, Any] | None = None,
        **options: Any,  # noqa: ANN401 - FastAPI's
    ) -> None:
        statuses = [401, 403, 422, 429]
        if "{" in path:
            statuses.append(404)
        if not {"GET", "DELETE"}.issuperset(methods):
            statuses += [400, 409, 413, 415]
        stated: dict[int | str, Any] = {
            status: {"description": HTTPStatus(status).phrase, "content": _PROBLEM}
            for status in sorted(statuses)
        }
        stated |= responses or {}
        stated["default"] = {"description": "Another error.", "content": _PROBLEM}
        options["operation_id"] = endpoint.__name__.rstrip("_")
        super().__init__(path, endpoint, methods=methods, responses=stated, **options)


def api_router(prefix: str, tag: str) -> APIRouter:
    """Return a router whose routes are operations under `/v1`."""
    return APIRouter(prefix=prefix, tags=[tag], route_class=Operation)


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
    501: ("not-offered", "This server does not offer that"),
    503: ("unavailable", "The server cannot do this now"),
    504: ("took-too-long", "The answer was not there in time"),
}
_TITLES_BY_CODE: Final = {
    "not-installed": "A package that this needs is not installed",
    "read-only": "This memory can only be read",
}


def problem(
    status: int,
    detail: str = "",
    *,
    instance: str = "",
    errors: Sequence[Mapping[str, str]] = (),
    headers: Mapping[str, str] | None = None,
    code: str = "",
) -> Response:
    """Return a problem as a response; its code is that of the status unless given.

    >>> problem(404, "no memory has the id 'm1'").body.decode()[:60]
    '{"type":"memorata:not-found","title":"There is no such thing'
    """
    usual, title = _TITLES.get(status, ("error", "The request was refused"))
    body: dict[str, Any] = {
        "type": f"memorata:{code or usual}",
        "title": _TITLES_BY_CODE.get(code, title),
        "status": status,
        "detail": detail,
        "instance": instance,
    }
    if errors:
        body["errors"] = list(errors)
    content = json.dumps(body, ensure_ascii=True, separators=(",", ":")).encode()
    return Response(content, status, headers=dict(headers or {}), media_type=MEDIA_TYPE)


def status_of(error: Exception) -> int:
    """Return the status that an error has.

    >>> status_of(InvalidArgument("limit", -1, "at least 0")), status_of(KeyError("x"))
    (422, 500)
    """
    if isinstance(error, HTTPException):
        return error.status_code
    return 400 if isinstance(error, ClientDisconnect) else kind_of(error).status


def error_response(error: Exception, instance: str) -> Response:
    """Return the response that tells of an error."""
    status = status_of(error)
    headers = {}
    if status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="memorata"'
    if status == 503:
        headers["Retry-After"] = "1"
    code = kind_of(error).code if isinstance(error, MemorataError) else ""
    return problem(status, detail_of(error), instance=instance, headers=headers, code=code)


def detail_of(error: Exception) -> str:
    """Return the detail of an error that the client sees."""
    if isinstance(error, ClientDisconnect):
        return "the client left before all of the body was there"
    return error.detail if isinstance(error, HTTPException) else public_detail(error)


def install_handlers(app: FastAPI) -> None:
    """Let an application answer errors with problems."""
    for kind in (RequestValidationError, HTTPException, MemorataError):
        app.add_exception_handler(kind, respond)


async def respond(request: Request, error: Exception) -> Response:
    """Return the response to a request that failed."""
    if isinstance(error, RequestValidationError):
        return _invalid(request, error)
    if isinstance(error, HTTPException):
        return _refused(request, error)
    request.scope.setdefault("state", {})["error"] = error
    return error_response(error, request_id(request.scope))


def request_id(scope: Scope) -> str:
    """Return what the log calls a request."""
    return str(scope.get("state", {}).get("request_id", ""))


def _invalid(request: Request, error: RequestValidationError) -> Response:
    errors = error.errors()
    faults = [
        {"at": _cut(".".join(map(str, error["loc"]))), "problem": _cut(_fault_text(error, request))}
        for error in errors[:MAX_FAULTS]
    ]
    unreadable = any(error["type"] == "json_invalid" for error in errors)
    detail = "; ".join(f"{fault['at']}: {fault['problem']}" for fault in faults[:3])
    return problem(400 if unreadable else 422, detail, instance=request_id(request.scope), errors=faults)


def _fault_text(fault: Mapping[str, Any], request: Request) -> str:
    """Return what is wrong, in few words: what was given may be a megabyte."""
    cause = fault.get("ctx", {}).get("error")
    if fault["type"] == "json_invalid":
        return f"not JSON: {cause}"
    if fault["type"] == "extra_forbidden":
        return unknown_field(request, fault["loc"])
    if isinstance(cause, InvalidArgument):
        return str(cause)
    text = str(cause) if isinstance(cause, Exception) else str(fault["msg"])
    text = _IN_JSON_WORDS.get(fault["type"], text)
    # What is missing was not given, and what is around it says nothing.
    return f"{text}, got {shown(fault['input'])}" if fault["type"] not in _CODES_WITHOUT_VALUE else text


def _cut(text: str) -> str:
    return text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + "…"


def _refused(request: Request, error: HTTPException) -> Response:
    detail = error.detail if isinstance(error.detail, str) else shown(error.detail)
    if error.status_code == 400 and error.__cause__ is not None:
        # The framework says of a body only that it could not be read.
        detail = _unreadable(error.__cause__)
    headers = dict(error.headers or {})
    return problem(error.status_code, detail, instance=request_id(request.scope), headers=headers)


def _unreadable(cause: BaseException) -> str:
    """Return why a body could not be read."""
    if isinstance(cause, UnicodeDecodeError):
        return f"the body is not UTF-8 at byte {cause.start + 1}"
    if isinstance(cause, RecursionError):
        return "the body is nested more deeply than can be read"
    return f"the body cannot be read: {_cut(str(cause))}"


ON_EVERY_REQUEST: Final = "namespace"
"""A client may send it with every request; routes that concern no namespace ignore it."""
_MAX_COMPARED_LETTERS: Final = 100
"""An address may hold ten thousand names, or one as long: to find what each is like would take seconds."""


async def check_query(request: Request) -> None:
    """Refuse a request whose address has a parameter that its route does not know, or one value too many."""
    if not request.scope["query_string"]:
        return
    route: Any = request.scope["route"]
    # Which parameters there are, and whether each may have several values.
    allowed = {ON_EVERY_REQUEST: False} | dict(_parameters(route.dependant))
    counts = Counter(name for name, _ in request.query_params.multi_items())
    wrong = (name for name, n in counts.items() if name not in allowed or (n > 1 and not allowed[name]))
    faults = [
        {
            "type": "unknown",
            "loc": ("query", name),
            "msg": f"given {counts[name]} times, and it has one value: leave the others out"
            if name in allowed
            else _unknown("parameter", name, allowed),
        }
        for name in islice(wrong, MAX_FAULTS)
    ]
    if faults:
        raise RequestValidationError(faults)


def unknown_field(request: Request, place: Sequence[int | str]) -> str:
    """Return what to say of a field of the body that its schema does not have.

    - `request`: what brought it.
    - `place`: where it stands: ``("body", "items", 0, "tag")``.
    """
    body = getattr(request.scope["route"], "body_field", None)
    schema = None if body is None else _schema(body.field_info.annotation)
    *steps, name = [step for step in place[1:] if isinstance(step, str)]
    for step in steps:
        field = None if schema is None else schema.model_fields.get(step)
        schema = None if field is None else _schema(field.annotation)
    return _unknown("field", name, () if schema is None else schema.model_fields)


def _unknown(kind: str, name: str, names: Collection[str]) -> str:
    available = f"; there is {', '.join(sorted(names))}" if names else ""
    if kind == "field" and name == ON_EVERY_REQUEST:
        return "the namespace is a parameter of the address: ?namespace=acme/alice"
    return f"there is no such {kind} here" + (nearest(name[:_MAX_COMPARED_LETTERS], names) or available)


def _parameters(dependant: Dependant) -> Iterator[tuple[str, bool]]:
    """Yield the query parameters of a route and of what it depends on, and whether each has many values."""
    for parameter in dependant.query_params:
        yield parameter.alias, _holds_many(parameter.field_info.annotation)
    for needed in dependant.dependencies:
        yield from _parameters(needed)


def _holds_many(kind: Any) -> bool:  # noqa: ANN401 - any annotation
    if get_origin(kind) in (Union, UnionType):
        return any(map(_holds_many, get_args(kind)))
    return get_origin(kind) is list


def _schema(kind: Any) -> type[BaseModel] | None:  # noqa: ANN401 - any annotation
    """Return the model that an annotation names, inside of lists and options too."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return kind
    return next(filter(None, map(_schema, get_args(kind))), None)
