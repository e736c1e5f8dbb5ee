"""Agno: knowledge that an agent searches, and a tool by which it remembers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from memorata.extend.conversation import recalled_text
from memorata.extend.errors import MissingExtra
from memorata.extend.filters import Field

try:
    from agno.knowledge.document import Document
except ImportError as error:
    raise MissingExtra("The Agno adapter", "agno") from error

if TYPE_CHECKING:
    from memorata import Engine


class MemorataKnowledge:
    """Knowledge for ``Agent(knowledge=knowledge, tools=knowledge.get_tools())``: a ``KnowledgeProtocol``.

    With ``add_knowledge_to_context=True`` Agno recalls for every prompt; its filters compare metadata. The
    best `max_results` come, however unlike, unless `min_confidence` is given.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        namespace: str | None = None,
        max_results: int = 8,
        min_confidence: float | None = None,
    ) -> None:
        self.engine = engine
        self.namespace = namespace
        self.max_results = max_results
        self.min_confidence = min_confidence

    def build_context(self, **kwargs: Any) -> str:  # noqa: ANN401 - those of Agno
        """Return the instructions of the agent about its memory."""
        return "Call `recall` to find what was said before, and `remember` to keep what will matter later."

    def get_tools(self, **kwargs: Any) -> list[Callable[..., Any]]:  # noqa: ANN401 - those of Agno
        """Return the agent's tools."""
        return [self.recall, self.remember]

    async def aget_tools(self, **kwargs: Any) -> list[Callable[..., Any]]:  # noqa: ANN401 - those of Agno
        """Return the agent's tools."""
        return self.get_tools()

    def recall(self, query: str) -> str:
        """Find what is remembered from earlier conversations. Ask a plain question."""
        return recalled_text(
            self.engine,
            query,
            namespace=self.namespace,
            limit=self.max_results,
            min_confidence=self.min_confidence,
        )

    def remember(self, content: str) -> str:
        """Keep one fact, preference or decision, in a sentence that can be understood by itself."""
        return f"Remembered as {self.engine.remember(content, namespace=self.namespace).id}."

    def retrieve(
        self,
        query: str,
        max_results: int | None = None,
        filters: Mapping[str, Any] | None = None,
        **kwargs: Any,  # noqa: ANN401 - those of Agno
    ) -> list[Document]:
        """Return what answers a query, best first."""
        if filters is not None and not isinstance(filters, Mapping):
            raise ValueError("filters must be a mapping of metadata to values; expressions are not read")
        result = self.engine.recall(
            query,
            limit=max_results or self.max_results,
            namespace=self.namespace,
            filter={str(Field("metadata", (name,))): value for name, value in filters.items()}
            if filters
            else None,
            min_confidence=self.min_confidence or 0,
        )
        return [
            Document(
                id=hit.memory.id,
                name=hit.memory.source.speaker or None,
                content=hit.memory.content,
                meta_data=dict(hit.memory.metadata),
            )
            for hit in result.hits
        ]

    async def aretrieve(self, query: str, **kwargs: Any) -> list[Document]:  # noqa: ANN401 - those of Agno
        """Return what answers a query, best first."""
        return await asyncio.to_thread(self.retrieve, query, **kwargs)


def knowledge_retriever(
    engine: Engine, *, namespace: str | None = None, min_confidence: float | None = None
) -> Callable[..., list[dict[str, Any]] | None]:
    """Return a function for ``Agent(knowledge_retriever=…)``."""
    knowledge = MemorataKnowledge(engine, namespace=namespace, min_confidence=min_confidence)

    def retrieve(query: str, num_documents: int | None = None, **kwargs: Any) -> list[dict[str, Any]] | None:  # noqa: ANN401
        documents = knowledge.retrieve(query, num_documents)
        return [document.to_dict() for document in documents] or None

    return retrieve
