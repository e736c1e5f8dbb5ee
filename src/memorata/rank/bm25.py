"""BM25: how well a text answers a query, by the words they share.

Sources: Robertson et al., "Okapi at TREC-3", 1994; the idf that is never negative is Lucene's. The scorer
asks a :class:`Statistics` provider for three counts and never knows where they are kept (tantivy's idea).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Protocol, runtime_checkable

import numpy as np

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.checks import FloatArray, Numbers
from memorata.model.errors import InvalidArgument
from memorata.model.explanation import Explanation
from memorata.model.parameter import Declared


@runtime_checkable
class Statistics(Protocol):
    """What a collection of texts tells a lexical scorer."""

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
    """Return `statistics` if it answers what a lexical scorer asks."""
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
    found = checks.whole("document_frequency", document_frequency)
    total = checks.whole("document_count", document_count)
    if found > total:
        raise InvalidArgument("document_frequency", found, f"at most the document count, {total}")
    return math.log((total - found + 0.5) / (found + 0.5) + 1) if found else 0.0


@frozen
class BM25:
    """The scorer: ``sum over query terms of qf · idf · tf·(k1+1) / (tf + k1·(1 - b + b·len/avglen))``.

    Parameters
    ----------
    k1
        How soon repeating a term stops helping; at least 0. 1.2 and 0.9 are common besides 1.5.
    b
        How much long texts are held back, from 0 to 1.

    Examples
    --------
    >>> scorer = BM25()
    >>> scorer.term_scores([2.0, 1.0], [4.0, 8.0], idf=1.0, average_length=6.0).round(4)
    array([1.6   , 0.8696])
    """

    k1: Annotated[float, Declared("How soon repeating a term stops helping.", 0, 3)] = 1.5
    b: Annotated[float, Declared("How much long texts are held back.", 0, 1)] = 0.75

    def __post_init__(self) -> None:
        object.__setattr__(self, "k1", checks.at_least("k1", self.k1, 0))
        object.__setattr__(self, "b", checks.probability("b", self.b))

    def term_scores(
        self, frequencies: Numbers, lengths: Numbers, *, idf: float, average_length: float
    ) -> FloatArray:
        """Return what one term adds to each text that has it.

        Parameters
        ----------
        frequencies
            How often the term occurs in each text.
        lengths
            The number of tokens of each text.
        idf
            The term's inverse document frequency.
        average_length
            The mean length over the whole collection, above 0.
        """
        tf, length = checks.counts("frequencies", frequencies), checks.counts("lengths", lengths)
        checks.same_length(frequencies=tf, lengths=length)
        telling, average = checks.number("idf", idf), checks.above("average_length", average_length, 0)
        with checks.finite_arithmetic("frequencies", frequencies):
            return self.impacts(tf, length, telling, average)

    def impacts(
        self, tf: FloatArray, length: FloatArray, idf: float | FloatArray, average_length: float
    ) -> FloatArray:
        """Do the work of :meth:`term_scores` on values that are known to be good."""
        room = self.k1 * (1 - self.b + self.b * (length / average_length))
        with np.errstate(invalid="ignore"):
            # A term that does not occur adds nothing, also where k1 = 0 makes the fraction 0/0.
            return np.where(tf > 0, idf * (tf * (self.k1 + 1) / (tf + room)), 0.0)

    def score(self, query: Sequence[str], document: Sequence[str], statistics: Statistics) -> float:
        """Return the score of one tokenised text for a tokenised query."""
        return self.explain(query, document, statistics).value

    def explain(self, query: Sequence[str], document: Sequence[str], statistics: Statistics) -> Explanation:
        """Return the score of one tokenised text as a sum over the query's terms.

        A term that stands in the query several times counts several times. Terms that the text or the
        collection does not have add nothing and are left out; with none left the score is 0.

        Examples
        --------
        >>> from memorata.rank import Postings
        >>> texts = [["green", "tea"], ["black", "tea", "milk"]]
        >>> print(BM25().explain(["green", "tea"], texts[0], Postings(texts)))
        0.962054 bm25 = sum of
          0.7617 green (1 in query, 1 in text, in 1 of 2 texts)
          0.200353 tea (1 in query, 1 in text, in 2 of 2 texts)
        """
        asked, have = _counted("query", query), _counted("document", document)
        counts = checked_statistics(statistics)
        length = float(sum(have.values()))
        parts = []
        for term, times in asked.items():
            frequency = counts.document_frequency(term)
            if not frequency or term not in have:
                continue
            idf = inverse_document_frequency(frequency, counts.document_count)
            impact = self.term_scores([have[term]], [length], idf=idf, average_length=counts.average_length)
            value = times * float(impact[0])
            note = f"{times} in query, {have[term]} in text, in {frequency} of {counts.document_count} texts"
            parts.append(Explanation.leaf(term, value, note))
        return (
            Explanation.of("sum", "bm25", parts)
            if parts
            else Explanation.leaf("bm25", 0.0, "no shared terms")
        )


def _counted(argument: str, tokens: Sequence[str]) -> Mapping[str, int]:
    result: dict[str, int] = {}
    for token in checks.texts(argument, tokens):
        result[token] = result.get(token, 0) + 1
    return result
