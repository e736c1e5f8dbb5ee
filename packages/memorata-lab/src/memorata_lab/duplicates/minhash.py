"""MinHash and LSH: signatures whose columns agree as often as their owners are alike, and how they are cut.

The resemblance of two texts is the Jaccard index of their sets of shingles, and under a random order of all
shingles two texts have the same smallest one with that probability: Broder, "On the resemblance and
containment of documents" (SEQUENCES 1997). Of vectors, two fall on the same side of a random plane with
probability 1 - θ/π: Charikar, "Similarity estimation techniques from rounding algorithms" (STOC 2002). Both
are pure numpy, over all texts at once; a library may take the place of the first (:class:`Signer`).

A signature of b·r hashes is cut into b bands of r rows; two texts of Jaccard similarity s agree on one band
with probability s^r, and become a candidate pair when they agree on at least one (Indyk and Motwani,
"Approximate nearest neighbors", STOC 1998, in the form of Leskovec, Rajaraman and Ullman, "Mining of Massive
Datasets", section 3.4). The well-known (1/b)^(1/r) is where the curve is steep, not where it is safe: a pair
at that similarity is missed with probability (1 - 1/b)^b, about 36 %. :func:`bands_for` works from the
probability of a miss instead.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from memorata.extend import frozen
from memorata.extend.errors import InvalidArgument
from memorata.extend.model import Rows, checks

Signatures = npt.NDArray[np.uint32]
"""One row for each text, one column for each hash."""

Keys = npt.NDArray[np.uint64]
"""One number for each item; equal for those that agree on a band."""

_MAX_SHINGLES: Final = 1 << 17
"""How many shingles are hashed together: few enough that they stay in the processor's cache."""
_MAX_PLANES: Final = 64
_BAND_BLOCK: Final = 16
_ROW_BLOCK: Final = 4_096
_EMPTY: Final = np.uint32(0xFFFFFFFF)
_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)
_MIX: Final = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def character_shingles(text: str, size: int = 3) -> frozenset[str]:
    """Return every run of `size` characters of `text`; a shorter text is its own only one."""
    checks.text("text", text)
    size = checks.whole("size", size, 1)
    if len(text) < size:
        return frozenset({text} if text else ())
    return frozenset(text[start : start + size] for start in range(len(text) - size + 1))


def jaccard(a: AbstractSet[str], b: AbstractSet[str]) -> float:
    """Return the Jaccard index of two sets: |a ∩ b| / |a ∪ b|; two empty sets are the same set: 1.

    >>> jaccard(character_shingles("banana"), character_shingles("bandana"))
    0.3333333333333333
    >>> jaccard(frozenset(), frozenset()), jaccard(frozenset({"tea"}), frozenset())
    (1.0, 0.0)
    """
    for argument, value in (("a", a), ("b", b)):
        if not isinstance(value, AbstractSet):
            raise InvalidArgument(argument, value, "a set of shingles")
    shared = len(a & b)
    union = len(a) + len(b) - shared
    return shared / union if union else 1.0


@frozen
class Banding:
    """How a signature is cut: `bands` bands of `rows` hashes each."""

    bands: int
    rows: int

    def __post_init__(self) -> None:
        checks.whole("bands", self.bands, 1)
        checks.whole("rows", self.rows, 1)

    @property
    def permutations(self) -> int:
        """How many hashes of the signature are used: bands × rows."""
        return self.bands * self.rows


def lsh_threshold(bands: int, rows: int) -> float:
    """Return the similarity at which the curve of candidates is about steepest: (1/bands)^(1/rows).

    >>> [round(lsh_threshold(*banding), 3) for banding in ((20, 5), (16, 8), (10, 10))]
    [0.549, 0.707, 0.794]
    """
    return float((1.0 / checks.whole("bands", bands, 1)) ** (1.0 / checks.whole("rows", rows, 1)))


def miss_probability(similarity: float, bands: int, rows: int) -> float:
    """Return the probability that a pair of this Jaccard similarity is missed: (1 - similarity^rows)^bands.

    >>> round(miss_probability(0.8, 20, 5), 5)
    0.00036
    >>> round(miss_probability(lsh_threshold(20, 5), 20, 5), 3)
    0.358
    """
    similarity = checks.probability("similarity", similarity)
    bands, rows = checks.whole("bands", bands, 1), checks.whole("rows", rows, 1)
    return float((1.0 - similarity**rows) ** bands)


def bands_for(threshold: float, permutations: int, miss: float = 0.01) -> Banding:
    """Return the most selective banding that misses a pair at `threshold` with probability at most `miss`.

    Pairs above the threshold are missed more rarely still. Most selective means the most rows, and then the
    fewest bands: with the miss fixed, a pair of similarity s below the threshold t becomes a candidate with
    probability of about ln(1/miss)·(s/t)^rows, which every further row makes smaller.

    >>> bands_for(0.8, 128)
    Banding(bands=16, rows=6)
    >>> round(miss_probability(0.8, 16, 6), 4)
    0.0077
    """
    threshold = checks.above("threshold", checks.probability("threshold", threshold), 0.0)
    permutations = checks.whole("permutations", permutations, 1)
    miss = checks.above("miss", checks.probability("miss", miss), 0.0)
    if miss == 1.0:
        raise InvalidArgument("miss", miss, "a number above 0 and below 1")
    for rows in range(permutations, 0, -1):
        max_bands = permutations // rows
        if miss_probability(threshold, max_bands, rows) <= miss:
            safe = (
                bands for bands in range(1, max_bands + 1) if miss_probability(threshold, bands, rows) <= miss
            )
            return Banding(next(safe), rows)
    # One row per band needs the fewest hashes; their number is an estimate because logarithms round.
    needed = math.log(miss) / math.log1p(-threshold)
    expected = f"about {needed:,.0f} or more to miss at most {miss:g} of pairs at similarity {threshold:g}"
    raise InvalidArgument("permutations", permutations, expected)


class Signer(Protocol):
    """Makes signatures of texts, in columns that agree with the probability of the texts' Jaccard index."""

    def sign(self, texts: Sequence[str], permutations: int) -> Signatures:
        """Return one row for each text, of so many columns."""


class ShingleSigner:
    """MinHash over the shingles of `size` characters of each text; `seed` chooses the permutations."""

    def __init__(self, size: int = 3, seed: int = 1) -> None:
        self._size = checks.whole("size", size, 1)
        self._seed = checks.whole("seed", seed)

    def sign(self, texts: Sequence[str], permutations: int) -> Signatures:
        """Return one row for each text; a text without characters has a row of the largest number.

        >>> rows = ShingleSigner().sign(["green tea", "green teas", "coffee"], 256)
        >>> shared = (rows[0] == rows[1]).mean(), (rows[0] == rows[2]).mean()
        >>> bool(0.8 < shared[0] < 0.95), bool(shared[1] < 0.05)  # their Jaccard indices are 7/8 and 0
        (True, True)
        """
        checked, count = checks.texts("texts", texts), checks.whole("permutations", permutations, 1)
        multiply, add = _permutations(count, self._seed)
        rows = np.full((len(checked), count), _EMPTY, np.uint32)
        start = 0
        while start < len(checked):
            end, letters = start, 0
            while end < len(checked) and (letters == 0 or letters + len(checked[end]) <= _MAX_SHINGLES):
                letters += len(checked[end])
                end += 1
            hashes, firsts, owners = shingle_hashes(checked[start:end], self._size)
            if owners.size:
                block = np.empty((count, owners.size), np.uint32)
                for column in range(count):
                    high = (hashes * multiply[column] + add[column]) >> np.uint64(32)
                    block[column] = np.minimum.reduceat(high.astype(np.uint32), firsts)
                rows[start + owners] = block.T
            start = end
        return rows


_TEXTS_PER_STEP: Final = 1_000


class RensaSigner:
    """Makes signatures with rensa's R-MinHash."""

    def __init__(self, size: int = 3, seed: int = 1) -> None:
        self._size = checks.whole("size", size, 1)
        self._seed = checks.whole("seed", seed)

    def sign(self, texts: Sequence[str], permutations: int) -> Signatures:
        """Return one row for each text; see :class:`ShingleSigner`."""
        from rensa import RMinHash

        checked, count = checks.texts("texts", texts), checks.whole("permutations", permutations, 1)
        rows = np.full((len(checked), count), _EMPTY, np.uint32)
        for start in range(0, len(checked), _TEXTS_PER_STEP):
            hashes, firsts, owners = shingle_hashes(checked[start : start + _TEXTS_PER_STEP], self._size)
            if owners.size:
                offsets = np.append(firsts, hashes.size).astype(np.uint64)
                signatures = RMinHash.digest_matrix_from_flat_token_hashes(hashes, offsets, count, self._seed)
                rows[start + owners] = np.array(signatures.to_rows(), np.uint32)
        return rows


def usual_signer() -> Signer:
    """Return the faster signer that is installed."""
    return RensaSigner() if importlib.util.find_spec("rensa") is not None else ShingleSigner()


def shingle_hashes(
    texts: Sequence[str], size: int
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the hashes of all shingles of all texts, where each text's begin, and which texts have any."""
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
    """Yield, band by band, a number for each vector: on which sides of the band's planes it lies."""
    rows = checks.matrix("vectors", vectors)
    seed = checks.whole("seed", seed)
    if not isinstance(banding, Banding) or banding.rows > _MAX_PLANES:
        raise InvalidArgument("banding", banding, f"a Banding of at most {_MAX_PLANES} rows")
    # Only directions count, and the components of huge vectors do not fit into float32.
    largest = np.abs(rows).max(axis=1, initial=0.0)[:, None]
    unit = np.divide(rows, largest, out=np.zeros_like(rows), where=largest > 0.0)
    return _direction_keys(unit.astype(np.float32), banding, seed)


def band_keys(signatures: Signatures, banding: Banding) -> Iterator[Keys]:
    """Yield, band by band, a number for each row of some signatures: the same for rows that agree on it."""
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
    """Return how often the sign bits of two vectors agree: ``1 - arccos(cosine)/π``."""
    return 1.0 - math.acos(checks.within("cosine", cosine, -1.0, 1.0)) / math.pi


def _direction_keys(rows: npt.NDArray[np.float32], banding: Banding, seed: int) -> Iterator[Keys]:
    width, bits = rows.shape[1], banding.rows
    for start in range(0, banding.bands, _BAND_BLOCK):
        block_bands = min(_BAND_BLOCK, banding.bands - start)
        planes = (
            _normal(width * bits * block_bands, seed + start)
            .reshape(width, block_bands * bits)
            .astype(np.float32)
        )
        packed = np.zeros((len(rows), block_bands, 8), np.uint8)
        for first in range(0, len(rows), _ROW_BLOCK):
            sides = rows[first : first + _ROW_BLOCK] @ planes >= 0
            bytes_ = np.packbits(sides.reshape(-1, block_bands, bits), axis=2)
            packed[first : first + _ROW_BLOCK, :, : bytes_.shape[2]] = bytes_
        for band in range(block_bands):
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
