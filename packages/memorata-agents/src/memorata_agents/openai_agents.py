"""OpenAI Agents: a session whose history is remembered, and a tool that recalls."""

from __future__ import annotations

import asyncio
from itertools import islice
from typing import TYPE_CHECKING, Any

from memorata.extend.conversation import recalled_text
from memorata.extend.errors import MissingExtra
from memorata.extend.transfer import PAGE_SIZE, listed, text_of

try:
    from agents import FunctionTool, function_tool
except ImportError as error:
    raise MissingExtra("The OpenAI Agents adapter", "openai-agents") from error

if TYPE_CHECKING:
    from memorata import Engine
    from memorata.extend.model import Memory


class MemorataSession:
    """A ``Session`` of the SDK: items come back exactly, and their texts can be recalled later."""

    session_settings = None

    def __init__(self, session_id: str, engine: Engine, *, namespace: str | None = None) -> None:
        self.session_id = session_id
        self.engine = engine
        self.namespace = namespace
        self._ours = {"session": session_id, "metadata.item": {"exists": True}}

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """Return the latest items, oldest first."""
        memories = await asyncio.to_thread(self._latest, limit)
        return [memory.metadata["item"] for memory in memories]

    async def add_items(self, items: list[Any]) -> None:
        """Add items to the history."""
        await asyncio.to_thread(self._add, items)

    async def pop_item(self) -> Any | None:  # noqa: ANN401 - an item is any JSON
        """Take the last item out of the history, and return it."""
        return await asyncio.to_thread(self._pop)

    async def clear_session(self) -> None:
        """Take everything out of the history; it can be restored."""
        await asyncio.to_thread(self.engine.forget, filter=self._ours, namespace=self.namespace)

    def _add(self, items: list[Any]) -> None:
        latest = self._latest(1)
        start = 1 + (latest[0].source.position or 0) if latest else 0
        self.engine.remember_many(
            [
                {
                    "content": text_of(item.get("content")) or f"({item.get('type', 'item')})",
                    "category": "message" if text_of(item.get("content")) else "call",
                    "tier": "episodic",
                    "metadata": {"item": dict(item)},
                    "source": {
                        "speaker": str(item.get("role") or ""),
                        # What has no role is a call of a tool, or its result.
                        "role": str(item.get("role") or "tool"),
                        "session": self.session_id,
                        "position": start + number,
                    },
                }
                for number, item in enumerate(items)
            ],
            namespace=self.namespace,
            duplicates="off",
        )

    def _pop(self) -> Any | None:  # noqa: ANN401 - an item is any JSON
        latest = self._latest(1)
        if not latest:
            return None
        self.engine.forget(latest[0].id, namespace=self.namespace)
        return latest[0].metadata["item"]

    def _latest(self, limit: int | None) -> list[Memory]:
        """Return the last items, oldest first; all of them where there is no limit."""
        size = min(limit or PAGE_SIZE, PAGE_SIZE)
        newest = listed(self.engine, self._ours, namespace=self.namespace, page=size)
        return list(islice(newest, limit))[::-1]


def recall_tool(
    engine: Engine, *, namespace: str | None = None, limit: int = 8, min_confidence: float | None = None
) -> FunctionTool:
    """Return a tool with which an agent recalls memories of any session.

    The best `limit` are recalled, however unlike, unless `min_confidence` is given.
    """

    def recall(query: str) -> str:
        """Find what is remembered from earlier conversations. Ask a plain question."""
        return recalled_text(engine, query, namespace=namespace, limit=limit, min_confidence=min_confidence)

    return function_tool(recall)
