"""How a store on one file searches, in words: each leg says which of its ways it took."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from memorata.index.vectors import EXACT, Vectors

SCAN: Final = "exact scan"
CELLS: Final = "approximate index, the best compared exactly"
BITS: Final = "sign bits, the best compared exactly"
POSTINGS: Final = "own posting lists, BM25"


def vectors_method(vectors: Vectors) -> str:
    """Return how the vectors of a namespace are searched."""
    if vectors.exact:
        return SCAN
    return BITS if vectors.approximate is None else CELLS


def methods() -> Mapping[str, str]:
    """Return how searches of a store are done, by leg: ``"vector"`` and ``"lexical"``.

    Examples
    --------
    >>> methods()["lexical"]
    'own posting lists, BM25'
    """
    above = f"{BITS}, or by an {CELLS}, where one was made"
    return {"vector": f"{SCAN} up to {EXACT:,} vectors in a namespace; above, {above}", "lexical": POSTINGS}
