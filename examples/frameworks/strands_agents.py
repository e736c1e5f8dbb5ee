"""Strands: its memory manager gives the model what is remembered, and hands over what was said."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import two_processes
from strands import Agent
from strands.memory import MemoryManager
from strands.models import Model

import memorata
from memorata_agents.strands import MemorataMemoryStore


class ScriptedModel(Model):
    """Answers from the messages it is given."""

    def update_config(self, **config: Any) -> None:
        raise NotImplementedError

    def get_config(self) -> Any:
        return {}

    def structured_output(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    async def stream(self, messages: Any, *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockDelta": {"delta": {"text": two_processes.reply(messages)}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn"}}


def answer(memory: memorata.Engine, prompt: str) -> str:
    manager = MemoryManager(stores=[MemorataMemoryStore(memory)], injection=True)
    agent = Agent(model=ScriptedModel(), memory_manager=manager, callback_handler=None)
    return str(agent(prompt)).strip()


if __name__ == "__main__":
    two_processes.run(__file__, answer)
