"""How likely it is that a newer text contradicts an older one, by features of their clauses.

:func:`~memorata.dedupe.contradiction.contradiction` knows the plain cases and is sure of them. This reads
more: other words for the same attribute, values in several languages, likes and dislikes, classes of things
("never eats meat", "had a steak"), words of change. Every pair of clauses gives a few features; their
weighted sum is a log-odds (logistic regression, fitted by ``python -m benchmarks.contradictions --fit``), and
the best pair of clauses counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

from memorata._frozen import frozen
from memorata.dedupe.claim_words import ATTRIBUTES, CLASSES, PLAIN, number, plain_words, sense
from memorata.dedupe.claims import (
    AGENTS,
    COPULAS,
    MAX_PLAIN,
    ONLY_CHILD,
    STATES,
    Clause,
    claims,
    clause_texts,
    content_words,
    names_of,
    subject_of,
    tokens_in,
)
from memorata.dedupe.contradiction import Cue, Hint, contradiction
from memorata.dedupe.cue_words import OPPOSITES, word_set
from memorata.dedupe.wording import Word, root
from memorata.model import checks

_MAX_QUOTED: Final = 80
_WEAK_ATTRIBUTES: Final = frozenset({"use", "where", "state", "diet", "school", "origin"})
"""Attributes that often have several values all the same."""
_WEIGHTS: Final = {
    "bias": -0.29,
    "rule": 2.55,
    "same_name": -0.30,
    "same_me": 0.25,
    "attribute_value": 2.69,
    "attribute_same": -2.39,
    "several": -1.34,
    "substitution": -0.40,
    "number": 0.06,
    "class_denied": 3.51,
    "negated": 2.66,
    "sign": 2.68,
    "changed": 2.15,
    "ended": 0.61,
    "past": -5.81,
    "planned": -0.74,
    "overlap": -0.79,
    "other_before": 0.11,
    "never": 2.31,
    "name_value": 0.31,
    "day_value": -1.46,
    "unlike": 0.10,
    "opposite": 1.75,
    "kind": 0.61,
    "being": 0.14,
    "pairs": -0.24,
    "weak_value": 1.40,
    "number_only": 2.06,
    "other_kind": -2.15,
    "other_preposition": -1.55,
    "plain_words": -1.81,
    "count": 0.30,
}
"""Log-odds of each feature, as ``python -m benchmarks.contradictions --fit`` prints them."""
FEATURES: Final = tuple(_WEIGHTS)
_LOG_ODDS: Final = tuple(_WEIGHTS.values())
EVIDENCE: Final = (
    "rule", "attribute_value", "weak_value", "number", "class_denied", "negated", "sign", "changed", "ended",
    "never", "opposite", "kind", "being", "name_value", "number_only", "count",
)  # fmt: skip
"""Features of which a contradiction has one: that two texts share a word is none."""
_EVIDENCE_COLUMNS: Final = tuple(map(FEATURES.index, EVIDENCE))
_LIKING: Final = frozenset({"good", "bad"})
_NAME_ATTRIBUTES: Final = word_set("residence partner holder place name time phone mail car")
"""Attributes whose values are names, numbers or days: another word tells more of the same."""
_ROLES: Final = {
    word: role
    for role, words in (
        ("employer", "at for bei für en chez"), ("role", "as als como comme de"), ("place", "in à"),
        ("company", "with mit con avec"), ("day", "on am"),
    )
    for word in words.split()
}  # fmt: skip
"""What a preposition says of the value after it."""


NOTED: Final = 0.5
"""From this score on a contradiction is noted: F1 0.82 on pairs of sources that were not fitted."""
SUPERSEDES: Final = 0.75
"""From this score on a correction supersedes: precision 0.97 on the same pairs."""
MAX_CORRECTION_CLAUSES: Final = 3
"""A longer text says more than one thing, and superseding it would hide the others."""

_CUES: Final = (
    ("class_denied", Cue.OPPOSITE, "one denies a kind of thing that the other tells of"),
    ("sign", Cue.OPPOSITE, "one likes what the other dislikes"),
    ("never", Cue.NEGATION, "one says never to what the other tells of"),
    ("negated", Cue.NEGATION, "one denies what the other says"),
    ("opposite", Cue.OPPOSITE, "two of the words exclude each other"),
    ("number_only", Cue.NUMBER, "the number differs"),
    ("changed", Cue.CHANGE, "the newer one tells of a change"),
    ("ended", Cue.CHANGE, "the newer one tells of an end"),
    ("attribute_value", Cue.VALUE, "another value of the same attribute"),
)
"""Features with a reason in words, the strongest first."""


@frozen
class Assessment:
    """How likely a contradiction is, and what speaks for it.

    Parameters
    ----------
    score
        From 0 to 1; on pairs of which half contradict each other about the share of contradictions.
    hint
        What gave it away; None below :data:`NOTED`.
    short
        Whether both texts are short enough for one to supersede the other.
    """

    score: float
    hint: Hint | None
    short: bool

    @property
    def supersedes(self) -> bool:
        """Whether the newer text, if it is a correction, may supersede the older one."""
        return self.score >= SUPERSEDES and self.short


_NOTHING: Final = Assessment(0.0, None, True)


def assess(older: str, newer: str, *, speakers: tuple[str, str] = ("", "")) -> Assessment:
    """Return how likely it is that `newer` contradicts `older`.

    Parameters
    ----------
    older, newer
        Two texts, in the order of their times.
    speakers
        The speakers of both, empty if unknown: "I" is the speaker.

    Examples
    --------
    >>> assess("Anna lives in Rome", "Anna lives in Paris now").supersedes
    True
    >>> assess("Uta ist Vegetarierin", "Uta hat ein Schnitzel bestellt").hint.reason
    'one denies a kind of thing that the other tells of'
    >>> assess("Anna likes tea", "Anna likes coffee").score < NOTED
    True
    """
    if checks.text("older", older) == checks.text("newer", newer):
        return _NOTHING
    best, odds = None, -math.inf
    for row in features(older, newer, speakers):
        total = math.fsum(value * weight for value, weight in zip(row, _LOG_ODDS, strict=True))
        if total > odds and any(row[place] for place in _EVIDENCE_COLUMNS):
            best, odds = row, total
    if best is None:
        return _NOTHING
    score = 1.0 / (1.0 + math.exp(-odds))
    before, after = claims(older, speakers[0]), claims(newer, speakers[1])
    short = max(len(before.clauses), len(after.clauses)) <= MAX_CORRECTION_CLAUSES
    return Assessment(score, _hint(older, newer, best) if score >= NOTED else None, short)


@frozen
class Signs:
    """What a text may give features by, over all of its clauses: the roots it says, and bits of the rest."""

    content: frozenset[str]
    bits: int

    @property
    def turns(self) -> bool:
        """Whether a shared root may be enough for a contradiction if the older text denies nothing."""
        return bool(self.bits & (_NAME | _CHANGED | _ENDED | _NEGATIVE | _LIKED))


@lru_cache(maxsize=2_048)
def signs(text: str) -> Signs:
    """Return the signs of a text, in a third of the time that its claims take."""
    parts = [tokens_in(part) for part in clause_texts(text)]
    # Where one clause follows another, the subject of one may be said of the other.
    about = subject_of(parts[0], names_of(parts[0]), "") if len(parts) == 1 else ""
    content: set[str] = set()
    bits = 0
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
    if bits & (_NEGATIVE | _ENDED):
        bits |= (bits & _HEADS) >> _CLASSES_WIDE
    return Signs(frozenset(content), bits)


@lru_cache(maxsize=1_024)
def companions(bits: int) -> tuple[str, ...] | None:
    """Return words of which a plain text holds one if it contradicts one of these bits and shares no root.

    They name an attribute of both, or what one denies; a word that may go on ends in ``*``. None
    where no word need be shared, as where both say what the subject is, or may be written in other ways.
    """
    if bits & (_COPULA | _NUMBER | _attribute_bits(("work", "age"))):
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
    if not (topic or denied or both & (_COPULA | _OPPOSED)):
        return False
    weight = _WEIGHTS
    weights = [weight["name_value"]] if both & _NAME else []
    if both & _NUMBER:
        weights += [weight["number"], weight["count"], weight["number_only"] if both & _STATE else 0.0]
    if both & _ATTRIBUTES:
        weights.append(weight["attribute_value" if both & _ATTRIBUTES & ~_WEAK_BITS else "weak_value"])
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
    if shared and either & _NEGATIVE:
        weights.append(weight["negated"])
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
    _ME, _NAME, _NUMBER, _STATE, _COPULA, _OPPOSED, _CHANGED, _ENDED, _NEGATIVE, _NEVER, _LIKED, _DISLIKED
) = (1 << _FIRST_CLASS + 3 * _CLASSES_WIDE + place for place in range(12))  # fmt: skip
_FLAGS: Final = {
    "me": _ME, "changed": _CHANGED, "ended": _ENDED, "negative": _NEGATIVE, "never": _NEVER | _NEGATIVE,
    "good": _LIKED, "bad": _LIKED | _DISLIKED,
}  # fmt: skip
_OPPOSITES: Final = frozenset(OPPOSITES).union(*OPPOSITES.values())


def _attribute_bits(names: Iterable[str]) -> int:
    return sum(1 << _ATTRIBUTE_NAMES.index(name) for name in names if name in _ATTRIBUTE_NAMES)


_WEAK_BITS: Final = _attribute_bits(_WEAK_ATTRIBUTES)


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
    if number(word) is not None:
        bits |= _NUMBER
    if word in ONLY_CHILD:
        bits |= _class_bits(("siblings",), 1)
    bits |= _STATE if word in STATES else 0
    return bits | (_OPPOSED if word in _OPPOSITES else 0)


def _hint(older: str, newer: str, row: Sequence[float]) -> Hint:
    rule = contradiction(older, newer)
    if rule is not None:
        return rule
    values = dict(zip(FEATURES, row, strict=True))
    for name, cue, reason in _CUES:
        if values[name]:
            return Hint(cue, older[:_MAX_QUOTED], newer[:_MAX_QUOTED], reason)
    return Hint(Cue.VALUE, older[:_MAX_QUOTED], newer[:_MAX_QUOTED], "they say something else of the same")


def features(older: str, newer: str, speakers: tuple[str, str] = ("", "")) -> list[list[float]]:
    """Return the features of each pair of clauses, in the order of :data:`FEATURES`."""
    older_claims, newer_claims = claims(older, speakers[0]), claims(newer, speakers[1])
    rule = contradiction(older, newer) is not None
    pairs = math.log2(max(1, len(older_claims.clauses) * len(newer_claims.clauses)))
    rows = []
    for before in older_claims.clauses:
        for after in newer_claims.clauses:
            row = _pair(before, after, rule=rule, pairs=pairs)
            if row is not None:
                rows.append(row)
    return rows


def _pair(a: Clause, b: Clause, *, rule: bool, pairs: float) -> list[float] | None:
    if _differ_in_subject(a, b):
        return None
    shared = a.content & b.content
    union = a.content | b.content
    overlap = len(shared) / len(union) if union else 0.0
    common = (a.attributes & b.attributes) - {"frequency"}
    removed, added = a.value.keys() - b.value.keys(), b.value.keys() - a.value.keys()
    kinds = {a.value[word] for word in removed}, {b.value[word] for word in added}
    differs = bool(removed and added) and a.negative == b.negative
    if _ROLES.get(a.before) == _ROLES.get(b.before) == "company":
        differs = False
    same_value = bool(a.value and b.value) and not (removed and added)
    classes = (a.denied & b.classes) | (b.denied & a.classes)
    ended = "ended" in b.flags and "ended" not in a.flags
    topic = bool(shared or common - {"being", "kind"})
    opposite = any(OPPOSITES.get(word, frozenset()) & set(b.words) for word in a.words)
    plain = common & {"being", "kind"}
    common -= plain
    changed = "changed" in b.flags and (bool(common) or _tells_change(b))
    if not (topic or plain or classes or rule or opposite) or (not classes and _relatives(a, b)):
        return None
    several = "several" in a.flags and "several" in b.flags
    # That both like something, or one does not, says nothing as long as it is not the same thing.
    liked = {root(Word(word)) for word in a.words + b.words if sense(word).flags & _LIKING}
    substituted = _substitution(a.words, b.words) if differs else 0.0
    row = {
        "bias": 1.0,
        "rule": float(rule),
        "same_name": float(bool(a.subject and a.subject == b.subject and a.subject != "i")),
        "same_me": float(a.subject == b.subject == "i"),
        "attribute_value": float(bool(common - _WEAK_ATTRIBUTES) and differs and not classes),
        "weak_value": float(bool(common) and not common - _WEAK_ATTRIBUTES and differs and not classes),
        "attribute_same": float(bool(common) and same_value and not ended),
        "several": float(
            several and a.sign == b.sign and not any(name.startswith("favourite") for name in common)
        ),
        "substitution": 0.0 if several else substituted,
        "number": _number(a, b, overlap),
        "class_denied": float(bool(classes)),
        "negated": overlap if a.negative != b.negative and shared - liked else 0.0,
        "sign": float(a.sign * b.sign < 0 and bool(shared - liked))
        * min(1.0, 2.0 * overlap)
        * (0.5 if removed and added else 1.0),
        "changed": float(changed and topic),
        "ended": float(ended and topic),
        "past": float("past" in a.flags),
        "planned": float("planned" in a.flags or "planned" in b.flags),
        "overlap": overlap,
        "other_before": float(bool(a.before and b.before and a.before != b.before)),
        "never": float("never" in a.flags ^ b.flags) * (1.0 if shared or classes else 0.0),
        "name_value": float(bool(removed & _other_names(a)) and bool(added & _other_names(b)) and differs),
        "day_value": float(differs and "day" in kinds[0] & kinds[1] and "time" not in common),
        "unlike": float(len(a.words) + len(b.words) > 24),
        "opposite": float(opposite),
        "kind": float("kind" in plain and differs and not common),
        "being": float("being" in plain and differs and not common and "kind" not in plain),
        "pairs": pairs,
        "plain_words": float(differs and kinds == ({"word"}, {"word"}) and bool(common & _NAME_ATTRIBUTES)),
        "count": float(differs and _counted(a, b)),
        "number_only": float(differs and kinds == ({"number"}, {"number"}) and a.state and b.state),
        "other_kind": float(differs and kinds[0].isdisjoint(kinds[1]) and substituted > 0),
        "other_preposition": float(
            bool(common)
            and differs
            and _ROLES.get(a.before, "") != _ROLES.get(b.before, "")
            and a.before in _ROLES
            and b.before in _ROLES
        ),
    }
    return [row[name] for name in FEATURES]


def _relatives(a: Clause, b: Clause) -> bool:
    """Return whether one of two clauses is about a relative of the subject that the other does not name."""
    return a.relative != b.relative and any(
        clause.relative and clause.relative not in other.content for clause, other in ((a, b), (b, a))
    )


def _other_names(clause: Clause) -> frozenset[str]:
    """Return the names of a clause that are not its subject."""
    return clause.names - {clause.subject}


def _differ_in_subject(a: Clause, b: Clause) -> bool:
    """Return whether two clauses are about two subjects."""
    if not a.subject or not b.subject or a.subject == b.subject:
        return False
    if " " in a.subject + b.subject:
        return True
    return a.subject not in b.words and b.subject not in a.words


def _substitution(before: Sequence[str], after: Sequence[str]) -> float:
    """Return the share of words around one place in which two clauses differ; 0 if it is not one."""
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    longest = max(len(before), len(after))
    if start + end >= min(len(before), len(after)):
        return 0.0
    return (start + end) / longest


def _tells_change(clause: Clause) -> bool:
    """Return whether a word tells of a change by itself."""
    return any(
        "changed" in flags and "new" not in flags for flags in (sense(word).flags for word in clause.words)
    )


def _counted(a: Clause, b: Clause) -> bool:
    """Return whether two clauses count the same things of the same topic, and come to other numbers."""
    units = [
        {(word, unit) for word, unit in pairwise(clause.words) if number(word) and not sense(unit).light}
        for clause in (a, b)
    ]
    # Of a topic that says no more than the number, or that both share.
    apart = [word for word in a.content ^ b.content if number(word) is None]
    return (not apart or len(a.content & b.content) > 1) and any(
        number(one) != number(another) and root(Word(unit)) == root(Word(other))
        for one, unit in units[0]
        for another, other in units[1]
    )


def _number(a: Clause, b: Clause, overlap: float) -> float:
    """Return 1 if a number counts the same in both, and is another; less where little else is the same."""
    older_values, newer_values = {value for value, _ in a.numbers}, {value for value, _ in b.numbers}
    if not older_values or not newer_values or older_values & newer_values:
        return 0.0
    near = max(
        (
            len(older_words & newer_words) / max(1, min(len(older_words), len(newer_words)))
            for _, older_words in a.numbers
            for _, newer_words in b.numbers
        ),
        default=0.0,
    )
    return max(near, overlap)
