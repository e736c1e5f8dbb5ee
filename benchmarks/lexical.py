"""BM25 against bm25s, by its numpy and by its compiled form, and against an inverted index by hand.

All get the same tokens. The texts are made up: words drawn by Zipf's law, about sixty to a text, which is how
long a remembered turn of a conversation is. bm25s leaves out the constant factor k1 + 1, so its scores are
multiplied by it before the two are compared.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import bm25s
import numpy as np

from benchmarks.postings import Postings
from benchmarks.timing import Rival, Subject

_K1, _B = 1.5, 0.75
_LIMIT = 10
_VOCABULARY = 20_000
_LENGTH = 60


def subjects(size: int) -> Iterator[Subject]:
    """Yield searches of `size` texts with short, middling and long queries, and the making of the index."""
    chance = np.random.default_rng(size)
    texts = [_words(chance, max(1, int(length))) for length in chance.normal(_LENGTH, 20, size)]
    postings, naive = Postings(texts), ByHand(texts)
    with_numpy, with_numba = _bm25s(texts, "numpy"), _bm25s(texts, "numba")
    for length in (3, 10, 30):
        query = [texts[row][0] for row in chance.integers(0, size, length)]
        yield Subject(
            f"bm25, query of {length} words, first 10",
            partial(postings.search, query, _LIMIT),
            lambda result: result[1],
            [
                Rival(
                    "bm25s retrieve, numpy", partial(_retrieved, with_numpy, query), _scores, is_library=True
                ),
                Rival(
                    "bm25s get_scores and topk",
                    partial(_top, with_numpy, query),
                    lambda result: result[0] * (_K1 + 1),
                    is_library=True,
                ),
                Rival(
                    "bm25s retrieve, numba", partial(_retrieved, with_numba, query), _scores, is_library=True
                ),
                Rival("inverted index", partial(naive.search, query), lambda pairs: [s for _, s in pairs]),
            ],
        )
    yield Subject(
        "bm25, indexing",
        partial(Postings, texts),
        lambda made: made.count,
        [Rival("bm25s index", partial(_bm25s, texts, "numpy"), lambda made: made.scores["num_docs"], True)],
    )


class ByHand:
    """The inverted index that one writes first: a dictionary of lists, scored as it is read."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        self.lengths = [len(text) for text in texts]
        self.average = sum(self.lengths) / len(texts)
        self.index: dict[str, list[tuple[int, int]]] = {}
        for row, text in enumerate(texts):
            for term, times in Counter(text).items():
                self.index.setdefault(term, []).append((row, times))

    def search(self, query: Sequence[str]) -> list[tuple[int, float]]:
        """Return the best rows with their scores."""
        scores: dict[int, float] = {}
        for term in query:
            found = self.index.get(term, [])
            idf = math.log((len(self.lengths) - len(found) + 0.5) / (len(found) + 0.5) + 1)
            for row, tf in found:
                length_norm = _K1 * (1 - _B + _B * self.lengths[row] / self.average)
                scores[row] = scores.get(row, 0.0) + idf * tf * (_K1 + 1) / (tf + length_norm)
        return sorted(scores.items(), key=lambda pair: pair[1], reverse=True)[:_LIMIT]


def _words(chance: np.random.Generator, count: int) -> list[str]:
    return [f"word{rank}" for rank in (chance.zipf(1.3, count) % _VOCABULARY).tolist()]


def _bm25s(texts: Sequence[Sequence[str]], backend: str) -> Any:  # noqa: ANN401 - bm25s has no types
    made = bm25s.BM25(k1=_K1, b=_B, method="lucene", backend=backend)
    made.index(texts, show_progress=False)
    return made


def _retrieved(made: Any, query: list[str]) -> Any:  # noqa: ANN401
    return made.retrieve([query], k=_LIMIT, show_progress=False)


def _top(made: Any, query: list[str]) -> Any:  # noqa: ANN401
    return bm25s.selection.topk(made.get_scores(query), k=_LIMIT, backend="numpy")


def _scores(result: Any) -> Any:  # noqa: ANN401
    return result.scores[0] * (_K1 + 1)
