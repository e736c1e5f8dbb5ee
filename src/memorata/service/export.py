"""The rows of an export, written and read back exactly: memories, then entities, then relations.

A row of a memory is its JSON form, with the time since which it is hidden, which is not a field of the
memory. A row that has a `kind`, ``entity`` or ``relation``, and no `content` declares one of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from memorata.model.checks import nearest
from memorata.model.entity import Entity, Relation
from memorata.model.errors import InvalidArgument
from memorata.service.codec import Json, memory_arguments, memory_json, plain, time_from_json, time_json
from memorata.service.formats.record import is_declaration
from memorata.service.record_writer import ImportedDeclaration, ImportedMemory
from memorata.store.entities import EntityRecord
from memorata.store.entries import Hidden

if TYPE_CHECKING:
    from memorata.engine import Engine
    from memorata.engine.graph.entities import About

_SINCE: Final = ("forgotten_at", "superseded_at")
_HIDDEN: Final = (*_SINCE, "end_given", "repeat")
_ROW_FIELDS: Final = ("kind", "namespace")
_ENTITY: Final = tuple(field.name for field in fields(Entity))
_RELATION: Final = tuple(field.name for field in fields(Relation))
_RELATION_TIMES: Final = ("valid_from", "valid_to", "created_at")


def export_rows(
    engine: Engine, namespace: str | None, damaged: Callable[[Exception], None] | None = None
) -> Iterator[Json]:
    """Yield everything in a namespace, or in all, hidden memories too; `damaged` gets what is unreadable."""
    store = engine.store
    namespaces = sorted(store.namespaces()) if namespace is None else [namespace]
    hidden = {(path, entry.memory_id): entry for path in namespaces for entry in store.hidden(path)}
    for memory in store.export(namespace, damaged):
        yield memory_json(memory) | hidden_json(hidden.get((memory.namespace, memory.id)))
    for path in namespaces:
        yield from (entity_row(record, path) for record in store.entities.list(path))
        yield from (relation_row(relation, path) for relation in store.relations.list(path))


def about_rows(about: About, namespace: str) -> Iterator[Json]:
    """Yield everything about an entity, as the rows of an export."""
    hidden = {entry.memory_id: entry for entry in about.hidden}
    for memory in about.memories:
        yield memory_json(memory) | hidden_json(hidden.get(memory.id))
    yield from (entity_row(record, namespace) for record in about.entities)
    yield from (relation_row(relation, namespace) for relation in about.relations)


def hidden_json(hidden: Hidden | None) -> Json:
    """Return since when a memory is forgotten or superseded, and how, or nulls."""
    since = {name: None if hidden is None else time_json(getattr(hidden, name)) for name in _SINCE}
    return since | {name: getattr(hidden, name, None) for name in ("end_given", "repeat")}


def entity_row(record: EntityRecord, namespace: str) -> Json:
    """Return the row of a declared entity."""
    extra = {"kind": "entity", "namespace": namespace}
    return {**extra, **plain(record.entity), "merged_into": record.merged_into}


def relation_row(relation: Relation, namespace: str) -> Json:
    """Return the row of a relation."""
    return {"kind": "relation", "namespace": namespace, **plain(relation)}


def read_row(row: Mapping[str, Any]) -> ImportedMemory | ImportedDeclaration:
    """Return the memory or declaration of a row, or raise."""
    if is_declaration(row):
        read = read_entity if row["kind"] == "entity" else read_relation
        return ImportedDeclaration(read(row), row.get("namespace") or "")
    arguments = memory_arguments({name: value for name, value in row.items() if name not in _HIDDEN})
    return ImportedMemory(arguments, **_read_hidden(row))


def read_entity(row: Mapping[str, Any]) -> EntityRecord:
    """Return the entity that a row describes, or raise."""
    _check_keys(row, (*_ROW_FIELDS, *_ENTITY, "merged_into"), "name")
    merged_into = row.get("merged_into")
    if merged_into is not None and not isinstance(merged_into, str):
        raise InvalidArgument("merged_into", merged_into, "a name or null")
    return EntityRecord(Entity(**{name: row[name] for name in _ENTITY if name in row}), merged_into)


def read_relation(row: Mapping[str, Any]) -> Relation:
    """Return the relation that a row describes, or raise."""
    _check_keys(row, (*_ROW_FIELDS, *_RELATION), "source", "type", "target")
    arguments = {name: row[name] for name in _RELATION if name in row}
    for name in _RELATION_TIMES:
        if arguments.get(name) is not None:
            arguments[name] = time_from_json(name, arguments[name])
    return Relation(**arguments)


def _read_hidden(row: Mapping[str, Any]) -> dict[str, Any]:
    end_given = row.get("end_given")
    if end_given is not None and not isinstance(end_given, bool):
        raise InvalidArgument("end_given", end_given, "true, false or null")
    since: dict[str, datetime | None] = {
        name: None if row.get(name) is None else time_from_json(name, row[name]) for name in _SINCE
    }
    return {**since, "end_given": end_given, "repeat": row.get("repeat")}


def _check_keys(row: Mapping[str, Any], names: tuple[str, ...], *needed: str) -> None:
    for name in row:
        if name not in names:
            raise InvalidArgument("field", name, f"one that an {row['kind']} has{nearest(name, names)}")
    for name in needed:
        if name not in row:
            raise InvalidArgument("field", list(row), f"such that {name} is among them")
