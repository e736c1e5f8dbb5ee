"""How a store on a server searches, in words: each leg says which of its ways it took.

What selects candidates may be an extension, an index or a scan, depending on the server and on the size of a
namespace. All of them give the same answers, or say by how much not; which one it was helps to understand how
long it took.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from memorata.store.postgres.connection import Server

EXACT: Final = "exact scan by pgvector"
HNSW: Final = "HNSW index of pgvector, iterative scan"
POSTINGS: Final = "own posting lists, BM25 in SQL"


def methods(connection: Server) -> Mapping[str, str]:
    """Return how searches of a store are done, by leg: ``"vector"`` and ``"lexical"``."""
    row = connection.execute(
        "SELECT count(*) FILTER (WHERE indexed), count(*) FROM vector_counts WHERE memories > 0"
    ).fetchone()
    indexed, known = row or (0, 0)
    vectors = EXACT if not indexed else f"{HNSW}, in {indexed} of {known} namespaces; {EXACT} in others"
    return {"vector": vectors, "lexical": POSTINGS}


def server(connection: Server) -> str:
    """Return what runs there, with versions."""
    number = connection.info.server_version
    row = connection.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'").fetchone()
    pgvector = "" if row is None else f", pgvector {row[0]}"
    return f"PostgreSQL {number // 10_000}.{number % 10_000}{pgvector}"
