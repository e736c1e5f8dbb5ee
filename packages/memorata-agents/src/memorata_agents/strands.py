"""Strands Agents: a memory store for its ``MemoryManager``, which injects and captures by itself."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memorata.extend.conversation import Conversation
from memorata.extend.errors import MissingExtra

try:
    from strands.memory.types import MemoryEntry
except ImportError as error:
    raise MissingExtra("The Strands adapter", "strands-agents") from error

if TYPE_CHECKING:
    from memorata import Engine


class MemorataMemoryStore:
    """A store for ``MemoryManager(stores=[…])``; messages are remembered as they were said.

    The best `max_search_results` are found, however unlike, unless `min_confidence` is given.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        name: str = "memorata",
        description: str | None = "What was said in earlier conversations.",
        namespace: str | None = None,
        max_search_results: int = 8,
        min_confidence: float | None = None,
        writable: bool = True,
        extraction: bool = True,
    ) -> None:
        self.engine = engine
        self.name = name
        self.description = description
        self.namespace = namespace
        self.max_search_results = max_search_results
        self.min_confidence = min_confidence
        self.writable = writable
        self.extraction = extraction if writable else False
        # Numbers of messages begin anew with each run of an agent.
        self._conversation = Conversation(engine, namespace, str(uuid.uuid4()))

    async def search(self, query: str, options: Mapping[str, Any] | None = None) -> list[MemoryEntry]:
        """Return the best memories for a query, best first."""
        result = await asyncio.to_thread(
            self.engine.recall,
            query,
            limit=(options or {}).get("max_search_results") or self.max_search_results,
            namespace=self.namespace,
            min_confidence=self.min_confidence or 0,
        )
        return [
            MemoryEntry(
                content=hit.memory.content,
                metadata={"id": hit.memory.id, "score": float(hit.score), **hit.memory.metadata},
            )
            for hit in result.hits
        ]

    async def add(self, content: str, metadata: Mapping[str, Any] | None = None) -> str:
        """Remember a text, and return its id."""
        memory = await asyncio.to_thread(
            self.engine.remember, content, namespace=self.namespace, metadata=dict(metadata or {})
        )
        return memory.id

    async def add_messages(self, messages: Sequence[Mapping[str, Any]], context: Any = None) -> None:  # noqa: ANN401
        """Remember messages; those of a batch that is sent again are known."""
        numbers = list(getattr(context, "sequence_numbers", None) or range(len(messages)))
        for number, message in zip(numbers, messages, strict=True):
            text = "\n".join(str(block["text"]) for block in message.get("content", ()) if block.get("text"))
            await asyncio.to_thread(self._conversation.remember, str(message.get("role")), text, number)
