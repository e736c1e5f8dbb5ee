"""The bands and rows of MinHash LSH: how likely a pair of a given similarity becomes a candidate.

From Indyk and Motwani, "Approximate nearest neighbors" (STOC 1998), in the form of Leskovec, Rajaraman and
Ullman, "Mining of Massive Datasets", section 3.4. A signature of b·r hashes is cut into b bands of r rows;
two texts of Jaccard similarity s agree on one band with probability s^r, and become a candidate pair when
they agree on at least one.

The well-known (1/b)^(1/r) is where the curve is steep, not where it is safe: a pair at that similarity is
missed with probability (1 - 1/b)^b, about 36 %. :func:`bands_for` works from the probability of a miss
instead.
"""

from __future__ import annotations

import math

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.errors import InvalidArgument


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

    Examples
    --------
    >>> [round(lsh_threshold(*banding), 3) for banding in ((20, 5), (16, 8), (10, 10))]
    [0.549, 0.707, 0.794]
    """
    return float((1.0 / checks.whole("bands", bands, 1)) ** (1.0 / checks.whole("rows", rows, 1)))


def miss_probability(similarity: float, bands: int, rows: int) -> float:
    """Return the probability that a pair is missed: (1 - similarity^rows)^bands.

    Parameters
    ----------
    similarity
        The pair's Jaccard similarity, from 0 to 1.
    bands, rows
        The banding, each at least 1.

    Examples
    --------
    >>> round(miss_probability(0.8, 20, 5), 5)
    0.00036
    >>> round(miss_probability(lsh_threshold(20, 5), 20, 5), 3)
    0.358
    """
    similarity = checks.probability("similarity", similarity)
    bands, rows = checks.whole("bands", bands, 1), checks.whole("rows", rows, 1)
    return float((1.0 - similarity**rows) ** bands)


def candidate_probability(similarity: float, bands: int, rows: int) -> float:
    """Return the probability that a pair becomes a candidate: 1 - (1 - similarity^rows)^bands.

    Parameters
    ----------
    similarity
        The pair's Jaccard similarity, from 0 to 1.
    bands, rows
        The banding, each at least 1.

    Examples
    --------
    >>> round(candidate_probability(0.5, 20, 5), 3)
    0.47
    >>> candidate_probability(1.0, 20, 5), candidate_probability(0.0, 20, 5)
    (1.0, 0.0)
    """
    similarity = checks.probability("similarity", similarity)
    bands, rows = checks.whole("bands", bands, 1), checks.whole("rows", rows, 1)
    agreement = similarity**rows
    # Subtracting from 1 would lose the tiny probabilities of unlike pairs, of which there are the most.
    return 1.0 if agreement == 1.0 else -math.expm1(bands * math.log1p(-agreement))


def bands_for(threshold: float, permutations: int, miss: float = 0.01) -> Banding:
    """Return the most selective banding that misses a pair at `threshold` with probability at most `miss`.

    Pairs above the threshold are missed more rarely still. Most selective means the most rows, and then the
    fewest bands: with the miss fixed, a pair of similarity s below the threshold t becomes a candidate with
    probability of about ln(1/miss)·(s/t)^rows, which every further row makes smaller.

    Parameters
    ----------
    threshold
        The Jaccard similarity from which two texts are near-duplicates; above 0, at most 1.
    permutations
        How many hashes a signature has. The banding uses at most that many.
    miss
        The accepted probability of missing a pair at the threshold; above 0, below 1.

    Raises
    ------
    InvalidArgument
        Also when no banding of so few permutations is safe enough; the message says about how many would do.

    Examples
    --------
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
        most = permutations // rows
        if miss_probability(threshold, most, rows) <= miss:
            safe = (bands for bands in range(1, most + 1) if miss_probability(threshold, bands, rows) <= miss)
            return Banding(next(safe), rows)
    # One row per band needs the fewest hashes; their number is an estimate because logarithms round.
    needed = math.log(miss) / math.log1p(-threshold)
    expected = f"about {needed:,.0f} or more to miss at most {miss:g} of pairs at similarity {threshold:g}"
    raise InvalidArgument("permutations", permutations, expected)
