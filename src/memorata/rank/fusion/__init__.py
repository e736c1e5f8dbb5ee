"""How do several ranked lists become one? One file per idea; `FUSIONS` names them all.

Every fusion takes any number of legs, ranks the union of their ids, lets an id that a leg did not find get
nothing from it, and breaks ties by the order first seen.
"""

from memorata.rank.fusion.aligned import aligned_fusion
from memorata.rank.fusion.alpha_blend import BlendSettings, alpha_blend, alpha_budget, migrated
from memorata.rank.fusion.comb import comb_mnz, comb_sum
from memorata.rank.fusion.legs import Aligned, Fused, Leg, align
from memorata.rank.fusion.positional import borda, isr
from memorata.rank.fusion.reciprocal import rrf, zscored_rrf
from memorata.rank.fusion.registry import FUSIONS, fusion
from memorata.rank.fusion.relative import relative_score_fusion

__all__ = [
    "FUSIONS",
    "Aligned",
    "BlendSettings",
    "Fused",
    "Leg",
    "align",
    "aligned_fusion",
    "alpha_blend",
    "alpha_budget",
    "borda",
    "comb_mnz",
    "comb_sum",
    "fusion",
    "isr",
    "migrated",
    "relative_score_fusion",
    "rrf",
    "zscored_rrf",
]
