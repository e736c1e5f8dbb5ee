"""The commands of ``memorata lab``."""

from collections.abc import Mapping
from typing import Final

HELP: Final = "Measure recipes on labelled data, tune them, and compare them with users."
COMMANDS: Final[Mapping[str, Mapping[str, str]]] = {
    "replay": {"Improve": "replay retune"},
}
"""By module and heading, the commands, in the order in which the help shows them."""
GROUPS: Final[Mapping[str, tuple[str, str, Mapping[str, Mapping[str | None, str]]]]] = {
    "eval": (
        "Measure",
        "Measure the recipes on data with labels.",
        {
            "evaluation": {
                "Data sets": "longmemeval locomo multihop beir smart facts jsonl",
                "Many sets": "suite",
                "Run files": "score compare report",
            }
        },
    ),
    "tune": (
        "Improve",
        "Tune on feedback and labels; what wins on held-out questions is saved.",
        {"tuning": {None: "weights thresholds recipe namespaces"}},
    ),
    "experiment": (
        "Improve",
        "Compare variants with users.",
        {"experiments": {None: "create assign recall status stop"}},
    ),
}
"""By name, a group's heading, its help, and its commands by module and heading."""
