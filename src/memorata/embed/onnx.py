"""Any ONNX sentence encoder in a folder, through onnxruntime: no torch, no download.

Two kinds of folder are read: one with a ``model.toml`` (see :mod:`memorata.embed.description`), whose hashes
are checked on loading, and one as the model hub lays it out (see :mod:`memorata.embed.hub`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from memorata.embed.description import (
    DESCRIPTION,
    TOKENIZER,
    ModelDescription,
    read_checked,
    read_description,
)
from memorata.embed.hub import describe_hub_folder, hub_weights
from memorata.embed.onnx_session import OnnxSession
from memorata.embed.token_embedder import Loaded, TokenEmbedder
from memorata.embed.tokens import Tokens
from memorata.model.errors import InvalidArgument


class OnnxEmbedder(TokenEmbedder):
    """A sentence encoder read from a folder on first use.

    Parameters
    ----------
    folder
        Where the model's files are.
    threads
        How many threads may compute; None for as many as there are processors, up to four.
    description
        What the folder holds, for a caller who knows better than its files.

    Raises
    ------
    ModelNotInstalled, ModelCorrupt
        The folder holds no model, or its description cannot be used.
    """

    def __init__(
        self, folder: Path, *, threads: int | None = None, description: ModelDescription | None = None
    ) -> None:
        own = (folder / DESCRIPTION).is_file()
        if description is None:
            description = read_description(folder) if own else describe_hub_folder(folder)
        if description.kind != "onnx":
            raise InvalidArgument("folder", str(folder), f"an ONNX model (this one is {description.kind})")
        super().__init__(description)
        self._folder = folder
        self._hub = not own
        self._weights = description.weights if own else hub_weights(folder)
        self._threads = threads

    def _load(self) -> Loaded:
        known = self._description
        tokens, session = read_model(
            self._folder,
            self._weights,
            known.files,
            hub=self._hub,
            pooling=known.pooling,
            threads=self._threads,
        )
        return Loaded(tokens, session.forward)


def read_model(
    folder: Path,
    weights: str,
    files: Mapping[str, str],
    *,
    hub: bool,
    pooling: str | None,
    threads: int | None,
) -> tuple[Tokens, OnnxSession]:
    """Return the tokeniser and the graph in a folder, once both are known to be the pinned ones.

    Parameters
    ----------
    folder, weights
        Where the graph is.
    files
        The pinned SHA-256 of every file; a file that is not in it is read as it is.
    hub
        Whether the folder is laid out as the model hub does.
    pooling, threads
        As for :class:`~memorata.embed.onnx_session.OnnxSession`.

    Raises
    ------
    ModelNotInstalled, ModelCorrupt, MissingExtra
        The model cannot be used, and why.
    """
    tokens = Tokens(read_checked(folder, TOKENIZER, files.get(TOKENIZER)))
    model = read_checked(folder, weights, files.get(weights))
    # With a model.toml, the bytes that were checked are the bytes that are run. A hub's graph is opened by
    # its path, since it may keep its weights in a second file.
    path = str(folder / weights) if hub else None
    return tokens, OnnxSession(model, pooling=pooling, path=path, threads=threads)
