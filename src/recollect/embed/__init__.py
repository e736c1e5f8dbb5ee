"""How is meaning measured? One file per embedder, all behind one port.

:mod:`~recollect.embed.port` says what an embedder is and :mod:`~recollect.embed.conformance` checks one.
:func:`open_embedder` makes one from a line of settings, and :func:`open_reranker` a re-ranker, which reads a
question and a text together (:mod:`~recollect.embed.reranker`). The models that can be installed are in
:mod:`~recollect.embed.catalogue`, and :mod:`~recollect.embed.install` installs them.

Importing this package loads no model runtime, and no file of it before it is named: a program that only asks
what an embedder is pays for nothing else.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

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

_HOMES = {
    "BuiltinEmbedder": "builtin",
    "Choice": "select",
    "LexicalEmbedder": "lexical",
    "OllamaEmbedder": "http",
    "OnnxEmbedder": "onnx",
    "OnnxReranker": "cross_encoder",
    "OpenAIEmbedder": "http",
    "Resources": "select",
    "StaticEmbedder": "static",
    "choose": "select",
    "open_embedder": "select",
    "open_reranker": "select_reranker",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the file defines
    """Import the file of a public name when the name is first used (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
