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
GROUPS: Final[Mapping[str, tuple[str, str, Mapping[str, Mapping[str | None, str]]]]] = {}
"""By name, a group's heading, its help, and its commands by module and heading."""
