"""How is meaning measured? One file per embedder, all behind one port.

:mod:`~memorata.embed.port` says what an embedder is and :mod:`~memorata.embed.conformance` checks one.
:func:`open_embedder` makes one from a line of settings, and :func:`open_reranker` a re-ranker, which reads a
question and a text together (:mod:`~memorata.embed.reranker`). The models that can be installed are in
:mod:`~memorata.embed.catalogue`, and :mod:`~memorata.embed.install` installs them.

Importing this package loads no model runtime, and no file of it before it is named: a program that only asks
what an embedder is pays for nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memorata._on_demand import on_demand
from memorata.embed.port import Embedder, Prompts, Vectors
from memorata.embed.reranker import Reranker

if TYPE_CHECKING:
    from memorata.embed.builtin import BuiltinEmbedder
    from memorata.embed.cross_encoder import OnnxReranker
    from memorata.embed.http import OllamaEmbedder, OpenAIEmbedder
    from memorata.embed.lexical import LexicalEmbedder
    from memorata.embed.onnx import OnnxEmbedder
    from memorata.embed.select import Choice, Resources, choose, open_embedder
    from memorata.embed.select_reranker import open_reranker
    from memorata.embed.static import StaticEmbedder

__getattr__, __dir__ = on_demand(
    __name__,
    {
        ".builtin": ("BuiltinEmbedder",),
        ".cross_encoder": ("OnnxReranker",),
        ".http": ("OllamaEmbedder", "OpenAIEmbedder"),
        ".lexical": ("LexicalEmbedder",),
        ".onnx": ("OnnxEmbedder",),
        ".select": ("Choice", "Resources", "choose", "open_embedder"),
        ".select_reranker": ("open_reranker",),
        ".static": ("StaticEmbedder",),
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
