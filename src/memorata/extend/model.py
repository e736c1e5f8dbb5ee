"""Values and checks."""

from memorata.engine.admin import duration
from memorata.engine.write.writer import KEY, KEY_CREATED_AT, version_id
from memorata.model import checks
from memorata.model.checks import (
    DEFAULT_NAMESPACE,
    BoolArray,
    Flags,
    FloatArray,
    IntArray,
    Numbers,
    Rows,
    contains,
    memory_id,
    nearest,
)
from memorata.model.entity import Period, Place, Relation
from memorata.model.hit import Explanation, Feedback, Hit, Signal
from memorata.model.memory import TRUSTED_ROLES, Memory, Source, Tier
from memorata.model.parameter import Declared, Parameter, both_given
from memorata.text.dates import MONTHS
from memorata.text.tokens import folded

__all__ = [
    "DEFAULT_NAMESPACE",
    "KEY",
    "KEY_CREATED_AT",
    "MONTHS",
    "TRUSTED_ROLES",
    "BoolArray",
    "Declared",
    "Explanation",
    "Feedback",
    "Flags",
    "FloatArray",
    "Hit",
    "IntArray",
    "Memory",
    "Numbers",
    "Parameter",
    "Period",
    "Place",
    "Relation",
    "Rows",
    "Signal",
    "Source",
    "Tier",
    "both_given",
    "checks",
    "contains",
    "duration",
    "folded",
    "memory_id",
    "nearest",
    "version_id",
]
