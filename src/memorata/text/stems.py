"""Stems: "batteries" and "battery" become one term.

The Snowball stemmers (Porter 2001, "Snowball: a language for stemming algorithms") through PyStemmer. A
stemmer object of PyStemmer must not be shared between threads, so each thread makes its own; what they have
computed is shared through one bounded cache.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from functools import lru_cache

import Stemmer

from memorata.model import checks
from memorata.model.errors import InvalidArgument

STEMMED_LANGUAGES: tuple[str, ...] = tuple(sorted(Stemmer.algorithms()))
"""Every language that has a stemmer; ``"none"`` is accepted beside them and leaves words as they are."""

_KNOWN = frozenset((*STEMMED_LANGUAGES, "none"))
_CACHED_STEMS = 65_536
_LONGEST_CACHED = 64

_stemmers = threading.local()


def stem(token: str, language: str) -> str:
    """Return the stem of a lower-case word.

    Parameters
    ----------
    token
        One word, as :func:`memorata.text.tokens.words` gives it.
    language
        One of :data:`STEMMED_LANGUAGES`, or ``"none"`` for no stemming.

    Examples
    --------
    >>> stem("batteries", "english"), stem("battery", "english"), stem("боюсь", "russian")
    ('batteri', 'batteri', 'бо')
    """
    _check_language(language)
    return _stemmed(checks.text("token", token), language)


def fresh_stem(token: str, language: str) -> str:
    """Return the stem of a word as :func:`stem` does, for who remembers it and asks but once.

    Nothing is looked up, kept or checked, which takes half of the time of a word that is new.

    Examples
    --------
    >>> fresh_stem("batteries", "english"), fresh_stem("batteries", "none")
    ('batteri', 'batteries')
    """
    if language == "none":
        return token
    stemmer = getattr(_stemmers, language, None)
    if stemmer is None:
        stemmer = Stemmer.Stemmer(language, 0)  # 0: no second cache behind ours
        setattr(_stemmers, language, stemmer)
    stemmed: str = stemmer.stemWord(token)
    return stemmed


def stems(tokens: Iterable[str], language: str) -> list[str]:
    """Return the stem of each of several lower-case words.

    Examples
    --------
    >>> stems(["häuser", "katzen"], "german")
    ['haus', 'katz']
    >>> stems(["cats"], "klingon")
    Traceback (most recent call last):
    ...
    memorata.model.errors.InvalidArgument: language must be one of 'arabic', ..., 'none', got 'klingon'
    """
    _check_language(language)
    if isinstance(tokens, str) or not isinstance(tokens, Iterable):
        raise InvalidArgument("tokens", tokens, "a list of words")
    found = []
    for position, token in enumerate(tokens):
        if not isinstance(token, str):
            raise InvalidArgument(f"tokens[{position}]", token, "a string")
        found.append(_stemmed(token, language))
    return found


def _check_language(language: str) -> None:
    if not isinstance(language, str) or language not in _KNOWN:
        checks.one_of("language", language, (*STEMMED_LANGUAGES, "none"))


def _stemmed(token: str, language: str) -> str:
    # A key pasted into a text is one enormous word: it must not push a thousand real ones out of memory.
    return (_cached if len(token) <= _LONGEST_CACHED else fresh_stem)(token, language)


_cached = lru_cache(maxsize=_CACHED_STEMS)(fresh_stem)
