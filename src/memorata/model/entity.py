"""What memories speak of: people and things and how they relate, places, and stretches of time."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.errors import InvalidArgument


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


@frozen
class Entity:
    """Someone or something with a name.

    Parameters
    ----------
    name, aliases
        What it is called first of all, and what else.
    type, description
        What it is, in a word and in a sentence.
    place
        Where it is, if it stays in one place.

    Examples
    --------
    >>> Entity("Anna Keller", type="person", aliases=("Anna",)).aliases
    ('Anna',)
    """

    name: str
    type: str = "thing"
    aliases: tuple[str, ...] = ()
    description: str = ""
    place: Place | None = None

    def __post_init__(self) -> None:
        if not checks.writable("name", self.name).strip():
            raise InvalidArgument("name", self.name, "a name that is not blank")
        checks.writable("type", self.type)
        checks.writable("description", self.description)
        object.__setattr__(self, "aliases", checks.texts("aliases", self.aliases))
        for index, alias in enumerate(self.aliases):
            checks.writable(f"aliases[{index}]", alias)
        if self.place is not None and not isinstance(self.place, Place):
            raise InvalidArgument("place", self.place, "a Place")


MENTIONS: Final = "mentions"
"""From a memory to an entity that it names."""
NEXT: Final = "next"
"""From a memory to the next one of its session."""
SUPERSEDES: Final = "supersedes"
"""From a memory to the one it supersedes."""
OWN_TYPES: Final = (MENTIONS, NEXT, SUPERSEDES)
"""The types of edges that a graph has beside relations; no relation may be declared of them."""


def relation_type(type: str) -> str:
    """Return a type that a relation may have: a word that is not one of the graph's own."""
    if checks.writable("type", type).strip() in ("", *OWN_TYPES):
        own_types = ", ".join(OWN_TYPES)
        raise InvalidArgument("type", type, f"a word of your own (the graph itself uses {own_types})")
    return type


@frozen
class Relation:
    """A typed, weighted, directed edge between two entities, with the memory that asserts it.

    Parameters
    ----------
    source, type, target
        The edge: names of entities, and what joins them.
    weight
        How strong it is, above 0.
    asserted_by
        The id of the memory that says so.
    valid_from, valid_to, created_at
        From when until when it holds, and when it was asserted (None before it is stored).

    Examples
    --------
    >>> Relation("UAV-001", "belongs_to", "fleet-rescue").type
    'belongs_to'
    """

    source: str
    type: str
    target: str
    weight: float = 1.0
    asserted_by: str | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    created_at: datetime | None = None

    def __post_init__(self) -> None:
        for argument in ("source", "type", "target"):
            value = getattr(self, argument)
            if not checks.writable(argument, value).strip():
                raise InvalidArgument(argument, value, "text that is not blank")
        object.__setattr__(self, "weight", checks.above("weight", self.weight, 0))
        if self.asserted_by is not None:
            checks.text("asserted_by", self.asserted_by)
        object.__setattr__(self, "created_at", checks.optional_instant("created_at", self.created_at))
        checks.validity(self)


@frozen
class Period:
    """A closed interval of instants with a tolerance around it.

    Parameters
    ----------
    start, end
        Aware instants; `end` is not before `start`. A single instant has both equal.
    tolerance
        How far outside the interval still counts as fully inside; not negative.

    Examples
    --------
    >>> from datetime import UTC, datetime, timedelta
    >>> may = Period(datetime(2023, 5, 1, tzinfo=UTC), datetime(2023, 6, 1, tzinfo=UTC))
    >>> may.end - may.start
    datetime.timedelta(days=31)
    """

    start: datetime
    end: datetime
    tolerance: timedelta = timedelta(0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "start", checks.instant("start", self.start))
        object.__setattr__(self, "end", checks.instant("end", self.end))
        if self.end < self.start:
            raise InvalidArgument("end", self.end, f"at or after start ({self.start.isoformat()})")
        if not isinstance(self.tolerance, timedelta) or self.tolerance < timedelta(0):
            raise InvalidArgument("tolerance", self.tolerance, "a timedelta that is not negative")

    @classmethod
    def around(cls, instant: datetime, tolerance: timedelta) -> Period:
        """Return the period of one instant and a tolerance on both sides."""
        return cls(instant, instant, tolerance)
