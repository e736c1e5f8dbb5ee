"""Deduplication: fingerprints, near-duplicate pairs, clusters, and what to decide about them.

In the order in which a new memory meets them: :func:`fingerprint` finds the same words; :func:`method_for`
chooses how to look for nearly the same, and :func:`near_pairs` (or the bands of MinHash LSH, and
:func:`jaccard` to verify) finds it; :func:`judge` compares both word by word; :func:`clusters` puts the pairs
together; :func:`decide` says whether two are duplicates, and :func:`resolve` what becomes of them.
:func:`contradiction` hints at what cannot both be true.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memorata._on_demand import on_demand

if TYPE_CHECKING:
    from memorata.dedupe.contradiction import Cue, Hint, contradiction
    from memorata.dedupe.decisions import (
        CORRECTION,
        DUPLICATE_COSINE,
        MERGE_COSINE,
        STRATEGIES,
        Claim,
        Decision,
        Resolution,
        Strategy,
        Superseded,
        Survivor,
        Verdict,
        decide,
        keep_both,
        keep_highest_confidence,
        keep_most_recent,
        merge,
        resolve,
    )
    from memorata.dedupe.fingerprint import fingerprint, normalised
    from memorata.dedupe.minhash import Banding, ShingleSigner, Signer, bands_for, jaccard, lsh_threshold
    from memorata.dedupe.pairs import Method, NearPairs, clusters, method_for, near_pairs
    from memorata.dedupe.verification import judge
    from memorata.dedupe.wording import extends, same_statement

__getattr__, __dir__ = on_demand(
    __name__,
    {
        ".contradiction": ("Cue", "Hint", "contradiction"),
        ".decisions": (
            "CORRECTION",
            "DUPLICATE_COSINE",
            "MERGE_COSINE",
            "STRATEGIES",
            "Claim",
            "Decision",
            "Resolution",
            "Strategy",
            "Superseded",
            "Survivor",
            "Verdict",
            "decide",
            "keep_both",
            "keep_highest_confidence",
            "keep_most_recent",
            "merge",
            "resolve",
        ),
        ".fingerprint": ("fingerprint", "normalised"),
        ".minhash": ("Banding", "ShingleSigner", "Signer", "bands_for", "jaccard", "lsh_threshold"),
        ".pairs": ("Method", "NearPairs", "clusters", "method_for", "near_pairs"),
        ".verification": ("judge",),
        ".wording": ("extends", "same_statement"),
    },
)

__all__ = [
    "CORRECTION",
    "DUPLICATE_COSINE",
    "MERGE_COSINE",
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
    "bands_for",
    "clusters",
    "contradiction",
    "decide",
    "extends",
    "fingerprint",
    "jaccard",
    "judge",
    "keep_both",
    "keep_highest_confidence",
    "keep_most_recent",
    "lsh_threshold",
    "merge",
    "method_for",
    "near_pairs",
    "normalised",
    "resolve",
    "same_statement",
]
