"""A model's own tokens: how many a text has, their numbers, and where the text can be cut.

A thin layer over Hugging Face's ``tokenizers``, imported when the first tokeniser is loaded. The truncation
and padding that a ``tokenizer.json`` may ask for are switched off: cutting and padding are decided here, in
the open.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Sized
from typing import Any, TypeVar

import numpy as np

from memorata._frozen import frozen
from memorata.embed.windows import windows
from memorata.model.errors import EmbedderError, MissingExtra, ModelCorrupt

OVERLAP = 1 / 8
"""The part of a passage that the next one repeats: some 60 of 512 tokens, two or three sentences."""
_Read = TypeVar("_Read", bound=Sized)


@frozen
class PairTokens:
    """Two texts as one row of tokens.

    Parameters
    ----------
    numbers
        The token numbers, special tokens included.
    types
        For every token, 0 if it belongs to the first text and 1 if to the second.
    """

    numbers: list[int]
    types: list[int]

    def __len__(self) -> int:
        return len(self.numbers)


class Tokens:
    """The tokeniser of one model.

    Parameters
    ----------
    content
        The bytes of a ``tokenizer.json``.
    special
        Whether the model reads special tokens around the text (transformers do, static models do not).
    """

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

    def silent(self) -> frozenset[int]:
        """Return the numbers of tokens that stand for no text: padding, mask, unknown and their like."""
        added = self._tokenizer.get_added_tokens_decoder()
        numbers = {number for number, token in added.items() if token.special}
        unknown = self._tokenizer.token_to_id(getattr(self._tokenizer.model, "unk_token", None) or "")
        return frozenset(numbers if unknown is None else numbers | {unknown})

    def numbers(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token numbers of each text, special tokens included."""
        return [encoding.ids for encoding in self._encoded(list(texts))]

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

        Parameters
        ----------
        text
            What is cut.
        size
            How many tokens of `text` a part should have.
        most
            How many tokens a part may have as it is read.
        read
            Makes rows of tokens from parts, with whatever stands around them.
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
