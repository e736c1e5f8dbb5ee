"""What is asked: the question and the conditions on its answers."""

from __future__ import annotations

from datetime import datetime

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.errors import InvalidArgument
from memorata.model.namespace import DEFAULT_NAMESPACE, namespace
from memorata.model.period import Period
from memorata.model.place import Place


@frozen(kw_only=True)
class Query:
    """A question to memory.

    Parameters
    ----------
    text
        The question in the asker's words; it may be empty when other conditions say enough.
    now
        The instant the question is asked, for everything relative to it.
    limit
        How many memories to return at most; 0 returns none.
    period, place
        When and where the answer happened, if the asker says so.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> Query(text="What tea do I like?", now=datetime(2026, 5, 7, tzinfo=UTC)).limit
    10
    """

    text: str
    now: datetime
    namespace: str = DEFAULT_NAMESPACE
    limit: int = 10
    period: Period | None = None
    place: Place | None = None

    def __post_init__(self) -> None:
        checks.text("text", self.text)
        object.__setattr__(self, "now", checks.instant("now", self.now))
        namespace("namespace", self.namespace)
        checks.whole("limit", self.limit)
        if self.period is not None and not isinstance(self.period, Period):
            raise InvalidArgument("period", self.period, "a Period or None")
        if self.place is not None and not isinstance(self.place, Place):
            raise InvalidArgument("place", self.place, "a Place or None")
