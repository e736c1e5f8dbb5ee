"""Recipes over HTTP: the shipped ones, those a namespace has saved, which one it uses, and the way back."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import Response

from memorata.engine import RECIPES
from memorata.http.asked import Reading, Writing
from memorata.http.limits import WORD
from memorata.http.recalling import MOST_PARAMETERS
from memorata.http.shapes import Given, Word
from memorata.http.tracing import UPDATE
from memorata.model.errors import InvalidArgument
from memorata.service.codec import recipe_json, saved_recipe_json

router = APIRouter(prefix="/v1/recipes", tags=["recipes"])


class ParameterShown(BaseModel):
    """One parameter of a recipe, and what it may be."""

    name: str
    value: Any
    type: str
    low: float | None
    high: float | None
    choices: list[str]
    doc: str


class RecipeShown(BaseModel):
    """A way to recall, and every parameter of it."""

    name: str
    doc: str
    parameters: list[ParameterShown]


class SavedShown(RecipeShown):
    """A recipe that a namespace has saved, in its latest version, and what speaks for it."""

    evidence: dict[str, Any]
    saved_at: datetime
    versions: int
    in_use: bool


class RecipesShown(BaseModel):
    """The ways to recall, shipped and saved, and the one that is used where a question names none."""

    recipes: list[RecipeShown]
    saved: list[SavedShown]
    default: str


class RecipeGiven(Given):
    """A recipe to save: another one, with some parameters changed."""

    name: Word
    base: Word | None = Field(None, description="The recipe to begin with; the one in use if left out.")
    parameters: dict[str, Any] = Field({}, max_length=MOST_PARAMETERS)
    evidence: dict[str, Any] = Field({}, description="What speaks for it.")


class Chosen(Given):
    """The name of a recipe; null for none of one's own."""

    name: Word | None


@router.get("", response_model=None, responses={200: {"model": RecipesShown}})
async def recipes(asked: Reading) -> Response:
    """List the ways to recall, with every parameter that a question may change."""

    def work() -> Any:  # noqa: ANN401
        engine, whose = asked.engine, asked.namespace
        return {
            "recipes": [recipe_json(each) for each in RECIPES.values()],
            "saved": [saved_recipe_json(each) for each in engine.recipes.list(namespace=whose)],
            "default": engine.recipes.get(namespace=whose).name,
        }

    return await asked.look(work)


@router.post("", status_code=201, response_model=None, responses={201: {"model": SavedShown}})
async def save(asked: Writing, given: RecipeGiven) -> Response:
    """Save a recipe of the namespace's own; one of that name gets a new version."""

    def work() -> Any:  # noqa: ANN401
        whose = asked.namespace
        base = asked.engine.recipes.get(given.base, namespace=whose)
        changed = base.changed(given.parameters) if given.parameters else base
        return saved_recipe_json(
            asked.engine.recipes.save(given.name, changed, evidence=given.evidence, namespace=whose)
        )

    return await asked.write(work, UPDATE, status=201)


@router.post("/use", response_model=None, responses={200: {"model": RecipeShown}})
async def use(asked: Writing, chosen: Chosen) -> Response:
    """Let the namespace use a recipe where a question names none; null goes back to the server's."""
    return await asked.write(
        lambda: recipe_json(asked.engine.recipes.use(chosen.name, namespace=asked.namespace)), UPDATE
    )


@router.post("/rollback", response_model=None, responses={200: {"model": RecipeShown}})
async def rollback(asked: Writing, chosen: Chosen) -> Response:
    """Take the last version of a saved recipe back; null takes back the last change of which one is used."""
    return await asked.write(
        lambda: recipe_json(asked.engine.recipes.rollback(chosen.name, namespace=asked.namespace)), UPDATE
    )


@router.get("/{name}", response_model=None, responses={200: {"model": RecipeShown}})
async def recipe(asked: Reading, name: Annotated[str, Path(max_length=WORD)]) -> Response:
    """Return one recipe, shipped or saved."""

    def work() -> Any:  # noqa: ANN401
        try:
            return recipe_json(asked.engine.recipes.get(name, namespace=asked.namespace))
        except InvalidArgument as error:
            raise HTTPException(404, str(error)) from error

    return await asked.look(work)
