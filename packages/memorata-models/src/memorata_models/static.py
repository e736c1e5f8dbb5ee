"""Static models: one row of a table per token, and a text is their mean (model2vec's potion models).

There is no attention and no graph, hence some twenty thousand texts a second: a transformer was distilled
beforehand into the table (Tulkens & van Dongen, Model2Vec, 2024). Such a table also compares texts token by
token, beside any embedder.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Final

import numpy as np

from memorata.extend.embedding import (
    LoadedModel,
    LoadedTable,
    ModelDescription,
    TokenEmbedder,
    Tokeniser,
    TokenTable,
    Vectors,
    read_checked,
    token_weights,
)
from memorata.extend.errors import InvalidArgument, ModelCorrupt
from memorata_models.catalogue import CATALOGUE, installed
from memorata_models.description import read_description
from memorata_models.tokens import LibraryTokeniser, piece_tokeniser

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
    token_tables
        The tables with which texts are compared token by token beside it.

    Raises
    ------
    ModelNotInstalled, ModelCorrupt
        The folder holds no model, or its description cannot be used.
    """

    quick: Final = True
    """That a query takes less than a tenth of a millisecond, once the table is read."""

    def __init__(
        self,
        folder: Path,
        *,
        description: ModelDescription | None = None,
        token_tables: Sequence[TokenTable] = (),
    ) -> None:
        description = read_description(folder) if description is None else description
        if not description.has_table:
            raise InvalidArgument("folder", str(folder), f"a static model (this one is {description.kind})")
        super().__init__(description, partial(_load_static, folder, description))
        self.token_tables = token_tables


def read_static(
    folder: Path, description: ModelDescription
) -> tuple[Tokeniser, Vectors, np.typing.NDArray[np.bool_]]:
    """Return what cuts texts into tokens, a row for each token, and which tokens say nothing."""
    pinned, weights, name = description.files, description.weights, description.tokenizer
    content = read_checked(folder, name, pinned.get(name))
    if description.kind == "pieces":
        tokens: Tokeniser = piece_tokeniser(content)
        table = rows_of(read_checked(folder, weights, pinned.get(weights)))
    else:
        tokens = LibraryTokeniser(content, special=False)
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


_CUTS: Final = {"static": 0.2, "pieces": 0.35}
"""Below which cosine two tokens have nothing to do with each other; rows of many languages are nearer."""
_TRUST: Final = {"static": 1.0, "pieces": 0.5}
"""How much of the words' part a table may have where no other knows the text. The one of many languages whose
rows were cut to 128 numbers is best at half (Chinese, Arabic, Russian)."""


def token_table(folder: Path, description: ModelDescription) -> TokenTable:
    """Return the token vectors of a static model in a folder, read on first use."""
    load = partial(_load_table, folder, description)
    return TokenTable(description.name, description.languages, load, _TRUST[description.kind])


def _load_table(folder: Path, description: ModelDescription) -> LoadedTable:
    tokeniser, table, silent = read_static(folder, description)
    lengths = np.linalg.norm(table, axis=1)
    lengths[silent] = 0.0
    table /= np.maximum(lengths, 1e-9)[:, np.newaxis]
    table[silent] = 0.0
    cut = _CUTS[description.kind]
    return LoadedTable(table, token_weights(lengths), tokeniser.ids, tokeniser.text, cut)


def installed_tables(models: Path | None) -> tuple[TokenTable, ...]:
    """Return the token tables of the catalogue that are in a folder of models, none of them read yet."""
    names = () if models is None else installed(models)
    return tuple(
        token_table(models / entry.name, entry.description)
        for entry in CATALOGUE.values()
        if models is not None
        and isinstance(entry.description, ModelDescription)
        and entry.description.has_table
        and entry.name in names
    )
