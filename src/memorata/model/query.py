"""What a recall asks: a query beyond its bare text, and the times it is asked at and about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.checks import Instant
from memorata.model.entity import Period, Place
from memorata.model.errors import InvalidArgument


@frozen(eq=False, kw_only=True)
class When:
    """The times of a recall: its present, the state of belief it searches, and the time it is about.

    Parameters
    ----------
    now
        The moment of asking, whose time zone sets when "yesterday" began; None for the clock's.
    as_of
        Search the memories as they were believed at that moment.
    true_at
        Search the memories that held in the world at that moment, as far as it is known.
    period
        The time the query is about; None for the time its words name. It restricts, with a soft edge; where
        nothing of it is found, the result says so and has the closest in time first.
    since, until
        Search only memories of events in between; a memory without a time counts by when it was learnt.
    fresh
        Whether the answer must include the latest writes; without it, a replica may answer.

    Examples
    --------
    >>> When(as_of="2026-05-07").as_of.isoformat()
    '2026-05-07T00:00:00+00:00'
    """

    now: Instant | None = None
    as_of: Instant | None = None
    true_at: Instant | None = None
    period: Period | None = None
    since: Instant | None = None
    until: Instant | None = None
    fresh: bool = False

    def __post_init__(self) -> None:
        if self.now is not None:
            object.__setattr__(self, "now", checks.zoned_instant("now", self.now))
        for argument in ("as_of", "true_at", "since", "until"):
            object.__setattr__(self, argument, checks.optional_instant(argument, getattr(self, argument)))
        if self.period is not None and not isinstance(self.period, Period):
            raise InvalidArgument("period", self.period, "a Period, such as Period(start, end) of datetimes")
        checks.flag("fresh", self.fresh)


PRESENT: Final = When()
"""Now, about any time."""


@frozen(eq=False)
class Query:
    """A query beyond its bare text, for :meth:`Engine.recall`.

    Parameters
    ----------
    text
        What to look for. Quoted phrases count extra; a word or phrase after a minus must not occur.
    variants
        The same query in other words: each is searched, too, and `agreement` of the result is their overlap.
    vector
        The vector of `text`, if the embedder in use has computed it already.
    near
        A place: memories from near there count more.
    sessions
        Rank sessions instead of memories, each with up to three of its memories.

    Examples
    --------
    >>> Query("cafés", near=Place(48.857, 2.352)).near.lat
    48.857
    """

    text: str
    variants: Sequence[str] = ()
    vector: checks.Numbers | None = None
    near: Place | None = None
    sessions: bool = False

    def __post_init__(self) -> None:
        checks.writable("query", self.text)
        object.__setattr__(self, "variants", checks.writable_texts("variants", self.variants))
        if self.near is not None and not isinstance(self.near, Place):
            raise InvalidArgument("near", self.near, "a Place, such as Place(48.857, 2.352)")
        checks.flag("sessions", self.sessions)
