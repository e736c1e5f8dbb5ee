"""A language that can name a time: its words, its prepositions and its rules, made ready to search with."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from recollect.text.date_readers import Reader
from recollect.text.date_vocabulary import DIGITS, Prepositions, Vocabulary, single_words

Rule = tuple[Reader, str] | tuple[Reader, str, str]
"""A reader, its pattern, and where the pattern names no table the words of which a match holds one."""


@dataclass(frozen=True, slots=True)
class Tongue:
    """A language that can name a time: its words, its prepositions and its rules."""

    vocabulary: Vocabulary
    prepositions: Prepositions
    rules: tuple[Rule, ...]
    triggers: frozenset[str] = field(init=False)
    """Words without which, and without digits, the language finds nothing."""
    beside_digits: frozenset[str] = field(init=False)
    """Words that make a number worth reading in this language."""
    compiled: tuple[tuple[Reader, re.Pattern[str], frozenset[str]], ...] = field(init=False)
    measure: re.Pattern[str] = field(init=False)
    """What can stand before "before": how long, or that it is none."""

    def __post_init__(self) -> None:
        compiled = []
        for reader, pattern, *words in self.rules:
            needs = frozenset(words[0].split()) if words else self.vocabulary.needed(pattern)
            compiled.append((reader, self.vocabulary.compiled(pattern), needs))
        triggers = frozenset().union(*(needs for _, _, needs in compiled)) - {DIGITS}
        before = {*self.prepositions.licences, *self.prepositions.bounds, *self.prepositions.ranges}
        before |= set(self.prepositions.parts)
        measure = rf"(?:{{number}}\s{{1,3}})?{{unit}}|(?:{self.prepositions.measures})"
        object.__setattr__(
            self, "measure", self.vocabulary.compiled(rf"(?:{measure})\s{{1,3}}$", whole=False)
        )
        object.__setattr__(self, "compiled", tuple(compiled))
        object.__setattr__(self, "triggers", triggers)
        object.__setattr__(self, "beside_digits", single_words(before) | triggers)
