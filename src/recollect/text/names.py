"""Names of people, places and things in running text, by their capitals.

Capitals are the oldest sign of a name that a program can read (Rau 1991, "Extracting company names from
text"). A name is a run of capitalised words with what may join them ("Bank of England", "Ludwig van
Beethoven"), less what only stands in front of it. A run of one word needs further evidence
(:mod:`recollect.text.name_evidence`); scripts without capitals have names in quotation marks
(:mod:`recollect.text.quoted_titles`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from recollect.text.name_evidence import Evidence
from recollect.text.ordinary_words import KEPT_BEFORE_A_NAME, TITLES, is_ordinary, listed
from recollect.text.quoted_titles import quoted_titles
from recollect.text.stopwords import stop_words
from recollect.text.word_spans import ABBREVIATIONS, WordSpan, word_spans

_JOINERS: Final = listed("of de da di do dos das del della van von der den du la le las los y e zu zur")
_ARTICLES: Final = listed("the la los las der den")
_PARTICLES: Final = listed("van von de da di du der den ter ibn bin")
"""Lower-case words that a family name can begin with: van Gogh, von Neumann, da Vinci."""
_DETERMINERS: Final = listed("the my your his her our their this that")


def capitalised_names(text: str, language: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each name in `text`, which is in `language`.

    Examples
    --------
    >>> text = "Yesterday Anna Keller showed me the Bank of England."
    >>> [text[start:end] for start, end in capitalised_names(text, "english")]
    ['Anna Keller', 'Bank of England']
    """
    yield from quoted_titles(text)
    words = word_spans(text)
    if not any(word.capital for word in words) or _says_nothing(words, language):
        return
    evidence = Evidence.of(words, language)
    for run in _chains(words, language):
        kept = _kept(words, *run, language)
        if kept is not None and (kept[0] < kept[1] or evidence.is_name(kept[0])):
            yield words[kept[0]].start, words[kept[1]].end


def _says_nothing(words: list[WordSpan], language: str) -> bool:
    """Return whether capitals carry no meaning: all shouted, or a headline with capitals on every word."""
    letters = [word for word in words if len(word.text) > 1]
    if len(letters) > 2 and all(word.text.isupper() for word in letters):
        return True
    stops = stop_words("english" if language == "none" else language) - {"i"}
    small = [word for word in letters if word.capital and not word.starts and word.lower in stops]
    return len(small) > 1


def _chains(words: list[WordSpan], language: str) -> Iterator[tuple[int, int]]:
    """Yield the first and last word of each run of capitalised words, with what joins them."""
    stops = stop_words(language)
    at = 0
    while at < len(words):
        word = words[at]
        particle = (
            word.lower in _PARTICLES
            and word.lower not in stops
            and not word.capital
            and not (at and words[at - 1].lower in _DETERMINERS)
            and _follows(words, at + 1)
        )
        if not word.capital and not particle:
            at += 1
            continue
        last = at
        while (following := _joined(words, last)) is not None:
            last = following
        if words[last].capital:
            yield at, last
        at = last + 1


def _joined(words: list[WordSpan], at: int) -> int | None:
    """Return the word that goes on with the name that `at` belongs to."""
    if not _touches(words, at + 1):
        return None
    if words[at + 1].capital:
        return at + 1
    if words[at + 1].lower not in _JOINERS or words[at + 1].gap != " ":
        return None
    if _follows(words, at + 2):
        return at + 2
    article = at + 2 < len(words) and words[at + 2].lower in _ARTICLES
    return at + 3 if article and _follows(words, at + 3) else None


def _follows(words: list[WordSpan], at: int) -> bool:
    return at < len(words) and words[at].capital and words[at].gap == " "


def _touches(words: list[WordSpan], at: int) -> bool:
    """Return whether a word belongs to the one before: a blank, hyphen, apostrophe, & or initial between."""
    if at >= len(words):
        return False
    gap, before, here = words[at].gap, words[at - 1], words[at]
    if gap == " ":
        return True
    if gap in ("-", "‑", "'", "’", " & ", "&"):
        return here.capital and before.capital
    abbreviated = len(before.text) == 1 or before.lower in ABBREVIATIONS or before.lower in TITLES
    return gap in (". ", ".") and abbreviated and before.capital and here.capital


def _kept(words: list[WordSpan], first: int, last: int, language: str) -> tuple[int, int] | None:
    """Return the run without what is no part of the name: ordinary words and titles in front of it."""
    stops = stop_words(language)
    while first <= last:
        word = words[first]
        leads = word.starts and (
            is_ordinary(word.lower, language) and (first == last or word.lower not in KEPT_BEFORE_A_NAME)
        )
        # German nouns stand in front of others as measures of them: Tasse Kaffee, Glas Wasser.
        measures = language == "german" and first < last and is_ordinary(word.lower, language)
        letter = len(word.text) == 1 and first < last and words[first + 1].gap == " "
        # The US Navy is not ours.
        stop = word.capital and word.lower in stops and not (len(word.text) > 1 and word.text.isupper())
        # Of the two, Lord Byron is Byron, and the Lord of the Rings is not of anything.
        title = word.lower in TITLES and (first == last or words[first + 1].capital)
        if not (title or leads or measures or letter or stop):
            break
        first += 1
        if first <= last and not words[first].capital and words[first].lower not in _PARTICLES:
            return None
    while last >= first and words[last].lower in stops and not words[last].text.isupper():
        last -= 1
    return (first, last) if first <= last and words[last].capital else None
