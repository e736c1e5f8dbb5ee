"""Memory for LangChain agents: recalled before the model is called, remembered when the agent is done."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.config import get_config

from langchain_memorata.vectorstores import NAMESPACE
from memorata.service.conversation import BUDGET, Conversation


class MemorataMiddleware(AgentMiddleware):
    """Give an agent memory.

    Parameters
    ----------
    engine
        An open memory.
    namespace
        Whose memory.
    budget
        How many tokens of memories a model call is given.
    """

    def __init__(self, engine: Any, *, namespace: str = NAMESPACE, budget: int = BUDGET) -> None:
        super().__init__()
        self.engine = engine
        self.namespace = namespace
        self.budget = budget

    def wrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], ModelResponse]
    ) -> ModelResponse:
        """Put what is remembered from other threads before the last message of the user."""
        return handler(self._with_memories(request, self._conversation()))

    async def awrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], Awaitable[ModelResponse]]
    ) -> ModelResponse:
        """Put what is remembered from other threads before the last message of the user."""
        return await handler(await asyncio.to_thread(self._with_memories, request, self._conversation()))

    def after_agent(self, state: Any, runtime: Any) -> None:
        """Remember what was said since the last time; a message is remembered once."""
        self._remember(state["messages"], self._conversation())

    async def aafter_agent(self, state: Any, runtime: Any) -> None:
        """Remember what was said since the last time; a message is remembered once."""
        await asyncio.to_thread(self._remember, state["messages"], self._conversation())

    def _conversation(self) -> Conversation:
        thread = get_config().get("configurable", {}).get("thread_id", "")
        return Conversation(self.engine, self.namespace, str(thread))

    def _with_memories(self, request: ModelRequest, conversation: Conversation) -> ModelRequest:
        messages = list(request.messages)
        users = [place for place, message in enumerate(messages) if isinstance(message, HumanMessage)]
        prompt = messages[users[-1]].text if users else ""
        block = conversation.recalled(prompt, budget=self.budget) if prompt else ""
        if not block:
            return request
        messages.insert(users[-1], HumanMessage(block))
        return request.override(messages=messages)

    def _remember(self, messages: list[Any], conversation: Conversation) -> None:
        for message in messages:
            if isinstance(message, HumanMessage | AIMessage):
                role = "user" if isinstance(message, HumanMessage) else "assistant"
                conversation.remember(role, message.text, message.id)
