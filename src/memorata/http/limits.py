"""How much one request, one caller and one server may ask for."""

from __future__ import annotations

from typing import Final

from memorata._frozen import frozen
from memorata.model import checks

TEXT: Final = 100_000
"""Most characters of a memory's content."""
WORD: Final = 1_000
"""Most characters of a name, a tag, a category, a link."""
QUESTION: Final = 10_000
"""Most characters of a question."""
BATCH: Final = 1_000
"""Most memories, or ids, in one request."""
RESULTS: Final = 1_000
"""Most results in one answer."""
LIST: Final = 100
"""Most tags, entities or aliases of one thing."""

_MEGABYTE: Final = 1024 * 1024


@frozen(kw_only=True)
class Limits:
    """What a server allows.

    Attributes
    ----------
    body
        Most bytes of a request, and of one line of an import.
    stream
        Most bytes of an import.
    rate, burst
        Requests a second of one caller, and how many at once above that; no rate for no limit.
    seconds
        Most time for one answer, and for a body to arrive.
    threads
        How many requests work at the same time.
    waiting
        How many more may wait for a thread.
    """

    body: int = 4 * _MEGABYTE
    stream: int = 1024 * _MEGABYTE
    rate: float | None = None
    burst: int = 100
    seconds: float = 30.0
    threads: int = 4
    waiting: int = 256

    def __post_init__(self) -> None:
        for name in ("body", "stream", "burst", "threads"):
            checks.whole(name, getattr(self, name), 1)
        checks.whole("waiting", self.waiting)
        checks.above("seconds", self.seconds, 0)
        if self.rate is not None:
            checks.above("rate", self.rate, 0)
