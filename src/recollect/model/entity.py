"""The people and things that memories speak of, and how they relate."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from recollect.model import checks
from recollect.model.errors import InvalidArgument


@dataclass(frozen=True, slots=True)
class Entity:
    """Someone or something with a name.

    Examples
    --------
    >>> Entity("Anna Keller", type="person", aliases=("Anna",)).aliases
    ('Anna',)
    """

    name: str
    type: str = "thing"
    aliases: tuple[str, ...] = ()
    description: str = ""

    def __post_init__(self) -> None:
        if not checks.text("name", self.name).strip():
            raise InvalidArgument("name", self.name, "a name that is not blank")
        checks.text("type", self.type)
        checks.text("description", self.description)
        object.__setattr__(self, "aliases", checks.texts("aliases", self.aliases))


@dataclass(frozen=True, slots=True)
class Relation:
    """A typed, weighted, directed edge between two entities, with the memory that asserts it.

    Examples
    --------
    >>> Relation("UAV-001", "belongs_to", "fleet-rescue").type
    'belongs_to'
    """

    source: str
    type: str
    target: str
    weight: float = 1.0
    asserted_by: str | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None

    def __post_init__(self) -> None:
        for argument in ("source", "type", "target"):
            value = getattr(self, argument)
            if not checks.text(argument, value).strip():
                raise InvalidArgument(argument, value, "text that is not blank")
        object.__setattr__(self, "weight", checks.above("weight", self.weight, 0))
        if self.asserted_by is not None:
            checks.text("asserted_by", self.asserted_by)
        checks.validity(self)
