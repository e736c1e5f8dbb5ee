"""BM25: how much the terms a text shares with a query are worth, alone or read with its neighbours.

Sources: Robertson et al., "Okapi at TREC-3", 1994; the idf that is never negative is Lucene's. The index sums
``weight · idf · saturation`` over its posting lists; here is what one posting is worth.

"Yes, last summer, with Tom" answers a query whose words stand in the turn before. So a text can be scored as
a window: its own terms, and those of its neighbours in the session at a discount. BM25 then saturates over
the whole window (Robertson, Zaragoza & Taylor's BM25F, 2004, with neighbours as the fields), so that a word
said twice in two turns does not count twice. Only terms are read so; the vector of a turn stays its own,
since embedding neighbours together blurs both. The discount grows with the length of a text (a long text
speaks for itself) and with the pause between it and its neighbour.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache
from typing import Annotated, Any, Final, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.checks import FloatArray
from memorata.model.errors import InvalidArgument
from memorata.model.parameter import Declared

REACH: Final = 2
"""How many neighbours on either side are read."""
STEPS: Final = (-1, -2, 1, 2)
"""The neighbours in the order every function here takes them: before, the one before that, after, …"""


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


@frozen
class ContextWindow:
    """How much of what was said around a text is read with it.

    - `before`, `after`: the weight of the neighbour before and after; the next but one has the square of it.
    - `words`: the length up to which a text leans fully on its neighbours; beyond, in inverse proportion.
    - `hours`: the pause that halves a neighbour's weight.

    >>> ContextWindow(before=0.5).weights(np.array([10.0, 60.0]), np.zeros((4, 2))).round(3)[:2]
    array([[0.5  , 0.25 ],
           [0.25 , 0.125]])
    """

    before: Annotated[float, Declared("Weight of the words said just before.", 0, 1)] = 0.7
    after: Annotated[float, Declared("Weight of the words said just after.", 0, 1)] = 0.3
    words: Annotated[float, Declared("Length up to which a text leans on its neighbours.", 1, 1000)] = 30.0
    hours: Annotated[float, Declared("The pause that halves a neighbour's weight.", 0.01, 1000)] = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "before", checks.probability("before", self.before))
        object.__setattr__(self, "after", checks.probability("after", self.after))
        object.__setattr__(self, "words", checks.at_least("words", self.words, 1))
        object.__setattr__(self, "hours", checks.above("hours", self.hours, 0))

    def weights(self, lengths: FloatArray, pauses: FloatArray) -> FloatArray:
        """Return ``base · min(1, words/length) · 0.5^(pause/hours)``, a row for each of `STEPS`.

        `pauses` are the hours between each text and its neighbours; infinite where there is none.
        """
        lean = np.minimum(1.0, self.words / np.maximum(lengths, 1.0))
        result: FloatArray = _bases(self.before, self.after) * lean * np.exp2(-pauses / self.hours)
        return result


def window_bm25(
    frequencies: FloatArray,
    neighbour_frequencies: Iterable[FloatArray],
    lengths: FloatArray,
    neighbour_lengths: npt.NDArray[np.floating[Any]],
    weights: FloatArray,
    scales: FloatArray,
    average_length: float,
    k1: float,
    b: float,
) -> FloatArray:
    """Return what each term adds to each text when it is read with its neighbours.

    With ``x = tf + Σ w·tf_neighbour`` and ``L = len + Σ w·len_neighbour``, a term adds
    ``scale · x·(k1+1) / (x + k1·(1 - b + b·L/Lavg))``, where `Lavg` is the average length times the mean of
    ``1 + Σ w`` over the texts. Without neighbours it is BM25.

    - `frequencies`, `neighbour_frequencies`: how often each term occurs in each text, and the same for each
      neighbour: rows are terms.
    - `lengths`, `neighbour_lengths`: the length of each text, and a row of lengths for each neighbour.
    - `weights`: a row for each neighbour; 0 for one that is not there, whatever its frequencies and length.
    - `scales`: the idf of each term times its weight in the query.
    - `average_length`: the mean length over the whole collection, above 0.
    - `k1`, `b`: BM25's parameters.
    """
    together, length, average = frequencies, lengths, average_length
    if weights.size:
        around = np.zeros(frequencies.shape)
        for weight, tf in zip(weights, neighbour_frequencies, strict=True):
            around += weight * tf
        together = frequencies + around
        length = lengths + (weights * neighbour_lengths).sum(axis=0)
        average = average_length * (1.0 + float(weights.sum(axis=0).mean()))
    norm = k1 * (1 - b + b * (length / average))
    gained: FloatArray = together * (k1 + 1)
    # A term that does not occur adds nothing, also where the norm is 0 and the fraction would be 0/0.
    np.divide(gained, together + norm, out=gained, where=True if k1 * (1 - b) > 0 else together > 0)
    gained *= scales[:, np.newaxis]
    return gained


@lru_cache(maxsize=64)
def _bases(before: float, after: float) -> FloatArray:
    """Return the weight of each neighbour of `STEPS` as a column."""
    column = np.array([[(before if step < 0 else after) ** abs(step)] for step in STEPS])
    column.flags.writeable = False
    return column
