"""Have we heard this? Fingerprints, near pairs, clusters, and what to decide about them.

In the order in which a new memory meets them: :func:`fingerprint` finds what was said before in the same
words; :func:`method_for` chooses how to look for nearly the same, and :func:`near_pairs` (or the bands of
MinHash LSH, and :func:`jaccard` to verify) finds it; :func:`judge` reads both word by word;
:func:`clusters` puts the pairs together; :func:`decide` says whether two are duplicates, and :func:`resolve`
what becomes of them. :func:`contradiction` hints at what cannot both be true.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memorata._on_demand import on_demand

if TYPE_CHECKING:
    from memorata.dedupe.bands import (
        Banding,
        bands_for,
        candidate_probability,
        lsh_threshold,
        miss_probability,
    )
    from memorata.dedupe.claims import CORRECTION, Claim
    from memorata.dedupe.clusters import clusters, groups
    from memorata.dedupe.collisions import colliding_pairs
    from memorata.dedupe.contents import joined_once
    from memorata.dedupe.contradiction import Cue, Hint, contradiction
    from memorata.dedupe.decisions import DUPLICATE_COSINE, MERGE_COSINE, Decision, Verdict, decide
    from memorata.dedupe.fingerprint import fingerprint, normalised
    from memorata.dedupe.methods import Method, method_for
    from memorata.dedupe.near import duplicate_cosine, is_turn, judge, resemblance
    from memorata.dedupe.pairs import NearPairs, near_pairs
    from memorata.dedupe.rounding import ROUNDING
    from memorata.dedupe.shingles import character_shingles, jaccard, word_shingles
    from memorata.dedupe.signatures import (
        ShingleSigner,
        Signer,
        agreement,
        band_keys,
        direction_keys,
        shingle_hashes,
    )
    from memorata.dedupe.strategies import (
        STRATEGIES,
        Resolution,
        Strategy,
        Superseded,
        Survivor,
        keep_both,
        keep_highest_confidence,
        keep_most_recent,
        merge,
        resolve,
    )
    from memorata.dedupe.wording import extends, same_statement

__getattr__, __dir__ = on_demand(
    __name__,
    {
        ".bands": ("Banding", "bands_for", "candidate_probability", "lsh_threshold", "miss_probability"),
        ".claims": ("CORRECTION", "Claim"),
        ".clusters": ("clusters", "groups"),
        ".collisions": ("colliding_pairs",),
        ".contents": ("joined_once",),
        ".contradiction": ("Cue", "Hint", "contradiction"),
        ".decisions": ("DUPLICATE_COSINE", "MERGE_COSINE", "Decision", "Verdict", "decide"),
        ".fingerprint": ("fingerprint", "normalised"),
        ".methods": ("Method", "method_for"),
        ".near": ("duplicate_cosine", "is_turn", "judge", "resemblance"),
        ".pairs": ("NearPairs", "near_pairs"),
        ".rounding": ("ROUNDING",),
        ".shingles": ("character_shingles", "jaccard", "word_shingles"),
        ".signatures": (
            "ShingleSigner",
            "Signer",
            "agreement",
            "band_keys",
            "direction_keys",
            "shingle_hashes",
        ),
        ".strategies": (
            "STRATEGIES",
            "Resolution",
            "Strategy",
            "Superseded",
            "Survivor",
            "keep_both",
            "keep_highest_confidence",
            "keep_most_recent",
            "merge",
            "resolve",
        ),
        ".wording": ("extends", "same_statement"),
    },
)

__all__ = [
    "CORRECTION",
    "DUPLICATE_COSINE",
    "MERGE_COSINE",
    "ROUNDING",
    "STRATEGIES",
    "Banding",
    "Claim",
    "Cue",
    "Decision",
    "Hint",
    "Method",
    "NearPairs",
    "Resolution",
    "ShingleSigner",
    "Signer",
    "Strategy",
    "Superseded",
    "Survivor",
    "Verdict",
    "agreement",
    "band_keys",
    "bands_for",
    "candidate_probability",
    "character_shingles",
    "clusters",
    "colliding_pairs",
    "contradiction",
    "decide",
    "direction_keys",
    "duplicate_cosine",
    "extends",
    "fingerprint",
    "groups",
    "is_turn",
    "jaccard",
    "joined_once",
    "judge",
    "keep_both",
    "keep_highest_confidence",
    "keep_most_recent",
    "lsh_threshold",
    "merge",
    "method_for",
    "miss_probability",
    "near_pairs",
    "normalised",
    "resemblance",
    "resolve",
    "same_statement",
    "shingle_hashes",
    "word_shingles",
]
