"""Embedders behind HTTP: OpenAI's ``/v1/embeddings`` and its imitators, and Ollama's ``/api/embed``.

The tokens of a model behind a service are not known here, so long texts are cut by characters, well below
what such models read. Nothing is left to a server's silent truncation: Ollama is told not to, and every
answer is checked for the number of its vectors, their length, and numbers that are not finite. A blank
text, which services refuse, has the zero vector.
"""

from __future__ import annotations

import hashlib
import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, Self

import numpy as np

from recollect.embed.exchange import Patience, authorised, checked_address, post_json, without_key
from recollect.embed.port import Prompts, Vectors
from recollect.embed.texts import checked_text, checked_texts
from recollect.embed.vectors import unit_means, unit_rows
from recollect.embed.windows import character_passages
from recollect.model.checks import matrix, whole, within
from recollect.model.checks import text as checked_string
from recollect.model.errors import DimensionMismatch, InvalidArgument, ServiceAnswerInvalid, shown

OVERLAP = 1 / 8
PASSAGE_CHARACTERS = 2000
"""Characters of a passage: some 500 tokens of English, and below 2,048 tokens in any script."""
OPENAI = "https://api.openai.com/v1"
OLLAMA = "http://127.0.0.1:11434"


class ServiceEmbedder(ABC):
    """What embedders behind HTTP share.

    Parameters
    ----------
    model
        What the service calls the model.
    address
        Where the service is.
    api_key
        Sent as a bearer token when given.
    dimension
        The length its vectors must have; None to ask the service on first use.
    prompts
        Prefixes of queries and documents, for models that need them.
    similarity_threshold
        The cosine above which two texts are likelier related than not; 0 when nobody has measured it.
    batch
        The most texts of one request.
    passage_characters
        The most characters of one text of a request.
    patience
        Time limits and retries.
    """

    kind: str
    """How the service is named in a specification: ``openai`` or ``ollama``."""

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
        patience: Patience | None = None,
    ) -> None:
        self._model = checked_string("model", model)
        if not model.strip():
            raise InvalidArgument("model", model, "what the service calls a model")
        self._address = checked_address("address", address)
        self._headers = authorised(api_key)
        self._dimension = dimension if dimension is None else whole("dimension", dimension, 1)
        self._prompts = prompts or Prompts()
        self._threshold = within("similarity_threshold", similarity_threshold, -1.0, 1.0)
        self._batch = whole("batch", batch, 1)
        self._size = whole("passage_characters", passage_characters, 16)
        self._patience = patience or Patience()
        self._lock = threading.Lock()

    @abstractmethod
    def _ask(self, texts: list[str]) -> Any:  # noqa: ANN401 - a list of vectors, if the service is well
        """Send one request and return what should be a list of vectors, in the order of the texts."""

    def prompted(self, prompts: Prompts) -> Self:
        """Return the same service with other prompts, for which nobody has measured a threshold."""
        if prompts == self._prompts:
            return self
        made = copy(self)
        made._prompts, made._threshold, made._lock = prompts, 0.0, threading.Lock()
        return made

    @property
    def name(self) -> str:
        """Identity of the vectors: service, model, prompts and passages; services tell no revision."""
        facts = json.dumps([self._prompts.query, self._prompts.document, self._size])
        return f"{self.kind}:{self._model}@{hashlib.sha256(facts.encode()).hexdigest()[:8]}"

    @property
    def address(self) -> str:
        """Where the service is."""
        return self._address

    @property
    def dimension(self) -> int:
        """Length of every vector, asked of the service if it was not given."""
        with self._lock:
            if self._dimension is None:
                self._dimension = self._vectors(["dimension"], None).shape[1]
            return self._dimension

    @property
    def max_tokens(self) -> None:
        """Not known: texts are cut by characters."""
        return None

    @property
    def prompts(self) -> Prompts:
        """The prefixes of queries and documents."""
        return self._prompts

    @property
    def similarity_threshold(self) -> float:
        """The cosine above which two texts are likelier related than not."""
        return self._threshold

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text; a long text is the unit mean of its passages."""
        return unit_means(self.embed_passages(texts), self.dimension)

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a question."""
        passages = self.passages(text)
        rows = self._batched([self._prompts.query + passage for passage in passages])
        vector: Vectors = unit_means([rows], self.dimension)[0]
        return vector

    def passages(self, text: str) -> list[str]:
        """Return the overlapping passages of `text`; ``[text]`` when it is short enough to be sent whole."""
        return character_passages(checked_text(text), self._size, int(self._size * OVERLAP))

    def embed_passages(self, texts: Sequence[str]) -> list[Vectors]:
        """Return for each text the rows of its passages."""
        cut = [self.passages(text) for text in checked_texts(texts)]
        if not cut:
            return []
        flat = [self._prompts.document + passage for passages in cut for passage in passages]
        return np.split(self._batched(flat), np.cumsum([len(passages) for passages in cut])[:-1])

    def _batched(self, texts: list[str]) -> Vectors:
        parts = [texts[start : start + self._batch] for start in range(0, len(texts), self._batch)]
        return np.concatenate([self._vectors(part, self.dimension) for part in parts])

    def _vectors(self, texts: list[str], dimension: int | None) -> Vectors:
        spoken = [index for index, text in enumerate(texts) if text.strip()]
        if len(spoken) < len(texts):
            rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
            if spoken:
                rows[spoken] = self._vectors([texts[index] for index in spoken], dimension)
            return rows
        found = self._ask(texts)
        if not isinstance(found, list) or len(found) != len(texts):
            count = len(found) if isinstance(found, list) else shown(found)
            raise ServiceAnswerInvalid(f"{self._address} gave {count} vectors for {len(texts)} texts")
        try:
            wide = matrix("embeddings", found)
        except InvalidArgument as error:
            raise ServiceAnswerInvalid(
                f"{self._address} gave vectors that cannot be used: {error}"
            ) from error
        if wide.shape[1] == 0:
            raise ServiceAnswerInvalid(f"{self._address} gave {shown(found[0])} where a vector was expected")
        if dimension is not None and wide.shape[1] != dimension:
            raise DimensionMismatch(self.name, dimension, wide.shape[1])
        return unit_rows(wide)

    def _post(self, path: str, body: Mapping[str, object]) -> Any:  # noqa: ANN401 - what the service answered
        answer = post_json(self._address + path, body, self._headers, self._patience)
        if not isinstance(answer, dict):
            raise ServiceAnswerInvalid(
                f"{self._address} answered with {self._quoted(answer)}, not with a JSON object"
            )
        return answer

    def _quoted(self, answer: object) -> str:
        return shown(without_key(str(answer), self._headers))


class OpenAIEmbedder(ServiceEmbedder):
    """A model behind an OpenAI-compatible ``/v1/embeddings``: OpenAI, vLLM, llama.cpp, LM Studio and others.

    The address ends where ``/embeddings`` is to follow, usually in ``/v1``.
    """

    kind = "openai"

    def _ask(self, texts: list[str]) -> Any:  # noqa: ANN401 - checked by the caller
        answer = self._post("/embeddings", {"model": self._model, "input": texts, "encoding_format": "float"})
        data = answer.get("data")
        try:
            # The specification numbers the vectors, and servers exist that send them as they are finished.
            ordered = sorted(data, key=lambda item: item["index"])
            if [item["index"] for item in ordered] != list(range(len(ordered))):
                raise ServiceAnswerInvalid(
                    f"{self._address} numbered its vectors {[item['index'] for item in data]}"
                )
            return [item["embedding"] for item in ordered]
        except (TypeError, KeyError) as error:
            raise ServiceAnswerInvalid(
                f"{self._address} answered without vectors: {self._quoted(answer)}"
            ) from error


class OllamaEmbedder(ServiceEmbedder):
    """A model behind Ollama's ``/api/embed``."""

    kind = "ollama"

    def _ask(self, texts: list[str]) -> Any:  # noqa: ANN401 - checked by the caller
        answer = self._post("/api/embed", {"model": self._model, "input": texts, "truncate": False})
        return answer.get("embeddings")
