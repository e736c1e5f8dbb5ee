"""Where was it? Grid cells, distances, and what lies near a point.

A place becomes a term and a distance a score (:mod:`~memorata.geo.geometry`), and many places an index that
answers what is near or nearest (:mod:`~memorata.geo.places`). Everything is pure
and works round the 180th meridian and over the poles.
"""

from typing import TYPE_CHECKING

from memorata._on_demand import on_demand

if TYPE_CHECKING:
    from memorata.geo.geometry import (
        EARTH_RADIUS,
        ROWS_PER_DEGREE,
        Box,
        Cell,
        cell_height,
        haversines,
        nearness,
    )
    from memorata.geo.places import Near, Places

__getattr__, __dir__ = on_demand(
    __name__,
    {
        ".geometry": (
            "EARTH_RADIUS",
            "ROWS_PER_DEGREE",
            "Box",
            "Cell",
            "cell_height",
            "haversines",
            "nearness",
        ),
        ".places": ("Near", "Places"),
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
    "haversines",
    "nearness",
]
