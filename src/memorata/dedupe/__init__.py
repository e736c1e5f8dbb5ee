"""Deduplication: fingerprints and keys of statements, decisions about repeats, and contradictions.

In the order in which a new memory meets them: :func:`fingerprint` finds the same words, and
:func:`~memorata.dedupe.wording.statement_key` the same statement; :func:`judge` compares both texts word by
word; :func:`decide` says whether two are duplicates, and :func:`resolve` which of them stays.
:func:`contradiction` hints at texts that cannot both be true.
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
        ".verification": ("judge",),
        ".wording": ("extends", "same_statement"),
    },
)

__all__ = [
    "CORRECTION",
    "DUPLICATE_COSINE",
    "MERGE_COSINE",
    "STRATEGIES",
    "Claim",
    "Cue",
    "Decision",
    "Hint",
    "Resolution",
    "Strategy",
    "Superseded",
    "Survivor",
    "Verdict",
    "contradiction",
    "decide",
    "extends",
    "fingerprint",
    "judge",
    "keep_both",
    "keep_highest_confidence",
    "keep_most_recent",
    "merge",
    "normalised",
    "resolve",
    "same_statement",
]
