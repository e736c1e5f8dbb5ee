"""The places of memories, kept for each namespace that is asked about them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from memorata.geo.places import Near, Places
from memorata.index.index import Index
from memorata.index.record import Records
from memorata.model.checks import BoolArray, FloatArray, IntArray
from memorata.store.store import Store

_MAX_NAMESPACES: Final = 64
"""How many namespaces' places are kept; the least recently used go first."""
_CHANGES_OF_PLACES: Final = frozenset({"update", "purge"})
_EXTRA_PLACES: Final = 64
"""How many more than the limit are looked up at first, for some may be hidden."""


@dataclass(slots=True)
class _CachedPlaces:
    change: int
    slot_count: int
    slots: IntArray
    places: Places


class PlaceIndex:
    """The places of every namespace of a store, as they are now."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._rollbacks = store.rollbacks
        self._cache: OrderedDict[str, _CachedPlaces] = OrderedDict()

    def near(
        self,
        namespace: str,
        view: Index,
        shows: Callable[[Records], BoolArray],
        lat: float,
        lon: float,
        radius: float | None,
        limit: int,
    ) -> tuple[IntArray, FloatArray]:
        """Return the slots of the visible memories nearest to a point, and their distances in metres."""
        cached = self._caught_up(namespace)
        if radius is not None:
            return _visible(view, shows, cached, cached.places.within(lat, lon, radius), limit)
        # Hidden memories have places too: ask for more until enough of them are seen, or there are no more.
        count = limit + _EXTRA_PLACES
        while True:
            nearest = _visible(view, shows, cached, cached.places.nearest(lat, lon, limit=count), limit)
            if nearest[0].size == limit or count >= len(cached.places):
                return nearest
            count *= 4

    def _caught_up(self, namespace: str) -> _CachedPlaces:
        if self._store.rollbacks != self._rollbacks:
            # Places may be of changes that were rolled back, and whose numbers later changes have now.
            self._rollbacks = self._store.rollbacks
            self._cache.clear()
        cached = self._cache.pop(namespace, None)
        delta = self._store.graph.delta(namespace, 0 if cached is None else cached.change)
        if cached is None or delta.kinds & _CHANGES_OF_PLACES:
            points = self._store.graph.points(namespace, 0)
            cached = _CachedPlaces(delta.change, delta.slots, points.slots, Places(points.lats, points.lons))
        elif delta.change != cached.change:
            points = self._store.graph.points(namespace, cached.slot_count)
            places = cached.places.added(points.lats, points.lons)
            cached = _CachedPlaces(
                delta.change, delta.slots, np.concatenate([cached.slots, points.slots]), places
            )
        self._cache[namespace] = cached
        while len(self._cache) > _MAX_NAMESPACES:
            self._cache.popitem(last=False)
        return cached


def _visible(
    view: Index, shows: Callable[[Records], BoolArray], cached: _CachedPlaces, near: Near, limit: int
) -> tuple[IntArray, FloatArray]:
    slots = cached.slots[near.positions]
    at = np.flatnonzero(shows(view.records(slots)))[:limit]
    return slots[at], near.metres[at]
