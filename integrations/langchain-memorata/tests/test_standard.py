"""LangChain's own suites."""

from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.vectorstores import VectorStore
from langchain_memorata import MemorataRetriever, MemorataVectorStore
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


def test_scores_filters_and_history() -> None:
    with memorata.open(":memory:", embedder="lexical") as engine:
        texts, about = ["Anna drinks tea.", "Bob plays the cello."], [{"n": 1}, {"n": 2}]
        store = MemorataVectorStore.from_texts(texts, None, about, ids=["a", "b"], engine=engine)
        ((first, score), (_, other)) = store.similarity_search_with_score("who drinks tea?", k=2)
        assert (first.id, first.metadata) == ("a", {"n": 1})
        assert score > other
        (second,) = store.similarity_search("tea", filter={"metadata.document.n": 2})
        assert second.id == "b"
        store.add_texts(["Anna drinks coffee."], ids=["a"])
        assert [each.page_content for each in store.get_by_ids(["a"])] == ["Anna drinks coffee."]
        assert len(engine.history(engine.get(key="a", namespace="langchain").id, namespace="langchain")) == 2
        with pytest.raises(ValueError, match="do not fit"):
            store.add_texts(["x"], ids=["a", "b"])
