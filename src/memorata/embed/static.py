"""Static embeddings: one row of a table per token, and the text is their mean (model2vec's potion models).

No attention and no graph, hence some twenty thousand texts a second: a transformer was distilled beforehand
into the table (Tulkens & van Dongen, Model2Vec, 2024). The vector is the mean of the rows of the text's
tokens without special and unknown ones; a text of which no token is known has the zero vector.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np

from memorata.embed.description import TOKENIZER, ModelDescription, read_checked, read_description
from memorata.embed.port import Vectors
from memorata.embed.token_embedder import Loaded, TokenEmbedder
from memorata.embed.tokens import Tokens
from memorata.model.errors import InvalidArgument, ModelCorrupt

_TYPES = {"F32": "<f4", "F16": "<f2"}


class StaticEmbedder(TokenEmbedder):
    """A table of token vectors read from a folder on first use.

    Parameters
    ----------
    folder
        A folder with ``model.safetensors``, ``tokenizer.json`` and ``model.toml``.
    description
        What the folder holds, for a caller who knows better than its ``model.toml``.

    Raises
    ------
    ModelNotInstalled, ModelCorrupt
        The folder holds no model, or its description cannot be used.
    """

    def __init__(self, folder: Path, *, description: ModelDescription | None = None) -> None:
        description = read_description(folder) if description is None else description
        if description.kind != "static":
            raise InvalidArgument("folder", str(folder), f"a static model (this one is {description.kind})")
        super().__init__(description)
        self._folder = folder

    def _load(self) -> Loaded:
        pinned = self._description.files
        weights = self._description.weights
        tokens = Tokens(read_checked(self._folder, TOKENIZER, pinned.get(TOKENIZER)), special=False)
        table = table_of(read_checked(self._folder, weights, pinned.get(weights)))
        silent = np.zeros(len(table), dtype=np.bool_)
        silent[[number for number in tokens.silent() if number < len(table)]] = True

        def forward(numbers: list[list[int]]) -> Vectors:
            try:
                return mean_rows(table, numbers, silent)
            except IndexError as error:
                raise ModelCorrupt(f"{self._folder} has tokens that its table has no row for") from error

        return Loaded(tokens, forward)


def mean_rows(table: Vectors, numbers: list[list[int]], silent: np.typing.NDArray[np.bool_]) -> Vectors:
    """Return for each list of token numbers the mean of their rows, leaving out the `silent` tokens.

    Examples
    --------
    >>> table = np.array([[9, 9], [1, 0], [3, 2]], dtype=np.float32)
    >>> mean_rows(table, [[0, 1, 2], [0]], silent=np.array([True, False, False]))
    array([[2., 1.],
           [0., 0.]], dtype=float32)
    """
    means = np.zeros((len(numbers), table.shape[1]), dtype=np.float32)
    # One text at a time keeps the gathered rows in the processor's cache, which is twice as fast as summing
    # all texts at once (np.add.reduceat).
    for mean, row in zip(means, numbers, strict=True):
        heard = np.array(row, dtype=np.intp)
        heard = heard[~silent[heard]]
        if len(heard):
            np.add.reduce(table[heard], axis=0, out=mean)
            mean /= len(heard)
    return means


def table_of(content: bytes) -> Vectors:
    """Return the one table of a safetensors file: a length, a JSON header, then the numbers.

    Raises
    ------
    ModelCorrupt
        The file is cut short, or is not a static model's.
    """
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
