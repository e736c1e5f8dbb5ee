"""Summaries of a theme: its central sentences, verbatim, or the words of a language model.

By default nothing is written that nobody said. A word is telling if many of these memories have it and few of
all others do (the topic signatures of Lin and Hovy, "The automated acquisition of topic signatures for text
summarization", 2000); the sentences with the most telling words are taken, each unlike those already taken
(maximal marginal relevance, Carbonell and Goldstein, 1998), in the order in which they were said.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol, runtime_checkable

import numpy as np

from memorata.model.checks import FloatArray
from memorata.model.memory import Memory
from memorata.rank.diversity import mmr
from memorata.text.tokens import sentences

_TRADE: Final = 0.6
_SHORT: Final = 8
"""Sentences of fewer words count as if they had so many."""
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
    """Writes a summary of sentences that were said."""

    name = "sentences"

    def __init__(
        self,
        tokens: Callable[[str], list[str]],
        frequencies: Callable[[Sequence[str]], tuple[int, Mapping[str, int]]] | None = None,
    ) -> None:
        self._tokens = tokens
        self._frequencies = frequencies

    def write(self, memories: Sequence[Memory], limit: int) -> str:
        """Return the central sentences of memories, one on a line, oldest first."""
        ordered = sorted(memories, key=lambda memory: (memory.event_time, memory.id))
        said = {
            _spoken(memory, sentence): Counter(self._tokens(sentence))
            for memory in ordered
            for sentence in sentences(memory.content) or (memory.content,)
        }
        lines, counts = list(said), list(said.values())
        telling = self._telling([set(self._tokens(memory.content)) for memory in ordered])
        table = _weighted(counts, telling)
        # Short remarks have few words of any kind; the root keeps long ones from winning by length alone.
        lengths = np.array([max(words.total(), _SHORT) for words in counts], np.float64)
        scores = table.sum(axis=1) / np.sqrt(lengths)
        chosen = mmr(scores, table, trade=_TRADE, limit=min(limit, len(lines)))
        return "\n".join(f"- {lines[position]}" for position in sorted(chosen.tolist()))

    def _telling(self, texts: Sequence[set[str]]) -> dict[str, float]:
        """Return how telling each word is: the share of these that have it, times how rare it is in all."""
        here = Counter(word for words in texts for word in words)
        if self._frequencies is None:
            return {word: times / len(texts) for word, times in here.items()}
        count, everywhere = self._frequencies(sorted(here))
        return {
            word: times / len(texts) * math.log(1 + count / max(times, everywhere.get(word, 0)))
            for word, times in here.items()
        }


def headed(memories: Sequence[Memory], text: str) -> str:
    """Return a summary under a line that says of how many memories, and of which days, it is."""
    days = sorted(memory.event_time.date().isoformat() for memory in memories)
    when = days[0] if days[0] == days[-1] else f"{days[0]} to {days[-1]}"
    return f"In short, {len(memories)} memories of {when}:\n{text}"


def _spoken(memory: Memory, sentence: str) -> str:
    cut = sentence if len(sentence) <= _LONGEST else sentence[: _LONGEST - 1] + "…"
    return f"{memory.source.speaker}: {cut}" if memory.source.speaker else cut


def _weighted(counts: Sequence[Counter[str]], telling: Mapping[str, float]) -> FloatArray:
    """Return a row per sentence: how telling each of its words is, however often it says it."""
    column = {word: number for number, word in enumerate(telling)}
    table = np.zeros((len(counts), max(1, len(column))))
    for row, words in zip(table, counts, strict=True):
        for word in words:
            row[column[word]] = telling[word]
    return table
