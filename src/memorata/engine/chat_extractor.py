"""Names and relations by a language model behind an OpenAI-compatible ``/chat/completions``.

The model is asked for JSON, several texts at a time, and is believed only as far as the text goes: a name
that does not stand in the text is dropped, and so is a relation between names that do not. So a text that
gives orders to the model can at most name what it contains. Time limits and retries are those of the
embedders (:mod:`memorata.embed.http_client`). Whatever goes wrong, the memory is kept: a text that could not
be read comes back with nothing, and why.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, MutableMapping, Sequence

from memorata.embed.http_client import RetryPolicy
from memorata.embed.tokens import character_passages
from memorata.engine.chat_answer import PROMPT, Reading, readings
from memorata.engine.chat_service import ChatService
from memorata.model import checks
from memorata.model.errors import (
    EmbeddingServiceError,
    InvalidArgument,
    ServiceAnswerInvalid,
    ServiceRefused,
)
from memorata.text.entities import Extraction, non_overlapping
from memorata.text.gazetteer import Gazetteer
from memorata.text.machine_names import machine_names

_TOO_MUCH = frozenset({400, 413, 422})
"""Refusals that may be about one text of a batch, or its size; the others are about all of them."""
_OVERLAP = 8
"""The part of a piece that the next one repeats is one in this many characters."""


class ChatExtractor:
    """Reads names and relations by asking a language model.

    Parameters
    ----------
    model
        What the service calls the model.
    address
        Where ``/chat/completions`` follows, usually ending in ``/v1``.
    api_key
        Sent as a bearer token when given.
    batch
        The most texts of one question.
    longest
        The most characters of a text that are asked about at once; a longer text is asked about in pieces.
    cache
        Where answers are kept by the hash of model, prompt and text: any mapping from text to text. Failures
        are not kept. Nothing is kept if none is given: a cache serves all namespaces, and where tenants share
        an engine, the time that an answer takes would tell what others hold.
    retry
        Time limits and retries.
    """

    def __init__(
        self,
        model: str,
        address: str,
        *,
        api_key: str | None = None,
        batch: int = 8,
        longest: int = 4_000,
        cache: MutableMapping[str, str] | None = None,
        retry: RetryPolicy | None = None,
    ) -> None:
        self._service = ChatService(model, address, api_key, retry)
        self._batch = checks.whole("batch", batch, 1)
        self._longest = checks.whole("longest", longest, 16)
        if cache is not None and not isinstance(cache, MutableMapping):
            raise InvalidArgument("cache", cache, "a mapping that can be written to")
        self._cache = cache

    @property
    def name(self) -> str:
        """Identity of the reader: the model, and the question it is asked."""
        return self._service.name(PROMPT)

    def extract(self, texts: Sequence[str], gazetteer: Gazetteer | None = None) -> list[Extraction]:
        """Return the mentions and relations of each text, or nothing and why."""
        checked = checks.texts("texts", texts)
        gazetteer = gazetteer or Gazetteer()
        pieces = [character_passages(text, self._longest, self._longest // _OVERLAP) for text in checked]
        wanted = dict.fromkeys(piece for parts in pieces for piece in parts if piece.strip())
        read = {piece: kept for piece in wanted if (kept := self._kept(piece)) is not None}
        failures = self._ask([piece for piece in wanted if piece not in read], read)
        return [
            self._extraction(text, parts, read, failures, gazetteer)
            for text, parts in zip(checked, pieces, strict=True)
        ]

    def _extraction(
        self,
        text: str,
        parts: Sequence[str],
        read: Mapping[str, Reading],
        failures: Mapping[str, str],
        gazetteer: Gazetteer,
    ) -> Extraction:
        failure = next((failures[part] for part in parts if part in failures), "")
        reading = Reading.joined([read[part] for part in parts if part in read])
        if failure:
            return Extraction(failure=failure)
        named, relations = reading.grounded(text, gazetteer)
        found = [(start, end, "known") for start, end in gazetteer.spans(text)]
        return Extraction(non_overlapping(text, [*found, *named, *machine_names(text)]), relations)

    def _ask(self, pieces: list[str], read: dict[str, Reading]) -> dict[str, str]:
        """Ask about the pieces, put what is read into `read`, and return why the others are not there."""
        failures: dict[str, str] = {}
        waiting = [pieces[start : start + self._batch] for start in range(0, len(pieces), self._batch)]
        while waiting:
            batch = waiting.pop(0)
            try:
                answers = self._answers(batch)
            except EmbeddingServiceError as error:
                if _concerns_some(error) and len(batch) > 1:
                    # One text may have spoilt the answer for the others: each is asked about alone.
                    waiting = [[piece] for piece in batch] + waiting
                elif _concerns_some(error):
                    failures[batch[0]] = str(error)
                else:
                    # Who is away, or wants another key, is not asked about every batch that is left.
                    failures |= dict.fromkeys(
                        [*batch, *(piece for rest in waiting for piece in rest)], str(error)
                    )
                    break
            else:
                for piece, reading in zip(batch, answers, strict=True):
                    read[piece] = reading
                    if self._cache is not None:
                        self._cache[self._key(piece)] = reading.dumped()
        return failures

    def _answers(self, batch: Sequence[str]) -> list[Reading]:
        return readings(self._service.ask_about(PROMPT, batch), len(batch))

    def _kept(self, piece: str) -> Reading | None:
        kept = None if self._cache is None else self._cache.get(self._key(piece))
        if kept is None:
            return None
        try:
            return Reading.parsed(json.loads(kept))
        except (ValueError, TypeError, ServiceAnswerInvalid):
            # What somebody else put there is not ours to trust; the model is asked again.
            return None

    def _key(self, piece: str) -> str:
        return hashlib.sha256(f"{self.name}\0{piece}".encode("utf-8", "surrogatepass")).hexdigest()


def _concerns_some(error: EmbeddingServiceError) -> bool:
    """Return whether an error may be about one text, and not about the service."""
    if isinstance(error, ServiceRefused):
        return error.status in _TOO_MUCH
    return isinstance(error, ServiceAnswerInvalid)
