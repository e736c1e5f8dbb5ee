"""What is a memory? The words of the field as frozen, checked dataclasses, and the errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memorata._on_demand import on_demand

if TYPE_CHECKING:
    from memorata.model.checks import DEFAULT_NAMESPACE, uuid7
    from memorata.model.entity import Entity, Period, Place, Relation
    from memorata.model.errors import InvalidArgument, MemorataError
    from memorata.model.hit import Explanation, Feedback, Hit, Signal
    from memorata.model.memory import Memory, Source, Tier
    from memorata.model.parameter import Declared, Parameter, parameters_of
    from memorata.model.query import Query, When

__getattr__, __dir__ = on_demand(
    __name__,
    {
        ".entity": ("Entity", "Period", "Place", "Relation"),
        ".errors": ("InvalidArgument", "MemorataError"),
        ".hit": ("Explanation", "Feedback", "Hit", "Signal"),
        ".checks": ("DEFAULT_NAMESPACE", "uuid7"),
        ".memory": ("Memory", "Source", "Tier"),
        ".parameter": ("Declared", "Parameter", "parameters_of"),
        ".query": ("Query", "When"),
    },
)

__all__ = [
    "DEFAULT_NAMESPACE",
    "Declared",
    "Entity",
    "Explanation",
    "Feedback",
    "Hit",
    "InvalidArgument",
    "MemorataError",
    "Memory",
    "Parameter",
    "Period",
    "Place",
    "Query",
    "Relation",
    "Signal",
    "Source",
    "Tier",
    "When",
    "parameters_of",
    "uuid7",
]
