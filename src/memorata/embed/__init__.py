"""How is a text turned into a vector? One file per kind of embedder, all behind one port.

:mod:`~memorata.embed.port` defines an embedder and a re-ranker; :mod:`memorata.testing` checks an embedder.
:func:`open_embedder` makes one from a line of settings, and :func:`open_reranker` a re-ranker. The built-in
model and the lexical embedder are here. ``packages/memorata-models`` adds models of ONNX, services and
language models.

Importing this package loads no model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memorata._on_demand import on_demand
from memorata.embed.port import Embedder, Prompts, Reranker, Vectors

if TYPE_CHECKING:
    from memorata.embed.lexical import LexicalEmbedder
    from memorata.embed.ngram_encoder import BuiltinEmbedder
    from memorata.embed.selection import Choice, Resources, choose, open_embedder, open_reranker

__getattr__, __dir__ = on_demand(
    __name__,
    {
        ".ngram_encoder": ("BuiltinEmbedder",),
        ".lexical": ("LexicalEmbedder",),
        ".selection": ("Choice", "Resources", "choose", "open_embedder", "open_reranker"),
    },
)

__all__ = [
    "BuiltinEmbedder",
    "Choice",
    "Embedder",
    "LexicalEmbedder",
    "Prompts",
    "Reranker",
    "Resources",
    "Vectors",
    "choose",
    "open_embedder",
    "open_reranker",
]
