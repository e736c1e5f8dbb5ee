"""The server as a client sees it: what it lists, what it refuses, and that it keeps answering."""

import asyncio
import re
from collections.abc import Callable
from typing import Any

import pytest
from mcp import Client, MCPError

from memorata import __version__
from memorata.engine import Engine

Talk = Callable[..., Any]


def test_it_says_who_it_is_and_lists_few_tools_with_plain_names(talk: Talk) -> None:
    async def conversation(client: Client) -> Any:
        return client.server_info, client.instructions, (await client.list_tools()).tools

    info, instructions, tools = talk(conversation)
    assert (info.name, info.version) == ("memorata", __version__)
    assert "recall" in instructions
    names = ["recall", "remember", "correct", "forget", "relate", "feedback", "explore"]
    assert [tool.name for tool in tools] == names
    assert all(tool.title and tool.description for tool in tools)


def test_the_prompt_is_listed_and_given(talk: Talk) -> None:
    async def conversation(client: Client) -> Any:
        (prompt,) = (await client.list_prompts()).prompts
        with pytest.raises(MCPError, match="there is no prompt 'other'; there is use_memory"):
            await client.get_prompt("other")
        return await client.get_prompt(prompt.name)

    assert "Recall first." in talk(conversation).messages[0].content.text


def test_an_unknown_tool_is_refused_with_the_known_ones(talk: Talk) -> None:
    async def conversation(client: Client) -> None:
        with pytest.raises(MCPError, match=r"there is no tool 'recal'; there are recall, remember"):
            await client.call_tool("recal", {})

    talk(conversation)


def test_arguments_that_do_not_fit_are_an_answer_that_the_model_reads(call: Callable[..., Any]) -> None:
    result = call("recall", question=7)
    assert result.is_error
    assert "question: Input should be a valid string" in result.content[0].text


def test_many_calls_at_once_are_all_answered(engine: Engine, talk: Talk) -> None:
    async def conversation(client: Client) -> list[str]:
        writes = [client.call_tool("remember", {"content": f"Fact number {n} about tea."}) for n in range(24)]
        reads = [client.call_tool("recall", {"question": "tea"}) for _ in range(24)]
        results = await asyncio.gather(*writes, *reads)
        assert not any(result.is_error for result in results)
        return [str(result.content[0].text) for result in results[:24]]  # type: ignore[union-attr]

    said = talk(conversation)
    ids = {re.findall(r"id (\S+)\.", text)[0] for text in said}
    assert ids == {memory.id for memory in engine.list(limit=100).memories}
    assert len(ids) == 24


def test_a_fault_inside_becomes_an_error_of_its_call_only(
    engine: Engine, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr(engine, "recall", broken)
    monkeypatch.setattr(engine, "list", broken)

    async def conversation(client: Client) -> None:
        failed = await client.call_tool("recall", {"question": "tea"})
        assert failed.is_error
        assert "recall failed inside Memorata (RuntimeError)" in failed.content[0].text  # type: ignore[union-attr]
        with pytest.raises(MCPError, match="failed inside Memorata"):
            await client.read_resource("memories://acme/alice/recent")
        assert not (await client.call_tool("remember", {"content": "Anna likes tea."})).is_error

    talk(conversation)
