"""The form on which what is known about a memory is edited: what its fields say, and what was changed on it.

A field of a page holds less than a memory: no line break, no microseconds, no space around a name.
So what comes back as it was shown is left as it is, and not read again from what the field could hold of it.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from memorata.model.errors import InvalidArgument
from memorata.model.memory import Memory
from memorata.model.place import Place
from memorata.web.values import Values, joined

TIMES: Final = (
    ("valid_from", "True from (UTC)"),
    ("valid_to", "True until (UTC)"),
    ("expires_at", "Expires (UTC)"),
)
"""The moments of a memory that can be edited, and what they are called."""


def written(memory: Memory) -> dict[str, str]:
    """Return what the fields of the form say of a memory, as a browser sends them back.

    Examples
    --------
    >>> tea = Memory(id="m1", content="tea", created_at=datetime(2026, 5, 7, tzinfo=UTC), tags=("hot", "dry"))
    >>> written(tea)["tags"]
    'hot, dry'
    """
    place = memory.place
    return {
        "category": _line(memory.category),
        "tier": memory.tier.value,
        "confidence": str(memory.confidence),
        "importance": str(memory.importance),
        "tags": _line(joined(memory.tags)),
        "entities": _line(joined(memory.entities)),
        "lat": "" if place is None else str(place.lat),
        "lon": "" if place is None else str(place.lon),
        "place": "" if place is None else _line(place.name),
        **{name: _local(getattr(memory, name)) for name, _ in TIMES},
    }


def changes(values: Values, memory: Memory) -> dict[str, Any]:
    """Return what was changed on the form of a memory, as the engine takes it.

    Raises
    ------
    InvalidArgument
        A number or a time that is none.
    """
    shown = written(memory)
    readers: dict[str, Any] = {
        "category": lambda: values.text("category"),
        "tier": lambda: values.text("tier"),
        "confidence": lambda: values.number("confidence"),
        "importance": lambda: values.number("importance"),
        "tags": lambda: values.listed("tags"),
        "entities": lambda: values.listed("entities"),
    }
    found = {name: read() for name, read in readers.items() if values.text(name) != shown[name]}
    for name, _ in TIMES:
        # A browser writes a time as short as it can, so that moments are compared, and not texts.
        given = values.instant(name)
        if given != Values({name: [shown[name]]}).instant(name):
            found[name] = given
    if any(values.text(name) != shown[name] for name in ("lat", "lon", "place")):
        found["place"] = _place(values)
    return found


def _place(values: Values) -> Place | None:
    lat, lon = values.number("lat"), values.number("lon")
    if lat is None and lon is None:
        return None
    if lat is None or lon is None:
        raise InvalidArgument("place", values.text("lat") or values.text("lon"), "both of lat and lon")
    return Place(lat, lon, values.text("place"))


def _line(text: str) -> str:
    """Return what a field of one line makes of a text."""
    return text.replace("\r", "").replace("\n", "").strip()


def _local(moment: datetime | None) -> str:
    """Return a moment as a field for times reads it, which knows milliseconds."""
    if moment is None:
        return ""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds")
