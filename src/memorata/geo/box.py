"""A rectangle of latitudes and longitudes, which may lie across the 180th meridian (as in RFC 7946, 5.2)."""

from __future__ import annotations

import numpy as np

from memorata._frozen import frozen
from memorata.geo.distance import points
from memorata.model import checks
from memorata.model.checks import BoolArray, Numbers
from memorata.model.errors import InvalidArgument


@frozen
class Box:
    """What lies from `south` to `north` and, going east, from `west` to `east`; the edges included.

    A box whose `west` is greater than its `east` lies across the 180th meridian; from -180 to 180 it goes all
    the way round. A pole belongs to every box that reaches it, for it has every longitude.

    Examples
    --------
    >>> fiji = Box(south=-21, west=176, north=-12, east=-178)
    >>> fiji.holds([-18.1, -17.7, -18.1], [178.4, -179.5, 170.0])
    array([ True,  True, False])
    """

    south: float
    west: float
    north: float
    east: float

    def __post_init__(self) -> None:
        for argument, most in (("south", 90), ("west", 180), ("north", 90), ("east", 180)):
            object.__setattr__(self, argument, checks.within(argument, getattr(self, argument), -most, most))
        if self.north < self.south:
            raise InvalidArgument("north", self.north, f"at or above south ({self.south:g})")

    @property
    def reaches_a_pole(self) -> bool:
        """Whether a pole is in the box."""
        return self.north == 90 or self.south == -90

    def holds(self, lats: Numbers, lons: Numbers) -> BoolArray:
        """Return for each point whether it is in the box."""
        norths, easts = points(lats, lons)
        between = (self.south <= norths) & (norths <= self.north)
        # The meridian itself is written -180 or 180; a box with an edge on it holds both.
        meridian = (np.abs(easts) == 180) & (abs(self.west) == 180 or abs(self.east) == 180)
        if self.west <= self.east:
            along = (self.west <= easts) & (easts <= self.east)
        else:
            along = (self.west <= easts) | (easts <= self.east)
        return np.asarray(between & (along | meridian | (np.abs(norths) == 90)))
