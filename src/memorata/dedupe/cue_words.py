"""The words that a comparison of two statements has to know: English, German and Russian.

Closed classes, listed by hand in ``cue_words.toml``: words that carry no claim of their own, words that turn
a claim round, words that say a state has changed, verbs and nouns whose slot holds one value at a time, and
pairs that cannot both be true.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Final

_DATA: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_WORDS: Final[dict[str, str]] = _DATA["words"]


def word_set(*lists: str) -> frozenset[str]:
    """Return the words of some lists."""
    return frozenset(word for words in lists for word in words.split())


LIGHT, FILLERS, QUALIFIERS, NEGATIONS, CHANGES, SPEAKER, SPEAKERS, FIRST_PERSON, WEEK, ENDINGS = (
    word_set(_WORDS[name])
    for name in (
        *("light", "fillers", "qualifiers", "negations", "changes", "speaker", "speakers", "first_person"),
        *("week", "endings"),
    )
)
SLOTS: Final[dict[str, str]] = {
    word: slot for slot, words in _DATA["slots"].items() for word in words.split()
}
"""Words of a slot that holds one value at a time, and which slot that is."""


_OPENINGS: Final = "|".join(map(str.strip, _WORDS["corrections"].split("/")))
_CORRECTION: Final = re.compile(rf"\W{{0,3}}(?:{_OPENINGS})(?:[,:;.!-]+\s*|\s+)(?=\S)", re.IGNORECASE)


def uncorrected(text: str) -> str:
    """Return a text without an opening that corrects another text, such as "Correction:" or "No wait,"."""
    match = _CORRECTION.match(text)
    return text if match is None else text[match.end() :]


def _opposites() -> dict[str, frozenset[str]]:
    opposites: dict[str, frozenset[str]] = {}
    for pair in _WORDS["opposites"].strip().splitlines():
        one, other = map(word_set, pair.split(" / "))
        for side, against in ((one, other), (other, one)):
            for word in side:
                opposites[word] = opposites.get(word, frozenset()) | against
    return opposites


OPPOSITES: Final = _opposites()
"""For a word, those that cannot be true of the same thing at the same time."""
