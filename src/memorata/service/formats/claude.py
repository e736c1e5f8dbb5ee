"""The conversations of a Claude.ai export (``conversations.json``) as records, one for each message.

The file is a list of conversations with `uuid`, `name` and `chat_messages`; a message has `uuid`, `sender`
(human or assistant), `created_at`, its `text`, and in newer exports `content`, a list of blocks of which only
those of type text are taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from memorata.service.formats.record import Reading, Record, conversations, stable_id

_SPEAKERS: Final = {"human": "user", "user": "user", "assistant": "assistant"}
_LINK: Final = "https://claude.ai/chat/"


def records(data: bytes) -> Reading:
    """Return the records of a file.

    >>> file = b'''[{"uuid": "c1", "name": "Tea", "chat_messages": [
    ...     {"uuid": "m1", "sender": "human", "text": "I like tea."}]}]'''
    >>> [(record.fields["content"], record.fields["source"]["speaker"]) for record in records(file).records]
    [('I like tea.', 'user')]
    """
    return conversations(data, _conversations)


def _conversations(exported: list[Any]) -> Iterator[Record]:
    for number, conversation in enumerate(exported, 1):
        if isinstance(conversation, dict) and isinstance(conversation.get("chat_messages"), list):
            yield from _messages(number, conversation)
        else:
            where = f"conversation {number}"
            yield Record(number, problem="not a conversation: it has no list chat_messages", where=where)


def _messages(number: int, conversation: dict[str, Any]) -> Iterator[Record]:
    name, session = conversation.get("name"), conversation.get("uuid")
    title = name if isinstance(name, str) else ""
    label = f'conversation {number} "{title}"' if title else f"conversation {number}"
    position = 0
    for count, message in enumerate(conversation["chat_messages"], 1):
        where = f"{label}, message {count}"
        speaker = _SPEAKERS.get(str(message.get("sender"))) if isinstance(message, dict) else None
        if speaker is None:
            yield Record(number, skipped="a message of neither side", where=where)
            continue
        content = _text(message)
        if not content:
            yield Record(
                number, skipped="an empty message, or one of attachments or tools alone", where=where
            )
            continue
        fields: dict[str, Any] = {
            "id": stable_id("claude", session or title, message.get("uuid") or count),
            "content": content,
            "category": "message",
            "tier": "episodic",
            "source": {
                "speaker": speaker,
                "session": str(session or title),
                "position": position,
                "link": f"{_LINK}{session}" if session else "",
            },
        }
        if title:
            fields["metadata"] = {"title": title}
        created_at = message.get("created_at") or conversation.get("created_at")
        if isinstance(created_at, str):
            fields["created_at"] = created_at
        yield Record(number, fields, where=where)
        position += 1


def _text(message: dict[str, Any]) -> str:
    """Return what was said: the text blocks, without thinking and tools; the flat text of older exports."""
    blocks = message.get("content")
    texts = [
        block["text"]
        for block in (blocks if isinstance(blocks, list) else [])
        if isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)
    ]
    flat = message.get("text")
    joined = "\n".join(text for text in texts if text.strip())
    return (joined or (flat if isinstance(flat, str) else "")).strip()
