"""Ranked lists and their union: what every fusion starts from.

A leg is the list one searcher found, best first. :func:`align` places the items of all legs in one union, in
the order they are first seen, which is also how ties end up; each id is looked up once, in O(1). The items of
all legs then lie one after the other in flat arrays, so that a fusion is a few array operations however many
legs there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache
from itertools import repeat
from operator import itemgetter
from typing import Any, Generic, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.checks import FloatArray, IntArray, Numbers
from memorata.model.errors import InvalidArgument
from memorata.rank.scores import Combination, ranked

Id = TypeVar("Id", bound=Hashable)


@frozen(eq=False)
class Leg(Generic[Id]):
    """One ranked list, best first.

    Parameters
    ----------
    ids
        The items; each may appear once. Any hashable values, or an integer array.
    scores
        One finite number per item, higher is better; None for a list that only has an order. The rank of an
        item is its position in `ids`, whatever its score.
    name
        What explanations call this leg.

    Examples
    --------
    >>> len(Leg(["m1", "m3"], [0.9, 0.4], "vector").ids)
    2
    """

    ids: Sequence[Id] | npt.NDArray[np.integer[Any]]
    scores: Numbers | None = None
    name: str = ""

    def __post_init__(self) -> None:
        flat_array = isinstance(self.ids, np.ndarray) and self.ids.ndim == 1
        if not flat_array and (isinstance(self.ids, str | bytes) or not isinstance(self.ids, Sequence)):
            raise InvalidArgument("ids", self.ids, "a list of ids, best first")
        checks.text("name", self.name)
        if self.scores is not None:
            scores = checks.numbers("scores", self.scores)
            checks.same_length(ids=self.ids, scores=scores)
            object.__setattr__(self, "scores", scores)

    @property
    def checked_scores(self) -> FloatArray | None:
        """The scores as the array that construction made of them."""
        return cast("FloatArray | None", self.scores)


LegLike: TypeAlias = Leg[Id] | Mapping[Id, float] | Sequence[Id]
"""A leg, a mapping from id to score (any order), or a plain list of ids, best first."""


@frozen(eq=False)
class Aligned(Generic[Id]):
    """Legs whose items have places in one union.

    Attributes
    ----------
    ids
        The union, in the order first seen.
    names
        One name per leg.
    sizes
        How many items each leg found.
    places
        Where each item of each leg is in the union: leg after leg, each in its own order.
    scores
        For each leg, its scores in the leg's order; None for a leg without scores.
    """

    ids: Sequence[Id]
    names: tuple[str, ...]
    sizes: tuple[int, ...]
    places: IntArray
    scores: tuple[FloatArray | None, ...]

    def leg_scores(self) -> list[FloatArray]:
        """Return every leg's scores, or raise for a leg that has items but no scores."""
        for index, scores in enumerate(self.scores):
            if scores is None and self.sizes[index]:
                raise InvalidArgument(
                    f"legs[{index}]", self.names[index], "a leg with scores for this fusion"
                )
        return [np.zeros(0) if scores is None else scores for scores in self.scores]

    def weights(self, weights: Numbers | None) -> FloatArray:
        """Return the checked leg weights, not to be written to; None means 1 for each."""
        legs = len(self.sizes)
        if weights is None:
            return np.ones(legs)
        # A recipe asks for the same weights with every query: a tuple of them is checked once.
        if type(weights) is tuple and set(map(type, weights)) == {float}:
            return _checked_once(weights, legs)
        return checks.weights("weights", weights, legs)

    def shares(self, weights: Numbers | None) -> list[float]:
        """Return the leg weights, checked, as shares of their sum."""
        return _shares_of(tuple(self.weights(weights).tolist()))

    def leg_counts(self) -> IntArray:
        """Return how many legs found each item of the union."""
        return np.bincount(self.places, minlength=len(self.ids))

    def table(self, values: FloatArray) -> FloatArray:
        """Return flat `values` as one row per leg over the union, 0 where the leg did not find an item."""
        rows = np.zeros((len(self.sizes), len(self.ids)))
        rows[np.repeat(np.arange(len(self.sizes)), self.sizes), self.places] = values
        return rows


@frozen(eq=False)
class Fused(Generic[Id]):
    """The union of the legs, best first.

    Attributes
    ----------
    ids
        The items, best first; ties in the order first seen.
    scores
        The fused score of each.
    parts
        What each leg contributed to each score, in the same order.
    order
        Where each item stands in the union of the legs (see :class:`Aligned`), in the same order.

    Examples
    --------
    >>> from memorata.rank import rrf
    >>> fused = rrf([["m1", "m3", "m2", "m5"], ["m2", "m1", "m4", "m3"]])
    >>> fused.ids
    ['m1', 'm2', 'm3', 'm4', 'm5']
    >>> print(fused.parts.explain(0, "m1"))
    0.0325225 m1 = sum of
      0.0163934 leg 1
      0.016129 leg 2
    """

    scores: FloatArray
    order: IntArray
    _legs: Aligned[Id]
    _values: FloatArray

    @property
    def ids(self) -> list[Id]:
        """The items, best first; made on demand: a caller that has them as numbers needs `order` alone."""
        return _picked(self._legs.ids, self.order.tolist())

    @property
    def parts(self) -> Combination:
        """What each leg contributed; made when asked for, since most searches explain only their hits."""
        table = self._legs.table(self._values)[:, self.order]
        return Combination("sum", self._legs.names, table, self.scores)


Function = TypeVar("Function", bound="Callable[..., Fused[Any]]")

FUSIONS: dict[str, Callable[..., Fused[Any]]] = {}
"""Every registered fusion: ``FUSIONS["rrf"](legs, k=60)``; settings, tuner and page read it."""


def fusion(name: str) -> Callable[[Function], Function]:
    """Register the decorated function under `name`; a name can be taken once.

    The function takes the legs, then by keyword `weights`, `limit` and its own declared parameters.

    Examples
    --------
    >>> from memorata.rank import FUSIONS
    >>> FUSIONS["rrf"].__name__
    'rrf'
    """
    checks.text("name", name)

    def register(function: Function) -> Function:
        if name in FUSIONS:
            raise InvalidArgument(
                "name", name, f"a name not taken yet; taken are {', '.join(sorted(FUSIONS))}"
            )
        FUSIONS[name] = function
        return function

    return register


def align(legs: Sequence[LegLike[Id]] | Aligned[Id]) -> Aligned[Id]:
    """Return the legs placed in one union; aligned legs come back as they are.

    Examples
    --------
    >>> aligned = align([["a", "b"], {"c": 1.0, "a": 2.0}])
    >>> aligned.ids, aligned.places.tolist()
    (['a', 'b', 'c'], [0, 1, 0, 2])
    """
    if isinstance(legs, Aligned):
        return legs
    if not isinstance(legs, list | tuple):
        raise InvalidArgument("legs", legs, "a list of ranked lists")
    place_of: dict[Id, int] = {}
    names, sizes, places, scores = [], [], [], []
    for index, leg in enumerate(legs):
        ids, leg_scores, name = _read(index, leg)
        names.append(name or f"leg {index + 1}")
        sizes.append(len(ids))
        places.append(_placed(index, ids, place_of))
        scores.append(leg_scores)
    union = np.concatenate(places) if places else np.zeros(0, np.intp)
    return Aligned(list(place_of), tuple(names), tuple(sizes), union, tuple(scores))


def align_slots(
    slots: Sequence[IntArray], scores: Sequence[FloatArray], names: Sequence[str]
) -> tuple[IntArray, Aligned[int]]:
    """Align legs of distinct slots without checking them, and return the union as an array too.

    Sorting a few hundred numbers takes half as long as looking each of them up.

    >>> union, aligned = align_slots([np.array([7, 3]), np.array([9, 7])], [np.zeros(2), np.ones(2)], "ab")
    >>> union, aligned.places.tolist()
    (array([7, 3, 9]), [0, 1, 2, 0])
    """
    every = np.concatenate(slots) if slots else np.zeros(0, np.intp)
    order = every.argsort(kind="stable")
    ordered = every[order]
    new = np.ones(every.size, np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    # Equal numbers are neighbours, the one seen first before the others, for the sort is stable.
    first_seen = order[new]
    first = np.zeros(every.size, np.bool_)
    first[first_seen] = True
    place_of = first.cumsum() - 1
    places = np.empty(every.size, np.intp)
    places[order] = place_of[first_seen][new.cumsum() - 1]
    union = every[first]
    sizes = tuple(leg.size for leg in slots)
    return union, Aligned(union.tolist(), tuple(names), sizes, places, tuple(scores))


def align_among(
    union: IntArray, slots: Sequence[IntArray], scores: Sequence[FloatArray], names: Sequence[str]
) -> tuple[IntArray, Aligned[int]]:
    """Align as :func:`align_slots` does where the first leg has all of `union`, which is ascending.

    >>> legs, scores = [np.array([7, 3, 9]), np.array([9, 7])], [np.zeros(3), np.ones(2)]
    >>> union, aligned = align_among(np.array([3, 7, 9]), legs, scores, "ab")
    >>> union, aligned.places.tolist()
    (array([7, 3, 9]), [0, 1, 2, 2, 0])
    """
    first = slots[0]
    ranks = np.arange(first.size)
    rank_of = np.empty(first.size, np.intp)
    rank_of[union.searchsorted(first)] = ranks
    places = np.concatenate([ranks, *(rank_of[union.searchsorted(leg)] for leg in slots[1:])])
    sizes = tuple(leg.size for leg in slots)
    return first, Aligned(first.tolist(), tuple(names), sizes, places, tuple(scores))


def flat(per_leg: Sequence[FloatArray]) -> FloatArray:
    """Return the values of all legs one after the other, as :attr:`Aligned.places` lists the items."""
    return np.concatenate(per_leg) if per_leg else np.zeros(0)


def fused(aligned: Aligned[Id], values: FloatArray, limit: int | None) -> Fused[Id]:
    """Return the union best first, given what each item of each leg contributes."""
    max_items = None if limit is None else checks.whole("limit", limit)
    # bincount adds in input order, leg after leg, as an explanation does: same order, same bits.
    # (Of nothing it returns integers.)
    scores = np.bincount(aligned.places, values, len(aligned.ids)).astype(np.float64, copy=False)
    finite = np.isfinite(scores)
    if np.count_nonzero(finite) < scores.size:
        bad = aligned.ids[int(finite.argmin())]
        raise InvalidArgument("legs", bad, "items whose weighted scores have a sum that float64 can hold")
    order = ranked(scores, max_items)
    return Fused(scores[order], order, aligned, values)


@lru_cache(maxsize=64)
def _checked_once(weights: tuple[float, ...], legs: int) -> FloatArray:
    array = checks.weights("weights", weights, legs)
    array.flags.writeable = False
    return array


@lru_cache(maxsize=64)
def _shares_of(weights: tuple[float, ...]) -> list[float]:
    scales = np.array(weights)
    return (scales / scales.sum()).tolist() if weights else []


def _picked(ids: Sequence[Id], places: list[int]) -> list[Id]:
    # An itemgetter takes them all in one call, in half the time of a loop, but only from two on.
    return list(itemgetter(*places)(ids)) if len(places) > 1 else [ids[place] for place in places]


def _placed(index: int, ids: Sequence[Id], place_of: dict[Id, int]) -> IntArray:
    """Return the place of each of the leg's ids in the union, having added the new ones to `place_of`."""
    size = len(ids)
    try:
        if place_of:
            # In one pass, all of it in C: a new id's place is the number of ids seen before it.
            seen = map(len, repeat(place_of))
            places = np.fromiter(map(place_of.setdefault, ids, seen), np.intp, size)
            listed = np.zeros(len(place_of), np.bool_)
            listed[places] = True
            distinct = int(np.count_nonzero(listed))
        else:
            place_of.update(zip(ids, range(size), strict=True))
            places, distinct = np.arange(size), len(place_of)
    except TypeError as error:
        raise InvalidArgument(f"legs[{index}]", ids, "a list of hashable ids") from error
    if distinct != size:
        twice = next(item for item, times in Counter(ids).items() if times > 1)
        raise InvalidArgument(f"legs[{index}]", twice, "a list that holds each id once")
    return places


def _read(index: int, leg: LegLike[Id]) -> tuple[Sequence[Id], FloatArray | None, str]:
    if type(leg) is list:
        return leg, None, ""
    if isinstance(leg, Leg):
        # Python integers from an array hash several times faster than numpy's scalars.
        ids: Sequence[Id] = leg.ids.tolist() if isinstance(leg.ids, np.ndarray) else leg.ids
        return ids, leg.checked_scores, leg.name
    if isinstance(leg, Mapping):
        items = list(leg)
        scores = checks.numbers(f"legs[{index}]", list(leg.values()))
        order = ranked(scores, None)
        return [items[position] for position in order.tolist()], scores[order], ""
    if isinstance(leg, np.ndarray) and leg.ndim == 1:
        return leg.tolist(), None, ""
    if isinstance(leg, str | bytes) or not isinstance(leg, Sequence):
        raise InvalidArgument(f"legs[{index}]", leg, "a Leg, a mapping from id to score, or a list of ids")
    return leg, None, ""
