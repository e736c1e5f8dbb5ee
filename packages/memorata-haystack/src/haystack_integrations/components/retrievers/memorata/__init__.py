"""A Haystack retriever over a memory."""

from haystack_integrations.components.retrievers.memorata.retriever import MemorataRetriever

__all__ = ["MemorataRetriever"]
