"""The graph, time and place over HTTP: paths, communities, hubs, cells, timeline, near."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query

from memorata.http.context import ReadContext, read_route
from memorata.http.errors import RESPONSES
from memorata.http.telemetry import SEARCH
from memorata.service.answers import MemoriesAnswer
from memorata.service.codec import Json, communities_json, memories_json, nearby_json, paths_json, plain
from memorata.service.graph_answers import (
    CellsAnswer,
    CommunitiesAnswer,
    HubsAnswer,
    NearAnswer,
    PathsAnswer,
)
from memorata.service.schemas import MAX_LIST, MAX_RESULTS, MAX_WORD, Time

router = APIRouter(prefix="/v1", tags=["graph, time and place"], responses=RESPONSES)

Limit = Annotated[int, Query(ge=1, le=MAX_RESULTS)]
AsOf = Annotated[Time | None, Query(description="As it was known and believed then.")]
MAX_SECONDS = 20.0


@read_route(router.get, "/paths", PathsAnswer, SEARCH)
def paths(
    context: ReadContext,
    start: Annotated[str, Query(max_length=MAX_WORD, description="The entity to start from.")],
    to: Annotated[str | None, Query(max_length=MAX_WORD, description="Only ways to this entity.")] = None,
    depth: Annotated[int, Query(ge=1, le=10)] = 2,
    type: Annotated[
        list[str] | None, Query(max_length=MAX_LIST, description="A type of relation to follow; repeatable.")
    ] = None,
    direction: Literal["both", "out", "in"] = "both",
    order: Literal["breadth", "depth"] = "breadth",
    decay: Annotated[float, Query(gt=0, le=1, description="What each step leaves of a score.")] = 0.85,
    shortest: Annotated[bool, Query(description="Only the shortest way to `to`, by Dijkstra.")] = False,
    nodes: Limit = 100,
    limit: Limit = 100,
    seconds: Annotated[float, Query(gt=0, le=MAX_SECONDS)] = 5.0,
    as_of: AsOf = None,
) -> Json:
    """Return the ways that lead from an entity through relations and memories."""
    result = context.engine.graph.paths(
        start,
        to=to,
        depth=depth,
        types=type or None,
        direction=direction,
        order=order,
        decay=decay,
        shortest=shortest,
        nodes=nodes,
        paths=limit,
        seconds=seconds,
        as_of=as_of,
        namespace=context.namespace,
    )
    return paths_json(result)


@read_route(router.get, "/communities", CommunitiesAnswer, SEARCH)
def communities(
    context: ReadContext,
    level: Annotated[int, Query(ge=0, le=19, description="0 for the finest.")] = 0,
    limit: Limit = 10,
    seed: Annotated[int, Query(ge=0, lt=2**31)] = 0,
    method: Annotated[
        Literal["propagation", "leiden"], Query(description="leiden needs the extra `communities`.")
    ] = "propagation",
    levels: Annotated[int, Query(ge=1, le=20, description="How many levels propagation makes.")] = 3,
    iterations: Annotated[
        int | None, Query(ge=1, le=1000, description="The most rounds; 100, or 2 of leiden.")
    ] = None,
    resolution: Annotated[float, Query(gt=0, le=100, description="More: smaller communities.")] = 1.0,
    as_of: AsOf = None,
) -> Json:
    """Return the groups of memories and entities that hang together."""
    return communities_json(
        context.engine.graph.communities(
            level=level,
            limit=limit,
            seed=seed,
            method=method,
            levels=levels,
            iterations=iterations,
            resolution=resolution,
            as_of=as_of,
            namespace=context.namespace,
        )
    )


@read_route(router.get, "/hubs", HubsAnswer, SEARCH)
def hubs(context: ReadContext, limit: Limit = 10, as_of: AsOf = None) -> Json:
    """Return the entities of the highest PageRank."""
    hubs = context.engine.graph.hubs(limit=limit, as_of=as_of, namespace=context.namespace)
    return {"hubs": [plain(hub) for hub in hubs]}


@read_route(router.get, "/cells", CellsAnswer, SEARCH)
def cells(
    context: ReadContext,
    precision: Annotated[int, Query(ge=4, le=8, description="4 is 2.5 km, 7 is 30 m.")] = 7,
    limit: Limit = 50,
    as_of: AsOf = None,
) -> Json:
    """Return the grid cells in which memories are, those with the most memories first."""
    cells = context.engine.graph.cells(
        precision=precision, limit=limit, as_of=as_of, namespace=context.namespace
    )
    return {"cells": [plain(cell) for cell in cells]}


@read_route(router.get, "/timeline", MemoriesAnswer, SEARCH)
def timeline(
    context: ReadContext,
    entity: Annotated[str | None, Query(max_length=MAX_WORD, description="Only what mentions it.")] = None,
    start: Annotated[Time | None, Query(description="From then on.")] = None,
    end: Annotated[Time | None, Query(description="Before then.")] = None,
    limit: Limit = 50,
    newest_first: Annotated[bool, Query(description="What happened last first.")] = False,
    as_of: AsOf = None,
) -> Json:
    """Return memories in the order in which what they tell happened."""
    memories = context.engine.graph.timeline(
        entity,
        start=start,
        end=end,
        limit=limit,
        newest_first=newest_first,
        as_of=as_of,
        namespace=context.namespace,
    )
    return memories_json(memories)


@read_route(router.get, "/near", NearAnswer, SEARCH)
def near(
    context: ReadContext,
    lat: Annotated[float, Query(ge=-90, le=90, allow_inf_nan=False)],
    lon: Annotated[float, Query(ge=-180, le=180, allow_inf_nan=False)],
    radius: Annotated[float | None, Query(ge=0, allow_inf_nan=False, description="In metres.")] = None,
    limit: Limit = 10,
    as_of: AsOf = None,
) -> Json:
    """Return the memories that were nearest to a point, and how far each was."""
    memories = context.engine.graph.near(
        lat, lon, radius, limit=limit, as_of=as_of, namespace=context.namespace
    )
    return {"memories": [nearby_json(memory) for memory in memories]}
