"""Recipes over HTTP: the shipped ones, those a namespace has saved, which one it uses, and rollback."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path
from starlette.exceptions import HTTPException

from memorata.engine import RECIPES
from memorata.http.context import ReadContext, WriteContext, read_route, write_route
from memorata.http.errors import RESPONSES
from memorata.http.telemetry import UPDATE
from memorata.model.errors import InvalidArgument
from memorata.service.answers import RecipeAnswer, RecipesAnswer, SavedRecipeAnswer
from memorata.service.codec import Json, recipe_json, saved_recipe_json
from memorata.service.schemas import MAX_WORD, NewRecipe, RecipeName

router = APIRouter(prefix="/v1/recipes", tags=["recipes"], responses=RESPONSES)


@read_route(router.get, "", RecipesAnswer)
def recipes(context: ReadContext) -> Json:
    """List the ways to recall, with every parameter that a query may change."""
    engine, namespace = context.engine, context.namespace
    return {
        "recipes": [recipe_json(recipe) for recipe in RECIPES.values()],
        "saved": [saved_recipe_json(recipe) for recipe in engine.recipes.list(namespace=namespace)],
        "default": engine.recipes.get(namespace=namespace).name,
    }


@write_route(router.post, "", SavedRecipeAnswer, UPDATE, status=201)
def save(context: WriteContext, body: NewRecipe) -> Json:
    """Save a recipe of the namespace's own; one of that name gets a new version."""
    namespace = context.namespace
    base = context.engine.recipes.get(body.base, namespace=namespace)
    changed = base.changed(body.parameters) if body.parameters else base
    return saved_recipe_json(
        context.engine.recipes.save(body.name, changed, evidence=body.evidence, namespace=namespace)
    )


@write_route(router.post, "/use", RecipeAnswer, UPDATE)
def use(context: WriteContext, body: RecipeName) -> Json:
    """Let the namespace use a recipe where a query names none; null goes back to the server's."""
    return recipe_json(context.engine.recipes.use(body.name, namespace=context.namespace))


@write_route(router.post, "/rollback", RecipeAnswer, UPDATE)
def rollback(context: WriteContext, body: RecipeName) -> Json:
    """Take the last version of a saved recipe back; null takes back the last change of which one is used."""
    return recipe_json(context.engine.recipes.rollback(body.name, namespace=context.namespace))


@read_route(router.get, "/{name}", RecipeAnswer)
def recipe(context: ReadContext, name: Annotated[str, Path(max_length=MAX_WORD)]) -> Json:
    """Return one recipe, shipped or saved."""
    try:
        return recipe_json(context.engine.recipes.get(name, namespace=context.namespace))
    except InvalidArgument as error:
        raise HTTPException(404, str(error)) from error
