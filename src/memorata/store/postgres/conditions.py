"""A parsed filter as a condition in SQL that selects what it lets through, or a little more.

Plain columns are compared by the server. What it cannot decide exactly (parts of texts, lists, metadata in
JSON) it leaves in, and each memory is looked at in Python as well: that is what a filter means.
"""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Final, NamedTuple

from memorata.store.database import Condition
from memorata.store.filter_tree import And, Compare, Exists, Filter, Kind, Not, OneOf, Or, Scalar, matches
from memorata.store.rows import microseconds

_NULLABLE: Final = frozenset({"valid_from", "valid_to", "expires_at", "supported_at", "last_accessed_at"})
_TIMES: Final = _NULLABLE | {"created_at"}
_TEXTS: Final = frozenset(
    {"id", "content", "category", "tier", "speaker", "session", "link", "via", "embedder"}
)
_ORDERS: Final = frozenset({"<", "<=", ">", ">="})


class _Part(NamedTuple):
    """SQL and its values, and whether it says all of a part of a filter; if not, it lets through more."""

    sql: str
    values: tuple[object, ...] = ()
    exact: bool = True


_ANYTHING: Final = _Part("TRUE", (), exact=False)


def compiled(filter: Filter) -> Condition:
    """Return the condition that selects what a parsed filter lets through.

    >>> from memorata.store.filters import parse
    >>> condition = compiled(parse({"category": "preference", "metadata.cups": 3}))
    >>> condition.sql, condition.values, condition.rest is None
    ('((m.category IN (?)) AND TRUE)', ('preference',), False)
    """
    part = _part(filter)
    return Condition(part.sql, part.values, None if part.exact else partial(matches, filter))


def _part(filter: Filter) -> _Part:
    match filter:
        case And(parts):
            return _joined(" AND ", parts, "TRUE")
        case Or(parts):
            return _joined(" OR ", parts, "FALSE")
        case Not(part):
            inner = _part(part)
            return _Part(f"(NOT {inner.sql})", inner.values) if inner.exact else _ANYTHING
        case Exists(field) if not field.keys:
            return _present(field.name)
        case OneOf(field, kind, values) if _is_compared(field.name, kind) and not field.keys:
            marks = ", ".join("?" * len(values))
            return _never_null(field.name, f"m.{field.name} IN ({marks})", tuple(map(_bound, values)))
        case Compare(field, kind, order, value) if _is_compared(field.name, kind) and not field.keys:
            assert order in _ORDERS  # the parser gives no other
            return _never_null(field.name, f"m.{field.name} {order} ?", (_bound(value),))
    return _ANYTHING


def _joined(word: str, parts: tuple[Filter, ...], empty: str) -> _Part:
    inner = [_part(part) for part in parts]
    sql = f"({word.join(each.sql for each in inner)})" if inner else empty
    return _Part(
        sql, tuple(value for each in inner for value in each.values), all(each.exact for each in inner)
    )


def _is_compared(name: str, kind: Kind) -> bool:
    return (name in _TEXTS and kind is Kind.TEXT) or (name in _TIMES and kind is Kind.TIME)


def _never_null(name: str, sql: str, values: tuple[object, ...]) -> _Part:
    return _Part(f"(m.{name} IS NOT NULL AND {sql})" if name in _NULLABLE else f"({sql})", values)


def _present(name: str) -> _Part:
    if name in _NULLABLE:
        return _Part(f"(m.{name} IS NOT NULL)")
    return _Part(f"(m.{name} <> '')") if name in _TEXTS else _ANYTHING


def _bound(value: Scalar) -> object:
    return microseconds(value) if isinstance(value, datetime) else value
