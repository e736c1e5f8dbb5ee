"""LlamaIndex: a memory block of a chat engine."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

import two_processes
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import CompletionResponse, MockLLM
from llama_index.core.memory import Memory

import memorata
from memorata_agents.llama_index import MemorataMemoryBlock


class ScriptedModel(MockLLM):
    """Answers from the messages it is given."""

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return CompletionResponse(text=two_processes.reply(prompt))


def answer(memory: memorata.Engine, prompt: str) -> str:
    session, block = str(uuid.uuid4()), MemorataMemoryBlock(engine=memory)
    chat = Memory.from_defaults(session_id=session, memory_blocks=[block])
    said = str(SimpleChatEngine.from_defaults(llm=ScriptedModel(), memory=chat).chat(prompt))
    # A block is given messages when the short-term memory overflows; at the end, give it the rest.
    asyncio.run(block.aput(chat.get_all(), session_id=session))
    return said


if __name__ == "__main__":
    two_processes.run(__file__, answer)
