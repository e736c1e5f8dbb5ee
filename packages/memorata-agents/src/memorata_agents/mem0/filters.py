"""mem0's filters as filters of the engine, and the values that they compare.

A filter maps fields to values or to operators (`eq`, `gte`, `icontains` and others), and combines filters by
``AND``, ``OR`` and ``NOT``, each of one filter or a list. Ids, role, times and expiry are metadata of
the engine's memory; every other name is one of the caller's metadata, in the object ``metadata`` beside them.
Times and days are stored as ISO 8601 texts in UTC, whose order is that of the times.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, time
from typing import Any, Final

from memorata.extend.filters import Field
from memorata.extend.model import KEY

SCOPES: Final = ("user_id", "agent_id", "run_id", "app_id")
PROMOTED: Final = (*SCOPES, "role", "actor_id", "expiration_date")
"""The fields of a memory that mem0 returns beside its metadata."""
TIMES: Final = ("created_at", "updated_at")
METADATA: Final = "metadata"
_OPERATORS: Final = {
    "eq": "=", "ne": "!=", "in": "in", "nin": "not in", "gt": ">", "gte": ">=", "lt": "<", "lte": "<=",
    "contains": "contains", "icontains": "contains",
}  # fmt: skip
_COMBINATIONS: Final = ("AND", "OR", "NOT")

Json = dict[str, Any]


def conditions(filters: object) -> Json:
    """Return mem0's filters as a filter of the engine; they must name an id."""
    if not isinstance(filters, Mapping) or not _names_scope(filters):
        raise ValueError(f"filters must contain at least one of: {', '.join(SCOPES)}")
    return _all_of(filters)


def unexpired(today: date) -> Json:
    """Return the filter for memories whose last day is not over."""
    field = _field("expiration_date")
    return {"or": [{field: {"exists": False}}, {field: {">=": today.isoformat()}}]}


def both(parts: Iterable[Json]) -> Json:
    """Return the filter that all parts make; one part stands for itself."""
    listed = list(parts)
    return listed[0] if len(listed) == 1 else {"and": listed}


def entity_id(name: str, value: object) -> str:
    """Return the id of a user, an agent, a run or an app as a text without white space, or raise."""
    if isinstance(value, bool) or not isinstance(value, str | int | None):
        raise ValueError(f"Invalid {name}: must be a text or a whole number, got {value!r}")
    words = [] if value is None else str(value).split()
    if not words:
        raise ValueError(f"Invalid {name}: cannot be empty or whitespace-only, got {value!r}")
    if len(words) > 1:
        raise ValueError(f"Invalid {name}: cannot contain whitespace, got {value!r}")
    return words[0]


def instant(value: float | str | date) -> datetime:
    """Return a time in UTC: of seconds since 1970, an ISO 8601 text, or a day, which is its midnight."""
    try:
        if isinstance(value, int | float):
            return datetime.fromtimestamp(value, UTC)
        moment = datetime.fromisoformat(value) if isinstance(value, str) else value
        if not isinstance(moment, datetime):
            moment = datetime.combine(moment, time(), UTC)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (OverflowError, OSError, TypeError) as error:
        raise ValueError(f"a time must be seconds since 1970 or ISO 8601, got {value!r}") from error


def _names_scope(filters: Mapping[str, Any]) -> bool:
    parts = [part for name in ("AND", "OR") for part in _listed(filters.get(name, ()))]
    return bool(filters.keys() & set(SCOPES)) or any(
        isinstance(part, Mapping) and _names_scope(part) for part in parts
    )


def _listed(value: Any) -> list[Any]:  # noqa: ANN401 - any JSON
    """Return the filters of a combination: a list, or one filter alone."""
    return list(value) if isinstance(value, list | tuple) else [value]


def _all_of(filters: object) -> Json:
    if not isinstance(filters, Mapping):
        raise ValueError(f"a filter must be a mapping of names to values, got {filters!r}")
    return both(_condition(str(name), value) for name, value in filters.items())


def _condition(name: str, value: Any) -> Json:  # noqa: ANN401 - any JSON
    if name in _COMBINATIONS:
        parts = [_all_of(part) for part in _listed(value)]
        return {"not": {"or": parts}} if name == "NOT" else {name.lower(): parts}
    if name == METADATA and isinstance(value, Mapping):
        return both(_comparison(_own_field(str(key)), operand) for key, operand in value.items())
    if name in SCOPES:
        return _comparison(_field(name), _mapped(value, lambda operand: entity_id(name, operand)))
    if name in TIMES:
        return _comparison(_field(name), _mapped(value, lambda operand: instant(operand).isoformat()))
    if name == "id":
        return _comparison(_field(KEY), value)
    return _comparison(_field(name) if name in PROMOTED else _own_field(name), value)


def _mapped(value: Any, convert: Any) -> Any:  # noqa: ANN401 - any JSON
    """Return a value with each of its operands converted; a wildcard stays."""
    if isinstance(value, Mapping):
        return {operator: _mapped(operand, convert) for operator, operand in value.items()}
    if isinstance(value, list | tuple):
        return [convert(operand) for operand in value]
    return value if value == "*" else convert(value)


def _comparison(field: str, value: Any) -> Json:  # noqa: ANN401 - any JSON
    if isinstance(value, str) and value == "*":
        return {field: {"exists": True}}
    if isinstance(value, list | tuple):
        return {field: {"in": list(value)}}
    if isinstance(value, Mapping):
        unknown = sorted(map(str, value.keys() - _OPERATORS.keys()))
        if unknown:
            raise ValueError(f"unknown operator {unknown[0]!r}; there are {', '.join(_OPERATORS)}")
        return {field: {_OPERATORS[operator]: operand for operator, operand in value.items()}}
    return {field: value}


def _field(name: str) -> str:
    return str(Field("metadata", (name,)))


def _own_field(name: str) -> str:
    return str(Field("metadata", (METADATA, name)))
