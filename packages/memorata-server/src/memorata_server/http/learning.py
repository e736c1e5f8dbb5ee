"""Recipes over HTTP, feedback about hits, and the log of recalls."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query

from memorata.extend import json as codec
from memorata.extend.json import Json, recipe_json, saved_recipe_json
from memorata.extend.recall import RECIPES
from memorata_server import answers, schemas
from memorata_server.http.context import ReadContext, WriteContext, read_route, write_route
from memorata_server.http.errors import api_router
from memorata_server.http.telemetry import UPDATE
from memorata_server.schemas import MAX_RESULTS, MAX_WORD, Time

recipes_router = api_router("/v1/recipes", "recipes")
router = api_router("/v1", "learning")

Name = Annotated[str, Path(max_length=MAX_WORD)]
Since = Annotated[Time | None, Query()]


@read_route(recipes_router.get, "", answers.RecipesAnswer)
def list_recipes(context: ReadContext) -> Json:
    """List the ways to recall, with every parameter that a query may change."""
    recipes = context.engine.admin.recipes
    return {
        "recipes": list(map(recipe_json, RECIPES.values())),
        "saved": list(map(saved_recipe_json, recipes.list())),
        "default": recipes.get().name,
    }


@write_route(recipes_router.post, "", answers.SavedRecipeAnswer, UPDATE, status=201)
def save_recipe(context: WriteContext, body: schemas.NewRecipe) -> Json:
    """Save a recipe of the namespace's own; one of that name gets a new version."""
    recipes = context.engine.admin.recipes
    recipe = recipes.get(body.base).changed(body.parameters)
    return saved_recipe_json(recipes.save(body.name, recipe, evidence=body.evidence))


@write_route(recipes_router.post, "/use", answers.RecipeAnswer, UPDATE)
def use_recipe(context: WriteContext, body: schemas.RecipeName) -> Json:
    """Let the namespace use a recipe where a query names none; null goes back to the server's."""
    return recipe_json(context.engine.admin.recipes.use(body.name))


@write_route(recipes_router.post, "/rollback", answers.RecipeAnswer, UPDATE)
def rollback_recipe(context: WriteContext, body: schemas.RecipeName) -> Json:
    """Take the last version of a saved recipe back; null takes back the last change of which one is used."""
    return recipe_json(context.engine.admin.recipes.rollback(body.name))


@write_route(router.post, "/feedback", answers.FeedbackAnswer, UPDATE, status=201, log_first=True)
def record_feedback(context: WriteContext, body: schemas.NewFeedback) -> Json:
    """Record feedback about a hit, which is named by the ids of its recall and its memory."""
    feedback = context.engine.admin.feedback.record(body.recall_id, body.memory_id, body.kind, body.value)
    answer: Json = codec.plain(feedback)
    return answer


@read_route(router.get, "/feedback", answers.FeedbackListAnswer)
def list_feedback(
    context: ReadContext, since: Since = None, limit: Annotated[int, Query(ge=1, le=MAX_RESULTS)] = 100
) -> Json:
    """Return feedback."""
    reactions = context.engine.admin.feedback.list(since=since)
    shown = [codec.plain(reaction.feedback) for reaction in reactions[:limit]]
    return {"feedback": shown, "more": len(reactions) > limit}


@read_route(router.get, "/recalls", answers.RecallLogAnswer)
def list_recalls(
    context: ReadContext, since: Since = None, limit: Annotated[int, Query(ge=1, le=MAX_RESULTS)] = 50
) -> Json:
    """Return the recalls that were logged."""
    logged = context.engine.admin.feedback.recalls(since=since, limit=limit)
    return {"recalls": list(map(codec.logged_recall_json, logged))}
