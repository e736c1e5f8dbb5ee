"""Pydantic AI: a capability."""

from __future__ import annotations

from typing import Any

import two_processes
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import FunctionModel

import memorata
from memorata_agents.pydantic_ai import MemorataMemory


def scripted(messages: list[ModelMessage], info: Any) -> ModelResponse:
    return ModelResponse([TextPart(two_processes.reply(messages))])


def answer(memory: memorata.Engine, prompt: str) -> str:
    agent = Agent(FunctionModel(scripted), capabilities=[MemorataMemory(memory)])
    return str(agent.run_sync(prompt).output)


if __name__ == "__main__":
    two_processes.run(__file__, answer)
