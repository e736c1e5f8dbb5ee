"""Which recipes there are, shipped and saved, what can be changed in them, and which is in use.

What can be changed is generated from their declarations.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from memorata.cli.arguments import chosen, ranged
from memorata.cli.command import command
from memorata.cli.recalling import recipe_names
from memorata.cli.session import Session

if TYPE_CHECKING:
    from memorata.engine import Recipe
    from memorata.engine.recipes.saved import SavedRecipe

Name = Annotated[
    str | None,
    typer.Argument(
        metavar="[NAME|use|rollback]",
        help="A recipe, to see its parameters; or what to do.",
        autocompletion=recipe_names,
    ),
]
Target = Annotated[
    str | None,
    typer.Argument(metavar="[RECIPE]", help="The recipe to use, or to roll back by one version."),
]


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    command(app, "recipes", "Look around")(recipes)


def recipes(session: Session, name: Name = None, recipe: Target = None) -> None:
    """List the ways to recall; with a NAME, every parameter of one, its value and its range.

    recipes use NAME lets recalls use a shipped or saved recipe from now on; recipes use alone goes back to
    that of the settings. recipes rollback NAME takes the last version of a saved recipe back, and recipes
    rollback alone the last change of what is in use.
    """
    from memorata.engine import RECIPES
    from memorata.model.errors import InvalidArgument
    from memorata.service.codec import recipe_json, saved_recipe_json

    if name in ("use", "rollback"):
        _change(session, name, recipe)
        return
    if recipe is not None:
        raise InvalidArgument("RECIPE", recipe, "given after use or rollback only")
    saved = _saved(session)
    if name is not None:
        own = {each.recipe.name: each for each in saved}
        known = {**RECIPES, **{key: each.recipe for key, each in own.items()}}
        _one(session, known[chosen("NAME", name, tuple(known))], own.get(name))
        return
    if session.output.json:
        session.output.data(
            {
                "recipes": [recipe_json(each) for each in RECIPES.values()],
                "saved": [saved_recipe_json(each) for each in saved],
            }
        )
        return
    rows = [(each.name, each.doc) for each in RECIPES.values()]
    for own_one in saved:
        used = "in use; " if own_one.in_use else ""
        reason = own_one.evidence.get("reason", "saved by hand")
        rows.append((own_one.recipe.name, f"{used}version {own_one.versions}: {reason}"))
    _table(session, ("recipe", "what it does"), rows)
    session.output.say("memorata recipes NAME shows the parameters; recall --set NAME=VALUE changes one")


def _saved(session: Session) -> tuple[SavedRecipe, ...]:
    """Return the saved recipes, of a database that is there."""
    if not session.settings.db.exists():
        return ()
    with session.memory() as engine:
        return engine.recipes.list()


def _change(session: Session, what: str, name: str | None) -> None:
    from memorata.service.codec import recipe_json

    with session.memory() as engine:
        now = engine.recipes.use(name) if what == "use" else engine.recipes.rollback(name)
        used = engine.recipes.get()
    if session.output.json:
        session.output.data({"recipe": recipe_json(now), "in_use": used.name})
    else:
        session.output.line(f"in use: {used.name}")


def _one(session: Session, recipe: Recipe, saved: SavedRecipe | None) -> None:
    from memorata.engine import PARAMETERS
    from memorata.service.codec import recipe_json, saved_recipe_json

    if session.output.json:
        session.output.data(recipe_json(recipe) if saved is None else saved_recipe_json(saved))
        return
    about = recipe.doc if saved is None else saved.evidence.get("reason", "saved by hand")
    session.output.say(f"{recipe.name}: {about}", "")
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
