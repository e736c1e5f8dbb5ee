"""Names of people, places and things in running text, by their capitals.

Capitals are the oldest sign of a name that a program can read (Rau 1991, "Extracting company names from
text"). A name is a run of capitalised words with what may join them ("Bank of England", "Ludwig van
Beethoven"), less what only stands in front of it. A run of one word needs further evidence
(:class:`Evidence`); titles of works, and names in scripts without capitals, are what stands
in quotation marks and is short.

Mikheev (1999, "A knowledge-free method for capitalized word disambiguation") decides such words by how they
stand elsewhere in the same text; where the text is a single sentence, what stands next to them must do.
German writes every noun with a capital, so there a word must also stand where a noun would need an article.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Final

from memorata.lang import LANGUAGES, languages_with
from memorata.text.tokens import ABBREVIATIONS, WORD, WordSpans
from memorata.text.word_lists import (
    NAME_BEGINNINGS,
    NOT_NAMES,
    TITLES,
    has_common_words,
    is_common,
    listed,
    stop_words,
    word_set,
)

_VERB_ENDINGS: Final = {
    name: tuple(LANGUAGES[name]["words"]["verb_endings"].split())
    for name in languages_with("words", "verb_endings")
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
        """Return whether what follows treats the word as a subject: a verb, 's, or another name."""
        words = self._spans.words
        if at + 1 >= len(words):
            return False
        after, gap = words[at + 1], self._spans.gaps[at + 1]
        if gap in ("'", "’"):
            return after.lower in ("s", "ll", "d")
        listing = gap in (", ", " & ")
        if listing or (gap == " " and after.lower in _AND):
            next_words = words[at + 1 + (not listing) : at + 2 + (not listing)]
            return bool(next_words) and next_words[0].capital and len(next_words[0].text) > 1
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
    verbs = _all_subject_verbs() if language == "english" else listed("subject_verbs", language)
    if word in verbs:
        return True
    built = len(word) > 2 and word.endswith(_VERB_ENDINGS.get(language, ()))
    return built and not word.endswith("ss") and word not in _NOT_VERBS


@cache
def _all_subject_verbs() -> frozenset[str]:
    by_language = [listed("subject_verbs", language) for language in languages_with("words", "subject_verbs")]
    return listed("subject_verbs", "english") | {
        verb for verbs in by_language for verb in verbs if len(verb) > _MAX_SHARED_VERB
    }


@cache
def _german_articles() -> frozenset[str]:
    stems = ("ein", "kein", "mein", "dein", "sein", "ihr", "unser", "euer", "dies", "jed", "welch")
    ends = ("", "e", "en", "em", "er", "es")
    return word_set("der die das den dem des im am zum zur vom beim ins") | {
        s + e for s in stems for e in ends
    }


_JOINERS: Final = word_set("of de da di do dos das del della van von der den du la le las los y e zu zur")
_ARTICLES: Final = word_set("the la los las der den")
_DETERMINERS: Final = word_set("the my your his her our their this that")
_QUOTED: Final = re.compile(r"[\"“„«「『《]([^\"“”„«»「」『』《》\n]{2,60})[\"”“»」』》]")
_CASELESS: Final = ("\u0590-\u1fff", "\u2e80-\ud7ff", "\uf900-\ufdff", "\ufe70-\ufeff")
"""Compared one by one: to compile a set of so many characters takes longer than to read a hundred texts."""
_SENTENCE_MARK: Final = re.compile(r"[。！？，、,.!?]")
_MAX_CASELESS: Final = 20
_MAX_SMALL_WORD: Final = 3


def capitalised_names(text: str, language: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each name in `text`, which is in `language`."""
    yield from quoted_titles(text)
    spans = WordSpans(text)
    # Most words have no capital; only these few are looked at.
    marked = [at for at, word in enumerate(spans.words) if word.of_name]
    if not marked:
        return
    stops = stop_words(language)
    if _capitals_mean_nothing(spans, marked, stop_words("english") if language == "none" else stops):
        return
    evidence = Evidence(spans, language)
    for run in _capitalised_runs(spans, marked, stops):
        trimmed = _trimmed(spans, *run, language, stops)
        if trimmed is not None and (trimmed[0] < trimmed[1] or evidence.is_name(trimmed[0])):
            yield spans.span(*trimmed)


def quoted_titles(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each quoted title, without its quotation marks.

    In a script without capitals that is a short quotation that is no sentence. In one with capitals, the
    first and the last word must have one, and only words as short as "the" may have none.
    """
    if text.isascii() and '"' not in text:
        return
    for match in _QUOTED.finditer(text):
        inside = match.group(1).strip()
        start = match.start(1) + match.group(1).find(inside)
        if _SENTENCE_MARK.search(inside[-1:]) is None and _is_title(inside):
            yield start, start + len(inside)


def _capitals_mean_nothing(spans: WordSpans, marked: list[int], stops: frozenset[str]) -> bool:
    """Return whether capitals carry no meaning: all shouted, or a headline with capitals on every word."""
    words = spans.words
    capitals = 0
    for word in words:
        if len(word.text) > 1:
            if not word.text.isupper():
                break
            capitals += 1
    else:
        if capitals > 2:
            return True
    capital_stops = 0
    for at in marked:
        word = words[at]
        if word.capital and word.lower in stops and word.lower != "i" and len(word.text) > 1:
            capital_stops += not spans.starts(at)
    return capital_stops > 1


def _capitalised_runs(
    spans: WordSpans, marked: list[int], stops: frozenset[str]
) -> Iterator[tuple[int, int]]:
    """Yield the first and last word of each run of capitalised words, with what joins them."""
    words = spans.words
    last = -1
    for at in marked:
        if at <= last:
            continue
        word = words[at]
        particle = (
            not word.capital
            and word.lower not in stops
            and not (at and words[at - 1].lower in _DETERMINERS)
            and _is_capitalised_after_space(spans, at + 1)
        )
        if not word.capital and not particle:
            continue
        last = at
        while (following := _next_in_name(spans, last)) is not None:
            last = following
        if words[last].capital:
            yield at, last


def _next_in_name(spans: WordSpans, at: int) -> int | None:
    """Return the word that goes on with the name that `at` belongs to."""
    words = spans.words
    if not _is_attached(spans, at + 1):
        return None
    if words[at + 1].capital:
        return at + 1
    if words[at + 1].lower not in _JOINERS or spans.gaps[at + 1] != " ":
        return None
    if _is_capitalised_after_space(spans, at + 2):
        return at + 2
    article = at + 2 < len(words) and words[at + 2].lower in _ARTICLES
    return at + 3 if article and _is_capitalised_after_space(spans, at + 3) else None


def _is_capitalised_after_space(spans: WordSpans, at: int) -> bool:
    return at < len(spans.words) and spans.words[at].capital and spans.gaps[at] == " "


def _is_attached(spans: WordSpans, at: int) -> bool:
    """Return whether a word belongs to the one before: a blank, hyphen, apostrophe, & or initial between."""
    if at >= len(spans.words):
        return False
    gap, before, word = spans.gaps[at], spans.words[at - 1], spans.words[at]
    if gap == " ":
        return True
    if gap in ("-", "‑", "'", "’", " & ", "&"):
        return word.capital and before.capital
    abbreviated = len(before.text) == 1 or before.lower in ABBREVIATIONS or before.lower in TITLES
    return gap in (". ", ".") and abbreviated and before.capital and word.capital


def _trimmed(
    spans: WordSpans, first: int, last: int, language: str, stops: frozenset[str]
) -> tuple[int, int] | None:
    """Return the run without what is no part of the name: common words and titles in front of it."""
    words = spans.words
    while first <= last and _is_lead_in(spans, first, last, language, stops):
        first += 1
        if first <= last and not words[first].of_name:
            return None
    while last >= first and words[last].lower in stops and not words[last].text.isupper():
        last -= 1
    return (first, last) if first <= last and words[last].capital else None


def _is_lead_in(spans: WordSpans, at: int, last: int, language: str, stops: frozenset[str]) -> bool:
    """Return whether a word stands in front of the name without being part of it."""
    word = spans.words[at]
    # The US Navy is not ours.
    if word.capital and word.lower in stops and not (len(word.text) > 1 and word.text.isupper()):
        return True
    # Of the two, Lord Byron is Byron, and the Lord of the Rings is not of anything.
    if word.lower in TITLES and (at == last or spans.words[at + 1].capital):
        return True
    if len(word.text) == 1 and at < last and spans.gaps[at + 1] == " ":
        return True
    if not is_common(word.lower, language):
        return False
    # German nouns stand in front of others as measures of them: Tasse Kaffee, Glas Wasser.
    measures = language == "german" and at < last
    return measures or ((at == last or word.lower not in NAME_BEGINNINGS) and spans.starts(at))


def _is_title(inside: str) -> bool:
    if any(first <= inside[:1] <= last for first, _, last in _CASELESS):
        return len(inside) <= _MAX_CASELESS and _SENTENCE_MARK.search(inside) is None
    words = WORD.findall(inside)
    small = [word for word in words if not word[0].isupper()]
    return (
        len(words) - len(small) > 1
        and words[0][0].isupper()
        and words[-1][0].isupper()
        and all(len(word) <= _MAX_SMALL_WORD for word in small)
    )
