"""Shingles: the overlapping pieces of a text, and how much two texts have in common by them.

From Broder, "On the resemblance and containment of documents" (SEQUENCES 1997): the resemblance of two texts
is the Jaccard index of their sets of shingles. MinHash estimates that number; this file computes it exactly,
and so verifies what MinHash proposes.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from memorata.model import checks
from memorata.model.errors import InvalidArgument


def character_shingles(text: str, size: int = 3) -> frozenset[str]:
    """Return every run of `size` characters of `text`.

    Parameters
    ----------
    text
        The text as it is; pass it through :func:`~memorata.dedupe.fingerprint.normalised` first to
        ignore case and spacing.
    size
        Characters per shingle, at least 1.

    Returns
    -------
    frozenset of str
        A text of n ≥ size characters has at most n - size + 1 shingles. A shorter one is its own only
        shingle, so that "hi" still equals "hi"; the empty text has none.

    Examples
    --------
    >>> sorted(character_shingles("banana"))
    ['ana', 'ban', 'nan']
    >>> character_shingles("hi"), character_shingles("")
    (frozenset({'hi'}), frozenset())
    """
    checks.text("text", text)
    size = checks.whole("size", size, 1)
    if len(text) < size:
        return frozenset({text} if text else ())
    return frozenset(text[start : start + size] for start in range(len(text) - size + 1))


def word_shingles(text: str, size: int = 2) -> frozenset[str]:
    """Return every run of `size` words of `text`, its words joined by one space.

    Parameters
    ----------
    text
        The text as it is; words are what white space separates.
    size
        Words per shingle, at least 1. One changed word changes up to `size` shingles, so short texts such as
        memories want small ones.

    Returns
    -------
    frozenset of str
        A text of fewer than `size` words is its own only shingle; a text without words has none.

    Examples
    --------
    >>> sorted(word_shingles("to be or not to be"))
    ['be or', 'not to', 'or not', 'to be']
    >>> word_shingles("tea")
    frozenset({'tea'})
    """
    words = checks.text("text", text).split()
    size = checks.whole("size", size, 1)
    if len(words) < size:
        return frozenset({" ".join(words)} if words else ())
    return frozenset(" ".join(words[start : start + size]) for start in range(len(words) - size + 1))


def jaccard(a: AbstractSet[str], b: AbstractSet[str]) -> float:
    """Return the Jaccard index of two sets: |a ∩ b| / |a ∪ b|.

    Parameters
    ----------
    a, b
        Two sets of shingles.

    Returns
    -------
    float
        From 0 (nothing in common) to 1 (the same set). Two empty sets are the same set: 1.

    Examples
    --------
    >>> jaccard(character_shingles("banana"), character_shingles("bandana"))
    0.3333333333333333
    >>> jaccard(frozenset(), frozenset()), jaccard(frozenset({"tea"}), frozenset())
    (1.0, 0.0)
    """
    for argument, value in (("a", a), ("b", b)):
        if not isinstance(value, AbstractSet):
            raise InvalidArgument(argument, value, "a set of shingles")
    shared = len(a & b)
    union = len(a) + len(b) - shared
    return shared / union if union else 1.0
