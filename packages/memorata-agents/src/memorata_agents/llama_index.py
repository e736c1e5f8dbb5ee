"""LlamaIndex: a retriever, and a memory block for its ``Memory``."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from memorata.extend.conversation import BUDGET, Conversation
from memorata.extend.errors import MissingExtra

try:
    from llama_index.core.base.llms.types import ChatMessage
    from llama_index.core.memory import BaseMemoryBlock
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
except ImportError as error:
    raise MissingExtra("The LlamaIndex adapter", "llama-index-core") from error

if TYPE_CHECKING:
    from memorata import Engine


class MemorataRetriever(BaseRetriever):
    """Recalls memories as nodes with scores: the best `limit`, unless `min_confidence` is given."""

    def __init__(
        self,
        engine: Engine,
        *,
        namespace: str | None = None,
        limit: int = 8,
        min_confidence: float | None = None,
    ) -> None:
        self._engine = engine
        self._namespace = namespace
        self._limit = limit
        self._min_confidence = min_confidence
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        result = self._engine.recall(
            query_bundle.query_str,
            limit=self._limit,
            namespace=self._namespace,
            min_confidence=self._min_confidence or 0,
        )
        return [
            NodeWithScore(
                node=TextNode(id_=hit.memory.id, text=hit.memory.content, metadata=dict(hit.memory.metadata)),
                score=float(hit.score),
            )
            for hit in result.hits
        ]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


class MemorataMemoryBlock(BaseMemoryBlock[str]):
    """A block for ``Memory.from_defaults(memory_blocks=[…])``: recalls for the last message."""

    name: str = "memorata"
    engine: Any = None
    namespace: str | None = None
    budget: int = BUDGET

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:  # noqa: ANN401
        prompt = next(
            (message.content for message in reversed(messages or []) if message.role == "user"), None
        )
        if not prompt:
            return ""
        conversation = Conversation(self.engine, self.namespace, str(block_kwargs.get("session_id") or ""))
        return await asyncio.to_thread(conversation.recalled, prompt, budget=self.budget)

    async def _aput(self, messages: list[ChatMessage]) -> None:
        for message in messages:
            session = str(message.additional_kwargs.get("session_id") or "")
            conversation = Conversation(self.engine, self.namespace, session)
            await asyncio.to_thread(conversation.remember, message.role.value, message.content or "")
