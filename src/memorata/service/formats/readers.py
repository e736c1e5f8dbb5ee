"""The files of other programs as records: chats, sessions of coding agents, and memories of other systems.

ChatGPT's export is a list of conversations. Each has a `mapping`, a tree of nodes that are linked to their
parents and hold a message or nothing; editing a message or asking again makes a branch. `current_node` is the
end of the branch that was shown last: the path from there to the root, read backwards, is the conversation.
Other branches are skipped, and so are messages of the system and of tools. In an export of Claude.ai only the
text blocks of a message are taken, or the flat text of older ones.

Claude Code and Codex write one JSON object a line. Most are the work of the agent: calls of tools and their
results, reasoning, snapshots, texts that the program inserts. They are left out; so is what was recalled from
here, so that memory does not feed on itself.

Each line of the MCP reference memory server is an entity with observations, or a relation. Every observation
becomes a memory that mentions its entity; one that does not name it is given the name in front, for "speaks
Spanish" alone answers no question. What mem0's `get_all` returns beside the text of a memory is kept in the
metadata under ``mem0``.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from memorata.service.data_rows import RECALLED_TAG
from memorata.service.formats.record import (
    Reading,
    Record,
    chat_fields,
    conversations,
    json_lines,
    parse_json,
    stable_id,
    text_of,
    title_of,
)
from memorata.text.standing_sentences import standing

_ROLES: Final = ("user", "assistant")
_TEXTS: Final = ("text", "multimodal_text")
_CHATGPT_LINK: Final = "https://chatgpt.com/c/"


def chatgpt(data: bytes) -> Reading:
    """Return the records of a file."""
    return conversations(data, "mapping", dict, _chatgpt_messages)


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
    title = title_of(conversation)
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
    """Return the records of a file."""
    return conversations(data, "chat_messages", list, _claude_messages)


def _claude_messages(number: int, label: str, conversation: dict[str, Any]) -> Iterator[Record]:
    title, session = title_of(conversation), conversation.get("uuid")
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


# Written around what a hook hands to an agent, and around what agents insert into user messages.
_INSERTED: Final = re.compile(
    rf"<({RECALLED_TAG}|system-reminder|environment_context|user_instructions|permissions instructions"
    r"|local-command-(?:stdout|stderr|caveat)|command-(?:name|message|args|contents)|ide_[a-z_]+)\b[^<>]*>"
)
_BLANKS: Final = re.compile(r"\s*")
_PROGRAM_OPENINGS: Final = (
    "# AGENTS.md instructions",
    "[Request interrupted by user",
    "Caveat: The messages below",
)
_Line = dict[str, Any]
_Message = tuple[str, str, object, str]
"""The id, the role, the time and the text of a message."""


def claude_code(data: bytes) -> Reading:
    """Return the records of a session of Claude Code."""
    return _session(data, _claude_code_message)


def codex(data: bytes) -> Reading:
    """Return the records of a session of Codex, in the layout of 2025 with payloads or the one before."""
    return _session(data, _codex_message)


class _Session:
    """The state of a session by its earlier lines: id, folder, branch, and position."""

    def __init__(self) -> None:
        self.id = ""
        self.metadata: dict[str, str] = {}
        self.position = 0

    def note(self, id_: object, folder: object, branch: object) -> None:
        if isinstance(id_, str) and id_:
            self.id = id_
        for name, value in (("folder", folder), ("branch", branch)):
            if isinstance(value, str) and value:
                self.metadata[name] = value


def _session(data: bytes, message_of: Callable[[_Line, _Session], _Message | str | None]) -> Reading:
    """Return the records of a session; `message_of` returns why a message is skipped, None for none."""

    def records() -> Iterator[Record]:
        session = _Session()
        for number, line, problem in json_lines(data):
            if problem or not isinstance(line, dict):
                yield Record(number, problem=problem or "not an object")
                continue
            message = message_of(line, session)
            if message is None:
                continue
            if isinstance(message, str):
                yield Record(number, skipped=message)
                continue
            id_, role, time, text = message
            words = message_text(text)
            if not words:
                yield Record(number, skipped="a message of the program")
                continue
            source = {"speaker": role, "session": session.id, "position": session.position}
            fields = chat_fields(id_, words, source, time, category=category_of(role, words))
            session.position += 1
            if session.metadata:
                fields["metadata"] = dict(session.metadata)
            yield Record(number, fields)

    return Reading(data.count(b"\n") + 1, records())


def message_text(text: str) -> str:
    """Return the text of a message without what programs insert into it."""
    words = _without_inserted(text).strip()
    return "" if words.startswith(_PROGRAM_OPENINGS) else words


def _without_inserted(text: str) -> str:
    """Return a text without what stands between the tags of agents, and without these."""
    parts, after = [], 0
    # No search for the end of a tag is made twice: many that are never closed would take quadratic time.
    unclosed: set[str] = set()
    for tag in _INSERTED.finditer(text):
        if tag.start() < after or tag[1] in unclosed:
            continue
        closing = f"</{tag[1]}>"
        end = text.find(closing, tag.end())
        if end < 0:
            unclosed.add(tag[1])
            continue
        parts.append(text[after : tag.start()])
        blanks = _BLANKS.match(text, end + len(closing))
        after = blanks.end() if blanks else end + len(closing)
    return "".join([*parts, text[after:]])


def category_of(role: str, text: str) -> str:
    """Return the category of a message: standing sentences of the user are instructions or preferences."""
    return (standing(text) if role == "user" else None) or "message"


def _claude_code_message(line: _Line, session: _Session) -> _Message | str | None:
    session.note(line.get("sessionId"), line.get("cwd"), line.get("gitBranch"))
    message = line.get("message")
    if line.get("type") not in _ROLES or not isinstance(message, dict):
        return None
    for flag, reason in (
        ("isSidechain", "a message to or from a sub-agent"),
        ("isCompactSummary", "a summary of the program"),
        ("isMeta", "a message of the program"),
        ("isApiErrorMessage", "an error of the service"),
    ):
        if line.get(flag):
            return reason
    text = text_of(message.get("content"))
    id_ = stable_id("claude-code", session.id, line.get("uuid") or session.position)
    return (id_, line["type"], line.get("timestamp"), text) if text else "a call of a tool, or its result"


def _codex_message(line: _Line, session: _Session) -> _Message | str | None:
    payload = line.get("payload")
    if line.get("type") in ("session_meta", "turn_context") and isinstance(payload, dict):
        git = payload.get("git")
        branch = git.get("branch") if isinstance(git, dict) else None
        session.note(payload.get("id") or payload.get("session_id"), payload.get("cwd"), branch)
        return None
    if "type" not in line and "id" in line:
        session.note(line["id"], None, None)
        return None
    # What the user typed comes again as an event; the item is the input of the model.
    item = payload if line.get("type") == "response_item" and isinstance(payload, dict) else line
    if item.get("type") != "message":
        return None
    role = item.get("role")
    if role not in _ROLES:
        return f"a message of the {role}" if isinstance(role, str) else "a message without a role"
    text = text_of(item.get("content"))
    id_ = stable_id("codex", session.id, item.get("id") or session.position, role, text)
    return (id_, role, line.get("timestamp"), text) if text else "a message without text"


def mcp_memory(data: bytes) -> Reading:
    """Return the records of a file."""
    return Reading(data.count(b"\n") + 1, _mcp_records(data))


def _mcp_records(data: bytes) -> Iterator[Record]:
    seen: Counter[tuple[str, str]] = Counter()
    for number, value, problem in json_lines(data):
        if problem:
            yield Record(number, problem=problem)
        elif isinstance(value, dict) and value.get("type") == "entity":
            yield from _entity(number, value, seen)
        elif isinstance(value, dict) and value.get("type") == "relation":
            yield _mcp_relation(number, value)
        else:
            yield Record(number, problem="neither an entity nor a relation, going by its type")


def _entity(number: int, value: dict[str, Any], seen: Counter[tuple[str, str]]) -> Iterator[Record]:
    name, kind, observations = value.get("name"), value.get("entityType"), value.get("observations", [])
    if not isinstance(name, str) or not name.strip():
        yield Record(number, problem="an entity without a name")
        return
    if not isinstance(observations, list):
        yield Record(number, problem=f"the observations of {name!r} are no list")
        observations = []
    for position, observation in enumerate(observations, 1):
        where = f"line {number}, observation {position}"
        if not isinstance(observation, str):
            yield Record(number, problem="an observation that is no text", where=where)
        elif not observation.strip():
            yield Record(number, skipped="an empty observation", where=where)
        else:
            seen[name, observation] += 1
            yield Record(number, _observation(name, observation, seen[name, observation]), where=where)
    declared = {"kind": "entity", "name": name, "type": kind if isinstance(kind, str) else ""}
    yield Record(number, declared)


def _observation(name: str, observation: str, number: int) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "id": stable_id("mcp-memory", name, observation, number),
        "content": observation,
        "entities": [name],
    }
    phrase = name.replace("_", " ")
    if phrase.casefold() not in observation.replace("_", " ").casefold():
        fields["content"] = f"{phrase}: {observation}"
        fields["metadata"] = {"observation": observation}
    return fields


def _mcp_relation(number: int, value: dict[str, Any]) -> Record:
    ends = [value.get(key) for key in ("from", "relationType", "to")]
    if not all(isinstance(end, str) and end.strip() for end in ends):
        return Record(number, problem="a relation without from, relationType and to")
    source, type_, target = ends
    return Record(number, {"kind": "relation", "source": source, "type": type_, "target": target})


_READ_KEYS: Final = ("id", "memory", "metadata", "created_at", "categories", "expiration_date", "score")


def mem0(data: bytes) -> Reading:
    """Return the records of a file."""
    value, problem = parse_json(data)
    if problem is not None:
        return Reading(1, iter([problem]))
    relations: object = []
    if isinstance(value, dict):
        relations = value.get("relations") or []
        value = value.get("results", value.get("memories"))
    if not isinstance(value, list) or not isinstance(relations, list):
        return Reading(1, iter([Record(1, problem="neither a list of memories nor an object with results")]))
    return Reading(len(value) + len(relations), _mem0_records(value, relations))


def _mem0_records(memories: list[Any], relations: list[Any]) -> Iterator[Record]:
    for number, memory in enumerate(memories, 1):
        where = f"memory {number}"
        text = memory.get("memory") if isinstance(memory, dict) else None
        if not isinstance(text, str):
            yield Record(number, problem="no memory: an object whose memory is a text", where=where)
        elif not text.strip():
            yield Record(number, skipped="an empty memory", where=where)
        else:
            yield _mem0_memory(number, memory, text, where)
    for number, relation in enumerate(relations, 1):
        yield _mem0_relation(len(memories) + number, relation, f"relation {number}")


_MEM0_SOURCE: Final = {"speaker": "actor_id", "role": "role", "session": "run_id"}


def _mem0_memory(number: int, raw: dict[str, Any], text: str, where: str) -> Record:
    metadata = raw.get("metadata") or {}
    if not isinstance(metadata, dict):
        return Record(number, problem="its metadata is no object", where=where)
    extra = {key: value for key, value in raw.items() if key not in _READ_KEYS and value is not None}
    if "id" in raw:
        extra["id"] = raw["id"]
    fields: dict[str, Any] = {
        "id": stable_id("mem0", raw.get("id") or [text, raw.get("user_id"), raw.get("created_at")]),
        "content": text,
        "metadata": {**metadata, **({"mem0": extra} if extra else {})},
    }
    categories = raw.get("categories")
    listed = categories if isinstance(categories, list) else [categories]
    tags = [tag for tag in listed if isinstance(tag, str)]
    if tags:
        fields["tags"] = tags
    source = {name: raw.get(key) for name, key in _MEM0_SOURCE.items()}
    if identifiers := {key: value for key, value in source.items() if isinstance(value, str) and value}:
        fields["source"] = identifiers
    for name, key in (("created_at", "created_at"), ("expires_at", "expiration_date")):
        if raw.get(key) is not None:
            # A day on which something expires is its last one.
            last_day = key == "expiration_date" and len(str(raw[key])) == len("2026-05-07")
            when = _moment(f"{raw[key]}T23:59:59.999999" if last_day else raw[key])
            if when is None:
                return Record(number, problem=f"its {key} is no time: {raw[key]!r}", where=where)
            fields[name] = when
    return Record(number, fields, where=where)


def _mem0_relation(number: int, raw: object, where: str) -> Record:
    ends: list[object] = []
    if isinstance(raw, dict):
        ends = [
            raw.get("source"),
            raw.get("relationship", raw.get("relation")),
            raw.get("target", raw.get("destination")),
        ]
    if not ends or not all(isinstance(end, str) and end.strip() for end in ends):
        return Record(number, problem="a relation without source, relationship and target", where=where)
    source, type_, target = ends
    fields = {"kind": "relation", "source": source, "type": type_, "target": target}
    return Record(number, fields, where=where)


def _moment(value: object) -> str | None:
    """Return a time in ISO 8601; one without a zone is in UTC."""
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    if moment is None:
        return None
    return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).isoformat()
