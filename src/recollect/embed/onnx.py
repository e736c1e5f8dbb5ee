"""Any ONNX sentence encoder in a folder, through onnxruntime: no torch, no download.

Two kinds of folder are read: one with a ``model.toml`` (see :mod:`recollect.embed.description`), whose hashes
are checked on loading, and one as the model hub lays it out (see :mod:`recollect.embed.hub`).
"""

from __future__ import annotations

from pathlib import Path

from recollect.embed.description import (
    DESCRIPTION,
    TOKENIZER,
    ModelDescription,
    read_checked,
    read_description,
)
from recollect.embed.hub import describe_hub_folder, hub_weights
from recollect.embed.onnx_session import OnnxSession
from recollect.embed.token_embedder import Loaded, TokenEmbedder
from recollect.embed.tokens import Tokens
from recollect.model.errors import InvalidArgument


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
        pinned = self._description.files
        tokens = Tokens(read_checked(self._folder, TOKENIZER, pinned.get(TOKENIZER)))
        model = read_checked(self._folder, self._weights, pinned.get(self._weights))
        # With a model.toml, the bytes that were checked are the bytes that are run. A hub's graph is opened
        # by its path, since it may keep its weights in a second file.
        path = str(self._folder / self._weights) if self._hub else None
        session = OnnxSession(model, pooling=self._description.pooling, path=path, threads=self._threads)
        return Loaded(tokens, session.forward)
