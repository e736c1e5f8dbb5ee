"""A briefing: what an assistant should know before anything is asked, within a budget of tokens.

Sections in the order of their worth: what is pinned, standing instructions, preferences, who somebody is,
what is important, what is unfinished, and the latest memories. Each but the first and the last may take at
most half of what is left, so that none crowds the others out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final, Literal, TypeAlias, get_args

from memorata._frozen import frozen
from memorata.engine.recall.result import tokens
from memorata.model import checks
from memorata.model.memory import Memory
from memorata.text.standing_sentences import is_unfinished

Section: TypeAlias = Literal[
    "pinned", "instruction", "preference", "profile", "important", "unfinished", "recent"
]
SECTIONS: Final[tuple[Section, ...]] = get_args(Section)
STANDING: Final[tuple[Section, ...]] = ("pinned", "instruction", "preference")
"""What holds whatever is asked."""

LOOKED_AT: Final = 200
"""Memories of a section that are looked at, newest first: a budget holds far fewer."""
_IMPORTANT: Final = 0.8
_UNFINISHED_FOR: Final = timedelta(days=30)
_RECENT_FOR: Final = timedelta(days=7)
_LINE_TOKENS: Final = 12
"""What the mark and the day of a line take."""

Listed = Callable[[Mapping[str, Any] | None], tuple[Memory, ...]]
"""Memories that a filter lets through, newest first."""


@frozen
class BriefingItem:
    """A memory of a briefing, and the section it is in."""

    memory: Memory
    section: Section


@frozen
class Briefing:
    """What to know at the start of a session: the items in order, their tokens, and how many did not fit."""

    items: tuple[BriefingItem, ...]
    tokens: int
    omitted: int

    @property
    def text(self) -> str:
        """The briefing in lines, each with its section, day and speaker."""
        return "\n".join(map(_line, self.items))


def brief(listed: Listed, now: datetime, budget: int, sections: tuple[Section, ...] = SECTIONS) -> Briefing:
    """Return the briefing of a namespace, of at most `budget` tokens; whole memories only."""
    left = checks.whole("budget", budget)
    total = left
    taken: list[BriefingItem] = []
    shown: set[str] = set()
    too_long: set[str] = set()
    for section in sections:
        share = left if section in ("pinned", "recent") else left // 2
        for memory in _candidates(section, listed, now):
            if memory.id in shown:
                continue
            cost = tokens(memory.content) + _LINE_TOKENS
            if cost > share:
                too_long.add(memory.id)
                continue
            shown.add(memory.id)
            taken.append(BriefingItem(memory, section))
            share -= cost
            left -= cost
    return Briefing(tuple(taken), total - left, len(too_long - shown))


def _candidates(section: Section, listed: Listed, now: datetime) -> tuple[Memory, ...]:
    if section == "pinned":
        return listed({"pinned": True})
    if section in ("instruction", "preference", "profile"):
        return listed({"category": section})
    if section == "important":
        return listed({"importance": {">=": _IMPORTANT}})
    if section == "unfinished":
        latest = listed({"created_at": {">=": (now - _UNFINISHED_FOR).isoformat()}})
        return tuple(memory for memory in latest if is_unfinished(memory.content))
    return listed({"created_at": {">=": (now - _RECENT_FOR).isoformat()}})


def _line(item: BriefingItem) -> str:
    memory = item.memory
    said_by = f", {memory.source.speaker}" if memory.source.speaker else ""
    return f"- [{item.section}] {memory.content} ({memory.event_time:%Y-%m-%d}{said_by})"
