"""Until when a memory held that another took the place of: until that began, and never before its own start.

A memory may have had an end of its own, which stays. The end that a successor gave it goes with that one: it
follows when the successor is found to have begun at another time, or is purged; and nobody knew of it before
there was a successor. So a store keeps which of the two an end is (``end_given``).
"""

from __future__ import annotations

from datetime import datetime

from recollect.model.memory import Memory


def ended_by(memory: Memory, began: datetime) -> datetime:
    """Return until when a memory without an end of its own held, given when what took its place began.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> may, june = datetime(2026, 5, 7, tzinfo=UTC), datetime(2026, 6, 7, tzinfo=UTC)
    >>> rome = Memory(id="m1", content="Anna lives in Rome.", created_at=may, valid_from=may)
    >>> ended_by(rome, june) == june, ended_by(rome, datetime(2025, 1, 1, tzinfo=UTC)) == may
    (True, True)
    """
    return began if memory.valid_from is None else max(began, memory.valid_from)


def ended_again(memory: Memory, given: bool, began: datetime | None) -> datetime | None:
    """Return until when a superseded memory held, now that its successor began at another time, or is gone.

    Parameters
    ----------
    memory
        The one that was superseded.
    given
        Whether its end was given by what took its place, and is none of its own.
    began
        When that began, as is known now; None if nothing takes its place any more.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> may, june = datetime(2026, 5, 7, tzinfo=UTC), datetime(2026, 6, 7, tzinfo=UTC)
    >>> rome = Memory(id="m1", content="Anna lives in Rome.", created_at=may, valid_to=june)
    >>> ended_again(rome, True, None) is None, ended_again(rome, False, None) == june
    (True, True)
    """
    if not given:
        return memory.valid_to
    return None if began is None else ended_by(memory, began)
