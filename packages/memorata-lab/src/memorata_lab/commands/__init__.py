"""The commands of ``memorata lab``."""

from collections.abc import Mapping
from typing import Final

HELP: Final = "Measure recipes on labelled data, tune them, and compare them with users."
COMMANDS: Final[Mapping[str, Mapping[str, str]]] = {
    "evaluation": {"Measure": "eval"},
    "tuning": {"Improve": "tune"},
    "experiments": {"Improve": "experiment"},
    "replay": {"Improve": "replay retune"},
}
"""By module and heading, the commands, in the order in which the help shows them."""
GROUPS: Final[Mapping[str, tuple[str, Mapping[str | None, str]]]] = {
    "eval": (
        "Measure the recipes on data with labels.",
        {
            "Data sets": "longmemeval locomo multihop beir smart facts jsonl",
            "Many sets": "suite",
            "Run files": "score compare report",
        },
    ),
    "tune": (
        "Tune on feedback and labels; what wins on held-out questions is saved.",
        {None: "weights thresholds recipe namespaces"},
    ),
    "experiment": ("Compare variants with users.", {None: "create assign recall status stop"}),
}
"""By name, the help of the commands that are groups, and their own commands by heading."""
