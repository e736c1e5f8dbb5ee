"""Readers of the files of other tools, and how their formats are detected; see `memorata.importers`."""

from __future__ import annotations

import re
from typing import Final

from memorata.extend.transfer import FileFormat, FileHead
from memorata_agents.importers.agent_logs import claude_code, codex
from memorata_agents.importers.chats import chatgpt, claude
from memorata_agents.importers.memory_stores import mcp_memory, mem0

_CLAUDE_CODE: Final = re.compile(rb'"parentUuid"\s*:.*"sessionId"\s*:|"sessionId"\s*:.*"parentUuid"\s*:')
_CODEX: Final = re.compile(rb'"type"\s*:\s*"session_meta"')
_CODEX_2024: Final = {"id", "timestamp", "instructions"}
_CHATGPT: Final = re.compile(rb'"mapping"\s*:\s*\{')
_CLAUDE: Final = re.compile(rb'"chat_messages"\s*:\s*\[')
_MEM0: Final = re.compile(rb'"memory"\s*:\s*"|\{\s*"results"\s*:\s*\[')


def _is_codex(head: FileHead) -> bool:
    line = head.line
    return bool(_CODEX.search(head.data)) or (isinstance(line, dict) and line.keys() >= _CODEX_2024)


def _is_claude_code(head: FileHead) -> bool:
    return bool(_CLAUDE_CODE.search(head.data)) and not _is_codex(head)


def _is_mcp_memory(head: FileHead) -> bool:
    line = head.line
    return (
        isinstance(line, dict)
        and line.get("type") in ("entity", "relation")
        and not {"content", "kind"} & line.keys()
    )


def _is_export(head: FileHead, pattern: re.Pattern[bytes]) -> bool:
    """Return whether a file that is one JSON value holds a pattern; lines of other formats may, too."""
    lines = head.is_record or _is_codex(head) or _is_claude_code(head) or _is_mcp_memory(head)
    return not lines and bool(pattern.search(head.data))


CHATGPT: Final = FileFormat(chatgpt, lambda head: _is_export(head, _CHATGPT))
CLAUDE: Final = FileFormat(claude, lambda head: _is_export(head, _CLAUDE))
CLAUDE_CODE: Final = FileFormat(claude_code, _is_claude_code, redacted=True)
CODEX: Final = FileFormat(codex, _is_codex, redacted=True)
MCP_MEMORY: Final = FileFormat(mcp_memory, _is_mcp_memory)
MEM0: Final = FileFormat(mem0, lambda head: _is_export(head, _MEM0))
