"""Google ADK: a memory service, whose memories are the events of sessions, as they were said."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from memorata.extend.conversation import message_fields, message_text, namespace_segment
from memorata.extend.errors import MissingExtra
from memorata.extend.transfer import stable_id

try:
    from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.genai import types
except ImportError as error:
    raise MissingExtra("The Google ADK adapter", "google-adk") from error

if TYPE_CHECKING:
    from google.adk.events.event import Event
    from google.adk.sessions.session import Session

    from memorata import Engine
    from memorata.extend.model import Memory


class MemorataMemoryService(BaseMemoryService):
    """A service for ``Runner(memory_service=…)``; each user of an app has a namespace below `namespace`.

    An event is remembered once, however often its session is added, and not again after it was deleted. The
    best `limit` are found, however unlike, unless `min_confidence` is given.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        namespace: str = "adk",
        limit: int = 10,
        min_confidence: float | None = None,
    ) -> None:
        self.engine = engine
        self.namespace = namespace
        self.limit = limit
        self.min_confidence = min_confidence

    async def add_session_to_memory(self, session: Session) -> None:
        """Remember the events of a session."""
        items = [_event_fields(event, session.id, place) for place, event in enumerate(session.events)]
        await self._remember(session.app_name, session.user_id, items)

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Remember some events of a session."""
        about = dict(custom_metadata or {})
        items = [_event_fields(event, session_id or "", None) | {"metadata": about} for event in events]
        await self._remember(app_name, user_id, items)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Remember entries that the caller wrote."""
        items = []
        for entry in memories:
            about = {**(custom_metadata or {}), **entry.custom_metadata}
            item: dict[str, Any] = {"content": _text(entry.content), "metadata": about}
            if entry.id is not None:
                item["id"] = entry.id
            if entry.author is not None:
                item["source"] = {"speaker": entry.author, "role": entry.content.role or ""}
            if entry.timestamp is not None:
                item["created_at"] = datetime.fromisoformat(entry.timestamp).astimezone(UTC)
            items.append(item)
        await self._remember(app_name, user_id, items)

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Return the best memories for a query, best first."""
        path = self._path(app_name, user_id)
        result = await asyncio.to_thread(
            self.engine.recall,
            query,
            limit=self.limit,
            namespace=path,
            min_confidence=self.min_confidence or 0,
        )
        return SearchMemoryResponse(memories=[_entry(hit.memory) for hit in result.hits])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Forget one memory."""
        if memory_id is None:
            raise ValueError("memory_id must be that of a memory which search_memory returned")
        path = self._path(app_name, user_id)
        await asyncio.to_thread(self.engine.forget, memory_id, namespace=path)

    def _path(self, app_name: str, user_id: str) -> str:
        return f"{self.namespace}/{namespace_segment(app_name)}/{namespace_segment(user_id)}"

    async def _remember(self, app_name: str, user_id: str, items: list[dict[str, Any]]) -> None:
        nonempty = [item for item in items if item["content"]]
        await asyncio.to_thread(
            self.engine.remember_many, nonempty, namespace=self._path(app_name, user_id), duplicates="off"
        )


def _event_fields(event: Event, session: str, place: int | None) -> dict[str, Any]:
    fields = message_fields(
        stable_id("adk", session, event.id), event.author or "", message_text(_text(event.content)), session
    )
    # An agent goes by its own name.
    role = event.content.role if event.content is not None else None
    fields["source"] |= {"position": place, "role": role or ("user" if event.author == "user" else "model")}
    return {**fields, "created_at": datetime.fromtimestamp(event.timestamp, UTC)}


def _text(content: types.Content | None) -> str:
    parts = (content.parts if content is not None else None) or ()
    return "\n".join(part.text for part in parts if part.text and not part.thought)


def _entry(memory: Memory) -> MemoryEntry:
    speaker = memory.source.speaker
    return MemoryEntry(
        id=memory.id,
        content=types.Content(
            role="user" if speaker in ("", "user") else "model", parts=[types.Part(text=memory.content)]
        ),
        author=speaker or None,
        timestamp=memory.event_time.isoformat(),
        custom_metadata=dict(memory.metadata),
    )
