"""A component that recalls documents."""

from __future__ import annotations

import asyncio
from typing import Any

from haystack import Document, component, default_from_dict, default_to_dict

from haystack_integrations.document_stores.memorata import MemorataDocumentStore


@component
class MemorataRetriever:
    """Recalls documents by meaning, words, names and time.

    Parameters
    ----------
    document_store
        Where they are.
    filters
        Which may be found, unless a run says otherwise.
    top_k
        How many at most.
    min_confidence
        How confident a search must be to return anything; None for the best `top_k`, however unlike.
    """

    def __init__(
        self,
        document_store: MemorataDocumentStore,
        filters: dict[str, Any] | None = None,
        top_k: int = 10,
        *,
        min_confidence: float | None = None,
    ) -> None:
        self.document_store = document_store
        self.filters = filters
        self.top_k = top_k
        self.min_confidence = min_confidence

    def to_dict(self) -> dict[str, Any]:
        """Return what makes this component again."""
        return default_to_dict(
            self,
            document_store=self.document_store.to_dict(),
            filters=self.filters,
            top_k=self.top_k,
            min_confidence=self.min_confidence,
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> MemorataRetriever:
        """Make a component by what `to_dict` returned."""
        store = data["init_parameters"]["document_store"]
        data["init_parameters"]["document_store"] = MemorataDocumentStore.from_dict(store)
        made: MemorataRetriever = default_from_dict(cls, data)
        return made

    @component.output_types(documents=list[Document])
    def run(
        self, query: str, filters: dict[str, Any] | None = None, top_k: int | None = None
    ) -> dict[str, list[Document]]:
        """Recall documents for a query."""
        documents = self.document_store.search(
            query,
            filters or self.filters,
            self.top_k if top_k is None else top_k,
            min_confidence=self.min_confidence,
        )
        return {"documents": documents}

    @component.output_types(documents=list[Document])
    async def run_async(
        self, query: str, filters: dict[str, Any] | None = None, top_k: int | None = None
    ) -> dict[str, list[Document]]:
        """Recall documents for a query, on a thread."""
        return await asyncio.to_thread(self.run, query, filters, top_k)
