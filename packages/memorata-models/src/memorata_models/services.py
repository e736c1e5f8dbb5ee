"""Embedders and re-rankers behind HTTP: those of OpenAI, Ollama, Cohere, Jina, TEI and their imitators.

The tokens of a model behind a service are not known here, so long texts are cut by characters, well below
what such models read. Nothing is left to a server's silent truncation: Ollama is asked not to, and every
answer is checked for the number of its vectors, their length, and numbers that are not finite. What is too
long for a service all the same is cut smaller, until it fits. A blank text, which services refuse, has the
zero vector.

A recall waits for the vector of its query, so that is given seconds; documents are given minutes. A service
that does not answer is left alone for a while by a circuit breaker: by queries, and, if it was a document
that waited in vain for all its minutes, by documents too.

Re-rankers are Cohere's and Jina's ``/rerank`` and their imitators, and that of TEI. A recall waits for them
as it does for its vector. Every answer is checked: one finite score for each text, numbered as it was sent.
What goes wrong is an `EmbedderError`, after which a recall keeps its own order and says so.
"""

from __future__ import annotations

import hashlib
import json
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Final, NamedTuple, Self

import numpy as np

from memorata.extend.embedding import (
    QUERY_SECONDS,
    CircuitBreaker,
    Prompts,
    RetryPolicy,
    TokenTable,
    Vectors,
    character_passages,
    checked_seconds,
    checked_text,
    checked_texts,
    unit_means,
    unit_rows,
)
from memorata.extend.errors import (
    DimensionMismatch,
    InvalidArgument,
    ServiceAnswerInvalid,
    ServiceRefused,
    shown,
)
from memorata.extend.model import FloatArray, checks
from memorata_models.http_client import authorised, checked_address, post_json, without_key

OVERLAP = 1 / 8
PASSAGE_CHARACTERS = 2000
"""Characters of a passage: some 500 tokens of English, and below 2,048 tokens in any script."""
_PROBE_TEXT = "dimension"
"""Sent where only the length of a vector is asked for."""
_MIN_CUT = 32
"""Characters of a passage that no service finds too long, so that there is something else."""
_MIN_SECONDS = 0.001
_MAX_REASON = 120
_QUERY_PAUSE = 0.25
_QUERY_ATTEMPTS = 3


class _Api(NamedTuple):
    """How a kind of service is asked, and where its vectors stand in an answer."""

    kind: str
    path: str
    options: Mapping[str, object]
    vectors: Callable[[dict[str, Any]], object]
    """May raise KeyError and TypeError where there are none, ValueError for what is wrong with them."""


class ServiceEmbedder:
    """What embedders behind HTTP share.

    - `dimension`: the length its vectors must have; None to ask the service on first use.
    - `similarity_threshold`: the cosine above which two texts are likelier related than not; 0 when not
      measured.
    - `batch`, `passage_characters`: the most texts of one request, and characters of one text.
    - `retry`: time limits and retries of documents; a query waits `query_seconds`, whatever it takes.
    """

    _api: _Api
    max_tokens = None
    """Not known: texts are cut by characters."""

    def __init__(
        self,
        model: str,
        address: str,
        *,
        api_key: str | None = None,
        dimension: int | None = None,
        prompts: Prompts | None = None,
        similarity_threshold: float = 0.0,
        batch: int = 64,
        passage_characters: int = PASSAGE_CHARACTERS,
        retry: RetryPolicy | None = None,
        query_seconds: float = QUERY_SECONDS,
        token_tables: Sequence[TokenTable] = (),
    ) -> None:
        self.token_tables = token_tables
        self._model = checks.writable("model", model)
        if not model.strip():
            raise InvalidArgument("model", model, "what the service calls a model")
        self.address = checked_address("address", address)
        self._headers = authorised(api_key)
        self._dimension = dimension if dimension is None else checks.whole("dimension", dimension, 1)
        self.prompts = prompts or Prompts()
        self.similarity_threshold = checks.within("similarity_threshold", similarity_threshold, -1.0, 1.0)
        self._batch = checks.whole("batch", batch, 1)
        self._size = checks.whole("passage_characters", passage_characters, 16)
        self._retry = retry or RetryPolicy()
        self._query_policy = query_retry(self._retry, query_seconds)
        self._breaker = CircuitBreaker(clock=self._retry.clock)
        self._document_breaker = CircuitBreaker(clock=self._retry.clock, silence_only=True)
        self._apart = False
        self._lock = threading.Lock()

    @property
    def kind(self) -> str:
        """How the service is named in a specification: ``openai`` or ``ollama``."""
        return self._api.kind

    def prompted(self, prompts: Prompts) -> Self:
        """Return the same service with other prompts, for which no threshold has been measured."""
        if prompts == self.prompts:
            return self
        prompted = copy(self)
        prompted.prompts, prompted.similarity_threshold, prompted._lock = prompts, 0.0, threading.Lock()
        return prompted

    def of_dimension(self, dimension: int, *, apart: bool = False) -> Self:
        """Return the same service, known to give vectors of this length, so that it need not be asked.

        `apart`: vectors of another length, another model's, are known by its name, so the length joins the
        name.
        """
        sized = copy(self)
        sized._dimension, sized._apart = checks.whole("dimension", dimension, 1), apart
        sized._lock = threading.Lock()
        return sized

    @property
    def name(self) -> str:
        """Identity of the vectors: service, model, prompts and passages; services tell no revision."""
        facts = json.dumps([self.prompts.query, self.prompts.document, self._size])
        name = f"{self.kind}:{self._model}@{hashlib.sha256(facts.encode()).hexdigest()[:8]}"
        return f"{name}:{self._dimension}" if self._apart else name

    @property
    def dimension(self) -> int:
        """Length of every vector, asked of the service if it was not given."""
        if self._dimension is None:
            self._breaker.call(lambda: self._vectors([_PROBE_TEXT], self._retry), force=True)
        assert self._dimension is not None  # an answer has shown it
        return self._dimension

    @property
    def known_dimension(self) -> int | None:
        """Length of every vector, if it was given or an answer has shown it; the service is not asked."""
        return self._dimension

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text; a long text is the unit mean of its passages."""
        return unit_means(self.embed_passages(texts), self.dimension)

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a query."""
        passages = self.passages(text)
        rows = self._rows(self.prompts.query, passages, self._query_policy)
        vector: Vectors = unit_means([rows], rows.shape[1])[0]
        return vector

    def passages(self, text: str) -> list[str]:
        """Return the overlapping passages of `text`; ``[text]`` when it is short enough to be sent whole."""
        return character_passages(checked_text(text), self._size, int(self._size * OVERLAP))

    def embed_passages(self, texts: Sequence[str]) -> list[Vectors]:
        """Return for each text the rows of its passages."""
        cut = [self.passages(text) for text in checked_texts(texts)]
        if not cut:
            return []
        flat = [passage for passages in cut for passage in passages]
        rows = self._rows(self.prompts.document, flat, self._retry, force=True)
        return np.split(rows, np.cumsum([len(passages) for passages in cut])[:-1])

    def _rows(self, prompt: str, passages: list[str], retry: RetryPolicy, *, force: bool = False) -> Vectors:
        """Return the vectors of passages, asking for those that say something."""
        filled = [index for index, passage in enumerate(passages) if passage.strip()]
        if not filled and self._dimension is not None:
            return np.zeros((len(passages), self._dimension), dtype=np.float32)
        texts = [passages[index] for index in filled] or [_PROBE_TEXT]

        def batched() -> Vectors:
            return self._breaker.call(lambda: self._batched(prompt, texts, retry), force=force)

        if force:
            vectors = self._document_breaker.call(batched)
        else:
            vectors = batched()
            self._document_breaker.succeeded()
        rows = np.zeros((len(passages), vectors.shape[1]), dtype=np.float32)
        rows[filled] = vectors[: len(filled)]
        return rows

    def _batched(self, prompt: str, passages: list[str], retry: RetryPolicy) -> Vectors:
        # However many requests a query takes, it waits once.
        until = math.inf if retry.total is None else retry.clock() + retry.total
        starts = range(0, len(passages), self._batch)
        return np.concatenate(
            [self._embed_fitting(prompt, passages[at : at + self._batch], retry, until) for at in starts]
        )

    def _embed_fitting(self, prompt: str, passages: list[str], retry: RetryPolicy, until: float) -> Vectors:
        """Return the vectors of passages, cut smaller where they are longer than the service reads."""
        policy = retry
        if until < math.inf:
            policy = replace(retry, total=max(_MIN_SECONDS, until - retry.clock()))
        try:
            return self._vectors([prompt + passage for passage in passages], policy)
        except ServiceRefused as error:
            if not error.too_long or (len(passages) == 1 and len(passages[0]) < _MIN_CUT):
                raise
        if len(passages) > 1:
            half = len(passages) // 2
            halves = (passages[:half], passages[half:])
            return np.concatenate([self._embed_fitting(prompt, part, retry, until) for part in halves])
        size = len(passages[0]) // 2 + 1
        # The mean speaks for all of it, as that of its passages does for a whole text.
        parts = character_passages(passages[0], size, int(size * OVERLAP))
        rows = self._embed_fitting(prompt, [part for part in parts if part.strip()], retry, until)
        return unit_means([rows], rows.shape[1])

    def _vectors(self, texts: list[str], retry: RetryPolicy) -> Vectors:
        vectors = self._ask(texts, retry)
        if not isinstance(vectors, list) or len(vectors) != len(texts):
            count = len(vectors) if isinstance(vectors, list) else shown(vectors)
            raise ServiceAnswerInvalid(f"{self.address} gave {count} vectors for {len(texts)} texts")
        try:
            wide = checks.matrix("embeddings", vectors)
        except InvalidArgument as error:
            raise ServiceAnswerInvalid(f"{self.address} gave vectors that cannot be used: {error}") from error
        if wide.shape[1] == 0:
            raise ServiceAnswerInvalid(f"{self.address} gave {shown(vectors[0])} where a vector was expected")
        self._learn(wide.shape[1])
        return unit_rows(wide)

    def _learn(self, dimension: int) -> None:
        with self._lock:
            expected = self._dimension = dimension if self._dimension is None else self._dimension
        if dimension != expected:
            advice = (
                "if the service has another model by this name now, give it the one it had, "
                f"or set the dimension (MEMORATA_DIMENSION={dimension}) and run `memorata admin reembed`"
            )
            raise DimensionMismatch(self.name, expected, dimension, advice)

    def _ask(self, texts: list[str], retry: RetryPolicy) -> Any:  # noqa: ANN401 - checked by the caller
        """Send one request and return what should be a list of vectors, in the order of the texts."""
        body = {"model": self._model, "input": texts, **self._api.options}
        answer = post_json(self.address + self._api.path, body, self._headers, retry)
        quoted = shown(without_key(str(answer), self._headers))
        if not isinstance(answer, dict):
            raise ServiceAnswerInvalid(f"{self.address} answered with {quoted}, not with a JSON object")
        try:
            return self._api.vectors(answer)
        except ValueError as error:
            reason = without_key(str(error), self._headers)[:_MAX_REASON]
            raise ServiceAnswerInvalid(f"{self.address} {reason}") from error
        except (TypeError, KeyError) as error:
            raise ServiceAnswerInvalid(f"{self.address} answered without vectors: {quoted}") from error


def query_retry(policy: RetryPolicy, seconds: float) -> RetryPolicy:
    """Return the retry of a query: another attempt follows soon, if there is time for it."""
    total = checked_seconds("query_seconds", seconds)
    pause = min(policy.first_pause, _QUERY_PAUSE)
    return replace(policy, attempts=min(policy.attempts, _QUERY_ATTEMPTS), first_pause=pause, total=total)


def _openai_vectors(answer: dict[str, Any]) -> object:
    # The specification numbers the vectors, and servers exist that send them as they are finished.
    data = answer["data"]
    ordered = sorted(data, key=lambda item: item["index"])
    if [item["index"] for item in ordered] != list(range(len(ordered))):
        raise ValueError(f"numbered its vectors {[item['index'] for item in data]}")
    return [item["embedding"] for item in ordered]


class OpenAIEmbedder(ServiceEmbedder):
    """A model behind an OpenAI-compatible ``/v1/embeddings``: OpenAI, vLLM, llama.cpp, LM Studio and others.

    The address ends where ``/embeddings`` is to follow, usually in ``/v1``. Parameters are those of
    :class:`ServiceEmbedder`.

    Examples
    --------
    >>> OpenAIEmbedder("text-embedding-3-small", "https://api.openai.com/v1", dimension=1536).name
    'openai:text-embedding-3-small@...'
    """

    _api = _Api("openai", "/embeddings", {"encoding_format": "float"}, _openai_vectors)


class OllamaEmbedder(ServiceEmbedder):
    """A model behind Ollama's ``/api/embed``. Parameters are those of :class:`ServiceEmbedder`.

    Examples
    --------
    >>> OllamaEmbedder("nomic-embed-text", "http://127.0.0.1:11434", dimension=768).dimension
    768
    """

    _api = _Api("ollama", "/api/embed", {"truncate": False}, lambda answer: answer.get("embeddings"))


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
    """Scores texts by asking a service of one of :data:`APIS`; without an address, at the usual place.

    TEI has one model, which needs no name, and takes 32 texts of one request by default.
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
        self._model = checks.text("model", model)
        self._address = checked_address("address", address or self._api.address)
        self.name = f"{kind}:{model or self._address}"
        self._headers = authorised(api_key)
        self._batch = checks.whole("batch", batch, 1)
        self._retry = query_retry(retry or RetryPolicy(), seconds)
        self._breaker = CircuitBreaker(clock=self._retry.clock)

    def score(self, query: str, texts: Sequence[str]) -> FloatArray:
        """Return how well each text fits the query; higher is better."""
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
