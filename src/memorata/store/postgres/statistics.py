"""Sizes and counts of a store on a server, for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memorata.store.postgres.connection import Server
from memorata.store.postgres.schema import OWNED


def counted(connection: Server) -> Mapping[str, Any]:
    """Return what there is, and how large it is."""

    def one(query: str, *values: object) -> int:
        row = connection.execute(query, values).fetchone()
        return int((row or (0,))[0])

    vectors = connection.execute(
        "SELECT e.name, sum(c.memories)::bigint FROM vector_counts c "
        "JOIN embedders e ON e.number = c.embedder GROUP BY e.name HAVING sum(c.memories) > 0 ORDER BY e.name"
    ).fetchall()
    return {
        "memories": one("SELECT count(*) FROM memories"),
        "forgotten": one("SELECT count(*) FROM memories WHERE forgotten_at IS NOT NULL"),
        "superseded": one("SELECT count(*) FROM memories WHERE superseded_by IS NOT NULL"),
        "namespaces": one("SELECT count(*) FROM namespaces"),
        "sessions": one("SELECT count(*) FROM sessions"),
        "entities": one("SELECT count(*) FROM entities"),
        "relations": one("SELECT count(*) FROM relations"),
        "vector_indexes": one("SELECT count(*) FROM vector_counts WHERE indexed"),
        "vectors": dict(vectors),
        "changes": one("SELECT coalesce(max(change), 0) FROM changes"),
        "unfinished_purge": False,
        "bytes": sum(one("SELECT pg_total_relation_size(%s::regclass)", table) for table in OWNED),
    }
