"""Haystack's own suite, and the retriever in a pipeline."""

import pytest
from haystack import Document, Pipeline
from haystack.document_stores.errors import DuplicateDocumentError
from haystack.document_stores.types import DuplicatePolicy
from haystack.testing.document_store import DocumentStoreBaseTests
from haystack_integrations.components.retrievers.memorata import MemorataRetriever
from haystack_integrations.document_stores.memorata import MemorataDocumentStore


class TestDocumentStore(DocumentStoreBaseTests):
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
    (found,) = pipeline.run({"retriever": {"query": "who drinks tea?"}})["retriever"]["documents"]
    assert found.content == "Anna drinks green tea."
    assert found.score > 0
    music = {"field": "meta.topic", "operator": "==", "value": "music"}
    open_gate = MemorataRetriever(store, filters=music, gate=False)
    assert [each.content for each in open_gate.run("tea")["documents"]] == ["Bob plays the cello."]
    again = MemorataRetriever.from_dict(open_gate.to_dict())
    assert (again.filters, again.top_k, again.gate) == (music, 10, False)
