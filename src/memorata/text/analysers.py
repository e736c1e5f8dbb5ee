"""Analysers: from a text to the terms an index keeps.

An analyser is a handful of settings, so that a recipe can name one and change one. Documents and queries must
pass the same one. Two are shipped: ``plain`` tokenises and no more; ``snowball`` drops stop words and stems
(Porter 2001, "Snowball: a language for stemming algorithms"), the form most lexical search engines have used
since SMART (Salton 1971).

What a word becomes depends only on the word, the settings and the languages of its text; it is computed once
and kept in a bounded table, which makes analysing a sentence a matter of dictionary look-ups.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Annotated, Any, Final, TypeAlias

import Stemmer

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.parameter import Declared
from memorata.text.language import (
    function_words,
    languages_by_script,
    latin_language,
    script_language,
    script_of,
)
from memorata.text.tokens import WordCache, is_unspaced, words
from memorata.text.word_lists import STOP_WORD_LANGUAGES, stop_words

STEMMED_LANGUAGES: Final[tuple[str, ...]] = tuple(sorted(Stemmer.algorithms()))
"""Every language that has a stemmer; ``"none"`` is accepted beside them and leaves words as they are."""
LANGUAGES: Final = ("detect", "none", *STEMMED_LANGUAGES)
"""What an analyser's language may be: found in each text, none at all, or one for every text."""

Languages: TypeAlias = tuple[str, str]
"""The languages of a text: that of its Latin words, and that of its Cyrillic words."""
ROOT_LENGTH: Final = 3
"""How many letters of a word its root keeps; measured on Russian, where 3 did better than 4 and 5."""

_CYRILLIC: Final = re.compile(r"[\u0400-\u052f]")
_DIGIT = re.compile(r"\d")
_NO_WORDS: Final[frozenset[str]] = frozenset()


@frozen
class Analyser:
    """How a text becomes terms.

    Parameters
    ----------
    name
        What a recipe calls it.
    min_length
        The fewest characters of a word, counted before and again after stemming («боюсь» must not survive as
        «бо»). Pairs of characters from scripts without spaces are exempt.
    keep_digits
        Keep words that hold a digit whatever their length, and never stem them: 2, 7th, q3, 5g.
    stop
        Leave out the stop words of the language.
    stemming
        Reduce words to their Snowball stems.
    language
        ``"detect"`` finds it in each text; ``"none"`` neither stops nor stems; or one of the stemmers'
        names. A detected text may mix scripts: its Cyrillic words are read as Russian, its Latin words as
        the detected language, or as English when another script dominates.
    underscores
        Whether ``_`` is part of a word.

    Examples
    --------
    >>> Analyser("short", min_length=1).tokens("15.2%")
    ['15', '2']
    """

    name: str
    min_length: Annotated[int, Declared("Fewest characters of a word.", 1, 6)] = 2
    keep_digits: Annotated[bool, Declared("Keep words with digits whatever their length.")] = False
    stop: Annotated[bool, Declared("Leave out stop words.")] = False
    stemming: Annotated[bool, Declared("Reduce words to their stems.")] = False
    language: Annotated[str, Declared("Language of the texts.", choices=LANGUAGES)] = "detect"
    underscores: Annotated[bool, Declared("Keep _ inside words.")] = True

    def __post_init__(self) -> None:
        checks.text("name", self.name)
        checks.whole("min_length", self.min_length)
        for setting in ("keep_digits", "stop", "stemming", "underscores"):
            checks.flag(setting, getattr(self, setting))
        checks.one_of("language", self.language, LANGUAGES)

    def __hash__(self) -> int:
        # Every text looks up its table; hashing all settings would take longer than cutting a short one.
        return hash(self.name)

    def tokens(self, text: str) -> list[str]:
        """Return the terms of `text` in order, repeated terms included.

        A text made of nothing but stop words and short words has no terms.

        Examples
        --------
        >>> ANALYSERS["plain"].tokens("UAV-001 battery degraded to 15.2%!")
        ['uav', '001', 'battery', 'degraded', 'to', '15']
        >>> ANALYSERS["snowball"].tokens("Which batteries were replaced on the 7th?")
        ['batteri', 'replac', '7th']
        >>> ANALYSERS["snowball"].tokens("Я боюсь собак, dogs")
        ['собак', 'dog']
        >>> ANALYSERS["snowball"].tokens("What is it?")
        []
        """
        return self.read(text)[0]

    def read(self, text: str) -> tuple[list[str], Languages]:
        """Return the terms of `text`, as `tokens` does, and the languages that it was read in."""
        tokens = words(text, underscores=self.underscores)
        if self.language != "detect":
            latin = cyrillic = self.language
        elif self.stop or self.stemming:
            if text.isascii():
                latin, cyrillic = latin_language(tokens), "russian"
            else:
                latin, cyrillic, _ = languages_by_script(tokens)
        else:
            latin = cyrillic = "none"
        table = _table(self, latin, cyrillic)
        return list(filter(None, map(table.__getitem__, tokens))), (latin, cyrillic)

    def tokens_in(self, text: str, languages: Languages) -> list[str]:
        """Return the terms of `text`, read in the languages that another text was read in.

        A few words seldom show their language; the text they belong to may.
        """
        for position, language in enumerate(languages):
            checks.one_of(f"languages[{position}]", language, LANGUAGES[1:])
        table = _table(self, *languages)
        return list(filter(None, map(table.__getitem__, words(text, underscores=self.underscores))))


def analyser(name: str, **overrides: Any) -> Analyser:  # noqa: ANN401 - the fields check their own types
    """Return the shipped analyser called `name`, with some of its settings changed.

    Examples
    --------
    >>> analyser("snowball", language="german").tokens("Die Häuser")
    ['haus']
    >>> analyser("plain", length=3)
    Traceback (most recent call last):
    ...
    memorata.model.errors.InvalidArgument: setting must be one of 'min_length', ..., got 'length'
    """
    checks.one_of("name", name, tuple(ANALYSERS))
    for setting in overrides:
        checks.one_of("setting", setting, [field.name for field in fields(Analyser)[1:]])
    shipped = ANALYSERS[name]
    changed = replace(shipped, **overrides)
    # Tables of terms are found by analyser: the same object is found without comparing its settings.
    return shipped if changed == shipped else changed


ANALYSERS: Final[Mapping[str, Analyser]] = MappingProxyType(
    {
        "plain": Analyser("plain", min_length=2, underscores=False),
        "snowball": Analyser("snowball", min_length=3, keep_digits=True, stop=True, stemming=True),
    }
)
"""The shipped analysers by name."""


def term_counts(terms: Sequence[str]) -> dict[str, int]:
    """Return how often each term occurs; for a sentence this takes a fifth of the time of a Counter."""
    # Few sentences say a word twice.
    counts = dict.fromkeys(terms, 1)
    if len(counts) < len(terms):
        counts = {}
        for term in terms:
            counts[term] = counts.get(term, 0) + 1
    return counts


def roots(text: str) -> list[str]:
    """Return the first three letters of each Cyrillic word of a text; none of a text in another script.

    Snowball leaves different stems of «люблю» and «любишь», «трону» and «тронешь»; the first letters stay.
    Truncation is hard to beat in inflected languages (McNamee & Mayfield, "Character n-gram tokenization for
    European language text retrieval", 2004). Stop words have roots, too: they tell short sentences apart.

    >>> roots("Я люблю tea"), roots("I like tea")
    (['я', 'люб'], [])
    """
    if text.isascii() or not _CYRILLIC.search(text):
        return []
    return [word[:ROOT_LENGTH] for word in words(text) if _CYRILLIC.match(word)]


class _Terms:
    """What each word becomes under one analyser and its languages; empty for a word that is left out."""

    def __init__(self, settings: Analyser, latin: str, cyrillic: str) -> None:
        self._settings, self._latin, self._cyrillic = settings, latin, cyrillic
        self._latin_stops = _stops(latin) if settings.stop else _NO_WORDS

    def term(self, token: str) -> str:
        settings = self._settings
        if token.isascii() and token.isalpha():
            # A word of plain letters, as most are, need not be searched for what it cannot hold.
            language, stops = self._latin, self._latin_stops
        else:
            if is_unspaced(token) or (settings.keep_digits and _DIGIT.search(token)):
                return token
            language = self._language(token)
            stops = _stops(language) if settings.stop else _NO_WORDS
        if len(token) < settings.min_length or token in stops:
            return ""
        term = stem(token, language) if settings.stemming else token
        return term if len(term) >= settings.min_length else ""

    def _language(self, token: str) -> str:
        if self._latin == self._cyrillic or (token.isascii() and token[:1].isalpha()):
            return self._latin
        script = script_of(token)
        if script == "other":
            return script_language(token)
        return self._latin if script == "latin" else self._cyrillic


_stemmers = threading.local()


def stem(token: str, language: str) -> str:
    """Return the Snowball stem of a word; PyStemmer's objects must not be shared between threads."""
    if language == "none":
        return token
    stemmer = getattr(_stemmers, language, None)
    if stemmer is None:
        stemmer = Stemmer.Stemmer(language, 0)  # 0: no second cache behind ours
        setattr(_stemmers, language, stemmer)
    stemmed: str = stemmer.stemWord(token)
    return stemmed


@cache
def _stops(language: str) -> frozenset[str]:
    """Return the stop words of a language; there are languages that have a stemmer, and no list."""
    return stop_words(language) if language in STOP_WORD_LANGUAGES else function_words(language)


@lru_cache(maxsize=64)
def _table(settings: Analyser, latin: str, cyrillic: str) -> WordCache[str]:
    return WordCache(_Terms(settings, latin, cyrillic).term)
