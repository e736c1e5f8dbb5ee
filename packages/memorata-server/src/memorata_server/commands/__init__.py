"""The commands of ``memorata server``."""

from collections.abc import Mapping
from typing import Final

HELP: Final = "Serve a memory: HTTP with a page, the Model Context Protocol, a proxy, and their keys."
COMMANDS: Final[Mapping[str, Mapping[str, str]]] = {
    "server": {"Servers": "start mcp proxy", "Access": "key"},
}
"""By module and heading, the commands, in the order in which the help shows them."""
GROUPS: Final[Mapping[str, tuple[str, Mapping[str | None, str]]]] = {
    "key": ("API keys of the servers.", {None: "create list revoke"}),
}
"""By name, the help of the commands that are groups, and their own commands by heading."""
