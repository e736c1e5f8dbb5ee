"""The satellites: distributions in `packages/` that add to the core by entry points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from memorata.model.errors import MissingExtra

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

COMMANDS: Final[Mapping[str, str]] = {
    "agents": "memorata-agents",
    "graph": "memorata-graph",
    "lab": "memorata-lab",
    "postgres": "memorata-postgres",
    "server": "memorata-server",
}
"""By group of commands, the distribution that adds it."""
IMPORTERS: Final[Mapping[str, str]] = dict.fromkeys(
    ("chatgpt", "claude", "claude-code", "codex", "mcp-memory", "mem0"), "memorata-agents"
)
"""By format of files, the distribution that reads it."""


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


def missing(feature: str, distribution: str) -> MissingExtra:
    """Return the error of a feature whose satellite is not installed.

    >>> str(missing("memorata lab", "memorata-lab"))
    'memorata lab needs a package that is not installed: pip install . packages/memorata-lab'
    """
    return MissingExtra(feature, f". packages/{distribution}")
