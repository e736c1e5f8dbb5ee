"""Recipes over HTTP: the shipped ones, those a namespace has saved, which one it uses, and rollback."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path
from starlette.exceptions import HTTPException
from starlette.responses import Response

from memorata.engine import RECIPES
from memorata.http.context import ReadContext, WriteContext, answers
from memorata.http.errors import RESPONSES
from memorata.http.telemetry import UPDATE
from memorata.model.errors import InvalidArgument
from memorata.service.answers import RecipeAnswer, RecipesAnswer, SavedRecipeAnswer
from memorata.service.codec import Json, recipe_json, saved_recipe_json
from memorata.service.schemas import MAX_WORD, NewRecipe, RecipeName

router = APIRouter(prefix="/v1/recipes", tags=["recipes"], responses=RESPONSES)


@router.get("", **answers(RecipesAnswer))
async def recipes(context: ReadContext) -> Response:
    """List the ways to recall, with every parameter that a query may change."""

    def work() -> Json:
        engine, namespace = context.engine, context.namespace
        return {
            "recipes": [recipe_json(recipe) for recipe in RECIPES.values()],
            "saved": [saved_recipe_json(recipe) for recipe in engine.recipes.list(namespace=namespace)],
            "default": engine.recipes.get(namespace=namespace).name,
        }

    return await context.read(work)


@router.post("", **answers(SavedRecipeAnswer, 201))
async def save(context: WriteContext, body: NewRecipe) -> Response:
    """Save a recipe of the namespace's own; one of that name gets a new version."""

    def work() -> Json:
        namespace = context.namespace
        base = context.engine.recipes.get(body.base, namespace=namespace)
        changed = base.changed(body.parameters) if body.parameters else base
        return saved_recipe_json(
            context.engine.recipes.save(body.name, changed, evidence=body.evidence, namespace=namespace)
        )

    return await context.write(work, UPDATE, status=201)


@router.post("/use", **answers(RecipeAnswer))
async def use(context: WriteContext, body: RecipeName) -> Response:
    """Let the namespace use a recipe where a query names none; null goes back to the server's."""
    return await context.write(
        lambda: recipe_json(context.engine.recipes.use(body.name, namespace=context.namespace)), UPDATE
    )


@router.post("/rollback", **answers(RecipeAnswer))
async def rollback(context: WriteContext, body: RecipeName) -> Response:
    """Take the last version of a saved recipe back; null takes back the last change of which one is used."""
    return await context.write(
        lambda: recipe_json(context.engine.recipes.rollback(body.name, namespace=context.namespace)), UPDATE
    )


@router.get("/{name}", **answers(RecipeAnswer))
async def recipe(context: ReadContext, name: Annotated[str, Path(max_length=MAX_WORD)]) -> Response:
    """Return one recipe, shipped or saved."""

    def work() -> Json:
        try:
            return recipe_json(context.engine.recipes.get(name, namespace=context.namespace))
        except InvalidArgument as error:
            raise HTTPException(404, str(error)) from error

    return await context.read(work)
