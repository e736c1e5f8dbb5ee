"""A collection of tokenised texts as arrays: which term stands where, how often, worth how much.

The impacts (what a term adds to each text's BM25) are computed once, so a query is a sum over slices. The
idea of eager scoring is BM25S's (Lù, "BM25S: orders of magnitude faster lexical search via eager sparse
scoring", 2024). This form is fixed once made and lives in memory; the stores have their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, repeat

import numpy as np

from recollect.model import checks
from recollect.model.checks import FloatArray, IntArray
from recollect.model.errors import InvalidArgument
from recollect.rank.bm25 import BM25
from recollect.rank.order import ranked

_STRING = {str}


class Postings:
    """Tokenised texts, ready to be searched; also a :class:`~recollect.rank.bm25.Statistics`.

    Parameters
    ----------
    documents
        One list of tokens per text; a text may be empty.
    scorer
        The BM25 whose parameters the impacts are computed with.

    Examples
    --------
    >>> postings = Postings([["green", "tea"], ["black", "tea", "milk"], ["coffee"]])
    >>> postings.document_count, postings.document_frequency("tea"), postings.average_length
    (3, 2, 2.0)
    >>> postings.scores(["green", "tea"]).round(4)
    array([1.4508, 0.3837, 0.    ])
    >>> rows, scores = postings.search(["tea"], limit=1)
    >>> rows
    array([0])
    """

    def __init__(self, documents: Sequence[Sequence[str]], scorer: BM25 | None = None) -> None:
        if isinstance(documents, str) or not isinstance(documents, Sequence):
            raise InvalidArgument("documents", documents, "a list of token lists")
        tokens = [_strings(f"documents[{row}]", document) for row, document in enumerate(documents)]
        if scorer is not None and not isinstance(scorer, BM25):
            raise InvalidArgument("scorer", scorer, "a BM25 or None")
        self.scorer = BM25() if scorer is None else scorer
        self.lengths = np.fromiter(map(len, tokens), np.float64, len(tokens))
        self._vocabulary: dict[str, int] = {}
        # In one pass, all of it in C: a new term's number is how many were met before it.
        met = map(len, repeat(self._vocabulary))
        flat = chain.from_iterable(tokens)
        terms = np.fromiter(map(self._vocabulary.setdefault, flat, met), np.intp, int(self.lengths.sum()))
        rows = np.repeat(np.arange(len(tokens)), self.lengths.astype(np.intp))
        keys, tf = np.unique(terms * max(len(tokens), 1) + rows, return_counts=True)
        term_of, self._rows = np.divmod(keys, max(len(tokens), 1))
        self._frequencies = np.bincount(term_of, minlength=len(self._vocabulary))
        self._starts = [0, *np.cumsum(self._frequencies).tolist()]
        idf = np.log((len(tokens) - self._frequencies + 0.5) / (self._frequencies + 0.5) + 1)
        with checks.finite_arithmetic("scorer", scorer):
            self._impacts = self.scorer.impacts(
                tf.astype(np.float64), self.lengths[self._rows], idf[term_of], self.average_length or 1.0
            )

    @property
    def document_count(self) -> int:
        """How many texts there are."""
        return self.lengths.size

    @property
    def average_length(self) -> float:
        """The mean number of tokens per text; 0 for no texts."""
        return float(self.lengths.mean()) if self.lengths.size else 0.0

    def document_frequency(self, term: str) -> int:
        """Return in how many texts `term` occurs."""
        number = self._vocabulary.get(checks.text("term", term))
        return 0 if number is None else int(self._frequencies[number])

    def scores(self, query: Sequence[str]) -> FloatArray:
        """Return the BM25 score of every text; a term given several times counts several times."""
        rows, impacts = [], []
        for term, times in _multiplicities(query).items():
            number = self._vocabulary.get(term)
            if number is not None:
                span = slice(self._starts[number], self._starts[number + 1])
                rows.append(self._rows[span])
                impacts.append(times * self._impacts[span] if times > 1 else self._impacts[span])
        if not rows:
            return np.zeros(self.lengths.size)
        # bincount adds in input order, term after term, as an explanation does: same order, same bits.
        added = np.bincount(np.concatenate(rows), np.concatenate(impacts), self.lengths.size)
        return added.astype(np.float64, copy=False)

    def search(self, query: Sequence[str], limit: int = 10) -> tuple[IntArray, FloatArray]:
        """Return the rows of the best texts and their scores, best first; only texts that share a term."""
        most = checks.whole("limit", limit)
        scores = self.scores(query)
        rows = ranked(scores, most)
        rows = rows[scores[rows] > 0]
        return rows, scores[rows]


def _multiplicities(query: Sequence[str]) -> dict[str, int]:
    result: dict[str, int] = {}
    for term in _strings("query", query):
        result[term] = result.get(term, 0) + 1
    return result


def _strings(argument: str, tokens: Sequence[str]) -> Sequence[str]:
    """Return the tokens once they are known to be strings."""
    # Looking at the types alone is ten times as fast as naming every token, which only an error needs.
    plain = isinstance(tokens, list | tuple) and set(map(type, tokens)) <= _STRING
    return tokens if plain else checks.texts(argument, tokens)
