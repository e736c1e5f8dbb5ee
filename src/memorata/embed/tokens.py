"""Texts as models take them: a model's own tokens, what stands around them, and overlapping passages.

A model reads a bounded number of tokens. What lies beyond is read in further passages, each repeating the end
of the one before it, so that a sentence on a border is whole in one of the two. They are cut between words
wherever there is a word boundary to cut at.

Most vocabularies are read by :mod:`memorata.embed.subwords`; a ``tokenizer.json`` of another kind by Hugging
Face's ``tokenizers``, if that is installed. The truncation and padding that the file may ask for are ignored:
cutting and padding are decided here, in the open.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence, Sized
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np

from memorata._frozen import frozen
from memorata.embed.subwords import SubwordReader, piece_reader, reader_of, unigram_reader
from memorata.model.checks import FloatArray, IntArray, whole
from memorata.model.errors import EmbedderError, InvalidArgument, MissingExtra, ModelCorrupt


@frozen
class PairTokens:
    """Two texts as one row of tokens."""

    ids: list[int]
    type_ids: list[int]
    """0 for a token of the first text, 1 for one of the second."""

    def __len__(self) -> int:
        return len(self.ids)


@frozen
class Template:
    """What stands around a text, or around two: token ids, and ``"A"`` and ``"B"`` for the texts."""

    single: tuple[tuple[int | str, int], ...] = (("A", 0),)
    pair: tuple[tuple[int | str, int], ...] = (("A", 0), ("B", 1))

    def around(self, ids: list[int]) -> list[int]:
        """Return the tokens of one text with those around it."""
        row: list[int] = []
        for part, _ in self.single:
            row += ids if isinstance(part, str) else [part]
        return row

    def joined(self, texts: Mapping[str, list[int]]) -> PairTokens:
        """Return two texts as one row."""
        ids: list[int] = []
        type_ids: list[int] = []
        for part, kind in self.pair:
            tokens = texts[part] if isinstance(part, str) else [part]
            ids += tokens
            type_ids += [kind] * len(tokens)
        return PairTokens(ids, type_ids)


class SubwordVocabulary:
    """A vocabulary that is read here; `special` tokens stand for no text."""

    def __init__(
        self,
        reader: SubwordReader,
        texts: Mapping[int, str] | Sequence[str],
        special: frozenset[int],
        template: Template,
    ) -> None:
        self._reader, self._texts, self._template = reader, texts, template
        self.special_ids = special
        self.special_count = len(template.single) - 1
        self.size = len(texts)

    def text(self, number: int) -> str:
        """Return the text of a token, or nothing."""
        try:
            return self._texts[number]
        except LookupError:
            return ""

    def rows(self, texts: Sequence[str], *, special: bool) -> list[list[int]]:
        """Return the tokens of each text."""
        ids = map(self._reader.ids, texts)
        return [self._template.around(row) for row in ids] if special else list(ids)

    def pairs(self, first: str, seconds: Sequence[str]) -> list[PairTokens]:
        """Return the tokens of `first` with each of `seconds`, special ones included."""
        start = self._reader.ids(first)
        return [self._template.joined({"A": start, "B": self._reader.ids(second)}) for second in seconds]

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return where in a text each of its tokens begins and ends; inside a word, evenly spread."""
        spans = []
        for start, end, ids in self._reader.spans(text):
            count, length = len(ids), end - start
            spans += [
                (start + length * at // count, start + length * (at + 1) // count) for at in range(count)
            ]
        return spans


def vocabulary_of(described: Mapping[str, Any]) -> SubwordVocabulary | None:
    """Return the vocabulary of a ``tokenizer.json``; None for a kind that is not read here."""
    reader, template = reader_of(described), _template_of(described.get("post_processor"))
    if reader is None or template is None:
        return None
    added, vocabulary = described["added_tokens"], described["model"]["vocab"]
    texts = {number: token for token, number in vocabulary.items()}
    texts |= {token["id"]: token["content"] for token in added}
    special = {token["id"] for token in added if token["special"]}
    unknown = vocabulary.get(described["model"].get("unk_token"))
    return SubwordVocabulary(
        reader, texts, frozenset(special if unknown is None else special | {unknown}), template
    )


def _template_of(processor: Mapping[str, Any] | None) -> Template | None:
    """Return what a post-processor puts around texts; None for one that is not known here."""
    if processor is None:
        return Template()
    if processor["type"] in ("RobertaProcessing", "BertProcessing"):
        start, end = processor["cls"][1], processor["sep"][1]
        second = int(processor["type"] == "BertProcessing")
        between = [(end, 0)] if second else [(end, 0), (end, 0)]
        head: list[tuple[int | str, int]] = [(start, 0), ("A", 0)]
        return Template((*head, (end, 0)), (*head, *between, ("B", second), (end, second)))
    if processor["type"] != "TemplateProcessing":
        return None
    special = processor["special_tokens"]

    def parts(template: Sequence[Mapping[str, Any]]) -> tuple[tuple[int | str, int], ...]:
        around: list[tuple[int | str, int]] = []
        for part in template:
            if "Sequence" in part:
                around.append((part["Sequence"]["id"], part["Sequence"]["type_id"]))
            else:
                token = part["SpecialToken"]
                around += [(number, token["type_id"]) for number in special[token["id"]]["ids"]]
        return tuple(around)

    return Template(parts(processor["single"]), parts(processor["pair"]))


class LibraryVocabulary:
    """A vocabulary that Hugging Face's ``tokenizers`` reads."""

    def __init__(self, content: str) -> None:
        try:
            import tokenizers
        except ImportError as error:
            raise MissingExtra("A model with such a tokenizer", "tokenizers") from error
        try:
            self._tokenizer = tokenizers.Tokenizer.from_str(content)
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


Vocabulary: TypeAlias = SubwordVocabulary | LibraryVocabulary


OVERLAP = 1 / 8
"""The part of a passage that the next one repeats: some 60 of 512 tokens, two or three sentences."""
_Read = TypeVar("_Read", bound=Sized)


class Tokeniser:
    """The tokeniser of a model: a vocabulary, or a ``tokenizer.json``, with or without `special` tokens."""

    def __init__(self, vocabulary: Vocabulary | bytes, *, special: bool = True) -> None:
        self._vocabulary = _read(vocabulary) if isinstance(vocabulary, bytes) else vocabulary
        self._special = special
        self.size, self.special_ids = self._vocabulary.size, self._vocabulary.special_ids
        self.special_count = self._vocabulary.special_count if special else 0
        self.text, self.pairs = self._vocabulary.text, self._vocabulary.pairs

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


def _read(content: bytes) -> Vocabulary:
    """Return the vocabulary of a ``tokenizer.json``."""
    try:
        vocabulary = vocabulary_of(json.loads(content))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelCorrupt(f"the tokenizer cannot be read: {error!r}") from error
    return vocabulary or LibraryVocabulary(content.decode("utf-8"))


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


def piece_tokeniser(content: bytes) -> Tokeniser:
    """Return a tokeniser of pieces, one a line, of which those that begin a word begin with ``▁``.

    A word is cut into as few pieces as can be (a unigram model in which all are as likely). A character that
    no piece has is left out and does not make its word unknown, which in some scripts is a whole sentence.
    """
    pieces = content.decode("utf-8", "replace").split("\n")
    reader, unknown = piece_reader(pieces, _WORD_START), len(pieces)
    vocabulary = SubwordVocabulary(reader, [*pieces, ""], frozenset({unknown}), Template())
    return Tokeniser(vocabulary, special=False)


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
    reader = unigram_reader(pieces, scores.tolist(), _WORD_START)
    # The first three are the unknown piece and the marks of begin and end.
    around = Template(((1, 0), ("A", 0), (2, 0)), ((1, 0), ("A", 0), ("B", 0), (2, 0)))
    return Tokeniser(SubwordVocabulary(reader, pieces, frozenset({0, 1, 2}), around)), scores


_PIECE: Final = re.compile(
    rb"\n[\x07-\x7f]\n[\x00-\x7f]([^\x15\n]*)\x15(.{4})(?:\x18([\x02-\x06]))?", re.DOTALL
)
"""One piece, the plain ones without a type: no text of a piece has the bytes 10 and 21 in it."""
_SETTINGS: Final = b"\x12"
"""What begins the first field after the pieces."""
_MARKS: Final = 3
_WORD_START: Final = "▁"


def character_passages(text: str, size: int, overlap: int) -> list[str]:
    """Return passages of at most `size` characters, for models whose tokens are not known here."""
    if len(text) <= size:
        return [text]
    spaces = np.fromiter((character.isspace() for character in text), dtype=np.bool_, count=len(text))
    word_starts = np.flatnonzero(spaces[:-1] & ~spaces[1:]) + 1
    return [text[start:end] for start, end in windows(len(text), word_starts, size, overlap)]
