"""The JSON forms of what the graph returns, the same on every interface."""

from __future__ import annotations

from collections.abc import Iterator

from memorata.extend.json import Json, memories_json, memory_json, picked, plain, relation_json, time_json
from memorata.extend.transfer import entity_row, hidden_json, relation_row
from memorata_graph.entities import About
from memorata_graph.results import Communities, KnownEntity, Nearby, NearbyEntity, Paths


def entity_json(record: KnownEntity) -> Json:
    """Return an entity as JSON, with how many memories and relations it has."""
    return {**plain(record.entity), **picked(record, "memories", "relations", "merged")}


def paths_json(paths: Paths) -> Json:
    """Return the result of a path search as JSON."""
    scores = [{"entity": name, "score": score} for name, score in paths.scores.items()]
    return {"paths": plain(paths.paths), "truncated": paths.truncated, "scores": scores}


def communities_json(communities: Communities) -> Json:
    """Return the communities of a namespace as JSON."""
    groups = [
        {
            "summary": group.summary.text,
            "terms": list(group.summary.terms),
            "entities": list(group.entities),
            "memories": list(group.memories),
            "since": time_json(group.summary.since),
            "until": time_json(group.summary.until),
            "representative": group.summary.representative,
            "written": group.written or None,
            "written_by": group.written_by or None,
        }
        for group in communities.groups
    ]
    about = picked(communities, "level", "count", "modularity", "converged", "method", "failure")
    return {"communities": groups, **about}


def nearby_json(nearby: Nearby) -> Json:
    """Return a memory near a point as JSON, with its distance."""
    return {"metres": nearby.metres, "memory": memory_json(nearby.memory)}


def nearby_entity_json(nearby: NearbyEntity) -> Json:
    """Return an entity near a point as JSON, with its distance."""
    return {"metres": nearby.metres, "entity": plain(nearby.entity)}


def about_json(about: About) -> Json:
    """Return everything about an entity as JSON."""
    return {
        "entity": about.subject,
        **memories_json(about.memories),
        "in_texts": about.in_texts,
        "entities": plain(about.entities),
        "relations": [relation_json(relation) for relation in about.relations],
    }


def about_rows(about: About, namespace: str) -> Iterator[Json]:
    """Yield everything about an entity, as the rows of an export."""
    hidden = {entry.memory_id: entry for entry in about.hidden}
    for memory in about.memories:
        yield memory_json(memory) | hidden_json(hidden.get(memory.id))
    yield from (entity_row(record, namespace) for record in about.entities)
    yield from (relation_row(relation, namespace) for relation in about.relations)
