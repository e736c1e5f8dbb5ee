"""A table of token vectors, for comparing texts token by token (:mod:`memorata.rank.soft_lexical`).

Any static model of the catalogue has one, and so has an encoder of n-grams, in what it reads first. It is
read on first use; a missing or damaged file is reported once, and the table stays empty.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from memorata._frozen import frozen
from memorata.embed.catalogue import CATALOGUE, installed
from memorata.embed.description import ModelDescription
from memorata.embed.ngram_encoder import NgramEmbedder, NgramModel, shared_model
from memorata.embed.port import Vectors
from memorata.embed.token_embedder import read_static
from memorata.embed.vectors import unit_rows
from memorata.model.checks import FloatArray, IntArray
from memorata.rank.soft_lexical import rarity_weights, token_weights

Tokens = npt.NDArray[np.int32]
_CUTS: Final = {"static": 0.2, "pieces": 0.35, "ngrams": 0.2}
"""Below which cosine two tokens have nothing to do with each other; rows of many languages are nearer."""
_TRUST: Final = {"static": 1.0, "pieces": 0.5, "ngrams": 1.0}
"""How much of the words' part a table may have where no other knows the text. The one of many languages whose
rows were cut to 128 numbers is best at half (Chinese, Arabic, Russian)."""
MAX_DISTINCT: Final = 512
"""How many tokens of one text are compared: the first, each once."""


@frozen(eq=False)
class LoadedTable:
    """The rows of a table, what each counts in a query, and what cuts texts into its tokens."""

    rows: Vectors | UnitRows
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


class UnitRows:
    """The rows of an encoder's tokens, of length 1, made when they are asked for: all would take 262 MB."""

    def __init__(self, model: NgramModel) -> None:
        # The model and not its rows: it is shared as long as it is referenced.
        self._model = model

    def __len__(self) -> int:
        return len(self._model.encoder.rows)

    def take(self, tokens: IntArray | Tokens, axis: int = 0) -> Vectors:
        """Return the rows of some tokens, as ``numpy.take`` does."""
        return unit_rows(self._model.encoder.rows.take(tokens.astype(np.intp, copy=False)))


class TokenTable:
    """The token vectors of a model in a folder, read on first use."""

    def __init__(self, folder: Path, description: ModelDescription) -> None:
        self._folder, self._description = folder, description
        # A digest, and asked for at every recall.
        self.name = description.name
        """Identity of the tokens and their vectors."""
        self.languages = description.languages
        self.trust = _TRUST[description.kind]
        """How much of what words have it may have where no other table knows the text."""
        self._lock = threading.Lock()
        self._loaded: LoadedTable | None = None

    def load(self) -> LoadedTable:
        """Return the table; raise ModelNotInstalled or ModelCorrupt if its files are not those pinned."""
        with self._lock:
            if self._loaded is None:
                read = _of_encoder if self._description.kind == "ngrams" else _of_static
                self._loaded = read(self._folder, self._description)
            return self._loaded


def _of_static(folder: Path, description: ModelDescription) -> LoadedTable:
    tokeniser, table, silent = read_static(folder, description)
    lengths = np.linalg.norm(table, axis=1)
    lengths[silent] = 0.0
    table /= np.maximum(lengths, 1e-9)[:, np.newaxis]
    table[silent] = 0.0
    cut = _CUTS[description.kind]
    return LoadedTable(table, token_weights(lengths), tokeniser.ids, tokeniser.text, cut)


def _of_encoder(folder: Path, description: ModelDescription) -> LoadedTable:
    model = shared_model(folder, description)
    weights, tokens = rarity_weights(model.scores), model.tokens
    return LoadedTable(UnitRows(model), weights, tokens.ids, tokens.text, _CUTS[description.kind])


def own_table(embedder: object) -> TokenTable | None:
    """Return the table of an embedder that compares tokens as well; None for one that does not."""
    # An evaluation puts a cache before an embedder, which is no other embedder.
    behind = getattr(embedder, "embedder", embedder)
    return TokenTable(behind.folder, behind.description) if isinstance(behind, NgramEmbedder) else None


def installed_tables(models: Path | None) -> tuple[TokenTable, ...]:
    """Return the token tables of the catalogue that are in a folder of models, none of them read yet."""
    if models is None:
        return ()
    try:
        names = installed(models)
    except OSError:
        # A folder that may not be read has none; a model that is asked for by name says so.
        return ()
    return tuple(
        TokenTable(models / entry.name, entry.description)
        for entry in CATALOGUE.values()
        if isinstance(entry.description, ModelDescription)
        and entry.description.has_table
        and entry.name in names
    )
