"""A LangChain retriever over a memory."""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict

from langchain_memorata.vectorstores import NAMESPACE, document_of


class MemorataRetriever(BaseRetriever):
    """Recalls documents: the best `k`, however unlike, unless `min_confidence` is given."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    engine: Any
    namespace: str = NAMESPACE
    k: int = 4
    min_confidence: float | None = None
    filter: dict[str, Any] | None = None

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None, **kwargs: Any
    ) -> list[Document]:
        result = self.engine.recall(
            query,
            limit=self.k if k is None else k,
            namespace=self.namespace,
            filter=self.filter,
            min_confidence=self.min_confidence or 0,
        )
        return [document_of(hit.memory) for hit in result.hits]
