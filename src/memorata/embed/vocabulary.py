"""The vocabulary of a model: the tokens of texts and pairs, and what stands around them.

Most are read by :mod:`memorata.embed.subwords`; a ``tokenizer.json`` of another kind by Hugging Face's
``tokenizers``, if that is installed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from memorata._frozen import frozen
from memorata.embed.subwords import SubwordReader, reader_of
from memorata.model.errors import EmbedderError, MissingExtra, ModelCorrupt


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
    """A vocabulary that is read here."""

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

    @property
    def size(self) -> int:
        """How many tokens there are."""
        return int(self._tokenizer.get_vocab_size())

    @property
    def special_count(self) -> int:
        """How many special tokens stand around a text."""
        return int(self._tokenizer.num_special_tokens_to_add(is_pair=False))

    @property
    def special_ids(self) -> frozenset[int]:
        """The tokens that stand for no text."""
        added = self._tokenizer.get_added_tokens_decoder()
        ids = {number for number, token in added.items() if token.special}
        unknown = self._tokenizer.token_to_id(getattr(self._tokenizer.model, "unk_token", None) or "")
        return frozenset(ids if unknown is None else ids | {unknown})

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
