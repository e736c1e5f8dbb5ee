"""The time a query is about: how near every memory is to it, and whether the search keeps to it.

A period that a query names restricts the search, with a soft edge: what has nothing to do with it
(:func:`memorata.rank.temporal.nearness` below a tenth) is not searched at all, and the rest is held back the
less near it is. Where nothing inside passes, the whole namespace is searched again, what is closest in time
first, and the result says so. A period in which nothing was ever told ("in 1942") is one that memories speak
of: it restricts nothing, and what names it comes first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

import numpy as np

from memorata._frozen import frozen
from memorata.engine.recall.result import RecalledPeriod
from memorata.engine.write.terms import named_times
from memorata.index.index import Index
from memorata.index.lexical import LexicalQuery
from memorata.model.checks import BoolArray, FloatArray, IntArray
from memorata.model.period import Period
from memorata.rank.bm25 import BM25
from memorata.rank.temporal import closeness, nearness
from memorata.text.analysers import Analyser
from memorata.text.dates import (
    NAMES_A_TIME,
    AnchorExtractor,
    AnchorReading,
    FallibleAnchors,
    RuleAnchors,
    looked_up_keys,
)
from memorata.text.dates.clock import EventReference, event_reference
from memorata.text.queries import without_event_verbs

LEAST_NEARNESS: Final = 0.1
"""What is less near to the period is not searched."""
INSIDE: Final = 0.5
"""From this nearness on a memory is of the period."""
_LONGEST_SECONDS: Final = 1e12
_SOFT: Final = 1 / 3
"""What the period is worth, of what the recipe says, where it does not restrict."""
_GOING_ON: Final = timedelta(days=7)
_WORD: Final = re.compile(r"[^\W\d_]\w*")
_EVENT_POOL: Final = 10
_FIRST: Final = datetime(1, 1, 2, tzinfo=UTC)
_PRESENT: Final = BM25(k1=1.0, b=0.0)
"""A time is named or not, however many others are."""
_SENTENCE: Final = re.compile(r"(?:[^.!?。！？\n]|[.!?](?=\S))+[.!?。！？]*")
_QUESTION_MARKS: Final = ("?", "？", "؟")
_FEW_SENTENCES: Final = 3
"""What has more is a conversation, not a query."""
_SPOKEN_OF: Final = 1 / 6
"""The same for a period in which nothing was told."""
_UNTIMED: Final = 0.5
"""Nearness of what names no time to a period in which nothing was told."""


@frozen
class NamedTime:
    """The period a query is about, the words that name it, and whether it asks for nothing else.

    `restricts` says whether the search may keep to it; `failure` why its words were not read as they should
    have been, if so.
    """

    period: Period | None = None
    phrase: str = ""
    about: bool = False
    restricts: bool = True
    failure: str = ""
    event: str = ""
    """The id of the memory that told when it was, of a time that is named by an event."""
    beside: int = -1
    """The slot of that memory where the time is before or after it; -1 where it is part of it."""
    reference: EventReference | None = None
    """The event that a query without a period names instead."""


@frozen(eq=False)
class TimeScope:
    """How near every memory is to the period, by slot, and whether only what is near is searched."""

    named: NamedTime
    period: Period
    near: FloatArray
    restricts: bool
    empty: bool = False

    def view(self, view: Index) -> Index:
        """Return what of a view is searched."""
        return view.restricted(np.flatnonzero(self.near >= LEAST_NEARNESS)) if self.restricts else view

    def holds(self, slots: IntArray) -> bool:
        """Return whether any of some memories is of the period."""
        return bool((self.near[slots] >= INSIDE).any())

    def opened(self, view: Index) -> TimeScope:
        """Return the scope of a search through everything, in which what is closest in time counts more."""
        slots = view.without(None, ())
        event = view.records()["event"][slots]
        near = np.zeros(self.near.size)
        close = closeness(event, self.period)
        near[slots] = 1.0 - _SOFT * (1.0 - close)
        # Wide enough for the closest to be inside.
        start, end = self.period.start.timestamp(), self.period.end.timestamp()
        away = float(np.maximum(start - event, event - end).min(initial=np.inf))
        widest = timedelta(seconds=away) if 0 < away < _LONGEST_SECONDS else timedelta(0)
        wide = replace(self.period, tolerance=max(self.period.tolerance, widest))
        return TimeScope(self.named, wide, near, restricts=False, empty=True)

    def told(self, slots: IntArray, keeps: bool) -> RecalledPeriod:
        """Return what the result says of the period, given the hits and whether the recipe keeps to it."""
        period, restricts = self.named.period or self.period, self.restricts and keeps
        inside = int(np.count_nonzero(self.near[slots] >= INSIDE)) if restricts else 0
        return RecalledPeriod(
            self.named.phrase, period.start, period.end, restricts, self.empty, inside, self.named.event
        )


def named_time(
    text: str,
    period_asked: Period | None,
    now: datetime,
    anchors: AnchorExtractor,
    analyser: Analyser,
    *,
    nearest: bool = False,
) -> NamedTime:
    """Return the period a query is about: the one given, or the one its words name.

    With `nearest`, "in April" may lie ahead.
    """
    if period_asked is not None:
        return NamedTime(period_asked, about=True)
    read = _reading(text, now, RuleAnchors(nearest=True) if nearest else anchors)
    expression = read.expression
    if expression is None:
        return NamedTime(failure=read.failure, reference=event_reference(text))
    rest = text[: expression.start] + " " + text[expression.end :]
    topic = analyser.tokens(rest)
    if topic:
        topic = analyser.tokens(without_event_verbs(rest))
    period = expression.period
    # The point of "am 3. Mai" ends no sentence.
    named = text[expression.start : expression.end].replace(".", " ")
    told = text[: expression.start] + named + text[expression.end :]
    sentences = [match for match in _SENTENCE.finditer(told) if match[0].strip()]
    alone = len(sentences) == 1
    if len(sentences) > _FEW_SENTENCES or not any(
        alone
        or (
            match.start() <= expression.start < match.end()
            and match[0].rstrip("\"'”») ")[-1:] in _QUESTION_MARKS
        )
        for match in sentences
    ):
        # Who tells something before asking ("The party was last night. What next?") asks of no time.
        return NamedTime(failure=read.failure, reference=event_reference(text))
    # What is asked of today after something was told goes on with something older: "what's today's plan?"
    goes_on = not alone and period.start <= now < period.end and now - period.start <= _GOING_ON
    restricts = not expression.vague and not goes_on
    return NamedTime(period, expression.phrase, not topic, restricts, read.failure)


def time_of_event(
    text: str, reference: EventReference, view: Index, now: datetime, analyser: Analyser
) -> NamedTime:
    """Return the period that a query names by something that happened: "before my trip to Porto".

    The memory of it is the best by words among those that have all names of the event. It was when its text
    says, or when it happened.
    """
    # Without a name it is asked of the event itself as often ("how did she feel after the race?"): to keep to
    # the time beside it costs LoCoMo and RealTalk a point of hit@5.
    names = " ".join(word for word in _WORD.findall(reference.event) if word[0].isupper())
    needed = set(analyser.tokens(names))
    terms = analyser.tokens(reference.event)
    if not needed:
        return NamedTime()
    query = LexicalQuery(dict.fromkeys(terms, 1.0), {"content": 1.0, "entities": 0.5}, (), BM25())
    slots = view.search(query, _EVENT_POOL).slots
    for slot, memory in zip(slots.tolist(), view.memories(slots), strict=True):
        if not needed <= set(analyser.tokens(memory.content)):
            continue
        told = [time.period for time in named_times(memory.content, memory.created_at) if not time.vague]
        start, end = (told[0].start, told[0].end) if told else (memory.event_time, memory.event_time)
        sides = {
            "before": Period(_FIRST, start),
            "after": Period(end, max(end, now)),
            "since": Period(start, max(start, now)),
            "during": Period(start, end, timedelta(days=1)),
        }
        phrase = text[reference.start : reference.end]
        beside = -1 if reference.bound == "during" else slot
        return NamedTime(sides[reference.bound], phrase, event=memory.id, beside=beside)
    return NamedTime()


def _reading(text: str, now: datetime, anchors: AnchorExtractor) -> AnchorReading:
    # The rules come first: to ask what a protocol has takes longer than they do.
    if isinstance(anchors, RuleAnchors) or not isinstance(anchors, FallibleAnchors):
        return AnchorReading(anchors.anchor(text, now))
    return anchors.read(text, now)


def bounded(view: Index, since: datetime | None, until: datetime | None) -> Index:
    """Return a view of what happened from `since` on and before `until`."""
    if since is None and until is None:
        return view
    slots = view.without(None, ())
    event = view.records()["event"][slots]
    first = -np.inf if since is None else since.timestamp()
    last = np.inf if until is None else until.timestamp()
    return view.restricted(slots[(event >= first) & (event < last)])


def scope_of(view: Index, named: NamedTime, zone: tzinfo) -> TimeScope | None:
    """Return how near every memory of a view is to the named period; None where none is named."""
    period = named.period
    if period is None:
        return None
    slots, records = view.without(None, ()), view.records()
    created, event = records["created"][slots], records["event"][slots]
    named_then = _mentioning(view, slots, len(records), looked_up_keys(period, zone))
    near = np.zeros(len(records))
    near[slots] = nearness(created, event, named_then[slots], period)
    if named.beside >= 0:
        near[named.beside] = 0.0
    if not named.restricts:
        return TimeScope(named, period, 1.0 - _SOFT * (1.0 - near), restricts=False)
    around = period.tolerance.total_seconds()
    start, end = period.start.timestamp() - around, period.end.timestamp() + around
    # An event time that the text does not name was given by whoever remembered it.
    stated = (event >= start) & (event < end) & ~named_then[slots] & (event != created)
    if not slots.size or ((created.min() > end or created.max() < start) and not stated.any()):
        timed = _mentioning(view, slots, len(records), (NAMES_A_TIME,))
        spoken_of = TimeScope(named, period, near, restricts=False)
        if not spoken_of.holds(slots):
            return spoken_of.opened(view)
        near = np.where(timed, near, np.maximum(near, _UNTIMED))
        return TimeScope(named, period, 1.0 - _SPOKEN_OF * (1.0 - near), restricts=False)
    scope = TimeScope(named, period, near, restricts=True)
    return scope if scope.holds(slots) else scope.opened(view)


def _mentioning(view: Index, slots: IntArray, size: int, keys: Sequence[str]) -> BoolArray:
    """Return which memories name any of some times, by slot."""
    mask = np.zeros(size, np.bool_)
    if keys and slots.size:
        query = LexicalQuery(dict.fromkeys(keys, 1.0), {"names": 1.0}, (), _PRESENT)
        mask[view.search(query, slots.size).slots] = True
    return mask
