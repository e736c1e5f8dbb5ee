"""BM25: how much the terms a text shares with a query are worth.

Sources: Robertson et al., "Okapi at TREC-3", 1994; the idf that is never negative is Lucene's. The index sums
``weight · idf · saturation`` over its posting lists; here is what one posting is worth.
"""

from __future__ import annotations

import math
from typing import Annotated, Protocol, runtime_checkable

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.checks import FloatArray
from memorata.model.errors import InvalidArgument
from memorata.model.parameter import Declared


@runtime_checkable
class Statistics(Protocol):
    """What a collection of texts tells a lexical scorer, which never knows where the counts are kept."""

    @property
    def document_count(self) -> int:
        """How many texts there are."""
        ...

    @property
    def average_length(self) -> float:
        """The mean number of tokens per text; 0 for no texts."""
        ...

    def document_frequency(self, term: str) -> int:
        """Return in how many texts `term` occurs."""
        ...


def checked_statistics(statistics: object) -> Statistics:
    """Return `statistics` if it has the counts a lexical scorer reads."""
    if not isinstance(statistics, Statistics):
        raise InvalidArgument("statistics", statistics, "an object with the counts that Statistics names")
    return statistics


def inverse_document_frequency(document_frequency: int, document_count: int) -> float:
    """Return ``ln((N - df + 0.5) / (df + 0.5) + 1)``: how telling a term is; 0 for one no text has.

    Examples
    --------
    >>> round(inverse_document_frequency(2, 30), 4)
    2.5177
    >>> inverse_document_frequency(0, 30)
    0.0
    """
    frequency = checks.whole("document_frequency", document_frequency)
    total = checks.whole("document_count", document_count)
    if frequency > total:
        raise InvalidArgument("document_frequency", frequency, f"at most the document count, {total}")
    return idf(frequency, total) if frequency else 0.0


def idf(frequency: int, count: int) -> float:
    """Compute :func:`inverse_document_frequency` without checks; a term of no text counts as the rarest."""
    return math.log((count - frequency + 0.5) / (frequency + 0.5) + 1)


@frozen
class BM25:
    """The parameters of ``sum over query terms of qf · idf · tf·(k1+1) / (tf + k1·(1 - b + b·len/avglen))``.

    Parameters
    ----------
    k1
        How soon repeating a term stops helping; at least 0. 1.2 and 0.9 are common besides 1.5.
    b
        How much long texts are held back, from 0 to 1.

    Examples
    --------
    >>> import numpy as np
    >>> BM25().saturation(np.array([2.0, 1.0]), np.array([4.0, 8.0]) / 6.0).round(4)
    array([1.6   , 0.8696])
    """

    k1: Annotated[float, Declared("How soon repeating a term stops helping.", 0, 3)] = 1.5
    b: Annotated[float, Declared("How much long texts are held back.", 0, 1)] = 0.75

    def __post_init__(self) -> None:
        object.__setattr__(self, "k1", checks.at_least("k1", self.k1, 0))
        object.__setattr__(self, "b", checks.probability("b", self.b))

    def saturation(self, frequencies: FloatArray, relative_lengths: FloatArray) -> FloatArray:
        """Return what each posting is worth before its idf: the tf part of the formula.

        Parameters
        ----------
        frequencies
            How often the term occurs in each text; above 0, as in a posting list.
        relative_lengths
            The length of each text divided by the mean over the collection.
        """
        norm = self.k1 * (1 - self.b) + (self.k1 * self.b) * relative_lengths
        result: FloatArray = frequencies * (self.k1 + 1) / (frequencies + norm)
        return result
