r"""A parsed filter as a condition in SQL, selecting exactly what `filter_tree.matches` says.

The SQL is made of fixed pieces only; every value and every metadata path is a parameter. No piece is ever
NULL, so that ``NOT`` is a true complement.

SQLite's own functions do the reading wherever they are exact. Where they are not, a Python function that
:mod:`~memorata.store.sqlite.database` adds to the connection decides instead:

- ``lower`` and ``LIKE`` know the case of ASCII letters only, so ``contains`` is always Python's;
- the JSON functions end a text at an escaped NUL (``\u0000``);
- they read a whole number beyond 64 bits, and on some machines the last bit of a fraction, only roughly,
  which matters to comparisons with a number close by;
- a JSON path cannot name a key that JSON writes with an escape (a quote, a backslash, a control character).
"""

from __future__ import annotations

import json
import math
from datetime import datetime
from typing import Final, TypeAlias, assert_never

from memorata.store.filter_tree import (
    And,
    Compare,
    Contains,
    Exists,
    Field,
    Filter,
    Has,
    Kind,
    Not,
    OneOf,
    Or,
    Scalar,
)
from memorata.store.rows import microseconds

Condition: TypeAlias = tuple[str, list[object]]
"""SQL with question marks, and the values to put there."""


def compiled(filter: Filter) -> Condition:
    """Return the condition, on ``memories AS m``, that selects what a parsed filter lets through.

    The SQL may follow ``WHERE``, ``AND`` or ``NOT``; the connection must have the functions that it calls.

    >>> from memorata.store.filters import parse
    >>> compiled(parse({"category": "preference", "confidence": {">=": 0.5}}))
    ('(m.category IN (?) AND m.confidence >= ?)', ['preference', 0.5])
    """
    match filter:
        case And(parts):
            return _joined(" AND ", parts, "1")
        case Or(parts):
            return _joined(" OR ", parts, "0")
        case Not(part):
            sql, values = compiled(part)
            return f"(NOT {sql})", values
        case Has(field, value):
            return _has(_COLUMNS[field.name], value)
        case Exists() | OneOf() | Compare() | Contains():
            return _in_metadata(filter) if filter.field.keys else _in_column(filter)
    assert_never(filter)


_COLUMNS: Final = {
    name: f"m.{name}"
    for name in (
        "id", "content", "category", "tier", "confidence", "importance", "tags", "entities", "speaker",
        "session", "position", "link", "via", "created_at", "valid_from", "valid_to", "expires_at",
        "mentions", "access_count", "last_accessed_at", "embedder", "pinned", "supported_at",
    )
}  # fmt: skip
_NULLABLE: Final = frozenset(
    {"position", "valid_from", "valid_to", "expires_at", "supported_at", "last_accessed_at"}
)
_PRESENT: Final = {
    **{name: f"({column} <> '')" for name, column in _COLUMNS.items()},
    **dict.fromkeys(("confidence", "importance", "created_at", "mentions", "access_count", "pinned"), "1"),
    **{name: f"({_COLUMNS[name]} IS NOT NULL)" for name in _NULLABLE},
    **{name: f"({_COLUMNS[name]} <> '[]')" for name in ("tags", "entities")},
    "place": "(m.lat IS NOT NULL)",
}
_ORDERS: Final = {"<": "< ?", "<=": "<= ?", ">": "> ?", ">=": ">= ?"}
_WHOLE: Final = range(-(2**63), 2**63)
_ROOM: Final = 1e-9
"""Relative error of SQLite's reading of fractions, with a wide margin: it is some 1e-15."""
_LEAST: Final = 1e-300
"""Room among the smallest numbers, which have no relative precision left."""

_Leaf: TypeAlias = Exists | OneOf | Compare | Contains


def _joined(word: str, parts: tuple[Filter, ...], empty: str) -> Condition:
    conditions = [compiled(part) for part in parts]
    sql = f"({word.join(sql for sql, _ in conditions)})" if conditions else empty
    return sql, [value for _, values in conditions for value in values]


def _in_column(leaf: _Leaf) -> Condition:
    name = leaf.field.name
    if isinstance(leaf, Exists):
        return _PRESENT[name], []
    sql, values = _test(_COLUMNS[name], leaf)
    return (f"({_COLUMNS[name]} IS NOT NULL AND {sql})" if name in _NULLABLE else sql), values


def _in_metadata(leaf: _Leaf) -> Condition:
    slow = "memorata_metadata(m.metadata, ?)"
    path = _path(leaf.field)
    if path is None:
        return slow, [_written(leaf)]
    if isinstance(leaf, Exists):
        return "(COALESCE(json_type(m.metadata, ?), 'null') <> 'null')", [path]
    if isinstance(leaf, OneOf) and leaf.kind is Kind.FLAG:
        marks = ", ".join("?" for _ in leaf.values)
        values = ["true" if value else "false" for value in leaf.values]
        return f"(COALESCE(json_type(m.metadata, ?), 'null') IN ({marks}))", [path, *values]
    sql, tested = _test("json_extract(m.metadata, ?)", leaf)
    if not isinstance(leaf, Contains) and leaf.kind is Kind.NUMBER:
        low, high, floats = _roughly(leaf)
        # json_extract reads true as 1, which only json_type can tell from a number.
        return (
            "CASE typeof(json_extract(m.metadata, ?)) WHEN 'real' THEN "
            f"CASE WHEN json_extract(m.metadata, ?) BETWEEN ? AND ? THEN {slow} ELSE {sql} END "
            f"WHEN 'integer' THEN json_type(m.metadata, ?) = 'integer' AND {sql} ELSE 0 END"
        ), [path, path, low, high, _written(leaf), path, *floats, path, path, *tested]
    # CASE, for AND promises no order, and a Python function must not be called with what is no text.
    return (
        rf"CASE WHEN instr(m.metadata, '\u0000') THEN {slow} "
        f"WHEN json_type(m.metadata, ?) = 'text' THEN {sql} ELSE 0 END"
    ), [_written(leaf), path, path, *tested]


def _test(read: str, leaf: OneOf | Compare | Contains) -> Condition:
    """Return the test of a value that is known to be there and of the right type."""
    match leaf:
        case OneOf(_, _, values):
            return f"{read} IN ({', '.join('?' for _ in values)})", [_bound(value) for value in values]
        case Compare(_, _, operator, value):
            return f"{read} {_ORDERS[operator]}", [_bound(value)]
        case Contains(_, folded):
            return f"memorata_contains({read}, ?)", [folded]


def _has(column: str, value: str) -> Condition:
    # The text as `rows` writes it is looked for first: it is cheap, and nearly always already the answer.
    return (
        rf"(instr({column}, ?) AND CASE WHEN instr({column}, '\u0000') THEN memorata_has({column}, ?) "
        f"ELSE EXISTS (SELECT 1 FROM json_each({column}) AS item WHERE item.value = ?) END)"
    ), [json.dumps(value, ensure_ascii=False), value, value]


def _bound(value: Scalar) -> object:
    if isinstance(value, datetime):
        return microseconds(value)
    if isinstance(value, int) and value not in _WHOLE:
        # Every whole number that SQLite holds as such is below (or above) this one, as it is infinity.
        return math.copysign(math.inf, value)
    return value


def _roughly(leaf: OneOf | Compare) -> tuple[float, float, list[float]]:
    """Return a range around a condition's numbers, with room for what SQLite misreads, and these numbers.

    What SQLite reads to be outside of this range is outside of it, and on the same side, in truth.
    """
    values = leaf.values if isinstance(leaf, OneOf) else (leaf.value,)
    floats = [float(value) for value in values if isinstance(value, int | float)]
    low, high = min(floats), max(floats)
    return low - _ROOM * abs(low) - _LEAST, high + _ROOM * abs(high) + _LEAST, floats


def _path(field: Field) -> str | None:
    """Return the JSON path of a field, or None when SQLite has no exact way to write it."""
    quoted = [json.dumps(key, ensure_ascii=False) for key in field.keys]
    escaped = any(text != f'"{key}"' for text, key in zip(quoted, field.keys, strict=True))
    return None if escaped else ".".join(("$", *quoted))


def _written(leaf: _Leaf) -> str:
    """Return a condition on metadata in the filter language, for ``memorata_metadata`` to read again."""
    condition: dict[str, object]
    match leaf:
        case Exists():
            condition = {"exists": True}
        case OneOf(_, _, values):
            condition = {"in": values}
        case Compare(_, _, operator, value):
            condition = {operator: value}
        case Contains(_, folded):
            condition = {"contains": folded}
    return json.dumps({str(leaf.field): condition})
