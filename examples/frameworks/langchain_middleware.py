"""LangChain: middleware of an agent."""

from __future__ import annotations

import uuid
from typing import Any

import two_processes
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_memorata.middleware import MemorataMiddleware

import memorata


class ScriptedModel(BaseChatModel):
    """Answers from the messages it is given."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=AIMessage(two_processes.reply(messages)))])


def answer(memory: memorata.Engine, prompt: str) -> str:
    agent = create_agent(ScriptedModel(), [], middleware=[MemorataMiddleware(memory)])
    config = {"configurable": {"thread_id": str(uuid.uuid4())}}
    state = agent.invoke({"messages": [{"role": "user", "content": prompt}]}, config)
    return str(state["messages"][-1].text)


if __name__ == "__main__":
    two_processes.run(__file__, answer)
