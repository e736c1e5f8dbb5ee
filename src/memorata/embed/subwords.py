"""Texts as the tokens of a vocabulary: WordPiece, byte pairs, or the fewest pieces a word can be cut into.

These are the three ways in which the models of the catalogue cut words, read from the same ``tokenizer.json``
that Hugging Face's ``tokenizers`` reads, with the same result (``tests/embed/test_subwords.py`` compares the
two on texts in every script). They are written here because that package brings a client of the model hub and
a dozen more packages along, 45 MB that a plain install has no other use for. Words repeat, so the tokens of
the words met last are kept, and most of a text is looked up.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any, Final

from memorata.text.tokens import WordCache

Ids = tuple[int, ...]
_SPACE: Final = " \t\n\r\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_IDEOGRAPHS: Final = (
    "\u4e00-\u9fff\u3400-\u4dbf\U00020000-\U0002a6df\U0002a700-\U0002b73f\U0002b740-\U0002b81f"
    "\U0002b920-\U0002ceaf\uf900-\ufaff\U0002f800-\U0002fa1f"
)
_REMOVED: Final = ("Cc", "Cf", "Co", "Cs")
_ASCII_PUNCTUATION: Final = "!-/:-@[-`{-~"
# What canonical decomposition turns into one of those.
_DECOMPOSED_PUNCTUATION: Final = "\u1fef\u2260\u226e\u226f"


class SubwordReader:
    """Reads texts as tokens: `pattern` is what a word is, `read` gives the tokens of one.

    `added` tokens stand for themselves wherever a text has them: ``[CLS]`` and its like.
    """

    def __init__(
        self, pattern: re.Pattern[str], read: Callable[[str], Ids], added: Mapping[str, int]
    ) -> None:
        self._pattern = pattern
        self._words = WordCache(read)
        self._added = dict(added)
        longest_first = sorted(self._added, key=len, reverse=True)
        self._splits = re.compile("|".join(map(re.escape, longest_first))) if self._added else None

    def ids(self, text: str) -> list[int]:
        """Return the tokens of a text."""
        if self._splits is not None and self._splits.search(text):
            return [number for _, _, ids in self.spans(text) for number in ids]
        words = self._words
        ids: list[int] = []
        for word in self._pattern.findall(text):
            ids += words[word]
        return ids

    def spans(self, text: str) -> Iterator[tuple[int, int, Ids]]:
        """Yield the words of a text: where each begins and ends, and its tokens."""
        start = 0
        for match in self._splits.finditer(text) if self._splits is not None else ():
            yield from self._between(text, start, match.start())
            yield match.start(), match.end(), (self._added[match[0]],)
            start = match.end()
        yield from self._between(text, start, len(text))

    def _between(self, text: str, start: int, end: int) -> Iterator[tuple[int, int, Ids]]:
        # Cut out first: to the pattern, what follows a special token begins a text.
        for match in self._pattern.finditer(text[start:end]):
            yield start + match.start(), start + match.end(), self._words[match[0]]


def reader_of(described: Mapping[str, Any]) -> SubwordReader | None:
    """Return the reader that a ``tokenizer.json`` describes; None for one of another kind."""
    model, before = described["model"], described.get("pre_tokenizer") or {}
    for token in described["added_tokens"]:
        # <mask> of byte-pair models takes the space before it along; it occurs in no text.
        if (token.get("lstrip") or token.get("single_word")) and token["content"] != "<mask>":
            return None
    added = {token["content"]: token["id"] for token in described["added_tokens"]}
    kinds = (model.get("type"), before.get("type"))
    if kinds == ("WordPiece", "BertPreTokenizer") and _is_bert(described.get("normalizer")):
        normalizer = described["normalizer"]
        return _word_pieces(model, added, lowercase=normalizer["lowercase"])
    bytewise = kinds == ("BPE", "ByteLevel") and not described.get("normalizer")
    if bytewise and not before.get("add_prefix_space") and not model.get("dropout"):
        return _byte_pairs(model, added)
    return None


def _is_bert(normalizer: Mapping[str, Any] | None) -> bool:
    """Whether texts are normalised as BERT's are, accents gone where letters become small."""
    expected = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True}
    if normalizer is None or any(normalizer.get(key) != value for key, value in expected.items()):
        return False
    return normalizer.get("strip_accents") in (None, normalizer.get("lowercase"))


def _word_pieces(model: Mapping[str, Any], added: Mapping[str, int], *, lowercase: bool) -> SubwordReader:
    """Return BERT's reader: the longest piece that a word begins with, then the longest that follows.

    Y. Wu et al., "Google's neural machine translation system", 2016, section 4.1.
    """
    vocabulary, prefix = model["vocab"], model["continuing_subword_prefix"]
    unknown: Ids = (vocabulary[model["unk_token"]],)
    longest, max_letters = max(map(len, vocabulary)), model["max_input_chars_per_word"]

    def read(word: str) -> Ids:
        word = _bert_word(word, lowercase=lowercase)
        if len(word) > max_letters:
            return unknown
        ids, start = [], 0
        while start < len(word):
            head = prefix if start else ""
            for end in range(min(len(word), start + longest), start, -1):
                number = vocabulary.get(head + word[start:end])
                if number is not None:
                    break
            else:
                return unknown
            ids.append(number)
            start = end
        return tuple(ids)

    alone = _IDEOGRAPHS + _ASCII_PUNCTUATION.replace("[", r"\[") + _DECOMPOSED_PUNCTUATION + _class("P")
    return SubwordReader(re.compile(f"[{alone}]|[^{_SPACE}{alone}]+"), read, added)


def _bert_word(word: str, *, lowercase: bool) -> str:
    """Return a word without control characters and, in small letters, without accents."""
    if word.isascii() and word.isprintable():
        return word.lower() if lowercase else word
    category = unicodedata.category
    cleaned = "".join(letter for letter in word if letter != "\ufffd" and category(letter) not in _REMOVED)
    if not lowercase:
        return cleaned
    bare = (letter for letter in unicodedata.normalize("NFD", cleaned) if category(letter) != "Mn")
    # One by one: a sigma at the end of a word is a sigma like any other.
    return "".join(letter.lower() for letter in bare)


def _byte_pairs(model: Mapping[str, Any], added: Mapping[str, int]) -> SubwordReader:
    """Return GPT-2's reader: the bytes of a word, of which the pair that was merged first is merged first.

    R. Sennrich et al., "Neural machine translation of rare words with subword units", 2016.
    """
    vocabulary = model["vocab"]
    pairs = (pair.split(" ") if isinstance(pair, str) else pair for pair in model["merges"])
    ranks = {(first, second): rank for rank, (first, second) in enumerate(pairs)}
    letters = _byte_letters()
    last = len(ranks)

    def read(word: str) -> Ids:
        parts = [letters[byte] for byte in word.encode("utf-8")]
        while len(parts) > 1:
            rank, at = min((ranks.get(pair, last), at) for at, pair in enumerate(pairwise(parts)))
            if rank == last:
                break
            first, second = parts[at], parts[at + 1]
            merged, position = [], 0
            while position < len(parts):
                if parts[position] == first and parts[position + 1 : position + 2] == [second]:
                    merged.append(first + second)
                    position += 2
                else:
                    merged.append(parts[position])
                    position += 1
            parts = merged
        return tuple(vocabulary[part] for part in parts)

    other_numbers = _class("Nl", "No")
    letter, number = rf"[^\W\d_{other_numbers}]", rf"[\d{other_numbers}]"
    space = f"[{_SPACE}\x0b\x0c\x85]"
    mark = rf"(?:(?!{letter}|{number}|{space}).)"
    return SubwordReader(
        re.compile(
            rf"'s|'t|'re|'ve|'m|'ll|'d| ?{letter}+| ?{number}+| ?{mark}+|{space}+(?!(?!{space}).)|{space}+",
            re.DOTALL,
        ),
        read,
        added,
    )


def _byte_letters() -> list[str]:
    """Return the letter that stands for each byte: itself where it can be seen, else one beyond them."""
    visible = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = iter(range(256, 512))
    return [chr(byte) if byte in visible else chr(next(hidden)) for byte in range(256)]


def piece_reader(pieces: Sequence[str], word_start: str) -> SubwordReader:
    """Return the reader that cuts a word into as few `pieces` as can be.

    Characters that no piece has are the token after the last piece, and do not make their word unknown, which
    in some scripts is a whole sentence. Of two ways with as many pieces the one with the longer last piece is
    taken.
    """
    read = _cheapest_pieces(_numbers(pieces), [1.0] * len(pieces), len(pieces), 100.0)
    pattern = re.compile(rf"[\w{_class('M', 'Pc')}]+")
    return SubwordReader(pattern, lambda word: read(word_start + word), {})


def unigram_reader(pieces: Sequence[str], scores: Sequence[float], word_start: str) -> SubwordReader:
    """Return the reader that cuts a word into its likeliest pieces, which have log probabilities.

    That is a unigram model (Kudo, "Subword regularization", ACL 2018) as SentencePiece reads it: characters
    in their compatible form, those that cannot be seen left out, one unknown token, the first, for characters
    without a piece, ten times less likely (by its logarithm) than the least likely piece.
    """
    costs = [-score for score in scores]
    read = _cheapest_pieces(_numbers(pieces), costs, 0, 10.0 + max(costs, default=0.0))

    def normalised(word: str) -> Ids:
        if not word.isascii():
            word = unicodedata.normalize("NFKC", word)
        if not word.isprintable():
            word = "".join(
                letter for letter in word if letter.isspace() or unicodedata.category(letter)[0] != "C"
            )
        parts = word.split()
        return read("".join(word_start + part for part in parts)) if parts else ()

    return SubwordReader(re.compile(r"\S+"), normalised, {})


def _numbers(pieces: Sequence[str]) -> dict[str, int]:
    """Return the number of each piece; an empty one stands for no text."""
    numbers = dict(zip(pieces, range(len(pieces)), strict=True))
    numbers.pop("", None)
    return numbers


def _cheapest_pieces(
    numbers: Mapping[str, int], costs: Sequence[float], unknown: int, unknown_cost: float
) -> Callable[[str], Ids]:
    """Return what cuts a word into pieces of the least total cost (Viterbi); unknown neighbours are one."""
    longest = max(map(len, numbers), default=1)

    def read(word: str) -> Ids:
        best, starts, tokens = [0.0], [0], [unknown]
        for end in range(1, len(word) + 1):
            least, begin, token = math.inf, end - 1, unknown
            for start in range(max(0, end - longest), end):
                number = numbers.get(word[start:end])
                if number is not None and best[start] + costs[number] < least:
                    least, begin, token = best[start] + costs[number], start, number
            # An unknown character is worth it only where there is no other way; of equals the piece stays.
            if best[end - 1] + unknown_cost < least:
                least, begin, token = best[end - 1] + unknown_cost, end - 1, unknown
            best.append(least)
            starts.append(begin)
            tokens.append(token)
        ids: list[int] = []
        end = len(word)
        while end:
            if tokens[end] != unknown or ids[-1:] != [unknown]:
                ids.append(tokens[end])
            end = starts[end]
        return tuple(reversed(ids))

    return read


@cache
def _class(*categories: str) -> str:
    """Return the characters of some categories of Unicode, as the inside of a character class."""
    ranges: list[list[int]] = []
    for code in _characters(categories):
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"{re.escape(chr(first))}-{re.escape(chr(last))}" for first, last in ranges)


def _characters(categories: tuple[str, ...]) -> Iterator[int]:
    # Beyond these planes are ideographs and private characters only.
    for plane in (range(0x20000), range(0xE0000, 0xE0200)):
        for code, category in zip(plane, map(unicodedata.category, map(chr, plane)), strict=True):
            if category.startswith(categories):
                yield code
