"""The context of one request: its caller, its namespace, and how the answer is sent."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import field
from functools import partial, wraps
from importlib import import_module
from typing import Annotated, Any, Final, TypeVar

from fastapi import Depends, Header, Query, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from fastapi.security.utils import get_authorization_scheme_param
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import Response

from memorata import Engine
from memorata.extend import frozen
from memorata.extend.access import ADMIN, EVERYWHERE, READ, WRITE, Access, ApiKeys
from memorata.extend.errors import NotAdmitted, Overloaded, StoreUnavailable, TimedOut
from memorata.extend.model import checks
from memorata.extend.serving import embedded_in_advance
from memorata_server.auth import FAILURES, RateLimiter
from memorata_server.http.errors import check_query
from memorata_server.http.middleware import STREAMED, Limits
from memorata_server.http.telemetry import Metrics, Spans
from memorata_server.http.workers import Workers
from memorata_server.jobs import Jobs

fast_json: Callable[..., bytes] | None = None
with suppress(ModuleNotFoundError):
    fast_json = import_module("orjson").dumps

_Result = TypeVar("_Result")
_JSON: Final = "application/json"
REPLAYED: Final = "Idempotency-Replayed"


@frozen
class ServerState:
    """What every request needs."""

    engine: Engine
    keys: ApiKeys
    limits: Limits
    workers: Workers
    metrics: Metrics
    spans: Spans
    jobs: Jobs
    rate: RateLimiter
    failures: RateLimiter = field(default_factory=lambda: RateLimiter(*FAILURES))
    """How often one address may show a key that is not good."""


class TooManyRequests(HTTPException):
    """A caller sends requests faster than the rate limit."""

    def __init__(self, seconds: float) -> None:
        wait = str(max(1, math.ceil(seconds)))
        super().__init__(429, f"try again in {wait} s", {"Retry-After": wait})


class RequestContext:
    """A request whose caller may make it: what answers, what the caller may do, and in which namespace."""

    def __init__(self, request: Request, access: Access, namespace: str, key: str | None = None) -> None:
        self.server: ServerState = request.app.state.server
        engine = self.server.engine
        self.engine = engine if namespace == EVERYWHERE else engine.scope(namespace)
        self.access = access
        self.namespace = namespace
        self._request = request
        self._key = key

    async def run(
        self, work: Callable[[], _Result], *, writing: bool = False, computing: bool = False
    ) -> _Result:
        """Run something on a thread of the engine's."""
        # Where no key is needed, all requests have the same caller.
        caller = self.access.name if self.server.keys.required else ""
        # To look whether a client is there takes what it sent last, which an import still has to read.
        is_abandoned = None if self._request.scope["path"] == STREAMED else self._is_abandoned
        return await self.server.workers.run(
            work, caller=caller, writing=writing, computing=computing, is_abandoned=is_abandoned
        )

    def _is_abandoned(self) -> bool:
        """Return whether the client has left, by one step of `receive`: a cancel scope takes 50 µs."""
        receiving: Any = self._request.receive()
        try:
            receiving.send(None)
        except StopIteration as received:
            return bool(received.value["type"] == "http.disconnect")
        receiving.close()
        return False

    async def recheck(self) -> None:
        """Raise unless the key is still good: what takes long must not outlive one that was revoked."""
        await recheck(self._request)

    async def read(
        self, work: Callable[[], Any], operation: str = "", *, computing: bool = False
    ) -> Response:
        """Answer with what `work` returns, as JSON; bytes are JSON already."""

        def body() -> bytes:
            if not operation:
                return _encoded(work())
            with self.server.spans(operation, self.namespace):
                return _encoded(work())

        return Response(await self.run(body, computing=computing), 200, media_type=_JSON)

    async def write(
        self,
        work: Callable[[], Any],
        operation: str,
        *,
        status: int = 200,
        apart: bool = False,
        log_first: bool = False,
        remembers: Sequence[Mapping[str, Any]] = (),
    ) -> Response:
        """Do something that changes the store, once for each Idempotency-Key, and answer with JSON.

        What reads the log of recalls has to say so (`log_first`), and what will be remembered is embedded
        before others have to wait for it (`remembers`).
        """
        digest = await self._digest() if self._key is not None else b""

        def perform() -> tuple[int, bytes]:
            return status, json_bytes(work())

        def ahead() -> AbstractContextManager[None]:
            return embedded_in_advance(self.engine, remembers, self.namespace)

        def reply() -> tuple[int, bytes, bool]:
            with self.server.spans(operation, self.namespace):
                if self._key is None:
                    return *perform(), False
                stored = self.engine.admin.idempotency.once(
                    self._key,
                    digest,
                    perform,
                    caller=self.access.name,
                    namespace=self.namespace,
                    apart=apart,
                    log_first=log_first,
                    ahead=ahead if remembers else None,
                )
                return stored.status, stored.body, stored.again

        code, body, replayed = await self.run(reply, writing=True)
        headers = {}
        if replayed:
            headers[REPLAYED] = "true"
            self.server.metrics.replayed.inc()
        return Response(body, code, headers=headers, media_type=_JSON)

    async def _digest(self) -> bytes:
        """Return a digest of everything that says what is to be done."""
        request = self._request
        parts = (
            request.method.encode(),
            request.url.path.encode(),
            request.url.query.encode(),
            request.headers.get("if-match", "").encode(),
            await request.body(),
        )
        digest = hashlib.sha256()
        for part in parts:
            digest.update(len(part).to_bytes(8, "big") + part)
        return digest.digest()


def _encoded(data: Any) -> bytes:  # noqa: ANN401 - whatever JSON can hold
    return data if isinstance(data, bytes) else json_bytes(data)


def json_bytes(data: Any) -> bytes:  # noqa: ANN401 - whatever JSON can hold
    """Return data as JSON; by orjson, ten times as fast (6 µs for ten hits), where it is installed."""
    if fast_json is not None:
        with suppress(TypeError):  # a whole number of more than 64 bits, or a number of numpy's
            return fast_json(data)
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def json_lines(rows: Iterable[Any]) -> Iterator[bytes]:
    """Yield rows as lines of JSON."""
    for row in rows:
        yield json_bytes(row) + b"\n"


def json_response(data: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:  # noqa: ANN401
    """Return data as a response."""
    return Response(json_bytes(data), status, headers=dict(headers or {}), media_type=_JSON)


def described(model: type[BaseModel], status: int = 200) -> dict[str, Any]:
    """Return the arguments of a route that answers with a model, for its description.

    The body is made by the codec, and not validated again.
    """
    arguments = {"response_model": None, "responses": {status: {"model": model}}}
    return arguments if status == 200 else {"status_code": status, **arguments}


# --- dependencies -------------------------------------------------------------------------------------

_BEARER: Final = HTTPBearer(
    auto_error=False, description="A key, as `memorata server key create` makes it.", scheme_name="key"
)
Credentials = Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)]
MAX_PATH: Final = 512
"""How many characters the path of a namespace has at most."""
NamespaceQuery = Annotated[
    str | None,
    Query(
        max_length=MAX_PATH,
        json_schema_extra={"pattern": f"^{checks.NAMESPACE_PATTERN}$"},
        description="Whose memories: a path such as acme/alice; the server's own if left out.",
    ),
]
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=200,
        description="A name for this request: sent again under it within a day, it is not done again.",
    ),
]


async def authenticate(request: Request, credentials: Credentials) -> Access:
    """Return what the caller of a request may do, unless they are over the rate limit.

    The credentials are there for the description of the interface; `_admitted` reads them.
    """
    server: ServerState = request.app.state.server
    try:
        access = await _admitted(request)
    except NotAdmitted:
        # Who shows none does not guess.
        seconds = server.failures.take(_address(request)) if "authorization" in request.headers else 0.0
        if seconds:
            raise TooManyRequests(seconds) from None
        raise
    request.scope["state"]["caller"] = access.name
    seconds = server.rate.take(access.name)
    if seconds:
        raise TooManyRequests(seconds)
    # Before the namespace is checked: a misspelt parameter is reported as such, not as a forbidden namespace.
    await check_query(request)
    return access


Caller = Annotated[Access, Depends(authenticate)]


async def recheck(request: Request) -> None:
    """Raise NotAdmitted if the key of a request has ceased to be good since it was let in."""
    # An overloaded or unreachable store does not end a request that was authenticated before.
    with suppress(Overloaded, TimedOut, StoreUnavailable):
        await _admitted(request)


async def _admitted(request: Request) -> Access:
    server: ServerState = request.app.state.server
    header = request.headers.get("authorization")
    token: str | None = None
    if header is not None:
        scheme, shown = get_authorization_scheme_param(header)
        # Another scheme than Bearer is not the same as no key at all.
        token = shown if scheme.lower() == "bearer" else ""
    access = server.keys.authenticate_cached(token)
    if access is None and token is None:
        access = server.keys.authenticate(None)
    if access is None:
        seconds = server.failures.wait(_address(request))
        if seconds:
            # Not looked up: a guess costs no work, and the answer does not tell whether it was right.
            raise TooManyRequests(seconds)
        access = await server.workers.run(lambda: server.keys.authenticate(token))
    return access


def _address(request: Request) -> str:
    return request.client.host if request.client is not None else ""


def authorised(
    request: Request, access: Access, scope: str, namespace: str | None, key: str | None = None
) -> RequestContext:
    """Return the context of a request, or raise where its caller may not make it."""
    requested = request.app.state.server.engine.namespace if namespace is None else namespace
    path = checks.namespace("namespace", requested)
    access.require(scope, path)
    return RequestContext(request, access, path, key)


def _context(scope: str, *, keyed: bool = False) -> Any:  # noqa: ANN401 - a dependency
    """Return what gives the context of requests whose caller may do `scope` in the namespace."""

    async def unkeyed_context(
        request: Request, access: Caller, namespace: NamespaceQuery = None
    ) -> RequestContext:
        return authorised(request, access, scope, namespace)

    async def keyed_context(
        request: Request, access: Caller, namespace: NamespaceQuery = None, key: IdempotencyKey = None
    ) -> RequestContext:
        return authorised(request, access, scope, namespace, key)

    return Depends(keyed_context if keyed else unkeyed_context)


async def _everywhere(request: Request, access: Caller) -> RequestContext:
    access.require_everywhere(ADMIN)
    return RequestContext(request, access, EVERYWHERE)


ReadContext = Annotated[RequestContext, _context(READ)]
"""The caller may read in the namespace."""
WriteContext = Annotated[RequestContext, _context(WRITE, keyed=True)]
"""The caller may write there."""
UnkeyedWriteContext = Annotated[RequestContext, _context(WRITE)]
"""The same, for what is more than one write: it is done each time, and takes no Idempotency-Key."""
AdminContext = Annotated[RequestContext, _context(ADMIN, keyed=True)]
"""The caller may purge there."""
UnkeyedAdminContext = Annotated[RequestContext, _context(ADMIN)]
"""The same, for what leaves no trace: not even the name of the request is kept."""
GlobalContext = Annotated[RequestContext, Depends(_everywhere)]
"""The caller may do everything in every namespace."""


# --- routes -------------------------------------------------------------------------------------------

_Answer = Callable[..., Mapping[str, Any]]
_Respond = Callable[[RequestContext, Callable[[], Any], Any], Awaitable[Response]]


def read_route(
    route: Callable[..., Any], path: str, answer: type[BaseModel], operation: str = ""
) -> Callable[[_Answer], _Answer]:
    """Return a decorator for a function that answers requests with JSON, on a thread of the engine's.

    `route` is the router's method. The parameters are the function's, as for FastAPI; one is the `context`.
    `context.engine` is bound to the namespace of the request.
    """
    return _route(route, path, answer, 200, lambda context, work, body: context.read(work, operation))


def write_route(
    route: Callable[..., Any],
    path: str,
    answer: type[BaseModel],
    operation: str,
    *,
    status: int = 200,
    log_first: bool = False,
    remembers: bool = False,
) -> Callable[[_Answer], _Answer]:
    """Return the same decorator for what changes the store; `remembers` what stands in the `body`."""

    def respond(context: RequestContext, work: Callable[[], Any], body: Any) -> Awaitable[Response]:  # noqa: ANN401
        drafts = [item.set_fields() for item in getattr(body, "items", [body])] if remembers else ()
        return context.write(work, operation, status=status, log_first=log_first, remembers=drafts)

    return _route(route, path, answer, status, respond)


def _route(
    route: Callable[..., Any], path: str, answer: type[BaseModel], status: int, respond: _Respond
) -> Callable[[_Answer], _Answer]:
    def add(work: _Answer) -> _Answer:
        @wraps(work)
        async def endpoint(**arguments: Any) -> Response:  # noqa: ANN401 - the parameters of `work`
            context: RequestContext = arguments["context"]

            return await respond(context, partial(work, **arguments), arguments.get("body"))

        route(path, **described(answer, status))(endpoint)
        return work

    return add
