"""What people's reactions say about relevance.

A thumb or a "relevant" is an opinion. A click is only a hint that something looked worth opening (Joachims et
al., SIGIR 2005), so it never outvotes one. A rating of 3 is neither here nor there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from memorata.model.feedback import Feedback, Signal

_YES: Final = frozenset({Signal.THUMBS_UP, Signal.RELEVANT, Signal.CLICK})
_NEUTRAL: Final = 3


def relevance(reactions: Iterable[Feedback]) -> bool | None:
    """Return whether a hit was relevant, by all that was said about it; None if nothing says either.

    The latest opinion counts; clicks only where there is none.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> noon, later = datetime(2026, 5, 7, 12, tzinfo=UTC), datetime(2026, 5, 7, 13, tzinfo=UTC)
    >>> relevance([Feedback("r", "m", Signal.IRRELEVANT, noon), Feedback("r", "m", Signal.CLICK, later)])
    False
    >>> relevance([Feedback("r", "m", Signal.RATING, noon, rating=3)]) is None
    True
    """
    told = [each for each in reactions if each.rating != _NEUTRAL]
    opinions = [each for each in told if each.signal is not Signal.CLICK]
    if not told:
        return None
    # Of what was said at the same moment, the last that is told.
    last = max(reversed(opinions or told), key=lambda each: each.given_at)
    if last.rating is not None:
        return last.rating > _NEUTRAL
    return last.signal in _YES
