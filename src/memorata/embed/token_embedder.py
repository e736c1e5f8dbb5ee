"""What all models that read tokens share: prompts, passages, one forward pass over everything asked for.

The files are read on first use, once, whichever thread comes first.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from typing import Self

import numpy as np

from memorata._frozen import frozen
from memorata.embed.description import ModelDescription
from memorata.embed.port import Prompts, Vectors
from memorata.embed.token_table import TokenTable
from memorata.embed.tokens import Tokeniser
from memorata.embed.vectors import checked_text, checked_texts, unit_means, unit_rows
from memorata.model.errors import DimensionMismatch, EmbedderError


@frozen
class LoadedModel:
    """A model in memory: its tokens, and the function from token ids to vectors."""

    tokens: Tokeniser
    forward: Callable[[list[list[int]]], Vectors]


class TokenEmbedder:
    """An embedder that reads the tokens of a model; `load` reads the model's files, checking their hashes."""

    token_tables: Sequence[TokenTable] = ()
    """The tables of token vectors with which texts are compared token by token beside it."""

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
