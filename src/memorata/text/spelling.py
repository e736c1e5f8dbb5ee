"""One spelling for all spellings of a name: without case, accents, or the ways a keyboard varies.

Case folding and the removal of accents follow Unicode (UAX 15 for the decomposition, UAX 44 for folding);
letters that have a stroke instead of an accent (ø, ł, đ) have no decomposition and are listed here. Marks of
scripts in which they are vowels or make another letter (Hindi, Hebrew, Arabic, Japanese, and the breve of й)
are kept.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from functools import lru_cache

from memorata.model import checks
from memorata.text.tokens import is_unspaced

_ACCENTS = re.compile(r"(?<!и)[\u0300-\u036f]|(?<=и)(?!\u0306)[\u0300-\u036f]")
_STROKES = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i"})
_WORD_CHARACTER = re.compile(r"\w")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufe00-\ufe0f\ufeff]")
_ODD_SPELLINGS = str.maketrans(
    {"’": "'", "‘": "'", "ʼ": "'", "`": "'", "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "−": "-"}
)


def folded(name: str) -> str:
    """Return `name` as it is compared: two names are the same if their folded forms are.

    Examples
    --------
    >>> folded("  José   ÁLVAREZ "), folded("Jose Alvarez")
    ('jose alvarez', 'jose alvarez')
    >>> folded("Straße"), folded("Семён"), folded("Łódź"), folded("O’Neill")
    ('strasse', 'семен', 'lodz', "o'neill")
    """
    return _folded(checks.text("name", name))


def contains_any(text: str, phrases: Collection[str]) -> bool:
    """Return whether any of some folded names or phrases stands in a text, as words of its own.

    In a script without spaces, and next to one, nothing shows where a word ends: there any place will do.
    """
    # A text is no name, and would push names out of what is kept.
    within = _folded.__wrapped__(checks.text("text", text))
    return any(_stands_alone(phrase, within) for phrase in phrases if phrase and phrase in within)


def _stands_alone(phrase: str, text: str) -> bool:
    """Return whether a folded phrase stands anywhere in a folded text without going on before or after."""
    letters = _WORD_CHARACTER.findall(phrase) or [""]
    start = text.find(phrase)
    while start >= 0:
        end = start + len(phrase)
        before, after = text[max(0, start - 1) : start], text[end : end + 1]
        if not _go_on(before, letters[0]) and not _go_on(after, letters[-1]):
            return True
        start = text.find(phrase, start + 1)
    return False


def _go_on(outside: str, inside: str) -> bool:
    """Return whether a word goes on from a letter of a name to what stands beside it."""
    return bool(_WORD_CHARACTER.match(outside)) and not is_unspaced(outside) and not is_unspaced(inside)


@lru_cache(maxsize=1 << 14)
def _folded(name: str) -> str:
    if name.isascii():
        return " ".join(name.lower().replace("`", "'").split())
    visible = _INVISIBLE.sub("", unicodedata.normalize("NFKC", name)).casefold()
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", visible))
    plain = unicodedata.normalize("NFC", bare).translate(_STROKES).translate(_ODD_SPELLINGS)
    return " ".join(plain.split())
