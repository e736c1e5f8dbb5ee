"""Summaries of a theme: its central sentences, verbatim, or the words of a language model.

By default nothing is written that nobody said: the sentences most like all of them together (the centroid of
Radev and others, "Centroid-based summarization of multiple documents", 2004), each unlike those already taken
(maximal marginal relevance, Carbonell and Goldstein, 1998), in the order in which they were said.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final, Protocol, runtime_checkable

import numpy as np

from recollect.model.checks import FloatArray
from recollect.model.memory import Memory
from recollect.rank.diversity import mmr
from recollect.text.sentences import sentences

_TRADE: Final = 0.6
_LONGEST: Final = 400
"""Sentences above this are cut: a list without full stops is not a summary of anything."""


@runtime_checkable
class Writer(Protocol):
    """Whoever can say in short what memories say."""

    @property
    def name(self) -> str:
        """What its summaries are marked with; another model or prompt is another name."""
        ...

    def write(self, memories: Sequence[Memory], limit: int) -> str:
        """Return what these memories say in at most `limit` sentences, or raise."""
        ...


class SentenceWriter:
    """Writes a summary of sentences that were said.

    Parameters
    ----------
    tokens
        Reads the words of a text.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> said = ["Anna drinks green tea.", "Green tea, said Anna. It rained.", "Anna bought green tea again."]
    >>> week = [Memory(id=f"m{n}", content=text, created_at=datetime(2026, 5, n, tzinfo=UTC))
    ...         for n, text in enumerate(said, 1)]
    >>> print(SentenceWriter(lambda text: text.lower().split()).write(week, 1))
    - Anna drinks green tea.
    """

    name = "sentences"

    def __init__(self, tokens: Callable[[str], list[str]]) -> None:
        self._tokens = tokens

    def write(self, memories: Sequence[Memory], limit: int) -> str:
        """Return the central sentences of memories, one on a line, oldest first."""
        ordered = sorted(memories, key=lambda memory: (memory.event_time, memory.id))
        said = {
            _spoken(memory, sentence): Counter(self._tokens(sentence))
            for memory in ordered
            for sentence in sentences(memory.content) or (memory.content,)
        }
        lines = list(said)
        table = _weighted(list(said.values()))
        centre = table.sum(axis=0)
        chosen = mmr(table @ centre, table, trade=_TRADE, limit=min(limit, len(lines)))
        return "\n".join(f"- {lines[position]}" for position in sorted(chosen.tolist()))


def headed(memories: Sequence[Memory], text: str) -> str:
    """Return a summary under a line that says of how many memories, and of which days, it is.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> tea = Memory(id="m1", content="Tea.", created_at=datetime(2026, 5, 7, tzinfo=UTC))
    >>> print(headed([tea, tea], "- Tea."))
    In short, 2 memories of 2026-05-07:
    - Tea.
    """
    days = sorted(memory.event_time.date().isoformat() for memory in memories)
    when = days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"
    return f"In short, {len(memories)} memories of {when}:\n{text}"


def _spoken(memory: Memory, sentence: str) -> str:
    cut = sentence if len(sentence) <= _LONGEST else sentence[: _LONGEST - 1] + "…"
    return f"{memory.source.speaker}: {cut}" if memory.source.speaker else cut


def _weighted(counts: Sequence[Counter[str]]) -> FloatArray:
    """Return a row of unit length per sentence: ``tf · ln(1 + n / df)`` of each of its words."""
    frequency = Counter(word for words in counts for word in words)
    column = {word: number for number, word in enumerate(frequency)}
    table = np.zeros((len(counts), max(1, len(column))))
    for row, words in zip(table, counts, strict=True):
        for word, times in words.items():
            row[column[word]] = times * math.log(1 + len(counts) / frequency[word])
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    np.divide(table, lengths, out=table, where=lengths > 0)
    return table
