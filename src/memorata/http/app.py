"""The application: every route, behind the door, with the errors as problems and a description of itself."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from memorata import __version__
from memorata.engine import Engine
from memorata.engine.access import Gatekeeper
from memorata.http import (
    about,
    entities,
    exchange,
    graph,
    job_routes,
    learning,
    long_work,
    memories,
    problems,
    recalling,
    recipes,
    repeats,
    subjects,
)
from memorata.http.asked import Service, opened
from memorata.http.buckets import Buckets
from memorata.http.guard import API, Guard
from memorata.http.jobs import Jobs
from memorata.http.limits import Limits
from memorata.http.metrics import Metrics
from memorata.http.tracing import spans
from memorata.http.workers import Workers

_ROUTERS: Final = (
    memories, recalling, entities, graph, subjects, repeats, recipes, learning, exchange, long_work,
    job_routes, about,
)  # fmt: skip
_METHODS: Final = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "TRACE"]
_PROBLEM: Final = {
    "description": "What went wrong.",
    "content": {problems.MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
}


def create_api(
    engine: Engine,
    gate: Gatekeeper,
    *,
    limits: Limits | None = None,
    hosts: Collection[str] | None = None,
    origins: Collection[str] = (),
    pages: ASGIApp | None = None,
) -> FastAPI:
    """Return the engine as a web application.

    Parameters
    ----------
    engine
        What answers. The application does not close it.
    gate
        Who may come in.
    limits
        How much they may ask for; None for the usual.
    hosts
        The names the server answers under; None for any.
    origins
        The web sites whose pages may ask; none unless named.
    pages
        What answers everything that is not under ``/v1``.

    Examples
    --------
    >>> import memorata
    >>> memory = memorata.open(":memory:", embedder="lexical")
    >>> api = create_api(memory, Gatekeeper(memory.store, required=False))
    >>> "/v1/recall" in api.openapi()["paths"]
    True
    >>> memory.close()
    """
    allowed = Limits() if limits is None else limits
    metrics = Metrics()
    workers = Workers(allowed.threads, allowed.waiting, allowed.seconds)
    metrics.busy.set_function(lambda: workers.busy)
    service = Service(
        engine,
        gate,
        allowed,
        workers,
        metrics,
        spans(),
        Jobs(),
        Buckets(allowed.rate, allowed.burst),
    )

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        async with opened(service):
            yield

    app = FastAPI(
        title="Memorata",
        version=__version__,
        description="Memory retrieval for AI agents: the right few memories, with reasons.",
        openapi_url=f"{API}/openapi.json",
        # The usual pages load their scripts from elsewhere; a server that works offline does without.
        docs_url=None,
        redoc_url=None,
        lifespan=life,
        responses={"default": _PROBLEM},
    )
    app.state.service = service
    problems.install(app)
    for module in _ROUTERS:
        app.include_router(module.router)
    # Whatever the method, one that nobody has heard of too: a program is not answered with a page.
    app.router.routes += [Route(path, _Nothing()) for path in (API, f"{API}/{{rest:path}}")]
    app.mount("/", _Nowhere() if pages is None else pages)
    app.add_middleware(Guard, limits=allowed, metrics=metrics, hosts=hosts, origins=origins)
    if origins:
        # Around the door, so that a page may read why it was turned away there.
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(origins),
            allow_methods=_METHODS,
            allow_headers=["Authorization", "Content-Type", "Idempotency-Key", "If-Match"],
            expose_headers=["ETag", "Idempotency-Replayed", "Retry-After", "X-Request-Id"],
        )
    app.openapi = lambda: _described(app)  # type: ignore[method-assign]
    return app


class _Nothing:
    """Answers to what no route answers to: 405 where another method would have been answered, else 404."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        allowed: set[str] = set()
        for route in (route for module in _ROUTERS for route in module.router.routes):
            if route.matches(scope)[0] == Match.PARTIAL:
                allowed |= getattr(route, "methods", None) or set()
        if not allowed:
            await _Nowhere()(scope, receive, send)
            return
        methods = ", ".join(sorted(allowed))
        detail = f"use {methods}, or see /v1/openapi.json for what else there is"
        answer = problems.problem(405, detail, instance=_instance(scope), headers={"Allow": methods})
        await answer(scope, receive, send)


class _Nowhere:
    """Answers to everything that there is nothing here."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = problems.problem(404, "see /v1/openapi.json for what there is", instance=_instance(scope))
        await answer(scope, receive, send)


def _instance(scope: Scope) -> str:
    return str(scope.get("state", {}).get("request_id", ""))


def _described(app: FastAPI) -> dict[str, Any]:
    """Return the description of the application, with the shape of a problem in it."""
    if app.openapi_schema is None:
        schema = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes
        )
        shapes = schema.setdefault("components", {}).setdefault("schemas", {})
        whole = problems.Problem.model_json_schema(ref_template="#/components/schemas/{model}")
        shapes |= whole.pop("$defs", {})
        shapes["Problem"] = whole
        service: Service = app.state.service
        if not service.gate.required:
            for said in (said for methods in schema["paths"].values() for said in methods.values()):
                if "security" in said:
                    # Either of them is enough: a key, or none.
                    said["security"] = [*said["security"], {}]
        app.openapi_schema = schema
    return app.openapi_schema
