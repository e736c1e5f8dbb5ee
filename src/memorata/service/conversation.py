"""Recall for a prompt and capture of messages, for the hooks, the proxy and the adapters of agents.

Requests and replies of chat services have three formats: OpenAI's chat completions (``messages``) and
responses (``input``), and Anthropic's messages. Memories go before the text of the last user message: all
before it stays as it is, and with it what a service has cached.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from memorata._frozen import frozen
from memorata.engine.briefing import STANDING
from memorata.service.data_rows import RECALLED_TAG, recalled_block
from memorata.service.formats.record import chat_fields, stable_id, text_of
from memorata.text.standing_sentences import standing

if TYPE_CHECKING:
    from memorata.engine import Engine


BUDGET: Final = 800
"""Tokens of memories that a prompt is given."""
_MAX_QUERY: Final = 4_000
# Written around what a hook hands to an agent, and around what agents insert into user messages.
_INSERTED: Final = re.compile(
    rf"<({RECALLED_TAG}|system-reminder|environment_context|user_instructions|permissions instructions"
    r"|local-command-(?:stdout|stderr|caveat)|command-(?:name|message|args|contents)|ide_[a-z_]+"
    r"|bash-(?:input|stdout|stderr)|task-notification|user-prompt-submit-hook|tool_use_error)\b[^<>]*>"
)
_BLANKS: Final = re.compile(r"\s*")
_PROGRAM_OPENINGS: Final = (
    "# AGENTS.md instructions",
    "[Request interrupted by user",
    "Caveat: The messages below",
)


class Conversation:
    """The memory of a conversation in a namespace, or None for the engine's.

    Messages of the `session` itself are not recalled into it.
    """

    def __init__(self, engine: Engine, namespace: str | None = None, session: str = "") -> None:
        self.engine = engine
        self.namespace = namespace
        self.session = session

    def recalled(self, prompt: str, *, limit: int = 8, budget: int = BUDGET, standing: int = 0) -> str:
        """Return the memories that concern a prompt as delimited data; empty if none does.

        Those that hold for every query come first, up to `standing` tokens.
        """
        elsewhere = {"session": {"!=": self.session}} if self.session else None
        result = self.engine.recall(
            prompt[:_MAX_QUERY],
            limit=limit,
            budget=budget,
            filter=elsewhere,
            namespace=self.namespace,
        )
        always = self.engine.briefing(budget=standing, sections=STANDING, namespace=self.namespace)
        heading = "What is remembered and may concern this."
        found = (*(item.memory for item in always.items), *(hit.memory for hit in result.hits))
        memories = {memory.id: memory for memory in found}
        return recalled_block(heading, memories.values())

    def remember(self, role: str, text: str, *identity: object) -> None:
        """Remember a message once per identity, without the block that was recalled into it."""
        content = message_text(text)
        if not content:
            return
        id_ = stable_id("conversation", self.session, *identity, role, content)
        item = message_fields(id_, role, content, self.session)
        self.engine.remember_many([item], namespace=self.namespace)


def recalled_text(
    engine: Engine,
    query: str,
    *,
    namespace: str | None = None,
    limit: int = 8,
    min_confidence: float | None = None,
) -> str:
    """Return the best hits of a query as delimited data, or that there are none: the result of a tool.

    Without `min_confidence` they are not gated.
    """
    hits = engine.recall(
        query[:_MAX_QUERY], limit=limit, namespace=namespace, min_confidence=min_confidence or 0
    ).hits
    return recalled_block("What is remembered.", [hit.memory for hit in hits]) or "Nothing is known."


def namespace_segment(name: str) -> str:
    """Return any name as a segment of a namespace; different names give different segments.

    >>> namespace_segment("anna@example.org"), namespace_segment("a/b c"), namespace_segment("..")
    ('anna@example.org', 'a~2Fb~20c', '~2E~2E')
    """
    escaped = quote(name, safe="@+").replace("~", "%7E").replace("%", "~")
    return escaped.replace(".", "~2E") if escaped.startswith(".") else escaped


def message_fields(id_: str, role: str, content: str, session: str) -> dict[str, Any]:
    """Return the fields of a message as a memory."""
    source = {"speaker": role, "session": session}
    return chat_fields(id_, content, source, category=category_of(role, content))


def message_text(text: str) -> str:
    """Return the text of a message without what programs insert into it."""
    words = _without_inserted(text).strip()
    return "" if words.startswith(_PROGRAM_OPENINGS) else words


def _without_inserted(text: str) -> str:
    """Return a text without what stands between the tags of agents, and without these.

    Each goes up to the last end of its kind: a page or the output of a command may hold such an end itself.
    """
    parts, after = [], 0
    # No search for the end of a tag is made twice: many that are never closed would take quadratic time.
    unclosed: set[str] = set()
    for tag in _INSERTED.finditer(text):
        if tag.start() < after or tag[1] in unclosed:
            continue
        closing = f"</{tag[1]}>"
        end = text.rfind(closing, tag.end())
        if end < 0:
            unclosed.add(tag[1])
            continue
        parts.append(text[after : tag.start()])
        blanks = _BLANKS.match(text, end + len(closing))
        after = blanks.end() if blanks else end + len(closing)
    return "".join([*parts, text[after:]])


def category_of(role: str, text: str) -> str:
    """Return the category of a message: standing sentences of the user are instructions or preferences.

    A message with a tag of a program that never ends may be the output of a command that was cut.
    """
    is_own = role == "user" and _INSERTED.search(text) is None
    return (standing(text) if is_own else None) or "message"


@frozen
class ChatFormat:
    """A format of chat: the key of its messages, the type of text parts, and the readers of replies."""

    key: str
    part: str
    whole: Callable[[Mapping[str, Any]], Iterator[str]]
    delta: Callable[[Mapping[str, Any]], Iterator[str]]

    def messages(self, body: Mapping[str, Any]) -> list[Any]:
        """Return the messages of a request; a bare text is one user message."""
        messages = body.get(self.key)
        if isinstance(messages, str):
            return [{"role": "user", "content": messages}]
        return list(messages) if isinstance(messages, list) else []

    def prompt(self, body: Mapping[str, Any]) -> tuple[int, str]:
        """Return the position and the text of the last user message; -1 where there is none."""
        messages = self.messages(body)
        for position in range(len(messages) - 1, -1, -1):
            if text := _user_text(messages[position]):
                return position, text
        return -1, ""

    def with_block(self, body: Mapping[str, Any], block: str) -> dict[str, Any]:
        """Return a request with a block of data before the text of its prompt."""
        messages = self.messages(body)
        position, _ = self.prompt(body)
        if position < 0 or not block:
            return dict(body)
        message = dict(messages[position])
        content = message["content"]
        if isinstance(content, str):
            message["content"] = f"{block}\n\n{content}"
        else:
            message["content"] = [{"type": self.part, "text": block}, *content]
        messages[position] = message
        if isinstance(body.get(self.key), str):
            return {**body, self.key: message["content"]}
        return {**body, self.key: messages}

    def reply(self, data: bytes, media_type: str) -> str:
        """Return the text of a reply, sent as a whole or as server-sent events."""
        if media_type == "text/event-stream":
            return "".join(text for event in _events(data) for text in self.delta(event))
        return "".join(self.whole(json.loads(data)))

    def session(self, body: Mapping[str, Any]) -> str:
        """Return a name for a conversation: clients send it whole each time, so it begins the same."""
        first = next((text for message in self.messages(body) if (text := _user_text(message))), "")
        return f"chat-{stable_id('chat', first)[:18]}"


def user_of(body: Mapping[str, Any]) -> str:
    """Return the user of a request: its `user`, `safety_identifier`, or `user_id` in its metadata."""
    metadata = body.get("metadata")
    user_id = metadata.get("user_id") if isinstance(metadata, Mapping) else None
    user = body.get("user") or body.get("safety_identifier") or user_id
    return user if isinstance(user, str) else ""


def _user_text(message: object) -> str:
    """Return the text of a user message; nothing for results of tools and other roles."""
    if not isinstance(message, Mapping) or message.get("role") != "user":
        return ""
    return text_of(message.get("content"))


def _events(data: bytes) -> Iterator[Mapping[str, Any]]:
    """Yield the data of server-sent events that are JSON objects."""
    for line in data.decode("utf-8", "replace").splitlines():
        if not line.startswith("data:"):
            continue
        try:
            event = json.loads(line.removeprefix("data:"))
        except ValueError:  # [DONE], or an event that was cut off
            continue
        if isinstance(event, Mapping):
            yield event


def _texts(*values: object) -> Iterator[str]:
    yield from (value for value in values if isinstance(value, str))


def _at(value: Any, *path: str | int) -> Any:  # noqa: ANN401 - whatever a service sends
    """Return what is at a path of plain data; None where it leads nowhere."""
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def _part_texts(message: object, type_: str) -> Iterator[str]:
    parts = _at(message, "content") or ()
    return _texts(*(_at(part, "text") for part in parts if _at(part, "type") == type_))


def _output_texts(answer: Mapping[str, Any]) -> Iterator[str]:
    for item in _at(answer, "output") or ():
        yield from _part_texts(item, "output_text")


def _response_delta(event: Mapping[str, Any]) -> Iterator[str]:
    return _texts(event.get("delta") if event.get("type") == "response.output_text.delta" else None)


CHAT_FORMATS: Final[Mapping[str, ChatFormat]] = {
    "chat/completions": ChatFormat(
        "messages",
        "text",
        lambda answer: _texts(_at(answer, "choices", 0, "message", "content")),
        lambda event: _texts(_at(event, "choices", 0, "delta", "content")),
    ),
    "responses": ChatFormat("input", "input_text", _output_texts, _response_delta),
    "messages": ChatFormat(
        "messages",
        "text",
        lambda answer: _part_texts(answer, "text"),
        lambda event: _texts(_at(event, "delta", "text")),
    ),
}
"""By the end of the path of a request, its format."""


def chat_format(path: str) -> ChatFormat | None:
    """Return the format of requests to a path; None for one that is no chat.

    >>> chat_format("/v1/chat/completions").key, chat_format("/v1/models")
    ('messages', None)
    """
    return next((shape for end, shape in CHAT_FORMATS.items() if path.rstrip("/").endswith(f"/{end}")), None)
