"""How likely it is that a newer text contradicts an older one, by features of their clauses.

:func:`~memorata.dedupe.contradiction.contradiction` knows the plain cases and is sure of them. This reads
more: other words for the same attribute, values in several languages, likes and dislikes, classes of things
("never eats meat", "had a steak"), words of change. Every pair of clauses gives a few features; their
weighted sum is a log-odds (logistic regression, fitted by ``python -m benchmarks.contradictions --fit``), and
the best pair of clauses counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise, takewhile
from typing import Final

from memorata._frozen import frozen
from memorata.dedupe.claim_tokens import claim_root
from memorata.dedupe.claim_words import number, sense
from memorata.dedupe.claims import Clause, claims
from memorata.dedupe.contradiction import Cue, Hint, contradiction
from memorata.dedupe.cue_words import OPPOSITES, word_set
from memorata.dedupe.opinions import (
    FAVOURITE,
    affirms,
    dislikes_same,
    is_favourite,
    is_opinion,
    liking_roots,
    share_half,
)
from memorata.dedupe.updates import (
    changes_topic,
    differ_in_subject,
    ends_value,
    prefers_another,
    replaces_value,
    same_head,
)
from memorata.model import checks

_MAX_QUOTED: Final = 80
WEAK_ATTRIBUTES: Final = frozenset({"use", "where", "state", "diet", "school", "origin"})
"""Attributes that often have several values all the same."""
WEIGHTS: Final = {
    "bias": -0.33,
    "rule": 3.00,
    "same_name": -0.43,
    "same_me": 0.06,
    "attribute_value": 3.06,
    "attribute_same": -2.39,
    "several": -1.53,
    "substitution": -0.80,
    "number": -0.10,
    "class_denied": 3.92,
    "negated": 2.45,
    "sign": 3.04,
    "changed": 2.47,
    "ended": 1.29,
    "planned": -0.76,
    "overlap": -0.50,
    "other_before": 0.22,
    "never": 2.26,
    "name_value": -0.20,
    "day_value": -1.39,
    "unlike": 0.04,
    "opposite": 1.97,
    "kind": 0.65,
    "being": 0.44,
    "pairs": -0.26,
    "weak_value": 1.17,
    "number_only": 2.04,
    "other_kind": -2.25,
    "other_preposition": -1.56,
    "plain_words": -1.86,
    "count": 0.37,
    "running": 2.17,
    "covered": 1.52,
    "topic_changed": 2.50,
    "value_ended": 1.52,
    "replaced": 1.27,
    "prefers": 2.00,
    "corrects": 2.55,
}
"""Log-odds of each feature, as ``python -m benchmarks.contradictions --fit`` prints them."""
FEATURES: Final = tuple(WEIGHTS)
_LOG_ODDS: Final = tuple(WEIGHTS.values())
EVIDENCE: Final = (
    "rule", "attribute_value", "weak_value", "class_denied", "negated", "sign", "changed", "ended",
    "never", "opposite", "kind", "being", "number_only", "count", "running", "topic_changed", "value_ended",
    "replaced", "prefers", "corrects",
)  # fmt: skip
"""Features of which a contradiction has one: that two texts share a word is none."""
_EVIDENCE_COLUMNS: Final = tuple(map(FEATURES.index, EVIDENCE))
_NOTHING_SAID: Final[frozenset[str]] = frozenset()
_PLAIN_ATTRIBUTES: Final = frozenset({"being", "kind", "frequency", "where"})
"""Attributes that say little of what a number or a value is of."""
_COMBINED: Final = frozenset({"diet", "use"})
"""Attributes whose values go together: a diet without gluten and one without meat."""
_KIN: Final = frozenset({"siblings", "children", "pets", "partner"})
"""Classes of those who are relatives themselves."""
_PLACE_ATTRIBUTES: Final = frozenset({"where", "origin"})
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


_PARALLEL: Final = 0.5
"""The share of words around one place from which two clauses differ in nothing else."""
_MAX_UNIT_WORDS: Final = 3
_PERIODS: Final = word_set(
    "day days week weeks month months year years hour hours tag tage woche wochen monat monate jahr jahre",
    "día días semana semanas mes meses año años jour jours semaine semaines mois an ans 天 周 年",
)
"""What else a number counts: words that carry no meaning elsewhere."""
NOTED: Final = 0.5
"""From this score on a contradiction is noted: F1 0.85 on pairs of sources that were not fitted."""
SUPERSEDES: Final = 0.75
"""From this score on a correction supersedes: precision 0.98 on the same pairs."""
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
    contents = [
        _NOTHING_SAID.union(*[clause.content for clause in text.clauses if not clause.negative])
        for text in (older_claims, newer_claims)
    ]
    rows = []
    for before in older_claims.clauses:
        for after in newer_claims.clauses:
            row = _pair(before, after, (contents[0], contents[1]), rule=rule, pairs=pairs)
            if row is not None:
                rows.append(row)
    return rows


def _pair(
    a: Clause, b: Clause, contents: tuple[frozenset[str], frozenset[str]], *, rule: bool, pairs: float
) -> list[float] | None:
    # What was so once need not be so any longer.
    if "past" in a.flags or differ_in_subject(a, b):
        return None
    # What both like, avoid or prefer counts, and not that they do.
    liked = liking_roots(a) | liking_roots(b)
    opinions = is_opinion(a) + is_opinion(b)
    shared, union = a.content & b.content, a.content | b.content
    if opinions > 1:
        shared, union = shared - liked, union - liked
    overlap = len(shared) / len(union) if union else 0.0
    common = (a.attributes & b.attributes) - {"frequency"}
    removed, added = a.value.keys() - b.value.keys(), b.value.keys() - a.value.keys()
    kinds = {a.value[word] for word in removed}, {b.value[word] for word in added}
    differs = bool(removed and added) and a.negative == b.negative
    if _ROLES.get(a.before) == _ROLES.get(b.before) == "company":
        differs = False
    places = _places(a), _places(b)
    if differs and (places[0] & places[1] or _restates(a, b)):
        differs = False
    # Who is of one place, or at one, is of no other.
    weak = WEAK_ATTRIBUTES - _PLACE_ATTRIBUTES if all(places) else WEAK_ATTRIBUTES
    same_value = bool(a.value and b.value) and not (removed and added)
    classes = (a.denied & b.classes) | (b.denied & a.classes)
    ended = "ended" in b.flags and "ended" not in a.flags
    # The same place is what they agree on, and not what they are about.
    topic = bool(shared - (places[0] & places[1]) or common - {"being", "kind"})
    opposite = opinions < 2 and any(
        not OPPOSITES[word].isdisjoint(b.words) for word in a.words if word in OPPOSITES
    )
    # A height and an age are two things, whatever else is shared.
    apart = not common - _PLAIN_ATTRIBUTES and _name_others(a, b)
    # Somebody may like, avoid and prefer any number of things, and has one favourite of each kind.
    differs = differs and not apart and not opinions
    plain = common & {"being", "kind"}
    common -= plain
    # "Now" tells of a change only where something else is said.
    other = bool(added) or a.negative != b.negative or ended
    changed = "changed" in b.flags and other and (bool(common) or _tells_change(b))
    value_ended = ends_value(a, b)
    prefers = opinions == 2 and a.sign == b.sign and changed and prefers_another(a, b)
    corrects = (
        "corrected" in b.flags
        and same_head(a, b)
        and (a.value.keys() != b.value.keys() or a.negative != b.negative)
    )
    if not (topic or plain or classes or rule or opposite or value_ended or corrects or prefers) or (
        not classes & _KIN and not (value_ended and not b.relative) and _relatives(a, b)
    ):
        return None
    running = differs and a.state and b.state and _running(a, b)
    several = "several" in a.flags and "several" in b.flags and not running
    denied = a if a.negative else b
    # Who has not eaten this may eat that: the same has to be said of the same thing.
    denies = (
        a.negative != b.negative
        and bool(shared - liked)
        and (
            not opinions
            or (opinions < 2 and affirms(a) != affirms(b) and _covered(denied, shared, liked) > 0)
        )
        and (not denied.value or not shared.isdisjoint(denied.value))
    )
    substituted = _substitution(a.words, b.words) if differs else 0.0
    row = {
        "bias": 1.0,
        "rule": float(rule),
        "same_name": float(bool(a.subject and a.subject == b.subject and a.subject != "i")),
        "same_me": float(a.subject == b.subject == "i"),
        "attribute_value": float(bool(common - weak) and differs and not classes),
        "weak_value": float(bool(common - _COMBINED) and not common - weak and differs and not classes),
        "attribute_same": float(bool(common) and same_value and not ended),
        "several": float(several and a.sign == b.sign and not any(map(is_favourite, common))),
        "substitution": 0.0 if several else substituted,
        "number": _number(a, b, overlap),
        "class_denied": float(bool(classes)),
        "negated": overlap if denies else 0.0,
        "sign": float(dislikes_same(a, b, liked))
        * min(1.0, 2.0 * overlap)
        * (0.5 if removed and added else 1.0),
        "changed": float(changed and topic and not apart and (not opinions or share_half(a, b, liked))),
        "ended": float(ended and topic and (bool(common) or _ends(b, shared))),
        "planned": float(("planned" in a.flags and not ended) or "planned" in b.flags),
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
        "covered": _covered(
            denied, contents[0 if denied is b else 1] if "never" in denied.flags else shared, liked
        )
        if denies
        else 0.0,
        "running": float(running),
        "number_only": float(differs and kinds == ({"number"}, {"number"}) and a.state and b.state),
        "other_kind": float(differs and kinds[0].isdisjoint(kinds[1]) and substituted > 0),
        "other_preposition": float(
            bool(common)
            and differs
            and _ROLES.get(a.before, "") != _ROLES.get(b.before, "")
            and a.before in _ROLES
            and b.before in _ROLES
        ),
        "topic_changed": float(changes_topic(a, b)),
        "value_ended": float(value_ended),
        "replaced": replaces_value(a, b),
        "prefers": float(prefers),
        "corrects": float(corrects),
    }
    return [row[name] for name in FEATURES]


def _name_others(a: Clause, b: Clause) -> bool:
    """Return whether both of two clauses name an attribute; "liked best" may be the favourite anything."""
    named = a.attributes - _PLAIN_ATTRIBUTES, b.attributes - _PLAIN_ATTRIBUTES
    return all(named) and FAVOURITE not in named[0] | named[1]


def _places(clause: Clause) -> frozenset[str]:
    if "place" not in clause.flags:
        return _NOTHING_SAID
    return frozenset([word for word in clause.words if "place" in sense(word).flags])


def _restates(a: Clause, b: Clause) -> bool:
    """Return whether half of a value of Chinese, two signs or more, stands in the other one as well."""
    if (a.numbers and b.numbers) or _substitution(a.words, b.words) >= _PARALLEL:
        return False
    older, newer = (
        [word for word, kind in clause.value.items() if kind == "han" and len(word) == 1] for clause in (a, b)
    )
    common = set(pairwise(older)) & set(pairwise(newer))
    signs = {sign for pair in common for sign in pair}
    return bool(signs) and 2 * len(signs) >= min(len(older), len(newer))


def _relatives(a: Clause, b: Clause) -> bool:
    """Return whether one of two clauses is about a relative of the subject that the other does not name."""
    return a.relative != b.relative and any(
        clause.relative and clause.relative not in other.content and not _is_named(other.subject, clause)
        for clause, other in ((a, b), (b, a))
    )


def _is_named(subject: str, clause: Clause) -> bool:
    """Return whether a clause about a relative gives this name to them: "Anna's son, Leo"."""
    return subject != clause.subject and subject in clause.names


def _other_names(clause: Clause) -> frozenset[str]:
    """Return the names of a clause that are not its subject."""
    return clause.names - {clause.subject}


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


def _covered(denied: Clause, said: frozenset[str], liked: frozenset[str]) -> float:
    """Return how much of what a clause denies is said, of what goes beyond half of it."""
    return max(0.0, 2.0 * len((denied.content & said) - liked) / len(denied.content) - 1.0)


def _ends(clause: Clause, shared: frozenset[str]) -> bool:
    """Return whether what ends in a clause is among some roots.

    It stands just after the word that tells of an end, or just before it.
    """
    words = [word for word in clause.words if not sense(word).light]
    return any(
        not shared.isdisjoint(map(claim_root, words[max(0, place - 1) : place + 2]))
        for place, word in enumerate(words)
        if "ended" in sense(word).flags
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
        number(one) != number(another) and claim_root(unit) == claim_root(other)
        for one, unit in units[0]
        for another, other in units[1]
    )


def _running(a: Clause, b: Clause) -> bool:
    """Return whether two clauses tell how far the same thing has come, and by other numbers."""
    counts = _counts(a), _counts(b)
    return any(
        older != newer
        for unit, older in counts[0].items()
        if (newer := counts[1].get(unit)) is not None and _same_topic(a, b, unit)
    )


def _same_topic(a: Clause, b: Clause, unit: str) -> bool:
    """Return whether two clauses share more than what they count, or neither says more."""
    return bool((a.content & b.content) - {unit}) or all(map(number, a.content ^ b.content))


def _counts(clause: Clause) -> dict[str, str]:
    """Return the numbers of a clause by what they count: the word after each, or before it ("page 200")."""
    counts: dict[str, str] = {}
    words = clause.words
    for place, word in enumerate(words):
        value = number(word)
        if value is None:
            continue
        units = list(takewhile(_is_counted, words[place + 1 : place + 1 + _MAX_UNIT_WORDS]))
        if not units and place and _is_counted(words[place - 1]):
            units = [words[place - 1]]
        counts |= dict.fromkeys(map(claim_root, units), value)
    return counts


def _is_counted(word: str) -> bool:
    return word in _PERIODS or (word[0].isalpha() and number(word) is None and not sense(word).light)


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
