"""Times that a query names by something that happened: "before my trip to Porto", „nach der Hochzeit".

Which time that was only a memory can tell; here it is found that one is asked for. What follows the preposition has
to begin with a word that makes it one thing in particular, an article or whose it is: "before dinner" is any.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_TABLES: Final = (
    # English, German, French, Spanish: before, after, since, during; then what makes it one in particular.
    (("before", "after", "since", "during"), r"my|our|his|her|their|your|the|\w+['’]s"),
    (("vor", "nach", "seit", "während"), r"mein\w*|unser\w*|sein\w*|ihr\w*|de[rmns]|dies\w+"),
    (("avant", "après", "depuis", "pendant"), r"mon|ma|mes|notre|nos|son|sa|ses|leur|le|la|les"),
    (("antes de", "después de", "desde", "durante"), r"mis?|nuestr[oa]s?|sus?|el|la|los|las"),
)
_BOUNDS: Final = ("before", "after", "since", "during")
_CUES: Final = tuple(word for words, _ in _TABLES for word in words)
_PATTERNS: Final = tuple(
    (
        bound,
        re.compile(
            rf"(?<!\w){word}\s{{1,3}}(?:{particular})\s{{1,3}}(?P<event>[^,;.!?¿]{{3,80}})", re.IGNORECASE
        ),
    )
    for words, particular in _TABLES
    for bound, word in zip(_BOUNDS, words, strict=True)
)


class EventReference(NamedTuple):
    """Where a text names a time by an event, on which side of it, and the words of the event."""

    start: int
    end: int
    bound: str
    event: str


def event_reference(text: str) -> EventReference | None:
    """Return the first time that a text names by an event; None if it names none.

    Examples
    --------
    >>> event_reference("What did I buy before my trip to Porto?")
    EventReference(start=15, end=38, bound='before', event='trip to Porto')
    >>> event_reference("What did I eat before dinner?") is None
    True
    """
    lower = text.lower()
    if not any(cue in lower for cue in _CUES):
        return None
    found = [
        EventReference(match.start(), match.end(), bound, match["event"].strip())
        for bound, pattern in _PATTERNS
        if (match := pattern.search(text)) is not None
    ]
    return min(found, default=None)
