"""The commands of ``memorata server``."""

from collections.abc import Mapping
from typing import Final

HELP: Final = "Serve a memory: HTTP with a page, the Model Context Protocol, a proxy, and their keys."
COMMANDS: Final[Mapping[str, Mapping[str, str]]] = {
    "server": {"Servers": "start mcp proxy"},
}
"""By module and heading, the commands, in the order in which the help shows them."""
GROUPS: Final[Mapping[str, tuple[str, str, Mapping[str, Mapping[str | None, str]]]]] = {
    "key": ("Access", "API keys of the servers.", {"server": {None: "create list revoke"}}),
}
"""By name, a group's heading, its help, and its commands by module and heading."""
