"""The commands of ``memorata postgres``."""

from collections.abc import Mapping
from typing import Final

HELP: Final = "Administer a memory on PostgreSQL."
COMMANDS: Final[Mapping[str, Mapping[str, str]]] = {"administration": {"Administration": "distribute"}}
"""By module and heading, the commands, in the order in which the help shows them."""
GROUPS: Final[Mapping[str, tuple[str, Mapping[str | None, str]]]] = {}
"""By name, the help of the commands that are groups, and their own commands by heading."""
