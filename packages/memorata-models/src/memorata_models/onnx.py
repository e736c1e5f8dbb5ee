"""Graphs of ONNX, through onnxruntime: sentence encoders and re-rankers in a folder; no torch, no download.

Two kinds of folder are read (see :mod:`memorata_models.description`): one with a ``model.toml``, whose hashes
are checked on loading, and one as the model hub lays it out.

A sentence encoder gives a vector for every token; the vector of the text is the first token's (``cls``,
Devlin et al., BERT, 2019) or the mean over the tokens that are not padding (``mean``, Reimers & Gurevych,
2019). A re-ranker is a cross-encoder: it reads the query and one text together and gives one number for how
well they fit (Nogueira and Cho, "Passage re-ranking with BERT", 2019).

Graphs whose activations are quantised while they run scale a whole batch by its largest value, so that a
text's vector would depend on its neighbours in the batch (for arctic-embed-s the cosine between the two falls
to 0.994). They are run one text at a time, on several threads, which is as fast and gives every text one
vector. So are graphs without an input for the mask.

What does not fit into the window of a re-ranker is treated so:

- A text is cut into overlapping passages, each read beside the whole query, and its best passage speaks
  for it (MaxP of Dai and Callan, "Deeper text understanding for IR", 2019). At most :data:`MAX_PASSAGES` are
  scored, so that a long text costs hardly more than one that just fits: those that share most with the
  query, a shared token counting one over the number of passages that have it, earlier ones first. Beyond
  the first :data:`MAX_CHARACTERS` a text is not read at all.
- A query is never cut. One that leaves less than :data:`MIN_TEXT_SHARE` of the window to the text gets no
  opinion: every text scores 0, which leaves the order of the first stage as it was.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from memorata.extend.embedding import (
    DESCRIPTION,
    TOKENIZER,
    LoadedModel,
    ModelDescription,
    TokenEmbedder,
    TokenTable,
    Vectors,
    checked_texts,
    length_sorted,
    read_checked,
    well_formed,
)
from memorata.extend.errors import EmbedderError, InvalidArgument, ModelCorrupt
from memorata.extend.model import FloatArray, IntArray, checks
from memorata_models.description import (
    OUTPUTS,
    PAIR,
    RerankerDescription,
    read_any_description,
    read_description,
)
from memorata_models.hub import describe_hub_folder, describe_hub_reranker, hub_weights
from memorata_models.tokens import LibraryTokeniser, PairTokens

MAX_ROWS = 16
MAX_TOKENS = 2048
"""Bounds of a batch. On a processor larger ones are no faster, and attention over them takes much memory."""
MAX_THREADS = 4
"""Threads used when the caller names no number; more rarely pays for texts of a few dozen tokens."""
_NO_TELEMETRY = "ORT_DISABLE_TELEMETRY"
_Integers: TypeAlias = npt.NDArray[np.int64]
_DYNAMIC = b"DynamicQuantizeLinear"
_TOKEN_OUTPUTS = ("last_hidden_state", "token_embeddings")
_TEXT_OUTPUTS = ("logits",)


class OnnxSession:
    """A loaded graph. Safe to call from several threads at once.

    It is given as bytes, and by its path if its weights are in a second file beside it. No `pooling` is for a
    graph that gives one row per text itself.
    """

    def __init__(
        self,
        model: bytes,
        *,
        pooling: str | None,
        path: str | None = None,
        threads: int | None = None,
    ) -> None:
        onnxruntime = _runtime()
        self._threads = _usable_threads() if threads is None else checks.whole("threads", threads, 1)
        self._pooling = pooling
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self._threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # Waiting threads sleep instead of spinning: as fast here, and kinder to whatever else is running.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
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
            parts = list(map(run, batches))
        else:
            with ThreadPoolExecutor(self._threads) as pool:
                parts = list(pool.map(run, batches))
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
    variable is set before it is loaded. A value that is set already stays.
    """
    os.environ.setdefault(_NO_TELEMETRY, "1")
    import onnxruntime

    return onnxruntime


def padded(rows: Sequence[Sequence[int]], padding: int) -> tuple[_Integers, _Integers]:
    """Return token ids as one rectangle, and the mask that tells tokens (1) from padding (0)."""
    width = max(map(len, rows), default=0)
    ids = np.full((len(rows), width), padding, dtype=np.int64)
    mask = np.zeros((len(rows), width), dtype=np.int64)
    for index, row in enumerate(rows):
        ids[index, : len(row)] = row
        mask[index, : len(row)] = 1
    return ids, mask


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
    token_tables
        The tables with which texts are compared token by token beside it.

    Raises
    ------
    ModelNotInstalled, ModelCorrupt
        The folder holds no model, or its description cannot be used.
    """

    def __init__(
        self,
        folder: Path,
        *,
        threads: int | None = None,
        description: ModelDescription | None = None,
        token_tables: Sequence[TokenTable] = (),
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
        self.token_tables = token_tables


def read_model(
    folder: Path, files: Mapping[str, str], *, pooling: str | None, threads: int | None
) -> tuple[LibraryTokeniser, OnnxSession]:
    """Return the tokeniser and the graph in a folder; `files` are the pinned hashes, if there are any."""
    own = (folder / DESCRIPTION).is_file()
    weights = "model.onnx" if own else hub_weights(folder)
    tokens = LibraryTokeniser(read_checked(folder, TOKENIZER, files.get(TOKENIZER)))
    model = read_checked(folder, weights, files.get(weights))
    # With a model.toml, the bytes that were checked are the bytes that are run. A hub's graph is opened by
    # its path, since it may keep its weights in a second file.
    path = None if own else str(folder / weights)
    return tokens, OnnxSession(model, pooling=pooling, path=path, threads=threads)


MAX_PASSAGES = 4
"""How many passages of a text are scored, each with that part of the room beside the query: some 120 of
512 tokens, the length of the passages such models learn from."""
MAX_CHARACTERS = 1 << 15
"""How much of one text is read; the first stage has judged the whole of it already."""
MIN_TEXT_SHARE = 1 / 4
"""The part of the window that a query must leave to the text."""


class OnnxReranker:
    """A cross-encoder read from a folder on first use. Safe to call from several threads at once.

    Parameters
    ----------
    folder, threads, description
        As for :class:`OnnxEmbedder`, and raises as that does.
    """

    def __init__(
        self, folder: Path, *, threads: int | None = None, description: RerankerDescription | None = None
    ) -> None:
        own = (folder / DESCRIPTION).is_file()
        read = description or (read_any_description(folder) if own else describe_hub_reranker(folder))
        if not isinstance(read, RerankerDescription):
            raise InvalidArgument("folder", str(folder), f"a re-ranker (this one is {read.kind})")
        self.description, self.name = read, read.id
        self._folder, self._threads = folder, threads
        self._lock = threading.Lock()
        self._loaded: tuple[LibraryTokeniser, OnnxSession] | None = None

    def load(self) -> None:
        """Load the model now instead of on first use."""
        self._model()

    def score(self, query: str, texts: Sequence[str]) -> FloatArray:
        """Return how well each text fits the query; higher is better, the scale is the model's own.

        A query that is too long to be read whole is not read: every text then scores 0.
        """
        query = well_formed(checks.text("query", query))
        cut = [text[:MAX_CHARACTERS] for text in checked_texts(texts)]
        scores = np.zeros(len(cut))
        window = self.description.max_tokens
        if not cut:
            return scores
        room = window - len(self._read(query, [""])[0])
        if room < MIN_TEXT_SHARE * window:
            return scores
        rows: list[PairTokens] = []
        starts = []
        for text, row in zip(cut, self._read(query, cut), strict=True):
            starts.append(len(rows))
            rows.extend([row] if len(row) <= window else self._best_passages(query, text, room))
        return np.maximum.reduceat(self._forward(rows), starts)

    def _read(self, query: str, texts: list[str]) -> list[PairTokens]:
        """Return the tokens of the query with each text, as the model wants to see them."""
        tokens, _ = self._model()
        if self.description.template == PAIR:
            return tokens.pairs(query, texts)
        read = tokens.ids([self.description.filled(query, text) for text in texts])
        return [PairTokens(ids, [0] * len(ids)) for ids in read]

    def _best_passages(self, query: str, text: str, room: int) -> list[PairTokens]:
        window, (tokens, _) = self.description.max_tokens, self._model()
        size = max(1, room // MAX_PASSAGES)
        parts, rows = tokens.passages(text, size, window, lambda parts: self._read(query, parts))
        own, *passage_tokens = map(set, tokens.ids([query, *parts]))
        shared = np.array(
            [[number in part for number in sorted(own - tokens.special_ids)] for part in passage_tokens]
        )
        scores = shared @ (1 / np.maximum(1, shared.sum(axis=0)))
        return [rows[index] for index in np.argsort(-scores, kind="stable")[:MAX_PASSAGES]]

    def _forward(self, rows: list[PairTokens]) -> FloatArray:
        _, session = self._model()
        outputs = session.forward([row.ids for row in rows], [row.type_ids for row in rows])
        columns = OUTPUTS[self.description.output]
        if outputs.shape[1] != columns:
            raise ModelCorrupt(
                f"{self.name} gives {outputs.shape[1]} numbers per text where output = "
                f"{self.description.output!r} needs {columns}"
            )
        logits = outputs.astype(np.float64)
        scores: FloatArray = logits[:, 1] - logits[:, 0] if columns == 2 else logits[:, 0]
        if not np.isfinite(scores).all():
            raise EmbedderError(f"{self.name} gave a score that is NaN or infinite: its file is not usable")
        return scores

    def _model(self) -> tuple[LibraryTokeniser, OnnxSession]:
        with self._lock:
            if self._loaded is None:
                files, threads = self.description.files, self._threads
                self._loaded = read_model(self._folder, files, pooling=None, threads=threads)
            return self._loaded
