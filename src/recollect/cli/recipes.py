"""Which recipes there are, and what can be changed in them: generated from their declarations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recollect.cli.arguments import chosen, ranged
from recollect.cli.command import command
from recollect.cli.recalling import recipe_names
from recollect.cli.session import Session

if TYPE_CHECKING:
    from recollect.engine import Recipe

Name = Annotated[
    str | None,
    typer.Argument(metavar="[NAME]", help="A recipe, to see its parameters.", autocompletion=recipe_names),
]


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    command(app, "recipes", "Look around")(recipes)


def recipes(session: Session, name: Name = None) -> None:
    """List the ways to recall; with a NAME, every parameter of one, its value and its range."""
    from recollect.engine import RECIPES

    if name is not None:
        _one(session, RECIPES[chosen("NAME", name, tuple(RECIPES))])
        return
    if session.output.json:
        session.output.data({"recipes": [recipe.as_dict() for recipe in RECIPES.values()]})
        return
    rows = [(recipe.name, recipe.doc) for recipe in RECIPES.values()]
    _table(session, ("recipe", "what it does"), rows)
    session.output.say("recollect recipes NAME shows the parameters; recall --set NAME=VALUE changes one")


def _one(session: Session, recipe: Recipe) -> None:
    from recollect.engine import PARAMETERS

    if session.output.json:
        described: list[dict[str, Any]] = [
            {
                "name": each.name,
                "value": getattr(recipe, each.name),
                "type": each.type.__name__,
                "low": each.low,
                "high": each.high,
                "choices": list(each.choices),
                "doc": each.doc,
            }
            for each in PARAMETERS
        ]
        session.output.data({"name": recipe.name, "doc": recipe.doc, "parameters": described})
        return
    session.output.say(f"{recipe.name}: {recipe.doc}", "")
    rows = [
        (each.name, _said(getattr(recipe, each.name)), ranged(each), each.doc)
        for each in PARAMETERS
    ]  # fmt: skip
    _table(session, ("parameter", "value", "may be", "meaning"), rows)


def _said(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _table(session: Session, heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    if not session.output.terminal:
        for row in rows:
            session.output.line("\t".join(row))
        return
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for number, head in enumerate(heads):
        table.add_column(head, style="bold" if number == 0 else "", no_wrap=number < 2 and len(heads) > 2)
    for row in rows:
        table.add_row(*row)
    session.output.show(table)
