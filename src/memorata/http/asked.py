"""One request to the engine: who asks, about which namespace, and how the answer gets back to them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, suppress
from dataclasses import field
from typing import Annotated, Any, Final, TypeVar

from fastapi import Depends, Header, Query, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from fastapi.security.utils import get_authorization_scheme_param
from starlette.exceptions import HTTPException
from starlette.responses import Response

from memorata._frozen import frozen
from memorata.engine import Engine
from memorata.engine.access import ADMIN, EVERYWHERE, READ, WRITE, Access, Gatekeeper
from memorata.engine.ahead import embedded_ahead
from memorata.http.buckets import Buckets
from memorata.http.jobs import Jobs
from memorata.http.limits import Limits
from memorata.http.metrics import Metrics
from memorata.http.problems import too_many
from memorata.http.tracing import Spans
from memorata.http.unknown import known_query
from memorata.http.workers import Overloaded, TookTooLong, Workers
from memorata.model.errors import NotAdmitted, StoreUnavailable
from memorata.model.namespace import namespace as checked_namespace

_Result = TypeVar("_Result")
_JSON: Final = "application/json"
REPLAYED: Final = "Idempotency-Replayed"


@frozen
class Service:
    """What every request needs."""

    engine: Engine
    gate: Gatekeeper
    limits: Limits
    workers: Workers
    metrics: Metrics
    spans: Spans
    jobs: Jobs
    buckets: Buckets
    failures: Buckets = field(default_factory=lambda: Buckets(1.0, 20))
    """How often one address may show a key that is not good."""


class TooMany(HTTPException):
    """Somebody asks too often."""

    def __init__(self, seconds: float) -> None:
        answer = too_many(seconds, "")
        headers = {"Retry-After": answer.headers["Retry-After"]}
        super().__init__(429, f"try again in {headers['Retry-After']} s", headers)


class Asked:
    """A request whose bearer may make it.

    Attributes
    ----------
    service, engine
        What answers.
    access
        What the bearer may do.
    namespace
        Whose memories they ask about.
    """

    def __init__(self, request: Request, access: Access, namespace: str, key: str | None = None) -> None:
        self.service: Service = request.app.state.service
        self.engine = self.service.engine
        self.access = access
        self.namespace = namespace
        self._request = request
        self._key = key

    async def run(self, work: Callable[[], _Result], *, writing: bool = False) -> _Result:
        """Do something on a thread of the engine's."""
        return await self.service.workers.run(work, writing=writing)

    async def recheck(self) -> None:
        """Raise unless the key is still good: what takes long must not outlive one that was revoked."""
        await recheck(self._request)

    async def look(self, work: Callable[[], Any], operation: str = "") -> Response:
        """Answer with what the engine says, as JSON."""

        def answered() -> bytes:
            if not operation:
                return as_json(work())
            with self.service.spans(operation, self.namespace):
                return as_json(work())

        return Response(await self.run(answered), 200, media_type=_JSON)

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
        """Do something that changes what is known, once for each Idempotency-Key, and answer with JSON.

        What reads the log of recalls has to say so (`log_first`), and what will be remembered is embedded
        before others have to wait for it (`remembers`).
        """
        asked = await self._digest() if self._key is not None else b""

        def done() -> tuple[int, bytes]:
            return status, as_json(work())

        def ahead() -> AbstractContextManager[None]:
            return embedded_ahead(self.engine, remembers, self.namespace)

        def answered() -> tuple[int, bytes, bool]:
            with self.service.spans(operation, self.namespace):
                if self._key is None:
                    return *done(), False
                found = self.engine.idempotency.once(
                    self._key,
                    asked,
                    done,
                    caller=self.access.name,
                    namespace=self.namespace,
                    apart=apart,
                    log_first=log_first,
                    ahead=ahead if remembers else None,
                )
                return found.status, found.body, found.again

        code, body, again = await self.run(answered, writing=True)
        headers = {}
        if again:
            headers[REPLAYED] = "true"
            self.service.metrics.replayed.inc()
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
        said = hashlib.sha256()
        for part in parts:
            said.update(len(part).to_bytes(8, "big") + part)
        return said.digest()


def as_json(data: Any) -> bytes:  # noqa: ANN401 - whatever JSON can hold
    """Return plain data as JSON."""
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def as_lines(rows: Iterable[Any]) -> Iterator[bytes]:
    """Yield plain data as lines of JSON."""
    for row in rows:
        yield as_json(row) + b"\n"


_BEARER: Final = HTTPBearer(
    auto_error=False, description="A key, as `memorata key create` makes it.", scheme_name="key"
)
Credentials = Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)]
Whose = Annotated[
    str | None,
    Query(
        max_length=512, description="Whose memories: a path such as acme/alice; the server's own if left out."
    ),
]
Once = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=200,
        description="A name for this request: sent again under it within a day, it is not done again.",
    ),
]


async def bearer(request: Request, credentials: Credentials) -> Access:
    """Return what the bearer of a request may do, if they do not ask too often.

    The credentials are there for the description of the interface; they are read by `_admitted`.
    """
    service: Service = request.app.state.service
    try:
        access = await _admitted(request)
    except NotAdmitted:
        client = request.client.host if request.client is not None else ""
        # Who shows none does not guess.
        seconds = service.failures.take(client) if "authorization" in request.headers else 0.0
        if seconds:
            raise TooMany(seconds) from None
        raise
    request.scope["state"]["caller"] = access.name
    seconds = service.buckets.take(access.name)
    if seconds:
        raise TooMany(seconds)
    # Before anybody asks whose memories are meant: a misspelt namespace is a spelling, not somebody else's.
    await known_query(request)
    return access


Bearer = Annotated[Access, Depends(bearer)]


async def recheck(request: Request) -> None:
    """Raise NotAdmitted if the key of a request has ceased to be good since it was let in."""
    # Whoever is let in keeps coming in while nobody has the time to look.
    with suppress(Overloaded, TookTooLong, StoreUnavailable):
        await _admitted(request)


async def _admitted(request: Request) -> Access:
    service: Service = request.app.state.service
    header = request.headers.get("authorization")
    token: str | None = None
    if header is not None:
        scheme, shown = get_authorization_scheme_param(header)
        # Another scheme than Bearer is not the same as no key at all.
        token = shown if scheme.lower() == "bearer" else ""
    access = service.gate.glance(token)
    if access is None and token is None:
        access = service.gate.admit(None)
    if access is None:
        access = await service.workers.run(lambda: service.gate.admit(token))
    return access


def _allowed(request: Request, access: Access, scope: str, namespace: str | None, key: str | None) -> Asked:
    whose = request.app.state.service.engine.namespace if namespace is None else namespace
    path = checked_namespace("namespace", whose)
    access.require(scope, path)
    return Asked(request, access, path, key)


async def _reading(request: Request, access: Bearer, namespace: Whose = None) -> Asked:
    return _allowed(request, access, READ, namespace, None)


async def _writing(request: Request, access: Bearer, namespace: Whose = None, key: Once = None) -> Asked:
    return _allowed(request, access, WRITE, namespace, key)


async def _working(request: Request, access: Bearer, namespace: Whose = None) -> Asked:
    return _allowed(request, access, WRITE, namespace, None)


async def _ruling(request: Request, access: Bearer, namespace: Whose = None, key: Once = None) -> Asked:
    return _allowed(request, access, ADMIN, namespace, key)


async def _ending(request: Request, access: Bearer, namespace: Whose = None) -> Asked:
    return _allowed(request, access, ADMIN, namespace, None)


async def _everywhere(request: Request, access: Bearer) -> Asked:
    access.require_everywhere(ADMIN)
    return Asked(request, access, EVERYWHERE)


Reading = Annotated[Asked, Depends(_reading)]
"""Somebody who may read in the namespace they ask about."""
Writing = Annotated[Asked, Depends(_writing)]
"""Somebody who may write there."""
Working = Annotated[Asked, Depends(_working)]
"""The same, for what is more than one write: it is done each time it is asked for, whatever it is called."""
Ruling = Annotated[Asked, Depends(_ruling)]
"""Somebody who may remove things there for good."""
Ending = Annotated[Asked, Depends(_ending)]
"""The same, for what leaves no trace: not even the name of the request is kept."""
Everywhere = Annotated[Asked, Depends(_everywhere)]
"""Somebody who may do everything everywhere."""


@asynccontextmanager
async def opened(service: Service) -> AsyncIterator[None]:
    """Let the server live; at its end, wait for what was begun."""
    service.jobs.open()
    try:
        yield
    finally:
        service.jobs.close()
        service.workers.close()
