"""The words of a name that tell of whom it is: what is left without particles, and without what is too short.

Whoever asks "what does Berg want?" has somebody in mind who is called Anna Berg. Initials and particles tell
of nobody, and neither does a word that is as good as in every sentence, such as the "Will" of Will Hart.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import cache
from typing import Final

from memorata.model import checks
from memorata.text.folding import folded, stands_in
from memorata.text.language import detect
from memorata.text.ordinary_words import CALENDAR, ordinary_words

_SHORTEST: Final = 3
_WORD: Final = re.compile(r"\w+")


def name_words(names: Iterable[str], language: str = "english") -> frozenset[str]:
    """Return the folded words of some names that can stand for the whole of one.

    Those of at least three letters that are no months, days of the week, stop words, negations or ordinary
    words (:mod:`memorata.text.ordinary_words`) of a language.

    Parameters
    ----------
    names
        Names, spelt in any way.
    language
        Of the text in which the words may stand: "ella" is a name in English, and "she" in Spanish.

    Examples
    --------
    >>> sorted(name_words(["Anna of Berg", "J. O'Brien", "Will Hart", "José Álvarez"]))
    ['alvarez', 'anna', 'berg', 'brien', 'hart', 'jose']
    """
    found = {word for name in checks.texts("names", names) for word in _WORD.findall(folded(name))}
    return frozenset(word for word in found if len(word) >= _SHORTEST and word not in _common(language))


def may_name(text: str, names: Collection[str]) -> bool:
    """Return whether a text may speak of somebody: a name, or a word that tells of one, stands in it.

    Parameters
    ----------
    text
        The text; words that are common in its own language tell of nobody.
    names
        What the one is called, spelt in any way.

    Examples
    --------
    >>> may_name("What does Berg want?", ["Anna Berg"]), may_name("What is an iceberg?", ["Anna Berg"])
    (True, False)
    >>> may_name("Will it rain?", ["Will Hart"]), may_name("What does Will Hart like?", ["Will Hart"])
    (False, True)
    """
    spelt = {folded(name) for name in checks.texts("names", names)}
    return stands_in(text, spelt | name_words(spelt, detect(text)))


@cache
def _common(language: str) -> frozenset[str]:
    return frozenset(folded(word) for word in CALENDAR | ordinary_words(language))
