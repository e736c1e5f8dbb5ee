"""A table of token vectors, for comparing texts token by token (:mod:`memorata.rank.soft_lexical`).

It is read on first use; a missing or damaged file is reported once, and the table stays empty.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from memorata._frozen import frozen
from memorata.embed.port import Vectors
from memorata.model.checks import FloatArray, IntArray

Tokens = npt.NDArray[np.int32]
MAX_DISTINCT: Final = 512
"""How many tokens of one text are compared: the first, each once."""


class Rows(Protocol):
    """The rows of tokens, of length 1: an array, or what makes them when they are needed."""

    def __len__(self) -> int: ...

    def take(self, tokens: IntArray | Tokens, axis: int = 0) -> Vectors:
        """Return the rows of some tokens, as ``numpy.take`` does."""
        ...


@frozen(eq=False)
class LoadedTable:
    """The rows of a table, what each counts in a query, and what cuts texts into its tokens."""

    rows: Vectors | Rows
    weights: FloatArray
    read: Callable[[Sequence[str]], list[list[int]]]
    text: Callable[[int], str]
    """The text of a token."""
    cut: float = 0.2
    """Cosines of two tokens below this are chance."""

    def tokens(self, texts: Sequence[str]) -> list[Tokens]:
        """Return the distinct tokens of each text that the table has a row for."""
        distinct = (np.fromiter(dict.fromkeys(ids), np.int32) for ids in self.read(texts))
        return [tokens[self.weights[tokens] > 0][:MAX_DISTINCT] for tokens in distinct]


class TokenTable:
    """The token vectors of a model, read on first use by `load`.

    - `name`: identity of the tokens and their vectors.
    - `trust`: how much of the words' part it may have where no other table has the text.
    """

    def __init__(
        self, name: str, languages: Sequence[str], load: Callable[[], LoadedTable], trust: float = 1.0
    ) -> None:
        self.name, self.languages, self.trust = name, tuple(languages), trust
        self._load = load
        self._lock = threading.Lock()
        self._loaded: LoadedTable | None = None

    def load(self) -> LoadedTable:
        """Return the table; raise ModelNotInstalled or ModelCorrupt if its files are not those pinned."""
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded


def token_tables(embedder: object) -> tuple[TokenTable, ...]:
    """Return the tables that an embedder brings along; none where it has none."""
    # An evaluation puts a cache before an embedder, which is no other embedder.
    behind = getattr(embedder, "embedder", embedder)
    return tuple(getattr(behind, "token_tables", ()))
