"""The words of a clause, each with everything that follows from it alone: what it means, its root, its kind.

Chinese is cut into the words that are known, the longest first, and single characters; a number of it is read
together with what it counts.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from memorata.dedupe.claim_words import HAN_WORDS, MAX_HAN, PLAIN, Sense, number, sense
from memorata.dedupe.wording import Word, pieces, spelt, stem_of

HAN_RUN: Final = re.compile("[\u3400-\u9fff]+")
_DIGITS: Final = re.compile(r"\d+")
_QUANTITY: Final = re.compile(
    "(?<!第)(半|[一二两三四五六七八九十]{1,3})多?"
    "(年(?![级代龄])|个多?月|个?多?(?:星期|礼拜|小时|钟头)|周(?![一二三四五六日末])|天|次|分钟|岁|公里|公斤|颗)多?(半)?"
)
"""A number with what it counts, as Chinese writes it: 一年半, 三个月, 两次."""
_HAN_DIGITS: Final = {sign: value for value, sign in enumerate("一二三四五六七八九", 1)} | {"两": 2}
_WEEKDAY_QUANTITY: Final = re.compile("(?:星期|礼拜)(?=[一二两三四五六][天次])")
"""What reads as a day of the week, and is a week and a number: 星期一天."""
_ASIDE: Final = frozenset({"changed", "past", "planned", "never"})
_NO_VALUES: Final = _ASIDE | {"ended", "good", "bad"}
_INFLECTIONS: Final = ("s", "ed", "ing")
_MIN_STEM: Final = 3
_ELIDED: Final = re.compile(r"^(?:l|d|j|n|s|c|m|t|qu)['’](?=\w)")


class Token(NamedTuple):
    """A word of a clause with everything that follows from it alone."""

    text: str
    name: bool
    number: bool
    sense: Sense
    stem: str
    """What it adds to the content of a clause; empty if it carries no meaning."""
    value: str
    """What it is as a value; empty for words that are none."""


def tokens_in(text: str) -> list[Token]:
    """Return the words of a clause."""
    return [token for piece in pieces(text) for token in _spelt(piece)]


@lru_cache(maxsize=8_192)
def _spelt(piece: str) -> tuple[Token, ...]:
    """Return the words of a piece of text: one, mostly."""
    if piece.isascii() and piece.isalpha():
        return (_token(Word(piece.lower(), piece[0].isupper())),)
    words: list[Word] = []
    for word in spelt(piece):
        if HAN_RUN.search(word.text):
            words += _han(word.text)
            continue
        elided = _ELIDED.match(word.text)
        if elided:
            if word.text[0] == "n":
                words.append(Word("ne"))
            if word.text[0] == "j":
                words.append(Word("je"))
            words.append(Word(word.text[elided.end() :], word.name and word.text[0] not in "ldjnscmtq"))
        else:
            words.append(word)
    return tuple(map(_token, words))


@lru_cache(maxsize=8_192)
def claim_root(word: str) -> str:
    """Return what the forms of a word have in common, where one has two endings: "tests" and "tested"."""
    if word[:1].isdigit():
        return word
    for ending in _INFLECTIONS:
        if word.endswith(ending) and len(word) - len(ending) >= _MIN_STEM and not word.endswith("ss"):
            word = word[: -len(ending)]
    return stem_of(word)


def _token(word: Word) -> Token:
    meaning = sense(word.text)
    stem = value = ""
    if meaning is PLAIN and word.text.isascii() and word.text.isalpha() and number(word.text) is None:
        # Most words are nothing else.
        return Token(
            word.text, word.name, False, meaning, claim_root(word.text), "name" if word.name else "word"
        )
    if not (meaning.light or meaning.flags & {"negative", "me"}):
        stem = number(word.text) or claim_root(word.text)
        if not meaning.attributes and not meaning.flags & _NO_VALUES:
            value = _kind(word, meaning)
        if meaning.flags & _ASIDE and not (meaning.classes or meaning.attributes):
            stem = ""
    return Token(word.text, word.name, word.number, meaning, stem, value)


def _han(text: str) -> list[Word]:
    """Cut Chinese into known words, the longest first, and single characters."""
    tokens: list[Word] = []
    place = 0
    while place < len(text):
        if (quantity := _QUANTITY.match(text, place)) is not None:
            count, unit, half = quantity.groups()
            tokens += [Word(_counted(count, half)), Word(unit.replace("多", ""))]
            place = quantity.end()
            continue
        if (digits := _DIGITS.match(text, place)) is not None:
            tokens.append(Word(digits.group()))
            place = digits.end()
            continue
        if (week := _WEEKDAY_QUANTITY.match(text, place)) is not None:
            tokens.append(Word(week.group()))
            place = week.end()
            continue
        for size in range(min(MAX_HAN, len(text) - place), 0, -1):
            if size == 1 or text[place : place + size] in HAN_WORDS:
                tokens.append(Word(text[place : place + size]))
                place += size
                break
    return tokens


def _counted(count: str, half: str | None) -> str:
    """Return a number of Chinese in digits."""
    if count == "半":
        return "0.5"
    tens, ten, ones = count.rpartition("十")
    value = _HAN_DIGITS.get(ones[-1:], 0) + (10 * _HAN_DIGITS.get(tens[-1:], 1) if ten else 0)
    return f"{value}.5" if half else str(value)


def _kind(word: Word, meaning: Sense) -> str:
    if number(word.text) is not None:
        return "number"
    if "week" in meaning.flags:
        return "day"
    return "han" if HAN_RUN.match(word.text) else "name" if word.name else "word"
