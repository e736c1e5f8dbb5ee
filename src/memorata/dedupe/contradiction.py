"""Whether a newer short text contradicts an older one: the same subject and attribute, and another value.

Rules in the manner of de Marneffe, Rafferty and Manning, "Finding contradictions in text" (ACL 2008): read
both texts as claims, align them, and look at the little that differs. Precision comes before recall. Texts
that say more than one thing or ask something contradict nothing, and anything that may hold several values at
a time needs a word of change or a correction.
"""

from __future__ import annotations

from enum import StrEnum
from itertools import pairwise, product
from typing import Final

from memorata._frozen import frozen
from memorata.dedupe.claims import (
    COPULAS,
    KIN,
    OPPOSITES,
    STATES,
    Claim,
    claims,
    flagged,
    listed_words,
    number,
    root,
    sense,
)
from memorata.model import checks

_VAGUE: Final = frozenset({"being", "kind"})
"""What a noun is, by no word of its own."""
_SEVERAL: Final = _VAGUE | {"use", "diet", "school"}
"""Attributes that may hold several values at a time."""
_NAMED: Final = frozenset(["residence", "partner", "holder", "place", "name", "time", "phone", "mail", "car"])
"""Attributes whose values are names, numbers or days: another word tells more of the same."""
_PREPOSITIONS: Final = flagged("preposition")
_PURPOSE: Final = flagged("purpose")
_COMPANY: Final = flagged("company")
_NUMBERED: Final = flagged("numbered")
"""A number behind one of these names a thing: "room number 7" is another than "room number 9"."""
_NEW: Final = flagged("new")
_NOW: Final = flagged("now")
_MAX_QUOTED: Final = 80
_MAX_VALUE: Final = 4
_MAX_CONTENT: Final = 6
"""Most words with meaning of claims that are compared without a word of change."""


class Cue(StrEnum):
    """What gives a contradiction away."""

    NEGATION = "negation"
    """One says what the other denies."""
    OPPOSITE = "opposite"
    """Two words, or two kinds of things, that cannot both be true."""
    NUMBER = "number"
    """Another number in the same place."""
    CHANGE = "change"
    """A word says that the state has changed, or ended."""
    VALUE = "value"
    """Another value of an attribute that has one at a time."""
    CORRECTION = "correction"
    """The newer text begins with a correction."""


@frozen
class Hint:
    """A contradiction: the cue, the words that differ on either side, and one sentence for a person."""

    cue: Cue
    before: str
    after: str
    reason: str


_REASONS: Final = {
    Cue.NEGATION: "one denies what the other says",
    Cue.OPPOSITE: "one tells what the other excludes",
    Cue.NUMBER: "the number differs",
    Cue.CHANGE: "the newer one tells of a change",
    Cue.VALUE: "another value of the same attribute",
    Cue.CORRECTION: "the newer one corrects the other",
}


def contradiction(older: str, newer: str, *, speakers: tuple[str, str] = ("", "")) -> Hint | None:
    """Return why `newer` contradicts `older`; None if nothing speaks for it.

    Parameters
    ----------
    older, newer
        Two texts, in the order of their times.
    speakers
        The speakers of both, empty if unknown: "I" is the speaker.

    Examples
    --------
    >>> contradiction("Anna lives in Rome.", "Anna moved to Paris.").cue
    <Cue.CHANGE: 'change'>
    >>> contradiction("Das Treffen beginnt um 9:00.", "Das Treffen beginnt um 10:30.").reason
    'the number differs: 9:00 and 10:30'
    >>> contradiction("Anna likes tea.", "Anna likes coffee.") is None
    True
    """
    before = claims(checks.text("older", older), speakers[0])
    after = claims(checks.text("newer", newer), speakers[1])
    for a, b in product(before, after):
        cue = _cue(a, b)
        if cue is not None:
            return _hint(cue, a, b)
    return None


def subjects(text: str) -> set[str]:
    """Return the subjects of a text's claims."""
    return {claim.subject for claim in claims(text)}


def related_words(text: str, speaker: str = "") -> frozenset[str] | None:
    """Return words of texts that this one may contradict, besides its own; None if it claims nothing."""
    found = claims(text, speaker)
    if not found:
        return None
    words: set[str] = set()
    for claim in found:
        words.update(*(listed_words("attributes", name) for name in claim.attributes))
        words.update(*(listed_words("kinds", name) for name in claim.kinds | claim.denied))
        words.update(*(listed_words("lacks", name) for name in claim.kinds))
        words.update(*(OPPOSITES.get(word, ()) for word in claim.words))
    return frozenset(words)


def _hint(cue: Cue, a: Claim, b: Claim) -> Hint:
    start, end = _frame(a.words, b.words)
    before, after = (" ".join(claim.words[start : len(claim.words) - end])[:_MAX_QUOTED] for claim in (a, b))
    values = f": {before} and {after}" if before and after else ""
    return Hint(cue, before, after, _REASONS[cue] + values)


def _cue(a: Claim, b: Claim) -> Cue | None:
    if "past" in a.flags | b.flags or a.words == b.words:
        return None
    if not _same_subject(a, b):
        return None
    excluded = (a.denied & b.kinds) | (b.denied & a.kinds)
    if not b.relative and (a.subject != b.subject or not _is_of_person(a)) and _ends(a, b, a.names):
        return Cue.CHANGE
    if _other_relative(a, b) and not (_is_of_kin(a, excluded) and _is_of_kin(b, excluded)):
        return None
    if {"good", "bad"} <= a.flags or {"good", "bad"} <= b.flags:
        return None
    if a.sign and b.sign:
        return _opinions(a, b)
    if excluded:
        return (
            None
            if any("passing" in claim.flags for claim in (a, b) if claim.denied & excluded)
            else Cue.OPPOSITE
        )
    favourite = any(name.startswith("favourite ") for name in a.attributes & b.attributes)
    return _denial(a, b) or _opposite(a, b) or (_value(a, b) if favourite or not (a.sign or b.sign) else None)


def _opinions(a: Claim, b: Claim) -> Cue | None:
    """Return a cue if one claim dislikes what the other likes, or something more general.

    Anybody may like, prefer and avoid any number of things.
    """
    liked = {
        root(word)
        for claim in (a, b)
        for word in claim.words
        if sense(word).flags & {"good", "bad", "endured"}
    }
    if a.sign != b.sign and not {"lacking", "comparing"} & (a.flags | b.flags):
        disliked, other = (a.content - liked, b.content) if a.sign < 0 else (b.content - liked, a.content)
        if not disliked or not disliked <= other:
            return None
        return Cue.NEGATION if a.negative != b.negative else Cue.OPPOSITE
    if a.sign == b.sign > 0 and b.flags & {"changed", "corrected"} and _head(a) == _head(b):
        before, after = (
            {word for word, kind in claim.value.items() if kind not in ("day", "number")} - liked
            for claim in (a, b)
        )
        return Cue.CHANGE if len(before - after) == 1 == len(after - before) else None
    return None


def _denial(a: Claim, b: Claim) -> Cue | None:
    """Return a cue if one claim denies what the other says: all of it, with little else."""
    if _affirms(a) == _affirms(b) or "passing" in a.flags | b.flags:
        return None
    denied, said = (b, a) if _affirms(a) else (a, b)
    shared = denied.content & said.content
    rest = len(denied.content - said.content) + len(said.content - denied.content)
    if shared and denied.content <= said.content | denied.attributes and rest <= max(1, len(shared)):
        return Cue.NEGATION
    return None


def _affirms(claim: Claim) -> bool:
    """Return whether a claim says or likes what it is about: to avoid something is to deny it."""
    return claim.sign > 0 or not (claim.sign or claim.negative)


def _opposite(a: Claim, b: Claim) -> Cue | None:
    """Return a cue if two words exclude each other and the claims differ in little else."""
    if a.negative != b.negative:
        return None
    for word in a.words:
        other = OPPOSITES.get(word, frozenset()).intersection(b.words)
        if other:
            rest = (a.content ^ b.content) - {root(word), *map(root, other)}
            if len(rest) <= 2:
                return Cue.OPPOSITE
    return None


def _value(a: Claim, b: Claim) -> Cue | None:
    """Return a cue if the newer claim has another value of the same attribute, or in the same frame."""
    if _ends(a, b):
        return Cue.CHANGE
    removed, added = a.value.keys() - b.value.keys(), b.value.keys() - a.value.keys()
    common = a.attributes & b.attributes
    if a.negative or b.negative or not removed:
        return None
    if not added:
        return Cue.CHANGE if not b.value and _changes(a, b) and common - _VAGUE else None
    kinds = {a.value[word] for word in removed}, {b.value[word] for word in added}
    said = set(a.words)
    changed = any("changed" in sense(word).flags and word not in said for word in b.words)
    named = not common & _NAMED or kinds[0] & kinds[1] - {"word"}
    if _changes(a, b) and (_changes_topic(a, b) or (common - _VAGUE and named)):
        return Cue.CHANGE
    if _changes(a, b) and kinds == ({"number"}, {"number"}) and not a.value.keys().isdisjoint(b.value):
        return Cue.CHANGE
    if "corrected" in b.flags and (common or _head(a) == _head(b) != ""):
        return Cue.CORRECTION
    start, _ = _frame(a.words, b.words)
    if kinds == ({"number"}, {"number"}):
        if start and a.words[start - 1] in _NUMBERED:
            return None
        if _replaces(a, b, common):
            return Cue.NUMBER
    if "several" in a.flags & b.flags or not kinds[0] & kinds[1] or {"name", "number"} <= kinds[0] & kinds[1]:
        return None
    if "day" in kinds[0] & kinds[1] and "time" not in common:
        return None
    if not named or ("partner" not in common and start and a.words[start - 1] in _COMPANY):
        return None
    if "passing" in a.flags | b.flags or max(len(a.content), len(b.content)) > _MAX_CONTENT:
        return None
    if changed and _replaces(a, b, common, changed=True):
        return Cue.CHANGE
    if common - (_VAGUE if changed else _SEVERAL) or _replaces(a, b, common):
        return Cue.NUMBER if kinds == ({"number"}, {"number"}) else Cue.VALUE
    return None


def _changes(a: Claim, b: Claim) -> bool:
    """Return whether a word of the newer claim tells of a change, other than "now"."""
    said = {*a.words, *_NOW}
    return any(
        "changed" in sense(word).flags
        and word not in said
        and (word not in _NEW or root(after) in _topic(a) or sense(after).attributes & a.attributes)
        for word, after in pairwise((*b.words, ""))
    )


def _same_subject(a: Claim, b: Claim) -> bool:
    if not a.subject or not b.subject:
        return False
    if a.subject == b.subject:
        return True
    words = a.subject.split(), b.subject.split()
    if len(words[0]) + len(words[1]) > 2:
        # "I changed the wifi password" is about the wifi password; "the backup server" is not "the server".
        shorter, longer = sorted(words, key=len)
        if not set(shorter).isdisjoint(longer):
            return longer[: len(shorter)] == shorter
        return set(words[0]) <= set(b.words) or set(words[1]) <= set(a.words)
    told = not b.flags.isdisjoint({"changed", "ended", "corrected"})
    return any(
        (told or one.subject in one.names or one.subject[0] >= "\u3400")
        and (
            one.subject in other.words or (one.subject[0] >= "\u3400" and one.subject in "".join(other.words))
        )
        for one, other in ((a, b), (b, a))
    )


def _other_relative(a: Claim, b: Claim) -> bool:
    """Return whether one claim is about a relative of the subject that the other does not name."""
    if a.relative == b.relative:
        return False
    if set(a.relative) == set(b.relative):
        return True
    return any(
        not {root(word) for word in other.words}.issuperset(one.relative)
        and not (other.subject != one.subject and other.subject in one.words)
        and not _is_partner(one, other)
        for one, other in ((a, b), (b, a))
    )


def _is_of_person(claim: Claim) -> bool:
    """Return whether a claim is about somebody beside the subject, and not the partner."""
    return "partner" not in claim.attributes and any(
        root(word) in claim.relative and "person" in sense(word).flags for word in claim.words
    )


def _is_of_kin(claim: Claim, excluded: frozenset[str]) -> bool:
    """Return whether a claim tells of the subject, or of the one whom the other claim excludes: "my wife"."""
    kin = {root(word) for word in claim.words if sense(word).kinds & excluded & KIN}
    return bool(excluded & KIN) and (
        not claim.relative or (len(claim.relative) == 1 and kin.issuperset(claim.relative))
    )


def _is_partner(one: Claim, other: Claim) -> bool:
    """Return whether a claim only says who the partner is, and the other tells of marriage."""
    return (
        not other.relative
        and "partner" in one.attributes & (other.attributes | other.kinds)
        and one.attributes <= {"partner", "name"}
    )


def _head(claim: Claim) -> str:
    """Return the first verb of state or word with meaning after the subject."""
    for word in claim.words:
        if word in STATES:
            return "be" if word in COPULAS else word
        meaning = sense(word)
        if not meaning.flags & {"light", "me", "changed"} and word not in claim.subject.split():
            return root(word)
    return ""


def _topic(claim: Claim) -> set[str]:
    """Return the roots of the words before a verb of state that are no names."""
    place = next((place for place, word in enumerate(claim.words) if word in STATES), 0)
    return {root(word) for word in claim.words[:place] if _carries(word) and word not in claim.names}


def _carries(word: str) -> bool:
    return word[0].isalnum() and not sense(word).flags & {"light", "me", "changed", "copula", "negative"}


def _phrases(claim: Claim, *flags: str, names: bool = True) -> list[set[str]]:
    """Return the words beside each word of change, as roots; without `names` up to the first name."""
    phrases = []
    words = claim.words
    for place, word in enumerate(words):
        if word in _NOW or not sense(word).flags.intersection(flags):
            continue
        before = words[:place][::-1]
        runs = [words[place + 1 :]]
        if before and not sense(before[0]).flags & {"me", "pronoun"}:
            runs.append(before)
        for run in runs:
            phrase: set[str] = set()
            for skipped, other in enumerate(run):
                if _carries(other) and (names or claim.value.get(root(other)) in (None, "word")):
                    phrase.add(root(other))
                elif phrase or skipped >= 2 or other in _PREPOSITIONS:
                    break
            if phrase:
                phrases.append(phrase)
                break
    return phrases


def _changes_topic(a: Claim, b: Claim) -> bool:
    """Return whether the newer claim says that the topic of the older one changes: "switched dentists"."""
    topic = _topic(a)
    said = {root(word) for word in b.words}
    return (
        bool(topic)
        and topic <= said
        and any(phrase <= a.content | topic for phrase in _phrases(b, "changed", "ended", names=False))
    )


def _ends(a: Claim, b: Claim, among: frozenset[str] | None = None) -> bool:
    """Return whether the newer claim ends a value of the older one: "sold the Golf", "gave up smoking"."""
    values = a.content - _topic(a) if among is None else {root(word) for word in among} - {root(a.subject)}
    return "ended" not in a.flags and any(
        phrase & values and phrase <= a.content | _topic(a) for phrase in _phrases(b, "ended")
    )


def _frame(before: tuple[str, ...], after: tuple[str, ...]) -> tuple[int, int]:
    """Return how many words two claims begin with together, and end with."""
    shortest, start, end = min(len(before), len(after)), 0, 0
    while start < shortest and before[start] == after[start]:
        start += 1
    while end < shortest - start and before[-1 - end] == after[-1 - end]:
        end += 1
    return start, end


def _replaces(a: Claim, b: Claim, common: frozenset[str], *, changed: bool = False) -> bool:
    """Return whether two claims differ in one value of one frame, after a copula or preposition."""
    words = tuple(tuple(word for word in claim.words if word not in _NOW) for claim in (a, b))
    start, end = _frame(*words)
    before, after = (part[start : len(part) - end] for part in words)
    prefix, tail = words[0][:start], words[0][len(words[0]) - end :] if end else ()
    if not before or not after or max(len(before), len(after)) > _MAX_VALUE:
        return False
    is_state = not STATES.isdisjoint(prefix)
    is_, numeric = not COPULAS.isdisjoint(prefix), any(map(number, before)) and any(map(number, after))
    if numeric and is_state:
        return len(before) == len(after) == 1
    if numeric:
        return bool(common - _VAGUE - {"use"}) and len(before) <= 2 and len(after) <= 2
    if (
        changed
        and is_
        and (tail or not _PREPOSITIONS.isdisjoint({*prefix[-1:], *before} & {*prefix, *after}))
    ):
        return True
    if common - _VAGUE - {"use"} and (start + end) / max(map(len, words)) >= 0.5:
        return True
    if sum(map(_carries, prefix + tail)) < 2 or (not is_ and any(word.endswith("ed") for word in prefix)):
        return False
    if tail:
        return tail[0] in _PURPOSE
    return any(word in _PREPOSITIONS and (is_ or word not in _COMPANY) for word in prefix[-2:])
