"""What a query asks for: a fact, a preference or an explanation, and whether it asks for anything at all.

Facts are found by their exact words, explanations by their meaning, preferences in between, so the type of a
query can choose the weights of a search. Rules by default: the cues of ``query_cues.toml`` add up
for each type, in the tradition of rule-based question typing (Li and Roth 2002, "Learning question
classifiers", describe the task). Anything with a ``classify`` method may take their place.

"Who am I?" and "the of and" are both made of stop words. A question word asks for something and a pronoun
stands for a person, while articles, prepositions, conjunctions and auxiliary verbs say nothing by themselves.
An embedder gives them a vector all the same, and the memories nearest to it are those that say nothing
either.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final, Literal, Protocol, TypeAlias, get_args, runtime_checkable
from unicodedata import category

from memorata._frozen import frozen
from memorata.lang import LANGUAGES, languages_with
from memorata.model import checks
from memorata.text.language import detect
from memorata.text.tokens import words
from memorata.text.word_lists import STOP_WORD_LANGUAGES, pronouns, shared, stop_words

QueryType: TypeAlias = Literal["factual", "preference", "conceptual"]
QUESTION_MARKS: Final = ("?", "？", "؟")
QUERY_TYPES: Final[tuple[QueryType, ...]] = get_args(QueryType)
"""The types, in the order in which ties are broken."""

_STRENGTHS: Final = (3.0, 1.0, 0.5)
"""What a strong, a clear and a faint cue add."""
_HINT: Final = 0.5
"""What a number, or a name, adds to a query being factual."""
_DOUBT: Final = 0.5
"""Evidence for none of the types, which every query starts with."""
_GAPS: Final = (1, 2, 3)
"""How many words a star on its own may stand for: "what does … mean"."""
_KEY: Final = 2
"""By how many letters cues are looked up, so that a word is compared with a handful and not with all."""


@frozen
class Classification:
    """The type of a query, and how sure that is, from 0 to 1; below 0.6 it is a guess."""

    type: QueryType
    confidence: float

    def __post_init__(self) -> None:
        checks.one_of("type", self.type, QUERY_TYPES)
        checks.probability("confidence", self.confidence)


@runtime_checkable
class QueryClassifier(Protocol):
    """Anything that can tell the type of a query: rules, a trained model, a language model."""

    def classify(self, query: str) -> Classification:
        """Return the type of `query` and how sure that is."""
        ...


@runtime_checkable
class FallibleClassifier(QueryClassifier, Protocol):
    """A classifier that may have to fall back on another, and says so."""

    def read(self, query: str) -> tuple[Classification, str]:
        """Return the type of `query`, and why it is uncertain, if it is."""
        ...


@frozen
class RuleClassifier:
    """Tells the type by the cues in the query: question words, verbs of liking, numbers, names.

    Every cue adds to its type: 3 when strong, 1 when clear, 0.5 when faint; a number and a name add 0.5 each
    to factual. The type with the most wins (ties: factual, preference, conceptual), and its confidence is
    ``most / (sum over the types + 0.5)``: one strong cue alone gives 0.86, one clear cue 0.67, one faint cue
    0.5. No cue at all is factual with confidence 0. `default` is the language of a query that does not show
    its own.

    >>> RuleClassifier().classify("Why did we choose PostgreSQL?").type
    'conceptual'
    >>> RuleClassifier().classify("Welchen Tee trinkt sie am liebsten?").type
    'preference'
    >>> RuleClassifier().classify("tell me")
    Classification(type='factual', confidence=0.0)
    """

    default: str = "english"

    def __post_init__(self) -> None:
        checks.one_of("default", self.default, STOP_WORD_LANGUAGES)

    def classify(self, query: str) -> Classification:
        """Return the type of `query` and how sure that is."""
        scores = self.evidence(query)
        most = max(scores.values())
        best = next(type_ for type_ in QUERY_TYPES if scores[type_] == most)
        return Classification(best, most / (sum(scores.values()) + _DOUBT))

    def evidence(self, query: str) -> dict[QueryType, float]:
        """Return what the cues of `query` add up to for each type, which explains the classification."""
        tokens = words(checks.text("query", query))
        scores: dict[QueryType, float] = dict.fromkeys(QUERY_TYPES, 0.0)
        language = detect(tokens, self.default)
        if language not in STOP_WORD_LANGUAGES:
            return scores
        cues, at = _cues(language), 0
        while at < len(tokens):
            end, type_, strength = _longest_match(cues.get(tokens[at][:_KEY], []), tokens, at)
            if type_ is not None:
                scores[type_] += strength
            at = max(end, at + 1)
        scores["factual"] += _HINT * any(map(str.isdecimal, query))
        # German writes every noun with a capital; there it says nothing.
        scores["factual"] += _HINT * (language != "german" and _has_name(query))
        return scores


def has_content(text: str) -> bool:
    """Return False for a text of two words or more, none of which asks, names or stands for anything.

    Punctuation alone has no content either; other texts without words do: a picture of a teacup may be a
    query. In doubt there is content: one word alone may be a name (*Will*), and so may one with a capital
    (*The Who*).

    >>> has_content("Who am I?"), has_content("the of and"), has_content("the battery")
    (True, False, True)
    >>> has_content("???"), has_content("☕?"), has_content("und der von"), has_content("The Who")
    (False, True, False, True)
    """
    tokens = words(checks.text("text", text))
    if not tokens:
        marks = "".join(text.split())
        return not marks or any(category(mark)[0] != "P" for mark in marks)
    if len(tokens) < 2 or _has_capitals(text):
        return True
    language = detect(tokens)
    if language not in STOP_WORD_LANGUAGES:
        return True
    return not set(tokens) <= stop_words(language) - pronouns(language)


def without_false_start(text: str) -> str:
    """Return what a query asks after it has corrected itself; the whole query where it has not.

    >>> without_false_start("Lovely weather. Sorry, what I really wanted to ask is: where does Anna live?")
    'where does Anna live?'
    >>> without_false_start("What did I really want to ask Anna?")
    'What did I really want to ask Anna?'
    """
    if not any(map(text.lower().__contains__, _REPAIR_CUES)):
        return text
    *_, end = (0, *(repair.end() for repair in _REPAIR.finditer(text)))
    return text[end:] if text[end:].strip() and has_content(text[end:]) else text


_REPAIR_CUES: Final = (
    *("really want", "actually want", "meant to", "real question", "actual question", "eigentlich"),
    *("je voulais", "je veux", "quería", "quiero", "volevo", "voglio", "想", "问题"),
)
"""Without one of these no query corrects itself; most have none."""
# Up to a few words after a sentence that was about something else.
_REPAIR: Final = re.compile(
    r"""(?<=[.!?…。！？])[^.!?…。！？]{0,25}?(?:
    \b(?:(?:what\ )?(?<!do\ )(?<!did\ )i\ (?:really|actually)\ want(?:ed)?
        |what\ i\ (?:really\ |actually\ )?meant)
        \ to\ (?:ask|know|say)(?:\ (?:is|was))?\b
    |\bmy\ (?:real|actual)\ question\ (?:is|was)\b
    |\beigentlich\ (?:wollte|möchte|will)\ ich\ (?:fragen|wissen|sagen)\b
    |\bwas\ ich\ eigentlich\ (?:fragen|wissen|sagen)\ (?:wollte|will|möchte)(?:,?\ ist)?\b
    |\bce\ que\ je\ (?:voulais|veux)\ (?:vraiment\ |en\ fait\ )?(?:demander|savoir|dire)(?:,?\ c['’]est)?\b
    |\blo\ que\ (?:realmente\ |en\ realidad\ )?(?:quería|quiero)\ (?:preguntar|saber|decir)(?:\ es)?\b
    |\bquello\ che\ (?:davvero\ |in\ realtà\ )?(?:volevo|voglio)\ (?:chiedere|sapere|dire)(?:\ è)?\b
    |(?:真正|实际|其实|本来)[^，。：:？！]{0,8}(?:想|问题)[^，。：:？！]{0,10}(?=[，：:])|我想问(?:的是)?(?=[，：:])
    )[\s,:，：]*""",
    re.IGNORECASE | re.VERBOSE,
)


def without_event_verbs(text: str) -> str:
    """Return the words of a text but for those that only say that something took place or was said.

    "What happened in May?" and "What did we talk about in May?" ask for May and for nothing else.

    >>> without_event_verbs("What happened?"), without_event_verbs("Что произошло с Анной?")
    ('what', 'что с анной')
    """
    return " ".join(word for word in words(checks.text("text", text)) if word not in _EVENT_VERBS)


_EVENT_VERBS: Final = shared("queries", "event_verbs")


def _has_capitals(text: str) -> bool:
    """Return whether a capital letter marks a name; a text all in capitals marks none."""
    first, *rest = text.split()
    if text.isupper():
        return False
    return (len(first) > 1 and first.isupper()) or any(piece[0].isupper() for piece in rest)


@frozen
class _Cue:
    """One cue: the words to match, what it adds, and whether it must open a query that goes on."""

    parts: tuple[str, ...]
    type: QueryType | None
    strength: float
    opens: bool

    @classmethod
    def read(cls, cue: str, type_: QueryType | None, strength: float) -> _Cue:
        plain = cue.strip().removeprefix("^")
        return cls(tuple(plain.split()), type_, strength, plain != cue.strip())


def _has_name(query: str) -> bool:
    """Return whether a word after the first looks like a name: a capital, then a small letter."""
    return any(word[0].isupper() and word[1:2].islower() for word in query.split()[1:])


@cache
def query_cues() -> dict[str, dict[str, str]]:
    """Return the cues by language and type, read with the first query that is classified."""
    cues = {name: dict(LANGUAGES[name]["query_cues"]) for name in languages_with("query_cues")}
    for of_language in cues.values():
        habits = (line.split(" * ") for line in of_language.pop("habits"))
        usual = [
            f"{opening} * {adverb}"
            for openings, adverbs in habits
            for opening in openings.split(", ")
            for adverb in adverbs.split(", ")
        ]
        of_language["preference"] = ", ".join((*usual, of_language["preference"]))
    return cues


@cache
def _cues(language: str) -> dict[str, list[_Cue]]:
    """Return the cues of a language by the first letters of their first word, longest first."""
    cues = query_cues()[language]
    listed = [_Cue.read(cue, None, 0.0) for cue in _split(cues.get("neutral", ""))]
    for type_ in QUERY_TYPES:
        for strength, several in zip(_STRENGTHS, cues[type_].split("|"), strict=True):
            listed += [_Cue.read(cue, type_, strength) for cue in _split(several)]
    by_letters: dict[str, list[_Cue]] = {}
    for cue in sorted(listed, key=lambda cue: -len(" ".join(cue.parts))):
        by_letters.setdefault(cue.parts[0].removesuffix("*")[:_KEY], []).append(cue)
    return by_letters


def _split(cues: str) -> list[str]:
    return [cue for cue in cues.split(",") if cue.strip()]


def _longest_match(cues: list[_Cue], tokens: list[str], at: int) -> tuple[int, QueryType | None, float]:
    """Return where the longest cue that starts at a word ends, and what it adds; none ends where it began."""
    for cue in cues:
        end = _end(cue.parts, tokens, at)
        if end and (not cue.opens or (at == 0 and end < len(tokens))):
            return end, cue.type, cue.strength
    return at, None, 0.0


def _end(parts: tuple[str, ...], tokens: list[str], at: int) -> int:
    """Return the position after the words that `parts` match from `at` on, or 0 where they do not."""
    for index, part in enumerate(parts):
        if part == "*":
            ends = (_end(parts[index + 1 :], tokens, at + gap) for gap in _GAPS)
            return next(filter(None, ends), 0)
        if at >= len(tokens):
            return 0
        if not (tokens[at].startswith(part[:-1]) if part[-1] == "*" else tokens[at] == part):
            return 0
        at += 1
    return at
