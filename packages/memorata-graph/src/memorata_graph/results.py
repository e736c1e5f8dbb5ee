"""Results of the graph: entities, paths, hubs, communities and places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime

from memorata.extend import frozen
from memorata.extend.graph import Entity
from memorata.extend.model import Memory


@frozen
class KnownEntity:
    """An entity, and how much is known about it.

    - `entity`: its name, type, aliases and description.
    - `memories`: how many memories mention it, by any of its names.
    - `relations`: how many relations it is in that hold.
    - `merged`: the names that were merged into it.
    """

    entity: Entity
    memories: int
    relations: int
    merged: tuple[str, ...] = ()


@frozen
class PathStep:
    """One edge of a path, as it was walked."""

    type: str
    forward: bool
    weight: float
    entity: str | None
    memory: str | None


@frozen
class FoundPath:
    """A way from one entity to another entity or a memory.

    `score` is the decay to the power of its steps; `cost` the sum of 1 / weight of its edges, for a shortest
    way, and None for others.
    """

    start: str
    steps: tuple[PathStep, ...]
    score: float
    cost: float | None = None

    def __str__(self) -> str:
        text = self.start
        for step in self.steps:
            arrow = f"—{step.type}→" if step.forward else f"←{step.type}—"
            text += f" {arrow} {step.entity if step.entity is not None else step.memory}"
        return text


@frozen
class Paths:
    """What a path search found.

    - `paths`: shortest first.
    - `truncated`: the limit that was hit: ``"time"``, ``"paths"``, ``"nodes"`` or ``"depth"``; None if
      nothing was left out.
    - `scores`: for each entity that was reached the decay to the power of its fewest steps, best first.
    """

    paths: tuple[FoundPath, ...]
    truncated: str | None
    scores: Mapping[str, float] = field(default_factory=dict)


@frozen
class Hub:
    """An entity that much leads to: its PageRank, of all that sums to 1, and how many memories mention it."""

    entity: str
    score: float
    memories: int


@frozen
class PlaceCell:
    """A cell of the grid in which memories are.

    - `name`: ``geo_{precision}_{row}_{column}``.
    - `lat`, `lon`: the mean of their places.
    - `memories`: their ids, in the order in which they were added.
    """

    name: str
    lat: float
    lon: float
    memories: tuple[str, ...]


@frozen
class Summary:
    """What a community is about.

    - `key`: the hash of its members.
    - `text`: one or a few sentences for people.
    - `terms`, `entities`: its keywords, and the names in it of the highest PageRank.
    - `since`, `until`: of the times of its memories.
    - `representative`: the id of the memory that is most like the whole; None when there is none.
    """

    key: str
    text: str
    terms: tuple[str, ...]
    entities: tuple[str, ...]
    memory_count: int
    entity_count: int
    since: datetime | None
    until: datetime | None
    representative: str | None


@frozen
class Group:
    """A community: its memories' ids and its entities' names, the most central first, and summaries.

    - `summary`: by statistics, always there.
    - `written`, `written_by`: in the words of a language model, and which; empty where none is configured or
      it did not answer.
    """

    memories: tuple[str, ...]
    entities: tuple[str, ...]
    summary: Summary
    written: str = ""
    written_by: str = ""


@frozen
class Communities:
    """The communities of a namespace at one level.

    - `level`: 0 for the finest.
    - `count`: how many communities of two or more there are; `groups` may hold fewer.
    - `modularity`: how much closer the communities are knit than chance would have it.
    - `converged`: whether the search for them ended by itself.
    - `groups`: the communities, largest first.
    - `method`: ``"propagation"`` or ``"leiden"``.
    - `failure`: why no language model summarised them, though one is configured; empty if all is well.
    """

    level: int
    count: int
    modularity: float
    converged: bool
    groups: tuple[Group, ...]
    method: str = "propagation"
    failure: str = ""


@frozen
class Nearby:
    """A memory, and how far from the place asked about it was, in metres."""

    memory: Memory
    metres: float


@frozen
class NearbyEntity:
    """An entity with a place of its own, and how far from a point that is, in metres."""

    entity: Entity
    metres: float
