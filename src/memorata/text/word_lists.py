"""Lists of words: stop words by language, and words that begin a sentence without being a name.

Articles, pronouns, prepositions, conjunctions, auxiliary verbs and question words, written down as the
tokeniser sees them: the pieces that apostrophes leave behind ("don't" gives *don* and *t*, "l'eau" gives *l*
and *eau*) are listed too. Words that are as often a topic as a function are left out of the lists: English
*may* and *won*, French *été*. Leaving them out of an index is as old as retrieval itself (Luhn 1958, "The
automatic creation of literature abstracts").

Negations are listed apart and are *not* stop words. "What does she not eat?" and "she does not eat meat"
share a word that turns the meaning round; BM25's inverse document frequency already keeps its weight small.
They do help to recognise a language, see :mod:`memorata.text.language`.

A capital at the start of a sentence says nothing, so there a word must not be one of these, one of the stop
words, or built like a common word (:func:`is_common`). The lists are short on purpose: words that people
often begin with, chosen by hand and completed by what begins the turns of a chat (LoCoMo, dev split).

The files of :mod:`memorata.lang` have under ``[words]``, between blanks:

- ``pronouns``: question words, and words that stand for somebody or something. In doubt a word is listed:
  German *wie* and Spanish *que* ask in one reading and join in another.
- ``other_stop_words``: articles, prepositions, conjunctions, auxiliary verbs and the like.
- ``negations``.
- ``function_words``: the most common ones of a language that is stemmed but has no stop words, enough to
  recognise it.
- ``familiar``: what recognises short sentences about oneself, which often hold no function word of one
  language alone.
- ``common``: words that people often begin a sentence with, and that are no names; ``endings``: those of
  common words of five letters or more.
- ``subject_verbs``: verbs of one person or thing, and ``verb_endings``: those that show it.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from memorata.lang import LANGUAGES, SHARED, languages_with
from memorata.model import checks

STOP_WORD_LANGUAGES: Final = languages_with("words", "pronouns")
"""The languages that have stop words, in about the order of their speakers; ties go to the first."""

_KNOWN: Final = frozenset((*STOP_WORD_LANGUAGES, "none"))
_MIN_BUILT: Final = 5
"""The fewest letters of a word that is known as common by its ending."""


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text: long lists read better as running text."""
    return frozenset(words.split())


@cache
def listed(name: str, language: str) -> frozenset[str]:
    """Return the words of a language in the list of this name; none if it has none."""
    return word_set(LANGUAGES.get(language, {}).get("words", {}).get(name, ""))


def shared(section: str, name: str) -> frozenset[str]:
    """Return the words of a list over all languages."""
    return word_set(SHARED[section][name])


CALENDAR, DATE_PREPOSITIONS, TITLES, NOT_NAMES, NAME_BEGINNINGS, NAMES_AND_WORDS = (
    shared("names", name)
    for name in ("calendar", "date_prepositions", "titles", "not_names", "beginnings", "also_words")
)


def stop_words(language: str) -> frozenset[str]:
    """Return the stop words of `language`; none for ``"none"``.

    >>> "the" in stop_words("english"), "not" in stop_words("english"), "battery" in stop_words("english")
    (True, False, False)
    """
    if type(language) is not str or language not in _KNOWN:
        checks.one_of("language", language, (*STOP_WORD_LANGUAGES, "none"))
    return _stop_words(language)


@cache
def _stop_words(language: str) -> frozenset[str]:
    return pronouns(language) | listed("other_stop_words", language)


def negations(language: str) -> frozenset[str]:
    """Return the words of `language` that deny: kept in the index, and evidence of the language.

    >>> sorted(negations("german"))[:3]
    ['kein', 'keine', 'keinem']
    """
    checks.one_of("language", language, (*STOP_WORD_LANGUAGES, "none"))
    return listed("negations", language)


def pronouns(language: str) -> frozenset[str]:
    """Return the stop words of `language` that ask for something or stand for a person."""
    return listed("pronouns", language)


@cache
def common_words(language: str) -> frozenset[str]:
    """Return the stop words, negations and common words of a language, in lower case."""
    return listed("common", language) | stop_words(language) | negations(language)


def is_common(word: str, language: str) -> bool:
    """Return whether a word in lower case is listed, or built like a common word of the language."""
    if word in common_words(language):
        return True
    return len(word) >= _MIN_BUILT and word.endswith(_endings(language))


@cache
def _endings(language: str) -> tuple[str, ...]:
    return tuple(listed("endings", language))


def has_common_words(language: str) -> bool:
    """Return whether the common words of a language are known here at all."""
    return bool(listed("common", language))
