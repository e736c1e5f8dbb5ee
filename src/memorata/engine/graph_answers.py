"""What the graph of a namespace answers with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memorata._frozen import frozen
from memorata.model.entity import Entity
from memorata.model.memory import Memory

if TYPE_CHECKING:
    from memorata.graph.summaries import Summary


@frozen
class KnownEntity:
    """An entity, and how much is known about it.

    Attributes
    ----------
    entity
        Its name, type, aliases and description.
    memories
        How many memories mention it, by any of its names.
    relations
        How many relations it is in that hold.
    merged
        The names that were merged into it.
    """

    entity: Entity
    memories: int
    relations: int
    merged: tuple[str, ...] = ()


@frozen
class PathStep:
    """One edge of a path, as it was walked.

    Attributes
    ----------
    type
        The relation's; or ``mentions``, ``next`` or ``supersedes`` where a memory is at an end.
    forward
        Whether it was walked from its source to its target.
    weight
        The edge's.
    entity, memory
        Where it leads: the name of an entity, or the id of a memory.
    """

    type: str
    forward: bool
    weight: float
    entity: str | None
    memory: str | None


@frozen
class FoundPath:
    """A way from one entity to another entity or a memory; `score` is 0.85 to the power of its steps."""

    start: str
    steps: tuple[PathStep, ...]
    score: float

    def __str__(self) -> str:
        said = self.start
        for step in self.steps:
            arrow = f"—{step.type}→" if step.forward else f"←{step.type}—"
            said += f" {arrow} {step.entity if step.entity is not None else step.memory}"
        return said


@frozen
class Paths:
    """What a path search found.

    Attributes
    ----------
    paths
        Shortest first.
    truncated
        The limit that was hit: ``"time"``, ``"paths"``, ``"nodes"`` or ``"depth"``; None if nothing was left
        out.
    """

    paths: tuple[FoundPath, ...]
    truncated: str | None


@frozen
class Group:
    """A community: its memories' ids and its entities' names, the most central first, and a summary."""

    memories: tuple[str, ...]
    entities: tuple[str, ...]
    summary: Summary


@frozen
class Communities:
    """The communities of a namespace at one level.

    Attributes
    ----------
    level
        0 for the finest.
    count
        How many communities of two or more there are; `groups` may hold fewer.
    modularity
        How much closer the communities are knit than chance would have it.
    converged
        Whether the search for them ended by itself.
    groups
        The communities, largest first.
    """

    level: int
    count: int
    modularity: float
    converged: bool
    groups: tuple[Group, ...]


@frozen
class Nearby:
    """A memory, and how far from the place asked about it was, in metres."""

    memory: Memory
    metres: float
