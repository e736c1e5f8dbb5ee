"""What is a memory? The words of the field as frozen, checked dataclasses, and the errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect._on_demand import on_demand

if TYPE_CHECKING:
    from recollect.model.entity import Entity, Relation
    from recollect.model.errors import InvalidArgument, RecollectError
    from recollect.model.explanation import Explanation
    from recollect.model.feedback import Feedback, Signal
    from recollect.model.hit import Candidate, Hit
    from recollect.model.identity import uuid7
    from recollect.model.memory import Memory, Source, Tier
    from recollect.model.namespace import DEFAULT_NAMESPACE
    from recollect.model.parameter import Declared, Parameter, parameters_of
    from recollect.model.period import Period
    from recollect.model.place import Place
    from recollect.model.query import Query

__getattr__, __dir__ = on_demand(
    __name__,
    {
        ".entity": ("Entity", "Relation"),
        ".errors": ("InvalidArgument", "RecollectError"),
        ".explanation": ("Explanation",),
        ".feedback": ("Feedback", "Signal"),
        ".hit": ("Candidate", "Hit"),
        ".identity": ("uuid7",),
        ".memory": ("Memory", "Source", "Tier"),
        ".namespace": ("DEFAULT_NAMESPACE",),
        ".parameter": ("Declared", "Parameter", "parameters_of"),
        ".period": ("Period",),
        ".place": ("Place",),
        ".query": ("Query",),
    },
)

__all__ = [
    "DEFAULT_NAMESPACE",
    "Candidate",
    "Declared",
    "Entity",
    "Explanation",
    "Feedback",
    "Hit",
    "InvalidArgument",
    "Memory",
    "Parameter",
    "Period",
    "Place",
    "Query",
    "RecollectError",
    "Relation",
    "Signal",
    "Source",
    "Tier",
    "parameters_of",
    "uuid7",
]
