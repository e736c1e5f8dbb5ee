"""OpenAI Agents: the session remembers, and the tool `recall` finds it in another session."""

from __future__ import annotations

import json
import uuid
from typing import Any

import two_processes
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

import memorata
from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage
from memorata_agents.openai_agents import MemorataSession, recall_tool


class ScriptedModel(Model):
    """Looks into memory before it answers a question."""

    async def get_response(self, system_instructions: Any, input: Any, *args: Any, **kwargs: Any) -> Any:
        if str(input[-1].get("content", "")).endswith("?"):
            arguments = json.dumps({"query": input[-1]["content"]})
            call = ResponseFunctionToolCall(
                type="function_call", name="recall", call_id="c1", arguments=arguments
            )
            return ModelResponse(output=[call], usage=Usage(), response_id=None)
        text = ResponseOutputText(type="output_text", text=two_processes.reply(input), annotations=[])
        message = ResponseOutputMessage(
            id="m1", type="message", role="assistant", status="completed", content=[text]
        )
        return ModelResponse(output=[message], usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError


def answer(memory: memorata.Engine, prompt: str) -> str:
    agent = Agent(name="helper", model=ScriptedModel(), tools=[recall_tool(memory)])
    session = MemorataSession(str(uuid.uuid4()), memory)
    result = Runner.run_sync(agent, prompt, session=session, run_config=RunConfig(tracing_disabled=True))
    return str(result.final_output)


if __name__ == "__main__":
    two_processes.run(__file__, answer)
