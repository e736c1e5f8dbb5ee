"""What all models that read tokens share: prompts, passages, one forward pass over everything asked for.

The files are read on first use, once, whichever thread comes first. The simplest such model is static: one
row of a table per token, and the text is their mean (model2vec's potion models). It has no attention and no
graph, hence some twenty thousand texts a second: a transformer was distilled beforehand into the table
(Tulkens & van Dongen, Model2Vec, 2024).
"""

from __future__ import annotations

import json
import struct
import threading
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Final, Self

import numpy as np

from memorata._frozen import frozen
from memorata.embed.description import ModelDescription, read_checked, read_description
from memorata.embed.port import Prompts, Vectors
from memorata.embed.tokens import Tokeniser, piece_tokeniser
from memorata.embed.vectors import checked_text, checked_texts, unit_means, unit_rows
from memorata.model.errors import DimensionMismatch, EmbedderError, InvalidArgument, ModelCorrupt


@frozen
class LoadedModel:
    """A model in memory: its tokens, and the function from token ids to vectors."""

    tokens: Tokeniser
    forward: Callable[[list[list[int]]], Vectors]


class TokenEmbedder:
    """An embedder that reads the tokens of a model; `load` reads the model's files, checking their hashes."""

    def __init__(self, description: ModelDescription, load: Callable[[], LoadedModel]) -> None:
        self._load = load
        self._lock = threading.Lock()
        self._loaded: LoadedModel | None = None
        self._describe(description)

    def _describe(self, description: ModelDescription) -> None:
        self.description = description
        # Asked for with every recall, and a digest of everything.
        self.name = description.name
        self.dimension, self.max_tokens = description.dimension, description.max_tokens
        self.prompts, self.similarity_threshold = description.prompts, description.similarity_threshold
        self.languages, self.reliability = description.languages, description.reliability

    def prompted(self, prompts: Prompts) -> Self:
        """Return the same model with other prompts, for which no threshold has been measured."""
        if prompts == self.prompts:
            return self
        prompted = copy(self)
        prompted._describe(replace(self.description, prompts=prompts, similarity_threshold=0.0))
        prompted._lock = threading.Lock()
        return prompted

    def load(self) -> None:
        """Load the model now instead of on first use."""
        self._model()

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text; a long text is the unit mean of its passages."""
        return unit_means(self.embed_passages(texts), self.dimension)

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a query."""
        passages = self._pieces(checked_text(text), self.prompts.query)[1]
        rows = self._forward(passages)
        vector: Vectors = rows[0] if len(passages) == 1 else unit_means([rows], self.dimension)[0]
        return vector

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return one row per query."""
        pieces = [self._pieces(checked_text(text), self.prompts.query)[1] for text in texts]
        ends = np.cumsum([len(ids) for ids in pieces])
        rows = self._forward([row for ids in pieces for row in ids])
        return unit_means(np.split(rows, ends[:-1]), self.dimension)

    def query_length(self, text: str) -> int:
        """Return how many tokens a query has."""
        return sum(map(len, self._pieces(checked_text(text), self.prompts.query)[1]))

    def passages(self, text: str) -> list[str]:
        """Return the overlapping passages of `text`; ``[text]`` when it is short enough to be read whole."""
        return self._pieces(checked_text(text), self.prompts.document)[0]

    def embed_passages(self, texts: Sequence[str]) -> list[Vectors]:
        """Return for each text the rows of its passages."""
        contents = checked_texts(texts)
        if not contents:
            return []
        prefix = self.prompts.document
        ids: list[list[int]] = []
        ends = []
        token_ids = self._model().tokens.ids([prefix + text for text in contents])
        for text, read in zip(contents, token_ids, strict=True):
            ids.extend([read] if len(read) <= self.max_tokens else self._pieces(text, prefix)[1])
            ends.append(len(ids))
        return np.split(self._forward(ids), ends[:-1])

    def _pieces(self, text: str, prefix: str) -> tuple[list[str], list[list[int]]]:
        """Return the passages of `text` and the token ids of each, prompt included."""
        tokens = self._model().tokens
        (token_ids,) = tokens.ids([prefix + text])
        if len(token_ids) <= self.max_tokens:
            return [text], [token_ids]
        prompt = len(tokens.ids([prefix])[0]) if prefix else tokens.special_count
        if 2 * prompt > self.max_tokens:
            # A text would be cut into crumbs, or, where the prompt fills all, not be read at all.
            raise EmbedderError(
                f"a prompt of {prompt} tokens leaves too few of the {self.max_tokens} that {self.name} reads "
                "to a text; choose a shorter one"
            )
        return tokens.passages(
            text,
            self.max_tokens - prompt,
            self.max_tokens,
            lambda parts: tokens.ids([prefix + part for part in parts]),
        )

    def _forward(self, ids: list[list[int]]) -> Vectors:
        read = [index for index, row in enumerate(ids) if row]
        if len(read) < len(ids):
            # No token, no direction: a tokeniser without special tokens makes nothing of an empty text.
            means = np.zeros((len(ids), self.dimension), dtype=np.float32)
            if read:
                means[read] = self._forward([ids[index] for index in read])
            return means
        rows = self._model().forward(ids)
        if rows.shape[1] != self.dimension:
            raise DimensionMismatch(self.name, self.dimension, rows.shape[1])
        if not np.isfinite(rows).all():
            raise EmbedderError(f"{self.name} gave a vector with NaN or infinity: its file is not usable")
        return unit_rows(rows)

    def _model(self) -> LoadedModel:
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded


_TYPES = {"F32": "<f4", "F16": "<f2"}


class StaticEmbedder(TokenEmbedder):
    """A table of token vectors read from a folder on first use.

    A text's vector is the mean of the rows of its tokens without special and unknown ones; a text of which no
    token is known has the zero vector.

    Parameters
    ----------
    folder
        A folder with ``model.safetensors``, ``tokenizer.json`` and ``model.toml``.
    description
        What the folder holds, where it is known better than by its ``model.toml``.

    Raises
    ------
    ModelNotInstalled, ModelCorrupt
        The folder holds no model, or its description cannot be used.
    """

    quick: Final = True
    """That a query takes less than a tenth of a millisecond, once the table is read."""

    def __init__(self, folder: Path, *, description: ModelDescription | None = None) -> None:
        description = read_description(folder) if description is None else description
        if not description.has_table:
            raise InvalidArgument("folder", str(folder), f"a static model (this one is {description.kind})")
        super().__init__(description, partial(_load_static, folder, description))


def read_static(
    folder: Path, description: ModelDescription
) -> tuple[Tokeniser, Vectors, np.typing.NDArray[np.bool_]]:
    """Return what cuts texts into tokens, a row for each token, and which tokens say nothing."""
    pinned, weights, name = description.files, description.weights, description.tokenizer
    content = read_checked(folder, name, pinned.get(name))
    if description.kind == "pieces":
        tokens, table = piece_tokeniser(content), rows_of(read_checked(folder, weights, pinned.get(weights)))
    else:
        tokens = Tokeniser(content, special=False)
        table = table_of(read_checked(folder, weights, pinned.get(weights)))
    rows = len(table)
    if description.kind == "pieces" and tokens.size > rows:
        # Characters that no piece has are one more token, which says nothing.
        table = np.concatenate([table, np.zeros((tokens.size - rows, table.shape[1]), np.float32)])
    silent = np.zeros(len(table), dtype=np.bool_)
    silent[rows:] = True
    silent[[number for number in tokens.special_ids if number < len(table)]] = True
    return tokens, table, silent


def _load_static(folder: Path, description: ModelDescription) -> LoadedModel:
    tokens, table, silent = read_static(folder, description)

    def forward(ids: list[list[int]]) -> Vectors:
        try:
            return mean_rows(table, ids, silent)
        except IndexError as error:
            raise ModelCorrupt(f"{folder} has tokens that its table has no row for") from error

    return LoadedModel(tokens, forward)


def mean_rows(table: Vectors, ids: list[list[int]], silent: np.typing.NDArray[np.bool_]) -> Vectors:
    """Return for each list of token ids the mean of their rows, leaving out the `silent` tokens."""
    means = np.zeros((len(ids), table.shape[1]), dtype=np.float32)
    # One text at a time keeps the gathered rows in the processor's cache, which is twice as fast as summing
    # all texts at once (np.add.reduceat).
    for mean, row in zip(means, ids, strict=True):
        read = np.array(row, dtype=np.intp)
        read = read[~silent[read]]
        if len(read):
            np.add.reduce(table.take(read, axis=0), axis=0, out=mean)
            mean /= len(read)
    return means


def rows_of(content: bytes) -> Vectors:
    """Return the rows of a table that numpy has written."""
    try:
        rows = np.load(BytesIO(content), allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise ModelCorrupt(f"this is no table of numpy: {error}") from error
    if rows.ndim != 2 or not np.issubdtype(rows.dtype, np.floating):
        raise ModelCorrupt(f"a static model holds rows of floats, and this file {rows.dtype} {rows.shape}")
    table: Vectors = rows.astype(np.float32)
    return table


def table_of(content: bytes) -> Vectors:
    """Return the one table of a safetensors file: a length, a JSON header, then the numbers."""
    try:
        (length,) = struct.unpack_from("<Q", content)
        header = json.loads(content[8 : 8 + length])
        header.pop("__metadata__", None)
        if set(header) != {"embeddings"}:
            raise ModelCorrupt(
                f"a static model holds one table, 'embeddings'; this file holds {sorted(header)}"
            )
        facts = header["embeddings"]
        start, end = facts["data_offsets"]
        rows, columns = facts["shape"]
        table = np.frombuffer(content[8 + length + start : 8 + length + end], dtype=_TYPES[facts["dtype"]])
        return table.reshape(rows, columns).astype(np.float32)
    except (struct.error, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelCorrupt(f"this is not the safetensors file of a static model: {error!r}") from error
