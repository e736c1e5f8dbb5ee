"""What every request passes before anything reads it, pages included, and the limits it is held to.

The middleware gives the request an id, refuses a body that is too large or does not arrive, refuses to answer
under a name that is not the server's (DNS rebinding: a web page on another site cannot reach a server on this
machine by pointing its own name here), answers with a problem when something breaks, and logs one line.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable, Collection, Mapping
from time import perf_counter
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memorata.extend import frozen
from memorata.extend.model import checks
from memorata_server.http.errors import error_response, problem, status_of
from memorata_server.http.telemetry import Metrics, log_event

_MEGABYTE: Final = 1024 * 1024


@frozen(kw_only=True)
class Limits:
    """What a server allows.

    - `body`: most bytes of a request, and of one line of an import.
    - `stream`: most bytes of an import.
    - `rate`, `burst`: requests a second of one caller, and how many at once above that; no rate for no limit.
    - `seconds`: most time for one answer, and for a body to arrive.
    - `threads`: how many requests work at the same time.
    - `waiting`: how many more may wait for a thread.
    """

    body: int = 4 * _MEGABYTE
    stream: int = 1024 * _MEGABYTE
    rate: float | None = None
    burst: int = 100
    seconds: float = 30.0
    threads: int = 4
    waiting: int = 256

    def __post_init__(self) -> None:
        for name in ("body", "stream", "burst", "threads"):
            checks.whole(name, getattr(self, name), 1)
        checks.whole("waiting", self.waiting)
        checks.above("seconds", self.seconds, 0)
        if self.rate is not None:
            checks.above("rate", self.rate, 0)


API: Final = "/v1"
STREAMED: Final = "/v1/import"
LOOPBACK_NAMES: Final = frozenset({"localhost", "127.0.0.1", "::1"})
"""The names under which a machine calls itself."""
_JSON: Final = "application/json"
_NDJSON: Final = ("application/x-ndjson", "application/jsonl", "application/jsonlines")
_API_HEADERS: Final = ((b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"))
"""Headers of every answer of the API: no proxy caches memories, no browser guesses their media type."""
_CLOSE_HEADER: Final = ((b"connection", b"close"),)
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"})
_BODY_METHODS: Final = ("POST", "PUT", "PATCH", "DELETE")


class RequestMiddleware:
    """ASGI middleware that holds requests to `limits` and counts them in `metrics`.

    Paths that begin with one of `prefixes` are those of programs. The server answers under `hosts`, None for
    any; pages of `origins` may call it, beside our own. When it is `leaving`, each answer is the last of its
    connection.
    """

    def __init__(
        self,
        app: ASGIApp,
        limits: Limits,
        metrics: Metrics,
        prefixes: tuple[str, ...] = (API + "/",),
        hosts: Collection[str] | None = None,
        origins: Collection[str] = (),
        leaving: Callable[[], bool] = lambda: False,
    ) -> None:
        self._app = app
        self._prefixes = prefixes
        self._leaving = leaving
        self._limits = limits
        self._metrics = metrics
        self._hosts = None if hosts is None else frozenset(name.lower() for name in hosts)
        self._origins = frozenset(origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or answer it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = perf_counter()
        state = scope.setdefault("state", {})
        instance = state["request_id"] = secrets.token_hex(8)
        sent = {"status": 0}

        async def send_counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                sent["status"] = message["status"]
                message["headers"] = [
                    *message.get("headers", ()),
                    (b"x-request-id", instance.encode()),
                    *(_API_HEADERS if scope["path"].startswith(self._prefixes) else ()),
                    *(_CLOSE_HEADER if self._leaving() else ()),
                ]
            await send(message)

        self._metrics.open.inc()
        error: Exception | None = None
        truncated = False
        try:
            refused = self._refusal(scope, instance)
            if refused is not None:
                await refused(scope, receive, send_counted)
            else:
                await self._app(scope, self._bounded(scope, receive), send_counted)
        except Exception as failure:
            error = failure
            # The status has gone out: only the log can tell that the rest did not follow.
            truncated = bool(sent["status"]) and status_of(failure) >= 500
            if not sent["status"]:
                await error_response(failure, instance)(scope, receive, send_counted)
        finally:
            self._metrics.open.dec()
            seconds = perf_counter() - started
            self._record(scope, sent["status"], seconds, error or state.get("error"), truncated=truncated)

    def _refusal(self, scope: Scope, instance: str) -> Any:  # noqa: ANN401 - an answer or None
        """Return the response to a request that is refused by its headers alone."""
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        if self._hosts is not None and host_of(headers.get(b"host", "")) not in self._hosts:
            return problem(421, "name the server as it names itself, or allow the name", instance=instance)
        length = headers.get(b"content-length", "0")
        if not length.isascii() or not length.isdigit():
            return problem(400, "Content-Length is not a number", instance=instance)
        if int(length) > self._max_bytes(scope):
            return problem(413, f"at most {self._max_bytes(scope):,} bytes are read", instance=instance)
        has_body = length != "0" or b"transfer-encoding" in headers
        if not scope["path"].startswith(self._prefixes) or scope["method"] not in _BODY_METHODS:
            return None
        if has_body:
            media_type = headers.get(b"content-type", "").partition(";")[0].strip().lower()
            accepted = (*_NDJSON, _JSON) if scope["path"] == STREAMED else (_JSON,)
            if media_type not in accepted:
                return problem(415, f"send {accepted[0]}", instance=instance)
        elif self._is_cross_site(headers):
            # With a JSON body a browser sends a preflight request first; without a body it does not.
            return problem(403, "a page of another site may not do this; --cors allows it", instance=instance)
        return None

    def _is_cross_site(self, headers: Mapping[bytes, str]) -> bool:
        """Return whether a request comes from a page of another site, and shows no key."""
        origin = headers.get(b"origin")
        if origin is None or b"authorization" in headers or self._origins & {origin, "*"}:
            return False
        return origin.partition("://")[2].lower() != headers.get(b"host", "").lower()

    def _max_bytes(self, scope: Scope) -> int:
        return self._limits.stream if scope["path"] == STREAMED else self._limits.body

    def _bounded(self, scope: Scope, receive: Receive) -> Receive:
        """Return what reads a body as long as it is not too large, and as long as it arrives."""
        max_bytes, read, complete = self._max_bytes(scope), 0, False
        until: float | None = None

        async def receive_bounded() -> Message:
            nonlocal read, complete, until
            if complete:
                return await receive()
            if until is None or scope["path"] == STREAMED:
                # An import may take as long as it likes, as long as it goes on.
                until = asyncio.get_running_loop().time() + self._limits.seconds
            try:
                async with asyncio.timeout_at(until):
                    message = await receive()
            except TimeoutError as error:
                raise HTTPException(408, "the body did not arrive in time") from error
            read += len(message.get("body", b""))
            complete = not message.get("more_body", False)
            if read > max_bytes:
                raise HTTPException(413, f"at most {max_bytes:,} bytes are read")
            return message

        return receive_bounded

    def _record(
        self, scope: Scope, status: int, seconds: float, error: Exception | None, *, truncated: bool
    ) -> None:
        route = route_of(scope)
        method = scope["method"] if scope["method"] in _METHODS else "OTHER"
        self._metrics.observe(method, route, status, seconds)
        state = scope["state"]
        failed = truncated or status >= 500 or status == 0
        log_event(
            "request",
            logging.ERROR if failed else logging.INFO,
            error if failed else None,
            method=method,
            route=route,
            status=status,
            milliseconds=round(seconds * 1000, 3),
            caller=state.get("caller", ""),
            request_id=state["request_id"],
        )


def host_of(header: str) -> str:
    """Return the name in a Host header, without its port.

    >>> host_of("localhost:8765"), host_of("[::1]:80"), host_of("Example.org")
    ('localhost', '::1', 'example.org')
    """
    name = header.strip().lower()
    if name.startswith("["):
        return name[1:].partition("]")[0]
    return name.partition(":")[0]


def route_of(scope: Scope) -> str:
    """Return the template of the route that answered; no value of the request is in it."""
    route = scope.get("route")
    path = getattr(route, "path", None)
    return path if isinstance(path, str) and path else "(none)"
