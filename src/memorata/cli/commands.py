"""Every command by its name, and the module it is in, which loads when the command is first asked for.

A process of the command line runs one command. To make the others, with all their options, took longer than
most of them run.
"""

from __future__ import annotations

from collections import UserDict
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Final

import typer
from typer.main import get_group

from memorata.cli.flags import Group

HOMES: Final = {
    "remembering": ("remember", "correct"),
    "recalling": ("recall",),
    "looking": ("list", "show", "history", "namespaces"),
    "relating": ("relate", "entities", "paths", "communities"),
    "mapping": ("near", "timeline"),
    "recipes": ("recipes",),
    "changing": ("change", "pin", "unpin", "used", "confirm"),
    "upkeep": ("maintain", "consolidate"),
    "forgetting": ("forget", "restore", "purge"),
    "subjects": ("about", "purge-subject", "purge-namespace"),
    "importing": ("import",),
    "exporting": ("export",),
    "copying": ("copy",),
    "deduplicating": ("duplicates", "contradictions"),
    "care": ("check", "stats", "vacuum", "backup"),
    "reembedding": ("reembed", "index"),
    "doctor": ("doctor",),
    "trust": ("trust",),
    "mcp": ("mcp",),
    "serving": ("serve",),
    "bench": ("bench",),
    "learning": ("feedback", "log", "replay", "retune"),
    "walkthrough": ("demo",),
    "models": ("model",),
    "keys": ("key",),
    "evaluating": ("eval",),
    "tuning": ("tune",),
    "experimenting": ("experiment",),
}
"""By module, the commands it registers, in the order in which the help shows them."""


class OnDemand(UserDict[str, Any]):
    """Commands by name, each made with the others of its module when it is first asked for.

    Parameters
    ----------
    homes
        By module of this package, the names of its commands.

    Examples
    --------
    >>> commands = OnDemand({"recipes": ["recipes"], "doctor": ["doctor"]})
    >>> list(commands), commands["doctor"].name, commands.get("docto")
    (['recipes', 'doctor'], 'doctor', None)
    """

    def __init__(self, homes: Mapping[str, Sequence[str]]) -> None:
        self._home_of = {name: module for module, names in homes.items() for name in names}
        super().__init__(dict.fromkeys(self._home_of))

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - typer keeps the type of a command to itself
        if super().__getitem__(name) is None:
            part = typer.Typer(cls=Group, rich_markup_mode="rich")
            import_module(f"{__package__}.{self._home_of[name]}").register(part)
            self.update(get_group(part).commands)
        return super().__getitem__(name)


class AllCommands(Group):
    """The group of every command, of which those load that are asked for."""

    def __init__(self, **attributes: Any) -> None:  # noqa: ANN401 - as typer gives them
        super().__init__(**attributes)
        self.commands = OnDemand(HOMES)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401 - typer keeps its context's type to itself
        """Return the names of the commands, without making any of them."""
        return list(self.commands)
