"""A language model behind an OpenAI-compatible ``/chat/completions``: who is asked, how, and what it said.

Those who ask differ in the question and in what they make of the answer; this is what they share. Time limits
and retries are those of the embedders (:mod:`memorata.embed.http_client`).
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any, Final

from memorata.embed.http_client import RetryPolicy, authorised, checked_address, post_json
from memorata.model import checks
from memorata.model.errors import ServiceAnswerInvalid, shown

_FENCE: Final = re.compile(r"^\s*```(?:json)?\s*|\s*```\s*$")


class ChatService:
    """Asks one model, always the same way.

    Parameters
    ----------
    model
        What the service calls the model.
    address
        Where ``/chat/completions`` follows, usually ending in ``/v1``.
    api_key
        Sent as a bearer token when given.
    retry
        Time limits and retries.
    """

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
        said = json.dumps(material, ensure_ascii=False)
        return self.ask(prompt, said, response_format={"type": "json_object"})

    def ask(self, prompt: str, said: str, **options: object) -> Any:  # noqa: ANN401 - what the service answered
        """Return the answer of the service.

        Raises
        ------
        EmbeddingServiceError
            It could not be reached, refused, or answered with something else than JSON.
        """
        body = {
            "model": self.model,
            "temperature": 0,
            **options,
            "messages": [{"role": "system", "content": prompt}, {"role": "user", "content": said}],
        }
        return post_json(self._address, body, self._headers, self.retry)


def said_json(answer: object) -> Any:  # noqa: ANN401 - whatever JSON there is
    r"""Return what the model said, decoded; the fence that some models put around JSON is taken off.

    Raises
    ------
    ServiceAnswerInvalid
        There is no message in the answer, or it is not JSON.

    Examples
    --------
    >>> said_json({"choices": [{"message": {"content": "```json\n[1]\n```"}}]})
    [1]
    """
    content = message(answer)
    if not isinstance(content, str):
        raise ServiceAnswerInvalid(f"the service answered with {shown(content)} where text was expected")
    try:
        return json.loads(_FENCE.sub("", content))
    except ValueError as error:
        raise ServiceAnswerInvalid(f"the model did not answer in JSON ({shown(content)})") from error


def message(answer: object) -> object:
    """Return the content of the message in an answer, or raise :class:`ServiceAnswerInvalid`."""
    try:
        content: object = answer["choices"][0]["message"]["content"]  # type: ignore[index]
    except (TypeError, KeyError, IndexError) as error:
        raise ServiceAnswerInvalid(f"the service answered without a message: {shown(answer)}") from error
    return content
