"""Logs of coding agents: Claude Code's and Codex's.

Both write one JSON object a line. Most are the work of the agent: calls of tools and their
results, reasoning, snapshots, texts that the program inserts. They are left out; so is what was recalled from
here, so that memory does not feed on itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from memorata.extend.conversation import category_of, message_text
from memorata.extend.transfer import Reading, Record, chat_fields, json_lines, stable_id, text_of

_ROLES: Final = ("user", "assistant")
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
        ("toolUseResult", "a call of a tool, or its result"),
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
