"""Opinions: clauses that tell what somebody likes, prefers or avoids, and when two exclude each other.

Anybody may like, prefer and avoid any number of things: "I prefer tea" and "I prefer window seats" are both
true. Two opinions exclude each other only if one dislikes what the other likes.
"""

from __future__ import annotations

from typing import Final

from memorata.dedupe.claim_tokens import claim_root
from memorata.dedupe.claim_words import sense
from memorata.dedupe.claims import LIKING, Clause

FAVOURITE: Final = "favourite"
_MIN_SAME_THING: Final = 0.6
"""The share of what one dislikes that the other has to like for a contradiction."""


def is_opinion(clause: Clause) -> bool:
    """Return whether a clause tells what is liked, avoided or preferred, and not what is liked best."""
    return not LIKING.isdisjoint(clause.flags) and not any(map(is_favourite, clause.attributes))


def is_favourite(attribute: str) -> bool:
    """Return whether an attribute is the favourite of a kind, of which there is one."""
    return attribute.startswith(FAVOURITE)


def liking_roots(clause: Clause) -> frozenset[str]:
    """Return the roots by which a clause tells of liking or disliking."""
    if LIKING.isdisjoint(clause.flags):
        return frozenset()
    return frozenset([claim_root(word) for word in clause.words if sense(word).flags & LIKING])


def affirms(clause: Clause) -> bool:
    """Return whether a clause says or likes what it is about: to avoid something is to deny it."""
    return clause.sign > 0 or not (clause.sign or clause.negative)


def dislikes_same(a: Clause, b: Clause, liked: frozenset[str]) -> bool:
    """Return whether one of two clauses dislikes what the other likes, or something more general.

    Who avoids hotels with a casino may like hotels; who avoids hotels hardly likes one with a casino. `liked`
    are the roots of liking of both.
    """
    if a.sign * b.sign >= 0 or "lacking" in a.flags ^ b.flags:
        return False
    disliking, liking = (a, b) if a.sign < 0 else (b, a)
    thing = disliking.content - liked
    return bool(thing) and len(thing & liking.content) >= _MIN_SAME_THING * len(thing)


def share_half(a: Clause, b: Clause, liked: frozenset[str]) -> bool:
    """Return whether two clauses share half of what the shorter one is about."""
    things = a.content - liked, b.content - liked
    return 0 < min(map(len, things)) <= 2 * len(things[0] & things[1])
