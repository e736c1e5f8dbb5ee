"""A LangChain vector store over a memory."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from langchain_core.documents import Document
from langchain_core.vectorstores import VectorStore

import memorata
from memorata.model.errors import MemoryNotFound

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

    from memorata import Engine, Memory

NAMESPACE = "langchain"


class MemorataVectorStore(VectorStore):
    """Documents in a namespace of a memory, under their ids.

    The memory embeds texts by itself; LangChain's embeddings are not used.
    """

    def __init__(self, engine: Engine, *, namespace: str = NAMESPACE) -> None:
        self.engine = engine
        self.namespace = namespace

    @classmethod
    def from_texts(
        cls,
        texts: list[str],
        embedding: Embeddings | None = None,
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: list[str] | None = None,
        engine: Engine | None = None,
        namespace: str = NAMESPACE,
        **kwargs: Any,
    ) -> MemorataVectorStore:
        """Make a store of texts, in `engine` or in one in memory."""
        store = cls(memorata.open(":memory:") if engine is None else engine, namespace=namespace)
        store.add_texts(texts, metadatas, ids=ids)
        return store

    def add_texts(
        self,
        texts: Iterable[str],
        metadatas: list[dict[str, Any]] | None = None,
        *,
        ids: Sequence[str | None] | None = None,
        **kwargs: Any,
    ) -> list[str]:
        """Write texts under their ids; one that is there is overwritten."""
        contents = list(texts)
        about = metadatas or [{}] * len(contents)
        names = [str(uuid.uuid4()) if name is None else name for name in ids or [None] * len(contents)]
        if not len(contents) == len(about) == len(names):
            raise ValueError(f"{len(contents)} texts, {len(about)} metadatas and {len(names)} ids do not fit")
        for name, content, metadata in zip(names, contents, about, strict=True):
            self.engine.put(
                name,
                content,
                namespace=self.namespace,
                category="document",
                source={"role": "document"},
                metadata={"document": metadata},
            )
        return names

    def delete(self, ids: list[str] | None = None, **kwargs: Any) -> bool | None:
        """Forget documents by their ids; those that are not there are passed over."""
        for name in ids or ():
            try:
                self.engine.delete(key=name, namespace=self.namespace)
            except MemoryNotFound:
                continue
        return True

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Return the documents that are there."""
        documents = []
        for name in ids:
            try:
                memory = self.engine.get(key=name, namespace=self.namespace)
            except MemoryNotFound:
                continue
            documents.append(document_of(memory))
        return documents

    def similarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        """Return the `k` best documents; `filter` is one of Memorata's, `min_confidence` as below."""
        return [document for document, _ in self.similarity_search_with_score(query, k, **kwargs)]

    def similarity_search_with_score(
        self,
        query: str,
        k: int = 4,
        *,
        filter: dict[str, Any] | None = None,
        min_confidence: float | None = None,
        **kwargs: Any,
    ) -> list[tuple[Document, float]]:
        """Return the `k` best documents with their scores, higher being better.

        With `min_confidence`, from 0 to 1, none where the search is less confident.
        """
        result = self.engine.recall(
            query, limit=k, namespace=self.namespace, filter=filter, min_confidence=min_confidence or 0
        )
        return [(document_of(hit.memory), float(hit.score)) for hit in result.hits]

    def _select_relevance_score_fn(self) -> Any:
        return lambda score: score


def document_of(memory: Memory) -> Document:
    """Return a memory as a document."""
    metadata = memory.metadata.get("document", {})
    name = str(memory.metadata.get("key", memory.id))
    return Document(id=name, page_content=memory.content, metadata=metadata)
