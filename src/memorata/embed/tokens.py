"""Texts as models take them: whole characters, a model's own tokens, and overlapping passages.

A model reads a bounded number of tokens. What lies beyond is read in further passages, each repeating the end
of the one before it, so that a sentence on a border is whole in one of the two. They are cut between words
wherever there is a word boundary to cut at.

A thin layer over Hugging Face's ``tokenizers``, imported when the first tokeniser is loaded. The truncation
and padding that a ``tokenizer.json`` may ask for are switched off: cutting and padding are decided here, in
the open.
"""

from __future__ import annotations

import json
import struct
from base64 import b64encode
from collections.abc import Callable, Sequence, Sized
from typing import Any, Final, TypeVar

import numpy as np

from memorata._frozen import frozen
from memorata.model.checks import IntArray, whole
from memorata.model.checks import text as checked
from memorata.model.errors import EmbedderError, InvalidArgument, MissingExtra, ModelCorrupt

OVERLAP = 1 / 8
"""The part of a passage that the next one repeats: some 60 of 512 tokens, two or three sentences."""
_Read = TypeVar("_Read", bound=Sized)


@frozen
class PairTokens:
    """Two texts as one row of tokens."""

    ids: list[int]
    type_ids: list[int]
    """0 for a token of the first text, 1 for one of the second."""

    def __len__(self) -> int:
        return len(self.ids)


class Tokeniser:
    """The tokeniser of one model."""

    def __init__(self, content: bytes, *, special: bool = True) -> None:
        try:
            import tokenizers
        except ImportError as error:
            raise MissingExtra("A neural model", "tokenizers") from error
        try:
            self._tokenizer = tokenizers.Tokenizer.from_str(content.decode("utf-8"))
        except Exception as error:  # the package raises bare Exception for whatever it cannot parse
            raise ModelCorrupt(f"the tokenizer cannot be read: {error}") from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._special = special

    @property
    def special_count(self) -> int:
        """How many special tokens stand around every text."""
        return self._tokenizer.num_special_tokens_to_add(is_pair=False) if self._special else 0

    def special_ids(self) -> frozenset[int]:
        """Return the ids of tokens that stand for no text: padding, mask, unknown and their like."""
        added = self._tokenizer.get_added_tokens_decoder()
        ids = {number for number, token in added.items() if token.special}
        unknown = self._tokenizer.token_to_id(getattr(self._tokenizer.model, "unk_token", None) or "")
        return frozenset(ids if unknown is None else ids | {unknown})

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each text, special tokens included."""
        return [encoding.ids for encoding in self._encoded(list(texts))]

    @property
    def size(self) -> int:
        """How many tokens there are."""
        return int(self._tokenizer.get_vocab_size())

    def text(self, number: int) -> str:
        """Return the text of a token; empty for a number that no token has."""
        return self._tokenizer.id_to_token(number) or ""

    def pairs(self, first: str, seconds: Sequence[str]) -> list[PairTokens]:
        """Return the tokens of `first` with each of `seconds`, special tokens included."""
        encoded = self._encoded([(first, second) for second in seconds])
        return [PairTokens(encoding.ids, encoding.type_ids) for encoding in encoded]

    def _encoded(self, texts: list[str] | list[tuple[str, str]]) -> list[Any]:
        try:
            read: list[Any] = self._tokenizer.encode_batch_fast(texts, add_special_tokens=self._special)
        except Exception as error:  # the package raises bare Exception for a word it has no token for
            raise EmbedderError(f"the tokenizer could not read a text: {error}") from error
        return read

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
        spans = self._tokenizer.encode(text, add_special_tokens=False).offsets
        # What a tokeniser calls a word may be less than one ("w" and "12" of "w12"); spaces tell better. Some
        # tokenisers count the space before a word to its first token.
        first = [
            start == 0 or text[start - 1].isspace() or text[start : start + 1].isspace() for start, _ in spans
        ]
        word_starts = np.flatnonzero(first)
        ranges = windows(len(spans), word_starts, size, overlap)
        return [text[spans[start][0] : spans[end - 1][1]] for start, end in ranges]


def checked_texts(texts: Sequence[str]) -> list[str]:
    """Return the texts as a list; a bare string is refused, since its letters are rarely what was meant."""
    if isinstance(texts, str | bytes) or not isinstance(texts, Sequence):
        raise InvalidArgument("texts", texts, "a list of strings")
    return [well_formed(checked(f"texts[{index}]", text)) for index, text in enumerate(texts)]


def checked_text(text: str) -> str:
    """Return one text, well formed."""
    return well_formed(checked("text", text))


def well_formed(text: str) -> str:
    r"""Return `text` with every half of a broken surrogate pair replaced by U+FFFD, as UTF-8 demands."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def windows(count: int, word_starts: IntArray, size: int, overlap: int) -> list[tuple[int, int]]:
    """Return half-open ranges that cover ``0..count`` with at most `size` units (tokens or characters) each.

    A window ends at the last of the ascending `word_starts` in its second half, and the next begins at the
    first of them within the overlap, which is at most half of `size`; where there is none, the cut goes
    through a word.

    >>> windows(10, np.arange(10), size=4, overlap=1), windows(10, np.array([0, 3, 6, 9]), size=4, overlap=1)
    ([(0, 4), (3, 7), (6, 10)], [(0, 3), (3, 6), (6, 10)])
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


def piece_tokeniser(content: bytes) -> Tokeniser:
    """Return a tokeniser of pieces, one a line, of which those that begin a word begin with ``▁``.

    A word is cut into as few pieces as can be (a unigram model in which all are as likely). A character that
    no piece has is left out and does not make its word unknown, which in some scripts is a whole sentence.
    """
    pieces = content.decode("utf-8", "replace").split("\n")
    vocabulary = [(piece or f"\0{number}", -1.0) for number, piece in enumerate(pieces)]
    before = [{"type": "Split", "pattern": {"Regex": r"\W+"}, "behavior": "Removed", "invert": False}]
    return _unigram_tokeniser([*vocabulary, ("\0", -99.0)], len(vocabulary), before, special=False)


def _unigram_tokeniser(
    pieces: Sequence[tuple[str, float]],
    unknown: int,
    before: list[dict[str, Any]],
    *,
    special: bool,
    **more: dict[str, Any],
) -> Tokeniser:
    """Return a tokeniser that cuts a word into its likeliest pieces, of which the first begins with ``▁``."""
    start: dict[str, Any] = {
        "type": "Metaspace",
        "replacement": "▁",
        "prepend_scheme": "always",
        "split": True,
    }
    described: dict[str, Any] = {
        "version": "1.0",
        "added_tokens": [],
        "model": {"type": "Unigram", "unk_id": unknown, "vocab": pieces, "byte_fallback": False},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [*before, start]},
    }
    described |= dict.fromkeys(("truncation", "padding", "normalizer", "post_processor", "decoder")) | more
    return Tokeniser(json.dumps(described).encode(), special=special)


def sentencepiece_tokeniser(content: bytes) -> Tokeniser:
    """Return the tokeniser of a unigram model of SentencePiece, with marks of begin and end.

    Of its protocol buffer are read: the pieces (field 1, first in the file: text 1, score 2, type 3) and the
    table that texts are normalised by (field 3, there 2). Marks are pieces that nobody can write.
    """
    try:
        pieces: list[tuple[str, float]] = []
        at = 0
        # A loop for these alone: there are 128,000, and `_fields` takes six times as long.
        while content[at] == _PIECE:
            end, score = at + 2 + content[at + 1], at + 5 + content[at + 3]
            plain = end == score + 4 or content[end - 1] == _PLAIN
            text = content[at + 4 : score - 1].decode() if plain else f"\x00{len(pieces)}"
            pieces.append((text, *_SCORE.unpack_from(content, score)))
            at = end
        ((start, end),) = _fields(content, at, len(content))[3]
        ((start, end),) = _fields(content, start, end)[2]
    except (LookupError, ValueError, struct.error) as error:
        raise ModelCorrupt(f"this is no model of SentencePiece: {error!r}") from error
    rules = b64encode(content[start:end]).decode()
    marks = {
        mark: {"id": mark, "ids": [number], "tokens": [mark]} for mark, number in (("\x001", 1), ("\x002", 2))
    }
    first, last = ({"SpecialToken": {"id": mark, "type_id": 0}} for mark in marks)
    single = [first, {"Sequence": {"id": "A", "type_id": 0}}, last]
    return _unigram_tokeniser(
        pieces,
        0,
        [{"type": "WhitespaceSplit"}],
        special=True,
        normalizer={"type": "Precompiled", "precompiled_charsmap": rules},
        post_processor={
            "type": "TemplateProcessing",
            "single": single,
            "pair": single,
            "special_tokens": marks,
        },
    )


_PIECE: Final = 0x0A
_PLAIN: Final = 1
_SCORE: Final = struct.Struct("<f")


def _fields(content: bytes, start: int, end: int) -> dict[int, list[tuple[int, int]]]:
    """Return where the values of each field of a protocol buffer stand; of a number, the number and 0."""

    def number() -> int:
        nonlocal start
        value = shift = 0
        while True:
            byte = content[start]
            value, start, shift = value | (byte & 127) << shift, start + 1, shift + 7
            if byte < 128:
                return value

    fields: dict[int, list[tuple[int, int]]] = {}
    while start < end:
        field, wire = divmod(number(), 8)
        if wire == 0:
            value = (number(), 0)
        else:
            size = number() if wire == 2 else {1: 8, 5: 4}[wire]
            value = (start, start + size)
            start += size
        fields.setdefault(field, []).append(value)
    return fields


def character_passages(text: str, size: int, overlap: int) -> list[str]:
    """Return passages of at most `size` characters, for models whose tokens are not known here."""
    if len(text) <= size:
        return [text]
    spaces = np.fromiter((character.isspace() for character in text), dtype=np.bool_, count=len(text))
    word_starts = np.flatnonzero(spaces[:-1] & ~spaces[1:]) + 1
    return [text[start:end] for start, end in windows(len(text), word_starts, size, overlap)]
