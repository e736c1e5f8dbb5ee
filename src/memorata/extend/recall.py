"""Recipes, and the steps of a recall from its candidates on."""

from memorata.engine import RECIPES, RecallResult, Recipe
from memorata.engine.briefing import Section
from memorata.engine.recall.evidence import TEXT_PARTS
from memorata.engine.recall.fusion import GEO, GRAPH, LEXICAL, SOFT, TEMPORAL, VECTOR, ExtraLeg, Legs, fuse
from memorata.engine.recall.legs import not_excluded
from memorata.engine.recall.query import ParsedQuery, RecallContext
from memorata.engine.recall.ranking import Ranked, rank_candidates
from memorata.engine.recall.result import Measure, RecalledPeriod, tokens
from memorata.engine.recipes import GROUPS, PARAMETERS
from memorata.engine.saved_recipes import IN_USE, SavedRecipe, own_name, recipe_from
from memorata.index.candidates import NO_CANDIDATES, LegCandidates
from memorata.index.record import RECORD, SPEAKER, Records
from memorata.rank import Combination
from memorata.text.queries import RuleClassifier

__all__ = [
    "GEO",
    "GRAPH",
    "GROUPS",
    "IN_USE",
    "LEXICAL",
    "NO_CANDIDATES",
    "PARAMETERS",
    "RECIPES",
    "RECORD",
    "SOFT",
    "SPEAKER",
    "TEMPORAL",
    "TEXT_PARTS",
    "VECTOR",
    "Combination",
    "ExtraLeg",
    "LegCandidates",
    "Legs",
    "Measure",
    "ParsedQuery",
    "Ranked",
    "RecallContext",
    "RecallResult",
    "RecalledPeriod",
    "Recipe",
    "Records",
    "RuleClassifier",
    "SavedRecipe",
    "Section",
    "fuse",
    "not_excluded",
    "own_name",
    "rank_candidates",
    "recipe_from",
    "tokens",
]
