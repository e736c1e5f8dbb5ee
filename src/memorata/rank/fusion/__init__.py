"""How do several ranked lists become one? `FUSIONS` names every fusion.

Every fusion takes any number of legs, ranks the union of their ids, lets an id that a leg did not find get
nothing from it, and breaks ties by the order first seen.
"""

from memorata.rank.fusion.alpha_blend import BlendSettings, alpha_blend, migrated
from memorata.rank.fusion.legs import FUSIONS, Aligned, Fused, Leg, align, fusion
from memorata.rank.fusion.positional import borda, isr, rrf, zscored_rrf
from memorata.rank.fusion.relative import aligned_fusion, comb_mnz, comb_sum, relative_score_fusion

__all__ = [
    "FUSIONS",
    "Aligned",
    "BlendSettings",
    "Fused",
    "Leg",
    "align",
    "aligned_fusion",
    "alpha_blend",
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
