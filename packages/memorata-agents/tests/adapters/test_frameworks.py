"""Agent frameworks: what was said in one session is recalled in another, in each framework's own words."""

import asyncio
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

import memorata
from memorata import Engine
from memorata.extend.conversation import Conversation, recalled_text

HINT = "make test-adapters installs it"


@pytest.fixture
def engine() -> Iterator[Engine]:
    with memorata.open(":memory:", embedder="lexical") as memory:
        yield memory


def contents(engine: Engine) -> list[str]:
    return sorted(memory.content for memory in engine.list().memories)


def test_a_message_is_remembered_once_and_recalled_elsewhere(engine: Engine) -> None:
    first = Conversation(engine, session="s1")
    for _ in range(2):
        first.remember("user", "From now on we deploy on Fridays.", 1)
    first.remember("user", "<memorata-recall>x</memorata-recall>", 2)
    assert [memory.category for memory in engine.list().memories] == ["instruction"]
    assert first.recalled("When do we deploy?") == ""
    assert "deploy on Fridays" in Conversation(engine, session="s2").recalled("When do we deploy?")


def test_a_tool_is_ungated_unless_asked(engine: Engine) -> None:
    assert recalled_text(engine, "zebra") == "Nothing is known."
    engine.remember("Anna plays the cello.")
    assert "Anna plays the cello." in recalled_text(engine, "zebra")
    assert recalled_text(engine, "zebra", min_confidence=0.3) == "Nothing is known."
    assert "cello" in recalled_text(engine, "who plays the cello?", min_confidence=0.3)


def test_openai_agents_history_comes_back_exactly_and_is_recalled(engine: Engine) -> None:
    pytest.importorskip("agents", reason=HINT)
    from agents.memory.session import Session

    from memorata_agents.openai_agents import MemorataSession, recall_tool

    items: list[Any] = [
        {"role": "user", "content": "We deploy on Fridays."},
        {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
        {"role": "assistant", "content": [{"type": "output_text", "text": "Noted."}]},
    ]

    async def main() -> None:
        session = MemorataSession("s1", engine)
        assert isinstance(session, Session)
        await session.add_items(items[:2])
        await session.add_items(items[2:])
        assert await session.get_items() == items
        assert await session.get_items(limit=2) == items[1:]
        assert await session.pop_item() == items[2]
        await session.add_items([items[2]])
        assert await session.get_items() == items
        assert await MemorataSession("s2", engine).get_items() == []
        await session.clear_session()
        assert await session.get_items() == []
        assert await session.pop_item() is None

    asyncio.run(main())
    engine.remember("We deploy on Fridays.")
    assert recall_tool(engine).name == "recall"


def test_strands(engine: Engine) -> None:
    pytest.importorskip("strands.memory", reason=HINT)
    from memorata_agents.strands import MemorataMemoryStore

    async def main() -> None:
        store = MemorataMemoryStore(engine)
        batch: list[dict[str, Any]] = [
            {"role": "user", "content": [{"text": "We deploy on Fridays."}]},
            {"role": "assistant", "content": [{"text": "Noted."}, {"toolUse": {}}]},
        ]
        for _ in range(2):
            await store.add_messages(batch, SimpleNamespace(sequence_numbers=[3, 5]))
        assert contents(engine) == ["Noted.", "We deploy on Fridays."]
        assert await store.add("Anna plays the cello.", {"topic": "music"})
        (found,) = await store.search("who plays the cello?", {"max_search_results": 1})
        assert found.content == "Anna plays the cello."
        assert found.metadata["topic"] == "music"
        assert await store.search("zebra", {"max_search_results": 1})
        assert await MemorataMemoryStore(engine, min_confidence=0.3).search("zebra") == []

    asyncio.run(main())


def test_llama_index(engine: Engine) -> None:
    pytest.importorskip("llama_index.core", reason=HINT)
    from llama_index.core.base.llms.types import ChatMessage

    from memorata_agents.llama_index import MemorataMemoryBlock, MemorataRetriever

    async def main() -> None:
        block = MemorataMemoryBlock(engine=engine)
        said = [ChatMessage(role="user", content="We deploy on Fridays.")]
        await block.aput(said, session_id="s1")
        question = [ChatMessage(role="user", content="When do we deploy?")]
        assert "We deploy on Fridays." in await block.aget(question, session_id="s2")
        assert await block.aget([], session_id="s2") == ""

    asyncio.run(main())
    (node,) = MemorataRetriever(engine, limit=1).retrieve("When do we deploy?")
    assert node.text == "We deploy on Fridays."
    assert node.score is not None
    assert MemorataRetriever(engine).retrieve("zebra")
    assert MemorataRetriever(engine, min_confidence=0.3).retrieve("zebra") == []


def test_agent_framework(engine: Engine) -> None:
    pytest.importorskip("agent_framework", reason=HINT)
    from agent_framework import Message

    from memorata_agents.agent_framework import MemorataContextProvider

    added: list[Any] = []

    def run(text: str, reply: str, session: str) -> Any:
        return SimpleNamespace(
            input_messages=[Message("user", [text])],
            response=SimpleNamespace(messages=[Message("assistant", [reply])]),
            extend_messages=lambda source, messages: added.extend(messages),
            session=SimpleNamespace(session_id=session),
        )

    async def main() -> None:
        provider = MemorataContextProvider(engine)
        for number, (text, reply) in enumerate(
            [("We deploy on Fridays.", "Noted."), ("When do we deploy?", "On Fridays.")]
        ):
            context = run(text, reply, f"s{number}")
            given: dict[str, Any] = {"agent": None, "session": context.session, "context": context}
            state: dict[str, Any] = {}
            await provider.before_run(**given, state=state)
            await provider.after_run(**given, state=state)

    asyncio.run(main())
    assert len(added) == 1
    assert "We deploy on Fridays." in added[0].text
    assert contents(engine) == ["Noted.", "On Fridays.", "We deploy on Fridays.", "When do we deploy?"]
