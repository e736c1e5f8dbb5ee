"""The times that a memory's text names, relative to when it was said.

"Yesterday" in a message of 8 May 2023 is 7 May 2023. A day that the text names becomes the memory's event
time, with the phrase kept beside it; the words of every time it names become searchable.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final

from memorata.model.memory import Memory
from memorata.text.dates import TimeExpression, time_expressions

PHRASE: Final = "time_phrase"
"""The key of a memory's metadata that keeps the words its event time was read from."""

_DAY: Final = timedelta(days=1)


@lru_cache(maxsize=4_096)
def named_times(content: str, said_at: datetime) -> tuple[TimeExpression, ...]:
    """Return the times a text names; remembered, since a write asks twice."""
    return time_expressions(content, said_at, nearest=True)


def dated(memory: Memory) -> Memory:
    """Return the memory with the first day its text names as its event time, if it has none of its own.

    Examples
    --------
    >>> from datetime import UTC
    >>> said = Memory(id="m1", content="We sailed yesterday.", created_at=datetime(2023, 5, 8, 9, tzinfo=UTC))
    >>> dated(said).valid_from.date().isoformat(), dated(said).metadata["time_phrase"]
    ('2023-05-07', 'yesterday')
    """
    if memory.valid_from is not None or PHRASE in memory.metadata:
        return memory
    for each in named_times(memory.content, memory.created_at):
        period = each.period
        if period.end - period.start <= _DAY and period.tolerance <= _DAY:
            if memory.valid_to is not None and memory.valid_to < period.start:
                return memory
            noted = {**memory.metadata, PHRASE: each.phrase}
            return replace(memory, valid_from=period.start, metadata=noted)
    return memory
