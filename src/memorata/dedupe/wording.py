"""The wording of a statement, read for comparison: its words, numbers, negations and what carries the claim.

Two texts of nearly the same letters, and of nearly the same vector, can say opposite things: "costs 30" and
"costs 40", "Anna told Bob" and "Bob told Anna", "likes" and "does not like". So whatever is close by cosine
and Jaccard is also read word by word before it counts as a duplicate; de Marneffe, Rafferty and Manning,
"Finding contradictions in text" (ACL 2008), list the same signs.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

from memorata._frozen import frozen
from memorata.dedupe.fingerprint import fingerprint, folded
from memorata.model import checks


def word_set(words: str) -> frozenset[str]:
    """Return the words of a list."""
    return frozenset(words.split())


_LISTS: Final = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
LIGHT, FILLERS, QUALIFIERS, NEGATIONS, CHANGES, ENDINGS = (
    word_set(_LISTS[name]) for name in ("light", "fillers", "qualifiers", "negations", "changes", "endings")
)
_WORD: Final = (
    r"(?<![\w.+-])[\w.+-]++@[\w-]+(?:\.[\w-]+)+|\d+(?:[.,:/-]\d+)*%?"
    r"|(?:[^\W\d_]|[{marks}])+(?:['’-](?:[^\W_]|[{marks}])+)*\d*|\S"
)
"""A piece of a text, given the marks that belong to its letters. An address is tried where a run of its
characters begins, and nowhere inside: each place of a long run would read the rest of it."""
_ASCII_WORD: Final = re.compile(r"\d+(?:[.,:/-]\d+)*%?|[A-Za-z]+(?:['-][A-Za-z0-9]+)*\d*|\S")
"""The same of a text of ASCII without addresses, in half the time."""
_NOT_PLAIN: Final = re.compile(r"[^A-Za-z\s.,;:!?()\"]")
_MARKS: Final = str.maketrans(dict.fromkeys('.,;:!?()"', " "))
_SIGN: Final = re.compile(r"[^\w\s!-~]")
_JOINERS: Final = "\u200c\u200d"
"""What keeps letters apart or together inside a word of Persian or Hindi."""
_CONTRACTED: Final = re.compile(r"(?<=\w)n['’]t$")
_CONTRACTED_VERBS: Final = {"ca": "can", "wo": "will", "sha": "shall"}
_SHORT_VERB: Final = re.compile(
    r"(i|you|we|they|he|she|it|that|there|here|what|who|where|how)'(m|re|ve|ll|s)"
)
_VERBS: Final = {"m": "am", "re": "are", "ve": "have", "ll": "will", "s": "is"}
"""Verbs as they are written behind a pronoun: "I'm" and "I am" are the same words."""
_MIN_STEM_LENGTH: Final = 3
_ENDING_SIZES: Final = tuple(sorted({len(ending) for ending in ENDINGS}, reverse=True))
_MAX_EXTENSION_WORDS: Final = 3
_MAX_STATEMENT: Final = 2_000
"""The length from which on a text is compared as it is written."""
_TURNS: Final = NEGATIONS | CHANGES | QUALIFIERS
"""Words with which a text that goes on says something else."""


@frozen
class Word:
    """One word: as compared, and whether it was written as a name (a capital letter, or a digit in it)."""

    text: str
    name: bool = False

    @property
    def number(self) -> bool:
        """Whether it is a number."""
        return self.text[:1].isdigit()


@frozen
class Wording:
    """What a statement is made of.

    - `words`: its words, folded, in order, without punctuation.
    - `claim`: those that carry the claim: neither light, nor negations.
    - `numbers`: the numbers among them, in order.
    - `negated`: whether an odd number of negations turns the claim round.
    """

    words: tuple[Word, ...]
    claim: tuple[Word, ...]
    numbers: tuple[str, ...]
    negated: bool


def wording(text: str) -> Wording:
    """Return the wording of a text."""
    return _wording(checks.text("text", text))


def pieces(text: str) -> list[str]:
    """Return the words, numbers, addresses and signs of a text, as written; marks may be among them."""
    if _NOT_PLAIN.search(checks.text("text", text)) is None:
        return text.translate(_MARKS).split()
    pattern, readable = _readable(text)
    return pattern.findall(readable)


def _readable(text: str) -> tuple[re.Pattern[str], str]:
    """Return what cuts a text into pieces, and the text as it is read: in the form that is compared.

    Python counts no vowel sign and no accent that stands by itself to the letters, and in Hindi or Thai these
    make another word.
    """
    if text.isascii():
        return _pattern("") if "@" in text else _ASCII_WORD, text
    readable = unicodedata.normalize("NFKC", text)
    signs = set(_SIGN.findall(readable))
    marks = [sign for sign in signs if sign in _JOINERS or unicodedata.category(sign)[0] == "M"]
    return _pattern("".join(sorted(marks))), readable


@lru_cache(maxsize=256)
def _pattern(marks: str) -> re.Pattern[str]:
    # Without any, a class that holds nothing else than is there anyway.
    return re.compile(_WORD.replace("{marks}", re.escape(marks) or "a"))


@lru_cache(maxsize=1_024)
def _wording(text: str) -> Wording:
    # Kept for a while: one new text is compared with many, and the same candidates come up again.
    words = tuple([word for piece in pieces(text) for word in normalise_token(piece)])
    claim = tuple(word for word in words if word.text not in LIGHT and word.text not in NEGATIONS)
    negations = sum(word.text in NEGATIONS for word in words)
    numbers = tuple(word.text for word in claim if word.number)
    return Wording(words, claim, numbers, negations % 2 == 1)


@lru_cache(maxsize=8_192)
def normalise_token(raw: str) -> tuple[Word, ...]:
    """Return what is compared of a piece of text: one word, mostly; two for a contraction, none for a dot."""
    if raw.isascii() and raw.isalpha():
        return (Word(raw.lower(), raw[0].isupper()),)
    if not any(character.isalnum() for character in raw):
        # A lone sign is punctuation, but "+", "€" and their like say something beside a number.
        return (Word(raw),) if raw in "+=<>€$£%#&@" else ()
    key = folded(raw).replace("’", "'").replace("ё", "е")
    if _CONTRACTED.search(key):
        verb = _CONTRACTED.sub("", key)
        return Word(_CONTRACTED_VERBS.get(verb, verb)), Word("not")
    if key.startswith("j'"):
        return Word("je"), Word(key[2:])
    if (short := _SHORT_VERB.fullmatch(key)) is not None:
        return Word(short[1]), Word(_VERBS[short[2]])
    return (Word(key.removesuffix("'s"), raw[:1].isupper() or any(map(str.isdigit, raw))),)


def same_statement(a: str, b: str) -> bool:
    """Return whether two texts are one statement, but for the words that can be left out of any.

    Case, spacing, punctuation, hyphens, articles and fillers ("really", "also") do not count; every other
    word, its ending, its place and every number does. Paraphrases are not recognised.

    >>> same_statement("Anna really likes the green tea!", "anna likes green-tea")
    True
    >>> same_statement("The rent is 900 euros.", "The rent is 950 euros.")
    False
    >>> same_statement("Anna told Bob.", "Bob told Anna."), same_statement("It is on.", "It is not on.")
    (False, False)
    """
    first = tuple([word.text for word in _core(checks.text("a", a))])
    second = tuple([word.text for word in _core(checks.text("b", b))])
    return first == second or spelling(first) == spelling(second)


def spelling(words: Sequence[str]) -> tuple[str, ...]:
    """Return what the words of one statement have in common, however they are joined: letters, and numbers.

    "Data base" and "database" are one word; but "1 23" and "12 3" are not the same numbers.
    """
    return "".join(words).replace("-", ""), *[word for word in words if word[:1].isdigit()]


@lru_cache(maxsize=2_048)
def statement_key(text: str) -> str:
    """Return 16 hexadecimal digits, equal for texts of which :func:`same_statement` is true.

    Texts without words, and long ones, have the key of their normal form: equal for the same words alone.
    """
    words = _core_words(text) if len(text) <= _MAX_STATEMENT else []
    if not words:
        return fingerprint(text)[:16]
    spelt = "\x1f".join(spelling(words)).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(spelt, digest_size=8).hexdigest()


def _core_words(text: str) -> list[str]:
    """Return the words of :func:`_core`, without reading what they claim."""
    if _NOT_PLAIN.search(text) is None:
        words = text.lower().translate(_MARKS).split()
    else:
        words = [word.text for piece in pieces(text) for word in normalise_token(piece)]
    return [word for word in words if word not in FILLERS] or words


def shortenings(text: str) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the words of a text without fillers, and the words of all texts that it :func:`extends`."""
    core = _core(checks.text("text", text))
    words = tuple([word.text for word in core])
    shorter = []
    for size in range(len(core) - 1, max(0, len(core) - 1 - _MAX_EXTENSION_WORDS), -1):
        if core[size].number or core[size].text in _TURNS:
            break
        shorter.append(words[:size])
    return words, shorter


def extends(longer: str, shorter: str) -> bool:
    """Return whether one text says what another one says, and goes on for up to three plain words.

    >>> extends("The user prefers dark mode in editors.", "User prefers dark mode.")
    True
    >>> extends("Anna works at Acme until May.", "Anna works at Acme.")
    False
    """
    words = tuple([word.text for word in _core(checks.text("shorter", shorter))])
    return words in shortenings(checks.text("longer", longer))[1]


def _core(text: str) -> list[Word]:
    """Return the words of a text without fillers; all of them, if there is nothing else."""
    words = wording(text).words
    return [word for word in words if word.text not in FILLERS] or list(words)


@lru_cache(maxsize=8_192)
def stem_of(word: str) -> str:
    """Return a word without its longest known ending."""
    return word[: _stem_end(word, len(word))]


def _stem_end(word: str, end: int) -> int:
    """Return where the longest known ending of a word begins that is cut off at `end`."""
    for size in _ENDING_SIZES:
        if end - size >= _MIN_STEM_LENGTH and word[end - size : end] in ENDINGS:
            return end - size
    return end
