"""Memorata as a memory provider of Hermes Agent: recall before each call, every turn remembered verbatim.

The database is that of ``MEMORATA_DB``, or ``memorata.db`` in the home folder of Hermes.
"""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.memory_provider import MemoryProvider

if TYPE_CHECKING:
    from memorata.engine import Engine
    from memorata.service.conversation import Conversation

_TEXT = {"type": "string"}
_TOOLS = {
    "memorata_recall": (
        "Find what is remembered from earlier conversations. Ask a plain question.",
        "query",
    ),
    "memorata_remember": (
        "Keep one fact, preference or decision, in a sentence that can be understood by itself.",
        "content",
    ),
}


class MemorataProvider(MemoryProvider):
    """A provider for ``memory.provider: memorata`` in Hermes' configuration."""

    def __init__(self) -> None:
        self._engine: Engine | None = None
        self._session = ""
        self._writes = True

    @property
    def name(self) -> str:
        """What Hermes calls it."""
        return "memorata"

    def is_available(self) -> bool:
        """Return whether Memorata is installed."""
        return importlib.util.find_spec("memorata") is not None

    def initialize(self, session_id: str, **kwargs: Any) -> None:
        """Open the memory; only the primary agent writes into it."""
        import memorata

        self._session = session_id
        self._writes = kwargs.get("agent_context", "primary") == "primary"
        if self._engine is None:
            path = os.environ.get("MEMORATA_DB") or Path(kwargs["hermes_home"]) / "memorata.db"
            self._engine = memorata.open(path, embedder=os.environ.get("MEMORATA_EMBEDDER", "auto"))

    def system_prompt_block(self) -> str:
        """Return what stands, is important, unfinished or recent, as data."""
        if self._engine is None:
            return ""
        from memorata.extend.quoting import recalled_block

        items = self._engine.briefing().items
        return recalled_block("What to know from earlier.", [item.memory for item in items])

    def prefetch(self, query: str, *, session_id: str = "") -> str:
        """Return what is remembered and concerns a message, as delimited data."""
        return "" if self._engine is None or not query else self._conversation(session_id).recalled(query)

    def sync_turn(
        self,
        user_content: str,
        assistant_content: str,
        *,
        session_id: str = "",
        messages: list[dict[str, Any]] | None = None,
    ) -> None:
        """Remember a turn, once."""
        if self._engine is None or not self._writes:
            return
        conversation = self._conversation(session_id)
        turn = len(messages) if messages is not None else 0
        conversation.remember("user", user_content, turn)
        conversation.remember("assistant", assistant_content, turn)

    def on_session_switch(self, new_session_id: str, **kwargs: Any) -> None:
        """Go on in another session."""
        self._session = new_session_id

    def on_memory_write(
        self, action: str, target: str, content: str, metadata: dict[str, Any] | None = None
    ) -> None:
        """Remember what the built-in memory is told to keep."""
        if self._engine is not None and self._writes and action in ("add", "replace") and content.strip():
            self._engine.remember(content, metadata={"hermes": target})

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        """Return the tools of the agent."""
        return [
            {
                "name": name,
                "description": description,
                "parameters": {"type": "object", "properties": {field: _TEXT}, "required": [field]},
            }
            for name, (description, field) in _TOOLS.items()
        ]

    def handle_tool_call(self, tool_name: str, args: dict[str, Any], **kwargs: Any) -> str:
        """Carry out a call of a tool, and return JSON."""
        from memorata.model.errors import MemorataError
        from memorata.service.conversation import recalled_text

        if self._engine is None or tool_name not in _TOOLS:
            return json.dumps({"error": f"{tool_name} cannot be called now"})
        text = str(args.get(_TOOLS[tool_name][1], ""))
        try:
            if tool_name == "memorata_recall":
                return json.dumps({"result": recalled_text(self._engine, text)})
            return json.dumps({"remembered": self._engine.remember(text).id})
        except MemorataError as error:
            return json.dumps({"error": str(error)})

    def backup_paths(self) -> list[str]:
        """Return the database, where it is not in Hermes' own folder."""
        path = os.environ.get("MEMORATA_DB", "")
        return [path] if path and "://" not in path else []

    def shutdown(self) -> None:
        """Close the memory."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def _conversation(self, session_id: str) -> Conversation:
        from memorata.service.conversation import Conversation

        assert self._engine is not None
        return Conversation(self._engine, None, session_id or self._session)


def register(context: Any) -> None:
    """Give the provider to Hermes."""
    context.register_memory_provider(MemorataProvider())
