"""Google ADK, Pydantic AI, CrewAI and Agno: what was said in one session is recalled in another."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

import memorata
from memorata import Engine

HINT = "make test-adapters installs it"


@pytest.fixture
def engine() -> Iterator[Engine]:
    with memorata.open(":memory:", embedder="lexical") as memory:
        yield memory


def test_google_adk(engine: Engine) -> None:
    pytest.importorskip("google.adk", reason=HINT)
    from google.adk.events.event import Event
    from google.adk.memory.memory_entry import MemoryEntry
    from google.adk.sessions.session import Session
    from google.genai import types

    from memorata_agents.google_adk import MemorataMemoryService

    def content(text: str) -> Any:
        return types.Content(role="user", parts=[types.Part(text=text)])

    said = datetime(2026, 5, 7, tzinfo=UTC).timestamp()
    events = [
        Event(id="e1", author="user", content=content("We deploy on Fridays."), timestamp=said),
        Event(id="e2", author="helper", content=content("Noted."), timestamp=said + 1),
        Event(id="e3", author="helper", timestamp=said + 2),
    ]
    session = Session(id="s1", app_name="app", user_id="a/b", events=events)
    whose: dict[str, Any] = {"app_name": "app", "user_id": "a/b"}

    async def main() -> None:
        service = MemorataMemoryService(engine)
        for _ in range(2):
            await service.add_session_to_memory(session)
        listed = engine.list(namespace="adk/app/a~2Fb").memories
        assert sorted(memory.content for memory in listed) == ["Noted.", "We deploy on Fridays."]
        found, *_ = (await service.search_memory(**whose, query="When do we deploy?")).memories
        assert found.content.parts[0].text == "We deploy on Fridays."
        assert (found.author, found.timestamp) == ("user", "2026-05-07T00:00:00+00:00")
        other = await service.search_memory(app_name="app", user_id="b", query="When do we deploy?")
        assert other.memories == []
        assert (await service.search_memory(**whose, query="zebra")).memories
        sure = MemorataMemoryService(engine, min_confidence=0.3)
        assert (await sure.search_memory(**whose, query="zebra")).memories == []
        await service.delete_memory(**whose, memory_id=found.id)
        await service.add_session_to_memory(session)
        left = (await service.search_memory(**whose, query="When do we deploy?")).memories
        assert "deploy" not in str(left)
        with pytest.raises(ValueError, match="memory_id"):
            await service.delete_memory(**whose)
        extra = Event(id="e4", author="user", content=content("Anna plays the cello."), timestamp=said)
        for _ in range(2):
            await service.add_events_to_memory(**whose, events=[extra], session_id="s2")
        entry = MemoryEntry(
            content=content("Bob sings."), author="anna", timestamp="2026-05-08", custom_metadata={"n": 1}
        )
        await service.add_memory(**whose, memories=[entry])
        cello, *_ = (await service.search_memory(**whose, query="who plays the cello?")).memories
        song, *_ = (await service.search_memory(**whose, query="who sings?")).memories
        assert (song.author, song.custom_metadata["n"]) == ("anna", 1)
        assert cello.content.role == "user"

    asyncio.run(main())


def test_pydantic_ai(engine: Engine) -> None:
    pytest.importorskip("pydantic_ai", reason=HINT)
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    from memorata_agents.pydantic_ai import MemorataMemory

    asked: list[str] = []

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        asked.append(str(messages))
        if "tool" in str(messages[0]) and len(messages) == 1:
            return ModelResponse([ToolCallPart("recall", {"query": "When do we deploy?"})])
        return ModelResponse([TextPart("Noted.")])

    agent: Any = Agent(FunctionModel(model), capabilities=[MemorataMemory(engine)])
    assert agent.run_sync("We deploy on Fridays.").output == "Noted."
    assert sorted(memory.content for memory in engine.list().memories) == ["Noted.", "We deploy on Fridays."]
    second = agent.run_sync("When do we deploy?")
    assert "<memorata-recall>" in asked[-1]
    assert "We deploy on Fridays." in asked[-1]
    # What was recalled is in no history and in no memory.
    assert "memorata-recall" not in str(second.all_messages())
    assert not [memory for memory in engine.list().memories if "memorata" in memory.content]
    agent.run_sync("Use the tool.")
    assert "What is remembered." in asked[-1]
    silent: Any = Agent(FunctionModel(model), capabilities=[MemorataMemory(engine, tool=False)])
    assert silent.run_sync(["Hello", "there"]).output == "Noted."


def test_crewai(engine: Engine) -> None:
    pytest.importorskip("crewai", reason=HINT)
    from crewai.memory.storage.backend import EmbeddingDimensionMismatchError, StorageBackend
    from crewai.memory.types import MemoryRecord
    from crewai.memory.unified_memory import Memory

    from memorata_agents.crewai import MemorataStorage, memory_tools

    storage = MemorataStorage(engine)
    assert isinstance(storage, StorageBackend)
    memory = Memory(storage=storage, embedder=storage.embed)
    for text, scope in (("We deploy on Fridays.", "/team/ops"), ("Anna plays the cello.", "/people")):
        memory.remember(text, scope=scope, categories=[scope[1:3]], importance=0.5, metadata={"from": scope})
    (match, *_) = memory.recall("When do we deploy?", depth="shallow")
    assert match.record.content == "We deploy on Fridays."
    assert [each.record.scope for each in memory.recall("deploy", scope="/team", depth="shallow")] == [
        "/team/ops"
    ]
    vector = storage.embed(["We deploy now."])[0]
    ((record, score),) = storage.search(vector, categories=["te"], metadata_filter={"from": "/team/ops"})
    assert 0.5 < score < 0.99
    assert storage.search(vector, min_score=0.99) == []
    storage.update(record.model_copy(update={"content": "We deploy on Mondays."}))
    changed = storage.get_record(record.id)
    assert changed is not None
    assert changed.content == "We deploy on Mondays."
    assert changed.created_at == record.created_at
    assert (storage.count(), storage.count("/team")) == (2, 1)
    assert storage.list_scopes() == ["/people", "/team"]
    assert storage.get_scope_info("/team").child_scopes == ["/team/ops"]
    assert storage.list_categories() == {"te": 1, "pe": 1}
    assert [each.scope for each in storage.list_records(limit=1, offset=1)] == ["/team/ops"]
    assert storage.delete(older_than=record.created_at) == 0
    assert storage.delete(record_ids=[record.id]) == 1
    assert storage.get_record(record.id) is None
    asyncio.run(storage.asave([MemoryRecord(content="Bob sings.", scope="/people/bob")]))
    assert len(asyncio.run(storage.asearch(vector))) == 2
    assert asyncio.run(storage.adelete(scope_prefix="/people/bob")) == 1
    storage.reset()
    assert storage.count() == 0
    with pytest.raises(EmbeddingDimensionMismatchError):
        storage.search([1.0, 0.0])
    recall, remember = memory_tools(engine)
    assert recall.run(query="who sings?") == "Nothing is known."
    remember.run(content="Bob sings.")
    assert "Bob sings." in recall.run(query="who sings?")
    assert "Bob sings." in recall.run(query="zebra")
    assert memory_tools(engine, min_confidence=0.3)[0].run(query="zebra") == "Nothing is known."


def test_agno(engine: Engine) -> None:
    pytest.importorskip("agno", reason=HINT)
    from agno.knowledge.protocol import KnowledgeProtocol

    from memorata_agents.agno import MemorataKnowledge, knowledge_retriever

    knowledge = MemorataKnowledge(engine)
    assert isinstance(knowledge, KnowledgeProtocol)
    recall, remember = knowledge.get_tools()
    assert recall("When do we deploy?") == "Nothing is known."
    remember("We deploy on Fridays.")
    engine.remember("Anna deploys the cello.", metadata={"topic": "music"})
    assert "We deploy on Fridays." in recall("When do we deploy?")
    assert "`recall`" in knowledge.build_context()
    (found,) = asyncio.run(knowledge.aretrieve("deploy", filters={"topic": "music"}))
    assert (found.content, found.meta_data["topic"]) == ("Anna deploys the cello.", "music")
    with pytest.raises(ValueError, match="mapping"):
        knowledge.retrieve("deploy", filters=["x"])
    rows = knowledge_retriever(engine)(query="When do we deploy?", num_documents=1, agent=None)
    assert rows is not None
    assert rows[0]["content"] == "We deploy on Fridays."
    assert knowledge_retriever(engine)(query="zebra")
    assert knowledge_retriever(engine, min_confidence=0.3)(query="zebra") is None
    assert "cello" in recall("zebra")
    assert MemorataKnowledge(engine, min_confidence=0.3).recall("zebra") == "Nothing is known."
