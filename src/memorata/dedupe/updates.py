"""How one clause updates another: it changes what the other names, ends its value, or replaces it.

No attribute has to be listed for it. "My dentist is Dr. Brandt" names an attribute, "I switched dentists" a
change of it; "The club meets at Nora's" and "The club meets at the library" differ in one value alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from memorata.dedupe.claim_tokens import claim_root
from memorata.dedupe.claim_words import number, sense
from memorata.dedupe.claims import COPULAS, STATES, Clause
from memorata.dedupe.cue_words import word_set

_FIRST_HAN: Final = "\u3400"
_MAX_SKIPPED: Final = 2
"""How many light words stand between a word of change and what changes: "changed all the"."""
_MAX_VALUE_WORDS: Final = 4
_MIN_SHARED: Final = 2
_PREPOSITIONS: Final = word_set(
    "at in on with by from under near for bei in an auf mit nach von unter für en con de bajo para",
    "chez avec dans sur sous pour",
)
_COMPANY: Final = word_set("with mit con avec")
_PAST: Final = "ed"
"""How verbs of what happened end, where no verb of state goes before."""
_PURPOSE: Final = word_set("for für para pour")
_MOVES_ON: Final = frozenset({"now", "jetzt", "nun", "ahora", "maintenant", "ya"})
"""Words of change that say when, and not what changes."""


def differ_in_subject(a: Clause, b: Clause) -> bool:
    """Return whether two clauses are about two subjects."""
    if not a.subject or not b.subject or a.subject == b.subject:
        return False
    if " " in a.subject + b.subject:
        # "The landlord's name" is of the landlord, "the backup server" of another than "the server", and "I
        # changed the wifi password" of the password.
        words = a.subject.split(), b.subject.split()
        shorter, longer = sorted(words, key=len)
        if not set(shorter).isdisjoint(longer):
            return longer[: len(shorter)] != shorter
        return not (set(words[0]) <= set(b.words) or set(words[1]) <= set(a.words))
    return not any(
        (subject in clause.words and not _is_modified(subject, clause))
        or (subject[0] >= _FIRST_HAN and subject in "".join(clause.words))
        for subject, clause in ((a.subject, b), (b.subject, a))
    )


def changes_topic(older: Clause, newer: Clause) -> bool:
    """Return whether a newer clause says that the topic of an older one changes, and names another value.

    The topic is named by the words before the verb: "the wifi password" is. All of it has to be in the newer
    clause, and what stands beside its word of change has to be in the older one.
    """
    topic = _topic(older)
    return (
        bool(topic)
        and topic <= newer.content | set(map(claim_root, newer.words))
        and any(phrase <= older.content | topic for phrase in _changing(newer))
        and bool(
            set(_added(older, newer)) & {kind for root, kind in older.value.items() if root not in topic}
        )
    )


def ends_value(older: Clause, newer: Clause) -> bool:
    """Return whether a newer clause ends a value of an older one, and names another: "sold the Golf"."""
    named = {root for root, kind in older.value.items() if kind == "name"} - _topic(older)
    return (
        not named.isdisjoint(newer.content)
        and "name" in _added(older, newer)
        and any(not phrase.isdisjoint(named) for phrase in _changing(newer, names=True))
    )


def replaces_value(older: Clause, newer: Clause) -> float:
    """Return 1 if two clauses differ in one value after a copula or a preposition, 2 if for a purpose.

    The object of other verbs may be one of several: "needs water", "needs light".
    """
    if "several" in older.flags | newer.flags or older.negative != newer.negative:
        return 0.0
    words = _plain(older), _plain(newer)
    start, end = _common(words[0], words[1]), 0
    before, after = words[0][start:], words[1][start:]
    end = _common(before[::-1], after[::-1])
    tail = before[len(before) - end :]
    before, after = before[: len(before) - end], after[: len(after) - end]
    if not before or not after or max(len(before), len(after)) > _MAX_VALUE_WORDS:
        return 0.0
    prefix = words[0][:start]
    if len(_roots(prefix) | _roots(tail)) < _MIN_SHARED or any(map(number, before + after)):
        return 0.0
    is_ = not COPULAS.isdisjoint(prefix)
    if not is_ and any(word.endswith(_PAST) for word in prefix):
        return 0.0
    if tail:
        return 2.0 * (tail[0] in _PURPOSE)
    if before[0] in _PREPOSITIONS and after[0] in _PREPOSITIONS:
        return float(is_)
    return float(any(word in _PREPOSITIONS and (is_ or word not in _COMPANY) for word in prefix[-2:]))


def prefers_another(older: Clause, newer: Clause) -> bool:
    """Return whether two clauses prefer one thing each by the same verb, and not the same."""
    values = [
        {root for root, kind in clause.value.items() if kind not in ("day", "number")}
        for clause in (older, newer)
    ]
    return all(len(value) == 1 for value in values) and values[0] != values[1] and same_head(older, newer)


def same_head(a: Clause, b: Clause) -> bool:
    """Return whether two clauses say something of the same subject by the same verb."""
    return a.subject == b.subject and _head(a) == _head(b) != ""


def _is_modified(noun: str, clause: Clause) -> bool:
    """Return whether a clause has a noun only with another before it, which makes it another thing."""
    words = clause.words
    return noun not in clause.names and all(
        place and _carries(words[place - 1]) and words[place - 1] not in clause.names
        for place, word in enumerate(words)
        if word == noun
    )


def _head(clause: Clause) -> str:
    """Return the root of the first word after the subject that is a verb of state or carries meaning."""
    for word in clause.words:
        if word in STATES:
            return "be" if word in COPULAS else word
        meaning = sense(word)
        if not (meaning.light or "me" in meaning.flags or word in clause.subject.split()):
            return claim_root(word)
    return ""


def _topic(clause: Clause) -> set[str]:
    """Return the roots of the words before a verb of state that are no names; none without such a verb."""
    place = next((place for place, word in enumerate(clause.words) if word in STATES), 0)
    return {claim_root(word) for word in clause.words[:place] if _carries(word) and word not in clause.names}


def _carries(word: str) -> bool:
    meaning = sense(word)
    return not (meaning.light or meaning.flags & {"me", "changed"}) and word[0].isalpha()


def _changing(clause: Clause, *, names: bool = False) -> list[set[str]]:
    """Return what stands beside each word of change, as roots: after it, and before it."""
    words = clause.words
    phrases = []
    for place, word in enumerate(words):
        flags = sense(word).flags
        if flags.isdisjoint({"changed", "ended"}) or word in _MOVES_ON:
            continue
        for run in (words[place + 1 :], words[:place][::-1]):
            phrase = _phrase(run, frozenset(), 1) if names else _phrase(run, clause.names)
            if phrase:
                phrases.append(phrase)
    return phrases


def _phrase(words: Sequence[str], stops: frozenset[str], limit: int = _MAX_VALUE_WORDS) -> set[str]:
    """Return the roots of the first words that carry meaning, up to a light word or a stop."""
    phrase: set[str] = set()
    for place, word in enumerate(words):
        if not _carries(word) or word in stops:
            if phrase or place >= _MAX_SKIPPED or word in stops or word in _PREPOSITIONS:
                break
            continue
        phrase.add(claim_root(word))
        if len(phrase) == limit:
            break
    return phrase


def _added(older: Clause, newer: Clause) -> list[str]:
    """Return the kinds of the values that only the newer clause has."""
    return [kind for root, kind in newer.value.items() if root not in older.value]


def _plain(clause: Clause) -> tuple[str, ...]:
    """Return the words of a clause without those of change."""
    return tuple([word for word in clause.words if "changed" not in sense(word).flags])


def _roots(words: Sequence[str]) -> set[str]:
    return {claim_root(word) for word in words if _carries(word)}


def _common(a: Sequence[str], b: Sequence[str]) -> int:
    """Return how many words two sequences begin with together."""
    count = 0
    for one, other in zip(a, b, strict=False):
        if one != other:
            break
        count += 1
    return count
