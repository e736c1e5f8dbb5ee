"""How is meaning measured? One file per kind of embedder, all behind one port.

:mod:`~memorata.embed.port` says what an embedder and a re-ranker are; :mod:`memorata.testing` checks an
embedder. :func:`open_embedder` makes one from a line of settings, and :func:`open_reranker` a re-ranker,
which reads a query and a text together (:mod:`~memorata.embed.port`). The models that can be installed are in
:mod:`~memorata.embed.catalogue`, and :mod:`~memorata.embed.install` installs them.

Importing this package loads no model runtime, and no file of it before it is named: a program that only asks
what an embedder is pays for nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memorata._on_demand import on_demand
from memorata.embed.port import Embedder, Prompts, Reranker, Vectors

if TYPE_CHECKING:
    from memorata.embed.lexical import LexicalEmbedder
    from memorata.embed.ngram_encoder import BuiltinEmbedder
    from memorata.embed.onnx import OnnxEmbedder, OnnxReranker
    from memorata.embed.selection import Choice, Resources, choose, open_embedder, open_reranker
    from memorata.embed.services import OllamaEmbedder, OpenAIEmbedder
    from memorata.embed.token_embedder import StaticEmbedder

__getattr__, __dir__ = on_demand(
    __name__,
    {
        ".ngram_encoder": ("BuiltinEmbedder",),
        ".lexical": ("LexicalEmbedder",),
        ".onnx": ("OnnxEmbedder", "OnnxReranker"),
        ".selection": ("Choice", "Resources", "choose", "open_embedder", "open_reranker"),
        ".services": ("OllamaEmbedder", "OpenAIEmbedder"),
        ".token_embedder": ("StaticEmbedder",),
    },
)

__all__ = [
    "BuiltinEmbedder",
    "Choice",
    "Embedder",
    "LexicalEmbedder",
    "OllamaEmbedder",
    "OnnxEmbedder",
    "OnnxReranker",
    "OpenAIEmbedder",
    "Prompts",
    "Reranker",
    "Resources",
    "StaticEmbedder",
    "Vectors",
    "choose",
    "open_embedder",
    "open_reranker",
]
