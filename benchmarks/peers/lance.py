"""LanceDB: its full-text index, its vector index, and its own reciprocal rank fusion."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import lancedb
import pyarrow as pa
from lancedb.rerankers import RRFReranker

from benchmarks.engine_data import DIMENSION, Batch, Question
from benchmarks.peers import LIMIT, Way

_SCHEMA = pa.schema(
    [("text", pa.string()), ("category", pa.string()), ("vector", pa.list_(pa.float32(), DIMENSION))]
)


class Lance:
    """A hybrid query, as in LanceDB's guide."""

    def __init__(self, folder: Path) -> None:
        self._database = lancedb.connect(str(folder))
        self._memories = self._database.create_table("memories", schema=_SCHEMA)
        self._reranker = RRFReranker()

    def add(self, batch: Batch) -> None:
        """Store some memories."""
        vectors = pa.FixedSizeListArray.from_arrays(pa.array(batch.vectors.ravel()), DIMENSION)
        columns = [pa.array(batch.texts), pa.array(batch.categories), vectors]
        self._memories.add(pa.Table.from_arrays(columns, schema=_SCHEMA))

    def ready(self) -> None:
        """Build both indexes, and make one file of many small ones."""
        self._memories.optimize()
        self._memories.create_fts_index("text")
        self._memories.create_index(metric="cosine", index_type="IVF_HNSW_SQ")

    def ways(self) -> Sequence[Way]:
        """Return the one way of asking."""
        return (Way("LanceDB hybrid, RRF", self._recall),)

    def close(self) -> None:
        """LanceDB has nothing to close."""

    def _recall(self, question: Question) -> list[str]:
        search = self._memories.search(query_type="hybrid").vector(question.vector).text(question.text)
        found = search.distance_type("cosine").rerank(self._reranker).limit(LIMIT).to_arrow()
        return [str(text) for text in found.column("text").to_pylist()]
