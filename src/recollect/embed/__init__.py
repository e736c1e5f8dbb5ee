"""How is meaning measured? One file per embedder, all behind one port.

:mod:`~recollect.embed.port` says what an embedder is and :mod:`~recollect.embed.conformance` checks one.
:func:`open_embedder` makes one from a line of settings, and :func:`open_reranker` a re-ranker, which reads a
question and a text together (:mod:`~recollect.embed.reranker`). The models that can be installed are in
:mod:`~recollect.embed.catalogue`, and :mod:`~recollect.embed.install` installs them.

Importing this package loads no model runtime, and no file of it before it is named: a program that only asks
what an embedder is pays for nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect._on_demand import on_demand
from recollect.embed.port import Embedder, Prompts, Vectors
from recollect.embed.reranker import Reranker

if TYPE_CHECKING:
    from recollect.embed.builtin import BuiltinEmbedder
    from recollect.embed.cross_encoder import OnnxReranker
    from recollect.embed.http import OllamaEmbedder, OpenAIEmbedder
    from recollect.embed.lexical import LexicalEmbedder
    from recollect.embed.onnx import OnnxEmbedder
    from recollect.embed.select import Choice, Resources, choose, open_embedder
    from recollect.embed.select_reranker import open_reranker
    from recollect.embed.static import StaticEmbedder

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
