"""The commands of ``memorata agents``."""

from collections.abc import Mapping
from typing import Final

HELP: Final = "Give coding agents memory by hooks and MCP tools: Claude Code, Codex, Cursor."
COMMANDS: Final[Mapping[str, Mapping[str, str]]] = {"hooks": {"Hooks": "install uninstall list"}}
"""By module and heading, the commands, in the order in which the help shows them."""
GROUPS: Final[Mapping[str, tuple[str, str, Mapping[str, Mapping[str | None, str]]]]] = {}
"""By name, a group's heading, its help, and its commands by module and heading."""
