"""A language that can name a time: its words, its prepositions and its rules, made ready to search with.

Expressions are compiled when a text first needs them: all of them take a third of a second, which nobody who
never speaks of a time should wait.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from memorata.text.date_readers import Reader
from memorata.text.date_vocabulary import DIGITS, Prepositions, Vocabulary, single_words

Rule = tuple[Reader, str] | tuple[Reader, str, str]
"""A reader, its pattern, and where the pattern names no table the words of which a match holds one."""


@dataclass(frozen=True)
class ReadyRule:
    """A rule with the words of which a text must hold one, and its expression."""

    reader: Reader
    pattern: str
    needs: frozenset[str]
    vocabulary: Vocabulary

    @cached_property
    def expression(self) -> re.Pattern[str]:
        """What finds its phrases in a text in lower case."""
        return self.vocabulary.compiled(self.pattern)


@dataclass(frozen=True)
class Tongue:
    """A language that can name a time."""

    vocabulary: Vocabulary
    prepositions: Prepositions
    rules: tuple[Rule, ...]

    @cached_property
    def ready(self) -> tuple[ReadyRule, ...]:
        """The rules, ready to search with."""
        ready = []
        for reader, pattern, *words in self.rules:
            needs = frozenset(words[0].split()) if words else self.vocabulary.needed(pattern)
            ready.append(ReadyRule(reader, pattern, needs, self.vocabulary))
        return tuple(ready)

    @cached_property
    def triggers(self) -> frozenset[str]:
        """Words without which, and without digits, the language finds nothing."""
        return frozenset[str]().union(*(rule.needs for rule in self.ready)) - {DIGITS}

    @cached_property
    def beside_digits(self) -> frozenset[str]:
        """Words that make a number worth reading in this language."""
        prepositions = self.prepositions
        words = (*prepositions.licences, *prepositions.bounds, *prepositions.ranges, *prepositions.parts)
        return single_words(words) | self.triggers

    @cached_property
    def measure(self) -> re.Pattern[str]:
        """What can stand before "before": how long, or that it is none."""
        measure = rf"(?:{{number}}\s{{1,3}})?{{unit}}|(?:{self.prepositions.measures})"
        return self.vocabulary.compiled(rf"(?:{measure})\s{{1,3}}$", whole=False)
