"""The commands of ``memorata graph``."""

from collections.abc import Mapping
from typing import Final

HELP: Final = "Entities and relations, paths and communities, places and times."
COMMANDS: Final[Mapping[str, Mapping[str, str]]] = {
    "graph": {
        "Entities and relations": "entities relate about purge",
        "Ask the graph": "paths hubs communities",
        "Place and time": "near cells timeline",
    }
}
"""By module and heading, the commands, in the order in which the help shows them."""
GROUPS: Final[Mapping[str, tuple[str, Mapping[str | None, str]]]] = {}
"""By name, the help of the commands that are groups, and their own commands by heading."""
