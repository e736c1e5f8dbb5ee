"""The tools of the protocol's reference memory server, by its names and with the shapes of its answers.

For agents that were taught those (https://github.com/modelcontextprotocol/servers, src/memory, read in
November 2026); :mod:`memorata.mcp.reference_graph` says how they map onto this store. Their answers are
whole, as there, and JSON throughout, so that what was remembered stands in JSON strings.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Field

from memorata.mcp.answers import Answer
from memorata.mcp.arguments import Arguments, Name, Text, Word
from memorata.mcp.tools import Tool

if TYPE_CHECKING:
    from memorata.engine import Engine
    from memorata.mcp.reference_graph import KnowledgeGraph

_MOST: Final = 1_000


class NewEntity(Arguments):
    """An entity to create."""

    name: Name = Field(description="The name of the entity.")
    entityType: Word = Field(description="What kind of thing it is.")  # noqa: N815 - the reference's name
    observations: list[Text] = Field(max_length=_MOST, description="What is known about it, one fact each.")


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
    contents: list[Text] = Field(max_length=_MOST, description="What to add, one fact each.")


class Deletion(Arguments):
    """Observations to delete from an entity."""

    entityName: Name = Field(description="The entity.")  # noqa: N815
    observations: list[Text] = Field(max_length=_MOST, description="Their exact texts.")


class Entities(Arguments):
    """Entities to create."""

    entities: list[NewEntity] = Field(max_length=_MOST)


class Edges(Arguments):
    """Relations to create or delete."""

    relations: list[Edge] = Field(max_length=_MOST)


class Additions(Arguments):
    """Observations to add."""

    observations: list[Addition] = Field(max_length=_MOST)


class Deletions(Arguments):
    """Observations to delete."""

    deletions: list[Deletion] = Field(max_length=_MOST)


class EntityNames(Arguments):
    """Entities to delete."""

    entityNames: list[Name] = Field(max_length=_MOST)  # noqa: N815


class Nothing(Arguments):
    """No arguments."""


class Search(Arguments):
    """What to look for."""

    query: Annotated[str, Field(max_length=2_048)] = Field(
        description="Looked for in names, types and observations, by its letters and by its meaning."
    )


class Names(Arguments):
    """Entities to open."""

    names: list[Name] = Field(max_length=_MOST)


def _graph(engine: Engine) -> KnowledgeGraph:
    # Loaded when a tool is called: it needs the engine's modules.
    from memorata.mcp.reference_graph import KnowledgeGraph

    return KnowledgeGraph(engine)


def _told(data: dict[str, Any], text: object = None) -> Answer:
    return Answer(json.dumps(data if text is None else text, ensure_ascii=False, indent=2), data)


def _counted(count: int, wanted: int, what: str) -> Answer:
    message = f"Deleted {what}" if count == wanted else f"Deleted {count} of {wanted} {what}; no others exist"
    return Answer(message, {"success": True, "message": message})


def _create_entities(engine: Engine, given: Entities) -> Answer:
    made = _graph(engine).create_entities((e.name, e.entityType, e.observations) for e in given.entities)
    return _told({"entities": made}, made)


def _create_relations(engine: Engine, given: Edges) -> Answer:
    made = _graph(engine).create_relations(edge.parts() for edge in given.relations)
    return _told({"relations": made}, made)


def _add_observations(engine: Engine, given: Additions) -> Answer:
    results = _graph(engine).add_observations((each.entityName, each.contents) for each in given.observations)
    return _told({"results": results}, results)


def _delete_entities(engine: Engine, given: EntityNames) -> Answer:
    wanted = len(set(given.entityNames))
    return _counted(_graph(engine).delete_entities(given.entityNames), wanted, "entities")


def _delete_observations(engine: Engine, given: Deletions) -> Answer:
    wanted = len({(each.entityName, text) for each in given.deletions for text in each.observations})
    deleted = _graph(engine).delete_observations(
        (each.entityName, each.observations) for each in given.deletions
    )
    return _counted(deleted, wanted, "observations")


def _delete_relations(engine: Engine, given: Edges) -> Answer:
    edges = {edge.parts() for edge in given.relations}
    return _counted(_graph(engine).delete_relations(edges), len(edges), "relations")


def _read_graph(engine: Engine, given: Nothing) -> Answer:
    return _told(_graph(engine).read())


def _search_nodes(engine: Engine, given: Search) -> Answer:
    return _told(_graph(engine).search(given.query))


def _open_nodes(engine: Engine, given: Names) -> Answer:
    return _told(_graph(engine).open(given.names))


def _object(**properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


_STRING: Final = {"type": "string"}
_ENTITIES: Final = _list(_object(name=_STRING, entityType=_STRING, observations=_list(_STRING)))
_RELATIONS: Final = _list(_object(**{"from": _STRING, "to": _STRING, "relationType": _STRING}))
_GRAPH: Final = _object(entities=_ENTITIES, relations=_RELATIONS)
_DONE: Final = _object(success={"type": "boolean"}, message=_STRING)
_RESULTS: Final = _list(_object(entityName=_STRING, addedObservations=_list(_STRING)))


def _tool(
    name: str,
    description: str,
    arguments: type[Arguments],
    run: Callable[[Engine, Any], Answer],
    output: dict[str, Any],
    **hints: bool,
) -> Tool:
    title = name.replace("_", " ").capitalize()
    return Tool(name, title, description, arguments, run, output=output, **hints)


REFERENCE: Final = (
    _tool(
        "create_entities",
        "Create entities with their observations; a name that exists is passed over.",
        Entities,
        _create_entities,
        _object(entities=_ENTITIES),
        idempotent=True,
    ),
    _tool(
        "create_relations",
        "Create relations between entities that exist, in active voice; one that exists is passed over.",
        Edges,
        _create_relations,
        _object(relations=_RELATIONS),
        idempotent=True,
    ),
    _tool(
        "add_observations",
        "Add observations to entities that exist; a text that is there already is passed over.",
        Additions,
        _add_observations,
        _object(results=_RESULTS),
        idempotent=True,
    ),
    _tool(
        "delete_entities",
        "Delete entities, with their observations and relations.",
        EntityNames,
        _delete_entities,
        _DONE,
        destructive=True,
        idempotent=True,
    ),
    _tool(
        "delete_observations",
        "Delete observations from entities, by their exact texts.",
        Deletions,
        _delete_observations,
        _DONE,
        destructive=True,
        idempotent=True,
    ),
    _tool(
        "delete_relations",
        "Delete relations.",
        Edges,
        _delete_relations,
        _DONE,
        destructive=True,
        idempotent=True,
    ),
    _tool(
        "read_graph",
        "Read every entity and relation.",
        Nothing,
        _read_graph,
        _GRAPH,
        read_only=True,
        idempotent=True,
    ),
    _tool(
        "search_nodes",
        "Find entities by what their names, types and observations say, with their relations.",
        Search,
        _search_nodes,
        _GRAPH,
        read_only=True,
        idempotent=True,
    ),
    _tool(
        "open_nodes",
        "Read the named entities, with their relations; names that nobody has are passed over.",
        Names,
        _open_nodes,
        _GRAPH,
        read_only=True,
        idempotent=True,
    ),
)
"""In the order in which they are listed."""
