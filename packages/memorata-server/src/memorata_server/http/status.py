"""The server itself: health, readiness, metrics, settings, and its reference at ``/docs``.

The usual pages of an OpenAPI description load their scripts from elsewhere; ours is one page without scripts,
which works offline and under the strictest policy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from fastapi import Depends, Request
from jinja2 import Environment, PackageLoader
from markupsafe import Markup, escape
from pydantic import BaseModel
from starlette.responses import Response

from memorata import MemorataError, __version__
from memorata_server.http.context import Caller, GlobalContext, ServerState, described, json_response
from memorata_server.http.errors import api_router, check_query, problem, request_id
from memorata_server.http.telemetry import MEDIA_TYPE
from memorata_server.schemas import MAX_BATCH, MAX_QUERY, MAX_RESULTS, MAX_TEXT

router = api_router("/v1", "server")


class HealthAnswer(BaseModel):
    """The status of the server."""

    status: str
    version: str


class LimitsAnswer(BaseModel):
    """The limits of a request."""

    body: int
    text: int
    query: int
    batch: int
    results: int
    rate: float | None
    seconds: float


class SettingsAnswer(BaseModel):
    """The settings of the server."""

    version: str
    namespace: str
    recipe: str
    embedder: str | None
    dimension: int | None
    reranker: str | None
    notes: list[str]
    limits: LimitsAnswer


@router.get("/health", **described(HealthAnswer), dependencies=[Depends(check_query)])
async def health() -> Response:
    """Tell that the server is there; asks nothing of the database."""
    return json_response({"status": "ok", "version": __version__})


@router.get("/ready", **described(HealthAnswer), dependencies=[Depends(check_query)])
async def ready(request: Request) -> Response:
    """Tell whether the server can answer: its database can be read, and it is not about to stop."""
    server: ServerState = request.app.state.server
    if server.jobs.closing:
        return problem(503, "the server is about to stop", instance=request_id(request.scope))
    try:
        await server.workers.run(lambda: server.engine.store.setting("embedder"), seconds=5)
    except MemorataError:
        detail = "the database cannot be read; the server's log says why"
        return problem(503, detail, instance=request_id(request.scope))
    return json_response({"status": "ready", "version": __version__})


@router.get("/metrics", response_model=None, responses={200: {"content": {"text/plain": {}}}})
async def metrics(context: GlobalContext) -> Response:
    """Return the metrics, for Prometheus."""
    return Response(context.server.metrics.text(), media_type=MEDIA_TYPE)


@router.get("/settings", **described(SettingsAnswer))
async def settings(request: Request, access: Caller) -> Response:
    """Return the settings of the server that concern its clients."""
    server: ServerState = request.app.state.server
    engine, limits = server.engine, server.limits
    embedder, reranker = engine.embedder, engine.reranker
    return json_response(
        {
            "version": __version__,
            "namespace": engine.namespace,
            "recipe": engine.recipe.name,
            "embedder": None if embedder is None else embedder.name,
            "dimension": None if embedder is None else embedder.dimension,
            "reranker": None if reranker is None else reranker.name,
            "notes": list(engine.notes) if access.everywhere else [],
            "limits": {
                "body": limits.body,
                "text": MAX_TEXT,
                "query": MAX_QUERY,
                "batch": MAX_BATCH,
                "results": MAX_RESULTS,
                "rate": limits.rate,
                "seconds": limits.seconds,
            },
        }
    )


POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"


def reference_page(document: Mapping[str, Any]) -> str:
    """Return the page of an OpenAPI description."""
    by_tag: dict[str, list[tuple[str, str, Mapping[str, Any]]]] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            tag = operation.get("tags", ["other"])[0]
            by_tag.setdefault(tag, []).append((method, path, operation))
    info = document["info"]
    jinja = Environment(
        loader=PackageLoader("memorata_server.http"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    return jinja.get_template("reference.html").render(
        title=f"{info['title']} {info['version']}",
        description=info.get("description", ""),
        by_tag=by_tag,
        schemas=document.get("components", {}).get("schemas", {}),
        type_of=_type,
    )


def _type(schema: Mapping[str, Any]) -> Markup:
    """Return a type with links to the schemas it names, its bounds and its default."""
    if name := schema.get("$ref", "").rpartition("/")[2]:
        return Markup('<a href="#{0}">{0}</a>').format(name)
    if choices := schema.get("anyOf") or schema.get("oneOf"):
        kind = Markup(" or ").join(dict.fromkeys(map(_type, choices)))
    elif schema.get("type") == "array":
        kind = Markup("list of {}").format(_type(schema.get("items", {})))
    elif values := schema.get("enum"):
        kind = Markup(" or ").join(Markup("<code>{!r}</code>").format(value) for value in values)
    else:
        kind = escape(str(schema.get("type", schema.get("const", "anything"))))
    signs = (("minimum", "≥"), ("maximum", "≤"))
    bounds = [f"{sign} {schema[bound]:g}" for bound, sign in signs if bound in schema]
    default = [f"default {schema['default']!r}"] if schema.get("default") is not None else []
    return Markup(", ").join([kind, *bounds, *default])
