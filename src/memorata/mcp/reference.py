"""The tools of the protocol's reference memory server, by its names and with the shapes of its answers.

For agents that were taught those (https://github.com/modelcontextprotocol/servers, src/memory, read in
November 2026). Their answers are whole, as there, and JSON throughout, so that what was remembered stands in
JSON strings.

The reference server keeps entities with observations, and relations between entities. Here an entity is a
memory that names it and its type, an observation is a memory about it, and a relation is one of our own: so
what comes in by these tools is recalled, explored and exported like everything else. What is deleted is
forgotten: a person can restore it. Observations keep the exact text they came with. Names are case-sensitive,
as they are there; ends of relations are compared folded, as ours are.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Field

from memorata._frozen import frozen
from memorata.mcp.answers import Answer
from memorata.mcp.arguments import Arguments, Name, Text, Word
from memorata.mcp.tools import tool
from memorata.model.errors import InvalidArgument

if TYPE_CHECKING:
    from memorata.engine import Engine
    from memorata.model.memory import Memory

Json = dict[str, Any]

ENTITY: Final = "entity_name"
TYPE: Final = "entity_type"
OBSERVED: Final = "observation_of"
"""The keys under which a memory's metadata say what it is here."""
_MAX_ITEMS: Final = 1_000
_MAX_RECALLED: Final = 10
_WRITE_LOCK: Final = threading.Lock()
"""Held from looking for a name to writing it, so that two calls at once do not both find it missing."""


@frozen
class KnowledgeGraph:
    """The graph in the engine's namespace."""

    engine: Engine

    def create_entities(self, entities: Iterable[tuple[str, str, Sequence[str]]]) -> list[Json]:
        """Create entities with their type and observations; a name that exists is passed over."""
        with _WRITE_LOCK:
            existing = set(self._nodes())
            created: list[Json] = []
            items: list[Json] = []
            for name, type_, observations in entities:
                if name in existing:
                    continue
                existing.add(name)
                once = list(dict.fromkeys(observations))
                created.append(_entity(name, type_, once))
                items.append(_node(name, type_))
                items += [_observation(name, text) for text in once]
            # The same words about another entity are another observation; about one they are left out above.
            self.engine.remember_many(items, duplicates="off")
            for entity in created:
                self.engine.entities.describe(entity["name"], type=entity["entityType"])
        return created

    def create_relations(self, relations: Iterable[tuple[str, str, str]]) -> list[Json]:
        """Create relations (from, to, type) between entities that exist; one that exists is passed over."""
        with _WRITE_LOCK:
            edges = list(dict.fromkeys(relations))
            nodes = self._nodes()
            for source, target, _ in edges:
                for argument, name in (("from", source), ("to", target)):
                    _must_exist(argument, name, nodes)
            existing = {_key(relation) for relation in self._relations(nodes)}
            created = []
            for source, target, type_ in edges:
                relation = _relation(source, target, type_)
                if _key(relation) not in existing:
                    self.engine.entities.relate(source, type_, target)
                    created.append(relation)
        return created

    def add_observations(self, observations: Iterable[tuple[str, Sequence[str]]]) -> list[Json]:
        """Add observations to entities that exist; return those that were new, entity by entity."""
        with _WRITE_LOCK:
            additions = list(observations)
            nodes = self._nodes()
            for name, _ in additions:
                _must_exist("entityName", name, nodes)
            existing = {name: set(self._observations([name])[name]) for name, _ in additions}
            results, items = [], []
            for name, texts in additions:
                new = [text for text in dict.fromkeys(texts) if text not in existing[name]]
                existing[name].update(new)
                items += [_observation(name, text) for text in new]
                results.append({"entityName": name, "addedObservations": new})
            self.engine.remember_many(items, duplicates="off")
        return results

    def delete_entities(self, names: Sequence[str]) -> int:
        """Delete entities, their observations and relations; return how many there were."""
        with _WRITE_LOCK:
            nodes = self._nodes()
            existing = [name for name in dict.fromkeys(names) if name in nodes]
            deleted = {_folded(name) for name in existing}
            for relation in self._relations(nodes):
                if _folded(relation["from"]) in deleted or _folded(relation["to"]) in deleted:
                    self._unrelate(relation)
            about = self._memories({f"metadata.{OBSERVED}": {"in": existing}}) if existing else ()
            self.engine.forget(*(nodes[name].id for name in existing), *(memory.id for memory in about))
        return len(existing)

    def delete_observations(self, observations: Iterable[tuple[str, Sequence[str]]]) -> int:
        """Delete observations by their text; return how many there were."""
        with _WRITE_LOCK:
            unwanted = {(name, text) for name, texts in observations for text in texts}
            names = sorted({name for name, _ in unwanted})
            ids = [
                memory.id
                for memory in self._memories({f"metadata.{OBSERVED}": {"in": names}})
                if (memory.metadata[OBSERVED], memory.content) in unwanted
            ]
            self.engine.forget(*ids)
        return len(ids)

    def delete_relations(self, relations: Iterable[tuple[str, str, str]]) -> int:
        """Delete relations (from, to, type); return how many there were."""
        with _WRITE_LOCK:
            unwanted = {_key(_relation(*edge)) for edge in relations}
            deleted = [relation for relation in self._relations(self._nodes()) if _key(relation) in unwanted]
            for relation in deleted:
                self._unrelate(relation)
        return len(deleted)

    def read(self) -> Json:
        """Return the whole graph."""
        nodes = self._nodes()
        return self._subgraph(nodes, nodes)

    def open(self, names: Sequence[str]) -> Json:
        """Return the named entities that exist, and every relation with one of them at an end."""
        nodes = self._nodes()
        return self._subgraph(nodes, {name for name in names if name in nodes})

    def search(self, query: str) -> Json:
        """Return the entities whose name, type or observations contain the query; or else what it recalls."""
        nodes = self._nodes()
        inside, exists = {"contains": query}, {"exists": True}
        ours: Json = {"or": [{f"metadata.{ENTITY}": exists}, {f"metadata.{OBSERVED}": exists}]}
        named: list[Json] = [{f"metadata.{ENTITY}": inside}, {f"metadata.{TYPE}": inside}]
        memories = list(self._memories({"or": [*named, {f"metadata.{OBSERVED}": exists, "content": inside}]}))
        if not memories:
            memories = [hit.memory for hit in self.engine.recall(query, limit=_MAX_RECALLED, filter=ours)]
        names = {str(memory.metadata.get(ENTITY, memory.metadata.get(OBSERVED))) for memory in memories}
        return self._subgraph(nodes, names & set(nodes))

    def _unrelate(self, relation: Json) -> None:
        self.engine.entities.unrelate(relation["from"], relation["relationType"], relation["to"])

    def _subgraph(self, nodes: Mapping[str, Memory], names: Iterable[str]) -> Json:
        selection = set(names)
        selected = [name for name in nodes if name in selection]
        observations = self._observations(selected)
        ends = {_folded(name) for name in selected}
        return {
            "entities": [
                _entity(name, str(nodes[name].metadata[TYPE]), observations[name]) for name in selected
            ],
            "relations": [
                relation
                for relation in self._relations(nodes)
                if _folded(relation["from"]) in ends or _folded(relation["to"]) in ends
            ],
        }

    def _nodes(self) -> dict[str, Memory]:
        """Return the entities by name, in the order in which they were created."""
        memories = self._memories({f"metadata.{ENTITY}": {"exists": True}})
        return {str(memory.metadata[ENTITY]): memory for memory in memories}

    def _observations(self, names: Sequence[str]) -> dict[str, list[str]]:
        texts: dict[str, list[str]] = {name: [] for name in names}
        for memory in self._memories({f"metadata.{OBSERVED}": {"in": list(names)}}):
            texts[str(memory.metadata[OBSERVED])].append(memory.content)
        return texts

    def _relations(self, nodes: Iterable[str]) -> list[Json]:
        spelled = {_folded(name): name for name in nodes}
        relations = {}
        for edge in self.engine.entities.relations():
            ends = spelled.get(_folded(edge.source)), spelled.get(_folded(edge.target))
            if ends[0] is not None and ends[1] is not None:
                relation = _relation(ends[0], ends[1], edge.type)
                relations[_key(relation)] = relation
        return list(relations.values())

    def _memories(self, filter: Json) -> Iterator[Memory]:
        """Yield the memories that pass a filter, the oldest first."""
        from memorata.service.transfer import listed

        return reversed(list(listed(self.engine, filter)))


def _folded(name: str) -> str:
    # Loaded with the first call of a tool, not with the list of tools.
    from memorata.text.tokens import folded

    return folded(name)


def _entity(name: str, type_: str, observations: Sequence[str]) -> Json:
    return {"name": name, "entityType": type_, "observations": list(observations)}


def _relation(source: str, target: str, type_: str) -> Json:
    return {"from": source, "to": target, "relationType": type_}


def _key(relation: Json) -> tuple[str, str, str]:
    return _folded(relation["from"]), _folded(relation["to"]), relation["relationType"]


def _node(name: str, type_: str) -> Json:
    return {
        "content": f"{name} ({type_})",
        "category": "entity",
        "entities": (name,),
        "metadata": {ENTITY: name, TYPE: type_},
    }


def _observation(name: str, text: str) -> Json:
    return {"content": text, "category": "observation", "entities": (name,), "metadata": {OBSERVED: name}}


def _must_exist(argument: str, name: str, nodes: Mapping[str, Memory]) -> None:
    if name not in nodes:
        raise InvalidArgument(argument, name, "the name of an entity that exists; create_entities makes one")


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


def _answer(data: dict[str, Any], text: object = None) -> Answer:
    return Answer(json.dumps(data if text is None else text, ensure_ascii=False, indent=2), data)


def _counted(count: int, requested: int, kind: str) -> Answer:
    some = f"Deleted {count} of {requested} {kind}; no others exist"
    message = f"Deleted {kind}" if count == requested else some
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
    entities = ((new.name, new.entityType, new.observations) for new in args.entities)
    created = KnowledgeGraph(engine).create_entities(entities)
    return _answer({"entities": created}, created)


@tool(output=_object(relations=_RELATIONS), idempotent=True)
def create_relations(engine: Engine, args: Edges) -> Answer:
    """Create relations between entities that exist, in active voice; one that exists is passed over."""
    created = KnowledgeGraph(engine).create_relations(edge.parts() for edge in args.relations)
    return _answer({"relations": created}, created)


@tool(output=_object(results=_RESULTS), idempotent=True)
def add_observations(engine: Engine, args: Additions) -> Answer:
    """Add observations to entities that exist; a text that is there already is passed over."""
    additions = ((addition.entityName, addition.contents) for addition in args.observations)
    results = KnowledgeGraph(engine).add_observations(additions)
    return _answer({"results": results}, results)


@tool(output=_DONE, destructive=True, idempotent=True)
def delete_entities(engine: Engine, args: EntityNames) -> Answer:
    """Delete entities, with their observations and relations."""
    requested = len(set(args.entityNames))
    return _counted(KnowledgeGraph(engine).delete_entities(args.entityNames), requested, "entities")


@tool(output=_DONE, destructive=True, idempotent=True)
def delete_observations(engine: Engine, args: Deletions) -> Answer:
    """Delete observations from entities, by their exact texts."""
    unwanted = [(deletion.entityName, deletion.observations) for deletion in args.deletions]
    requested = len({(name, text) for name, texts in unwanted for text in texts})
    return _counted(KnowledgeGraph(engine).delete_observations(unwanted), requested, "observations")


@tool(output=_DONE, destructive=True, idempotent=True)
def delete_relations(engine: Engine, args: Edges) -> Answer:
    """Delete relations."""
    edges = {edge.parts() for edge in args.relations}
    return _counted(KnowledgeGraph(engine).delete_relations(edges), len(edges), "relations")


@tool(output=_GRAPH, read_only=True, idempotent=True)
def read_graph(engine: Engine, args: Nothing) -> Answer:
    """Read every entity and relation."""
    return _answer(KnowledgeGraph(engine).read())


@tool(output=_GRAPH, read_only=True, idempotent=True)
def search_nodes(engine: Engine, args: Search) -> Answer:
    """Find entities by what their names, types and observations say, with their relations."""
    return _answer(KnowledgeGraph(engine).search(args.query))


@tool(output=_GRAPH, read_only=True, idempotent=True)
def open_nodes(engine: Engine, args: Names) -> Answer:
    """Read the named entities, with their relations; unknown names are passed over."""
    return _answer(KnowledgeGraph(engine).open(args.names))


REFERENCE: Final = (
    create_entities, create_relations, add_observations, delete_entities, delete_observations,
    delete_relations, read_graph, search_nodes, open_nodes,
)  # fmt: skip
"""In the order in which they are listed."""
