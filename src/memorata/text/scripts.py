"""The scripts that a text is written in, and whether a model that was made for some languages knows them."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from typing import Final

_SCRIPTS: Final = {
    "cyrillic": re.compile(r"[Ѐ-ԯᲀ-\u1c8fꙀ-ꚟ]"),
    "han": re.compile(r"[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"),
    "kana": re.compile(r"[\u3040-\u30ff\uff66-\uff9d]"),
    "hangul": re.compile(r"[\u1100-\u11ff\uac00-\ud7af]"),
    "arabic": re.compile(r"[\u0600-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufeff]"),
    "greek": re.compile(r"[\u0370-\u03ff\u1f00-\u1fff]"),
    "hebrew": re.compile(r"[\u0590-\u05ff]"),
    "thai": re.compile(r"[\u0e00-\u0e7f]"),
    "devanagari": re.compile(r"[\u0900-\u097f]"),
    "latin": re.compile(r"[a-zA-ZªºÀ-ÖØ-öø-ɏḀ-ỿ]"),
}
_LETTER: Final = re.compile(r"[^\W\d_]")
_OF_LANGUAGE: Final = {
    **dict.fromkeys(("ru", "uk", "be", "bg", "mk", "sr", "kk"), ("cyrillic",)),
    "zh": ("han",),
    "ja": ("han", "kana"),
    "ko": ("hangul",),
    **dict.fromkeys(("ar", "fa", "ur"), ("arabic",)),
    "el": ("greek",),
    "he": ("hebrew",),
    "th": ("thai",),
    **dict.fromkeys(("hi", "mr", "ne"), ("devanagari",)),
}
"""The scripts of languages that are not written in Latin letters."""
_LETTERS_PER_WORD: Final = {"han": 4, "kana": 2, "hangul": 2}
"""How many Latin letters say about as much as one of these."""


@lru_cache(maxsize=64)
def _scripts_of(languages: tuple[str, ...]) -> frozenset[str]:
    return frozenset(script for one in languages for script in _OF_LANGUAGE.get(one, ("latin",)))


def script_counts(text: str) -> dict[str, int]:
    """Return how many letters of each script a text has."""
    return {script: len(pattern.findall(text)) for script, pattern in _SCRIPTS.items()}


def familiarity(text: str, languages: Collection[str]) -> float:
    """Return the share of a text that is in a script of some languages, from 0 to 1.

    An English model knows the letters of German and makes something of its words; of Chinese it makes noise,
    which is no reason to rank anything. 1 for no languages, for then nobody knows better, and for a text
    without letters. `languages` are ISO 639-1 codes.

    >>> familiarity("Where are my keys?", ["en"]), familiarity("我的钥匙在哪里", ["en"])
    (1.0, 0.0)
    >>> round(familiarity("我的 iPhone 在哪里", ["en"]), 2), familiarity("Где ключи?", ["en", "ru"])
    (0.23, 1.0)
    """
    scripts = _scripts_of(tuple(languages))
    if not scripts or (text.isascii() and "latin" in scripts):
        return 1.0
    letters = len(_LETTER.findall(text))
    counted = script_counts(text)
    others = letters - sum(counted.values())
    worth = {script: count * _LETTERS_PER_WORD.get(script, 1) for script, count in counted.items()}
    total = sum(worth.values()) + max(0, others)
    return sum(worth[script] for script in scripts) / total if total else 1.0
