"""Any ONNX sentence encoder in a folder, through onnxruntime: no torch, no download.

Two kinds of folder are read: one with a ``model.toml`` (see :mod:`memorata.embed.description`), whose hashes
are checked on loading, and one as the model hub lays it out (see :mod:`memorata.embed.hub`).

A sentence encoder gives a vector for every token; the vector of the text is the first token's (``cls``,
Devlin et al., BERT, 2019) or the mean over the tokens that are not padding (``mean``, Reimers & Gurevych,
2019). A classifier, such as a re-ranker, gives the row of a text itself.

Graphs whose activations are quantised while they run scale a whole batch by its largest value, so that a
text's vector would depend on its neighbours in the batch (for arctic-embed-s the cosine between the two falls
to 0.994). They are run one text at a time, on several threads, which is as fast and gives every text one
vector. So are graphs without an input for the mask.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from memorata.embed.description import (
    DESCRIPTION,
    KINDS,
    TOKENIZER,
    ModelDescription,
    read_checked,
    read_description,
)
from memorata.embed.hub import describe_hub_folder, hub_weights
from memorata.embed.port import Vectors
from memorata.embed.token_embedder import LoadedModel, TokenEmbedder
from memorata.embed.tokens import Tokeniser
from memorata.embed.vectors import length_sorted, padded, with_progress
from memorata.model.checks import IntArray, whole
from memorata.model.errors import EmbedderError, InvalidArgument, MissingExtra, ModelCorrupt

MAX_ROWS = 16
MAX_TOKENS = 2048
"""Bounds of a batch. On a processor larger ones are no faster, and attention over them takes much memory."""
MAX_THREADS = 4
"""Threads used when the caller names no number; more rarely pays for texts of a few dozen tokens."""
_NO_TELEMETRY = "ORT_DISABLE_TELEMETRY"
_DYNAMIC = b"DynamicQuantizeLinear"
_TOKEN_OUTPUTS = ("last_hidden_state", "token_embeddings")
_TEXT_OUTPUTS = ("logits",)


class OnnxSession:
    """A loaded graph. Safe to call from several threads at once.

    It is given as bytes, and by its path if its weights are in a second file beside it; `initializers` are
    weights that it names and does not hold. No `pooling` is for a graph that gives one row per text itself.
    """

    def __init__(
        self,
        model: bytes,
        *,
        pooling: str | None,
        path: str | None = None,
        threads: int | None = None,
        initializers: Mapping[str, npt.NDArray[Any]] | None = None,
    ) -> None:
        onnxruntime = _runtime()
        self._threads = _usable_threads() if threads is None else whole("threads", threads, 1)
        self._pooling = pooling
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self._threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # Waiting threads sleep instead of spinning: as fast here, and kinder to whatever else is running.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        if initializers:
            values = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in initializers.values()]
            options.add_external_initializers(list(initializers), values)
        try:
            self._session = onnxruntime.InferenceSession(
                path or model, options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # onnxruntime's errors share no public base
            raise ModelCorrupt(f"the model cannot be loaded: {error}") from error
        inputs = self._session.get_inputs()
        self._feeds = [self._feed(node.name, node.type) for node in inputs]
        # A graph without an attention mask would read the padding.
        alone = _DYNAMIC in model or "attention_mask" not in [node.name for node in inputs]
        self._rows = 1 if alone else MAX_ROWS
        outputs = [node.name for node in self._session.get_outputs()]
        output_names = _TEXT_OUTPUTS if pooling is None else _TOKEN_OUTPUTS
        self._output = next((name for name in output_names if name in outputs), outputs[0])

    def forward(self, ids: list[list[int]], types: list[list[int]] | None = None) -> Vectors:
        """Return one row per list of token ids, in the order given, not yet of unit length.

        `types` says for every token whether it belongs to the first (0) or the second (1) of a pair of texts.
        """
        if len(ids) == 1:
            return self._run(ids, types)
        batches = length_sorted([len(row) for row in ids], self._rows, MAX_TOKENS)

        def run(batch: IntArray) -> Vectors:
            rows = [ids[index] for index in batch]
            return self._run(rows, None if types is None else [types[index] for index in batch])

        if len(batches) == 1 or self._threads == 1:
            parts = list(with_progress(map(run, batches), len(ids)))
        else:
            with ThreadPoolExecutor(self._threads) as pool:
                parts = list(with_progress(pool.map(run, batches), len(ids)))
        rows = np.empty((len(ids), parts[0].shape[1]), dtype=np.float32)
        for batch, part in zip(batches, parts, strict=True):
            rows[batch] = part
        return rows

    def _run(self, rows: Sequence[Sequence[int]], types: Sequence[Sequence[int]] | None) -> Vectors:
        ids, mask = padded(rows, padding=0)
        kinds = np.zeros_like(ids) if types is None else padded(types, padding=0)[0]
        feed = dict(make(ids, mask, kinds) for make in self._feeds)
        try:
            (output,) = self._session.run([self._output], feed)
        except Exception as error:  # onnxruntime's errors share no public base
            raise EmbedderError(
                f"the model could not read a text of {ids.shape[1]} tokens: {error}"
            ) from error
        states: Vectors = np.asarray(output, dtype=np.float32)
        if states.ndim == 2 and len(states) == len(rows):
            return states
        if self._pooling is None or states.shape[:-1] != mask.shape:
            raise ModelCorrupt(f"the model gives an output of shape {states.shape}, not one row per text")
        return pooled(states, mask, self._pooling)

    @staticmethod
    def _feed(name: str, kind: str) -> Callable[[IntArray, IntArray, IntArray], tuple[str, IntArray]]:
        dtype = np.int32 if kind == "tensor(int32)" else np.int64
        makers: dict[str, Callable[[IntArray, IntArray, IntArray], IntArray]] = {
            "input_ids": lambda ids, mask, types: ids,
            "attention_mask": lambda ids, mask, types: mask,
            "token_type_ids": lambda ids, mask, types: types,
            "position_ids": lambda ids, mask, types: np.broadcast_to(np.arange(ids.shape[1]), ids.shape),
        }
        if name not in makers:
            raise ModelCorrupt(f"the model asks for an input {name!r}, which a model of texts does not have")

        def feed(ids: IntArray, mask: IntArray, types: IntArray) -> tuple[str, IntArray]:
            return name, np.ascontiguousarray(makers[name](ids, mask, types), dtype=dtype)

        return feed


def _runtime() -> Any:  # noqa: ANN401 - a module without types
    """Load onnxruntime, and keep it from telling its makers about this machine.

    Since 1.31 it writes an identifier into the user's cache and looks up a server to report to, unless this
    variable is set before it is loaded; what it offers to switch that off later comes too late. A value that
    is set already stays.
    """
    os.environ.setdefault(_NO_TELEMETRY, "1")
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingExtra("A model of ONNX", "'memorata[onnx]'") from error
    return onnxruntime


def _usable_threads() -> int:
    # A container may be given fewer processors than the machine has.
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(MAX_THREADS, usable)


def pooled(states: Vectors, mask: npt.NDArray[np.int64], pooling: str) -> Vectors:
    """Return one row per text from one row per token."""
    if pooling == "cls":
        return states[:, 0]
    weights = mask.astype(np.float32)[:, :, None]
    # A text without a single token has no mean; it gets the zero vector.
    means: Vectors = (states * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1.0)
    return means


class OnnxEmbedder(TokenEmbedder):
    """A sentence encoder read from a folder on first use.

    Parameters
    ----------
    folder
        Where the model's files are.
    threads
        How many threads may compute; None for as many as there are processors, up to four.
    description
        What the folder holds, where it is known better than by its files.

    Raises
    ------
    ModelNotInstalled, ModelCorrupt
        The folder holds no model, or its description cannot be used.
    """

    def __init__(
        self, folder: Path, *, threads: int | None = None, description: ModelDescription | None = None
    ) -> None:
        if description is None:
            own = (folder / DESCRIPTION).is_file()
            description = read_description(folder) if own else describe_hub_folder(folder)
        if description.kind != "onnx":
            raise InvalidArgument("folder", str(folder), f"an ONNX model (this one is {description.kind})")
        files, pooling = description.files, description.pooling

        def load() -> LoadedModel:
            tokens, session = read_model(folder, files, pooling=pooling, threads=threads)
            return LoadedModel(tokens, session.forward)

        super().__init__(description, load)


def read_model(
    folder: Path, files: Mapping[str, str], *, pooling: str | None, threads: int | None
) -> tuple[Tokeniser, OnnxSession]:
    """Return the tokeniser and the graph in a folder; `files` are the pinned hashes, if there are any."""
    own = (folder / DESCRIPTION).is_file()
    weights = KINDS["onnx"] if own else hub_weights(folder)
    tokens = Tokeniser(read_checked(folder, TOKENIZER, files.get(TOKENIZER)))
    model = read_checked(folder, weights, files.get(weights))
    # With a model.toml, the bytes that were checked are the bytes that are run. A hub's graph is opened by
    # its path, since it may keep its weights in a second file.
    path = None if own else str(folder / weights)
    return tokens, OnnxSession(model, pooling=pooling, path=path, threads=threads)
