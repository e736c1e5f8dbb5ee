"""Where was it? Grid cells, distances, and what lies near a point.

A place becomes a word (:mod:`~memorata.place.cells`), a distance (:mod:`~memorata.place.distance`) becomes
a score (:mod:`~memorata.place.scoring`), and many places an index that answers what is near, nearest, or
inside a box (:mod:`~memorata.place.nearby`). Everything is pure and works round the 180th meridian and over
the poles.
"""

from typing import TYPE_CHECKING

from memorata._on_demand import on_demand

if TYPE_CHECKING:
    from memorata.place.box import Box
    from memorata.place.cells import ROWS_PER_DEGREE, Cell, cell_height
    from memorata.place.distance import EARTH_RADIUS, haversine, haversines
    from memorata.place.nearby import Near, Places
    from memorata.place.scoring import nearness

__getattr__, __dir__ = on_demand(
    __name__,
    {
        ".box": ("Box",),
        ".cells": ("ROWS_PER_DEGREE", "Cell", "cell_height"),
        ".distance": ("EARTH_RADIUS", "haversine", "haversines"),
        ".nearby": ("Near", "Places"),
        ".scoring": ("nearness",),
    },
)

__all__ = [
    "EARTH_RADIUS",
    "ROWS_PER_DEGREE",
    "Box",
    "Cell",
    "Near",
    "Places",
    "cell_height",
    "haversine",
    "haversines",
    "nearness",
]
