"""Re-rankers: an ONNX cross-encoder in a folder, without torch or a download, and services behind HTTP.

A cross-encoder reads the query and one text together and gives one number for how well they fit (Nogueira
and Cho, "Passage re-ranking with BERT", 2019). Two kinds of folder are read: one with a ``model.toml`` (see
:mod:`memorata.embed.description`), whose hashes are checked on loading, and one as the model hub
lays it out (see :func:`memorata.embed.hub.describe_hub_reranker`).

What does not fit into the model's window is treated so:

- A text is cut into overlapping passages, each read beside the whole query, and its best passage speaks
  for it (MaxP of Dai and Callan, "Deeper text understanding for IR", 2019). At most :data:`MAX_PASSAGES` are
  scored, so that a long text costs hardly more than one that just fits: those that share most with the
  query, a shared token counting one over the number of passages that have it, earlier ones first. Beyond
  the first :data:`MAX_CHARACTERS` a text is not read at all.
- A query is never cut. One that leaves less than :data:`MIN_TEXT_SHARE` of the window to the text gets no
  opinion: every text scores 0, which leaves the order of the first stage as it was.

Services are Cohere's and Jina's ``/rerank`` and their imitators, and that of TEI. A recall waits for them, so
each query is given seconds in all, and a service that does not answer is left alone for a while
(:mod:`memorata.embed.circuit_breaker`). Every answer is checked: one finite score for each text, numbered as
it was sent. What goes wrong is an `EmbedderError`, after which a recall keeps its own order and says so.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from memorata.embed.circuit_breaker import QUERY_SECONDS, CircuitBreaker
from memorata.embed.description import DESCRIPTION, OUTPUTS, PAIR, RerankerDescription, read_any_description
from memorata.embed.http_client import RetryPolicy, authorised, checked_address, post_json
from memorata.embed.hub import describe_hub_reranker
from memorata.embed.onnx import OnnxSession, read_model
from memorata.embed.services import query_retry
from memorata.embed.tokens import Tokeniser
from memorata.embed.vectors import checked_text, checked_texts, well_formed
from memorata.embed.vocabulary import PairTokens
from memorata.model.checks import FloatArray, whole
from memorata.model.checks import text as checked
from memorata.model.errors import EmbedderError, InvalidArgument, ModelCorrupt, ServiceAnswerInvalid, shown

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
    InvalidArgument
        The folder holds an embedder.
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
        self._loaded: tuple[Tokeniser, OnnxSession] | None = None

    def load(self) -> None:
        """Load the model now instead of on first use."""
        self._model()

    def score(self, query: str, texts: Sequence[str]) -> FloatArray:
        """Return how well each text fits the query; higher is better, the scale is the model's own.

        Parameters
        ----------
        query
            Read whole, or, if it is too long for that, not at all: every text then scores 0.
        texts
            Each is as good as its best passage.

        Raises
        ------
        EmbedderError
            The model could not be loaded or run, or gave something that is no score.
        """
        query = well_formed(checked("query", query))
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
            [[number in part for number in sorted(own - tokens.special_ids())] for part in passage_tokens]
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

    def _model(self) -> tuple[Tokeniser, OnnxSession]:
        with self._lock:
            if self._loaded is None:
                files, threads = self.description.files, self._threads
                self._loaded = read_model(self._folder, files, pooling=None, threads=threads)
            return self._loaded


MAX_SENT_CHARACTERS: Final = 4_000
"""Characters of a text that are sent; models read some 512 to 8,000 tokens, and most memories are short."""


class RerankApi(NamedTuple):
    """How a kind of service is asked, and where its scores stand in an answer."""

    address: str
    """Where it is usually; empty where there is no usual place."""
    body: Callable[[str, str, Sequence[str]], Mapping[str, object]]
    scores: Callable[[Any], Sequence[tuple[object, object]]]
    """Index and score of each text; may raise KeyError and TypeError where there are none."""


def _numbered(answer: Any) -> Sequence[tuple[object, object]]:  # noqa: ANN401 - what the service answered
    return [(item["index"], item["relevance_score"]) for item in answer["results"]]


def _cohere_body(model: str, query: str, texts: Sequence[str]) -> Mapping[str, object]:
    return {"model": model, "query": query, "documents": list(texts), "top_n": len(texts)}


APIS: Final[Mapping[str, RerankApi]] = {
    "cohere": RerankApi("https://api.cohere.com/v2", _cohere_body, _numbered),
    "jina": RerankApi("https://api.jina.ai/v1", _cohere_body, _numbered),
    "tei": RerankApi(
        "",
        lambda model, query, texts: {"query": query, "texts": list(texts), "truncate": True},
        lambda answer: [(item["index"], item["score"]) for item in answer],
    ),
}
"""By the form of a specification: ``cohere:MODEL@ADDRESS``, ``jina:MODEL@ADDRESS``, ``tei:ADDRESS``."""


class ServiceReranker:
    """Scores texts by asking a service.

    - `kind`: one of :data:`APIS`.
    - `model`: what the service calls the model; TEI has one, and needs no name.
    - `address`: where the service is; empty for the usual place.
    - `api_key`: sent as a bearer token when given.
    - `batch`: the most texts of one request; TEI takes 32 by default.
    - `retry`, `seconds`: time limits and retries; and how long a query waits in all.
    """

    def __init__(
        self,
        kind: str,
        model: str,
        address: str = "",
        *,
        api_key: str | None = None,
        batch: int = 32,
        retry: RetryPolicy | None = None,
        seconds: float = QUERY_SECONDS,
    ) -> None:
        self._api = APIS[kind]
        self._model = checked("model", model)
        self._address = checked_address("address", address or self._api.address)
        self.name = f"{kind}:{model or self._address}"
        self._headers = authorised(api_key)
        self._batch = whole("batch", batch, 1)
        self._retry = query_retry(retry or RetryPolicy(), seconds)
        self._breaker = CircuitBreaker(clock=self._retry.clock)

    def score(self, query: str, texts: Sequence[str]) -> FloatArray:
        """Return how well each text fits the query; higher is better.

        - raises `EmbedderError`: the service is away, refused, or gave something that is no score.
        """
        text = checked_text(query)
        cut = [text[:MAX_SENT_CHARACTERS] for text in checked_texts(texts)]
        starts = range(0, len(cut), self._batch)
        batches = self._breaker.call(
            lambda: [self._scores(text, cut[start : start + self._batch]) for start in starts]
        )
        return np.concatenate([np.zeros(0), *batches])

    def _scores(self, query: str, texts: Sequence[str]) -> FloatArray:
        body = self._api.body(self._model, query, texts)
        answer = post_json(f"{self._address}/rerank", body, self._headers, self._retry)
        try:
            pairs = self._api.scores(answer)
            scores = {index: float(score) for index, score in pairs}  # type: ignore[arg-type]
        except (KeyError, TypeError, ValueError) as error:
            raise ServiceAnswerInvalid(f"{self._address} answered without scores: {shown(answer)}") from error
        if scores.keys() != set(range(len(texts))) or not all(map(math.isfinite, scores.values())):
            raise ServiceAnswerInvalid(
                f"{self._address} gave {shown(scores)} where {len(texts)} scores were expected"
            )
        return np.array([scores[place] for place in range(len(texts))])
