"""Re-rankers behind HTTP: Cohere's and Jina's ``/rerank`` and their imitators, and that of TEI.

A recall waits for them, so each query is given seconds in all, and a service that does not answer is left
alone for a while (:mod:`memorata.embed.circuit_breaker`). Every answer is checked: one finite score for each
text, numbered as it was sent. What goes wrong is an `EmbedderError`, after which a recall keeps its own order
and says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from memorata.embed.circuit_breaker import QUERY_SECONDS, CircuitBreaker
from memorata.embed.http_client import RetryPolicy, authorised, checked_address, post_json
from memorata.embed.services import query_retry
from memorata.embed.vectors import checked_text, checked_texts
from memorata.model.checks import text as checked_name
from memorata.model.checks import whole
from memorata.model.errors import ServiceAnswerInvalid, shown

MAX_CHARACTERS: Final = 4_000
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
    - `batch`: the most texts of one request; TEI takes 32 unless it is told otherwise.
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
        self._kind, self._model = kind, checked_name("model", model)
        self._address = checked_address("address", address or self._api.address)
        self._headers = authorised(api_key)
        self._batch = whole("batch", batch, 1)
        self._retry = query_retry(retry or RetryPolicy(), seconds)
        self._breaker = CircuitBreaker(clock=self._retry.clock)

    @property
    def name(self) -> str:
        """What explanations call it."""
        return f"{self._kind}:{self._model or self._address}"

    def score(self, query: str, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return how well each text fits the query; higher is better.

        - raises `EmbedderError`: the service is away, refused, or gave something that is no score.
        """
        text = checked_text(query)
        cut = [text[:MAX_CHARACTERS] for text in checked_texts(texts)]
        starts = range(0, len(cut), self._batch)
        batches = self._breaker.call(
            lambda: [self._scores(text, cut[start : start + self._batch]) for start in starts]
        )
        return np.concatenate([np.zeros(0), *batches])

    def _scores(self, query: str, texts: Sequence[str]) -> npt.NDArray[np.float64]:
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
