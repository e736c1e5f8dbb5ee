"""The verbs: remember, recall, correct, forget. One engine around a store, an embedder and recipes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memorata._on_demand import on_demand

if TYPE_CHECKING:
    from memorata.engine.config import Config
    from memorata.engine.engine import Engine
    from memorata.engine.factory import open
    from memorata.engine.recall.result import RecallResult, Rejected
    from memorata.engine.recipes import PARAMETERS, RECIPES, Recipe, recipe

__getattr__, __dir__ = on_demand(
    __name__,
    {
        ".config": ("Config",),
        ".engine": ("Engine",),
        ".factory": ("open",),
        ".recall.result": ("RecallResult", "Rejected"),
        ".recipes": ("PARAMETERS", "RECIPES", "Recipe", "recipe"),
    },
)

__all__ = [
    "PARAMETERS",
    "RECIPES",
    "Config",
    "Engine",
    "RecallResult",
    "Recipe",
    "Rejected",
    "open",
    "recipe",
]
