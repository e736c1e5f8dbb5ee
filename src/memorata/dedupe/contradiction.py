"""Hints that a newer statement contradicts an older one: the same subject and slot, and another value.

A detector by rules, in the manner of de Marneffe, Rafferty and Manning, "Finding contradictions in text" (ACL
2008): align the two texts, and look at the little that differs. It proposes, and nothing is done because of
it: the rules know a few hundred words of three languages, and no world. Precision comes before recall, so a
slot that may hold several values ("likes tea", "likes coffee") gives no hint.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from difflib import SequenceMatcher
from enum import StrEnum
from functools import lru_cache
from typing import Final

from memorata._frozen import frozen
from memorata.dedupe.cue_words import (
    CHANGES,
    LIGHT,
    NEGATIONS,
    OPPOSITES,
    SLOTS,
    SPEAKER,
    SPEAKERS,
    WEEK,
)
from memorata.dedupe.wording import Word, Wording, root, same_word, wording, words_in
from memorata.model import checks

_MAX_CLAIM_WORDS: Final = 40
"""Longer claims are compared with nothing: they say more than one thing."""
_MAX_RESIDUE_WORDS: Final = 4
_MIN_NEGATION_OVERLAP: Final = 0.6
_MIN_NUMBER_OVERLAP: Final = 0.5
_YEAR_SLOTS: Final = ("birth", "price", "time", "age", "secret")
"""Slots of which a year or a day says the value, and not only when something happened."""
_NAME_SLOTS: Final = frozenset({"residence", "partner", "holder", "place", "name"})
"""Slots whose values are names: whatever else is said there ("my boss is strict") is no value of it."""
_MULTI_VALUE_SLOTS: Final = frozenset({"use", "time", "work", "measure", "price", "age", "birth"})
"""Slots that may hold several values, or others than words, unless a word of change says otherwise."""
_ME: Final = Word("i")
MINE: Final = Word("my")
"""What :func:`spoken` makes of "my": the subject is the word after it."""
_ASIDE: Final = CHANGES - SLOTS.keys()
"""Words of change that are no verbs of a slot."""
PASSED: Final = LIGHT | NEGATIONS | _ASIDE
"""Words that stand before a subject, and are none."""
_YEARS: Final = range(1000, 2200)
_YEAR_DIGITS: Final = 4


class Cue(StrEnum):
    """What gives a contradiction away."""

    NEGATION = "negation"
    """One says what the other denies."""
    OPPOSITE = "opposite"
    """Two words that cannot both be true."""
    NUMBER = "number"
    """Another number in the same place."""
    CHANGE = "change"
    """A word says that the state has changed."""
    VALUE = "value"
    """Another value in a slot that holds one at a time."""


@frozen
class Hint:
    """A possible contradiction, and why.

    Parameters
    ----------
    cue
        What gave it away.
    before, after
        The words that differ, on the older side and on the newer.
    reason
        One sentence for a person.
    """

    cue: Cue
    before: str
    after: str
    reason: str


@frozen
class _Difference:
    """Two claims laid side by side: what they share, and what is left on either side, in order."""

    shared: tuple[Word, ...]
    before: tuple[Word, ...]
    after: tuple[Word, ...]

    @property
    def overlap(self) -> float:
        """The share of the larger claim that the two have in common."""
        return len(self.shared) / (len(self.shared) + max(len(self.before), len(self.after), 1) * 1.0)


def contradiction(older: str, newer: str) -> Hint | None:
    """Return a hint that `newer` contradicts `older`; None if nothing speaks for it.

    The first rule that applies decides, always between statements about the same subject:

    1. The same claim, and one of the two is negated.
    2. The same claim but for two words that exclude each other (open, closed).
    3. The same claim but for a number, in a place where a number is a value and not a name.
    4. A word of change (moved, now, no longer), and another value in the same slot.
    5. Another value in a slot that holds one at a time (lives in, is called, favourite).

    Parameters
    ----------
    older, newer
        Two texts; short statements, as memories are.

    Examples
    --------
    >>> contradiction("Anna lives in Rome.", "Anna moved to Paris.").cue
    <Cue.CHANGE: 'change'>
    >>> contradiction("Das Treffen beginnt um 9:00.", "Das Treffen beginnt um 10:30.").reason
    'the number differs: 9:00 and 10:30'
    >>> contradiction("Anna likes tea.", "Anna likes coffee.") is None
    True
    """
    if not _same_subject(_beginning(checks.text("older", older)), _beginning(checks.text("newer", newer))):
        return None
    before, after = _read_claim(older), _read_claim(newer)
    if not (before.fits and after.fits) or _too_unlike(before, after):
        return None
    first, second = before.wording, after.wording
    difference = _difference(before.claim, after.claim)
    return (
        _negation(first, second, difference)
        or (_opposite(difference) if first.negated == second.negated else None)
        or _number(first, second, difference)
        or _value(first, second, difference)
    )


def _negation(older: Wording, newer: Wording, difference: _Difference) -> Hint | None:
    if older.negated == newer.negated:
        return None
    # The denied claim may be shorter ("no longer works at the bank"), hardly ever longer by much.
    residue_size = len(difference.before) + len(difference.after)
    if difference.before and difference.after:
        return None
    if (
        len(difference.shared) < 2
        or residue_size > 2
        or difference.overlap < _MIN_NEGATION_OVERLAP
        or _differ_by_name(difference)
    ):
        return None
    denies = "newer" if newer.negated else "older"
    return _hint(Cue.NEGATION, difference, f"the {denies} one denies what the other says")


def _opposite(difference: _Difference) -> Hint | None:
    residue = difference.before + difference.after
    if (
        len(residue) > _MAX_RESIDUE_WORDS
        or min(len(difference.before), len(difference.after)) > 1
        or any(word.number for word in residue)
        or _differ_by_name(difference)
    ):
        return None
    for before in difference.before:
        against = OPPOSITES.get(before.text, frozenset())
        for after in difference.after:
            if after.text in against:
                return _hint(Cue.OPPOSITE, difference, f"{before.text} and {after.text} exclude each other")
    return None


def _number(older: Wording, newer: Wording, difference: _Difference) -> Hint | None:
    before = [word for word in difference.before if word.number]
    after = [word for word in difference.after if word.number]
    if len(before) != 1 or len(after) != 1 or older.negated != newer.negated:
        return None
    if len(difference.before) + len(difference.after) > 3 or difference.overlap < _MIN_NUMBER_OVERLAP:
        return None
    slots = _slots(older) & _slots(newer)
    if (_is_year(before[0]) and _is_year(after[0]) and not slots & set(_YEAR_SLOTS)) or not slots:
        return None
    if _is_name(before[0], older) or _is_name(after[0], newer):
        return None
    if _differ_by_name(difference):
        return None
    return _hint(Cue.NUMBER, difference, f"the number differs: {before[0].text} and {after[0].text}")


def _value(older: Wording, newer: Wording, difference: _Difference) -> Hint | None:
    slots = _slots(older) & _slots(newer)
    before, after = (
        [word for word in part if SLOTS.get(word.text) not in slots]
        for part in (difference.before, difference.after)
    )
    if not slots or not before or not after or older.negated or newer.negated:
        return None
    if len(before) > 3 or len(after) > 3 or any(word.number for word in difference.before + difference.after):
        return None
    if (_days(before) or _days(after)) and (slots != {"time"} or _days(before) != _days(after)):
        return None
    value = f"another {sorted(slots)[0]}"
    if any(word.text in CHANGES for word in newer.words):
        return _hint(Cue.CHANGE, difference, f"the newer one tells of a change: {value}")
    if len(before) > 2 or len(after) > 2 or not _parallel(older, newer) or not _in_one_place(older, newer):
        return None
    if not (slots - _MULTI_VALUE_SLOTS or _days(before)) or (
        slots & _NAME_SLOTS and not _differ_by_name(difference)
    ):
        return None
    return _hint(Cue.VALUE, difference, f"{value}, where there is one at a time")


def _hint(cue: Cue, difference: _Difference, reason: str) -> Hint:
    before, after = (" ".join(word.text for word in part) for part in (difference.before, difference.after))
    return Hint(cue, before, after, reason)


def _spoken(wording_: Wording) -> Wording:
    """Return a wording in which every pronoun of the speaker is one word, and every "my" another."""
    return replace(
        wording_, words=tuple(map(spoken, wording_.words)), claim=tuple(map(spoken, wording_.claim))
    )


def spoken(word: Word) -> Word:
    """Return one word for all pronouns of the speaker, one for all that say "my", and any other as it is."""
    return _ME if word.text in SPEAKER else MINE if word.text in SPEAKERS else word


def _without_changes(wording_: Wording) -> tuple[Word, ...]:
    return tuple(word for word in wording_.claim if word.text not in CHANGES or word.text in SLOTS)


@lru_cache(maxsize=1_024)
def _beginning(text: str) -> tuple[Word, ...]:
    """Return the first two words of a claim, changes left aside: enough to find its subject.

    Most pairs have two subjects, and of those no more is read.
    """
    first: list[Word] = []
    for word in words_in(text):
        if word.text not in PASSED:
            first.append(spoken(word))
            if len(first) == 2:
                break
    return tuple(first)


@frozen
class _ReadClaim:
    """A text as it is compared with others: read, its claim without changes, the roots of that, its slots."""

    wording: Wording
    claim: tuple[Word, ...]
    roots: tuple[str, ...]
    slots: frozenset[str]

    @property
    def fits(self) -> bool:
        return 1 <= len(self.claim) <= _MAX_CLAIM_WORDS


@lru_cache(maxsize=1_024)
def _read_claim(text: str) -> _ReadClaim:
    spoken_wording = _spoken(wording(text))
    claim = _without_changes(spoken_wording)
    return _ReadClaim(
        spoken_wording,
        claim,
        tuple(map(root, claim)),
        frozenset(_slots(spoken_wording)) if claim else frozenset(),
    )


def _too_unlike(before: _ReadClaim, after: _ReadClaim) -> bool:
    """Return whether two claims surely differ in more than any rule accepts.

    What two sequences share in order is at most what they share in any order, so at least ``len(before) +
    len(after) - 2·shared`` words are left over. Without a slot in common the rules accept four of them.
    """
    if before.slots & after.slots:
        return False
    max_shared = len(before.roots) + len(after.roots) - _MAX_RESIDUE_WORDS
    # A repeated word may be counted too often here, and never too seldom.
    if 2 * sum(map(set(after.roots).__contains__, before.roots)) < max_shared:
        return True
    return 2 * (Counter(before.roots) & Counter(after.roots)).total() < max_shared


def _difference(older: tuple[Word, ...], newer: tuple[Word, ...]) -> _Difference:
    """Lay two claims side by side; a word and a form of it count as the same."""
    roots = [root(word) for word in older], [root(word) for word in newer]
    matcher = SequenceMatcher(None, roots[0], roots[1], autojunk=False)
    shared: list[Word] = []
    before: list[Word] = []
    after: list[Word] = []
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            shared += older[a:b]
        else:
            before += older[a:b]
            after += newer[c:d]
    return _Difference(tuple(shared), tuple(before), tuple(after))


def _same_subject(older: tuple[Word, ...], newer: tuple[Word, ...]) -> bool:
    """Return whether the words that a claim begins with are the same on both sides, changes left aside.

    That is one word, or two where the first says whose: "my sister".
    """
    length = 2 if older and older[0] is MINE else 1
    return len(older) >= length <= len(newer) and all(map(same_word, older[:length], newer[:length]))


def _slots(wording_: Wording) -> set[str]:
    slots = {SLOTS[word.text] for word in wording_.words if word.text in SLOTS}
    # "Lives are at stake": what a sentence begins with is its subject, and no verb.
    return slots - {"residence", "work"} if wording_.claim[0].text in SLOTS else slots


def _parallel(older: Wording, newer: Wording) -> bool:
    """Return whether the words of both slots are the same, so that what differs is the value in them."""
    slots = [[word.text for word in wording_.claim if word.text in SLOTS] for wording_ in (older, newer)]
    return bool(slots[0]) and slots[0] == slots[1]


def _in_one_place(older: Wording, newer: Wording) -> bool:
    """Return whether the two differ in one place, and there in nothing but the value.

    "On Saturday" and "in Rome" are not two values of one slot: the preposition is another.
    """
    words = [
        [word.text for word in wording_.words if word.text not in CHANGES] for wording_ in (older, newer)
    ]
    places = [
        (words[0][a:b], words[1][c:d])
        for tag, a, b, c, d in SequenceMatcher(None, words[0], words[1], autojunk=False).get_opcodes()
        if tag != "equal"
    ]
    return len(places) == 1 and not any(word in LIGHT for part in places[0] for word in part)


def _days(words: list[Word]) -> bool:
    """Return whether a value is a day or a time of day."""
    return any(word.text in WEEK for word in words)


def _differ_by_name(difference: _Difference) -> bool:
    """Return whether both sides name somebody or something else, which makes them two statements."""
    before = {word.text for word in difference.before if word.name and not word.number}
    after = {word.text for word in difference.after if word.name and not word.number}
    return bool(before and after)


def _is_year(word: Word) -> bool:
    # Not every digit is one of a number: Ethiopic ones have no places.
    return len(word.text) == _YEAR_DIGITS and word.text.isdecimal() and int(word.text) in _YEARS


def _is_name(number: Word, wording_: Wording) -> bool:
    """Return whether a number belongs to the name of the subject, as in "room 12": right after it."""
    place = [word.text for word in wording_.words].index(number.text)
    ahead = [word for word in wording_.words[:place] if word.text not in LIGHT]
    return len(ahead) <= 1 and (not ahead or (wording_.words[place - 1] is ahead[0] and ahead[0] is not _ME))
