"""The one JSON form of what the interfaces show: memories, hits, entities, relations, recipes, runs.

A memory has a key for every field of :class:`~memorata.model.memory.Memory`, by its own name, and comes back
from it exactly. Times are ISO 8601 in UTC. The rows of an export are in :mod:`memorata.service.transfer`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from memorata.engine import PARAMETERS
from memorata.model import checks
from memorata.model.checks import nearest
from memorata.model.entity import Place
from memorata.model.errors import InvalidArgument
from memorata.model.memory import IMPORT, Memory, Source
from memorata.model.query import Query, When

if TYPE_CHECKING:
    from memorata.engine import RecallResult, Recipe
    from memorata.engine.briefing import Briefing
    from memorata.engine.consolidation import Proposal
    from memorata.engine.duplicate_search import DuplicateGroup
    from memorata.engine.saved_recipes import SavedRecipe
    from memorata.model.entity import Relation
    from memorata.model.hit import Hit
    from memorata.store.access import ApiKey
    from memorata.store.logged_recall import LoggedRecall

Json = dict[str, Any]

FIELDS: Final = tuple(field.name for field in fields(Memory))
_TIMES: Final = (
    "created_at", "valid_from", "valid_to", "expires_at", "supported_at", "last_accessed_at",
)  # fmt: skip


# --- memories and hits --------------------------------------------------------------------------------


def memory_json(memory: Memory) -> Json:
    """Return a memory as JSON."""
    # Written out: a loop over the fields with asdict takes five times as long, and a recall shows ten.
    source, place = memory.source, memory.place
    return {
        "id": memory.id,
        "content": memory.content,
        "created_at": memory.created_at.isoformat(),
        "namespace": memory.namespace,
        "category": memory.category,
        "tier": memory.tier.value,
        "confidence": memory.confidence,
        "importance": memory.importance,
        "pinned": memory.pinned,
        "untrusted": memory.untrusted,
        "tags": list(memory.tags),
        "metadata": dict(memory.metadata),
        "source": {
            "speaker": source.speaker,
            "session": source.session,
            "position": source.position,
            "link": source.link,
            "via": source.via,
            "role": source.role,
        },
        "entities": list(memory.entities),
        "place": None if place is None else {"lat": place.lat, "lon": place.lon, "name": place.name},
        "valid_from": time_json(memory.valid_from),
        "valid_to": time_json(memory.valid_to),
        "expires_at": time_json(memory.expires_at),
        "supersedes": list(memory.supersedes),
        "superseded_by": memory.superseded_by,
        "mentions": memory.mentions,
        "supported_at": time_json(memory.supported_at),
        "access_count": memory.access_count,
        "last_accessed_at": time_json(memory.last_accessed_at),
        "version": memory.version,
        "fingerprint": memory.fingerprint,
        "embedder": memory.embedder,
    }


def memories_json(memories: Sequence[Memory]) -> Json:
    """Return memories as JSON."""
    return {"memories": [memory_json(memory) for memory in memories]}


def memory_arguments(data: Mapping[str, Any]) -> Json:
    """Return the arguments of :class:`Memory` that a JSON object holds.

    - raises `InvalidArgument`: a key that no memory has, or a time, source or place that cannot be read.
      Everything else is checked when the memory is made.
    """
    for name in data:
        if name not in FIELDS:
            raise InvalidArgument("field", name, f"one that a memory has{nearest(name, FIELDS)}")
    arguments = dict(data)
    for name in _TIMES:
        if arguments.get(name) is not None:
            arguments[name] = time_from_json(name, arguments[name])
    for name, kind in (("source", Source), ("place", Place)):
        if isinstance(arguments.get(name), Mapping):
            defaults = {"via": IMPORT} if kind is Source else {}
            arguments[name] = _validated(kind, name, defaults | dict(arguments[name]))
    return arguments


def hit_json(hit: Hit, *, explain: bool = False) -> Json:
    """Return a hit as JSON, with the tree of its score if `explain`."""
    data: Json = {"id": hit.memory.id, "score": hit.score, "confidence": hit.confidence}
    data["refused"] = hit.refused
    data["memory"] = memory_json(hit.memory)
    return data | {"reason": hit.reason, "explanation": hit.explanation.as_dict()} if explain else data


def recall_json(result: RecallResult, *, explain: bool = False) -> Json:
    """Return the result of a recall as JSON."""
    data = result.without_memories()
    data["hits"] = [hit_json(hit, explain=explain) for hit in result.hits]
    data["refused"] = [hit_json(hit, explain=explain) for hit in result.refused]
    return data


def briefing_json(briefing: Briefing) -> Json:
    """Return a briefing as plain data."""
    return {
        "items": [{"section": item.section, "memory": memory_json(item.memory)} for item in briefing.items],
        **picked(briefing, "text", "tokens", "omitted"),
    }


def logged_recall_json(logged: LoggedRecall) -> Json:
    """Return a logged recall as JSON: the query, and the ids of the hits shown, best first."""
    return {
        "recall_id": logged.id,
        "at": logged.at.isoformat(),
        "query": logged.query,
        "recipe": str(logged.recipe.get("name", "")),
        "embedder": logged.embedder,
        "candidates": len(logged.ids),
        "shown": [logged.ids[position] for position in logged.shown],
        "milliseconds": dict(logged.milliseconds),
    }


# --- relations, repeats and summaries -----------------------------------------------------------------


def relation_json(relation: Relation) -> Json:
    """Return a relation as JSON."""
    return {
        "subject": relation.source,
        "type": relation.type,
        "object": relation.target,
        "weight": relation.weight,
        "memory": relation.asserted_by,
        "valid_from": time_json(relation.valid_from),
        "valid_to": time_json(relation.valid_to),
        "created_at": time_json(relation.created_at),
    }


def duplicates_json(group: DuplicateGroup) -> Json:
    """Return a group of duplicates as JSON, its memories by their ids."""
    return picked(group, "keep", "repeats", "kind", "reasons")


def summary_json(proposal: Proposal) -> Json:
    """Return a proposed summary as JSON, with the ids of the memories it was made from."""
    summary = proposal.summary
    return {"id": summary.id, "content": summary.content, "sources": list(proposal.sources)}


# --- recipes, keys -----------------------------------------------------------------------


def recipe_json(recipe: Recipe) -> Json:
    """Return a recipe as JSON, with the values and ranges of its parameters."""
    parameters = [
        {
            "name": parameter.name,
            "value": getattr(recipe, parameter.name),
            "type": parameter.type.__name__,
            **picked(parameter, "low", "high", "choices", "doc", "group"),
        }
        for parameter in PARAMETERS
    ]
    return {"name": recipe.name, "doc": recipe.doc, "parameters": parameters}


def saved_recipe_json(saved: SavedRecipe) -> Json:
    """Return a saved recipe as JSON, in its latest version, with its evidence."""
    about = picked(saved, "evidence", "saved_at", "versions", "in_use")
    return {**recipe_json(saved.recipe), **about}


def key_json(key: ApiKey) -> Json:
    """Return an API key as JSON, without its digest."""
    return picked(key, *(field.name for field in fields(key) if field.name != "digest"))


# --- values -------------------------------------------------------------------------------------------


def plain(value: object) -> Any:  # noqa: ANN401 - whatever JSON can hold
    """Return any result as JSON: dataclasses as objects, a memory as its id, NaN and infinity as null."""
    if isinstance(value, Memory):
        return value.id
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Set):
        return sorted(plain(item) for item in value)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    raise TypeError(f"a {type(value).__name__} has no JSON form")


def picked(value: object, *names: str) -> Json:
    """Return some fields of an object as JSON, by their own names."""
    return {name: plain(getattr(value, name)) for name in names}


def time_json(moment: datetime | None) -> str | None:
    """Return a time in ISO 8601."""
    return None if moment is None else moment.isoformat()


def time_from_json(name: str, value: object) -> datetime:
    """Return a time given in ISO 8601; a day alone is its midnight in UTC."""
    if not isinstance(value, str):
        raise InvalidArgument(name, value, "a time in ISO 8601, such as '2026-05-07T18:30:00Z'")
    return checks.zoned(name, value)


def _validated(kind: type[Source] | type[Place], name: str, values: Mapping[str, Any]) -> Source | Place:
    try:
        return kind(**values)
    except TypeError as error:
        keys = ", ".join(field.name for field in fields(kind))
        raise InvalidArgument(name, dict(values), f"an object with the keys {keys}") from error


_WHEN: Final = ("now", "as_of", "true_at", "period", "since", "until", "fresh")
_QUERY: Final = ("variants", "vector", "near", "sessions")


def recall_arguments(query: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of the engine's `recall` from the flat fields of a request.

    `parameters` are changes of the `recipe`; a field that is None or absent has its default.

    >>> arguments = recall_arguments("tea?", {"limit": 3, "as_of": "2026-05-07", "parameters": {"k1": 1.0}})
    >>> arguments["query"].text, arguments["when"].as_of.year, arguments["limit"], arguments["recipe"]
    ('tea?', 2026, 3, {'k1': 1.0})
    """
    given = {name: value for name, value in fields.items() if value is not None}
    parameters, recipe = given.pop("parameters", None), given.pop("recipe", None)
    when = {name: given.pop(name) for name in _WHEN if name in given}
    beyond = {name: given.pop(name) for name in _QUERY if name in given}
    if parameters:
        recipe = dict(parameters) | ({} if recipe is None else {"base": recipe})
    return given | {"query": Query(query, **beyond), "when": When(**when), "recipe": recipe}
