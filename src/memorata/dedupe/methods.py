"""Which way of finding near-duplicates suits a store of a given size.

Comparing everything with everything is exact and, up to some ten thousand items, a matter of a second; its
time grows with the square of the size. Beyond, candidates come from MinHash LSH and from the vector index,
and only these are verified. DBSCAN with cosine, often named for the middle sizes, finds with two points per
cluster the same clusters as the matrix product followed by connected components, so it is not a method of its
own here.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from memorata.model import checks
from memorata.model.parameter import Declared


class Method(StrEnum):
    """A way of finding the candidates for near-duplicates."""

    MATRIX = "matrix"
    """Blocked matrix products over all pairs; exact."""
    LSH = "lsh"
    """Candidates from MinHash LSH and the vector index, then verified; a miss has a stated probability."""


def method_for(
    count: int,
    force: str | None = None,
    *,
    matrix_limit: Annotated[int, Declared("The largest store compared pair by pair.", 0, 100_000)] = 10_000,
) -> Method:
    """Return the method for a store of `count` items: matrix up to `matrix_limit`, LSH beyond.

    Parameters
    ----------
    count
        How many items are to be compared with each other.
    force
        A method, or its name, to use whatever the size.
    matrix_limit
        The largest store in which all pairs are compared.

    Examples
    --------
    >>> [str(method_for(count)) for count in (10, 1_000, 10_000, 10_001)]
    ['matrix', 'matrix', 'matrix', 'lsh']
    >>> method_for(10, force="lsh")
    <Method.LSH: 'lsh'>
    """
    count = checks.whole("count", count)
    matrix_limit = checks.whole("matrix_limit", matrix_limit)
    if force is not None:
        return Method(checks.one_of("force", force, [method.value for method in Method]))
    return Method.MATRIX if count <= matrix_limit else Method.LSH
