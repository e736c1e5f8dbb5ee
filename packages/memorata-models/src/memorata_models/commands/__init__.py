"""The commands of ``memorata model``."""

from collections.abc import Mapping
from typing import Final

HELP: Final = "Embedders and re-rankers: list, install, verify, remove."
COMMANDS: Final[Mapping[str, Mapping[str, str]]] = {"models": {"Models": "list install verify remove"}}
"""By module and heading, the commands, in the order in which the help shows them."""
GROUPS: Final[Mapping[str, tuple[str, str, Mapping[str, Mapping[str | None, str]]]]] = {}
"""By name, a group's heading, its help, and its commands by module and heading."""
