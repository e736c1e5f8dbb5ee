"""A prefix filter: the opening and the gist of a text rule out most pairs before they are compared.

Whatever :func:`~memorata.dedupe.verification.judge` takes for one statement begins with the same letters
(:func:`~memorata.dedupe.wording.same_statement`, :func:`~memorata.dedupe.wording.extends`), and
whatever :func:`~memorata.dedupe.contradiction.contradiction` hints at begins with the same subject. And
no rule accepts more than a few words that only one of the two has. So some bytes per text, which can be kept
of every stored text, rule out all but a few texts before a vector is compared or a row is read: a
filter before the comparison, as the prefix filters of Chaudhuri, Ganti and Kaushik, "A primitive operator for
similarity joins in data cleaning" (ICDE 2006), and the bit masks of Bloom, "Space/time trade-offs in hash
coding with allowable errors" (CACM 1970), are, and like theirs one that misses nothing.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from memorata._frozen import frozen
from memorata.dedupe.contradiction import MINE, PASSED, contradiction, spoken
from memorata.dedupe.cue_words import (
    FILLERS,
    FIRST_PERSON,
    LIGHT,
    NEGATIONS,
    OPPOSITES,
    SLOTS,
    SPEAKER,
    SPEAKERS,
    uncorrected,
)
from memorata.dedupe.wording import (
    SHORTENED,
    Word,
    extends,
    is_plain,
    pieces,
    root,
    same_statement,
    settled,
    spelt,
    wording,
    words_in,
)
from memorata.model import checks
from memorata.model.checks import BoolArray

UintArray = npt.NDArray[np.unsignedinteger[Any]]

LETTERS: Final = 8
"""How many letters of a statement count; a shorter one may be the beginning of any other."""
MAX_COMPARED: Final = 240
"""A text of more characters says more than one thing, and has no subject by which it is compared: of the
turns of chats that long, every second noted contradiction is none."""
BITS: Final = 64
"""How many bits words are spread over."""
_MAX_PIECES: Final = 8_192
"""How many pieces of text the cache holds."""
_MAX_WORDS_PER_SIDE: Final = 3
_MAX_DIFFERING_WORDS: Final = 4
_KINDS: Final = {slot: 1 << place for place, slot in enumerate(sorted(set(SLOTS.values())), 1)}
_FIRST_HAN: Final = "\u3400"
_OPPOSED: Final = 1
"""The kind of texts that hold a word which others exclude."""
_SPACES: Final = {code: " " for code in range(128) if not chr(code).isalpha()}
_ME: Final = "i"
_PRONOUNS: Final = SPEAKER | SPEAKERS
_MY_VERBS: Final = frozenset(map(settled, FIRST_PERSON))
_SLOT_WORDS: Final = frozenset(map(settled, SLOTS))
"""What is left of the words of slots: they say which value differs, and may differ themselves."""
_WORDS_OF_SLOTS: Final = {
    slot: tuple([word for word, other in SLOTS.items() if other == slot]) for slot in _KINDS
}


@frozen
class Opening:
    """What a text begins with."""

    subject: str
    """What it is about, without endings; empty if it says nothing of anything, or too much."""
    letters: str
    """The first `LETTERS` letters of it without fillers, spaces and hyphens; all of them if it has fewer."""


@frozen
class Gist:
    """What a text says, in a few bytes."""

    words: int
    """One of `BITS` bits for each word of its claim, endings aside; words of slots have none."""
    kinds: int
    """One bit for each slot that it fills, and one for any word that has an opposite."""
    spelling: int
    """A checksum of its letters without fillers, spaces and hyphens."""


def opening(text: str) -> Opening:
    """Return how a text opens."""
    return _opening(checks.text("text", text))


def gist(text: str) -> Gist:
    """Return the gist of a text; of two that repeat or contradict each other :func:`are_close` holds."""
    parts = [_PIECES[piece] for piece in pieces(text)]
    words = kinds = 0
    for _, _, bits, slots in parts:
        words |= bits
        kinds |= slots
    # A text of nothing but fillers is compared by those.
    letters = "".join([part[1] for part in parts]) or "".join([part[0] for part in parts])
    return Gist(words, kinds, zlib.crc32(letters.encode("utf-8", "surrogatepass")))


class _Pieces(dict[str, tuple[str, str, int, int]]):
    """What each piece of text adds to a gist, cached until there are too many.

    A dictionary that computes what it misses takes half the time of a least-recently-used cache.
    """

    def __missing__(self, piece: str) -> tuple[str, str, int, int]:
        if len(self) >= _MAX_PIECES:
            self.clear()
        added = self[piece] = _piece_gist(piece)
        return added


def _piece_gist(piece: str) -> tuple[str, str, int, int]:
    """Return what a piece of text adds to a gist: fillers, other letters, its bits as words, and as kinds."""
    fillers = letters = ""
    words = kinds = 0
    # Most pieces are one plain word.
    plain = piece.isascii() and piece.isalpha()
    for text in (piece.lower(),) if plain else [word.text for word in spelt(piece)]:
        if text in FILLERS:
            fillers += text
            continue
        letters += text.replace("-", "")
        subject = spoken(Word(text)).text if text in _PRONOUNS else text
        # Cached with the piece, so not in the cache of its own.
        root = settled.__wrapped__(subject)
        if text not in PASSED and root not in _SLOT_WORDS:
            words |= 1 << zlib.crc32(root.encode("utf-8", "surrogatepass")) % BITS
        if subject in OPPOSITES:
            kinds |= _OPPOSED
        if subject in SLOTS:
            kinds |= _KINDS[SLOTS[subject]]
    return fillers, letters, words, kinds


def are_close(gist_: Gist, words: UintArray, kinds: UintArray, spellings: UintArray) -> BoolArray:
    """Return the mask of the texts, by their gists, that one text may repeat or contradict.

    Each rule accepts few words that only one of the two has, of those that have a bit:

    - the same slots: three on either side;
    - words that have opposites: four in all;
    - what is denied, or goes on: three on one side, and none on the other;
    - the same letters: any.
    """
    ours = np.uint64(gist_.words)
    close: BoolArray = spellings == gist_.spelling
    # Of most, more than any rule accepts; one look is enough for those.
    if not (np.bitwise_count(words ^ ours) <= 2 * _MAX_WORDS_PER_SIDE).any():
        return close
    own_only, theirs_only = np.bitwise_count(ours & ~words), np.bitwise_count(words & ~ours)
    larger_side, total = np.maximum(own_only, theirs_only), own_only + theirs_only
    shared = kinds & kinds.dtype.type(gist_.kinds)
    close |= (larger_side <= _MAX_WORDS_PER_SIDE) & (
        (larger_side == total) | (shared & ~kinds.dtype.type(_OPPOSED) > 0)
    )
    close |= (total <= _MAX_DIFFERING_WORDS) & (shared & _OPPOSED > 0)
    return close


def concern(older: str, newer: str) -> bool:
    """Return whether a text could repeat or contradict an older one, whatever their vectors say."""
    subject = opening(older).subject
    return (
        (bool(subject) and opening(newer).subject == subject and _contradict(older, newer))
        or same_statement(older, newer)
        or extends(older, newer)
        or extends(newer, older)
    )


def _contradict(older: str, newer: str) -> bool:
    # Loaded on demand: the words of claims take a while to list.
    from memorata.dedupe.contradiction_score import assess

    return (
        assess(older, newer).hint is not None
        or contradiction(older, newer) is not None
        or contradiction(newer, older) is not None
    )


def concerned(newer: str, alike: Sequence[str], about: Sequence[str]) -> list[str]:
    """Return those of some older texts for which :func:`concern` may hold, and few others.

    Some begin with the same letters, others only with the same subject, and cannot be repeated. What shares
    no other word with a text does not contradict it, unless a word of both names an attribute or excludes
    another. That is decided without reading the older texts word by word.
    """
    from memorata.dedupe.contradiction_signs import may_contradict, signs

    older = [*alike, *about]
    telling = _filter(newer) if older else None
    if telling is not None:
        older = [text for text in alike if telling.may_concern(text, may_repeat=True)]
        older += [text for text in about if telling.may_concern(text, may_repeat=False)]
    if not older:
        return []
    gists = [gist(text) for text in older]
    close = are_close(
        gist(newer),
        np.array([older_gist.words for older_gist in gists], np.uint64),
        np.array([older_gist.kinds for older_gist in gists], np.uint64),
        np.array([older_gist.spelling for older_gist in gists], np.uint64),
    ).tolist()
    return [
        text
        for text, is_close in zip(older, close, strict=True)
        if is_close or may_contradict(signs(text), signs(newer))
    ]


@frozen
class _Filter:
    """What another text of plain letters has to hold to concern a text that begins like it."""

    keywords: list[str]
    """Words of the same attributes, words that exclude one of it, pronouns: one of them is enough."""
    shared: list[str]
    """The beginnings of words that both may have: what contradicts it by no other word holds one of these."""
    claim: list[str]
    """The beginnings of words that carry its claim, but the subject: what says the same has most of them."""
    letters: str
    """Its letters without fillers; empty if it is not plain, and only `keywords` and `shared` count."""

    def may_concern(self, text: str, *, may_repeat: bool) -> bool:
        """Return whether a text may contradict it or, if it begins with the same letters, repeat it."""
        if not text.isascii():
            return True
        spaced = _spaced(text)
        holds = spaced.__contains__
        if any(map(holds, self.keywords)):
            return True
        shares = any(map(holds, self.shared))
        if not self.letters or not is_plain(text):
            return shares or may_repeat
        if not shares and not may_repeat:
            return False
        return (
            sum(map(holds, self.claim)) >= len(self.claim) - _MAX_WORDS_PER_SIDE
            or shares
            or (may_repeat and _core_letters(spaced) == self.letters)
        )


def _filter(text: str) -> _Filter | None:
    """Return the filter that decides whether other texts of the same subject may concern this one.

    None if they need hold no part of it, or may write it in other ways, as numbers are.
    """
    from memorata.dedupe.contradiction_signs import companions, signs

    own_signs = signs(text)
    words = companions(own_signs.bits) if text.isascii() else None
    if words is None:
        return None
    plain, subject = is_plain(text), opening(text).subject
    keywords, pronouns = [*_as_spaced(words)], 0
    shared = set(map(_start, own_signs.content))
    claim: set[str] = set()
    past_subject = False
    for word in pieces(text.lower()) if plain else [word.text for word in wording(text).words]:
        part = _part(word)
        keywords += part.keywords
        pronouns += part.is_pronoun
        if part.settled == subject and not past_subject:
            # Said once more, it is what is said of itself: "Anna is no Anna".
            past_subject = True
        elif part.starts:
            shared.update(part.starts)
            if part.carries:
                claim.update(part.starts[:1])
    if "" in shared:
        return None
    if pronouns > (subject == _ME or subject.startswith("my ")):
        keywords += [_spaced(pronoun) for pronoun in _PRONOUNS if pronoun.isascii()]
    letters = _core_letters(_spaced(text)) if plain else ""
    return _Filter(keywords, [*shared], [*claim], letters)


class _Part(NamedTuple):
    """What a word adds to a filter."""

    settled: str
    starts: tuple[str, ...]
    """How it may begin in a spaced text; none if it carries no claim."""
    carries: bool
    """Whether a text that says the same has it too, but for a few such words."""
    keywords: tuple[str, ...]
    """Words of the same slot, and words that exclude it."""
    is_pronoun: bool


@lru_cache(maxsize=8_192)
def _part(word: str) -> _Part:
    keywords = _WORDS_OF_SLOTS.get(SLOTS.get(word, ""), ())
    if word not in FILLERS:
        keywords = (*keywords, *OPPOSITES.get(word, ()))
    keywords = tuple([_spaced(keyword) for keyword in keywords if keyword.isascii()])
    settled_root = settled.__wrapped__(word)
    if word in LIGHT or word in NEGATIONS:
        return _Part(settled_root, (), False, keywords, False)
    is_pronoun, short = word in _PRONOUNS, root(Word(word))
    carries = not is_pronoun and word not in PASSED and settled_root not in _SLOT_WORDS
    starts = tuple(map(_start, (short, *SHORTENED.get(short, ()))))
    return _Part(settled_root, starts, carries, keywords, is_pronoun)


@lru_cache(maxsize=256)
def _as_spaced(words: Sequence[str]) -> list[str]:
    """Return words as they stand in a spaced text; one that ends in ``*`` may go on."""
    return [_start(word[:-1]) if word[-1] == "*" else _spaced(word) for word in words]


def _start(word: str) -> str:
    """Return how whatever goes on from a word begins in a spaced text; nothing if it has no letters."""
    return f" {word}" if word.isalpha() else _spaced(word).rstrip()


def _core_letters(spaced: str) -> str:
    """Return the letters of a plain text without fillers; all of them, if there are no others."""
    words = spaced.split()
    return "".join([word for word in words if word not in FILLERS]) or "".join(words)


def _spaced(text: str) -> str:
    """Return a plain text with a space before and after each word, and whatever is no letter as spaces."""
    return f" {text.lower().translate(_SPACES)} "


def _han_subject(word: Word) -> Word:
    """Return the subject of a clause that is written without spaces: its first two characters."""
    return spoken(Word("i")) if word.text[0] == "我" else Word(word.text[:2])


@lru_cache(maxsize=64)
def _opening(text: str) -> Opening:
    # Kept for a moment: what is looked for now is written down next.
    subject = whose = letters = fillers = ""
    for word in words_in(text):
        if not letters and word.text in FILLERS:
            fillers += word.text
        elif len(letters) < LETTERS and word.text not in FILLERS:
            letters += word.text.replace("-", "")
        if not subject and word.text not in PASSED:
            first = _han_subject(word) if word.text[0] >= _FIRST_HAN else spoken(word)
            if first is MINE and not whose:
                whose = "my "
            else:
                subject = whose + settled(first.text)
                if subject in _MY_VERBS:
                    subject = _ME
        if subject and len(letters) >= LETTERS:
            break
    statement = uncorrected(text)
    if len(text) > MAX_COMPARED:
        subject = ""
    elif statement != text:
        subject = _opening(statement).subject
    # A text of nothing but fillers is compared by those.
    return Opening(subject, (letters or fillers)[:LETTERS])


_PIECES: Final = _Pieces()
