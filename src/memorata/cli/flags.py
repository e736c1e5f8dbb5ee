"""Help without a type behind options that are only switched on.

Typer writes ``<bool>`` behind them, which reads as if a value had to follow.
"""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup


class Command(TyperCommand):
    """A command whose help shows flags by their names alone."""

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401 - typer keeps its context's type to itself
        """Return the arguments and options, ``--help`` among them."""
        return _bare(super().get_params(ctx))


class Group(TyperGroup):
    """A group of commands whose help shows flags by their names alone."""

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401 - typer keeps its context's type to itself
        """Return the arguments and options, ``--help`` among them."""
        return _bare(super().get_params(ctx))


def _bare(parameters: list[Any]) -> list[Any]:
    for each in parameters:
        if getattr(each, "is_flag", False) and each.metavar is None:
            each.metavar = ""
    return parameters
