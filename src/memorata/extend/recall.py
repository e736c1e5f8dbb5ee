"""Recipes, and the steps of a recall from its candidates on."""

from memorata.engine import RECIPES, RecallResult, Recipe
from memorata.engine.recall.fusion import (
    GEO,
    GRAPH,
    LEXICAL,
    SOFT,
    TEMPORAL,
    VECTOR,
    ExtraLeg,
    Legs,
    fuse,
)
from memorata.engine.recall.query import ParsedQuery, RecallContext
from memorata.engine.recall.ranking import Ranked, rank_candidates
from memorata.engine.recipes import PARAMETERS
from memorata.engine.saved_recipes import SavedRecipe, own_name, recipe_from
from memorata.index.index import LegCandidates
from memorata.index.record import RECORD, SPEAKER, Records
from memorata.text.queries import RuleClassifier

__all__ = [
    "GEO",
    "GRAPH",
    "LEXICAL",
    "PARAMETERS",
    "RECIPES",
    "RECORD",
    "SOFT",
    "SPEAKER",
    "TEMPORAL",
    "VECTOR",
    "ExtraLeg",
    "LegCandidates",
    "Legs",
    "ParsedQuery",
    "Ranked",
    "RecallContext",
    "RecallResult",
    "Recipe",
    "Records",
    "RuleClassifier",
    "SavedRecipe",
    "fuse",
    "own_name",
    "rank_candidates",
    "recipe_from",
]
