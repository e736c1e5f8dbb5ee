r"""Soft-lexical late interaction: each token of a query is met by the token of a text that is most like it.

"What is her cat called?" shares no rare word with "her kitten is named Miso"; token by token it is close.
Every token of a text keeps its own static vector, and nothing is averaged (Khattab & Zaharia, "ColBERT",
SIGIR 2020, without its transformer). A static vector of Model2Vec is the longer the less common its token is
(Tulkens & van Dongen, 2024), so its length weighs the token.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from memorata._blas import ON_ONE_THREAD
from memorata.model.checks import FloatArray, IntArray
from memorata.model.parameter import Declared

Rows = npt.NDArray[np.float32]


class RowSource(Protocol):
    """A table that makes its rows when they are asked for."""

    def __len__(self) -> int: ...

    def take(self, tokens: IntArray, axis: int) -> Rows:
        """Return the rows of some tokens; the axis is always 0."""
        ...


def token_weights(lengths: npt.NDArray[np.floating[Any]]) -> FloatArray:
    """Return what each token counts in a query: ``min(1, length / median length)``; 0 for an empty row.

    Examples
    --------
    >>> token_weights(np.array([0.0, 0.5, 1.0, 4.0]))
    array([0. , 0.5, 1. , 1. ])
    """
    lengths = lengths.astype(np.float64)
    positive = lengths[lengths > 0]
    if not positive.size:
        return np.zeros(lengths.size)
    weights: FloatArray = np.minimum(1.0, lengths / float(np.median(positive)))
    return weights


_COMMON, _RARE = 5.0, 12.0
_MIN_WEIGHT: Final = 0.05


def rarity_weights(scores: FloatArray) -> FloatArray:
    """Return what each token counts in a query by how likely it is, for vectors whose length says nothing.

    It grows evenly from 0.05 for a token as common as ``exp(-5)`` to 1 for one as rare as ``exp(-12)``. A
    token that stands for no text has no probability, and counts 0.

    Parameters
    ----------
    scores
        The logarithms of their probabilities; 0 for those that have none.

    Examples
    --------
    >>> rarity_weights(np.array([0.0, -3.0, -8.5, -20.0]))
    array([0.  , 0.05, 0.5 , 1.  ])
    """
    grown = (-scores - _COMMON) / (_RARE - _COMMON)
    weights: FloatArray = np.where(scores < 0, np.clip(grown, _MIN_WEIGHT, 1.0), 0.0)
    return weights


LONG: Final = 64
"""Beyond so many distinct tokens a text meets some of them by its length alone."""
LENGTH_LOSS: Final = 0.2


def length_factors(sizes: IntArray) -> FloatArray:
    """Return ``1 / (1 + 0.2 · max(0, ln(size / 64)))``: a long text meets every token halfway, by chance.

    Examples
    --------
    >>> length_factors(np.array([0, 64, 640])).round(3)
    array([1.   , 1.   , 0.685])
    """
    factors: FloatArray = 1.0 / (1.0 + LENGTH_LOSS * np.log(np.maximum(sizes, LONG) / LONG))
    return factors


def soft_matches(
    query: IntArray,
    tokens: IntArray,
    sizes: IntArray,
    rows: Rows | RowSource,
    *,
    cut: Annotated[float, Declared("Cosines of tokens below this are chance.", 0, 1)] = 0.2,
) -> FloatArray:
    r"""Return how well each text meets each token of a query: a row per text, a column per token.

    .. math:: m_{dt} = \max_{u \in d} \; [\cos(t, u) \ge \mathrm{cut}] \, \cos(t, u)^{1.5}

    Parameters
    ----------
    query
        The tokens of the query.
    tokens, sizes
        The tokens of all texts one after the other, and how many each text has; a text may have none.
    rows
        For every token of the table its vector, of length 1 or 0.
    cut
        From 0 to 1.

    Examples
    --------
    >>> rows = np.array([[1, 0], [0.6, 0.8], [0, 1]], np.float32)
    >>> soft_matches(np.array([0]), np.array([2, 1, 2]), np.array([2, 1]), rows).round(3)
    array([[0.465],
           [0.   ]])
    """
    met = np.zeros((sizes.size, query.size))
    if not tokens.size or not query.size:
        return met
    # Each distinct token is compared once. Of its occurrences the last one is in `places`: to find them so
    # takes half the time of sorting all tokens, or of a mark for each token of the table.
    places = np.empty(len(rows), np.int32)
    occurrences = np.arange(tokens.size, dtype=np.int32)
    places[tokens] = occurrences
    distinct = tokens[places[tokens] == occurrences]
    distinct.sort()
    places[distinct] = occurrences[: distinct.size]
    with ON_ONE_THREAD:
        cosines = rows.take(distinct, axis=0) @ rows.take(query, axis=0).T
    np.multiply(cosines, cosines >= cut, out=cosines)
    cosines *= np.sqrt(cosines)
    nonempty = sizes > 0
    starts = (np.cumsum(sizes) - sizes)[nonempty]
    met[nonempty] = np.maximum.reduceat(cosines.take(places[tokens], axis=0), starts, axis=0)
    return met
