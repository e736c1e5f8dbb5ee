"""What each event of an agent asks of the memory, and how its answer looks to that agent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from memorata.model.errors import InvalidArgument
from memorata.service.conversation import Conversation, message_fields
from memorata.service.data_rows import recalled_block
from memorata.service.formats import transcripts
from memorata.service.formats.record import Reading, Record, stable_id
from memorata.service.importer import Importer

if TYPE_CHECKING:
    from memorata.engine import Engine

AGENTS: Final = ("claude-code", "codex", "cursor")
BRIEFING_BUDGET: Final = 1_200
HOOK: Final = "hook"
_LEAST_WORDS: Final = 2
_READERS: Final[Mapping[str, Callable[[bytes], Reading]]] = {
    "claude-code": transcripts.claude_code,
    "codex": transcripts.codex,
}

Json = dict[str, Any]
Capture = Callable[[], None]


def answer(engine: Engine, agent: str, event: Mapping[str, Any]) -> tuple[Json | None, Capture | None]:
    """Return what to tell the agent at once, and what is to be captured after that; None for nothing."""
    if agent not in AGENTS:
        raise InvalidArgument("agent", agent, f"one of {', '.join(AGENTS)}")
    name = str(event.get("hook_event_name"))
    if name in ("SessionStart", "sessionStart"):
        brief = engine.briefing(budget=BRIEFING_BUDGET)
        text = recalled_block("What stands and what is recent.", [item.memory for item in brief.items])
        return _context(agent, name, text), None
    if name == "UserPromptSubmit":
        return _context(agent, name, _recalled(engine, event)), None
    if name == "beforeSubmitPrompt":
        # Cursor lets a hook stop a prompt, and not add to it.
        return {"continue": True}, _message(engine, event, "user", event.get("prompt"))
    if name == "afterAgentResponse":
        return None, _message(engine, event, "assistant", event.get("text"))
    if name in ("Stop", "PreCompact", "SessionEnd", "SubagentStop") and agent in _READERS:
        return None, _transcript(engine, agent, event)
    return None, None


def _context(agent: str, name: str, text: str) -> Json | None:
    if not text:
        return None
    if agent == "cursor":
        return {"additional_context": text}
    return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}


def _recalled(engine: Engine, event: Mapping[str, Any]) -> str:
    prompt = str(event.get("prompt") or "").strip()
    if prompt.startswith("/") or (prompt.isascii() and len(prompt.split()) < _LEAST_WORDS):
        return ""
    return Conversation(engine, session=str(event.get("session_id") or "")).recalled(prompt)


def _transcript(engine: Engine, agent: str, event: Mapping[str, Any]) -> Capture | None:
    path = event.get("transcript_path")
    if not isinstance(path, str) or not path:
        return None

    def capture() -> None:
        reading = _READERS[agent](Path(path).expanduser().read_bytes())
        for _ in Importer(engine, via=HOOK).add_file(path, reading.records):
            pass

    return capture


def _message(engine: Engine, event: Mapping[str, Any], role: str, text: object) -> Capture | None:
    if not isinstance(text, str) or not (content := transcripts.spoken(text)):
        return None
    session = str(event.get("conversation_id") or "")
    id_ = stable_id("cursor", session, event.get("generation_id"), role, content)
    fields = message_fields(id_, role, content, session)
    folders = event.get("workspace_roots")
    if isinstance(folders, list) and folders:
        fields["metadata"] = {"folder": str(folders[0])}

    def capture() -> None:
        Importer(engine, via=HOOK).add([Record(1, fields)], "cursor")

    return capture
