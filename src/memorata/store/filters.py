r"""Which memories may answer: a filter language that is plain JSON data, the same in Python, CLI and HTTP.

A filter maps fields to conditions that must all hold. A condition is a bare value, which means equality, or
a mapping of operators that must all hold. ``"and"``, ``"or"`` and ``"not"`` combine whole filters::

    {"category": "preference", "confidence": {">=": 0.5, "<": 0.9}, "tags": {"any": ["tea", "coffee"]},
     "or": [{"speaker": "Anna"}, {"metadata.room": {"in": [12, "attic"]}}],
     "not": {"place": {"exists": true}}}

- **id, content, category, speaker, role, session, link, via, embedder** are texts:
  ``=``, ``!=``, ``<``, ``<=``, ``>``, ``>=``, ``in``, ``not in``, ``exists``, ``contains``.
- **confidence, importance, position, mentions, access_count** are numbers, **created_at, valid_from,
  valid_to, expires_at, supported_at, last_accessed_at** are times: the same without ``contains``.
- **tier** is one of four names, **pinned** and **untrusted** are true or false: ``=``, ``!=``, ``in``,
  ``not in``, ``exists``.
- **tags, entities** are lists of texts: ``any``, ``all``, ``none``, ``exists``; a bare text asks for it.
- **place** is there or not: ``exists``.
- **metadata.room, metadata.a.b** are JSON: the operators of a text. In a key ``\.`` is a dot and ``\\`` a
  backslash; an empty key cannot be named.

What they mean, precisely, so that every store answers alike:

- **Missing** is None, a JSON null, a path that leads nowhere or through something other than an object, an
  empty list of tags or entities, and an empty text in a field of the memory itself (an unknown speaker is
  ``""``, and still compares as that text); an empty text in the metadata is a value like any other.
  ``exists`` asks whether something is there; None as a value, alone or in a list, asks for missing.
- **Values of two types are never equal and never in order**: in metadata ``1`` equals ``1.0``, but neither
  ``true`` nor ``"1"``; a list or an object equals nothing. So what is missing or of another type meets
  ``!=`` and ``not in``, and no other comparison.
- **Negations are complements**: a memory meets either a filter or its ``not``, never both, never neither.
  ``!=``, ``not in`` and ``none`` are the complements of ``=``, ``in`` and ``any``.
- **Text** is compared by code point, exactly as written. ``contains`` looks for a part of it after Unicode
  case folding of both (``straße`` contains ``STRASSE``), without any other normalisation.
- **Times** are datetimes with a zone or ISO 8601 texts with one; a date is its midnight in UTC.
- **Empty lists** follow logic: nothing is ``in`` or has ``any`` of them, everything has ``all``. An empty
  ``and`` or ``or``, or a condition with no operators, is refused as a likely mistake.

The operators in a mapping follow MongoDB's query documents. :func:`parse` checks a filter and turns it into a
small tree of typed conditions. In it every negation is a `Not`, every comparison names the one type it
applies to, and nothing needs checking again, so that a store can compile it node by node. :func:`matches` is
the definition of what it selects, and what the stores are tested against. No condition is ever "unknown":
SQL's third truth value has no place here, and `Not` is a true complement.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from numbers import Integral
from typing import Any, Final, NamedTuple, TypeAlias

from memorata._frozen import frozen
from memorata.model import checks
from memorata.model.checks import nearest
from memorata.model.errors import InvalidArgument
from memorata.model.memory import Memory, Tier

MAX_DEPTH: Final = 20
"""How deep filters, and the keys of a metadata path, may be nested."""
MAX_TERMS: Final = 500
"""How many conditions, nested filters and tags to test a filter may have, all counted."""
MAX_VALUES: Final = 10_000
"""How many values the lists of ``in`` and ``not in`` may hold together."""


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


def parse(filter: Mapping[str, Any] | None) -> Filter:
    """Return the checked tree of a filter; None and ``{}`` let every memory through.

    >>> parse({"confidence": {">=": 0.5}})
    Compare(field=Field(name='confidence', keys=()), kind=<Kind.NUMBER: 'number'>, operator='>=', value=0.5)
    >>> parse({"or": [{"tier": "working"}, {"confidence": {">=": "high"}}]})
    Traceback (most recent call last):
    ...
    memorata.model.errors.InvalidArgument: filter.or[1].confidence.>= must be a finite number, got 'high'
    """
    return _Reader().filter("filter", {} if filter is None else filter, 1)


def matches(filter: Filter, memory: Memory) -> bool:
    """Return whether a memory passes a parsed filter.

    >>> from datetime import UTC
    >>> tea = Memory(id="m1", content="Green tea, please.", created_at=datetime(2026, 5, 7, tzinfo=UTC),
    ...              tags=("tea",), metadata={"room": 12})
    >>> matches(parse({"tags": "tea", "metadata.room": {">": 10}, "created_at": {"<": "2026-05-08"}}), tea)
    True
    >>> matches(parse({"not": {"metadata.room": "12"}}), tea)
    True
    """
    return holds(filter, lambda field: _value(memory, field))


def holds(filter: Filter, read: Callable[[Field], object]) -> bool:
    """Return whether a parsed filter holds for the values that `read` gives for its fields."""
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
    """Return the value that `keys` lead to through nested objects, or None when they lead nowhere."""
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


_EQUALITY: Final = ("=", "!=", "in", "not in", "exists")
_ORDERED: Final = (*_EQUALITY, "<", "<=", ">", ">=")


def unexpired(now: datetime) -> dict[str, Any]:
    """Return the filter for what has not expired at a moment."""
    return {"or": [{"expires_at": {"exists": False}}, {"expires_at": {">": now}}]}


class _Sort(NamedTuple):
    """What a field holds: the operators on it, and the function that checks a value and says its kind."""

    operators: tuple[str, ...]
    read: Callable[[str, Any], tuple[Kind, Scalar]]


def _json_scalar(at: str, value: object) -> tuple[Kind, Scalar]:
    if isinstance(value, bool):
        return Kind.FLAG, value
    if isinstance(value, str):
        return Kind.TEXT, _text(at, value)
    if value is None or isinstance(value, Mapping | list | tuple):
        raise InvalidArgument(at, value, "text, a number, true or false")
    return Kind.NUMBER, _number(at, value)


_TIERS: Final = [tier.value for tier in Tier]
_TEXT: Final = _Sort((*_ORDERED, "contains"), lambda at, value: (Kind.TEXT, _text(at, value)))
_TIER: Final = _Sort(_EQUALITY, lambda at, value: (Kind.TEXT, str(checks.one_of(at, value, _TIERS))))
_FLAG: Final = _Sort(_EQUALITY, lambda at, value: (Kind.FLAG, checks.flag(at, value)))
_NUMBER: Final = _Sort(_ORDERED, lambda at, value: (Kind.NUMBER, _number(at, value)))
_TIME: Final = _Sort(_ORDERED, lambda at, value: (Kind.TIME, checks.instant(at, value)))
_JSON: Final = _Sort((*_ORDERED, "contains"), _json_scalar)
_LIST: Final = _Sort(("any", "all", "none", "exists"), _json_scalar)
_PLACE: Final = _Sort(("exists",), _json_scalar)
_METADATA: Final = "metadata"
_SORTS: Final[Mapping[str, _Sort]] = {
    **dict.fromkeys(
        ("id", "content", "category", "speaker", "role", "session", "link", "via", "embedder"), _TEXT
    ),
    "tier": _TIER,
    **dict.fromkeys(("pinned", "untrusted"), _FLAG),
    **dict.fromkeys(("confidence", "importance", "position", "mentions", "access_count"), _NUMBER),
    **dict.fromkeys(
        ("created_at", "valid_from", "valid_to", "expires_at", "supported_at", "last_accessed_at"), _TIME
    ),
    **dict.fromkeys(("tags", "entities"), _LIST),
    "place": _PLACE,
}
FIELDS: Final[tuple[str, ...]] = (*_SORTS, "metadata.<key>")
"""The fields a filter may name, for messages and help texts."""


class _Reader:
    """Reads one filter and counts what it has read, so that an endless one is refused early."""

    def __init__(self) -> None:
        self._terms = 0
        self._values = 0

    def filter(self, path: str, conditions: object, depth: int) -> Filter:
        if not isinstance(conditions, Mapping):
            raise InvalidArgument(path, conditions, "a mapping of fields to conditions")
        if depth > MAX_DEPTH:
            raise InvalidArgument(path, conditions, f"nested at most {MAX_DEPTH} deep")
        return _joined(And, [self._term(path, name, wanted, depth) for name, wanted in conditions.items()])

    def _term(self, path: str, name: object, wanted: object, depth: int) -> Filter:
        self._count(path)
        if name == "not":
            return Not(self.filter(f"{path}.not", wanted, depth + 1))
        if name in ("and", "or"):
            at = f"{path}.{name}"
            filters = _list(at, wanted, "a list of filters, at least one")
            if not filters:
                raise InvalidArgument(at, wanted, "a list of filters, at least one")
            parts = []
            for index, part in enumerate(filters):
                self._count(at)
                parts.append(self.filter(f"{at}[{index}]", part, depth + 1))
            return _joined(And if name == "and" else Or, parts)
        field, sort = _field(path, name)
        at = f"{path}.{_short(str(name))}"
        if not isinstance(wanted, Mapping):
            return self._bare(at, field, sort, wanted)
        if not wanted:
            raise InvalidArgument(at, wanted, "a value, or a mapping with at least one operator")
        conditions = []
        for name_, operand in wanted.items():
            if name_ not in sort.operators:
                operators = ", ".join(map(repr, sort.operators))
                raise InvalidArgument(at, name_, f"a value or a mapping of the operators {operators}")
            self._count(at)
            conditions.append(self._condition(f"{at}.{name_}", field, sort, name_, operand))
        return _joined(And, conditions)

    def _bare(self, at: str, field: Field, sort: _Sort, wanted: object) -> Filter:
        if wanted is None:
            return Not(Exists(field))
        if sort is _LIST:
            return Has(field, _text(at, wanted))
        if sort is _PLACE:
            raise InvalidArgument(at, wanted, 'None or {"exists": …}; filters do not look into places')
        return self._one_of(field, sort, [(at, wanted)])

    def _condition(self, at: str, field: Field, sort: _Sort, name: str, operand: object) -> Filter:
        match name:
            case "exists":
                return Exists(field) if checks.flag(at, operand) else Not(Exists(field))
            case "contains":
                return Contains(field, _text(at, operand).casefold())
            case "=" | "!=":
                condition = self._one_of(field, sort, [(at, operand)])
            case "in" | "not in":
                values = _list(at, operand, "a list of values")
                condition = self._one_of(
                    field, sort, [(f"{at}[{n}]", value) for n, value in enumerate(values)]
                )
            case "any" | "all" | "none":
                condition = self._has(at, field, And if name == "all" else Or, operand)
            case _:
                kind, bound = sort.read(at, operand)
                if kind is Kind.FLAG:
                    raise InvalidArgument(at, operand, "text or a number; true and false have no order")
                return Compare(field, kind, name, bound)
        return Not(condition) if name in ("!=", "not in", "none") else condition

    def _has(self, at: str, field: Field, together: type[And | Or], operand: object) -> Filter:
        parts = []
        for index, value in enumerate(_list(at, operand, "a list of strings")):
            self._count(at)
            parts.append(Has(field, _text(f"{at}[{index}]", value)))
        return _joined(together, parts)

    def _one_of(self, field: Field, sort: _Sort, candidates: Sequence[tuple[str, object]]) -> Filter:
        self._values += len(candidates)
        if self._values > MAX_VALUES:
            raise InvalidArgument("filter", _Count(self._values), f"at most {MAX_VALUES} values in its lists")
        by_kind: dict[Kind, list[Scalar]] = {}
        for at, value in candidates:
            if value is not None:
                kind, checked = sort.read(at, value)
                by_kind.setdefault(kind, []).append(checked)
        parts: list[Filter] = [OneOf(field, kind, tuple(values)) for kind, values in by_kind.items()]
        if any(value is None for _, value in candidates):
            parts.append(Not(Exists(field)))
        return _joined(Or, parts)

    def _count(self, path: str) -> None:
        self._terms += 1
        if self._terms > MAX_TERMS:
            raise InvalidArgument(path, _Count(self._terms), f"part of a filter of at most {MAX_TERMS} terms")


class _Count(int):
    """A number of things that an error message shows as such."""

    def __repr__(self) -> str:
        return f"at least {int(self)}"


def _joined(together: type[And | Or], parts: Sequence[Filter]) -> Filter:
    return parts[0] if len(parts) == 1 else together(tuple(parts))


def _field(path: str, name: object) -> tuple[Field, _Sort]:
    if isinstance(name, str) and name in _SORTS:
        return Field(name), _SORTS[name]
    if isinstance(name, str) and name.startswith(f"{_METADATA}."):
        return Field(_METADATA, _keys(path, name)), _JSON
    meant = nearest(name, FIELDS) if isinstance(name, str) else ""
    raise InvalidArgument(path, name, f"a mapping of the fields {', '.join(FIELDS)}, and, or, not{meant}")


def _keys(path: str, name: str) -> tuple[str, ...]:
    """Return the keys of a metadata path, split at its dots; a backslash takes a dot or itself literally."""
    keys = [""]
    characters = iter(_text(f"{path}.{_short(name)}", name).removeprefix(f"{_METADATA}."))
    for character in characters:
        if character == ".":
            keys.append("")
            continue
        if character == "\\":
            character = next(characters, "")
            if character not in (".", "\\"):
                raise InvalidArgument(path, name, r"a path in which a backslash is written \\ and a dot \.")
        keys[-1] += character
    if not all(keys) or len(keys) > MAX_DEPTH:
        raise InvalidArgument(path, name, f"a path of 1 to {MAX_DEPTH} keys that are not empty")
    return tuple(keys)


def _text(at: str, value: object) -> str:
    # str.__str__ makes a plain string of an enum member, whose own __str__ may say something else.
    return str.__str__(checks.writable(at, value))


def _number(at: str, value: object) -> int | float:
    checked = checks.number(at, value)
    # An int keeps its digits: beyond 2**53 float64 would blur neighbours.
    return int(value) if isinstance(value, Integral) else checked


def _list(at: str, value: object, expected: str) -> Sequence[object]:
    if not isinstance(value, list | tuple):
        raise InvalidArgument(at, value, expected)
    return value


def _short(name: str) -> str:
    return name if len(name) <= 60 else name[:60] + "…"
