"""Agno: knowledge that goes into the context of a prompt, and a tool by which the agent remembers."""

from __future__ import annotations

import json
from typing import Any

import two_processes
from agno.agent import Agent
from agno.models.base import Model
from agno.models.response import ModelResponse

import memorata
from memorata_agents.agno import MemorataKnowledge


class ScriptedModel(Model):
    """Keeps what it is told by its tool, and answers from the messages it is given."""

    def invoke(self, *args: Any, messages: Any, **kwargs: Any) -> ModelResponse:
        if messages[-1].role == "user" and "?" not in messages[-1].content:
            arguments = json.dumps({"content": messages[-1].content})
            call = {"id": "c1", "type": "function", "function": {"name": "remember", "arguments": arguments}}
            return ModelResponse(role="assistant", tool_calls=[call])
        return ModelResponse(role="assistant", content=two_processes.reply([m.content for m in messages]))

    async def ainvoke(self, *args: Any, **kwargs: Any) -> ModelResponse:
        return self.invoke(*args, **kwargs)

    invoke_stream = ainvoke_stream = _parse_provider_response = _parse_provider_response_delta = invoke


def answer(memory: memorata.Engine, prompt: str) -> str:
    knowledge = MemorataKnowledge(memory)
    agent = Agent(
        model=ScriptedModel(id="scripted"),
        knowledge=knowledge,
        tools=knowledge.get_tools(),
        add_knowledge_to_context=True,
        telemetry=False,
    )
    return str(agent.run(prompt).content)


if __name__ == "__main__":
    two_processes.run(__file__, answer)
