"""The lexical embedder: texts as bags of stemmed words, for when no neural model can be loaded.

BM25 (Robertson et al., 1994) is a sum over shared terms of two factors, and so a dot product of two vectors::

    document:  tf·(k1+1) / (tf + k1)        one weight per term, repetition saturating
    query:     tf · idf                     idf = ln((N - df + 0.5)/(df + 0.5) + 1), 1 without statistics

Each term is hashed to one of a fixed number of buckets with a sign (Weinberger et al., Feature Hashing,
2009), so that terms which share a bucket cancel out on average. Both sides are scaled to unit length, which
takes the part of BM25's own length normalisation. The statistics weigh queries only: a document's vector
never goes out of date, and asking changes no statistics.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np

from memorata.embed.port import Prompts, Vectors
from memorata.embed.vectors import checked_text, checked_texts, unit_rows
from memorata.model.checks import at_least, whole
from memorata.rank.bm25 import Statistics, inverse_document_frequency
from memorata.text.analysers import ANALYSERS, Analyser

DIMENSION = 512
K1 = 1.5
SIMILARITY_THRESHOLD = 0.18
"""The noise ceiling without statistics, measured as the catalogue's were."""


class LexicalEmbedder:
    """Hashed bags of words.

    Parameters
    ----------
    dimension
        How many buckets terms are hashed to.
    analyser
        How a text becomes terms.
    statistics
        The collection's counts, which weigh the terms of a query; None weighs all terms alike.
    k1
        How soon repeating a term stops helping.

    Examples
    --------
    >>> embedder = LexicalEmbedder()
    >>> roses, engine = embedder.embed_documents(["She planted roses.", "The engine is broken."])
    >>> query = embedder.embed_query("Who plants a rose?")
    >>> float(query @ roses) > 0.8 > 0.2 > abs(float(query @ engine))
    True
    """

    def __init__(
        self,
        *,
        dimension: int = DIMENSION,
        analyser: Analyser = ANALYSERS["snowball"],
        statistics: Statistics | None = None,
        k1: float = K1,
    ) -> None:
        self.dimension = whole("dimension", dimension, 1)
        self._analyser = analyser
        self._statistics = statistics
        self._k1 = at_least("k1", k1, 0.0)
        settings = hashlib.sha256(repr(self._analyser).encode()).hexdigest()
        # Once: every write and recall asks for it, and an interrupted repr may leave "..." behind.
        self.name = f"lexical-{self.dimension}@{settings[:8]}:k1={self._k1:g}"

    quick: Final = True
    """That a query takes less than a tenth of a millisecond."""
    queries_vary = True
    """Whether the vector of a query is another when the statistics of terms are."""
    max_tokens = None
    """A bag holds any number of words."""
    prompts = Prompts()
    similarity_threshold = SIMILARITY_THRESHOLD

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text; zeros for a text without terms."""
        contents = checked_texts(texts)
        rows = np.zeros((len(contents), self.dimension))
        for row, text in zip(rows, contents, strict=True):
            for term, count in Counter(self._analyser.tokens(text)).items():
                bucket, sign = _bucket(term, self.dimension)
                row[bucket] += sign * count * (self._k1 + 1) / (count + self._k1)
        return unit_rows(rows)

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a query; zeros when none of its terms is known."""
        row = np.zeros(self.dimension)
        for term, count in Counter(self._analyser.tokens(checked_text(text))).items():
            bucket, sign = _bucket(term, self.dimension)
            row[bucket] += sign * count * self._idf(term)
        vector: Vectors = unit_rows(row[None])[0]
        return vector

    def passages(self, text: str) -> list[str]:
        """Return the text itself: a bag needs no cutting."""
        return [checked_text(text)]

    def embed_passages(self, texts: Sequence[str]) -> list[Vectors]:
        """Return for each text its one row."""
        return list(self.embed_documents(texts)[:, None])

    def _idf(self, term: str) -> float:
        counts = self._statistics
        if counts is None or counts.document_count == 0:
            return 1.0
        return inverse_document_frequency(counts.document_frequency(term), counts.document_count)


@lru_cache(maxsize=1 << 14)
def _bucket(term: str, dimension: int) -> tuple[int, float]:
    """Return where a term goes and with which sign; the same on every machine and in every process."""
    digest = int.from_bytes(hashlib.blake2b(term.encode(), digest_size=8).digest(), "little")
    return (digest >> 1) % dimension, 1.0 if digest & 1 else -1.0
