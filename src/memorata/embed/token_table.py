"""A table of static token vectors, for comparing texts token by token (:mod:`memorata.rank.soft_lexical`).

Any static model of the catalogue has one. It is read on first use; a file that is missing or damaged is said
once, and the table stays empty.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from memorata._frozen import frozen
from memorata.embed.catalogue import CATALOGUE
from memorata.embed.description import ModelDescription
from memorata.embed.folder import installed
from memorata.embed.port import Vectors
from memorata.embed.token_embedder import read_static
from memorata.model.checks import FloatArray
from memorata.rank.soft_lexical import token_weights

Tokens = npt.NDArray[np.int32]
_CUTS: Final = {"static": 0.2, "pieces": 0.35}
"""Below which cosine two tokens have nothing to do with each other; rows of many languages are nearer."""
MAX_DISTINCT: Final = 512
"""How many tokens of one text are compared: the first, each once."""


@frozen(eq=False)
class LoadedTable:
    """The rows of a table, what each counts in a query, and what cuts texts into its tokens."""

    rows: Vectors
    weights: FloatArray
    read: Callable[[Sequence[str]], list[list[int]]]
    text: Callable[[int], str]
    """The text of a token."""
    cut: float = 0.2
    """Cosines of two tokens below this are chance."""

    def tokens(self, texts: Sequence[str]) -> list[Tokens]:
        """Return the distinct tokens of each text that the table has a row for."""
        return [self._counting(ids) for ids in self.read(texts)]

    def _counting(self, ids: list[int]) -> Tokens:
        tokens = np.fromiter(dict.fromkeys(ids), np.int32)
        return tokens[self.weights[tokens] > 0][:MAX_DISTINCT]


class TokenTable:
    """The token vectors of a static model, read on first use.

    Parameters
    ----------
    folder
        Where the model is installed.
    description
        What it is.
    """

    def __init__(self, folder: Path, description: ModelDescription) -> None:
        self._folder, self._description = folder, description
        # A digest, and asked for at every recall.
        self.name = description.name
        """Identity of the tokens and their vectors."""
        self._lock = threading.Lock()
        self._loaded: LoadedTable | None = None

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages whose words it knows."""
        return self._description.languages

    def load(self) -> LoadedTable:
        """Return the table, reading it if nobody has.

        Raises
        ------
        ModelNotInstalled, ModelCorrupt
            Its files are gone, or others than were pinned.
        """
        with self._lock:
            if self._loaded is None:
                tokeniser, table, silent = read_static(self._folder, self._description)
                lengths = np.linalg.norm(table, axis=1)
                lengths[silent] = 0.0
                table /= np.maximum(lengths, 1e-9)[:, np.newaxis]
                table[silent] = 0.0
                self._loaded = LoadedTable(
                    table,
                    token_weights(lengths),
                    tokeniser.ids,
                    tokeniser.text,
                    _CUTS[self._description.kind],
                )
            return self._loaded


def installed_tables(models: Path | None) -> tuple[TokenTable, ...]:
    """Return the token tables of the catalogue that are in a folder of models, none of them read yet."""
    if models is None:
        return ()
    try:
        there = installed(models)
    except OSError:
        # Who may not look into it has none; what asks for a model by name says so.
        return ()
    return tuple(
        TokenTable(models / entry.name, entry.description)
        for entry in CATALOGUE.values()
        if isinstance(entry.description, ModelDescription)
        and entry.description.has_table
        and entry.name in there
    )
