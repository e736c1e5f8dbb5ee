"""Texts as models take them: a model's own tokens, the marks around them, and overlapping passages.

A model reads a bounded number of tokens. What lies beyond is read in further passages, each repeating the end
of the one before it, so that a sentence on a border is whole in one of the two. They are cut between words
wherever there is a word boundary to cut at.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence, Sized
from typing import Final, Protocol, TypeVar

import numpy as np

from memorata.embed.subwords import SubwordReader, unigram_reader
from memorata.model.checks import FloatArray, IntArray, whole
from memorata.model.errors import InvalidArgument, ModelCorrupt


class Vocabulary(Protocol):
    """The tokens of a model; `special_ids` stand for no text."""

    size: int
    special_ids: frozenset[int]
    special_count: int
    """How many special tokens stand around a text."""

    def text(self, number: int) -> str:
        """Return the text of a token, or nothing."""
        ...

    def rows(self, texts: Sequence[str], *, special: bool) -> list[list[int]]:
        """Return the tokens of each text."""
        ...

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return where in a text each of its tokens begins and ends."""
        ...


class SubwordVocabulary:
    """The pieces of a model of SentencePiece; the first three are the unknown piece and two marks."""

    special_ids = frozenset({0, 1, 2})
    special_count = 2

    def __init__(self, reader: SubwordReader, texts: Sequence[str]) -> None:
        self._reader, self._texts = reader, texts
        self.size = len(texts)

    def text(self, number: int) -> str:
        """Return the text of a token, or nothing."""
        try:
            return self._texts[number]
        except LookupError:
            return ""

    def rows(self, texts: Sequence[str], *, special: bool) -> list[list[int]]:
        """Return the tokens of each text."""
        rows = map(self._reader.ids, texts)
        return [[1, *row, 2] for row in rows] if special else list(rows)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return where in a text each of its tokens begins and ends; inside a word, evenly spread."""
        spans = []
        for start, end, ids in self._reader.spans(text):
            count, length = len(ids), end - start
            spans += [
                (start + length * at // count, start + length * (at + 1) // count) for at in range(count)
            ]
        return spans


OVERLAP = 1 / 8
"""The part of a passage that the next one repeats: some 60 of 512 tokens, two or three sentences."""
_Read = TypeVar("_Read", bound=Sized)


class Tokeniser:
    """The tokeniser of a model: its vocabulary, with or without `special` tokens around a text."""

    def __init__(self, vocabulary: Vocabulary, *, special: bool = True) -> None:
        self._vocabulary = vocabulary
        self._special = special
        self.size, self.special_ids = self._vocabulary.size, self._vocabulary.special_ids
        self.special_count = self._vocabulary.special_count if special else 0
        self.text = self._vocabulary.text

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each text, special tokens included."""
        return self._vocabulary.rows(texts, special=self._special)

    def passages(
        self, text: str, size: int, most: int, read: Callable[[list[str]], list[_Read]]
    ) -> tuple[list[str], list[_Read]]:
        """Return overlapping parts of `text`, and each as `read` reads it, in at most `most` tokens.

        A part should have `size` tokens of the text; `read` makes rows of tokens from parts, with whatever
        stands around them.
        """
        texts: list[str] = []
        rows: list[_Read] = []
        parts = self.cut(text, size, int(size * OVERLAP))
        for part, row in zip(parts, read(parts), strict=True):
            if len(row) <= most or size == 1:
                texts.append(part)
                rows.append(row)
            else:
                # A word cut in two may have more tokens than it had whole; its parts are cut smaller.
                smaller, smaller_rows = self.passages(part, size // 2, most, read)
                texts.extend(smaller)
                rows.extend(smaller_rows)
        return texts, rows

    def cut(self, text: str, size: int, overlap: int) -> list[str]:
        """Return overlapping parts of `text`, of about `size` tokens, cut between words where possible."""
        spans = self._vocabulary.spans(text)
        # What a tokeniser calls a word may be less than one ("w" and "12" of "w12"); spaces tell better. Some
        # tokenisers count the space before a word to its first token.
        first = [
            start == 0 or text[start - 1].isspace() or text[start : start + 1].isspace() for start, _ in spans
        ]
        word_starts = np.flatnonzero(first)
        ranges = windows(len(spans), word_starts, size, overlap)
        return [text[spans[start][0] : spans[end - 1][1]] for start, end in ranges]


def windows(count: int, word_starts: IntArray, size: int, overlap: int) -> list[tuple[int, int]]:
    """Return half-open ranges that cover ``0..count`` with at most `size` units (tokens or characters) each.

    A window ends at the last of the ascending `word_starts` in its second half, and the next begins at the
    first of them within the overlap, which is at most half of `size`; where there is none, the cut goes
    through a word.
    """
    whole("count", count)
    whole("size", size, 1)
    if whole("overlap", overlap) > size // 2:
        raise InvalidArgument("overlap", overlap, f"at most half of the window's size ({size})")
    ranges = []
    start = 0
    while start + size < count:
        before = int(np.searchsorted(word_starts, start + size, side="right")) - 1
        end = start + size
        if before >= 0 and word_starts[before] > start + size // 2:
            end = int(word_starts[before])
        ranges.append((start, end))
        after = int(np.searchsorted(word_starts, end - overlap))
        start = end - overlap
        if after < len(word_starts) and word_starts[after] <= end:
            start = int(word_starts[after])
    if count:
        ranges.append((start, count))
    return ranges


def sentencepiece_tokeniser(content: bytes) -> tuple[Tokeniser, FloatArray]:
    """Return the tokeniser of a unigram model of SentencePiece, with marks of begin and end, and its scores.

    A score is the logarithm of how likely a piece is. Of the protocol buffer the pieces are read, which come
    first: text 1, score 2, and type 3 of those that stand for no text.
    """
    listed = _PIECE.findall(content)
    end = sum(9 + len(text) + 2 * len(kind) for text, _, kind in listed)
    if len(listed) <= _MARKS or content[end : end + 1] not in (b"", _SETTINGS):
        raise ModelCorrupt("this is no model of SentencePiece: it does not begin with pieces")
    try:
        texts = [b"" if kind else text for text, _, kind in listed]
        pieces = b"\n".join(texts).decode().split("\n")
    except UnicodeDecodeError as error:
        raise ModelCorrupt(f"this is no model of SentencePiece: {error!r}") from error
    scores = np.frombuffer(b"".join([score for _, score, _ in listed]), "<f4").astype(np.float64)
    reader = unigram_reader(pieces, scores.tolist())
    return Tokeniser(SubwordVocabulary(reader, pieces)), scores


_PIECE: Final = re.compile(
    rb"\n[\x07-\x7f]\n[\x00-\x7f]([^\x15\n]*)\x15(.{4})(?:\x18([\x02-\x06]))?", re.DOTALL
)
"""One piece, the plain ones without a type: no text of a piece has the bytes 10 and 21 in it."""
_SETTINGS: Final = b"\x12"
"""What begins the first field after the pieces."""
_MARKS: Final = 3


def character_passages(text: str, size: int, overlap: int) -> list[str]:
    """Return passages of at most `size` characters, for models whose tokens are not known here."""
    if len(text) <= size:
        return [text]
    spaces = np.fromiter((character.isspace() for character in text), dtype=np.bool_, count=len(text))
    word_starts = np.flatnonzero(spaces[:-1] & ~spaces[1:]) + 1
    return [text[start:end] for start, end in windows(len(text), word_starts, size, overlap)]
