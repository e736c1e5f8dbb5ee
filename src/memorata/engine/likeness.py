"""Pairs of memories that are alike: by the directions of their vectors, or by letters where they have none.

Up to ten thousand, all vectors are compared (:func:`~memorata.dedupe.pairs.near_pairs`). Beyond, and
where nearly all are alike, candidates are those that agree on a band of MinHash signatures of their letters,
or of sign bits of their vectors; each misses a pair at its threshold once in a hundred times, and most pairs
are above both. What agrees in a large bucket is paired with a neighbour in it, so that the number of pairs
grows with the number of memories and not with its square.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import numpy as np

from memorata._frozen import frozen
from memorata.dedupe.fingerprint import normalised
from memorata.dedupe.minhash import Keys, Signer, agreement, band_keys, bands_for, direction_keys
from memorata.dedupe.pairs import Method, colliding_pairs, groups, near_pairs
from memorata.dedupe.verification import ALONE_JACCARD
from memorata.embed.vectors import unit_rows
from memorata.model.checks import FloatArray, IntArray
from memorata.store.port import Floats

Progress = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and how much there is."""

_LETTERS: Final = 0.75
"""The Jaccard index at which MinHash may miss one pair in a hundred; the vectors find what is below."""
_HASHES: Final = 300
_BUCKET: Final = 32
"""The largest bucket all of whose pairs are candidates: texts of one template would give millions."""
_BEYOND: Final = 1
"""With how many that follow each is paired in a larger one; each of some hundred bands has others."""
_CROWD: Final = 2_000_000
"""From how many pairs at the threshold on not all of them are looked at, if nobody asks for that."""
_SAMPLE: Final = 256
_READ: Final = 16
"""With how many of those most like it a memory is compared word by word, where very many are like it."""
_FEW: Final = 200_000
"""How many candidates are all read, whatever the number of memories."""
_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)
_PLANES: Final = 4_096
_MISS: Final = 0.01
_AT_ONCE: Final = 1 << 22


@frozen
class Candidates:
    """Pairs that may be duplicates, with their cosines; NaN for those that have none."""

    pairs: IntArray
    cosines: FloatArray


@frozen
class Likeness:
    """How like pairs are looked for.

    Parameters
    ----------
    threshold
        The least cosine of a pair.
    signer
        Makes MinHash signatures.
    """

    threshold: float
    signer: Signer

    def find(
        self,
        texts: Sequence[str],
        vectors: Sequence[Floats | None],
        method: Method,
        progress: Progress,
        keys: Keys | None = None,
    ) -> Candidates:
        """Return the pairs whose cosine reaches the threshold; without vectors, those of the same letters.

        With `keys`, only pairs of the same key count; a crowd of like texts is then many small ones.
        """
        having = np.array([place for place, rows in enumerate(vectors) if rows is not None], np.intp)
        apart = np.zeros(len(texts), np.uint64) if keys is None else keys
        told = _Told(progress)
        if method is Method.MATRIX:
            found = self._by_product(_stacked(vectors, having), having, apart, told)
        else:
            directions = having[self._by_direction(_stacked(vectors, having), apart[having], told)]
            found = np.concatenate([directions, self._by_letters(texts, _LETTERS, apart, told)])
        bare = np.ones(len(texts), np.bool_)
        bare[having] = False
        found = found[~bare[found].any(axis=1)]
        if having.size < len(texts):
            letters = self._by_letters(texts, ALONE_JACCARD, apart, told)
            found = np.concatenate([found, letters[bare[letters].any(axis=1)]])
        return self.verified(joined(Candidates(found, np.full(len(found), np.nan))).pairs, vectors)

    def crowded(self, vectors: Sequence[Floats | None], keys: Keys) -> bool:
        """Tell by a sample whether more pairs are near than can be looked at."""
        having = np.array([place for place, rows in enumerate(vectors) if rows is not None], np.intp)
        some = np.unique(np.linspace(0, having.size - 1, min(_SAMPLE, having.size)).astype(np.intp))
        if not some.size:
            return False
        rows, apart = _stacked(vectors, having), keys[having]
        near = (rows[some] @ rows.T >= self.threshold) & (apart[some][:, None] == apart)
        return bool(near.mean() * having.size**2 / 2 > _CROWD)

    def verified(self, pairs: IntArray, vectors: Sequence[Floats | None]) -> Candidates:
        """Return those of the pairs whose cosine reaches the threshold, or that have none."""
        known = np.array([rows is not None for rows in vectors], np.bool_)
        cosines = np.full(len(pairs), np.nan)
        both = np.flatnonzero(known[pairs].all(axis=1))
        used = np.unique(pairs[both])
        rows = _stacked(vectors, used)
        step = max(1, _AT_ONCE // rows.shape[1])
        for start in range(0, len(both), step):
            some = both[start : start + step]
            one, other = np.searchsorted(used, pairs[some]).T
            cosines[some] = np.einsum("ij,ij->i", rows[one], rows[other])
        near = ~(cosines < self.threshold - 1e-6)
        return Candidates(pairs[near], np.clip(cosines[near], -1.0, 1.0))

    def _by_product(self, rows: Floats, having: IntArray, apart: Keys, told: _Told) -> IntArray:
        found = [np.zeros((0, 2), np.intp)]
        done = 0
        for members in groups(apart[having].astype(np.intp)):
            places = np.array(members, np.intp)
            told.step(done, having.size)
            found.append(having[places[near_pairs(rows[places], self.threshold).positions()]])
            done += places.size
        told.step(having.size, having.size)
        return np.concatenate(found)

    def _by_direction(self, rows: Floats, apart: Keys, told: _Told) -> IntArray:
        banding = bands_for(agreement(self.threshold), _PLANES, _MISS)
        bands = told.through(direction_keys(rows, banding), banding.bands)
        return colliding_pairs(_within(bands, apart), largest=_BUCKET, beyond=_BEYOND)

    def _by_letters(self, texts: Sequence[str], similarity: float, apart: Keys, told: _Told) -> IntArray:
        banding = bands_for(similarity, _HASHES, _MISS)
        signatures = self.signer.sign([normalised(text) for text in texts], banding.permutations)
        bands = told.through(band_keys(signatures, banding), banding.bands)
        return colliding_pairs(_within(bands, apart), largest=_BUCKET, beyond=_BEYOND)


def joined(*found: Candidates) -> Candidates:
    """Return the pairs of all, each once, in order."""
    pairs = np.concatenate([each.pairs for each in found])
    cosines = np.concatenate([each.cosines for each in found])
    _, places = np.unique(pairs[:, 0] * (pairs.max(initial=0) + 1) + pairs[:, 1], return_index=True)
    return Candidates(pairs[places], cosines[places])


def most_alike(found: Candidates) -> Candidates:
    """Return all pairs, or if they are very many, of each memory those with what is most like it after it."""
    if len(found.pairs) <= _FEW:
        return found
    order = np.lexsort((found.pairs[:, 1], -np.nan_to_num(found.cosines), found.pairs[:, 0]))
    first = found.pairs[order, 0]
    rank = np.arange(len(order)) - np.searchsorted(first, first)
    kept = np.sort(order[rank < _READ])
    return Candidates(found.pairs[kept], found.cosines[kept])


class _Told:
    """Tells how far the comparison is."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def step(self, done: int, total: int) -> None:
        """Tell how much is compared."""
        self._progress("comparing", done, total)

    def through(self, bands: Iterable[Keys], total: int) -> Iterator[Keys]:
        """Yield the bands, and tell of each."""
        for number, keys in enumerate(bands):
            self.step(number, total)
            yield keys
        self.step(total, total)


def _within(bands: Iterable[Keys], apart: Keys) -> Iterator[Keys]:
    """Yield the numbers of each band, those of different keys apart."""
    salt = apart * _FACTOR
    for keys in bands:
        yield (keys ^ salt) * _FACTOR


def _stacked(vectors: Sequence[Floats | None], having: IntArray) -> Floats:
    """Return the first vector of each that has any, at length 1."""
    if not having.size:
        return np.zeros((0, 1), np.float32)
    return unit_rows(np.stack([_first(vectors[place]) for place in having]).astype(np.float32))


def _first(rows: Floats | None) -> Floats:
    assert rows is not None  # callers looked
    row: Floats = rows[0]
    return row
