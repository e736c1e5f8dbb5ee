"""The hybrid search that people write by hand on PostgreSQL: pgvector, tsvector, and RRF in one statement.

The table has a generated tsvector with a GIN index, an HNSW index for cosines, and an index of tenants. The
statement takes the best hundred of each leg and adds 1 / (60 + rank) (Cormack et al. 2009), as in pgvector's
own example of a hybrid search, with the two corrections that one needs to make it work: the scan of the HNSW
index is as wide as the pool and goes on until it is full, where the default stops at 40 rows; and words can
be joined by OR. The example joins them by AND, so that a question of a dozen words finds nothing; both are
measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import psycopg
from pgvector.psycopg import register_vector
from psycopg import Connection
from psycopg.types.json import Jsonb

from benchmarks.engine_data import DIMENSION, Batch, Floats, Question
from benchmarks.peers import LIMIT, POOL

_TABLE: Final = f"""
CREATE TABLE IF NOT EXISTS notes (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant TEXT NOT NULL,
    content TEXT NOT NULL,
    category TEXT NOT NULL,
    metadata JSONB NOT NULL,
    created_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    words TSVECTOR GENERATED ALWAYS AS (to_tsvector('english', content)) STORED,
    embedding VECTOR({DIMENSION}) NOT NULL
);
CREATE INDEX IF NOT EXISTS notes_by_tenant ON notes (tenant);
CREATE INDEX IF NOT EXISTS notes_by_words ON notes USING gin (words);
"""
_HNSW: Final = "CREATE INDEX IF NOT EXISTS notes_by_meaning ON notes USING hnsw (embedding vector_cosine_ops)"
_COLUMNS: Final = "tenant, content, category, metadata, embedding"
_AND: Final = "plainto_tsquery('english', %(text)s)"
_OR: Final = f"replace({_AND}::text, '&', '|')::tsquery"


def _hybrid(query: str) -> str:
    return f"""
WITH meant AS (
    SELECT id, row_number() OVER (ORDER BY away) AS rank FROM (
        SELECT id, embedding <=> %(vector)s AS away FROM notes WHERE tenant = %(tenant)s
        ORDER BY embedding <=> %(vector)s LIMIT {POOL}
    ) nearest
), said AS (
    SELECT id, row_number() OVER (ORDER BY score DESC) AS rank FROM (
        SELECT id, ts_rank(words, asked) AS score FROM notes, (SELECT {query} AS asked) question
        WHERE tenant = %(tenant)s AND words @@ asked ORDER BY score DESC LIMIT {POOL}
    ) best
)
SELECT content FROM (
    SELECT coalesce(meant.id, said.id) AS id,
        coalesce(1.0 / (60 + meant.rank), 0) + coalesce(1.0 / (60 + said.rank), 0) AS score
    FROM meant FULL JOIN said ON meant.id = said.id ORDER BY score DESC LIMIT {LIMIT}
) fused JOIN notes USING (id) ORDER BY fused.score DESC
"""


_ASK: Final = {"or": _hybrid(_OR), "and": _hybrid(_AND)}


class ByHand:
    """The table, and the statement.

    Parameters
    ----------
    url
        The address of a database of its own.
    """

    def __init__(self, url: str) -> None:
        self._server: Connection[Any] = psycopg.connect(url, autocommit=True)
        self._server.execute("CREATE EXTENSION IF NOT EXISTS vector")
        register_vector(self._server)
        self._server.execute(_TABLE)
        self._server.execute(
            f"SET hnsw.ef_search = {POOL}; SET hnsw.iterative_scan = relaxed_order; SET jit = off"
        )

    @property
    def process(self) -> int:
        """The server's process behind this connection."""
        return self._server.info.backend_pid

    def count(self) -> int:
        """Return how many notes there are."""
        row = self._server.execute("SELECT count(*) FROM notes").fetchone()
        return int((row or (0,))[0])

    def add(self, batch: Batch, tenants: Sequence[str]) -> None:
        """Write a batch in the fastest way there is, as one transaction."""
        with (
            self._server.cursor() as cursor,
            cursor.copy(f"COPY notes ({_COLUMNS}) FROM STDIN BINARY") as rows,
        ):
            rows.set_types(["text", "text", "text", "jsonb", "vector"])
            for row in _rows(batch, tenants):
                rows.write_row(row)

    def add_one(self, text: str, vector: Floats, tenant: str) -> None:
        """Write one, as a transaction."""
        self._server.execute(
            f"INSERT INTO notes ({_COLUMNS}) VALUES (%s, %s, '', '{{}}', %s)", (tenant, text, vector)
        )

    def index_meanings(self) -> None:
        """Build the HNSW index; with the rows there, as every guide advises."""
        self._server.execute(_HNSW)

    def analyse(self) -> None:
        """Do what autovacuum would have done after a while."""
        self._server.execute("VACUUM ANALYZE notes")

    def recall(self, question: Question, tenant: str, words: str) -> list[str]:
        """Return the best ten texts, with the words of the question joined by "or" or by "and"."""
        found = self._server.execute(
            _ASK[words], {"vector": question.vector, "text": question.text, "tenant": tenant}
        )
        return [text for (text,) in found]

    def close(self) -> None:
        """Let go of the server."""
        self._server.close()


def _rows(batch: Batch, tenants: Sequence[str]) -> list[tuple[Any, ...]]:
    columns = zip(tenants, batch.texts, batch.categories, batch.shelves, batch.vectors, strict=True)
    return [
        (tenant, text, category, Jsonb({"shelf": shelf}), vector)
        for tenant, text, category, shelf, vector in columns
    ]
