"""What answers about the graph hold: entities, relations, paths, hubs, cells, communities, what is near."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from memorata.service.answers import MemoryAnswer, RemovedAnswer


class EntityAnswer(BaseModel):
    """An entity, and how much is known about it."""

    name: str
    type: str
    aliases: list[str]
    description: str
    memories: int
    relations: int
    merged: list[str]


class EntitiesAnswer(BaseModel):
    """Who and what is known, those that most memories mention first."""

    entities: list[EntityAnswer]


class AliasAnswer(BaseModel):
    """A word that queries may say for somebody who speaks; `undone` if it stands for itself."""

    word: str
    name: str
    memories: int
    undone: bool


class AliasesAnswer(BaseModel):
    """The nicknames of who speaks, and those that were undone."""

    aliases: list[AliasAnswer]


class RelationAnswer(BaseModel):
    """A relation."""

    subject: str
    type: str
    object: str
    weight: float
    memory: str | None
    valid_from: datetime | None
    valid_to: datetime | None
    created_at: datetime | None


class RelationsAnswer(BaseModel):
    """Relations that hold, in the order in which they were declared."""

    relations: list[RelationAnswer]
    more: bool = Field(description="Whether there are more than the limit.")


class EntityPurgeAnswer(RemovedAnswer):
    """How many memories were removed, or would be, where that was all that was asked."""

    would_remove: int | None = None


class AboutAnswer(BaseModel):
    """Everything about an entity, hidden memories too."""

    entity: str
    memories: list[MemoryAnswer]
    entities: list[dict[str, Any]]
    relations: list[RelationAnswer]
    in_texts: int = Field(description="How many more have the word, and probably mean something else.")


class StepAnswer(BaseModel):
    """One edge of a path, as it was walked, to an entity or a memory."""

    type: str
    forward: bool
    weight: float
    entity: str | None
    memory: str | None


class PathAnswer(BaseModel):
    """A way from an entity."""

    start: str
    score: float
    cost: float | None
    steps: list[StepAnswer]


class EntityScoreAnswer(BaseModel):
    """An entity and its score."""

    entity: str
    score: float


class PathsAnswer(BaseModel):
    """Ways, the shortest first, the limit that was hit, if one was, and the score of each entity reached."""

    paths: list[PathAnswer]
    truncated: str | None
    scores: list[EntityScoreAnswer]


class HubAnswer(EntityScoreAnswer):
    """An entity, its PageRank, and how many memories mention it."""

    memories: int


class HubsAnswer(BaseModel):
    """The entities that most of the graph leads to, the first first."""

    hubs: list[HubAnswer]


class CellAnswer(BaseModel):
    """A cell of the grid, the mean of the places in it, and the ids of the memories there."""

    name: str
    lat: float
    lon: float
    memories: list[str]


class CellsAnswer(BaseModel):
    """The cells in which memories are, those with the most first."""

    cells: list[CellAnswer]


class CommunityAnswer(BaseModel):
    """A community."""

    summary: str
    terms: list[str]
    entities: list[str]
    memories: list[str]
    since: datetime | None
    until: datetime | None
    representative: str | None
    written: str | None
    written_by: str | None


class CommunitiesAnswer(BaseModel):
    """The communities of a namespace, the largest first."""

    communities: list[CommunityAnswer]
    level: int
    count: int
    modularity: float
    converged: bool
    method: str
    failure: str


class NearbyAnswer(BaseModel):
    """A memory, and how far away it was."""

    metres: float
    memory: MemoryAnswer


class NearAnswer(BaseModel):
    """The memories nearest to a point."""

    memories: list[NearbyAnswer]
