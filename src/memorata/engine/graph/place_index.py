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
class _Kept:
    change: int
    slot_count: int
    slots: IntArray
    places: Places


class PlaceIndex:
    """The places of every namespace of a store, as they are now."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._rollbacks = store.rollbacks
        self._kept: OrderedDict[str, _Kept] = OrderedDict()

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
        kept = self._caught_up(namespace)
        if radius is not None:
            return _visible(view, shows, kept, kept.places.within(lat, lon, radius), limit)
        # Hidden memories have places too: ask for more until enough of them are seen, or there are no more.
        asked = limit + _EXTRA_PLACES
        while True:
            nearest = _visible(view, shows, kept, kept.places.nearest(lat, lon, limit=asked), limit)
            if nearest[0].size == limit or asked >= len(kept.places):
                return nearest
            asked *= 4

    def _caught_up(self, namespace: str) -> _Kept:
        if self._store.rollbacks != self._rollbacks:
            # Places may be of changes that never came to be, and whose numbers others have now.
            self._rollbacks = self._store.rollbacks
            self._kept.clear()
        kept = self._kept.pop(namespace, None)
        delta = self._store.graph.delta(namespace, 0 if kept is None else kept.change)
        if kept is None or delta.kinds & _CHANGES_OF_PLACES:
            points = self._store.graph.points(namespace, 0)
            kept = _Kept(delta.change, delta.slots, points.slots, Places(points.lats, points.lons))
        elif delta.change != kept.change:
            points = self._store.graph.points(namespace, kept.slot_count)
            places = kept.places.added(points.lats, points.lons)
            kept = _Kept(delta.change, delta.slots, np.concatenate([kept.slots, points.slots]), places)
        self._kept[namespace] = kept
        while len(self._kept) > _MAX_NAMESPACES:
            self._kept.popitem(last=False)
        return kept


def _visible(
    view: Index, shows: Callable[[Records], BoolArray], kept: _Kept, near: Near, limit: int
) -> tuple[IntArray, FloatArray]:
    slots = kept.slots[near.positions]
    at = np.flatnonzero(shows(view.records(slots)))[:limit]
    return slots[at], near.metres[at]
