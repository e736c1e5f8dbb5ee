"""Google ADK: sessions go to memory, and the tool `preload_memory` brings them into a request."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import two_processes
from google.adk.agents import Agent
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from google.adk.tools.preload_memory_tool import PreloadMemoryTool
from google.genai import types

import memorata
from memorata_agents.google_adk import MemorataMemoryService


class ScriptedModel(BaseLlm):
    """Answers from the request it is given."""

    async def generate_content_async(
        self, llm_request: Any, stream: bool = False
    ) -> AsyncIterator[LlmResponse]:
        seen = [llm_request.config.system_instruction, *llm_request.contents]
        part = types.Part(text=two_processes.reply(seen))
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


async def converse(memory: memorata.Engine, prompt: str) -> str:
    agent = Agent(name="helper", model=ScriptedModel(model="scripted"), tools=[PreloadMemoryTool()])
    sessions, service = InMemorySessionService(), MemorataMemoryService(memory)
    runner = Runner(app_name="app", agent=agent, session_service=sessions, memory_service=service)
    whose = {"app_name": "app", "user_id": "anna"}
    session = await sessions.create_session(**whose)
    said = ""
    message = types.Content(role="user", parts=[types.Part(text=prompt)])
    async for event in runner.run_async(user_id="anna", session_id=session.id, new_message=message):
        said = event.content.parts[0].text
    await service.add_session_to_memory(await sessions.get_session(**whose, session_id=session.id))
    return str(said)


def answer(memory: memorata.Engine, prompt: str) -> str:
    return asyncio.run(converse(memory, prompt))


if __name__ == "__main__":
    two_processes.run(__file__, answer)
