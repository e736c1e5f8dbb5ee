"""A language model behind an OpenAI-compatible ``/chat/completions``, and what it is asked.

It judges contradictions and writes summaries; and within a recall it tells the type of a query, the time that
it asks about ("the summer before we moved"), and how well texts answer it, each by a number from 0 to 10 (Sun
et al., "Is ChatGPT good at search?", EMNLP 2023, ask chat models to rank). It is believed no further than
that: what it says must stand in the material, so that a text that gives orders gains little by it.

Time limits and retries are those of the embedders (:mod:`memorata_models.http_client`). A recall waits for
seconds at most, and a service that does not answer is left alone for a while. Where it fails, rules take
its place, and the recall says so. Nothing is kept: what one namespace asked must not make another's answer
faster.
"""

from __future__ import annotations

import hashlib
import json
import logging
import tomllib
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from memorata.extend.embedding import FIRST_PAUSE, QUERY_SECONDS, CircuitBreaker, RetryPolicy
from memorata.extend.errors import EmbeddingServiceError, ServiceAnswerInvalid, shown
from memorata.extend.model import FloatArray, Memory, checks
from memorata.extend.roles import (
    FIRST_DAY,
    LAST_DAY,
    QUERY_TYPES,
    AnchorReading,
    Classification,
    Days,
    RuleAnchors,
    RuleClassifier,
    TimeExpression,
)
from memorata_models.http_client import authorised, checked_address, post_json
from memorata_models.services import query_retry

_LOG: Final = logging.getLogger(__name__)
PROMPTS: Final[Mapping[str, str]] = tomllib.loads(
    Path(__file__).with_name("prompts.toml").read_text(encoding="utf-8")
)


class ChatService:
    """Asks one model, always the same way."""

    def __init__(self, model: str, address: str, api_key: str | None, retry: RetryPolicy | None) -> None:
        self.model = checks.text("model", model)
        self.retry = retry or RetryPolicy()
        self._address = checked_address("address", address) + "/chat/completions"
        self._headers = authorised(api_key)

    def name(self, prompt: str) -> str:
        """Return the identity of the model and of what it is asked."""
        return f"chat:{self.model}@{hashlib.sha256(prompt.encode()).hexdigest()[:8]}"

    def ask_about(self, prompt: str, material: object) -> Any:  # noqa: ANN401 - what the service answered
        """Ask about material, given as JSON, and for JSON."""
        material_json = json.dumps(material, ensure_ascii=False)
        return self.ask(prompt, material_json, response_format={"type": "json_object"})

    def ask(self, prompt: str, material: str, **options: object) -> Any:  # noqa: ANN401 - what the service answered
        """Return the answer of the service."""
        body = {
            "model": self.model,
            "temperature": 0,
            **options,
            "messages": [{"role": "system", "content": prompt}, {"role": "user", "content": material}],
        }
        return post_json(self._address, body, self._headers, self.retry)


class ChatRole:
    """What asks a language model for one thing."""

    def __init__(
        self, model: str, address: str, *, api_key: str | None = None, retry: RetryPolicy | None = None
    ) -> None:
        self._service = ChatService(model, address, api_key, retry)


def answer_json(answer: object) -> Any:  # noqa: ANN401 - whatever JSON there is
    r"""Return the JSON of an answer, decoded; the fence that some models put around it is removed."""
    content = message(answer)
    if not isinstance(content, str):
        raise ServiceAnswerInvalid(f"the service answered with {shown(content)} where text was expected")
    try:
        return json.loads(content.strip().removeprefix("```json").removeprefix("```").removesuffix("```"))
    except ValueError as error:
        raise ServiceAnswerInvalid(f"the model did not answer in JSON ({shown(content)})") from error


def answer_items(answer: object, name: str, count: int) -> list[Any]:
    """Return the list that an answer has under a name; it must have so many items."""
    data = answer_json(answer)
    items = data.get(name) if isinstance(data, dict) else None
    if not isinstance(items, list) or len(items) != count:
        received = f"{len(items)} items" if isinstance(items, list) else shown(data)
        raise ServiceAnswerInvalid(f"the model gave {received} for {count} {name}")
    return items


def message(answer: object) -> object:
    """Return the content of the message in an answer, or raise :class:`ServiceAnswerInvalid`."""
    try:
        content: object = answer["choices"][0]["message"]["content"]  # type: ignore[index]
    except (TypeError, KeyError, IndexError) as error:
        raise ServiceAnswerInvalid(f"the service answered without a message: {shown(answer)}") from error
    return content


JUDGE_PROMPT: Final = PROMPTS["judge"]

_VERDICTS: Final = {"contradicts": True, "compatible": False, "unsure": None}
_MAX_TEXT_LENGTH: Final = 2_000
_MAX_REASON_LENGTH: Final = 500
_PAIRS_PER_REQUEST: Final = 8


class Ruling(NamedTuple):
    """The verdict of a model on two memories: whether one contradicts the other (None: unsure), and why."""

    contradicts: bool | None
    reason: str


class ChatJudge(ChatRole):
    """Asks a language model whether memories contradict each other."""

    @property
    def name(self) -> str:
        """The model's name."""
        return f"chat:{self._service.model}"

    def __call__(self, pairs: Sequence[tuple[Memory, Memory]]) -> list[Ruling]:
        """Return a ruling for each pair of an older and a newer memory."""
        rulings: list[Ruling] = []
        for start in range(0, len(pairs), _PAIRS_PER_REQUEST):
            rulings += self._rulings(pairs[start : start + _PAIRS_PER_REQUEST])
        return rulings

    def _rulings(self, pairs: Sequence[tuple[Memory, Memory]]) -> list[Ruling]:
        material = [{"older": _material(older), "newer": _material(newer)} for older, newer in pairs]
        return rulings(self._service.ask_about(JUDGE_PROMPT, material), len(pairs))


def rulings(answer: object, count: int) -> list[Ruling]:
    """Return what an answer to `count` pairs says about each of them."""
    return [_ruling(item) for item in answer_items(answer, "pairs", count)]


def _ruling(item: object) -> Ruling:
    verdict = item.get("verdict") if isinstance(item, dict) else None
    reason = item.get("reason") if isinstance(item, dict) else None
    if verdict not in _VERDICTS or not isinstance(reason, str) or not reason.strip():
        raise ServiceAnswerInvalid(
            f"the model said {shown(item)}, where a verdict and a reason were expected"
        )
    return Ruling(_VERDICTS[verdict], " ".join(reason.split())[:_MAX_REASON_LENGTH])


def _material(memory: Memory) -> dict[str, str]:
    return {"text": memory.content[:_MAX_TEXT_LENGTH], "time": memory.event_time.isoformat()}


SUMMARY_PROMPT: Final = PROMPTS["summary"]
_MAX_SUMMARY_LENGTH: Final = 4_000


class ChatWriter(ChatRole):
    """Writes summaries by asking a language model."""

    @property
    def name(self) -> str:
        """Identity of the writer: the model, and what it is asked."""
        return self._service.name(SUMMARY_PROMPT)

    def write(self, memories: Sequence[Memory], limit: int) -> str:
        """Return what the model says about memories, or raise :class:`EmbeddingServiceError`."""
        texts = [
            {
                "day": memory.event_time.date().isoformat(),
                "speaker": memory.source.speaker,
                "text": memory.content,
            }
            for memory in memories
        ]
        request = f"At most {limit} sentences.\n{json.dumps(texts, ensure_ascii=False)}"
        text = message(self._service.ask(SUMMARY_PROMPT, request))
        if not isinstance(text, str) or not text.strip() or len(text) > _MAX_SUMMARY_LENGTH:
            raise ServiceAnswerInvalid(
                f"the service answered with {shown(text)} where a summary was expected"
            )
        return text.strip()


CLASSIFIER_PROMPT: Final = PROMPTS["classifier"]
RERANKER_PROMPT: Final = PROMPTS["reranker"]
MAX_SCORE: Final = 10.0
_MAX_QUERY_CHARACTERS: Final = 2_000
_MAX_TEXT_CHARACTERS: Final = 1_000
"""Characters of a text that are sent: all candidates stand in one request."""


class _QueryService(ChatRole):
    """A service that is called within a recall, which waits so many `seconds` for it."""

    _pause = FIRST_PAUSE
    """Seconds for which it is left alone after the first failure."""

    def __init__(
        self,
        model: str,
        address: str,
        *,
        api_key: str | None = None,
        retry: RetryPolicy | None = None,
        seconds: float = QUERY_SECONDS,
    ) -> None:
        retry = query_retry(retry or RetryPolicy(), seconds)
        super().__init__(model, address, api_key=api_key, retry=retry)
        self._breaker = CircuitBreaker(first_pause=self._pause, clock=retry.clock)

    def _ask(self, prompt: str, material: Mapping[str, Any]) -> Any:  # noqa: ANN401 - whatever it answers
        return answer_json(self._breaker.call(lambda: self._service.ask_about(prompt, material)))


class ChatClassifier(_QueryService):
    """Tells the type of a query by asking a language model; by rules where that fails."""

    @property
    def name(self) -> str:
        """Identity of the classifier: the model, and what it is asked."""
        return self._service.name(CLASSIFIER_PROMPT)

    def classify(self, query: str) -> Classification:
        """Return the type of `query` and how sure that is."""
        return self.read(query)[0]

    def read(self, query: str) -> tuple[Classification, str]:
        """Return the type of `query`, and why the model could not be asked, if so."""
        checks.text("query", query)
        if not query.strip():
            return RuleClassifier().classify(query), ""
        try:
            return self._classified(query[:_MAX_QUERY_CHARACTERS]), ""
        except EmbeddingServiceError as error:
            return RuleClassifier().classify(query), f"the type of the query was told by rules: {error}"

    def _classified(self, query: str) -> Classification:
        answer = self._ask(CLASSIFIER_PROMPT, {"query": query})
        fields = answer if isinstance(answer, dict) else {}
        kind, confidence = fields.get("type"), fields.get("confidence")
        if kind not in QUERY_TYPES or not isinstance(confidence, int | float) or isinstance(confidence, bool):
            raise ServiceAnswerInvalid(f"the model said {shown(answer)}, where a type was expected")
        if not 0 <= confidence <= 1:
            raise ServiceAnswerInvalid(f"the model said {shown(confidence)}, where a confidence was expected")
        return Classification(kind, float(confidence))


class ChatReranker(_QueryService):
    """Scores texts by asking a language model."""

    @property
    def name(self) -> str:
        """What explanations call it."""
        return f"chat:{self._service.model}"

    def score(self, query: str, texts: Sequence[str]) -> FloatArray:
        """Return how well each text answers the query, from 0 to 10, or raise `EmbedderError`."""
        material = {
            "query": checks.text("query", query),
            "texts": [text[:_MAX_TEXT_CHARACTERS] for text in texts],
        }
        if not texts:
            return np.zeros(0)
        answer = self._ask(RERANKER_PROMPT, material)
        scores = answer.get("scores") if isinstance(answer, dict) else None
        if not isinstance(scores, list) or len(scores) != len(texts):
            raise ServiceAnswerInvalid(f"the model said {shown(answer)}, where {len(texts)} scores were due")
        if not all(type(score) in (int, float) and 0 <= score <= MAX_SCORE for score in scores):
            raise ServiceAnswerInvalid(f"the model said {shown(scores)}, where each is from 0 to 10")
        return np.array(scores, np.float64)


ANCHOR_PROMPT: Final = PROMPTS["anchors"]
_DAY: Final = timedelta(days=1)


class ChatAnchors(_QueryService):
    """Reads the time that a query names by asking a language model, and says if that failed."""

    _pause = 30.0

    @property
    def name(self) -> str:
        """Identity of the reader: the model, and the query it is asked."""
        return self._service.name(ANCHOR_PROMPT)

    def anchor(self, text: str, now: datetime) -> TimeExpression | None:
        """Return the time that `text`, asked at `now`, asks about; None where it names none."""
        return self.read(text, now).expression

    def read(self, text: str, now: datetime) -> AnchorReading:
        """Return that time, and why the model could not be asked, if so."""
        checks.text("text", text)
        checks.instant("now", now)
        if not text.strip():
            return AnchorReading(None)
        try:
            if len(text) > _MAX_QUERY_CHARACTERS:
                raise ServiceAnswerInvalid(
                    f"the question is longer than {_MAX_QUERY_CHARACTERS:,} characters"
                )
            material = {"today": f"{now:%A}, {now.date().isoformat()}", "question": text}
            return AnchorReading(expression(self._ask(ANCHOR_PROMPT, material), text, now))
        except EmbeddingServiceError as error:
            _LOG.warning("the time of a question was read by rules: %s", error)
            failure = f"the time of the question was read by rules: {error}"
            return AnchorReading(RuleAnchors().anchor(text, now), failure)


def expression(answer: object, text: str, now: datetime) -> TimeExpression | None:
    """Return the time that a model's answer names, in the words of the query; None for none."""
    if not isinstance(answer, dict) or "phrase" not in answer:
        raise ServiceAnswerInvalid(f"the model said {shown(answer)}, where a phrase or none was expected")
    phrase = answer["phrase"]
    if phrase is None:
        return None
    if not isinstance(phrase, str) or not phrase.strip():
        raise ServiceAnswerInvalid(f"the model said {shown(phrase)}, where a phrase or none was expected")
    start = text.find(phrase)
    if start < 0:
        raise ServiceAnswerInvalid(f"the model names {shown(phrase)}, which is not in the question")
    first, last = _day(answer, "from", FIRST_DAY), _day(answer, "to", LAST_DAY)
    if not FIRST_DAY <= first <= last <= LAST_DAY or (first, last) == (FIRST_DAY, LAST_DAY):
        raise ServiceAnswerInvalid(f"the model says from {first} to {last}, which is no stretch of time")
    period = Days(first, last + _DAY).period(now.tzinfo or UTC)
    return TimeExpression(start, start + len(phrase), phrase, period)


def _day(answer: dict[str, object], name: str, otherwise: date) -> date:
    value = answer.get(name)
    if value is None:
        return otherwise
    try:
        if isinstance(value, str):
            return date.fromisoformat(value)
    except ValueError:
        pass
    raise ServiceAnswerInvalid(f"the model said {shown(value)}, where a day such as 2023-05-08 was expected")
