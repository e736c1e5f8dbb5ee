"""Where something was: a point on the Earth in degrees (WGS 84)."""

from __future__ import annotations

from memorata._frozen import frozen
from memorata.model import checks


@frozen
class Place:
    """A point on the Earth.

    Parameters
    ----------
    lat, lon
        Latitude from -90 to 90 and longitude from -180 to 180, in degrees.
    name
        What it is called, if anything.

    Examples
    --------
    >>> Place(48.8566, 2.3522, "Paris")
    Place(lat=48.8566, lon=2.3522, name='Paris')
    >>> Place(91, 0)
    Traceback (most recent call last):
    ...
    memorata.model.errors.InvalidArgument: lat must be a number from -90 to 90, got 91
    """

    lat: float
    lon: float
    name: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "lat", checks.within("lat", self.lat, -90, 90))
        object.__setattr__(self, "lon", checks.within("lon", self.lon, -180, 180))
        checks.writable("name", self.name)
