"""Chroma on disk. It ranks by vectors; words can only say which documents take part, not how good they are.

Its own hybrid ranking (`Collection.search` with sparse vectors) is refused by the local client, so the
closest it offers is a vector query among the documents that contain one of the question's words.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import chromadb
from chromadb.config import Settings

from benchmarks.engine_data import Batch, Question, content_words
from benchmarks.peers import LIMIT, Way


class Chroma:
    """One collection, asked with and without words."""

    def __init__(self, folder: Path) -> None:
        client = chromadb.PersistentClient(str(folder), Settings(anonymized_telemetry=False))
        self._memories = client.create_collection(
            "memories", configuration={"hnsw": {"space": "cosine"}}, embedding_function=None
        )
        self._count = 0

    def add(self, batch: Batch) -> None:
        """Store some memories."""
        ids = [str(number) for number in range(self._count, self._count + len(batch.texts))]
        self._memories.add(
            ids=ids,
            documents=batch.texts,
            embeddings=batch.vectors,
            metadatas=[{"category": category} for category in batch.categories],
        )
        self._count += len(ids)

    def ready(self) -> None:
        """Nothing is left to build."""

    def ways(self) -> Sequence[Way]:
        """Return the closest to a hybrid query, and one without words."""
        return (
            Way("Chroma, vectors among texts with a word", self._among_words),
            Way("Chroma, vectors alone", lambda question: self._asked(question, None), is_hybrid=False),
        )

    def close(self) -> None:
        """Chroma has nothing to close."""

    def _among_words(self, question: Question) -> list[str]:
        wanted: list[Any] = [{"$contains": word} for word in content_words(question.text)]
        return self._asked(question, wanted[0] if len(wanted) == 1 else {"$or": wanted})

    def _asked(self, question: Question, where: Any) -> list[str]:  # noqa: ANN401 - Chroma's own type is a union of unions
        found = self._memories.query(
            query_embeddings=[question.vector],
            n_results=LIMIT,
            where_document=where,
            include=["documents", "distances", "metadatas"],
        )
        documents = found["documents"]
        assert documents is not None  # they were asked for
        return [str(text) for text in documents[0]]
