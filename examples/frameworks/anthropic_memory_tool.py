"""Anthropic's memory tool: a scripted Claude writes a note, and views its notes before it answers."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import two_processes
from anthropic import Anthropic

import memorata
from memorata_agents.anthropic import MemorataMemoryTool

NOTES = "/memories/notes.md"


class ScriptedService:
    """Answers requests as the service would: it calls the tool first, then says something."""

    def __init__(self, prompt: str) -> None:
        self.prompt = prompt

    def __call__(self, request: Any) -> Any:
        messages = json.loads(request.content)["messages"]
        content: dict[str, Any] = {"type": "text", "text": two_processes.reply([self.prompt, messages])}
        if messages[-1]["content"] == self.prompt:
            command = {"command": "create", "path": NOTES, "file_text": self.prompt}
            if self.prompt.endswith("?"):
                command = {"command": "view", "path": NOTES}
            content = {"type": "tool_use", "id": "t1", "name": "memory", "input": command}
        message = {
            "id": "m1",
            "type": "message",
            "role": "assistant",
            "model": "scripted",
            "content": [content],
            "stop_reason": "end_turn" if content["type"] == "text" else "tool_use",
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        return httpx2.Response(200, json=message)


def answer(memory: memorata.Engine, prompt: str) -> str:
    http = httpx2.Client(transport=httpx2.MockTransport(ScriptedService(prompt)))
    with Anthropic(api_key="none", http_client=http) as client:
        last = client.beta.messages.tool_runner(
            model="scripted",
            max_tokens=100,
            messages=[{"role": "user", "content": prompt}],
            tools=[MemorataMemoryTool(memory)],
        ).until_done()
    return str(last.content[0].text)


if __name__ == "__main__":
    two_processes.run(__file__, answer)
