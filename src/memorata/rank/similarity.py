"""How alike two vectors are: the cosine of the angle between them.

Stores keep vectors at length 1, so the cosine on the search path is a plain dot product; ``normalised=True``
says that this is so and skips the division.
"""

from __future__ import annotations

import numpy as np

from memorata.model import checks
from memorata.model.checks import FloatArray, Numbers, Rows
from memorata.model.errors import InvalidArgument

_LONGEST_PRODUCT = 1.001
"""More than vectors can reach that were brought to length 1 in float32, or in float16."""


def cosine(a: Numbers, b: Numbers) -> float:
    """Return the cosine of two vectors: ``a·b / (|a|·|b|)``, from -1 to 1.

    Empty vectors and vectors of length zero have no direction and give 0. Vectors of different dimension
    raise, because they cannot be compared.

    Examples
    --------
    >>> cosine([3, 4], [4, 3])
    0.96
    >>> cosine([1, 0], [-2, 0])
    -1.0
    >>> cosine([], [])
    0.0
    """
    left, right = checks.numbers("a", a), checks.numbers("b", b)
    checks.same_length(a=left, b=right)
    return float(_cosines(left[None, :], right)[0]) if left.size else 0.0


def cosines(vectors: Rows, query: Numbers, *, normalised: bool = False) -> FloatArray:
    """Return the cosine of every row of `vectors` with `query`, by one matrix product.

    Parameters
    ----------
    vectors
        One row per item.
    query
        A vector of the same dimension.
    normalised
        Whether every row and the query have length 1 already; then the dot product is the answer.

    Examples
    --------
    >>> cosines([[1, 0], [3, 4]], [0, 1])
    array([0. , 0.8])
    """
    rows, target = _of_one_dimension(vectors=vectors, query=query)
    are_unit = checks.flag("normalised", normalised)
    if not rows.size:
        return np.zeros(len(rows))
    return _products(rows, target) if are_unit else _cosines(rows, target)


def max_similarity(candidate: Numbers, selected: Rows) -> float:
    """Return the largest cosine of `candidate` with any of the `selected` vectors; 0 if there are none.

    Examples
    --------
    >>> max_similarity([1, 0], [[0, 1], [3, 4]])
    0.6
    >>> max_similarity([1, 0], [])
    0.0
    """
    rows, target = _of_one_dimension(selected=selected, candidate=candidate)
    return float(_cosines(rows, target).max()) if rows.size else 0.0


def unit_rows(vectors: Rows) -> FloatArray:
    """Return the rows scaled to length 1; a row of length zero stays zero.

    Examples
    --------
    >>> unit_rows([[3, 4], [0, 0]])
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    return _unit(checks.matrix("vectors", vectors))


def _of_one_dimension(**named: Rows | Numbers) -> tuple[FloatArray, FloatArray]:
    """Return the named vectors, and the named vector to compare them with, checked."""
    (several, vectors), (single, vector) = named.items()
    rows, target = checks.matrix(several, vectors), checks.numbers(single, vector)
    # An empty list of vectors says nothing of their dimension.
    if rows.shape != (0, 0) and rows.shape[1] != target.size:
        raise InvalidArgument(single, _Dimension(target.size), f"of the vectors' dimension {rows.shape[1]}")
    return rows, target


def _cosines(rows: FloatArray, target: FloatArray) -> FloatArray:
    # Scaling by the largest component first keeps tiny and huge vectors from under- or overflowing; the
    # clip only removes the last-bit excess of rounding, which would break arccos and "distance >= 0".
    return np.asarray(np.clip(_unit(rows) @ _unit(target[None, :])[0], -1.0, 1.0))


def _products(rows: FloatArray, target: FloatArray) -> FloatArray:
    with np.errstate(over="ignore", invalid="ignore"):
        products = rows @ target
    # Also false for NaN. Vectors that are not of length 1 after all show themselves here, at little cost.
    if not np.abs(products).max() <= _LONGEST_PRODUCT:
        raise InvalidArgument("normalised", True, "False, because not all vectors have length 1")
    return np.asarray(np.clip(products, -1.0, 1.0))


def _unit(rows: FloatArray) -> FloatArray:
    if not rows.size:
        return rows
    scale = np.abs(rows).max(axis=1, keepdims=True)
    scaled = rows / np.where(scale > 0, scale, 1.0)
    length = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))[:, None]
    return np.asarray(scaled / np.where(length > 0, length, 1.0))


class _Dimension(int):
    """A dimension that an error message shows as such."""

    def __repr__(self) -> str:
        return f"dimension {int(self)}"
