"""A fixed collection of texts over the index's own posting lists, for benchmarks that need no database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from memorata.index.lexical import Part, Sums, TermList, impacts, saturated
from memorata.model.checks import FloatArray, IntArray
from memorata.rank.bm25 import BM25


class Postings:
    """Tokenised texts, ready to be searched as the engine searches one field."""

    def __init__(self, documents: Sequence[Sequence[str]], scorer: BM25 | None = None) -> None:
        self.count = len(documents)
        lengths = np.array([len(document) for document in documents], np.float32)
        average = float(lengths.mean()) if self.count else 1.0
        slots: dict[str, list[int]] = {}
        frequencies: dict[str, list[int]] = {}
        for slot, document in enumerate(documents):
            for term, times in Counter(document).items():
                slots.setdefault(term, []).append(slot)
                frequencies.setdefault(term, []).append(times)
        lists = [
            TermList(np.array(slots[term], np.int32), np.array(frequencies[term], np.uint16))
            for term in slots
        ]
        worth = saturated(lists, [lengths] * len(lists), [average] * len(lists), scorer or BM25())
        self._parts = {
            term: Part("content", term, values, 1.0, lengths, average, values.slots.size)
            for term, values in zip(slots, worth, strict=True)
        }

    def scores(self, query: Sequence[str]) -> FloatArray:
        """Return the BM25 score of every text; a term given several times counts several times."""
        sums = self._sums(query)
        return np.zeros(self.count) if sums is None else sums.at(np.arange(self.count))

    def search(self, query: Sequence[str], limit: int = 10) -> tuple[IntArray, FloatArray]:
        """Return the best texts and their scores, best first; only texts that share a term."""
        sums = self._sums(query)
        return (np.zeros(0, np.intp), np.zeros(0)) if sums is None else sums.best(limit, None)

    def _sums(self, query: Sequence[str]) -> Sums | None:
        parts = [self._parts[term] for term in query if term in self._parts]
        return Sums.of(*impacts(parts, self.count), self.count) if parts else None
