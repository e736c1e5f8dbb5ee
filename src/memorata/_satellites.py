"""The satellites: distributions in `packages/` that add to the core by entry points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from memorata.model.errors import MissingExtra

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

COMMANDS: Final[Mapping[str, str]] = {
    "agents": "memorata-agents",
    "graph": "memorata-graph",
    "lab": "memorata-lab",
    "model": "memorata-models",
    "postgres": "memorata-postgres",
    "server": "memorata-server",
}
"""By group of commands, the distribution that adds it."""
IMPORTERS: Final[Mapping[str, str]] = dict.fromkeys(
    ("chatgpt", "claude", "claude-code", "codex", "mcp-memory", "mem0"), "memorata-agents"
)
"""By format of files, the distribution that reads it."""

_MODELS: Final = "memorata-models"
OPENED: Final[Mapping[str, Mapping[str, str]]] = {
    "embedders": dict.fromkeys(
        ("onnx", "static", "hub", "openai", "ollama", "arctic-embed-s", "potion-base-8M",
         "potion-multilingual-128", "bge-small-zh-v1.5", "all-MiniLM-L6-v2", "bge-small-en-v1.5"), _MODELS
    ),
    "rerankers": dict.fromkeys(
        ("onnx", "cohere", "jina", "tei", "chat", "minilm-reranker", "mini-reranker"), _MODELS
    ),
    "extractors": dict.fromkeys(("spacy", "chat"), _MODELS),
    **{kind: {"chat": _MODELS} for kind in ("anchors", "classifiers", "summarisers", "judges")},
}  # fmt: skip
"""By kind, and by the name or the form of a specification, the distribution that opens it."""
LEGS: Final[Mapping[str, str]] = dict.fromkeys(("walk", "paths", "communities"), "memorata-graph")
"""By leg, the distribution that adds it."""

RECIPES: Final[Mapping[str, str]] = dict.fromkeys(
    ("memento", "memini", "openvault", "haia", "four_factor", "semstreams",
     "azure", "elastic", "pinecone", "adaptive"), "memorata-lab"
)  # fmt: skip
"""By recipe, the distribution that adds it."""


def declared(kind: str) -> dict[str, EntryPoint]:
    """Return what installed satellites add of a kind, by name, not loaded yet.

    >>> declared("nothing")
    {}
    """
    from importlib.metadata import entry_points  # loads `email` and `socket`, which no recall needs

    return {point.name: point for point in entry_points(group=f"memorata.{kind}")}


def loaded(kind: str) -> list[Any]:
    """Return what installed satellites add of a kind, in the order of the names.

    >>> loaded("nothing")
    []
    """
    return [point.load() for _, point in sorted(declared(kind).items())]


def opener(kind: str, specification: str) -> Callable[..., Any] | None:
    """Return the function that opens a specification, by its whole or its form; None where there is none.

    >>> opener("embedders", "nothing:at-all") is None
    True
    """
    points = declared(kind)
    for name in (specification, specification.partition(":")[0]):
        if name in points:
            function: Callable[..., Any] = points[name].load()
            return function
        if name in OPENED[kind]:
            raise missing(f"{name!r}", OPENED[kind][name])
    return None


def missing(feature: str, distribution: str) -> MissingExtra:
    """Return the error of a feature whose satellite is not installed.

    >>> str(missing("memorata lab", "memorata-lab"))
    'memorata lab needs a package that is not installed: pip install . packages/memorata-lab'
    """
    return MissingExtra(feature, f". packages/{distribution}")
