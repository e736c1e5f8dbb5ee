"""The application: every route behind the middleware, errors as problems, and its OpenAPI description."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from functools import cache
from typing import Any, Final

from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import HTMLResponse
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from memorata import Engine, __version__
from memorata.extend import loaded
from memorata.extend.access import ApiKeys
from memorata.extend.serving import prepare_to_serve
from memorata_server.auth import RateLimiter
from memorata_server.http import errors, jobs, learning, memories, namespaces, recall, status
from memorata_server.http.context import ServerState
from memorata_server.http.middleware import API, Limits, RequestMiddleware
from memorata_server.http.telemetry import Metrics, spans
from memorata_server.http.workers import Workers
from memorata_server.jobs import Jobs

_ROUTERS: Final = (
    recall.router, memories.router, memories.duplicates_router,
    learning.recipes_router, learning.router, namespaces.transfer_router, jobs.router, namespaces.router,
    status.router,
)  # fmt: skip
DOCS: Final = "/docs"
_METHODS: Final = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "TRACE"]
REQUESTS_PER_SECOND_OF_WORK: Final = 100
"""How many requests one second of processor time counts for in the rate limit: a large limit, explanations
and work on graphs cost what they take. A recall takes about 10 ms, one request."""


def create_api(
    engine: Engine,
    keys: ApiKeys,
    *,
    limits: Limits | None = None,
    hosts: Collection[str] | None = None,
    origins: Collection[str] = (),
    pages: ASGIApp | None = None,
) -> FastAPI:
    """Return the engine as a web application.

    - `engine`: what answers. The application does not close it.
    - `keys`: knows the keys.
    - `limits`: how much they may ask for; None for the usual.
    - `hosts`: the names the server answers under; None for any.
    - `origins`: the web sites whose pages may ask; none unless named.
    - `pages`: what answers everything that is not under ``/v1``.

    >>> import memorata
    >>> memory = memorata.open(":memory:", embedder="lexical")
    >>> api = create_api(memory, ApiKeys(memory.store, required=False))
    >>> "/v1/recall" in api.openapi()["paths"]
    True
    >>> memory.close()
    """
    allowed = Limits() if limits is None else limits
    metrics = Metrics()
    rate = RateLimiter(allowed.rate, allowed.burst)

    def charge(caller: str, seconds: float) -> None:
        rate.charge(caller, seconds * REQUESTS_PER_SECOND_OF_WORK - 1)

    workers = Workers(allowed.threads, allowed.waiting, allowed.seconds, charge, metrics.busy.set)
    server = ServerState(engine.scope(via="http"), keys, allowed, workers, metrics, spans(), Jobs(), rate)

    @asynccontextmanager
    async def running(app: FastAPI) -> AsyncIterator[None]:
        prepare_to_serve(server.engine)
        server.jobs.open()
        try:
            yield
        finally:
            server.jobs.close()
            server.workers.close()

    app = FastAPI(
        title="Memorata",
        version=__version__,
        description="Memory retrieval for AI agents: the right few memories, with reasons.",
        openapi_url=f"{API}/openapi.json",
        # The usual pages load their scripts from elsewhere: see http/status.py.
        docs_url=None,
        redoc_url=None,
        lifespan=running,
    )
    app.state.server = server
    errors.install_handlers(app)
    # The routes as they are: `include_router` would build each of them a second time, 90 ms in all.
    app.router.routes += [route for router in _routers() for route in router.routes]
    policy = {"Content-Security-Policy": status.POLICY}
    app.router.routes.append(
        Route(DOCS, lambda request: HTMLResponse(status.reference_page(app.openapi()), headers=policy))
    )
    # For any method, unknown ones too: a program is not answered with a page.
    prefixes = sorted(
        {
            "/" + str(getattr(route, "path", API)).split("/")[1]
            for router in _routers()
            for route in router.routes
        }
    )
    app.router.routes += [
        Route(path, _NoRoute()) for prefix in prefixes for path in (prefix, prefix + "/{rest:path}")
    ]
    app.mount("/", _NoRoute() if pages is None else pages)
    app.add_middleware(recall.RecallMiddleware)
    app.add_middleware(
        RequestMiddleware,
        limits=allowed,
        metrics=metrics,
        prefixes=tuple(prefix + "/" for prefix in prefixes),
        hosts=hosts,
        origins=origins,
        leaving=lambda: server.jobs.closing,
    )
    if origins:
        # Around the middleware, so that a page may read why it was refused there.
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(origins),
            allow_methods=_METHODS,
            allow_headers=["Authorization", "Content-Type", "Idempotency-Key", "If-Match"],
            expose_headers=["ETag", "Idempotency-Replayed", "Retry-After", "X-Request-Id"],
        )
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    return app


@cache
def _routers() -> tuple[APIRouter, ...]:
    """Return the routers of the server and of the satellites that are installed."""
    return (*_ROUTERS, *loaded("routes"))


class _NoRoute:
    """Answers to what no route answers to: 405 where another method would have been answered, else 404."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        allowed: set[str] = set()
        for route in (route for router in _routers() for route in router.routes):
            if route.matches(scope)[0] == Match.PARTIAL:
                allowed |= getattr(route, "methods", None) or set()
        methods = ", ".join(sorted(allowed))
        status, detail = 404, "see /v1/openapi.json for what there is"
        if allowed:
            status, detail = 405, f"use {methods}, or see /v1/openapi.json for what else there is"
        headers = {"Allow": methods} if allowed else {}
        response = errors.problem(status, detail, instance=errors.request_id(scope), headers=headers)
        await response(scope, receive, send)


def _openapi(app: FastAPI) -> dict[str, Any]:
    """Return the description of the application, with the schema of a problem in it."""
    if app.openapi_schema is None:
        schema = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes
        )
        schemas = schema.setdefault("components", {}).setdefault("schemas", {})
        problem = errors.Problem.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas |= problem.pop("$defs", {})
        schemas["Problem"] = problem
        server: ServerState = app.state.server
        for methods in schema["paths"].values():
            for operation in methods.values():
                if not server.keys.required and "security" in operation:
                    # Either of them is enough: a key, or none.
                    operation["security"] = [*operation["security"], {}]
        app.openapi_schema = schema
    return app.openapi_schema
