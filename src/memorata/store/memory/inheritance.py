"""What a memory takes over from one that only repeats it, and gives back when that is undone.

A repeat is superseded by what it repeats, and so is not found any more by what it alone was told with: its
tags, its names, its place. Nor may what was said without an expiry be gone because it was said before with
one. So what stays takes these over; the note of the repeat says what, for whoever undoes it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, NamedTuple

from memorata.model.memory import Memory
from memorata.model.place import Place

INHERITED_KINDS: Final = frozenset({"exact", "near"})
"""The kinds of notes of those that are taken over from; what was merged has all of it from the start."""
WORDED: Final = frozenset({"tags", "entities"})
"""What is found by its words."""


class Note(NamedTuple):
    """The number of a note, what was taken over by it, of :func:`noted`, and from whom."""

    number: int
    taken: str | None
    repeat: Memory


def taken_over(memory: Memory, repeat: Memory) -> dict[str, Any]:
    """Return the fields of a memory that are others after it took over what only a repeat of it has.

    Its tags and names and those of the repeat; the place of the repeat if it has none; it is pinned if either
    is; it expires when the later of the two does, and what was pinned does not.

    >>> from datetime import UTC, datetime
    >>> day = datetime(2026, 5, 7, tzinfo=UTC)
    >>> tea = Memory(id="m1", content="Anna likes tea", created_at=day, tags=("home",), expires_at=day)
    >>> taken_over(tea, Memory(id="m2", content="Anna likes tea", created_at=day, tags=("drinks", "home")))
    {'tags': ('home', 'drinks'), 'expires_at': None}
    """
    folded = {name.casefold() for name in memory.entities}
    wanted: dict[str, Any] = {
        "tags": memory.tags + tuple(tag for tag in repeat.tags if tag not in memory.tags),
        "entities": memory.entities
        + tuple(name for name in repeat.entities if name.casefold() not in folded),
        "place": memory.place or repeat.place,
        "pinned": memory.pinned or repeat.pinned,
        "expires_at": None if repeat.pinned else _later(memory.expires_at, repeat.expires_at),
    }
    return {name: value for name, value in wanted.items() if value != getattr(memory, name)}


def noted(memory: Memory, taken: dict[str, Any]) -> str | None:
    """Return what a memory took over as the note keeps it: before and after; None for nothing."""
    if not taken:
        return None
    return json.dumps({name: [_plain(getattr(memory, name)), _plain(value)] for name, value in taken.items()})


def given_back(
    memory: Memory, notes: Sequence[Note], gone: Collection[int]
) -> tuple[Memory, dict[int, str | None]]:
    """Return a memory without what it took over from some repeats, as far as that was left as it was.

    And by number what it took over from each of the others, which may have more to give now.

    `notes`: all notes of what repeats it, in the order in which they were made. `gone`: the numbers of those
    that it gives back.

    >>> from datetime import UTC, datetime
    >>> day = datetime(2026, 5, 7, tzinfo=UTC)
    >>> tea = Memory(id="m1", content="Anna likes tea", created_at=day, tags=("home",), expires_at=day)
    >>> again = Memory(id="m2", content="Anna likes tea", created_at=day, tags=("drinks",))
    >>> taken = taken_over(tea, again)
    >>> given_back(replace(tea, **taken), [Note(1, noted(tea, taken), again)], {1}) == (tea, {})
    True
    """
    for note in reversed(notes):
        memory = _without(memory, note.taken)
    others = {}
    for number, _, repeat in notes:
        if number not in gone:
            taken = taken_over(memory, repeat)
            others[number] = noted(memory, taken)
            memory = replace(memory, **taken)
    return memory, others


def _without(memory: Memory, taken: str | None) -> Memory:
    back: dict[str, Any] = {}
    for name, (before, after) in json.loads(taken or "{}").items():
        now = getattr(memory, name)
        if name in WORDED:
            gained = set(after) - set(before)
            back[name] = tuple(value for value in now if value not in gained)
        elif _plain(now) == after:
            back[name] = _read(name, before)
    return replace(memory, **back)


def _later(one: datetime | None, other: datetime | None) -> datetime | None:
    return None if one is None or other is None else max(one, other)


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Place):
        return [value.lat, value.lon, value.name]
    return list(value) if isinstance(value, Sequence) else value


def _read(name: str, value: Any) -> object:  # noqa: ANN401 - as JSON has it
    return datetime.fromisoformat(value) if name == "expires_at" and value is not None else value
