"""A collection of tokenised texts as arrays: which term stands where, how often, worth how much.

The impacts (what a term adds to each text's BM25) are computed once, so a query is a sum over slices. The
idea of eager scoring is BM25S's (Lù, "BM25S: orders of magnitude faster lexical search via eager sparse
scoring", 2024). This form is fixed once made and lives in memory; the stores have their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, repeat

import numpy as np

from memorata.model import checks
from memorata.model.checks import FloatArray, IntArray
from memorata.model.errors import InvalidArgument
from memorata.rank.bm25 import BM25
from memorata.rank.order import ranked

_STRING = {str}
_MANY = 2_000


class Postings:
    """Tokenised texts, ready to be searched; also a :class:`~memorata.rank.bm25.Statistics`.

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
        vocabulary: dict[str, int] = {}
        # In one pass, all of it in C: a new term's number is how many were met before it.
        met = map(len, repeat(vocabulary))
        flat = chain.from_iterable(tokens)
        terms = np.fromiter(map(vocabulary.setdefault, flat, met), np.intp, int(self.lengths.sum()))
        rows = np.repeat(np.arange(len(tokens)), self.lengths.astype(np.intp))
        keys, tf = np.unique(terms * max(len(tokens), 1) + rows, return_counts=True)
        term_of, rows = np.divmod(keys, max(len(tokens), 1))
        frequencies = np.bincount(term_of, minlength=len(vocabulary))
        idf = np.log((len(tokens) - frequencies + 0.5) / (frequencies + 0.5) + 1)
        with checks.finite_arithmetic("scorer", scorer):
            impacts = self.scorer.impacts(
                tf.astype(np.float64), self.lengths[rows], idf[term_of], self.average_length or 1.0
            )
        ends = np.cumsum(frequencies).tolist()
        self._terms = {
            term: _Term(rows[start:end], impacts[start:end], len(tokens))
            for term, start, end in zip(vocabulary, [0, *ends], ends, strict=False)
        }

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
        known = self._terms.get(checks.text("term", term))
        return 0 if known is None else known.rows.size

    def scores(self, query: Sequence[str]) -> FloatArray:
        """Return the BM25 score of every text; a term given several times counts several times.

        They are exactly the scores that :meth:`BM25.explain` explains, also for the terms that many of many
        texts have, which are kept in another form.

        Examples
        --------
        >>> texts = [["green", "tea"], ["tea", "milk"], *([["tea"]] * 2000)]
        >>> postings, query = Postings(texts), ["milk", "tea", "green", "tea"]
        >>> explained = [BM25().score(query, text, postings) for text in texts]
        >>> postings.scores(query).tolist() == explained
        True
        """
        result: FloatArray | None = None
        rows: list[IntArray] = []
        impacts: list[FloatArray] = []
        # Sums are made term after term, as an explanation makes them: same order, same bits.
        for word, times in _multiplicities(query).items():
            term = self._terms.get(word)
            if term is None:
                continue
            if term.everywhere is None:
                rows.append(term.rows)
                impacts.append(times * term.impacts if times > 1 else term.impacts)
            else:
                result = self._added(result, rows, impacts)
                result += times * term.everywhere if times > 1 else term.everywhere
        return self._added(result, rows, impacts)

    def search(self, query: Sequence[str], limit: int = 10) -> tuple[IntArray, FloatArray]:
        """Return the rows of the best texts and their scores, best first; only texts that share a term."""
        most = checks.whole("limit", limit)
        scores = self.scores(query)
        rows = ranked(scores, most)
        found = scores[rows]
        sharing = np.count_nonzero(found)
        return (rows, found) if sharing == found.size else (rows[:sharing], found[:sharing])

    def _added(
        self, result: FloatArray | None, rows: list[IntArray], impacts: list[FloatArray]
    ) -> FloatArray:
        """Return the result, None being zeros, with the impacts added in order; both lists are emptied."""
        texts = self.lengths.size
        if not rows:
            return np.zeros(texts) if result is None else result
        at, added = np.concatenate(rows), np.concatenate(impacts)
        rows.clear()
        impacts.clear()
        if result is None:
            return np.bincount(at, added, texts).astype(np.float64, copy=False)
        np.add.at(result, at, added)
        return result


class _Term:
    """Where a term stands, and what it adds there; a frequent one also as one number for every text."""

    __slots__ = ("everywhere", "impacts", "rows")

    def __init__(self, rows: IntArray, impacts: FloatArray, texts: int) -> None:
        self.rows, self.impacts = rows, impacts
        self.everywhere: FloatArray | None = None
        # Adding whole arrays is several times as fast as adding at chosen places, but with few texts the call
        # costs more than the adding.
        if texts >= _MANY and 2 * rows.size > texts:
            self.everywhere = np.zeros(texts)
            self.everywhere[rows] = impacts


def _multiplicities(query: Sequence[str]) -> dict[str, int]:
    terms = _strings("query", query)
    result = dict.fromkeys(terms, 1)
    if len(result) < len(terms):
        result = dict.fromkeys(terms, 0)
        for term in terms:
            result[term] += 1
    return result


def _strings(argument: str, tokens: Sequence[str]) -> Sequence[str]:
    """Return the tokens once they are known to be strings."""
    # Looking at the types alone is ten times as fast as naming every token, which only an error needs.
    plain = isinstance(tokens, list | tuple) and set(map(type, tokens)) <= _STRING
    return tokens if plain else checks.texts(argument, tokens)
