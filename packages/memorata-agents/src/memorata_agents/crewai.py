"""CrewAI: a storage for its ``Memory``, and tools by which an agent recalls and remembers without it.

CrewAI's ``Memory`` gives a storage vectors and no text, so words, names and time cannot take part in what it
searches, and it asks a language model unless scope, categories and importance are given and ``depth`` is
``"shallow"``. The tools have all of recall, and ask no language model.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from memorata import Query
from memorata.extend.conversation import recalled_text
from memorata.extend.errors import MemoryNotFound, MissingExtra
from memorata.extend.filters import Field
from memorata.extend.transfer import listed

try:
    from crewai.memory.storage.backend import EmbeddingDimensionMismatchError
    from crewai.memory.types import MemoryRecord, ScopeInfo
    from crewai.tools import BaseTool, tool
except ImportError as error:
    raise MissingExtra("The CrewAI adapter", "crewai") from error

if TYPE_CHECKING:
    from memorata import Engine
    from memorata.extend.model import Memory

NAMESPACE: Final = "crewai"


class MemorataStorage:
    """A storage for ``Memory(storage=storage, embedder=storage.embed)``.

    A record that is updated keeps its older versions in the history; what is deleted can be restored.
    """

    def __init__(self, engine: Engine, *, namespace: str = NAMESPACE) -> None:
        self.engine = engine
        self.namespace = namespace

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return the vectors of texts, by the embedder of the memory."""
        if self.engine.embedder is None:
            raise ValueError("CrewAI searches by vectors: open the memory with an embedder")
        vectors: list[list[float]] = self.engine.embedder.embed_documents(list(texts)).tolist()
        return vectors

    def save(self, records: list[MemoryRecord]) -> None:
        """Remember records; one whose id is there is superseded."""
        vectors = [self._vector(record.embedding) for record in records]
        for record, vector in zip(records, vectors, strict=True):
            created = _utc(record.created_at).isoformat()
            self.engine.put(
                record.id,
                record.content,
                namespace=self.namespace,
                metadata={"record": record.model_dump(mode="json"), "created": created},
                category="record",
                tags=tuple(record.categories),
                importance=record.importance,
                **({} if vector is None else {"vector": vector}),
            )

    def update(self, record: MemoryRecord) -> None:
        """Replace the record with the same id."""
        self.save([record])

    def search(
        self,
        query_embedding: list[float],
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        metadata_filter: dict[str, Any] | None = None,
        limit: int = 10,
        min_score: float = 0.0,
    ) -> list[tuple[MemoryRecord, float]]:
        """Return the records closest to a vector with their cosines, best first."""
        result = self.engine.recall(
            Query("", vector=self._vector(query_embedding)),
            recipe="vector",
            limit=limit,
            namespace=self.namespace,
            filter=_conditions(scope_prefix, categories, metadata_filter),
            min_confidence=0,
        )
        return [(_record(hit.memory), hit.score) for hit in result.hits if hit.score >= min_score]

    def delete(
        self,
        scope_prefix: str | None = None,
        categories: list[str] | None = None,
        record_ids: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
    ) -> int:
        """Forget the records that meet every condition, and return how many."""
        conditions = _conditions(scope_prefix, categories, metadata_filter)
        if record_ids is not None:
            conditions["metadata.key"] = {"in": record_ids}
        if older_than is not None:
            conditions["metadata.created"] = {"<": _utc(older_than).isoformat()}
        return len(self.engine.forget(filter=conditions, namespace=self.namespace))

    def reset(self, scope_prefix: str | None = None) -> None:
        """Forget everything in a scope."""
        self.delete(scope_prefix)

    def get_record(self, record_id: str) -> MemoryRecord | None:
        """Return one record; None if there is none."""
        try:
            return _record(self.engine.get(key=record_id, namespace=self.namespace))
        except MemoryNotFound:
            return None

    def list_records(
        self, scope_prefix: str | None = None, limit: int = 200, offset: int = 0
    ) -> list[MemoryRecord]:
        """Return records, newest first."""
        records = sorted(
            self._records(scope_prefix), key=lambda record: _utc(record.created_at), reverse=True
        )
        return records[offset : offset + limit]

    def get_scope_info(self, scope: str) -> ScopeInfo:
        """Return what is known about a scope and those below it."""
        records = self._records(scope)
        times = sorted((record.created_at for record in records), key=_utc)
        return ScopeInfo(
            path=_scope(scope) or "/",
            record_count=len(records),
            categories=sorted({category for record in records for category in record.categories}),
            oldest_record=times[0] if times else None,
            newest_record=times[-1] if times else None,
            child_scopes=_children(scope, records),
        )

    def list_scopes(self, parent: str = "/") -> list[str]:
        """Return the scopes right below one."""
        return _children(parent, self._records(parent))

    def list_categories(self, scope_prefix: str | None = None) -> dict[str, int]:
        """Return how many records each category has."""
        return dict(Counter(name for record in self._records(scope_prefix) for name in record.categories))

    def count(self, scope_prefix: str | None = None) -> int:
        """Return how many records there are in a scope and below."""
        return len(self._records(scope_prefix))

    async def asave(self, records: list[MemoryRecord]) -> None:
        """Remember records, on a thread."""
        await asyncio.to_thread(self.save, records)

    async def asearch(self, *args: Any, **kwargs: Any) -> list[tuple[MemoryRecord, float]]:  # noqa: ANN401
        """Return the records closest to a vector; the arguments are those of `search`."""
        return await asyncio.to_thread(self.search, *args, **kwargs)

    async def adelete(self, *args: Any, **kwargs: Any) -> int:  # noqa: ANN401 - those of delete
        """Forget records; the arguments are those of `delete`."""
        return await asyncio.to_thread(self.delete, *args, **kwargs)

    def _records(self, scope: str | None) -> list[MemoryRecord]:
        return list(map(_record, listed(self.engine, _conditions(scope), namespace=self.namespace)))

    def _vector(self, embedding: list[float] | None) -> Any:  # noqa: ANN401 - an array, or None
        if not embedding:
            return None
        dimension = self.engine.embedder.dimension if self.engine.embedder is not None else 0
        if len(embedding) != dimension:
            raise EmbeddingDimensionMismatchError(dimension, len(embedding))
        vector = np.asarray(embedding, np.float32)
        length = float(np.linalg.norm(vector))
        return vector / length if length else vector


def memory_tools(
    engine: Engine, *, namespace: str = NAMESPACE, limit: int = 8, min_confidence: float | None = None
) -> list[BaseTool]:
    """Return tools for ``Agent(tools=…)``: one that recalls, one that remembers.

    The best `limit` are recalled, however unlike, unless `min_confidence` is given.
    """

    @tool("recall")
    def recall(query: str) -> str:
        """Find what is remembered from earlier work. Ask a plain question."""
        return recalled_text(engine, query, namespace=namespace, limit=limit, min_confidence=min_confidence)

    @tool("remember")
    def remember(content: str) -> str:
        """Keep one fact, preference or decision, in a sentence that can be understood by itself."""
        return f"Remembered as {engine.remember(content, namespace=namespace).id}."

    return [recall, remember]


def _conditions(
    scope: str | None, categories: list[str] | None = None, metadata: dict[str, Any] | None = None
) -> dict[str, Any]:
    conditions: dict[str, Any] = {"category": "record"}
    if path := _scope(scope):
        # "0" comes next after "/".
        below = {"metadata.record.scope": {">=": path + "/", "<": path + "0"}}
        conditions["or"] = [{"metadata.record.scope": path}, below]
    if categories:
        conditions["tags"] = {"any": categories}
    for name, value in (metadata or {}).items():
        conditions[str(Field("metadata", ("record", "metadata", name)))] = value
    return conditions


def _scope(scope: str | None) -> str:
    """Return a scope with a slash before it and none after; empty for the root."""
    path = (scope or "").strip("/")
    return f"/{path}" if path else ""


def _children(parent: str, records: list[MemoryRecord]) -> list[str]:
    start = _scope(parent) + "/"
    names = {record.scope[len(start) :].split("/")[0] for record in records if record.scope.startswith(start)}
    return sorted(start + name for name in names if name)


def _record(memory: Memory) -> MemoryRecord:
    return MemoryRecord(**memory.metadata["record"])


def _utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
