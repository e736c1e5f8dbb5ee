"""Entities and relations as JSON objects and back, exactly: lines of an export beside those of memories.

A line that has a `kind`, ``entity`` or ``relation``, and no `content` is one of these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from typing import Any, Final

from memorata.cli.arguments import instant
from memorata.model.entity import Entity, Relation
from memorata.model.errors import InvalidArgument
from memorata.model.nearest import nearest
from memorata.store.naming import EntityRecord

_EXTRA: Final = ("kind", "namespace")
_ENTITY: Final = tuple(each.name for each in fields(Entity))
_RELATION: Final = tuple(each.name for each in fields(Relation))
_TIMES: Final = ("valid_from", "valid_to", "created_at")


def entity_as_json(record: EntityRecord, namespace: str) -> dict[str, Any]:
    """Return a declared entity as plain data.

    Examples
    --------
    >>> entity_as_json(EntityRecord(Entity("Bob"), merged_into="Robert"), "default")["merged_into"]
    'Robert'
    """
    said = {name: getattr(record.entity, name) for name in _ENTITY}
    return {
        "kind": "entity",
        "namespace": namespace,
        **said,
        "aliases": list(record.entity.aliases),
        "merged_into": record.merged_into,
    }


def relation_as_json(relation: Relation, namespace: str) -> dict[str, Any]:
    """Return a relation as plain data.

    Examples
    --------
    >>> relation_as_json(Relation("Anna", "knows", "Ben"), "default")["target"]
    'Ben'
    """
    said = {name: getattr(relation, name) for name in _RELATION}
    times = {name: value.isoformat() for name, value in said.items() if isinstance(value, datetime)}
    return {"kind": "relation", "namespace": namespace, **said, **times}


def entity_from_json(data: Mapping[str, Any]) -> EntityRecord:
    """Return the entity that an object describes, or raise.

    Examples
    --------
    >>> entity_from_json({"kind": "entity", "name": "Anna", "aliases": ["Annie"]}).entity.aliases
    ('Annie',)
    """
    _check_keys(data, (*_EXTRA, *_ENTITY, "merged_into"), "name")
    merged_into = data.get("merged_into")
    if merged_into is not None and not isinstance(merged_into, str):
        raise InvalidArgument("merged_into", merged_into, "a name or null")
    return EntityRecord(Entity(**{name: data[name] for name in _ENTITY if name in data}), merged_into)


def relation_from_json(data: Mapping[str, Any]) -> Relation:
    """Return the relation that an object describes, or raise.

    Examples
    --------
    >>> relation_from_json({"kind": "relation", "source": "Anna", "type": "knows", "target": "Ben"}).weight
    1.0
    """
    _check_keys(data, (*_EXTRA, *_RELATION), "source", "type", "target")
    said = {name: data[name] for name in _RELATION if name in data}
    for name in _TIMES:
        if said.get(name) is not None:
            if not isinstance(said[name], str):
                raise InvalidArgument(name, said[name], "a time in ISO 8601, such as '2026-05-07T18:30:00Z'")
            said[name] = instant(name, said[name])
    return Relation(**said)


def _check_keys(data: Mapping[str, Any], known: tuple[str, ...], *needed: str) -> None:
    for name in data:
        if name not in known:
            raise InvalidArgument("field", name, f"one that an {data['kind']} has{nearest(name, known)}")
    for name in needed:
        if name not in data:
            raise InvalidArgument("field", list(data), f"such that {name} is among them")
