"""The people and things that memories speak of, and how they relate."""

from __future__ import annotations

from datetime import datetime

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.errors import InvalidArgument


@frozen
class Entity:
    """Someone or something with a name.

    Parameters
    ----------
    name, aliases
        What it is called first of all, and what else.
    type, description
        What it is, in a word and in a sentence.

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
        if not checks.writable("name", self.name).strip():
            raise InvalidArgument("name", self.name, "a name that is not blank")
        checks.writable("type", self.type)
        checks.writable("description", self.description)
        object.__setattr__(self, "aliases", checks.texts("aliases", self.aliases))
        for index, alias in enumerate(self.aliases):
            checks.writable(f"aliases[{index}]", alias)


@frozen
class Relation:
    """A typed, weighted, directed edge between two entities, with the memory that asserts it.

    Parameters
    ----------
    source, type, target
        The edge: names of entities, and what joins them.
    weight
        How strong it is, above 0.
    asserted_by
        The id of the memory that says so.
    valid_from, valid_to, created_at
        From when until when it holds, and when it was asserted (None before it is stored).

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
    created_at: datetime | None = None

    def __post_init__(self) -> None:
        for argument in ("source", "type", "target"):
            value = getattr(self, argument)
            if not checks.writable(argument, value).strip():
                raise InvalidArgument(argument, value, "text that is not blank")
        object.__setattr__(self, "weight", checks.above("weight", self.weight, 0))
        if self.asserted_by is not None:
            checks.text("asserted_by", self.asserted_by)
        object.__setattr__(self, "created_at", checks.optional_instant("created_at", self.created_at))
        checks.validity(self)
