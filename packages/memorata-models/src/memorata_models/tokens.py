"""The tokenisers of models: a ``tokenizer.json`` by Hugging Face's ``tokenizers``, or pieces, one a line."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import tokenizers

from memorata.extend import frozen
from memorata.extend.embedding import (
    WORD_START,
    SubwordReader,
    SubwordVocabulary,
    Tokeniser,
    cheapest_pieces,
)
from memorata.extend.errors import EmbedderError, ModelCorrupt


@frozen
class PairTokens:
    """Two texts as one row of tokens."""

    ids: list[int]
    type_ids: list[int]
    """0 for a token of the first text, 1 for one of the second."""

    def __len__(self) -> int:
        return len(self.ids)


class LibraryVocabulary:
    """The vocabulary of a ``tokenizer.json``.

    The truncation and padding that the file may ask for are ignored: both are decided here, in the open.
    """

    def __init__(self, content: bytes) -> None:
        try:
            self._tokenizer = tokenizers.Tokenizer.from_buffer(content)
        except Exception as error:  # the package raises bare Exception for whatever it cannot parse
            raise ModelCorrupt(f"the tokenizer cannot be read: {error}") from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.size = int(self._tokenizer.get_vocab_size())
        self.special_count = int(self._tokenizer.num_special_tokens_to_add(is_pair=False))
        added = self._tokenizer.get_added_tokens_decoder()
        ids = {number for number, token in added.items() if token.special}
        unknown = self._tokenizer.token_to_id(getattr(self._tokenizer.model, "unk_token", None) or "")
        self.special_ids = frozenset(ids if unknown is None else ids | {unknown})

    def text(self, number: int) -> str:
        """Return the text of a token, or nothing."""
        return self._tokenizer.id_to_token(number) or ""

    def rows(self, texts: Sequence[str], *, special: bool) -> list[list[int]]:
        """Return the tokens of each text."""
        return [encoding.ids for encoding in self._encoded(list(texts), special=special)]

    def pairs(self, first: str, seconds: Sequence[str]) -> list[PairTokens]:
        """Return the tokens of `first` with each of `seconds`, special ones included."""
        encoded = self._encoded([(first, second) for second in seconds], special=True)
        return [PairTokens(encoding.ids, encoding.type_ids) for encoding in encoded]

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return where in a text each of its tokens begins and ends."""
        spans: list[tuple[int, int]] = self._tokenizer.encode(text, add_special_tokens=False).offsets
        return spans

    def _encoded(self, texts: list[str] | list[tuple[str, str]], *, special: bool) -> list[Any]:
        try:
            read: list[Any] = self._tokenizer.encode_batch_fast(texts, add_special_tokens=special)
        except Exception as error:  # the package raises bare Exception for a word it has no token for
            raise EmbedderError(f"the tokenizer could not read a text: {error}") from error
        return read


class LibraryTokeniser(Tokeniser):
    """The tokeniser of a ``tokenizer.json``, which also joins two texts."""

    def __init__(self, content: bytes, *, special: bool = True) -> None:
        vocabulary = LibraryVocabulary(content)
        super().__init__(vocabulary, special=special)
        self.pairs = vocabulary.pairs


def piece_tokeniser(content: bytes) -> Tokeniser:
    """Return a tokeniser of pieces, one a line, of which those that begin a word begin with ``▁``.

    A word is cut into as few pieces as can be; of two ways with as many pieces the one with the longer last
    piece is taken. A character that no piece has is the token after the last piece. It does not make its word
    unknown, which in some scripts is a whole sentence.
    """
    pieces = content.decode("utf-8", "replace").split("\n")
    unknown = len(pieces)
    read = cheapest_pieces(pieces, [1.0] * unknown, unknown, 100.0)
    pattern = re.compile(rf"[\w{_class('M', 'Pc')}]+")
    reader = SubwordReader(pattern, lambda word: read(WORD_START + word))
    return Tokeniser(SubwordVocabulary(reader, [*pieces, ""], frozenset({unknown})), special=False)


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
