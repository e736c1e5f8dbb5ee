"""A parsed filter: a small tree of typed conditions, and what it means in plain Python.

:func:`memorata.store.filters.parse` builds the tree. In it every negation is a `Not`, every comparison names
the one type it applies to, and nothing needs checking again, so that a store can compile it node by node.
:func:`matches` is the definition of what it selects, and what the stores are tested against. No condition is
ever "unknown": SQL's third truth value has no place here, and `Not` is a true complement.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, TypeAlias

from memorata._frozen import frozen
from memorata.model.memory import Memory

Scalar: TypeAlias = str | int | float | bool | datetime


class Kind(StrEnum):
    """The type of the values that a comparison applies to."""

    TEXT = "text"
    NUMBER = "number"
    FLAG = "flag"
    TIME = "time"


@frozen
class Field:
    r"""Where a value is read: a field of the memory, or ``metadata`` and the keys that lead into it.

    >>> str(Field("metadata", ("a.b", "c")))
    'metadata.a\\.b.c'
    """

    name: str
    keys: tuple[str, ...] = ()

    def __str__(self) -> str:
        return ".".join((self.name, *(key.replace("\\", "\\\\").replace(".", "\\.") for key in self.keys)))


@frozen
class And:
    """All parts hold; with no parts, always."""

    parts: tuple[Filter, ...]


@frozen
class Or:
    """At least one part holds; with no parts, never."""

    parts: tuple[Filter, ...]


@frozen
class Not:
    """The part does not hold."""

    part: Filter


@frozen
class Exists:
    """The field is not missing."""

    field: Field


@frozen
class OneOf:
    """The field is of this kind and equals one of the values: at least one, all of this kind."""

    field: Field
    kind: Kind
    values: tuple[Scalar, ...]


@frozen
class Compare:
    """The field is of this kind, and stands in this order (``<``, ``<=``, ``>`` or ``>=``) to the value."""

    field: Field
    kind: Kind
    operator: str
    value: Scalar


@frozen
class Contains:
    """The field is a text, and its case-folded form contains `folded`."""

    field: Field
    folded: str


@frozen
class Has:
    """The list of texts in this field (tags or entities) has this one."""

    field: Field
    value: str


Filter: TypeAlias = And | Or | Not | Exists | OneOf | Compare | Contains | Has


def matches(filter: Filter, memory: Memory) -> bool:
    """Return whether a memory passes a parsed filter.

    >>> from datetime import UTC
    >>> from memorata.store.filters import parse
    >>> tea = Memory(id="m1", content="Green tea, please.", created_at=datetime(2026, 5, 7, tzinfo=UTC),
    ...              tags=("tea",), metadata={"room": 12})
    >>> matches(parse({"tags": "tea", "metadata.room": {">": 10}, "created_at": {"<": "2026-05-08"}}), tea)
    True
    >>> matches(parse({"not": {"metadata.room": "12"}}), tea)
    True
    """
    return holds(filter, lambda field: _value(memory, field))


def holds(filter: Filter, read: Callable[[Field], object]) -> bool:
    """Return whether a parsed filter holds for the values that `read` gives for its fields.

    >>> from memorata.store.filters import parse
    >>> holds(parse({"metadata.room": {"exists": False}}), lambda field: None)
    True
    """
    match filter:
        case And(parts):
            return all(holds(part, read) for part in parts)
        case Or(parts):
            return any(holds(part, read) for part in parts)
        case Not(part):
            return not holds(part, read)
    value = read(filter.field)
    match filter:
        case Exists(field):
            return value is not None and (bool(field.keys) or value not in ("", ()))
        case OneOf(_, kind, values):
            return _is(kind, value) and value in values
        case Compare(_, kind, order, bound):
            return _is(kind, value) and bool(_IN_ORDER[order](value, bound))
        case Contains(_, folded):
            return isinstance(value, str) and folded in value.casefold()
        case Has(_, wanted):
            return isinstance(value, tuple) and wanted in value


def value_at(metadata: object, keys: Iterable[str]) -> object:
    """Return the value that `keys` lead to through nested objects, or None when they lead nowhere.

    >>> value_at({"a": {"b": 1}}, ["a", "b"]), value_at({"a": [1]}, ["a", "0"])
    (1, None)
    """
    for key in keys:
        if not isinstance(metadata, Mapping) or key not in metadata:
            return None
        metadata = metadata[key]
    return metadata


_IN_ORDER: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_TYPES: Final[Mapping[Kind, type | tuple[type, ...]]] = {
    Kind.TEXT: str,
    Kind.NUMBER: (int, float),
    Kind.FLAG: bool,
    Kind.TIME: datetime,
}


def _is(kind: Kind, value: object) -> bool:
    return isinstance(value, _TYPES[kind]) and (kind is Kind.FLAG or not isinstance(value, bool))


def _value(memory: Memory, field: Field) -> object:
    if field.keys:
        return value_at(memory.metadata, field.keys)
    holder = memory.source if hasattr(memory.source, field.name) else memory
    return getattr(holder, field.name)
