"""The tools of the protocol's reference memory server, by its names and with the shapes of its answers.

For agents that were taught those (https://github.com/modelcontextprotocol/servers, src/memory, read in
November 2026); :mod:`memorata.mcp.reference_graph` says how they map onto this store. Their answers are
whole, as there, and JSON throughout, so that what was remembered stands in JSON strings.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Field

from memorata.mcp.answers import Answer
from memorata.mcp.arguments import Arguments, Name, Text, Word
from memorata.mcp.tools import tool

if TYPE_CHECKING:
    from memorata.engine import Engine
    from memorata.mcp.reference_graph import KnowledgeGraph

_MAX_ITEMS: Final = 1_000


class NewEntity(Arguments):
    """An entity to create."""

    name: Name = Field(description="The name of the entity.")
    entityType: Word = Field(description="What kind of thing it is.")  # noqa: N815 - the reference's name
    observations: list[Text] = Field(
        max_length=_MAX_ITEMS, description="What is known about it, one fact each."
    )


class Edge(Arguments):
    """A relation."""

    from_: Name = Field(alias="from", description="The entity that has the relation.")
    to: Name = Field(description="The entity it leads to.")
    relationType: Word = Field(description="What it is, in active voice.")  # noqa: N815

    def parts(self) -> tuple[str, str, str]:
        """Return from, to and type."""
        return self.from_, self.to, self.relationType


class Addition(Arguments):
    """Observations to add to an entity."""

    entityName: Name = Field(description="The entity.")  # noqa: N815
    contents: list[Text] = Field(max_length=_MAX_ITEMS, description="What to add, one fact each.")


class Deletion(Arguments):
    """Observations to delete from an entity."""

    entityName: Name = Field(description="The entity.")  # noqa: N815
    observations: list[Text] = Field(max_length=_MAX_ITEMS, description="Their exact texts.")


class Entities(Arguments):
    """Entities to create."""

    entities: list[NewEntity] = Field(max_length=_MAX_ITEMS)


class Edges(Arguments):
    """Relations to create or delete."""

    relations: list[Edge] = Field(max_length=_MAX_ITEMS)


class Additions(Arguments):
    """Observations to add."""

    observations: list[Addition] = Field(max_length=_MAX_ITEMS)


class Deletions(Arguments):
    """Observations to delete."""

    deletions: list[Deletion] = Field(max_length=_MAX_ITEMS)


class EntityNames(Arguments):
    """Entities to delete."""

    entityNames: list[Name] = Field(max_length=_MAX_ITEMS)  # noqa: N815


class Nothing(Arguments):
    """No arguments."""


class Search(Arguments):
    """What to look for."""

    query: Annotated[str, Field(max_length=2_048)] = Field(
        description="Looked for in names, types and observations, by its letters and by its meaning."
    )


class Names(Arguments):
    """Entities to open."""

    names: list[Name] = Field(max_length=_MAX_ITEMS)


def _graph(engine: Engine) -> KnowledgeGraph:
    # Loaded when a tool is called: it needs the engine's modules.
    from memorata.mcp.reference_graph import KnowledgeGraph

    return KnowledgeGraph(engine)


def _answer(data: dict[str, Any], text: object = None) -> Answer:
    return Answer(json.dumps(data if text is None else text, ensure_ascii=False, indent=2), data)


def _counted(count: int, requested: int, kind: str) -> Answer:
    message = (
        f"Deleted {kind}" if count == requested else f"Deleted {count} of {requested} {kind}; no others exist"
    )
    return Answer(message, {"success": True, "message": message})


def _object(**properties: dict[str, Any]) -> dict[str, Any]:
    required = {"required": list(properties), "additionalProperties": False}
    return {"type": "object", "properties": properties, **required}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


_STRING: Final = {"type": "string"}
_ENTITIES: Final = _list(_object(name=_STRING, entityType=_STRING, observations=_list(_STRING)))
_RELATIONS: Final = _list(_object(**{"from": _STRING, "to": _STRING, "relationType": _STRING}))
_GRAPH: Final = _object(entities=_ENTITIES, relations=_RELATIONS)
_DONE: Final = _object(success={"type": "boolean"}, message=_STRING)
_RESULTS: Final = _list(_object(entityName=_STRING, addedObservations=_list(_STRING)))


@tool(output=_object(entities=_ENTITIES), idempotent=True)
def create_entities(engine: Engine, args: Entities) -> Answer:
    """Create entities with their observations; a name that exists is passed over."""
    created = _graph(engine).create_entities((e.name, e.entityType, e.observations) for e in args.entities)
    return _answer({"entities": created}, created)


@tool(output=_object(relations=_RELATIONS), idempotent=True)
def create_relations(engine: Engine, args: Edges) -> Answer:
    """Create relations between entities that exist, in active voice; one that exists is passed over."""
    created = _graph(engine).create_relations(edge.parts() for edge in args.relations)
    return _answer({"relations": created}, created)


@tool(output=_object(results=_RESULTS), idempotent=True)
def add_observations(engine: Engine, args: Additions) -> Answer:
    """Add observations to entities that exist; a text that is there already is passed over."""
    results = _graph(engine).add_observations(
        (addition.entityName, addition.contents) for addition in args.observations
    )
    return _answer({"results": results}, results)


@tool(output=_DONE, destructive=True, idempotent=True)
def delete_entities(engine: Engine, args: EntityNames) -> Answer:
    """Delete entities, with their observations and relations."""
    requested = len(set(args.entityNames))
    return _counted(_graph(engine).delete_entities(args.entityNames), requested, "entities")


@tool(output=_DONE, destructive=True, idempotent=True)
def delete_observations(engine: Engine, args: Deletions) -> Answer:
    """Delete observations from entities, by their exact texts."""
    requested = len(
        {(deletion.entityName, text) for deletion in args.deletions for text in deletion.observations}
    )
    deleted = _graph(engine).delete_observations(
        (deletion.entityName, deletion.observations) for deletion in args.deletions
    )
    return _counted(deleted, requested, "observations")


@tool(output=_DONE, destructive=True, idempotent=True)
def delete_relations(engine: Engine, args: Edges) -> Answer:
    """Delete relations."""
    edges = {edge.parts() for edge in args.relations}
    return _counted(_graph(engine).delete_relations(edges), len(edges), "relations")


@tool(output=_GRAPH, read_only=True, idempotent=True)
def read_graph(engine: Engine, args: Nothing) -> Answer:
    """Read every entity and relation."""
    return _answer(_graph(engine).read())


@tool(output=_GRAPH, read_only=True, idempotent=True)
def search_nodes(engine: Engine, args: Search) -> Answer:
    """Find entities by what their names, types and observations say, with their relations."""
    return _answer(_graph(engine).search(args.query))


@tool(output=_GRAPH, read_only=True, idempotent=True)
def open_nodes(engine: Engine, args: Names) -> Answer:
    """Read the named entities, with their relations; unknown names are passed over."""
    return _answer(_graph(engine).open(args.names))


REFERENCE: Final = (
    create_entities, create_relations, add_observations, delete_entities, delete_observations,
    delete_relations, read_graph, search_nodes, open_nodes,
)  # fmt: skip
"""In the order in which they are listed."""
