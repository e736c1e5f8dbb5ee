"""Microsoft Agent Framework: a context provider that recalls before a run and remembers after it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from memorata.extend.conversation import BUDGET, Conversation
from memorata.extend.errors import MissingExtra

try:
    from agent_framework import ContextProvider, Message
except ImportError as error:
    raise MissingExtra("The Agent Framework adapter", "agent-framework-core") from error

if TYPE_CHECKING:
    from memorata import Engine


class MemorataContextProvider(ContextProvider):
    """A provider for ``context_providers=[…]``."""

    def __init__(
        self,
        engine: Engine,
        *,
        namespace: str | None = None,
        budget: int = BUDGET,
        source_id: str = "memorata",
    ) -> None:
        super().__init__(source_id)
        self.engine = engine
        self.namespace = namespace
        self.budget = budget

    async def before_run(self, *, agent: Any, session: Any, context: Any, state: dict[str, Any]) -> None:  # noqa: ANN401
        """Add what is remembered and concerns the input."""
        prompt = "\n".join(message.text for message in context.input_messages if message.text)
        conversation = Conversation(self.engine, self.namespace, session.session_id)
        block = await asyncio.to_thread(conversation.recalled, prompt, budget=self.budget) if prompt else ""
        if block:
            context.extend_messages(self, [Message("user", [block])])

    async def after_run(self, *, agent: Any, session: Any, context: Any, state: dict[str, Any]) -> None:  # noqa: ANN401
        """Remember the input and the answer, as they were said."""
        conversation = Conversation(self.engine, self.namespace, session.session_id)
        answered = list(context.response.messages) if context.response is not None else []
        turn = state["turn"] = state.get("turn", 0) + 1
        for message in (*context.input_messages, *answered):
            await asyncio.to_thread(conversation.remember, str(message.role), message.text or "", turn)
