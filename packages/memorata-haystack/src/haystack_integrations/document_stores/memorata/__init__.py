"""A Haystack document store over a memory."""

from haystack_integrations.document_stores.memorata.document_store import MemorataDocumentStore

__all__ = ["MemorataDocumentStore"]
