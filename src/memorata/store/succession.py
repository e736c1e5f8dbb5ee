"""Until when a memory held that another took the place of: until that began, and never before its own start.

Where what took its place was in turn replaced by one that began even before it, the chain tells it: no two of
a chain are true at once, so the oldest held until the earliest of all that came after it began.

A memory may have had an end of its own, which stays. The end that a successor gave it goes with that one: it
follows when the successor is found to have begun at another time, or is purged; and nobody knew of it before
there was a successor. So a store keeps which of the two an end is (``end_given``).
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from memorata.model.memory import Memory


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


class Succession(NamedTuple):
    """That a memory took the place of another; memories by slot, times in microseconds since 1970.

    Parameters
    ----------
    slot, valid_from, valid_to
        The one that was superseded, when it began to hold if it says so, and its end.
    superseded_at, end_given
        Since when, and whether that gave it its end.
    winner, began
        What took its place, and when that began to hold.
    """

    slot: int
    valid_from: int | None
    valid_to: int | None
    superseded_at: int
    end_given: bool
    winner: int
    began: int


def earliest(chain: Iterable[tuple[int, int]]) -> int:
    """Return when a memory, or the first of what took its place, began, in microseconds.

    What only repeats an older one and was superseded for that is no succession: the chain ends there.

    Parameters
    ----------
    chain
        Slots and beginnings: of the memory, of what superseded it, and so on.

    Examples
    --------
    >>> earliest([(3, 50), (4, 20), (7, 40)]), earliest([(3, 50), (2, 20)])
    (20, 50)
    """
    first, last = None, -1
    for slot, began in chain:
        if first is not None and slot < last:
            break
        first, last = began if first is None else min(first, began), slot
    assert first is not None  # a chain has a beginning
    return first


def ends_known(successions: Iterable[Succession], as_of: int) -> dict[int, int | None]:
    """Return until when memories were known to hold at a moment, where that is not what is known today.

    Parameters
    ----------
    successions
        All of a namespace.
    as_of
        The moment, in microseconds since 1970.

    Examples
    --------
    Basel took the place of Bern at 60 and was said to begin at 50; at 90 it is said that it began at 30.

    >>> bern = Succession(0, None, 30, 60, True, 1, 50)
    >>> basel = Succession(1, 50, 50, 90, True, 2, 30)
    >>> [ends_known([bern, basel], then) for then in (55, 70, 90)]
    [{0: None, 1: None}, {0: 50, 1: None}, {}]
    """
    all_ = {each.slot: each for each in successions}
    known = {slot: each for slot, each in all_.items() if each.superseded_at <= as_of}
    found: dict[int, int | None] = {}
    for slot, each in all_.items():
        if not each.end_given:
            continue
        end = None
        if slot in known:
            chain = [(each.winner, each.began)]
            while (above := known.get(chain[-1][0])) is not None:
                chain.append((above.winner, above.began))
            end = earliest(chain) if each.valid_from is None else max(earliest(chain), each.valid_from)
        if end != each.valid_to:
            found[slot] = end
    return found
