"""Haystack's own suite, and the retriever in a pipeline."""

import asyncio

import pytest
from haystack import Document, Pipeline
from haystack.document_stores.errors import DuplicateDocumentError
from haystack.document_stores.types import DuplicatePolicy
from haystack.testing.document_store import CountDocumentsByFilterTest, DocumentStoreBaseExtendedTests
from haystack.testing.document_store_async import (
    CountDocumentsAsyncTest,
    CountDocumentsByFilterAsyncTest,
    DeleteAllAsyncTest,
    DeleteByFilterAsyncTest,
    DeleteDocumentsAsyncTest,
    FilterDocumentsAsyncTest,
    UpdateByFilterAsyncTest,
    WriteDocumentsAsyncTest,
)

from haystack_integrations.components.retrievers.memorata import MemorataRetriever
from haystack_integrations.document_stores.memorata import MemorataDocumentStore


class TestDocumentStore(DocumentStoreBaseExtendedTests, CountDocumentsByFilterTest):
    @pytest.fixture
    def document_store(self) -> MemorataDocumentStore:
        return MemorataDocumentStore(embedder="lexical")

    def test_write_documents(self, document_store: MemorataDocumentStore) -> None:
        document = Document(content="Anna drinks tea.")
        assert document_store.write_documents([document]) == 1
        with pytest.raises(DuplicateDocumentError):
            document_store.write_documents([document], DuplicatePolicy.FAIL)
        with pytest.raises(DuplicateDocumentError):
            document_store.write_documents([document])


class TestDocumentStoreAsync(
    CountDocumentsAsyncTest,
    CountDocumentsByFilterAsyncTest,
    DeleteAllAsyncTest,
    DeleteByFilterAsyncTest,
    DeleteDocumentsAsyncTest,
    FilterDocumentsAsyncTest,
    UpdateByFilterAsyncTest,
    WriteDocumentsAsyncTest,
):
    @pytest.fixture
    def document_store(self) -> MemorataDocumentStore:
        return MemorataDocumentStore(embedder="lexical")

    async def test_write_documents_async(self, document_store: MemorataDocumentStore) -> None:
        document = Document(content="Anna drinks tea.")
        assert await document_store.write_documents_async([document]) == 1
        with pytest.raises(DuplicateDocumentError):
            await document_store.write_documents_async([document], DuplicatePolicy.FAIL)


def test_a_pipeline_recalls_and_comes_back_from_its_dictionary() -> None:
    store = MemorataDocumentStore(embedder="lexical")
    store.write_documents(
        [
            Document(content="Anna drinks green tea.", meta={"topic": "drinks"}),
            Document(content="Bob plays the cello.", meta={"topic": "music"}),
        ]
    )
    pipeline = Pipeline()
    pipeline.add_component("retriever", MemorataRetriever(store, top_k=2))
    found, other = pipeline.run({"retriever": {"query": "who drinks tea?"}})["retriever"]["documents"]
    assert found.content == "Anna drinks green tea."
    assert found.score > 0
    assert other.content == "Bob plays the cello."
    music = {"field": "meta.topic", "operator": "==", "value": "music"}
    retriever = MemorataRetriever(store, filters=music)
    assert [each.content for each in retriever.run("tea")["documents"]] == ["Bob plays the cello."]
    assert asyncio.run(retriever.run_async("tea")) == retriever.run("tea")
    sure = MemorataRetriever(store, filters=music, min_confidence=0.3)
    assert sure.run("tea")["documents"] == []
    again = MemorataRetriever.from_dict(sure.to_dict())
    assert (again.filters, again.top_k, again.min_confidence) == (music, 10, 0.3)
