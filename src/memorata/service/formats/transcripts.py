"""The session logs of coding agents as records, one for each message of the user or of the assistant.

Claude Code writes one JSON object a line to ``~/.claude/projects/PROJECT/SESSION.jsonl``, Codex to
``~/.codex/sessions/YEAR/MONTH/DAY/rollout-….jsonl``. Most lines are the work of the agent: calls of tools and
their results, reasoning, snapshots, texts that the program inserts. They are left out; so is what was
recalled from here, so that memory does not feed on itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from memorata.service.data_rows import RECALLED_TAG
from memorata.service.formats.record import Reading, Record, chat_fields, json_lines, stable_id, text_of
from memorata.text.standing_sentences import standing

# Written around what a hook hands to an agent, and around what agents insert into user messages.
_INSERTED: Final = re.compile(
    rf"<({RECALLED_TAG}|system-reminder|environment_context|user_instructions|permissions instructions"
    r"|local-command-(?:stdout|stderr|caveat)|command-(?:name|message|args|contents)|ide_[a-z_]+)\b[^>]*>"
    r".*?</\1>\s*",
    re.DOTALL,
)
_PROGRAM_OPENINGS: Final = (
    "# AGENTS.md instructions",
    "[Request interrupted by user",
    "Caveat: The messages below",
)
_ROLES: Final = ("user", "assistant")

_Line = dict[str, Any]


def claude_code(data: bytes) -> Reading:
    """Return the records of a session of Claude Code."""
    return Reading(data.count(b"\n") + 1, _records(data, _claude_code_message))


def codex(data: bytes) -> Reading:
    """Return the records of a session of Codex, in the layout of 2025 with payloads or the one before."""
    return Reading(data.count(b"\n") + 1, _records(data, _codex_message))


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


def _records(
    data: bytes, message_of: Callable[[_Line, _Session], Record | tuple[_Line, str]]
) -> Iterator[Record]:
    session = _Session()
    for number, line, problem in json_lines(data):
        if problem or not isinstance(line, dict):
            yield Record(number, problem=problem or "not an object")
            continue
        message = message_of(line, session)
        if isinstance(message, Record):
            if message.skipped:
                yield Record(number, skipped=message.skipped)
            continue
        fields, content = message
        words = message_text(content)
        if not words:
            yield Record(number, skipped="a message of the program")
            continue
        fields["content"] = words
        fields["category"] = category_of(fields["source"]["speaker"], words)
        fields["source"]["position"] = session.position
        session.position += 1
        if session.metadata:
            fields["metadata"] = dict(session.metadata)
        yield Record(number, fields)


def message_text(text: str) -> str:
    """Return the text of a message without what programs insert into it."""
    words = _INSERTED.sub("", text).strip()
    return "" if words.startswith(_PROGRAM_OPENINGS) else words


def category_of(role: str, text: str) -> str:
    """Return the category of a message: standing sentences of the user are instructions or preferences."""
    return (standing(text) if role == "user" else None) or "message"


_IGNORED: Final = Record(0)
"""A line that is no message."""


def _claude_code_message(line: _Line, session: _Session) -> Record | tuple[_Line, str]:
    session.note(line.get("sessionId"), line.get("cwd"), line.get("gitBranch"))
    message = line.get("message")
    if line.get("type") not in _ROLES or not isinstance(message, dict):
        return _IGNORED
    for flag, reason in (
        ("isSidechain", "a message to or from a sub-agent"),
        ("isCompactSummary", "a summary of the program"),
        ("isMeta", "a message of the program"),
        ("isApiErrorMessage", "an error of the service"),
    ):
        if line.get(flag):
            return Record(0, skipped=reason)
    text = text_of(message.get("content"))
    if not text:
        return Record(0, skipped="a call of a tool, or its result")
    id_ = stable_id("claude-code", session.id, line.get("uuid") or session.position)
    return _fields(id_, line["type"], session, line.get("timestamp")), text


def _codex_message(line: _Line, session: _Session) -> Record | tuple[_Line, str]:
    payload = line.get("payload")
    if line.get("type") in ("session_meta", "turn_context") and isinstance(payload, dict):
        git = payload.get("git")
        branch = git.get("branch") if isinstance(git, dict) else None
        session.note(payload.get("id") or payload.get("session_id"), payload.get("cwd"), branch)
        return _IGNORED
    if "type" not in line and "id" in line:
        session.note(line["id"], None, None)
        return _IGNORED
    # What the user typed comes again as an event; the item is the input of the model.
    item = payload if line.get("type") == "response_item" and isinstance(payload, dict) else line
    if item.get("type") != "message":
        return _IGNORED
    role = item.get("role")
    if role not in _ROLES:
        return Record(
            0, skipped=f"a message of the {role}" if isinstance(role, str) else "a message without a role"
        )
    text = text_of(item.get("content"))
    if not text:
        return Record(0, skipped="a message without text")
    id_ = stable_id("codex", session.id, item.get("id") or session.position, role, text)
    return _fields(id_, role, session, line.get("timestamp")), text


def _fields(id_: str, role: str, session: _Session, time: object) -> _Line:
    return chat_fields(id_, "", {"speaker": role, "session": session.id}, time)
