"""Memorata for LangChain."""

from langchain_memorata.retrievers import MemorataRetriever
from langchain_memorata.vectorstores import MemorataVectorStore

__all__ = ["MemorataRetriever", "MemorataVectorStore"]
