r"""Several recalls, one answer: how far they agree is how sure one may be.

Ask the same thing in other words, or without one of the legs. Where the results stay, they rest on more than
an accident of wording (self-consistency: Wang et al., ICLR 2023; for retrieval, robustness to query variants:
Bailey et al., SIGIR 2017). Two rankings are compared by rank-biased overlap (Webber, Moffat & Zobel, *ACM
TOIS* 28(4), 2010), which looks most at the top: at each depth, what do both have so far?
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.checks import FloatArray
from memorata.model.errors import InvalidArgument


@frozen(eq=False)
class Agreement:
    """How far several rankings agree.

    Attributes
    ----------
    confidence
        The mean over all pairs of rankings, from 0 to 1.
    pairs
        The overlap of each ranking with each.
    support
        By item, the share of the rankings that have it among their first `depth`; most support first, then
        in the order they come.
    """

    confidence: float
    pairs: FloatArray
    support: Mapping[str, float]

    def agreed(self, least: float) -> tuple[str, ...]:
        """Return the items that at least this share of the rankings has.

        Examples
        --------
        >>> agreement([["a", "b"], ["a", "c"]], depth=2).agreed(0.6)
        ('a',)
        """
        share = checks.probability("least", least)
        return tuple(item for item, support in self.support.items() if support >= share)


def agreement(rankings: Sequence[Sequence[str]], *, depth: int = 10, persistence: float = 0.9) -> Agreement:
    """Return how far several rankings of the same question agree.

    Parameters
    ----------
    rankings
        At least two, best first; the first is the one as it was asked.
    depth
        How far down to look.
    persistence
        As for :func:`rank_biased_overlap`.

    Examples
    --------
    >>> found = agreement([["a", "b"], ["a", "b"], ["a", "c"]], depth=2)
    >>> round(found.confidence, 3), {item: round(share, 2) for item, share in found.support.items()}
    (0.842, {'a': 1.0, 'b': 0.67, 'c': 0.33})
    """
    if isinstance(rankings, str) or not isinstance(rankings, Sequence) or len(rankings) < 2:
        raise InvalidArgument("rankings", rankings, "at least two rankings")
    room = checks.whole("depth", depth, 1)
    tops = [_ranking(f"rankings[{place}]", each)[:room] for place, each in enumerate(rankings)]
    pairs = np.eye(len(tops))
    for first, second in combinations(range(len(tops)), 2):
        shared = rank_biased_overlap(tops[first], tops[second], persistence=persistence)
        pairs[first, second] = pairs[second, first] = shared
    count = len(tops)
    support: dict[str, int] = {}
    for top in tops:
        for item in top:
            support[item] = support.get(item, 0) + 1
    return Agreement(
        confidence=float((pairs.sum() - count) / (count * (count - 1))),
        pairs=pairs,
        support={item: support[item] / count for item in sorted(support, key=lambda each: -support[each])},
    )


def rank_biased_overlap(first: Sequence[str], second: Sequence[str], *, persistence: float = 0.9) -> float:
    r"""Return how far two rankings agree, from 0 (nothing in common) to 1 (the same), the top counting most.

    .. math:: \frac{\sum_{d=1}^{D} p^{d-1} A_d}{\sum_{d=1}^{D} p^{d-1}}, \quad
        A_d = \frac{2\,|S_d \cap T_d|}{|S_d| + |T_d|}

    where :math:`S_d` and :math:`T_d` are the first :math:`d` items of each (all of them, where there are
    fewer) and :math:`D` is the length of the longer. Webber's measure goes on for ever; this one stops where
    there is nothing more to see and divides by what it could have reached. Two empty rankings agree.

    Parameters
    ----------
    first, second
        Rankings, each item once.
    persistence
        :math:`p`, above 0 and below 1: the chance that a reader goes on to the next item.

    Examples
    --------
    >>> rank_biased_overlap(["a", "b"], ["a", "b"]), rank_biased_overlap(["a"], ["b"])
    (1.0, 0.0)
    >>> round(rank_biased_overlap(["a", "b"], ["b", "a"], persistence=0.5), 4)  # (0 + 0.5 · 1) / 1.5
    0.3333
    """
    one, other = _ranking("first", first), _ranking("second", second)
    chance = checks.within("persistence", persistence, 0, 1)
    if chance in (0, 1):
        raise InvalidArgument("persistence", persistence, "a number above 0 and below 1")
    length = max(len(one), len(other))
    if not length:
        return 1.0
    place = {item: depth for depth, item in enumerate(other)}
    # An item is common from the deeper of its two places on.
    meets = [max(depth, place[item]) for depth, item in enumerate(one) if item in place]
    common = np.cumsum(np.bincount(np.array(meets, np.intp), minlength=length))
    depths = np.arange(1, length + 1)
    sizes = np.minimum(depths, len(one)) + np.minimum(depths, len(other))
    weights = chance ** np.arange(length)
    return float((weights * (2 * common / sizes)).sum() / weights.sum())


def _ranking(argument: str, ranking: Sequence[str]) -> tuple[str, ...]:
    ids = checks.texts(argument, ranking)
    if len(set(ids)) < len(ids):
        raise InvalidArgument(argument, ids, "a ranking with each item once")
    return ids
