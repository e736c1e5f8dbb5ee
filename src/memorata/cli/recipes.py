"""Recipes, shipped and saved: their parameters, generated from their declarations, and which is in use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument

from memorata.cli.command import add_commands
from memorata.cli.options import one_of, recipe_names
from memorata.cli.session import Session
from memorata.model.errors import InvalidArgument

if TYPE_CHECKING:
    from memorata.engine import Recipe
    from memorata.engine.recipes.saved import SavedRecipe

Name = Annotated[
    str | None,
    Argument(
        metavar="[NAME|use|rollback]",
        help="A recipe, to see its parameters; or what to do.",
        autocompletion=recipe_names,
    ),
]
Target = Annotated[str | None, Argument(metavar="[RECIPE]", help="The recipe to use, or to roll back.")]


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    add_commands(app, "Look around", recipes)


def recipes(session: Session, name: Name = None, recipe: Target = None) -> None:
    """List the recipes; with a NAME, every parameter of one, its value and its range.

    recipes use NAME lets recalls use a shipped or saved recipe from now on; recipes use alone returns to
    that of the settings. recipes rollback NAME drops the last version of a saved recipe, and recipes
    rollback alone undoes the last change of what is in use.
    """
    from memorata.engine import RECIPES
    from memorata.service.codec import recipe_json, saved_recipe_json

    if name in ("use", "rollback"):
        _change(session, name, recipe)
        return
    if recipe is not None:
        raise InvalidArgument("RECIPE", recipe, "given after use or rollback only")
    saved = {each.recipe.name: each for each in _saved(session)}
    if name is not None:
        by_name = {**RECIPES, **{key: each.recipe for key, each in saved.items()}}
        _show(session, by_name[one_of("NAME", name, tuple(by_name))], saved.get(name))
        return
    if session.output.json:
        shipped = [recipe_json(each) for each in RECIPES.values()]
        own = [saved_recipe_json(each) for each in saved.values()]
        session.output.data({"recipes": shipped, "saved": own})
        return
    rows = [(each.name, each.doc) for each in RECIPES.values()]
    for own_name, each in saved.items():
        in_use = "in use; " if each.in_use else ""
        reason = each.evidence.get("reason", "saved by hand")
        rows.append((own_name, f"{in_use}version {each.versions}: {reason}"))
    session.output.table(("recipe", "what it does"), rows)
    session.output.say("memorata recipes NAME shows the parameters; recall --set NAME=VALUE changes one")


def _saved(session: Session) -> tuple[SavedRecipe, ...]:
    """Return the saved recipes; none without a database."""
    if not session.settings.db.exists():
        return ()
    with session.memory() as engine:
        return engine.recipes.list()


def _change(session: Session, verb: str, name: str | None) -> None:
    from memorata.service.codec import recipe_json

    with session.memory() as engine:
        changed = engine.recipes.use(name) if verb == "use" else engine.recipes.rollback(name)
        in_use = engine.recipes.get().name
    session.output.result({"recipe": recipe_json(changed), "in_use": in_use}, f"in use: {in_use}")


def _show(session: Session, recipe: Recipe, saved: SavedRecipe | None) -> None:
    from memorata.engine import PARAMETERS
    from memorata.service.codec import recipe_json, saved_recipe_json

    if session.output.json:
        session.output.data(recipe_json(recipe) if saved is None else saved_recipe_json(saved))
        return
    doc = recipe.doc if saved is None else saved.evidence.get("reason", "saved by hand")
    session.output.say(f"{recipe.name}: {doc}", "")
    rows = [(each.name, _text(getattr(recipe, each.name)), each.range, each.doc) for each in PARAMETERS]
    session.output.table(("parameter", "value", "may be", "meaning"), rows, unbroken=2)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)
