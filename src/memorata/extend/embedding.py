"""The ports of embedders and re-rankers, and the choice of one by its name."""

from memorata.embed.catalogue import available
from memorata.embed.lexical import LexicalEmbedder
from memorata.embed.port import PRESETS, Embedder, Reranker, Vectors, carried
from memorata.embed.selection import choose
from memorata.embed.vectors import unit_means
from memorata.engine.services import open_reranker

__all__ = [
    "PRESETS",
    "Embedder",
    "LexicalEmbedder",
    "Reranker",
    "Vectors",
    "available",
    "carried",
    "choose",
    "open_reranker",
    "unit_means",
]
