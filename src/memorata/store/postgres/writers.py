"""How often each thread has written, in a table: a count is part of the write that it counts.

Who did not hear whether a write happened reads it there, and others notice by the sum that something was
written. Rows of those who have ended are counted together in one, else everybody who asks would add up ever
more of them. Who closes a store does that with their own rows. Who was killed cannot: what nobody has counted
in for `KEPT` is taken for that, by whoever begins to write.

Why that is safe, though the process may live and only be silent: a row is asked about after a write whose
answer was lost, and says whether it happened. Who asks within `ASKED` of the beginning of that write finds
the row if it did, for it was written less than `KEPT` ago; the clock is the server's in both. Who asks later,
and finds none, is told that nobody knows, not that it did not happen. Who writes again begins a new row at
the count they had: the sum is larger than it should be, and has moved, which is all that anybody wants to
know.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

FORMER: Final = -1
"""The row in which the writes of those who have ended are counted."""
KEPT: Final = "7 days"
"""After how long without a write a row is counted with those of former writers."""
ASKED: Final = "1 day"
"""For how long after a write began a row that is not there says that it did not happen."""

WRITTEN: Final = (
    "SELECT (SELECT writes FROM writers WHERE number = %s), "
    f"clock_timestamp() > to_timestamp(%s) + interval '{ASKED}'"
)
"""How often one has written, if that is known, and whether it is too late to ask."""
BY_OTHERS: Final = "SELECT coalesce(sum(writes), 0)::bigint FROM writers WHERE number <> ALL (%s::bigint[])"


@dataclass(slots=True)
class Writer:
    """Under which number writes are counted, and how many they are."""

    # Not from a sequence, which may repeat itself after a crash.
    number: int = field(default_factory=lambda: secrets.randbits(62))
    writes: int = 0

    def counting(self) -> str:
        """Return what counts one more write, in SQL.

        Examples
        --------
        >>> Writer(7, 2).counting()[:69]
        'INSERT INTO writers (number, writes, heard) VALUES (7, 3, clock_times'
        """
        # Not one more than there were: a crash may have lost some that need not survive one.
        return (
            "INSERT INTO writers (number, writes, heard) "
            f"VALUES ({self.number}, {self.writes + 1}, clock_timestamp()) "
            "ON CONFLICT (number) DO UPDATE SET writes = excluded.writes, heard = excluded.heard"
        )


def adding_up(numbers: Iterable[int]) -> str:
    """Return what counts the writes of these together with those of former writers, in SQL."""
    return _together(f"number = ANY ('{{{','.join(map(str, numbers))}}}'::bigint[])")


def adding_up_the_silent() -> str:
    """Return what does so with the writes of those of whom nothing was heard for long."""
    # Who is writing at this moment has locked their row, and is not silent.
    silent = (
        f"SELECT number FROM writers WHERE number <> {FORMER} "
        f"AND heard < clock_timestamp() - interval '{KEPT}' FOR UPDATE SKIP LOCKED"
    )
    return _together(f"number IN ({silent})")


def _together(condition: str) -> str:
    return (
        f"WITH ended AS (DELETE FROM writers WHERE {condition} RETURNING writes) "
        f"INSERT INTO writers (number, writes) SELECT {FORMER}, sum(writes) FROM ended HAVING count(*) > 0 "
        "ON CONFLICT (number) DO UPDATE SET writes = writers.writes + excluded.writes"
    )
