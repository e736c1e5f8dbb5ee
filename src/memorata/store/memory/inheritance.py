"""What a memory takes over from one that only repeats it, and gives back when that is undone.

A repeat is superseded by the memory it repeats, and so no longer found by fields that it alone has: tags,
names, a place. Nor may a text that was repeated without an expiry expire because its first occurrence does.
So the memory that stays takes these over; the note of the repeat records them, for undoing it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, NamedTuple

from memorata.model.entity import Place
from memorata.model.memory import Memory

INHERITED_KINDS: Final = frozenset({"exact", "near"})
"""The kinds of repeats whose fields are taken over; the result of a merge has them from the start."""
WORDED: Final = frozenset({"tags", "entities"})
"""The fields that are searched by their terms."""


class Note(NamedTuple):
    """The number of a note, the fields that were taken over, as :func:`noted` writes them, and the repeat."""

    number: int
    taken: str | None
    repeat: Memory


def taken_over(memory: Memory, repeat: Memory) -> dict[str, Any]:
    """Return the fields of a memory that change when it takes over what only a repeat of it has.

    Tags and names of both; the place of the repeat if it has none; it is pinned if either is; it expires when
    the later of the two does, and never if the repeat is pinned.

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
    """Return the fields that a memory took over as JSON for the note: before and after; None for none."""
    if not taken:
        return None
    return json.dumps({name: [_plain(getattr(memory, name)), _plain(value)] for name, value in taken.items()})


def given_back(
    memory: Memory, notes: Sequence[Note], gone: Collection[int]
) -> tuple[Memory, dict[int, str | None]]:
    """Return a memory without what it took over from some repeats, as far as that is unchanged.

    And by number what it takes over from each of the other repeats, which may be more now.

    `notes`: all notes of its repeats, in the order in which they were made. `gone`: the numbers of the notes
    whose fields it gives back.

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
    restored: dict[str, Any] = {}
    for name, (before, after) in json.loads(taken or "{}").items():
        now = getattr(memory, name)
        if name in WORDED:
            gained = set(after) - set(before)
            restored[name] = tuple(value for value in now if value not in gained)
        elif _plain(now) == after:
            restored[name] = _read(name, before)
    return replace(memory, **restored)


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
