"""What hangs together, when and where, over HTTP: paths, communities, timeline, near."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel
from starlette.responses import Response

from memorata.http.asked import Reading
from memorata.http.limits import LIST, RESULTS, WORD
from memorata.http.shapes import MemoriesShown, MemoryShown, Time
from memorata.http.tracing import SEARCH
from memorata.service.codec import community_json, memories_json, memory_json, path_json

router = APIRouter(prefix="/v1", tags=["what hangs together"])

Most = Annotated[int, Query(ge=1, le=RESULTS)]
AsOf = Annotated[Time | None, Query(description="As it was known and believed then.")]
_MOST_SECONDS = 20.0


class StepShown(BaseModel):
    """One edge of a path, as it was walked, to an entity or a memory."""

    type: str
    forward: bool
    weight: float
    entity: str | None
    memory: str | None


class PathShown(BaseModel):
    """A way from an entity."""

    start: str
    score: float
    steps: list[StepShown]


class PathsShown(BaseModel):
    """Ways, the shortest first, and the limit that was hit, if one was."""

    paths: list[PathShown]
    truncated: str | None


class GroupShown(BaseModel):
    """A community."""

    summary: str
    terms: list[str]
    entities: list[str]
    memories: list[str]
    since: datetime | None
    until: datetime | None
    representative: str | None


class GroupsShown(BaseModel):
    """The communities of a namespace, the largest first."""

    communities: list[GroupShown]
    level: int
    count: int
    modularity: float
    converged: bool


class NearbyShown(BaseModel):
    """A memory, and how far away it was."""

    metres: float
    memory: MemoryShown


class NearShown(BaseModel):
    """The memories nearest to a point."""

    memories: list[NearbyShown]


@router.get("/paths", response_model=None, responses={200: {"model": PathsShown}})
async def paths(
    asked: Reading,
    start: Annotated[str, Query(max_length=WORD, description="The entity to start from.")],
    to: Annotated[str | None, Query(max_length=WORD, description="Only ways to this entity.")] = None,
    depth: Annotated[int, Query(ge=1, le=10)] = 2,
    type: Annotated[
        list[str] | None, Query(max_length=LIST, description="A type of relation to follow; repeatable.")
    ] = None,
    direction: Literal["both", "out", "in"] = "both",
    order: Literal["breadth", "depth"] = "breadth",
    nodes: Most = 100,
    limit: Most = 100,
    seconds: Annotated[float, Query(gt=0, le=_MOST_SECONDS)] = 5.0,
    as_of: AsOf = None,
) -> Response:
    """Return the ways that lead from an entity through relations and memories."""

    def work() -> Any:  # noqa: ANN401
        found = asked.engine.graph.paths(
            start,
            to=to,
            depth=depth,
            types=type or None,
            direction=direction,
            order=order,
            nodes=nodes,
            paths=limit,
            seconds=seconds,
            as_of=as_of,
            namespace=asked.namespace,
        )
        return {"paths": [path_json(path) for path in found.paths], "truncated": found.truncated}

    return await asked.look(work, SEARCH)


@router.get("/communities", response_model=None, responses={200: {"model": GroupsShown}})
async def communities(
    asked: Reading,
    level: Annotated[int, Query(ge=0, le=2, description="0 for the finest, 2 for the coarsest.")] = 0,
    limit: Most = 10,
    seed: Annotated[int, Query(ge=0, lt=2**31)] = 0,
    as_of: AsOf = None,
) -> Response:
    """Return the groups of memories and entities that hang together."""

    def work() -> Any:  # noqa: ANN401
        found = asked.engine.graph.communities(
            level=level, limit=limit, seed=seed, as_of=as_of, namespace=asked.namespace
        )
        return {
            "communities": [community_json(group) for group in found.groups],
            "level": found.level,
            "count": found.count,
            "modularity": found.modularity,
            "converged": found.converged,
        }

    return await asked.look(work, SEARCH)


@router.get("/timeline", response_model=None, responses={200: {"model": MemoriesShown}})
async def timeline(
    asked: Reading,
    entity: Annotated[str | None, Query(max_length=WORD, description="Only what mentions it.")] = None,
    start: Annotated[Time | None, Query(description="From then on.")] = None,
    end: Annotated[Time | None, Query(description="Before then.")] = None,
    limit: Most = 50,
    as_of: AsOf = None,
) -> Response:
    """Return memories in the order in which what they tell happened."""

    def work() -> Any:  # noqa: ANN401
        found = asked.engine.graph.timeline(
            entity, start=start, end=end, limit=limit, as_of=as_of, namespace=asked.namespace
        )
        return memories_json(found)

    return await asked.look(work, SEARCH)


@router.get("/near", response_model=None, responses={200: {"model": NearShown}})
async def near(
    asked: Reading,
    lat: Annotated[float, Query(ge=-90, le=90, allow_inf_nan=False)],
    lon: Annotated[float, Query(ge=-180, le=180, allow_inf_nan=False)],
    radius: Annotated[float | None, Query(ge=0, allow_inf_nan=False, description="In metres.")] = None,
    limit: Most = 10,
    as_of: AsOf = None,
) -> Response:
    """Return the memories that were nearest to a point, and how far each was."""

    def work() -> Any:  # noqa: ANN401
        found = asked.engine.graph.near(lat, lon, radius, limit=limit, as_of=as_of, namespace=asked.namespace)
        return {"memories": [{"metres": each.metres, "memory": memory_json(each.memory)} for each in found]}

    return await asked.look(work, SEARCH)
