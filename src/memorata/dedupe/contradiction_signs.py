"""Which texts cannot contradict each other: decided by the words of each, without reading them in pairs.

Reading two texts clause by clause (:mod:`~memorata.dedupe.contradiction_score`) takes a tenth of a
millisecond, and most texts about a subject have nothing to do with each other.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from memorata._frozen import frozen
from memorata.dedupe.claim_tokens import tokens_in
from memorata.dedupe.claim_words import ATTRIBUTES, CLASSES, PLAIN, number, plain_words, sense
from memorata.dedupe.claims import (
    AGENTS,
    COPULAS,
    GOES_ON,
    MAX_PLAIN,
    ONLY_CHILD,
    STATES,
    clause_texts,
    content_words,
    names_of,
    subject_of,
)
from memorata.dedupe.contradiction_score import WEAK_ATTRIBUTES, WEIGHTS
from memorata.dedupe.cue_words import OPPOSITES, uncorrected


@frozen
class Signs:
    """What a text may give features by, over all of its clauses: the roots it says, and bits of the rest."""

    content: frozenset[str]
    bits: int

    @property
    def tells_change(self) -> bool:
        """Whether a text says that something has changed, or that it corrects another."""
        return bool(self.bits & (_CHANGED | _ENDED | _CORRECTED))


@lru_cache(maxsize=2_048)
def signs(text: str) -> Signs:
    """Return the signs of a text, in a third of the time that its claims take."""
    statement = uncorrected(text)
    parts = [tokens for part in clause_texts(statement) if (tokens := tokens_in(part))]
    # Where one clause follows another, the subject of one may be said of the other.
    about = subject_of(parts[0], names_of(parts[0])) if len(parts) == 1 else ""
    content: set[str] = set()
    bits = 0 if statement == text else _CORRECTED
    for part in parts:
        for token in part:
            bits |= _sign_bits(token.text)
        words = content_words(part, about)
        stems = {token.stem for token in words}
        content |= stems
        if any(token.name and token.value for token in words):
            bits |= _NAME
        # A number by itself is an age.
        fewest = len(stems) - (_MAX_ABOUT if len(parts) > 1 else 0)
        if fewest <= 1 and bits & _NUMBER:
            bits |= _attribute_bits(("age",))
        if fewest <= MAX_PLAIN and not COPULAS.isdisjoint([token.text for token in part[:5]]):
            bits |= _COPULA | (_attribute_bits(("work",)) if part[-1].text.endswith(AGENTS) else 0)
        if bits & _attribute_bits(("work",)) and part[-1].text.endswith(AGENTS):
            bits |= _class_bits(("work",), 0)
    if bits & (_NEGATIVE | _ENDED):
        bits |= (bits & _HEADS) >> _CLASSES_WIDE
    return Signs(frozenset(content), bits)


def attribute_words(text: str) -> list[str]:
    """Return the words by which other texts name the attributes that a text names."""
    bits = signs(text).bits
    return [
        word.rstrip("*")
        for place, name in enumerate(_ATTRIBUTE_NAMES)
        if bits & 1 << place and name not in WEAK_ATTRIBUTES
        for word in plain_words("attributes", name)
    ]


@lru_cache(maxsize=1_024)
def companions(bits: int) -> tuple[str, ...] | None:
    """Return words of which a plain text holds one if it contradicts one of these bits and shares no root.

    They name an attribute of both, or what one denies; a word that may go on ends in ``*``. None
    where no word need be shared, as where both say what the subject is, or may be written in other ways.
    """
    if bits & (_COPULA | _NUMBER | _attribute_bits(("work", "age")) | _class_bits(("work",), 1)):
        return None
    words: list[str] = []
    for place, name in enumerate(_ATTRIBUTE_NAMES):
        if bits & 1 << place:
            words += plain_words("attributes", name)
    for name in CLASSES:
        if bits & _class_bits((name,), 0):
            words += (*plain_words("lacks", name), *plain_words("heads", name), *ONLY_CHILD)
        if bits & _class_bits((name,), 1):
            words += plain_words("classes", name)
    return tuple(words)


def may_contradict(older: Signs, newer: Signs) -> bool:
    """Return False if no pair of clauses of two texts can have the log-odds that :func:`assess` notes.

    An upper bound of them for what :func:`~memorata.dedupe.contradiction.contradiction` gives no hint of:
    every feature that speaks for a contradiction counts in full as soon as anything in the two texts may give
    it, and of those that speak against it only the constant one does.
    """
    a, b = older.bits, newer.bits
    both, either = a & b, a | b
    shared = not older.content.isdisjoint(newer.content)
    denied = (a >> _CLASSES_WIDE & b | b >> _CLASSES_WIDE & a) & _CLASSES
    topic = shared or both & _ATTRIBUTES
    if not (topic or denied or both & (_COPULA | _OPPOSED) or b & _CORRECTED):
        return False
    weight = WEIGHTS
    weights = [weight["name_value"]] if both & _NAME else []
    if both & _NUMBER:
        weights += [weight["number"], weight["count"]]
        if both & _STATE:
            weights += [weight["number_only"], weight["running"]]
    if both & _ATTRIBUTES:
        strong = both & (_ATTRIBUTES & ~_WEAK_BITS | _PLACE)
        weights.append(weight["attribute_value" if strong else "weak_value"])
    if both & _COPULA:
        weights.append(max(weight["kind"], weight["being"]))
    if denied:
        weights.append(weight["class_denied"])
    if both & _OPPOSED:
        weights.append(weight["opposite"])
    if topic and b & _CHANGED:
        weights.append(weight["changed"])
    if topic and b & _ENDED:
        weights.append(weight["ended"])
    if b & _CORRECTED:
        weights.append(weight["corrects"])
    if shared:
        weights.append(2.0 * weight["replaced"])
        if b & (_CHANGED | _ENDED):
            weights += [weight["topic_changed"], weight["value_ended"], weight["prefers"]]
    if shared and either & _NEGATIVE:
        weights += [weight["negated"], weight["covered"]]
    if shared and both & _LIKED and either & (_NEGATIVE | _DISLIKED):
        weights.append(weight["sign"])
    if (shared or denied) and either & _NEVER:
        weights.append(weight["never"])
    me = weight["same_me"] if both & _ME else 0.0
    odds = weight["bias"] + weight["unlike"] + weight["other_before"] + me
    return bool(weights) and odds + math.fsum(max(0.0, part) for part in weights) >= -_ROUNDING


_ROUNDING: Final = 1e-9
_MAX_ABOUT: Final = 3
"""How many words of content a subject takes at most: in Chinese it is read character by character."""
_ATTRIBUTE_NAMES: Final = tuple(name for name in ATTRIBUTES if name != "frequency")
_ATTRIBUTES: Final = (1 << len(_ATTRIBUTE_NAMES)) - 1
_CLASSES_WIDE: Final = len(CLASSES)
_FIRST_CLASS: Final = len(_ATTRIBUTE_NAMES)
_CLASSES: Final = (1 << _CLASSES_WIDE) - 1 << _FIRST_CLASS
"""Bits of classes that are mentioned; those that are denied come after them, then the names of classes."""
_HEADS: Final = _CLASSES << 2 * _CLASSES_WIDE
(
    _ME, _NAME, _NUMBER, _STATE, _COPULA, _OPPOSED, _CHANGED, _ENDED, _NEGATIVE, _NEVER, _LIKED, _DISLIKED,
    _PLACE, _CORRECTED,
) = (1 << _FIRST_CLASS + 3 * _CLASSES_WIDE + place for place in range(14))  # fmt: skip
_FLAGS: Final = {
    "me": _ME, "changed": _CHANGED, "ended": _ENDED, "negative": _NEGATIVE, "never": _NEVER | _NEGATIVE,
    "good": _LIKED, "bad": _LIKED | _DISLIKED, "endured": _LIKED,
}  # fmt: skip
_OPPOSITES: Final = frozenset(OPPOSITES).union(*OPPOSITES.values())


def _attribute_bits(names: Iterable[str]) -> int:
    return sum(1 << _ATTRIBUTE_NAMES.index(name) for name in names if name in _ATTRIBUTE_NAMES)


_WEAK_BITS: Final = _attribute_bits(WEAK_ATTRIBUTES)


def _class_bits(names: Iterable[str], place: int) -> int:
    return sum(1 << _FIRST_CLASS + place * _CLASSES_WIDE + CLASSES.index(name) for name in names)


@lru_cache(maxsize=16_384)
def _sign_bits(word: str) -> int:
    """Return what a word adds to the signs of a text."""
    meaning = sense(word)
    bits = 0
    if meaning is not PLAIN:
        bits = _attribute_bits(meaning.attributes) | _class_bits(meaning.classes, 0)
        bits |= _class_bits(meaning.lacks, 1) | _class_bits(meaning.heads, 2)
        for flag in meaning.flags & _FLAGS.keys():
            bits |= _FLAGS[flag]
    if "place" in meaning.flags:
        # Of which somebody may be said to be by no other word.
        bits |= _PLACE | _attribute_bits(("origin",))
    if number(word) is not None:
        bits |= _NUMBER
    if word in ONLY_CHILD:
        bits |= _class_bits(("siblings",), 1)
    bits |= _STATE if word in STATES or word == GOES_ON else 0
    return bits | (_OPPOSED if word in _OPPOSITES else 0)
