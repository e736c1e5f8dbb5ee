"""LangChain's own suites."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.vectorstores import VectorStore
from langchain_memorata import MemorataRetriever, MemorataVectorStore
from langchain_memorata.middleware import MemorataMiddleware
from langchain_tests.integration_tests import RetrieversIntegrationTests, VectorStoreIntegrationTests

import memorata


class TestVectorStore(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self) -> Iterator[VectorStore]:
        with memorata.open(":memory:", embedder="lexical") as engine:
            yield MemorataVectorStore(engine)


class TestRetriever(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self) -> type[MemorataRetriever]:
        return MemorataRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        engine = memorata.open(":memory:", embedder="lexical")
        texts = [f"Anna drinks tea number {number}." for number in range(5)]
        MemorataVectorStore(engine).add_texts(texts)
        return {"engine": engine}

    @property
    def retriever_query_example(self) -> str:
        return "what does Anna drink?"


class ScriptedModel(BaseChatModel):
    """Answers with the last thing it is told."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        told = next((each.text for each in messages if "memorata-recall" in each.text), "Noted.")
        return ChatResult(generations=[ChatGeneration(message=AIMessage(told))])


@pytest.mark.parametrize("awaited", [False, True])
def test_an_agent_with_memory(awaited: bool) -> None:
    def ask(agent: Any, text: str, thread: str) -> str:
        given = {"messages": [HumanMessage(text)]}
        config = {"configurable": {"thread_id": thread}}
        state = asyncio.run(agent.ainvoke(given, config)) if awaited else agent.invoke(given, config)
        return str(state["messages"][-1].text)

    with memorata.open(":memory:", embedder="lexical") as engine:
        agent = create_agent(ScriptedModel(), [], middleware=[MemorataMiddleware(engine)])
        assert ask(agent, "We deploy on Fridays.", "t1") == "Noted."
        assert "We deploy on Fridays." in ask(agent, "When do we deploy?", "t2")
        assert "Fridays" not in ask(agent, "When do we deploy?", "t1")
        contents = {memory.content for memory in engine.list(namespace="langchain").memories}
        assert contents == {"We deploy on Fridays.", "Noted.", "When do we deploy?"}


def test_scores_filters_and_history() -> None:
    with memorata.open(":memory:", embedder="lexical") as engine:
        texts, about = ["Anna drinks tea.", "Bob plays the cello."], [{"n": 1}, {"n": 2}]
        store = MemorataVectorStore.from_texts(texts, None, about, ids=["a", "b"], engine=engine)
        ((first, score), (_, other)) = store.similarity_search_with_score("who drinks tea?", k=2)
        assert (first.id, first.metadata) == ("a", {"n": 1})
        assert score > other
        (second,) = store.similarity_search("tea", filter={"metadata.document.n": 2})
        assert second.id == "b"
        assert len(store.similarity_search("zebra", k=2)) == 2
        assert store.similarity_search("zebra", k=2, min_confidence=0.3) == []
        retriever = store.as_retriever(search_kwargs={"min_confidence": 0.3})
        assert retriever.invoke("zebra") == []
        assert retriever.invoke("who drinks tea?")[0].id == "a"
        assert len(MemorataRetriever(engine=engine).invoke("zebra")) == 2
        assert MemorataRetriever(engine=engine, min_confidence=0.3).invoke("zebra") == []
        store.add_texts(["Anna drinks coffee."], ids=["a"])
        assert [each.page_content for each in store.get_by_ids(["a"])] == ["Anna drinks coffee."]
        assert len(engine.history(engine.get(key="a", namespace="langchain").id, namespace="langchain")) == 2
        with pytest.raises(ValueError, match="do not fit"):
            store.add_texts(["x"], ids=["a", "b"])
