"""The commands of ``memorata postgres``."""

from collections.abc import Mapping
from typing import Final

HELP: Final = "Administer a memory on PostgreSQL."
COMMANDS: Final[Mapping[str, Mapping[str, str]]] = {"administration": {"Administration": "distribute"}}
"""By module and heading, the commands, in the order in which the help shows them."""
GROUPS: Final[Mapping[str, tuple[str, str, Mapping[str, Mapping[str | None, str]]]]] = {}
"""By name, a group's heading, its help, and its commands by module and heading."""
