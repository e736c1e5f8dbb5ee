"""The schemas of answers about the graph: entities, relations, paths, hubs, cells, communities, places."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from memorata.engine.graph.communities import FoundPath, PathStep, PlaceCell
from memorata.engine.graph.entities import SpeakerAlias
from memorata.service.answers import MemoryAnswer, RemovedAnswer, fields_of, list_of


class EntityAnswer(BaseModel):
    """An entity, and how many memories and relations it has."""

    name: str
    type: str
    aliases: list[str]
    description: str
    memories: int
    relations: int
    merged: list[str]


EntitiesAnswer = list_of(EntityAnswer, "entities", "The entities, those that most memories mention first.")


@fields_of(SpeakerAlias)
class AliasAnswer(BaseModel):
    """A nickname of a speaker that queries may use; `undone` if it stands for itself."""


AliasesAnswer = list_of(AliasAnswer, "aliases", "The nicknames of speakers, and those that were undone.")


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
    """How many memories were removed, or would be in a dry run."""

    would_remove: int | None = None


class AboutAnswer(BaseModel):
    """Everything about an entity, hidden memories too."""

    entity: str
    memories: list[MemoryAnswer]
    entities: list[dict[str, Any]]
    relations: list[RelationAnswer]
    in_texts: int = Field(description="How many more memories have the word, probably with another meaning.")


@fields_of(PathStep)
class StepAnswer(BaseModel):
    """One edge of a path, to an entity or a memory."""


@fields_of(FoundPath)
class PathAnswer(BaseModel):
    """A path from an entity."""

    steps: list[StepAnswer]


class EntityScoreAnswer(BaseModel):
    """An entity and its score."""

    entity: str
    score: float


class PathsAnswer(BaseModel):
    """Paths, the shortest first, the limit that was reached, if any, and the score of each entity."""

    paths: list[PathAnswer]
    truncated: str | None
    scores: list[EntityScoreAnswer]


class HubAnswer(EntityScoreAnswer):
    """An entity, its PageRank, and how many memories mention it."""

    memories: int


HubsAnswer = list_of(HubAnswer, "hubs", "The entities of the highest PageRank, best first.")


@fields_of(PlaceCell)
class CellAnswer(BaseModel):
    """A cell of the grid, the mean of the places in it, and the ids of the memories there."""


CellsAnswer = list_of(CellAnswer, "cells", "The cells in which memories are, those with the most first.")


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
    """A memory and its distance."""

    metres: float
    memory: MemoryAnswer


NearAnswer = list_of(NearbyAnswer, "memories", "The memories nearest to a point.", "NearAnswer")
