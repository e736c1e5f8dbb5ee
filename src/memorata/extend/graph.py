"""Entities, paths, groups and places as the graph returns them."""

from memorata.engine.graph.communities import (
    LEVELS,
    METHODS,
    FoundPath,
    Group,
    KnownEntity,
    Nearby,
    Paths,
    PathStep,
    PlaceCell,
)
from memorata.engine.graph.entities import About, SpeakerAlias
from memorata.engine.graph.namespace_graph import MENTIONS, NEXT, SUPERSEDES

__all__ = [
    "LEVELS",
    "MENTIONS",
    "METHODS",
    "NEXT",
    "SUPERSEDES",
    "About",
    "FoundPath",
    "Group",
    "KnownEntity",
    "Nearby",
    "PathStep",
    "Paths",
    "PlaceCell",
    "SpeakerAlias",
]
