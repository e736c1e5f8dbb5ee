"""A stretch of time, as a query names it: "last week", "in May 2023", "two days ago"."""

from __future__ import annotations

from datetime import datetime, timedelta

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.errors import InvalidArgument


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
