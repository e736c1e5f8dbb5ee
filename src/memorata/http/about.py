"""About the server itself: is it there and ready, how is it set, what namespaces are there."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel
from starlette.responses import Response

from memorata import __version__
from memorata.engine.access import READ
from memorata.http.asked import Bearer, Everywhere, Service, as_json
from memorata.http.limits import BATCH, QUESTION, RESULTS, TEXT
from memorata.http.metrics import MEDIA_TYPE
from memorata.http.problems import instance_of, problem
from memorata.http.unknown import known_query
from memorata.model.errors import MemorataError

router = APIRouter(prefix="/v1", tags=["about the server"])


class Health(BaseModel):
    """That the server is there."""

    status: str
    version: str


class LimitsShown(BaseModel):
    """How much a request may ask for."""

    body: int
    text: int
    question: int
    batch: int
    results: int
    rate: float | None
    seconds: float


class SettingsShown(BaseModel):
    """How the server is set."""

    version: str
    namespace: str
    recipe: str
    embedder: str | None
    dimension: int | None
    reranker: str | None
    notes: list[str]
    limits: LimitsShown


class NamespaceShown(BaseModel):
    """A namespace, and how many memories it holds, hidden ones too."""

    namespace: str
    memories: int


class NamespacesShown(BaseModel):
    """The namespaces that a key is for."""

    namespaces: list[NamespaceShown]


@router.get(
    "/health", response_model=None, responses={200: {"model": Health}}, dependencies=[Depends(known_query)]
)
async def health() -> Response:
    """Tell that the server is there; asks nothing of the database."""
    return _plain({"status": "ok", "version": __version__})


@router.get(
    "/ready", response_model=None, responses={200: {"model": Health}}, dependencies=[Depends(known_query)]
)
async def ready(request: Request) -> Response:
    """Tell whether the server can answer: its database can be read, and it is not about to stop."""
    service: Service = request.app.state.service
    if service.jobs.closing:
        return problem(503, "the server is about to stop", instance=instance_of(request))
    try:
        await service.workers.run(lambda: service.engine.store.setting("embedder"), seconds=5)
    except MemorataError:
        said = "the database cannot be read; the server's log says why"
        return problem(503, said, instance=instance_of(request))
    return _plain({"status": "ready", "version": __version__})


@router.get("/metrics", response_model=None, responses={200: {"content": {"text/plain": {}}}})
async def metrics(asked: Everywhere) -> Response:
    """Return what can be counted, for Prometheus."""
    return Response(asked.service.metrics.text(), media_type=MEDIA_TYPE)


@router.get("/settings", response_model=None, responses={200: {"model": SettingsShown}})
async def settings(request: Request, access: Bearer) -> Response:
    """Tell how the server is set, as far as it matters to those who use it."""
    service: Service = request.app.state.service
    engine, limits = service.engine, service.limits
    embedder, reranker = engine.embedder, engine.reranker
    return _plain(
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
                "text": TEXT,
                "question": QUESTION,
                "batch": BATCH,
                "results": RESULTS,
                "rate": limits.rate,
                "seconds": limits.seconds,
            },
        }
    )


@router.get("/namespaces", response_model=None, responses={200: {"model": NamespacesShown}})
async def namespaces(request: Request, access: Bearer) -> Response:
    """List the namespaces that the key is for, and that something was ever written to."""
    service: Service = request.app.state.service
    found = await service.workers.run(service.engine.store.namespaces)
    shown = [
        {"namespace": path, "memories": count} for path, count in found.items() if access.allows(READ, path)
    ]
    return _plain({"namespaces": shown})


def _plain(data: Any) -> Response:  # noqa: ANN401 - whatever JSON can hold
    return Response(as_json(data), media_type="application/json")
