"""The time scope of a query: the nearness of every memory to its period, and whether it restricts the search.

A period that a query names restricts the search, with a soft edge: memories with a nearness
(:func:`memorata.rank.temporal.nearness`) below a tenth are not searched at all, and the others are lowered by
their distance. Where nothing inside passes, the whole namespace is searched again, the closest in time first,
and the result says so. A period before all memories ("in 1942") can only be mentioned by them: it restricts
nothing, and memories that mention it come first. Of a period ahead, within a year ("next week"), are those
that are dated or mention a time in it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

import numpy as np

from memorata._frozen import frozen
from memorata.engine.recall.result import RecalledPeriod
from memorata.engine.write.terms import named_times
from memorata.index.lexical import LexicalQuery
from memorata.index.search import NamespaceIndex
from memorata.model.checks import BoolArray, FloatArray, IntArray
from memorata.model.entity import Period
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
from memorata.text.dates.phrases import EventReference, event_reference
from memorata.text.queries import QUESTION_MARKS, without_event_verbs

LEAST_NEARNESS: Final = 0.1
"""Memories that are less near to the period are not searched."""
INSIDE: Final = 0.5
"""From this nearness on a memory is inside the period."""
_LONGEST_SECONDS: Final = 1e12
_SOFT_WEIGHT: Final = 1 / 3
"""Share of the recipe's temporal weight for a period that does not restrict."""
_MAX_ONGOING: Final = timedelta(days=7)
"""How long ago a period that contains the present may have begun to continue a conversation."""
_WORD: Final = re.compile(r"[^\W\d_]\w*")
_EVENT_POOL: Final = 10
_EARLIEST: Final = datetime(1, 1, 2, tzinfo=UTC)
_PRESENT: Final = BM25(k1=1.0, b=0.0)
"""A time is mentioned or not, however many others are."""
_SENTENCE: Final = re.compile(r"(?:[^.!?。！？\n]|[.!?](?=\S))+[.!?。！？]*")
_MAX_QUERY_SENTENCES: Final = 3
"""A longer text is a conversation, not a query about a time."""
_MENTIONED_WEIGHT: Final = 1 / 6
"""The same for a period without memories of its own."""
_AGENDA: Final = timedelta(days=366)
"""How far ahead a period may begin to be asked for as an agenda."""
_PLANNED_NEARNESS: Final = 0.8
"""Nearness to a period ahead of a memory that mentions it and is dated otherwise."""
_UNTIMED_NEARNESS: Final = 0.5
"""Nearness of a memory that mentions no time to a period without memories of its own."""


@frozen
class NamedTime:
    """The period of a query, the words that name it, and whether the query is about nothing else.

    `restricts` says whether it may restrict the search; `failure` is the failure of the extractor, if any.
    """

    period: Period | None = None
    phrase: str = ""
    about: bool = False
    restricts: bool = True
    failure: str = ""
    event: str = ""
    """The id of the memory that dates the period, where an event names it."""
    beside: int = -1
    """The slot of that memory where the period is before or after it; -1 where it is inside."""
    reference: EventReference | None = None
    """The event that a query without a period names instead."""


@frozen(eq=False)
class TimeScope:
    """The nearness of every memory to the period, by slot, and whether it restricts the search."""

    named: NamedTime
    period: Period
    near: FloatArray
    restricts: bool
    empty: bool = False
    unmatched: bool = False
    """Whether it has memories, and none of them was found."""
    ahead: bool = False
    """Whether the period is ahead, within a year, and asked for what is planned in it."""

    def view(self, view: NamespaceIndex) -> NamespaceIndex:
        """Return the part of a view that is searched."""
        return view.restricted(np.flatnonzero(self.near >= LEAST_NEARNESS)) if self.restricts else view

    def holds(self, slots: IntArray) -> bool:
        """Return whether any of some memories is inside the period."""
        return bool((self.near[slots] >= INSIDE).any())

    def opened(self, view: NamespaceIndex) -> TimeScope:
        """Return the scope of a search through all memories, in which the closest in time weigh more."""
        slots = view.without(None, ())
        event = view.records()["event"][slots]
        near = np.zeros(self.near.size)
        close = closeness(event, self.period)
        near[slots] = 1.0 - _SOFT_WEIGHT * (1.0 - close)
        # Wide enough for the closest to be inside.
        start, end = self.period.start.timestamp(), self.period.end.timestamp()
        away = float(np.maximum(start - event, event - end).min(initial=np.inf))
        widest = timedelta(seconds=away) if 0 < away < _LONGEST_SECONDS else timedelta(0)
        wide = replace(self.period, tolerance=max(self.period.tolerance, widest))
        return TimeScope(self.named, wide, near, restricts=False, empty=True)

    def recalled_period(self, slots: IntArray, restrict: bool) -> RecalledPeriod:
        """Return the period for a result with these hits; `restrict` says whether the recipe restricts."""
        period, restricts = self.named.period or self.period, self.restricts and restrict
        inside = int(np.count_nonzero(self.near[slots] >= INSIDE)) if restricts else 0
        return RecalledPeriod(
            self.named.phrase,
            period.start,
            period.end,
            restricts,
            self.empty,
            inside,
            self.named.event,
            self.unmatched,
        )


def named_time(
    text: str,
    requested: Period | None,
    now: datetime,
    anchors: AnchorExtractor,
    analyser: Analyser,
    *,
    nearest: bool = False,
) -> NamedTime:
    """Return the period of a query: the requested one, or the one its words name.

    With `nearest`, "in April" may be in the future.
    """
    if requested is not None:
        return NamedTime(requested, about=True)
    read = _reading(text, now, RuleAnchors(nearest=True) if nearest else anchors)
    expression = read.expression
    if expression is None:
        return NamedTime(failure=read.failure, reference=event_reference(text))
    other_words = text[: expression.start] + " " + text[expression.end :]
    topic = analyser.tokens(other_words)
    if topic:
        topic = analyser.tokens(without_event_verbs(other_words))
    period = expression.period
    # The point of "am 3. Mai" ends no sentence.
    named = text[expression.start : expression.end].replace(".", " ")
    undotted = text[: expression.start] + named + text[expression.end :]
    sentences = [match for match in _SENTENCE.finditer(undotted) if match[0].strip()]
    alone = len(sentences) == 1
    if len(sentences) > _MAX_QUERY_SENTENCES or not any(
        alone
        or (
            match.start() <= expression.start < match.end()
            and match[0].rstrip("\"'”») ")[-1:] in QUESTION_MARKS
        )
        for match in sentences
    ):
        # A time in a statement before the question ("The party was last night. What next?") is not its
        # period.
        return NamedTime(failure=read.failure, reference=event_reference(text))
    # A question about today after a statement refers to older memories: "what's today's plan?"
    continues = not alone and period.start <= now < period.end and now - period.start <= _MAX_ONGOING
    restricts = not expression.vague and not continues
    return NamedTime(period, expression.phrase, not topic, restricts, read.failure)


def time_of_event(
    text: str, reference: EventReference, view: NamespaceIndex, now: datetime, analyser: Analyser
) -> NamedTime:
    """Return the period that a query names by something that happened: "before my trip to Porto".

    The event is the best lexical match among the memories that have all its names. Its period is that of its
    text, or its event time.
    """
    # Without a name a query is as often about the event itself ("how did she feel after the race?"): a period
    # beside it costs LoCoMo and RealTalk a point of hit@5.
    names = " ".join(word for word in _WORD.findall(reference.event) if word[0].isupper())
    needed = set(analyser.tokens(names))
    terms = analyser.tokens(reference.event)
    if reference.clause:
        # A verb names an event less surely than a name does: all of its words count, and a known date.
        needed = set(terms)
    if not needed:
        return NamedTime()
    query = LexicalQuery(dict.fromkeys(terms, 1.0), {"content": 1.0, "entities": 0.5}, (), BM25())
    slots = view.search(query, _EVENT_POOL).slots
    for slot, memory in zip(slots.tolist(), view.memories(slots), strict=True):
        if not needed <= set(analyser.tokens(memory.content)):
            continue
        periods = [time.period for time in named_times(memory.content, memory.created_at) if not time.vague]
        if reference.clause and not periods and memory.valid_from is None:
            continue
        start, end = (periods[0].start, periods[0].end) if periods else (memory.event_time, memory.event_time)
        sides = {
            "before": Period(_EARLIEST, start),
            "after": Period(end, max(end, now)),
            "since": Period(start, max(start, now)),
            "during": Period(start, end, timedelta(days=1)),
        }
        phrase = text[reference.start : reference.end]
        beside = -1 if reference.bound == "during" else slot
        return NamedTime(sides[reference.bound], phrase, event=memory.id, beside=beside)
    return NamedTime()


def _reading(text: str, now: datetime, anchors: AnchorExtractor) -> AnchorReading:
    # The class is checked first: isinstance() of a protocol takes longer than the rules do.
    if isinstance(anchors, RuleAnchors) or not isinstance(anchors, FallibleAnchors):
        return AnchorReading(anchors.anchor(text, now))
    return anchors.read(text, now)


def bounded(view: NamespaceIndex, since: datetime | None, until: datetime | None) -> NamespaceIndex:
    """Return a view of the memories with an event from `since` on and before `until`."""
    if since is None and until is None:
        return view
    slots = view.without(None, ())
    event = view.records()["event"][slots]
    first = -np.inf if since is None else since.timestamp()
    last = np.inf if until is None else until.timestamp()
    return view.restricted(slots[(event >= first) & (event < last)])


def happened_in(view: NamespaceIndex, period: Period) -> bool:
    """Return whether any memory of a view is of a period by its event time."""
    event = view.records()["event"][view.without(None, ())]
    return bool(((event >= period.start.timestamp()) & (event < period.end.timestamp())).any())


def scope_of(view: NamespaceIndex, named: NamedTime, now: datetime) -> TimeScope | None:
    """Return the time scope of a named period in a view; None where none is named."""
    period = named.period
    if period is None:
        return None
    slots, records = view.without(None, ()), view.records()
    created, event = records["created"][slots], records["event"][slots]
    mentioned = _mentioning(view, slots, len(records), looked_up_keys(period, now.tzinfo or UTC))
    near = np.zeros(len(records))
    near[slots] = nearness(created, event, mentioned[slots], period)
    if named.beside >= 0:
        near[named.beside] = 0.0
    if not named.restricts:
        return TimeScope(named, period, 1.0 - _SOFT_WEIGHT * (1.0 - near), restricts=False)
    around = period.tolerance.total_seconds()
    start, end = period.start.timestamp() - around, period.end.timestamp() + around
    # An event time that the text does not mention was passed by the caller of `remember`.
    stated = (event >= start) & (event < end) & ~mentioned[slots] & (event != created)
    if slots.size and now < period.start <= now + _AGENDA:
        # Of what lies ahead only what is planned for it is of it.
        inside = (event >= period.start.timestamp()) & (event < period.end.timestamp())
        near[slots] = np.maximum(inside, _PLANNED_NEARNESS * mentioned[slots])
        planned = TimeScope(named, period, near, restricts=True, ahead=True)
        return planned if planned.holds(slots) else planned.opened(view)
    if not slots.size or ((created.min() > end or created.max() < start) and not stated.any()):
        timed = _mentioning(view, slots, len(records), (NAMES_A_TIME,))
        mentions_only = TimeScope(named, period, near, restricts=False)
        if not mentions_only.holds(slots):
            return mentions_only.opened(view)
        near = np.where(timed, near, np.maximum(near, _UNTIMED_NEARNESS))
        return TimeScope(named, period, 1.0 - _MENTIONED_WEIGHT * (1.0 - near), restricts=False)
    scope = TimeScope(named, period, near, restricts=True)
    return scope if scope.holds(slots) else scope.opened(view)


def _mentioning(view: NamespaceIndex, slots: IntArray, size: int, keys: Sequence[str]) -> BoolArray:
    """Return which memories mention any of the times, by slot."""
    mask = np.zeros(size, np.bool_)
    if keys and slots.size:
        query = LexicalQuery(dict.fromkeys(keys, 1.0), {"names": 1.0}, (), _PRESENT)
        mask[view.search(query, slots.size).slots] = True
    return mask
