"""What a store keeps beside memories: who is who, what relates to what, and what connects memories.

An entity's names are compared folded (:mod:`memorata.text.folding`). What was merged keeps its own row and a
redirect, as :class:`memorata.text.gazetteer.Redirects` describes; nothing that points to it is rewritten.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from memorata._frozen import frozen
from memorata.model.checks import FloatArray, IntArray
from memorata.model.entity import Entity, Relation
from memorata.model.errors import InvalidArgument
from memorata.store.instants import instant
from memorata.text.folding import folded


@frozen
class EntityRecord:
    """An entity that something was said about, and the name to read instead if it was merged."""

    entity: Entity
    merged_into: str | None = None


@frozen
class Link:
    """What connects a memory to others.

    Attributes
    ----------
    slot
        The memory's.
    entities
        The names it mentions.
    session, position
        Where it was said; an empty session for none.
    supersedes
        The slots of what it took the place of.
    current
        Whether it is neither forgotten nor superseded.
    expires_at
        When it stops being seen.
    asserts
        Whether relations rest on it.
    """

    slot: int
    entities: tuple[str, ...]
    session: str
    position: int | None
    supersedes: tuple[int, ...]
    current: bool
    expires_at: datetime | None
    asserts: bool


@frozen
class GraphNews:
    """What has happened to a namespace since a change.

    Attributes
    ----------
    change, slots
        The last change, and how many memories were ever added.
    changed
        The slots of memories that changed in another way than by being added.
    kinds
        The kinds of all those changes.
    """

    change: int
    slots: int
    changed: tuple[int, ...]
    kinds: frozenset[str]


@frozen(eq=False)
class Points:
    """The memories that have a place, in the order of their slots."""

    slots: IntArray
    lats: FloatArray
    lons: FloatArray


def name_key(argument: str, name: str) -> str:
    """Return what a name is looked up by: folded; a blank one is refused, as the argument it was given for.

    Examples
    --------
    >>> name_key("name", "  Anna  Lund ")
    'anna lund'
    """
    key = folded(name)
    if not key:
        raise InvalidArgument(argument, name, "a name that is not blank")
    return key


def relation_of(row: Sequence[Any]) -> Relation:
    """Return the relation of a row: subject, type, object, weight, memory, and its three times as kept."""
    source, type_, target, weight, memory, *times = row
    valid_from, valid_to, created_at = map(instant, times)
    return Relation(source, type_, target, weight, memory, valid_from, valid_to, created_at)
