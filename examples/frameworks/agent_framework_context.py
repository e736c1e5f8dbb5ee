"""Microsoft Agent Framework: a context provider."""

from __future__ import annotations

import asyncio
from typing import Any

import two_processes
from agent_framework import Agent, BaseChatClient, ChatResponse, Message

import memorata
from memorata_agents.agent_framework import MemorataContextProvider


class ScriptedClient(BaseChatClient):
    """Answers from the messages it is given."""

    async def _inner_get_response(self, *, messages: Any, **kwargs: Any) -> ChatResponse:
        seen = [message.text for message in messages]
        return ChatResponse(messages=[Message("assistant", [two_processes.reply(seen)])])


def answer(memory: memorata.Engine, prompt: str) -> str:
    agent = Agent(client=ScriptedClient(), context_providers=[MemorataContextProvider(memory)])
    return str(asyncio.run(agent.run(prompt)).text)


if __name__ == "__main__":
    two_processes.run(__file__, answer)
