"""The settings files of agents, and how our hooks and MCP server are added to them and removed.

The files are the user's own: other entries stay; ours are recognised by the command they run.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from memorata.extend import frozen
from memorata.extend.errors import InvalidArgument
from memorata.extend.model import checks
from memorata_agents.hooks.daemon import AGENTS

HOOK: Final = "memorata-hook"
SERVER: Final = "memorata"
# Event by event: seconds that the agent grants the hook, above what the hook itself takes at most.
CLAUDE_CODE_EVENTS: Final = {
    "SessionStart": 5,
    "UserPromptSubmit": 2,
    "Stop": 5,
    "PreCompact": 5,
    "SessionEnd": 5,
}
_CODEX: Final = {"SessionStart": 5, "UserPromptSubmit": 2, "Stop": 5, "PreCompact": 5}
_CURSOR: Final = ("sessionStart", "beforeSubmitPrompt", "afterAgentResponse")
_TOML_TABLE: Final = re.compile(rf"\n*\[mcp_servers\.{SERVER}\][^\n]*(?:\n(?!\[).*)*\n?")
_TOML_TABLES_BELOW: Final = re.compile(_TOML_TABLE.pattern.replace(rf"{SERVER}\]", rf"{SERVER}\.[^\]\n]+\]"))

Json = dict[str, Any]


@frozen
class Edit:
    """A file as it is and as it should be; None for one that is not there, or should not be."""

    path: Path
    before: str | None
    after: str | None

    def apply(self) -> None:
        """Write the file in one step, with the rights that it had; or remove it."""
        if self.after is None:
            self.path.unlink(missing_ok=True)
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        mode = self.path.stat().st_mode & 0o777 if self.path.exists() else 0o600
        part = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        with os.fdopen(
            os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w", encoding="utf-8"
        ) as file:
            file.write(self.after)
        part.replace(self.path)


def edits(agent: str, home: Path, *, remove: bool, command: str = HOOK) -> list[Edit]:
    """Return the edits after which an agent has our hooks and our server, or has them no more.

    Raises `InvalidArgument` for a file that cannot be read as what it should be; nothing is written then.
    """
    checks.one_of("agent", agent, AGENTS)
    # A shell runs it, and a home may have spaces in its name.
    hook = f'"{command}" {agent}' if " " in command else f"{command} {agent}"
    # The server is started from where the hook is: an agent may not have that folder on its PATH.
    folder, _, suffix = command.rpartition(HOOK)
    server = f"{folder}memorata{suffix}"
    files: list[tuple[Path, Callable[[Json], Json]]]
    if agent == "claude-code":
        files = [
            (home / ".claude" / "settings.json", lambda data: _hooks(data, CLAUDE_CODE_EVENTS, hook, remove)),
            (home / ".claude.json", lambda data: _servers(data, remove, {"type": "stdio"}, server)),
        ]
    elif agent == "codex":
        files = [(home / ".codex" / "hooks.json", lambda data: _hooks(data, _CODEX, hook, remove))]
    else:
        files = [
            (home / ".cursor" / "hooks.json", lambda data: _cursor_hooks(data, hook, remove)),
            (home / ".cursor" / "mcp.json", lambda data: _servers(data, remove, {}, server)),
        ]
    changes = [_json_edit(path, change(_read_json(path)), remove) for path, change in files]
    if agent == "codex":
        changes.append(_toml_edit(home / ".codex" / "config.toml", remove, server))
    return [edit for edit in changes if edit.before != edit.after]


def _read_json(path: Path) -> Json:
    text = _text(path)
    try:
        data = json.loads(text) if text is not None and text.strip() else {}
    except ValueError as error:
        raise InvalidArgument(
            "the settings of the agent", str(path), f"JSON ({error}); mend it first"
        ) from error
    if not isinstance(data, dict):
        raise InvalidArgument("the settings of the agent", str(path), "a JSON object; mend it first")
    return data


def _json_edit(path: Path, data: Json, remove: bool) -> Edit:
    before = _text(path)
    if remove and not data:
        return Edit(path, before, None)
    if before is not None and data == _read_json(path):
        return Edit(path, before, before)
    return Edit(path, before, json.dumps(data, indent=2, ensure_ascii=False) + "\n")


def _hooks(data: Json, events: Mapping[str, int], hook: str, remove: bool) -> Json:
    """Return settings in which each event has our hook exactly once, or not at all."""
    hooks = dict(data.get("hooks") or {})
    for event in dict.fromkeys([*hooks, *events]):
        groups = []
        for group in hooks.get(event) or []:
            theirs = [hook for hook in group.get("hooks") or [] if not _is_ours(hook)]
            if theirs or not group.get("hooks"):
                groups.append({**group, "hooks": theirs})
        if not remove and event in events:
            entry: Json = {"type": "command", "command": hook, "timeout": events[event]}
            groups.append({"hooks": [entry]})
        if groups:
            hooks[event] = groups
        else:
            hooks.pop(event, None)
    return _with(data, "hooks", hooks)


def _cursor_hooks(data: Json, hook: str, remove: bool) -> Json:
    hooks = dict(data.get("hooks") or {})
    for event in dict.fromkeys([*hooks, *_CURSOR]):
        entries = [hook for hook in hooks.get(event) or [] if not _is_ours(hook)]
        if not remove and event in _CURSOR:
            entries.append({"command": hook})
        if entries:
            hooks[event] = entries
        else:
            hooks.pop(event, None)
    changed = _with(data, "hooks", hooks)
    if remove:
        return changed if "hooks" in changed or changed.keys() - {"version"} else {}
    return {"version": 1, **changed}


def _servers(data: Json, remove: bool, kind: Json, command: str) -> Json:
    servers = {name: server for name, server in (data.get("mcpServers") or {}).items() if name != SERVER}
    if not remove:
        servers[SERVER] = {**kind, "command": command, "args": ["server", "mcp"]}
    return _with(data, "mcpServers", servers)


def _with(data: Json, name: str, value: Json) -> Json:
    """Return settings with another value of one name, or without it where the value is empty."""
    return {**data, name: value} if value else {key: entry for key, entry in data.items() if key != name}


def _is_ours(entry: object) -> bool:
    command = str(entry.get("command", "")) if isinstance(entry, dict) else ""
    return HOOK in command


def _toml_edit(path: Path, remove: bool, command: str) -> Edit:
    """Return Codex' settings with our table at their end; the rest stays as it is written, comments too."""
    before = _text(path)
    other_tables = _TOML_TABLE.sub("\n", before or "").strip("\n")
    if remove:
        # Settings of the user for our server; without our table they would name a server that nothing starts.
        other_tables = _TOML_TABLES_BELOW.sub("\n", other_tables).strip("\n")
    try:
        tomllib.loads(before or "")
    except tomllib.TOMLDecodeError as error:
        raise InvalidArgument(
            "the settings of the agent", str(path), f"TOML ({error}); mend it first"
        ) from error
    table = (
        ""
        if remove
        else f'[mcp_servers.{SERVER}]\ncommand = {json.dumps(command)}\nargs = ["server", "mcp"]\n'
    )
    after = "\n\n".join(part for part in (other_tables, table.rstrip("\n")) if part)
    if not after:
        return Edit(path, before, None)
    return Edit(path, before, before if (before or "").strip("\n") == after else after + "\n")


def _text(path: Path) -> str | None:
    try:
        return path.read_text("utf-8")
    except FileNotFoundError:
        return None


def installed(agent: str, home: Path) -> bool:
    """Return whether an agent has our hooks."""
    path = {
        "claude-code": ".claude/settings.json",
        "codex": ".codex/hooks.json",
        "cursor": ".cursor/hooks.json",
    }
    text = _text(home / path[checks.one_of("agent", agent, AGENTS)])
    return text is not None and HOOK in text
