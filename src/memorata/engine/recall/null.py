"""The null of a store: how close its memories come to questions about nothing in particular.

The best of many memories is close to any question, by chance, and how close depends on the store: how many
memories it has, how long they are, what they are about. So a store is asked sixty questions that are not
about it, in eleven languages, and the cosines of a query are compared with theirs (normalisation by a cohort
of impostors, as in the verification of speakers: Auckenthaler, Carey & Lloyd-Thomas, *Digital Signal
Processing* 10, 2000). Vectors of the questions come with the built-in model; other embedders embed them once
a process: a quick one at once, a slower one with each recall one, and a distant service none. Until a null is
known nothing is refused.
"""

from __future__ import annotations

import math
import tomllib
from collections import OrderedDict
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Final

import numpy as np

from memorata._blas import ON_ONE_THREAD
from memorata._frozen import frozen
from memorata.embed.port import Embedder
from memorata.engine.embedding import Embedding
from memorata.index.codes import Floats
from memorata.index.search import NamespaceIndex
from memorata.model.checks import FloatArray

DEPTH: Final = 5
"""How many of the closest memories of each question count together."""
_SAMPLE: Final = 512
"""Most memories that the questions are compared with; what more of them would add is extrapolated."""
_GROWTH: Final = 1.5
"""A null is taken anew once the store has grown, or shrunk, by this factor."""
_MAX_NULLS: Final = 1_000
_MAX_SECONDS: Final = 0.05
"""An embedder that takes longer for a query, such as a distant service, is not asked for more."""
_FOLDER: Final = Path(__file__).parent


@frozen
class Null:
    """Mean and spread, over unrelated questions, of the best cosine and of the mean of the five best.

    Both above the noise of the embedder, as a share of what is above it. `known` says whether a store was
    asked; otherwise they are those of a usual store of its size.
    """

    best: tuple[float, float]
    five: tuple[float, float]
    known: bool = True

    @classmethod
    def usual(cls, count: int) -> Null:
        """Return the null of a usual store of so many memories."""
        doublings = math.log2(max(count, 1))
        return cls(
            (0.0119 * doublings - 0.122, 0.097 - 0.0014 * doublings),
            (0.008 * doublings - 0.138, 0.083 - 0.0019 * doublings),
            known=False,
        )

    @classmethod
    def of(cls, memories: Floats, questions: Floats, noise: float, count: int) -> Null:
        """Return the null of vectors of memories, a sample of `count` of them, all of length 1."""
        with ON_ONE_THREAD:
            cosines = (memories @ questions.T).astype(np.float64)
        shares = (cosines - noise) / (1.0 - noise)
        best, five = _closest(shares)
        grown = math.log2(count / len(memories)) if count > len(memories) else 0.0
        if grown:
            # The best of twice as many memories is higher by as much as that of all is than that of half.
            of_half = _closest(shares[::2])
            best = best + grown * (best.mean() - of_half[0].mean())
            five = five + grown * (five.mean() - of_half[1].mean())
        return cls((float(best.mean()), float(best.std())), (float(five.mean()), float(five.std())))


class Nulls:
    """The nulls of the namespaces of an engine, each taken when it is first needed and as it grows."""

    def __init__(self) -> None:
        self._nulls: OrderedDict[object, tuple[int, Null]] = OrderedDict()
        self._vectors: dict[str, list[Floats]] = {}
        self._lock = Lock()

    def of(self, key: object, view: NamespaceIndex, meaning: Embedding, seconds: float) -> Null:
        """Return the null of a view; kept under `key`, and by embedder, unless that is None.

        `seconds` is how long the query took to embed; infinite where nothing else may be embedded.
        """
        embedder, count = meaning.embedder, view.status.count
        if embedder is None or not count:
            return Null.usual(count)
        kept_as = None if key is None else (key, embedder.name)
        with self._lock:
            kept = self._nulls.get(kept_as)
        if kept is not None and kept[0] / _GROWTH <= count <= kept[0] * _GROWTH:
            return kept[1]
        questions = self._embedded(embedder, meaning, seconds)
        if questions is None:
            return Null.usual(count)
        slots = view.without(None, ())
        sample = slots[np.arange(min(_SAMPLE, slots.size)) * slots.size // min(_SAMPLE, slots.size)]
        memories = _of_length_one(view.vectors(sample))
        if not len(memories):
            return Null.usual(count)
        null = Null.of(memories, questions, max(0.0, embedder.similarity_threshold), count)
        if kept_as is not None:
            with self._lock:
                self._nulls[kept_as] = count, null
                if len(self._nulls) > _MAX_NULLS:
                    self._nulls.popitem(last=False)
        return null

    def _embedded(self, embedder: Embedder, meaning: Embedding, seconds: float) -> Floats | None:
        """Return the vectors of all questions; None where some are not embedded yet, or cannot be."""
        shipped = _shipped(embedder.name)
        if shipped is not None:
            return shipped
        texts = questions()
        with self._lock:
            rows = self._vectors.setdefault(embedder.name, [])
            done = len(rows)
        more = len(texts) if meaning.quick and seconds < math.inf else int(seconds <= _MAX_SECONDS)
        for text in texts[done : done + more]:
            row, failure = meaning.query(text, None)
            if row is None or failure:
                return None
            with self._lock:
                rows.append(row)
        return _of_length_one(np.stack(rows[: len(texts)])) if len(rows) >= len(texts) else None


@lru_cache(maxsize=1)
def _data() -> dict[str, list[str] | dict[str, str]]:
    return tomllib.loads((_FOLDER / "null_questions.toml").read_text(encoding="utf-8"))


def questions() -> tuple[str, ...]:
    """Return the questions that are about nothing in particular."""
    return tuple(text for texts in _data().values() if isinstance(texts, list) for text in texts)


@lru_cache(maxsize=1)
def _shipped(name: str) -> Floats | None:
    """Return the vectors of the questions that come with Memorata; None if they are of another embedder."""
    vectors = _data()["vectors"]
    assert isinstance(vectors, dict)
    if vectors["embedder"] != name:
        return None
    return _of_length_one(np.load(_FOLDER / "null_vectors.npy").astype(np.float32))


def _closest(shares: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the best of each column, and the mean of its five best."""
    depth = min(DEPTH, len(shares))
    best: FloatArray = -np.partition(-shares, depth - 1, axis=0)[:depth]
    return best.max(axis=0), best.mean(axis=0)


def _of_length_one(rows: Floats) -> Floats:
    lengths = np.linalg.norm(rows, axis=1)
    result: Floats = rows[lengths > 0] / lengths[lengths > 0, np.newaxis]
    return result
