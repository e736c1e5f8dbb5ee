"""The tokenisers of models: a ``tokenizer.json`` by Hugging Face's ``tokenizers``, or pieces, one a line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tokenizers

from memorata.extend import frozen
from memorata.extend.embedding import Tokeniser
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
    """The vocabulary of a tokenizer; `unknown` is the token of characters that have none.

    The truncation and padding that a file may ask for are ignored: both are decided here, in the open.
    """

    def __init__(self, tokenizer: tokenizers.Tokenizer, unknown: int | None) -> None:
        self._tokenizer = tokenizer
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self.size = int(tokenizer.get_vocab_size())
        self.special_count = int(tokenizer.num_special_tokens_to_add(is_pair=False))
        added = tokenizer.get_added_tokens_decoder()
        ids = {number for number, token in added.items() if token.special}
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
        try:
            tokenizer = tokenizers.Tokenizer.from_buffer(content)
        except Exception as error:  # the package raises bare Exception for whatever it cannot parse
            raise ModelCorrupt(f"the tokenizer cannot be read: {error}") from error
        unknown = tokenizer.token_to_id(getattr(tokenizer.model, "unk_token", None) or "")
        vocabulary = LibraryVocabulary(tokenizer, unknown)
        super().__init__(vocabulary, special=special)
        self.pairs = vocabulary.pairs


def piece_tokeniser(content: bytes) -> Tokeniser:
    """Return a tokeniser of pieces, one a line, of which those that begin a word begin with ``▁``.

    A word is cut into as few pieces as can be: a unigram model in which all are as likely. A character that
    no piece has is the token after the last piece. It does not make its word unknown, which in some scripts
    is a whole sentence.
    """
    pieces = content.decode("utf-8", "replace").split("\n")
    unknown = len(pieces)
    # An empty line is a piece of no text.
    scored = [(piece or f"\0{number}", -1.0) for number, piece in enumerate(pieces)]
    model = tokenizers.models.Unigram([*scored, ("\0", -99.0)], unk_id=unknown, byte_fallback=False)
    tokenizer = tokenizers.Tokenizer(model)
    before = tokenizers.pre_tokenizers
    words = before.Split(tokenizers.Regex(r"\W+"), "removed")
    marks = before.Metaspace(replacement="▁", prepend_scheme="always", split=True)
    tokenizer.pre_tokenizer = before.Sequence([words, marks])
    return Tokeniser(LibraryVocabulary(tokenizer, unknown), special=False)
