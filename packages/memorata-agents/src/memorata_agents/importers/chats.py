"""Exports of chats: ChatGPT's and Claude.ai's.

ChatGPT's export is a list of conversations. Each has a `mapping`, a tree of nodes that are linked to their
parents and hold a message or nothing; editing a message or asking again makes a branch. `current_node` is the
end of the branch that was shown last: the path from there to the root, read backwards, is the conversation.
Other branches are skipped, and so are messages of the system and of tools. In an export of Claude.ai only the
text blocks of a message are taken, or the flat text of older ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from memorata.extend.transfer import Reading, Record, chat_fields, parse_json, stable_id, text_of

_ROLES: Final = ("user", "assistant")
_TEXTS: Final = ("text", "multimodal_text")
_CHATGPT_LINK: Final = "https://chatgpt.com/c/"


def chatgpt(data: bytes) -> Reading:
    """Return the records of an export of ChatGPT."""
    return _conversations(data, "mapping", dict, _chatgpt_messages)


def _chatgpt_messages(number: int, label: str, conversation: dict[str, Any]) -> Iterator[Record]:
    mapping = {key: node if isinstance(node, dict) else {} for key, node in conversation["mapping"].items()}
    path = _shown_path(mapping, conversation.get("current_node"))
    if path is None:
        yield Record(number, problem="its messages lead back to where they began", where=label)
        return
    position = 0
    for key in path:
        text_and_reason = _text_of(mapping[key])
        if text_and_reason is None:
            continue
        where = f"{label}, message {key}"
        content, reason = text_and_reason
        if reason:
            yield Record(number, skipped=reason, where=where)
            continue
        fields = _fields(conversation, mapping[key]["message"], key, content, position)
        yield Record(number, fields, where=where)
        position += 1
    on_path = set(path)
    for key, node in mapping.items():
        text_and_reason = None if key in on_path else _text_of(node)
        if text_and_reason is not None and not text_and_reason[1]:
            where = f"{label}, message {key}"
            yield Record(number, skipped="a message on a branch that is not shown", where=where)


def _shown_path(mapping: Mapping[str, dict[str, Any]], current: object) -> list[str] | None:
    """Return the nodes from the root to the end that was shown last; None if they go round in a circle."""
    key = current if isinstance(current, str) and current in mapping else _last_leaf(mapping)
    path: list[str] = []
    seen: set[str] = set()
    while key is not None and key in mapping:
        if key in seen:
            return None
        seen.add(key)
        path.append(key)
        parent = mapping[key].get("parent")
        key = parent if isinstance(parent, str) else None
    return path[::-1]


def _last_leaf(mapping: Mapping[str, dict[str, Any]]) -> str | None:
    """Return the latest message that nothing follows, for a file that does not say where it ends."""
    parents = [node.get("parent") for node in mapping.values()]
    followed = {parent for parent in parents if isinstance(parent, str)}
    leaves = [key for key in mapping if key not in followed]
    messages = {key: mapping[key].get("message") for key in leaves}
    times = {
        key: (_seconds(message.get("create_time")) if isinstance(message, dict) else None) or 0.0
        for key, message in messages.items()
    }
    # The last of those that are equally late, as the file lists them.
    return max(reversed(leaves), key=times.__getitem__) if leaves else next(iter(mapping), None)


def _text_of(node: dict[str, Any]) -> tuple[str, str] | None:
    """Return the text of a node's message, and why it is skipped; None for a node without a message."""
    message = node.get("message")
    if not isinstance(message, dict):
        return None
    author, content = message.get("author"), message.get("content")
    role = author.get("role") if isinstance(author, dict) else None
    metadata = message.get("metadata")
    if role not in _ROLES:
        return "", f"a message of the {role}" if isinstance(role, str) else "a message without a role"
    if isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation"):
        return "", "a hidden message"
    if message.get("recipient", "all") not in ("all", None):
        return "", "a message to a tool"
    if not isinstance(content, dict) or content.get("content_type") not in _TEXTS:
        kind = content.get("content_type") if isinstance(content, dict) else None
        return "", f"a message that is no text ({kind})"
    parts = content.get("parts")
    text = "\n".join(filter(str.strip, map(_part, parts if isinstance(parts, list) else [parts]))).strip()
    return (text, "") if text else ("", "an empty message, or one of images alone")


def _part(part: object) -> str:
    """Return the text of a part; a spoken one has been written down."""
    if isinstance(part, dict):
        part = part.get("text") if part.get("content_type") == "audio_transcription" else ""
    return part if isinstance(part, str) else ""


def _fields(
    conversation: dict[str, Any], message: dict[str, Any], key: str, content: str, position: int
) -> dict[str, Any]:
    title = _title_of(conversation)
    session = str(conversation.get("conversation_id") or conversation.get("id") or title)
    link = f"{_CHATGPT_LINK}{session}" if session != title else ""
    source = {"speaker": message["author"]["role"], "session": session, "position": position, "link": link}
    times = (_seconds(part.get("create_time")) for part in (message, conversation))
    seconds = next((time for time in times if time is not None), None)
    created_at = None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat()
    id_ = stable_id("chatgpt", session, message.get("id") or key)
    return chat_fields(id_, content, source, created_at, title=title)


def _seconds(value: object) -> float | None:
    """Return a time in seconds since 1970, if it is one that a calendar knows."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value) if 0 <= value < 253_402_300_800 else None


_CLAUDE_SPEAKERS: Final = {"human": "user", "user": "user", "assistant": "assistant"}
_CLAUDE_LINK: Final = "https://claude.ai/chat/"


def claude(data: bytes) -> Reading:
    """Return the records of an export of Claude.ai."""
    return _conversations(data, "chat_messages", list, _claude_messages)


def _claude_messages(number: int, label: str, conversation: dict[str, Any]) -> Iterator[Record]:
    title, session = _title_of(conversation), conversation.get("uuid")
    position = 0
    for count, message in enumerate(conversation["chat_messages"], 1):
        where = f"{label}, message {count}"
        speaker = _CLAUDE_SPEAKERS.get(str(message.get("sender"))) if isinstance(message, dict) else None
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
            "link": f"{_CLAUDE_LINK}{session}" if session else "",
        }
        id_ = stable_id("claude", session or title, message.get("uuid") or count)
        created_at = message.get("created_at") or conversation.get("created_at")
        yield Record(number, chat_fields(id_, content, source, created_at, title=title), where=where)
        position += 1


def _conversations(
    data: bytes, key: str, kind: type, messages_of: Callable[[int, str, dict[str, Any]], Iterator[Record]]
) -> Reading:
    """Return the records of an export of chats: a list of conversations, or one of them.

    A conversation has its messages under `key`; `messages_of` is given its number and its label.
    """
    value, problem = parse_json(data)
    if problem is not None:
        return Reading(1, iter([problem]))
    if isinstance(value, dict):
        value = value["conversations"] if isinstance(value.get("conversations"), list) else [value]
    if not isinstance(value, list):
        return Reading(1, iter([Record(1, problem="not a list of conversations")]))

    def records() -> Iterator[Record]:
        for number, conversation in enumerate(value, 1):
            label = f"conversation {number}"
            if isinstance(conversation, dict) and isinstance(conversation.get(key), kind):
                title = _title_of(conversation)
                yield from messages_of(number, f'{label} "{title}"' if title else label, conversation)
            else:
                yield Record(number, problem=f"not a conversation: it has no {key}", where=label)

    return Reading(len(value), records())


def _title_of(conversation: Mapping[str, Any]) -> str:
    """Return the title of a conversation, or nothing."""
    title = conversation.get("title", conversation.get("name"))
    return title if isinstance(title, str) else ""
