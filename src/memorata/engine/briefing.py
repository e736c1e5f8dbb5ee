"""A briefing: what an assistant should know before anything is asked, within a budget of tokens.

Sections in the order of their worth: what is pinned, standing instructions, preferences, profile facts,
what is important, what is unfinished, and the latest memories. Each but the first and the last may take at
most half of what is left, so that none crowds the others out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, Literal, TypeAlias, get_args

from memorata._frozen import frozen
from memorata.engine.recall.result import tokens
from memorata.model import checks
from memorata.model.memory import Memory
from memorata.store.entries import Page

Section: TypeAlias = Literal[
    "pinned", "instruction", "preference", "profile", "important", "unfinished", "recent"
]
SECTIONS: Final[tuple[Section, ...]] = get_args(Section)
STANDING: Final[tuple[Section, ...]] = ("pinned", "instruction", "preference")
"""What holds whatever is asked."""

_MAX_CANDIDATES: Final = 200
"""Memories of a section that are looked at, newest first: a budget holds far fewer."""
_MIN_IMPORTANCE: Final = 0.8
_MAX_AGE: Final[dict[Section, timedelta]] = {"unfinished": timedelta(days=30), "recent": timedelta(days=7)}
_LINE_TOKENS: Final = 12
"""What the mark and the day of a line take."""

Pages = Callable[..., Page]
"""Memories that a filter lets through, newest first, as :meth:`Engine.list` gives them."""


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


def brief(pages: Pages, now: datetime, budget: int, sections: Sequence[Section] = SECTIONS) -> Briefing:
    """Return the briefing of a namespace, of at most `budget` tokens; whole memories only."""
    remaining = checks.whole("budget", budget)
    total = remaining
    items: list[BriefingItem] = []
    shown: set[str] = set()
    too_long: set[str] = set()
    checks.texts("sections", sections)
    for section in sections:
        checks.one_of("sections", section, SECTIONS)
        share = remaining if section in ("pinned", "recent") else remaining // 2
        for memory in _candidates(section, pages, now):
            if memory.id in shown:
                continue
            cost = tokens(memory.content) + _LINE_TOKENS
            if cost > share:
                too_long.add(memory.id)
                continue
            shown.add(memory.id)
            items.append(BriefingItem(memory, section))
            share -= cost
            remaining -= cost
    return Briefing(tuple(items), total - remaining, len(too_long - shown))


def _candidates(section: Section, pages: Pages, now: datetime) -> Iterable[Memory]:
    """Return the memories of a section, without untrusted ones: those appear in recalls only."""
    conditions: dict[str, Any] = {"category": section}
    if section == "pinned":
        conditions = {"pinned": True}
    elif section == "important":
        conditions = {"importance": {">=": _MIN_IMPORTANCE}}
    elif section in _MAX_AGE:
        conditions = {"created_at": {">=": (now - _MAX_AGE[section]).isoformat()}}
    conditions["untrusted"] = False
    memories = pages(filter=conditions, limit=_MAX_CANDIDATES).memories
    if section == "unfinished":
        # Loaded on demand: its patterns take 5 ms to compile.
        from memorata.text.standing_sentences import is_unfinished

        return [memory for memory in memories if is_unfinished(memory.content)]
    return memories


def _line(item: BriefingItem) -> str:
    memory = item.memory
    speaker = f", {memory.source.speaker}" if memory.source.speaker else ""
    return f"- [{item.section}] {memory.content} ({memory.event_time:%Y-%m-%d}{speaker})"
