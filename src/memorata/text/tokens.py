r"""Words of a text: the one tokeniser of documents and queries, its sentences, and one spelling for names.

A word is a run of Unicode letters, digits and underscores, in the compatibility form NFKC and in lower case.
Three things differ from a plain ``\w+``:

* Combining marks stay inside their word, as in the default word boundaries of Unicode (UAX 29); ``\w`` alone
  would cut Hindi, Tamil or pointed Hebrew at every vowel sign. Invisible characters that join or direct text
  (soft hyphen, zero-width joiners, direction marks, variation selectors) are removed first.
* Scripts written without spaces (Han, Hiragana, Katakana, Bopomofo, Thai, Lao, Khmer, Myanmar) give
  overlapping bigrams of characters, a strong baseline where no dictionary is at hand (Nie et al. 2000, "On
  the use of words and n-grams for Chinese information retrieval"). So does Hangul: Korean has spaces, but
  glues particles to its nouns, and no stemmer for it is at hand either. A character alone gives itself; a
  character carries its marks.
* Lower case, not case folding: folding writes ``ß`` as ``ss``, which hides German words from their stop list
  (the German stemmer does that step itself). ``İ`` becomes a plain ``i``, so that İstanbul is Istanbul.
  Accents are kept: they tell words apart, and stemmers need them.

Names are compared folded: without case, accents, or the ways a keyboard varies. Case folding and the removal
of accents follow Unicode (UAX 15 for the decomposition, UAX 44 for folding); letters that have a stroke
instead of an accent (ø, ł, đ) have no decomposition and are listed here. Marks of scripts in which they are
vowels or make another letter (Hindi, Hebrew, Arabic, Japanese, and the breve of й) are kept.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator
from functools import cache, lru_cache
from itertools import accumulate, pairwise
from typing import Final, TypeVar

from memorata._frozen import frozen
from memorata.model import checks
from memorata.text.word_lists import CALENDAR, TITLES, word_set

_ASCII_LETTERS = bytes(
    ord(chr(code).lower()) if code < 128 and (chr(code).isalnum() or chr(code) == "_") else ord(" ")
    for code in range(256)
)
"""What each ASCII character is to a word: itself in lower case, or a blank between two."""

_UNSPACED_RANGES = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f"  # Myanmar
    "\u1100-\u11ff\ua960-\ua97f\uac00-\ud7ff"  # Hangul
    "\u1780-\u17ff"  # Khmer
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u303c\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\U00020000-\U0003ffff"  # Han, the supplementary planes
    "\u3041-\u30ff\u31f0-\u31ff\U0001aff0-\U0001b16f"  # Hiragana, Katakana
    "\u3100-\u312f\u31a0-\u31bf"  # Bopomofo
)
# A digit of one of these scripts belongs to a number, and numbers are words in every script; the lookbehind
# also leaves out the punctuation and the marks of these blocks.
_UNSPACED_LETTER = rf"[{_UNSPACED_RANGES}](?<=[^\W\d_])"

_INVISIBLE = re.compile(
    "[\u00ad\u061c\u180b-\u180f\u200c-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef]+"
)

_BULLET: Final = re.compile(r"^[-*•]\s+")
_MAX_ABBREVIATION: Final = 12
"""How far back to look for an abbreviation."""


def words(text: str, *, underscores: bool = True) -> list[str]:
    """Return the words of `text` in order, repeated words included.

    Parameters
    ----------
    text
        Any string; what is neither letter, digit, mark nor underscore (white space, punctuation, emoji, NUL,
        lone surrogates) separates words and never raises.
    underscores
        Whether ``_`` is part of a word (``snake_case`` is one word) or separates two.

    Examples
    --------
    >>> words("UAV-001 battery degraded to 15.2%!")
    ['uav', '001', 'battery', 'degraded', 'to', '15', '2']
    >>> words("iPhone手机很好 snake_case")
    ['iphone', '手机', '机很', '很好', 'snake_case']
    >>> words("हिन्दी में")
    ['हिन्दी', 'में']
    """
    # Asked of every text: what is as it should be costs one comparison.
    if underscores is not True:
        checks.flag("underscores", underscores)
    if type(text) is not str:
        checks.text("text", text)
    if text.isascii():
        # A table and a cut at blanks take half the time of an expression.
        plain = text.encode().translate(_ASCII_LETTERS).decode()
        return plain.split() if underscores else plain.replace("_", " ").split()
    lowered = _lowered(text)
    if not underscores and "_" in lowered:
        lowered = lowered.replace("_", " ")
    word, piece, character = _patterns()
    runs = word.findall(lowered)
    unspaced = _unspaced()
    if unspaced.search(lowered) is None:
        return runs
    split: list[str] = []
    for run in runs:
        if unspaced.search(run) is None:
            split.append(run)
            continue
        for match in piece.finditer(run):
            cut = match.lastgroup == "unspaced"
            split += _bigrams(character.findall(match.group())) if cut else [match.group()]
    return split


def is_unspaced(token: str) -> bool:
    """Return whether `token` starts in a script cut into bigrams, to which no minimum length applies."""
    return not checks.text("token", token).isascii() and _unspaced().match(token) is not None


def sentences(text: str) -> tuple[str, ...]:
    r"""Return the sentences of a text, in their order, without white space around them.

    Marks of many scripts end a sentence (Unicode's Sentence_Terminal, the common ones), and so do lines; a
    full stop only before a space and something that can begin a sentence, and not after an initial or a usual
    abbreviation (Kiss and Strunk 2006 learn those; a short list is enough to summarise by).

    >>> sentences("Anna met Dr. Weiss. They had tea! Did Bo come?")
    ('Anna met Dr. Weiss.', 'They had tea!', 'Did Bo come?')
    >>> sentences("- milk\n- 2.5 kg of flour")
    ('milk', '2.5 kg of flour')
    """
    pieces: list[str] = []
    after = 0
    checks.text("text", text)
    boundary, abbreviation = _sentence_patterns()
    for end in boundary.finditer(text):
        if not abbreviation.search(text, max(after, end.start() - _MAX_ABBREVIATION), end.start()):
            closing = end[0].split(maxsplit=1)[0] if end[0][:1].strip() else ""
            pieces.append(text[after : end.start()] + closing)
            after = end.end()
    pieces.append(text[after:])
    bare = (_BULLET.sub("", piece.strip()) for piece in pieces)
    return tuple(piece for piece in bare if any(map(str.isalnum, piece)))


def _lowered(text: str) -> str:
    """Return `text` in NFKC and lower case, without invisible characters."""
    visible = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    # Lowering can leave apart a letter and a mark that have a composed lower form (J + caron): compose again.
    return unicodedata.normalize("NFKC", visible.replace("İ", "i").lower())


@cache
def _unspaced() -> re.Pattern[str]:
    """Return the pattern of a letter of these scripts, which takes milliseconds to make."""
    return re.compile(_UNSPACED_LETTER)


@cache
def _sentence_patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of the end of a sentence and of an abbreviation: they take 10 ms to compile."""
    return (
        re.compile(
            r"(?<=[.!?…])[\"'”’»)\]]*\s+(?=[\"'“‘«(\[¿¡]*[^\W_a-zа-яё])|(?<=[。！？।؟۔])[\"'”’」』)]*\s*"
            r"|\n\s*(?:[-*•]\s+)?"
        ),
        re.compile(
            r"(?<![^\s(])(?:[^\W\d_]|Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|etc|Nr|Hr|Fr|bzw|z\.B|e\.g|i\.e|г|ул|им|т\.д"
            r"|т\.п)\.$",
            re.IGNORECASE,
        ),
    )


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of a word, of a word's pieces by kind of script, and of a character with its marks.

    Built on the first text that is not ASCII: reading the categories of all marks takes about 20 ms.
    """
    marks = _marks()
    return (
        re.compile(rf"\w[\w{marks}]*"),
        re.compile(
            rf"(?P<unspaced>(?:{_UNSPACED_LETTER}[{marks}]*)+)|(?:(?!{_UNSPACED_LETTER})[\w{marks}])+"
        ),
        re.compile(rf"\w[{marks}]*"),
    )


def _bigrams(characters: list[str]) -> list[str]:
    """Return the overlapping pairs of `characters`; one alone stays alone."""
    if len(characters) == 1:
        return characters
    return [first + second for first, second in pairwise(characters)]


def _marks() -> str:
    """Return all combining marks, spacing and not, as the inside of a character class."""
    # Beyond plane 1 the only marks are variation selectors, which are invisible and removed.
    codes = [code for code in range(0x300, 0x20000) if unicodedata.category(chr(code)) in ("Mn", "Mc")]
    ranges: list[list[int]] = []
    for code in codes:
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


WORD: Final = re.compile(r"[^\W\d_][\w\u0300-\u036f]*")
ABBREVIATIONS: Final = word_set("st mt ft jr sr no")
PARTICLES: Final = word_set("van von de da di du der den ter ibn bin")
"""Lower-case words that a family name can begin with: van Gogh, von Neumann, da Vinci."""

_PIECES: Final = re.compile(f"({WORD.pattern})")
_ASCII_PIECES: Final = re.compile(r"([A-Za-z][A-Za-z0-9_]*)")
"""The same for plain text: a set of characters is searched in two thirds of the time of a set of kinds."""
_SENTENCE_START: Final = re.compile(
    r"[.!?…。！？]['\"’”»)\]]*\s+|\n|[:;]\s|[\"“„«(\[]\s*$|[-*•–—]\s+$|^\s*\d+[.)]\s"
)
MAX_CACHED_WORDS: Final = 32_768
"""Some ten megabytes: 8,000 turns of chats have more than 8,192 words; with so few a recall takes longer."""
MAX_CACHED_LENGTH: Final = 64
_Value = TypeVar("_Value")


class WordCache(dict[str, _Value]):
    """What each word becomes, computed when it is first asked for and kept as long as there is room."""

    def __init__(self, compute: Callable[[str], _Value]) -> None:
        super().__init__()
        self._compute = compute

    def __missing__(self, word: str) -> _Value:
        value = self._compute(word)
        if len(word) <= MAX_CACHED_LENGTH:
            # Starting afresh costs one computation per word, and needs no book-keeping on every look-up.
            if len(self) >= MAX_CACHED_WORDS:
                self.clear()
            self[word] = value
        return value


@frozen
class Word:
    """A word, wherever it stands.

    A brand like iPhone counts as capitalised; a month or a day of the week does not. What may belong to a
    name has a capital, or is a particle of one.
    """

    text: str
    lower: str
    capital: bool
    of_name: bool


class WordSpans:
    """The words of a text that begin with a letter, as they are spelt, in order.

    What a word is by itself (its lower case, its capital) is computed once and kept in a bounded table; where
    it stands, and whether a sentence starts there, only for the few words that are asked for.
    """

    __slots__ = ("_ends", "_pieces", "gaps", "words")

    def __init__(self, text: str) -> None:
        self._pieces = (_ASCII_PIECES if text.isascii() else _PIECES).split(text)
        self.words: list[Word] = list(map(_WORDS.__getitem__, self._pieces[1::2]))
        self.gaps: list[str] = self._pieces[:-1:2]
        self._ends: list[int] | None = None

    def starts(self, at: int) -> bool:
        """Return whether a sentence starts with the word at this place."""
        gap = self.gaps[at]
        if at == 0:
            return True
        if gap == " " or _SENTENCE_START.search(gap) is None:
            return False
        before = self.words[at - 1]
        if gap[0] == "." and before.capital:
            # An initial or an abbreviation ends with a full stop, too.
            return len(before.text) > 1 and before.lower not in ABBREVIATIONS and before.lower not in TITLES
        return True

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Return where the first of some words begins, and where the last of them ends."""
        # Added up once, and only for a text in which something was found.
        if self._ends is None:
            self._ends = list(accumulate(map(len, self._pieces)))
        return self._ends[2 * first], self._ends[2 * last + 1]


def _word(text: str) -> Word:
    lower = text.lower()
    capital = text[0].isupper() or (len(text) > 2 and text[0].islower() and text[1].isupper())
    capital = capital and lower not in CALENDAR
    return Word(text, lower, capital, capital or lower in PARTICLES)


_WORDS: Final = WordCache(_word)

_ACCENTS = re.compile(r"(?<!и)[\u0300-\u036f]|(?<=и)(?!\u0306)[\u0300-\u036f]")
_STROKES = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i"})
_WORD_CHARACTER = re.compile(r"\w")
_INVISIBLE_IN_NAMES = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufe00-\ufe0f\ufeff]")
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
    return any(_contained(text, phrases))


def count_contained(text: str, phrases: Collection[str]) -> int:
    """Return how many of some folded phrases stand in a text, as words of their own."""
    return sum(_contained(text, phrases))


def _contained(text: str, phrases: Collection[str]) -> Iterator[bool]:
    # A text is no name, and would push names out of what is kept.
    within = _folded.__wrapped__(checks.text("text", text))
    return (_stands_alone(phrase, within) for phrase in phrases if phrase and phrase in within)


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
    visible = _INVISIBLE_IN_NAMES.sub("", unicodedata.normalize("NFKC", name)).casefold()
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", visible))
    plain = unicodedata.normalize("NFC", bare).translate(_STROKES).translate(_ODD_SPELLINGS)
    return " ".join(plain.split())
