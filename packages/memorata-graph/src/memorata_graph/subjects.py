"""Which memories concern a person or a thing, by any of its names."""

from __future__ import annotations

from enum import Enum

from memorata.extend.graph import NameMatcher, Names, contains_any
from memorata.extend.model import Memory, folded


class Concern(Enum):
    """How a memory concerns a subject: not at all, by a word alone, by a name in its text, or for certain."""

    NONE = 0
    WORD = 1
    NAME = 2
    CERTAIN = 3


def concern(memory: Memory, spellings: set[str], matcher: NameMatcher) -> Concern:
    """Return how a memory concerns the subject of these names.

    It does for certain if the subject is its speaker, or if it lists one of the names, unless that is an
    ordinary word that was read in its text ("Will you come?").
    """
    listed = {folded(name) for name in memory.entities} & spellings
    in_text = contains_any(memory.content, spellings)
    if memory.source.speaker and folded(memory.source.speaker) in spellings:
        return Concern.CERTAIN
    if listed and (not in_text or listed - matcher.also_words):
        return Concern.CERTAIN
    if not in_text:
        return Concern.NONE
    if not matcher.matches(memory.content):
        return Concern.WORD
    return Concern.CERTAIN if listed else Concern.NAME


def names_of(subject: str, names: Names) -> list[str]:
    """Return every name that means a subject, as it was written where it was declared."""
    key = names.key(subject)
    declared = names.entity(key, subject)
    return [subject, declared.name, *declared.aliases, *names.merged(key)]


def spellings_of(subject: str, names: Names) -> set[str]:
    """Return every folded name that means a subject."""
    return set(names.spellings(names.key(subject))) | {folded(subject)}
