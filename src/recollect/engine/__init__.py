"""The verbs: remember, recall, correct, forget. One engine around a store, an embedder and recipes."""

from recollect.engine.engine import Engine
from recollect.engine.opening import open
from recollect.engine.outcome import Recall, Rejected
from recollect.engine.recipe import PARAMETERS, Recipe
from recollect.engine.recipes import RECIPES, recipe

__all__ = ["PARAMETERS", "RECIPES", "Engine", "Recall", "Recipe", "Rejected", "open", "recipe"]
