"""MinHash signatures of texts, and sign bits of vectors: they agree as often as their owners are alike.

MinHash is Broder, "On the resemblance and containment of documents" (SEQUENCES 1997): under a random order of
all shingles, two texts have the same smallest shingle with the probability of their Jaccard index. Sign bits
are Charikar, "Similarity estimation techniques from rounding algorithms" (STOC 2002): two vectors fall on the
same side of a random plane with probability 1 - θ/π. Both are pure numpy, over all texts at once; a library
may take the place of the first (:class:`Signer`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from memorata.dedupe.bands import Banding
from memorata.model import checks
from memorata.model.checks import Rows
from memorata.model.errors import InvalidArgument

Signatures = npt.NDArray[np.uint32]
"""One row for each text, one column for each hash."""

Keys = npt.NDArray[np.uint64]
"""One number for each item; equal for those that agree on a band."""

_AT_ONCE: Final = 1 << 17
"""How many shingles are hashed together: few enough that they stay in the processor's cache."""
_MOST_BITS: Final = 64
_BANDS_AT_ONCE: Final = 16
_ROWS_AT_ONCE: Final = 4_096
_EMPTY: Final = np.uint32(0xFFFFFFFF)
_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)
_MIX: Final = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


class Signer(Protocol):
    """Makes signatures of texts, in columns that agree with the probability of the texts' Jaccard index."""

    def sign(self, texts: Sequence[str], permutations: int) -> Signatures:
        """Return one row for each text, of so many columns."""
        ...


class ShingleSigner:
    """MinHash over the character shingles of each text, in numpy.

    Parameters
    ----------
    size
        Characters per shingle; a shorter text is its own only shingle.
    seed
        Chooses the permutations. Rows of different seeds cannot be compared.
    """

    def __init__(self, size: int = 3, seed: int = 1) -> None:
        self._size = checks.whole("size", size, 1)
        self._seed = checks.whole("seed", seed)

    def sign(self, texts: Sequence[str], permutations: int) -> Signatures:
        """Return one row for each text; a text without characters has a row of the largest number.

        Examples
        --------
        >>> rows = ShingleSigner().sign(["green tea", "green teas", "coffee"], 256)
        >>> shared = (rows[0] == rows[1]).mean(), (rows[0] == rows[2]).mean()
        >>> bool(0.8 < shared[0] < 0.95), bool(shared[1] < 0.05)  # their Jaccard indices are 7/8 and 0
        (True, True)
        """
        given, count = checks.texts("texts", texts), checks.whole("permutations", permutations, 1)
        multiply, add = _permutations(count, self._seed)
        rows = np.full((len(given), count), _EMPTY, np.uint32)
        start = 0
        while start < len(given):
            end, letters = start, 0
            while end < len(given) and (letters == 0 or letters + len(given[end]) <= _AT_ONCE):
                letters += len(given[end])
                end += 1
            hashes, firsts, owners = shingle_hashes(given[start:end], self._size)
            if owners.size:
                block = np.empty((count, owners.size), np.uint32)
                for column in range(count):
                    high = (hashes * multiply[column] + add[column]) >> np.uint64(32)
                    block[column] = np.minimum.reduceat(high.astype(np.uint32), firsts)
                rows[start + owners] = block.T
            start = end
        return rows


def shingle_hashes(
    texts: Sequence[str], size: int
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the hashes of all shingles of all texts, where each text's begin, and which texts have any.

    Parameters
    ----------
    texts
        Any texts; one shorter than a shingle is its own only shingle, an empty one has none.
    size
        Characters per shingle, at least 1.

    Examples
    --------
    >>> hashes, firsts, owners = shingle_hashes(["tea", "", "teas"], 3)
    >>> len(hashes), firsts.tolist(), owners.tolist(), bool(hashes[0] == hashes[1])
    (3, [0, 1], [0, 2], True)
    """
    texts, size = checks.texts("texts", texts), checks.whole("size", size, 1)
    lengths = np.array([len(text) for text in texts], np.intp)
    letters = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)
    counts = np.where(lengths >= size, lengths - size + 1, np.minimum(lengths, 1))
    owners = np.flatnonzero(counts)
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.intp) if len(texts) else lengths
    firsts = np.concatenate([[0], np.cumsum(counts[owners])[:-1]]).astype(np.intp) if owners.size else owners
    ends = np.repeat(starts[owners] + lengths[owners], counts[owners])
    places = (
        np.arange(int(counts.sum()))
        - np.repeat(firsts, counts[owners])
        + np.repeat(starts[owners], counts[owners])
    )
    hashes = np.zeros(places.size, np.uint64)
    padded = np.concatenate([letters, np.zeros(size, np.uint64)])
    for step in range(size):
        # A text shorter than a shingle must not read on into the next text.
        letter = np.where(places + step < ends, padded[places + step] + np.uint64(1), np.uint64(0))
        hashes = _mixed(hashes * _FACTOR + letter)
    return hashes, firsts, owners


def direction_keys(vectors: Rows, banding: Banding, *, seed: int = 1) -> Iterator[Keys]:
    """Yield, band by band, a number for each vector: on which sides of the band's planes it lies.

    Parameters
    ----------
    vectors
        One row for each text.
    banding
        How many bands, and how many planes each has: at most 64.
    seed
        Chooses the planes.

    Examples
    --------
    >>> keys = list(direction_keys([[1.0, 0.0], [1.0, 0.1], [-1.0, 0.0]], Banding(8, 4)))
    >>> sum(int(band[0] == band[1]) for band in keys) > 6, any(band[0] == band[2] for band in keys)
    (True, False)
    """
    rows = checks.matrix("vectors", vectors)
    seed = checks.whole("seed", seed)
    if not isinstance(banding, Banding) or banding.rows > _MOST_BITS:
        raise InvalidArgument("banding", banding, f"a Banding of at most {_MOST_BITS} rows")
    # Only directions count, and the components of huge vectors do not fit into float32.
    largest = np.abs(rows).max(axis=1, initial=0.0)[:, None]
    unit = np.divide(rows, largest, out=np.zeros_like(rows), where=largest > 0.0)
    return _direction_keys(unit.astype(np.float32), banding, seed)


def band_keys(signatures: Signatures, banding: Banding) -> Iterator[Keys]:
    """Yield, band by band, a number for each row of some signatures: the same for rows that agree on it.

    Parameters
    ----------
    signatures
        One row for each item; at least bands × rows columns.
    banding
        How the columns are cut.

    Examples
    --------
    >>> rows = np.array([[1, 2, 3, 4], [1, 2, 9, 9]], np.uint32)
    >>> [bool(keys[0] == keys[1]) for keys in band_keys(rows, Banding(2, 2))]
    [True, False]
    """
    if not isinstance(banding, Banding):
        raise InvalidArgument("banding", banding, "a Banding")
    if (
        not isinstance(signatures, np.ndarray)
        or signatures.ndim != 2
        or signatures.dtype != np.uint32
        or signatures.shape[1] < banding.permutations
    ):
        expected = f"an array of unsigned 32-bit numbers with {banding.permutations} columns or more"
        raise InvalidArgument("signatures", signatures, expected)
    return _band_keys(signatures, banding)


def agreement(cosine: float) -> float:
    """Return how often the sign bits of two vectors agree: ``1 - arccos(cosine)/π``.

    Examples
    --------
    >>> agreement(1.0), agreement(0.0), round(agreement(0.92), 3)
    (1.0, 0.5, 0.872)
    """
    return 1.0 - math.acos(checks.within("cosine", cosine, -1.0, 1.0)) / math.pi


def _direction_keys(rows: npt.NDArray[np.float32], banding: Banding, seed: int) -> Iterator[Keys]:
    width, bits = rows.shape[1], banding.rows
    for start in range(0, banding.bands, _BANDS_AT_ONCE):
        some = min(_BANDS_AT_ONCE, banding.bands - start)
        planes = _normal(width * bits * some, seed + start).reshape(width, some * bits).astype(np.float32)
        packed = np.zeros((len(rows), some, 8), np.uint8)
        for first in range(0, len(rows), _ROWS_AT_ONCE):
            sides = rows[first : first + _ROWS_AT_ONCE] @ planes >= 0
            bytes_ = np.packbits(sides.reshape(-1, some, bits), axis=2)
            packed[first : first + _ROWS_AT_ONCE, :, : bytes_.shape[2]] = bytes_
        for band in range(some):
            yield np.ascontiguousarray(packed[:, band]).view(np.uint64)[:, 0]


def _band_keys(signatures: Signatures, banding: Banding) -> Iterator[Keys]:
    for band in range(banding.bands):
        keys = np.zeros(len(signatures), np.uint64)
        for column in signatures.T[band * banding.rows : (band + 1) * banding.rows]:
            keys = (keys ^ column) * _FACTOR
            keys ^= keys >> np.uint64(29)
        yield keys


def _permutations(count: int, seed: int) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """Return odd multipliers and summands: multiply-shift hashing (Dietzfelbinger et al., 1997)."""
    numbers = _stream(2 * count, seed)
    return numbers[:count] | np.uint64(1), numbers[count:]


def _stream(count: int, seed: int) -> npt.NDArray[np.uint64]:
    """Return numbers that look random and are the same everywhere: SplitMix64 (Steele et al., 2014)."""
    if seed >= 2**64:
        raise InvalidArgument("seed", seed, "below 2 to the 64th")
    steps = np.arange(1, count + 1, dtype=np.uint64)
    start = np.uint64(seed * 0xD1342543DE82EF95 % 2**64)
    return _mixed(start + steps * _FACTOR)


def _mixed(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    mixed = (numbers ^ (numbers >> np.uint64(30))) * _MIX[0]
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _MIX[1]
    result: npt.NDArray[np.uint64] = mixed ^ (mixed >> np.uint64(31))
    return result


def _normal(count: int, seed: int) -> npt.NDArray[np.floating[Any]]:
    """Return numbers of the normal distribution, by the method of Box and Muller (1958)."""
    uniform = (_stream(2 * count, seed) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    radius = np.sqrt(-2.0 * np.log(1.0 - uniform[:count]))
    result: npt.NDArray[np.floating[Any]] = radius * np.cos(2.0 * np.pi * uniform[count:])
    return result
