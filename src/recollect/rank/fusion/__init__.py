"""How do several ranked lists become one? One file per idea; `FUSIONS` names them all.

Every fusion takes any number of legs, ranks the union of their ids, lets an id that a leg did not find get
nothing from it, and breaks ties by the order first seen.
"""

from recollect.rank.fusion.aligned import aligned_fusion
from recollect.rank.fusion.alpha_blend import BlendSettings, alpha_blend, alpha_budget, migrated
from recollect.rank.fusion.comb import comb_mnz, comb_sum
from recollect.rank.fusion.legs import Aligned, Fused, Leg, align
from recollect.rank.fusion.positional import borda, isr
from recollect.rank.fusion.reciprocal import rrf, zscored_rrf
from recollect.rank.fusion.registry import FUSIONS, fusion
from recollect.rank.fusion.relative import relative_score_fusion

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
