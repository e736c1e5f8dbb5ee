"""The conversations of a Claude.ai export (``conversations.json``) as records, one for each message.

The file is a list of conversations with `uuid`, `name` and `chat_messages`; a message has `uuid`, `sender`
(human or assistant), `created_at`, its `text`, and in newer exports `content`, a list of blocks of which only
those of type text are taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from memorata.service.formats.record import (
    Reading,
    Record,
    chat_fields,
    conversations,
    stable_id,
    text_of,
    title_of,
)

_SPEAKERS: Final = {"human": "user", "user": "user", "assistant": "assistant"}
_LINK: Final = "https://claude.ai/chat/"


def records(data: bytes) -> Reading:
    """Return the records of a file."""
    return conversations(data, "chat_messages", list, _messages)


def _messages(number: int, label: str, conversation: dict[str, Any]) -> Iterator[Record]:
    title, session = title_of(conversation), conversation.get("uuid")
    position = 0
    for count, message in enumerate(conversation["chat_messages"], 1):
        where = f"{label}, message {count}"
        speaker = _SPEAKERS.get(str(message.get("sender"))) if isinstance(message, dict) else None
        if speaker is None:
            yield Record(number, skipped="a message of neither side", where=where)
            continue
        # The text blocks, without thinking and tools; the flat text of older exports.
        blocks, flat = message.get("content"), message.get("text")
        content = text_of(blocks if isinstance(blocks, list) else []) or text_of(flat)
        if not content:
            reason = "an empty message, or one of attachments or tools alone"
            yield Record(number, skipped=reason, where=where)
            continue
        source = {
            "speaker": speaker,
            "session": str(session or title),
            "position": position,
            "link": f"{_LINK}{session}" if session else "",
        }
        id_ = stable_id("claude", session or title, message.get("uuid") or count)
        created_at = message.get("created_at") or conversation.get("created_at")
        yield Record(number, chat_fields(id_, content, source, created_at, title=title), where=where)
        position += 1
