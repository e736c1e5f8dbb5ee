"""The server itself: health, readiness, metrics, settings, and its reference at ``/docs``.

The usual pages of an OpenAPI description load their scripts from elsewhere; ours is one page without scripts,
which works offline and under the strictest policy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any, Final

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel
from starlette.responses import Response

from memorata import __version__
from memorata.http.context import Caller, GlobalContext, ServerState, described, json_response
from memorata.http.errors import RESPONSES, check_query, problem, request_id
from memorata.http.telemetry import MEDIA_TYPE
from memorata.model.errors import MemorataError
from memorata.service.schemas import MAX_BATCH, MAX_QUERY, MAX_RESULTS, MAX_TEXT

router = APIRouter(prefix="/v1", tags=["server"], responses=RESPONSES)


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


_STYLE: Final = """
:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
h2 { text-transform: capitalize } code { font-size: .9em }
.method { display: inline-block; min-width: 4.5rem }
details { margin: .4rem 0 } summary { cursor: pointer }
table { border-collapse: collapse; margin: .5rem 0 1rem }
td, th { text-align: left; padding: .15rem .8rem .15rem 0; vertical-align: top }
"""
POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"


def reference_page(document: Mapping[str, Any]) -> str:
    """Return the page of an OpenAPI description.

    >>> page = reference_page({"info": {"title": "T", "version": "1"}, "paths": {}})
    >>> "<h1>T 1</h1>" in page
    True
    """
    schemas = document.get("components", {}).get("schemas", {})
    by_tag: dict[str, list[str]] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            tag = operation.get("tags", ["other"])[0]
            by_tag.setdefault(tag, []).append("".join(_operation(method, path, operation, schemas)))
    sections = "".join(f"<h2>{escape(tag)}</h2>{''.join(parts)}" for tag, parts in by_tag.items())
    shapes = "".join(
        f'<details id="{escape(name)}"><summary><code>{escape(name)}</code></summary>'
        f"<p>{escape(schema.get('description', ''))}</p>{_fields(schema)}</details>"
        for name, schema in sorted(schemas.items())
    )
    info = document["info"]
    title = escape(f"{info['title']} {info['version']}")
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style><h1>{title}</h1>'
        f"<p>{escape(info.get('description', ''))} "
        'For programs: <a href="/v1/openapi.json">openapi.json</a>.</p>'
        f"{sections}<h2>Schemas</h2>{shapes}</html>"
    )


def _operation(
    method: str, path: str, operation: Mapping[str, Any], schemas: Mapping[str, Any]
) -> Iterator[str]:
    yield f"<details><summary><code class=method>{method.upper()}</code> <code>{escape(path)}</code> "
    first, _, rest = operation.get("description", "").partition("\n\n")
    yield f"{escape(first)}</summary>{f'<p>{escape(rest)}</p>' if rest else ''}"
    rows = [
        (parameter["name"], parameter["in"], _type(parameter["schema"]), parameter.get("description", ""))
        for parameter in operation.get("parameters", ())
    ]
    if rows:
        yield _table(("parameter", "in", "type", "meaning"), rows)
    for media, content in operation.get("requestBody", {}).get("content", {}).items():
        schema = content["schema"]
        yield f"<p>Body, <code>{escape(media)}</code>: {_type(schema)}</p>"
        yield _fields(schemas.get(schema.get("$ref", "").rpartition("/")[2], {}))
    for status, answer in operation.get("responses", {}).items():
        kinds = ", ".join(_type(content.get("schema", {})) for content in answer.get("content", {}).values())
        yield f"<p>{escape(status)}: {kinds or escape(answer.get('description', ''))}</p>"
    yield "</details>"


def _fields(schema: Mapping[str, Any]) -> str:
    required = schema.get("required", ())
    rows = [
        (name + ("" if name in required else "?"), _type(field), field.get("description", ""))
        for name, field in schema.get("properties", {}).items()
    ]
    return _table(("field", "type", "meaning"), rows) if rows else ""


def _table(heads: tuple[str, ...], rows: list[Any]) -> str:
    """Return a table; what stands in the column of types is HTML already."""
    at = heads.index("type")
    head = "".join(f"<th>{name}</th>" for name in heads)
    body = "".join(
        "<tr>"
        + "".join(f"<td>{cell if n == at else escape(cell)}</td>" for n, cell in enumerate(row))
        + "</tr>"
        for row in rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"


def _type(schema: Mapping[str, Any]) -> str:
    """Return a type, as HTML with links to the schemas it names, and its default."""
    if name := schema.get("$ref", "").rpartition("/")[2]:
        return f'<a href="#{escape(name)}">{escape(name)}</a>'
    if choices := schema.get("anyOf") or schema.get("oneOf"):
        kind = " or ".join(dict.fromkeys(_type(choice) for choice in choices))
    elif schema.get("type") == "array":
        kind = f"list of {_type(schema.get('items', {}))}"
    elif values := schema.get("enum"):
        kind = " or ".join(f"<code>{escape(repr(value))}</code>" for value in values)
    else:
        kind = escape(str(schema.get("type", schema.get("const", "anything"))))
    signs = (("minimum", "≥"), ("maximum", "≤"))
    bounds = [f"{sign} {schema[bound]:g}" for bound, sign in signs if bound in schema]
    default = [f"default {schema['default']!r}"] if schema.get("default") is not None else []
    return ", ".join([kind, *bounds, *map(escape, default)])
