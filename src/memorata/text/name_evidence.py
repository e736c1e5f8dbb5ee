"""Whether one capitalised word is a name, by the company it keeps.

Mikheev (1999, "A knowledge-free method for capitalized word disambiguation") decides such words by how they
stand elsewhere in the same text; where the text is a single sentence, what stands next to them must do.
German writes every noun with a capital, so there a word must also stand where a noun would need an article.

What a word is by itself (its lower case, its capital) is computed once and kept in a bounded table; where it
stands, and whether a sentence starts there, only for the few words that are asked for.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from itertools import accumulate, pairwise
from typing import Final

from memorata._frozen import frozen
from memorata.text.common_words import CALENDAR, NOT_NAMES, TITLES, has_common_words, is_common, word_set
from memorata.text.stopwords import stop_words

WORD: Final = re.compile(r"[^\W\d_][\w\u0300-\u036f]*")
ABBREVIATIONS: Final = word_set("st mt ft jr sr no")
PARTICLES: Final = word_set("van von de da di du der den ter ibn bin")
"""Lower-case words that a family name can begin with: van Gogh, von Neumann, da Vinci."""

_PIECES: Final = re.compile(f"({WORD.pattern})")
_ASCII_PIECES: Final = re.compile(r"([A-Za-z][A-Za-z0-9_]*)")
"""The same for plain text: a set of characters is searched in two thirds of the time of a set of kinds."""
_SENTENCE_START: Final = re.compile(
    r"[.!?…。！？]['\"’”»)\]]*\s+|\n|[:;]\s|[\"“„«(\[]\s*$|[-*•–—]\s+$|^\s*\d+[.)]\s"
)
_MAX_CACHED_WORDS: Final = 50_000
_MAX_CACHED_LENGTH: Final = 64
_SUBJECT_VERBS: Final = {
    "english": word_set("""is was has had will can could would should does did says said told went came got
        gave made took saw left lost won met knew thinks thought felt became began wrote read bought sold
        built found taught won't can't isn't wasn't hasn't doesn't didn't might may must also just never
        always often usually recently still really finally and or who which"""),
    "german": word_set("""ist war hat hatte wird wurde kann konnte muss musste soll sollte will wollte mag
        mochte ging kam sah gab lag saß las schrieb sprach fuhr flog trank aß und"""),
    "russian": word_set("и не был была есть"),
    "french": word_set("est était a avait va sera et habite travaille aime adore préfère vit veut"),
    "spanish": word_set("es era está tiene fue va vive trabaja y come quiere prefiere dijo le"),
    "italian": word_set("è era ha aveva va vive lavora ama e vuole preferisce"),
    "portuguese": word_set("é era está tem foi vai mora trabalha gosta e quer prefere disse"),
}
_VERB_ENDINGS: Final = {
    "english": ("s", "ed"),
    "german": ("t", "te"),
    "russian": ("ет", "ит", "ёт", "ал", "ил", "ел", "ала", "ила", "ела", "лся", "лась", "тся"),
}
_NOT_VERBS: Final = word_set(
    "this its his us as plus always perhaps needs nicht jetzt mit seit dort gut erst"
)
_AND: Final = word_set("and or und и et y e")
_BEFORE_GERMAN_PLACES: Final = word_set("in nach aus")
_BEFORE_GERMAN_NAMES: Final = word_set("bei von mit für und an ohne gegen heißt")
_GERMAN_PLURALS: Final = ("e", "en", "er", "ern", "el", "eln")
_MAX_MIXED_CASE: Final = 24
_MAX_SHARED_VERB: Final = 3
"""A verb of more letters than this is hardly a word of another language."""


@frozen
class Word:
    """A word, wherever it stands.

    A brand like iPhone counts as capitalised; a month or a day of the week does not. What may belong to a
    name has a capital, or is a particle of one.
    """

    text: str
    lower: str
    capital: bool
    of_name: bool


class WordSpans:
    """The words of a text that begin with a letter, in order."""

    __slots__ = ("_ends", "_pieces", "gaps", "words")

    def __init__(self, text: str) -> None:
        self._pieces = (_ASCII_PIECES if text.isascii() else _PIECES).split(text)
        self.words: list[Word] = list(map(_TABLE.__getitem__, self._pieces[1::2]))
        self.gaps: list[str] = self._pieces[:-1:2]
        self._ends: list[int] | None = None

    def starts(self, at: int) -> bool:
        """Return whether a sentence starts with the word at this place."""
        gap = self.gaps[at]
        if at == 0:
            return True
        if gap == " " or _SENTENCE_START.search(gap) is None:
            return False
        before = self.words[at - 1]
        if gap[0] == "." and before.capital:
            # An initial or an abbreviation ends with a full stop, too.
            return len(before.text) > 1 and before.lower not in ABBREVIATIONS and before.lower not in TITLES
        return True

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Return where the first of some words begins, and where the last of them ends."""
        # Added up once, and only for a text in which something was found.
        if self._ends is None:
            self._ends = list(accumulate(map(len, self._pieces)))
        return self._ends[2 * first], self._ends[2 * last + 1]


class _Table(dict[str, Word]):
    def __missing__(self, text: str) -> Word:
        lower = text.lower()
        capital = text[0].isupper() or (len(text) > 2 and text[0].islower() and text[1].isupper())
        capital = capital and lower not in CALENDAR
        word = Word(text, lower, capital, capital or lower in PARTICLES)
        if len(text) <= _MAX_CACHED_LENGTH:
            if len(self) >= _MAX_CACHED_WORDS:
                self.clear()
            self[text] = word
        return word


_TABLE: Final = _Table()


class Evidence:
    """What a whole text, given by its words and its language, says about its capitalised words."""

    def __init__(self, spans: WordSpans, language: str) -> None:
        self._spans = spans
        self._language = language
        # Kept by hand: a cached property takes a lock, and as long as finding the words.
        self._found_elsewhere: set[str] | None = None
        self._found_plain: set[str] | None = None

    @property
    def _elsewhere(self) -> set[str]:
        """Words with a capital in mid-sentence; in German, repeatedly so and never behind an article."""
        if self._found_elsewhere is None:
            self._found_elsewhere = self._find_elsewhere()
        return self._found_elsewhere

    @property
    def _plain(self) -> set[str]:
        """Words that also stand without a capital."""
        if self._found_plain is None:
            self._found_plain = {word.lower for word in self._spans.words if not word.capital}
        return self._found_plain

    def _find_elsewhere(self) -> set[str]:
        words, starts = self._spans.words, self._spans.starts
        capitalised = {word.lower for at, word in enumerate(words) if word.capital and not starts(at)}
        if self._language == "german":
            counts = Counter(word.lower for word in words)
            articles = _german_articles()
            nouns = {after.lower for word, after in pairwise(words) if word.lower in articles}
            capitalised = {word for word in capitalised if counts[word] > 1} - nouns
        return capitalised

    def is_name(self, at: int) -> bool:
        """Return whether the word at this place, which no other word of its name stands beside, is a name."""
        word, gap = self._spans.words[at], self._spans.gaps[at]
        if len(word.text) < 2 or word.lower in NOT_NAMES or word.lower in TITLES:
            return False
        if word.text[1:] != word.text[1:].lower():
            # NASA, GitHub, iPhone, McDonald; a key or a hash is longer, or mixes digits in.
            return len(word.text) <= _MAX_MIXED_CASE and (word.text.isalpha() or word.text.isupper())
        if at and self._spans.words[at - 1].lower in TITLES and gap in (" ", ". "):
            return True
        if self._language == "german":
            return self._is_german_name(at)
        if not self._spans.starts(at):
            return word.lower not in stop_words(self._language)
        if word.lower in self._elsewhere:
            return True
        common = is_common(word.lower, self._language) or not has_common_words(self._language)
        return not common and word.lower not in self._plain and self._is_subject(at)

    def _is_subject(self, at: int) -> bool:
        """Return whether what follows treats the word as somebody: a verb, 's, or another name."""
        words = self._spans.words
        if at + 1 >= len(words):
            return False
        after, gap = words[at + 1], self._spans.gaps[at + 1]
        if gap in ("'", "’"):
            return after.lower in ("s", "ll", "d")
        listing = gap in (", ", " & ")
        if listing or (gap == " " and after.lower in _AND):
            other = words[at + 1 + (not listing) : at + 2 + (not listing)]
            return bool(other) and other[0].capital and len(other[0].text) > 1
        return gap == " " and _is_verb(after.lower, self._language)

    def _is_german_name(self, at: int) -> bool:
        word = self._spans.words[at]
        if is_common(word.lower, "german"):
            return False
        if word.lower in self._elsewhere:
            return True
        if self._spans.starts(at):
            return self._is_subject(at)
        before = self._spans.words[at - 1]
        if self._spans.gaps[at] != " " or before.capital:
            return False
        # Cities end like plurals (Bremen, Hannover); only behind a word of place are they likelier.
        plural = word.lower.endswith(_GERMAN_PLURALS)
        return before.lower in _BEFORE_GERMAN_PLACES or (before.lower in _BEFORE_GERMAN_NAMES and not plural)


def _is_verb(word: str, language: str) -> bool:
    """Return whether a word looks like a verb that says what one person or thing does."""
    # A short sentence of another language often passes for English, which has few words of its own in it.
    verbs = _all_subject_verbs() if language == "english" else _SUBJECT_VERBS.get(language, frozenset())
    if word in verbs:
        return True
    built = len(word) > 2 and word.endswith(_VERB_ENDINGS.get(language, ()))
    return built and not word.endswith("ss") and word not in _NOT_VERBS


@cache
def _all_subject_verbs() -> frozenset[str]:
    others = [verbs for language, verbs in _SUBJECT_VERBS.items() if language != "english"]
    return _SUBJECT_VERBS["english"] | {
        verb for verbs in others for verb in verbs if len(verb) > _MAX_SHARED_VERB
    }


@cache
def _german_articles() -> frozenset[str]:
    stems = ("ein", "kein", "mein", "dein", "sein", "ihr", "unser", "euer", "dies", "jed", "welch")
    ends = ("", "e", "en", "em", "er", "es")
    return word_set("der die das den dem des im am zum zur vom beim ins") | {
        s + e for s in stems for e in ends
    }
