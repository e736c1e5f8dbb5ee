"""What people say about a hit after they have seen it."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.errors import InvalidArgument
from memorata.model.identifiers import memory_id


class Signal(StrEnum):
    """The kinds of feedback."""

    THUMBS_UP = "thumbs_up"
    THUMBS_DOWN = "thumbs_down"
    RATING = "rating"
    RELEVANT = "relevant"
    IRRELEVANT = "irrelevant"
    CLICK = "click"


@frozen
class Feedback:
    """One reaction to one hit of one recall.

    Parameters
    ----------
    recall_id, memory_id
        The recall, and the memory that was among its hits.
    signal, rating
        What kind of reaction it is; for a rating, a whole number from 1 to 5.
    given_at
        When it was given.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> Feedback("r1", "m1", Signal.RATING, datetime(2026, 5, 7, tzinfo=UTC), rating=7)
    Traceback (most recent call last):
    ...
    memorata.model.errors.InvalidArgument: rating must be a whole number from 1 to 5, got 7
    """

    recall_id: str
    memory_id: str
    signal: Signal
    given_at: datetime
    rating: int | None = None

    def __post_init__(self) -> None:
        checks.text("recall_id", self.recall_id)
        memory_id("memory_id", self.memory_id)
        object.__setattr__(self, "signal", Signal(checks.one_of("signal", self.signal, tuple(Signal))))
        object.__setattr__(self, "given_at", checks.instant("given_at", self.given_at))
        rated = isinstance(self.rating, int) and not isinstance(self.rating, bool) and 1 <= self.rating <= 5
        if self.signal is Signal.RATING and not rated:
            raise InvalidArgument("rating", self.rating, "a whole number from 1 to 5")
        if self.signal is not Signal.RATING and self.rating is not None:
            raise InvalidArgument("rating", self.rating, f"None for a {self.signal.value}")
