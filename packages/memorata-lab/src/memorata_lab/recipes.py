"""The recipes of published designs and of other searches, as data of the core's recipes."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

PUBLISHED: Final[Mapping[str, Mapping[str, Any]]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
"""By name, what each sets (entry point ``memorata.recipes``)."""
