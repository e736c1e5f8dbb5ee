r"""A parsed filter as a condition in SQL on ``memories AS m`` that selects what `filters.matches` says.

The SQL is made of fixed pieces only; every value is a parameter. No piece is ever NULL, so that ``NOT`` is a
true complement. Columns are compared by the database. What a server cannot decide exactly (numbers, parts of
texts, lists, metadata in JSON) it leaves in, and each memory is looked at in Python as well.

SQLite decides all of it. Its own functions do the reading wherever they are exact. Where they are not, a
Python function that :mod:`memorata.store.sqlite.database` adds to the connection decides instead:

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
from functools import lru_cache, partial
from typing import Final, TypeAlias

from memorata.store.database import Condition
from memorata.store.filters import (
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
    holds,
    matches,
    parse,
    value_at,
)
from memorata.store.rows import marks, microseconds

_Leaf: TypeAlias = Exists | OneOf | Compare | Contains | Has
_Part: TypeAlias = tuple[str, list[object], bool]
"""SQL, its values, and whether it says all of a part of a filter; if not, it lets more through."""
_ANYTHING: Final[_Part] = ("1 = 1", [], False)

_NULLABLE: Final = frozenset(
    {"position", "valid_from", "valid_to", "expires_at", "supported_at", "last_accessed_at"}
)
_PRESENT: Final = {
    **dict.fromkeys(
        ("confidence", "importance", "created_at", "mentions", "access_count", "pinned", "untrusted"),
        "1 = 1",
    ),
    **{name: f"(m.{name} IS NOT NULL)" for name in _NULLABLE},
    **{name: f"(m.{name} <> '[]')" for name in ("tags", "entities")},
    "place": "(m.lat IS NOT NULL)",
}
"""The condition that a field is present; a text is if it is not empty."""
_WHOLE: Final = range(-(2**63), 2**63)
_RELATIVE_ERROR: Final = 1e-9
"""Relative error of SQLite's reading of fractions, with a wide margin: it is some 1e-15."""
_ABSOLUTE_ERROR: Final = 1e-300
"""Room among the smallest numbers, which have no relative precision left."""


def compiled(filter: Filter, *, by_sqlite: bool = False) -> Condition:
    """Return the condition that selects what a parsed filter lets through."""

    def part(filter: Filter) -> _Part:
        match filter:
            case And(parts):
                return joined(" AND ", parts, "1 = 1")
            case Or(parts):
                return joined(" OR ", parts, "1 = 0")
            case Not(inner):
                sql, values, exact = part(inner)
                return (f"(NOT {sql})", values, True) if exact else _ANYTHING
            case Exists(Field(name, ())):
                return _PRESENT.get(name, f"(m.{name} <> '')"), [], True
            case OneOf(Field(name, ()), kind, values) if by_sqlite or kind is not Kind.NUMBER:
                return _compared(name, f"IN ({marks(values)})", values)
            case Compare(Field(name, ()), kind, operator, value) if by_sqlite or kind is not Kind.NUMBER:
                return _compared(name, f"{operator} ?", (value,))
            case _:
                return (*_decided(filter), True) if by_sqlite else _ANYTHING

    def joined(word: str, filters: tuple[Filter, ...], empty: str) -> _Part:
        parts = [part(filter) for filter in filters]
        sql = f"({word.join(sql for sql, _, _ in parts)})" if parts else empty
        return sql, [value for _, values, _ in parts for value in values], all(exact for *_, exact in parts)

    sql, values, exact = part(filter)
    return Condition(sql, values, None if exact else partial(matches, filter))


def _compared(name: str, test: str, values: tuple[Scalar, ...]) -> _Part:
    sql = f"m.{name} {test}"
    return f"(m.{name} IS NOT NULL AND {sql})" if name in _NULLABLE else sql, [*map(_bound, values)], True


def _bound(value: Scalar) -> object:
    """Return a value of a filter as a column is compared with it."""
    if isinstance(value, datetime):
        return microseconds(value)
    if isinstance(value, int) and value not in _WHOLE:
        # Every whole number that a column holds is below (or above) this one, as it is infinity.
        return math.copysign(math.inf, value)
    return value


def _decided(leaf: _Leaf) -> tuple[str, list[object]]:
    """Return the SQL by which SQLite decides a leaf of a filter that is no comparison of a column.

    >>> _decided(Contains(Field("content"), "tea"))
    ('memorata_contains(m.content, ?)', ['tea'])
    """
    column = f"m.{leaf.field.name}"
    if isinstance(leaf, Has):
        # The text as `rows` writes it is looked for first: it is cheap, and nearly always already the answer.
        return (
            rf"(instr({column}, ?) AND CASE WHEN instr({column}, '\u0000') THEN memorata_has({column}, ?) "
            f"ELSE EXISTS (SELECT 1 FROM json_each({column}) AS item WHERE item.value = ?) END)"
        ), [json.dumps(leaf.value, ensure_ascii=False), leaf.value, leaf.value]
    if not leaf.field.keys and isinstance(leaf, Contains):
        return f"memorata_contains({column}, ?)", [leaf.folded]
    slow, written = "memorata_metadata(m.metadata, ?)", _written(leaf)
    path = _path(leaf.field)
    if path is None:
        return slow, [written]
    if isinstance(leaf, Exists):
        return "(COALESCE(json_type(m.metadata, ?), 'null') <> 'null')", [path]
    if isinstance(leaf, OneOf) and leaf.kind is Kind.FLAG:
        flags = ["true" if value else "false" for value in leaf.values]
        return f"(COALESCE(json_type(m.metadata, ?), 'null') IN ({marks(flags)}))", [path, *flags]
    read = "json_extract(m.metadata, ?)"
    numbers: list[float] = []
    tested: list[object]
    if isinstance(leaf, Contains):
        sql, tested = f"memorata_contains({read}, ?)", [leaf.folded]
    else:
        values = leaf.values if isinstance(leaf, OneOf) else (leaf.value,)
        sql = f"{read} IN ({marks(values)})" if isinstance(leaf, OneOf) else f"{read} {leaf.operator} ?"
        numbers, tested = [float(v) for v in values if isinstance(v, int | float)], [*map(_bound, values)]
    if numbers:
        # Outside of this range, with room for what SQLite misreads, a number is on the same side in truth.
        low, high = min(numbers), max(numbers)
        bounds = (
            low - _RELATIVE_ERROR * abs(low) - _ABSOLUTE_ERROR,
            high + _RELATIVE_ERROR * abs(high) + _ABSOLUTE_ERROR,
        )
        # json_extract reads true as 1, which only json_type can tell from a number.
        return (
            f"CASE typeof({read}) WHEN 'real' THEN CASE WHEN {read} BETWEEN ? AND ? THEN {slow} "
            f"ELSE {sql} END WHEN 'integer' THEN json_type(m.metadata, ?) = 'integer' AND {sql} ELSE 0 END"
        ), [path, path, *bounds, written, path, *numbers, path, path, *tested]
    # CASE, for AND promises no order, and a Python function must not be called with what is no text.
    return (
        rf"CASE WHEN instr(m.metadata, '\u0000') THEN {slow} "
        f"WHEN json_type(m.metadata, ?) = 'text' THEN {sql} ELSE 0 END"
    ), [written, path, path, *tested]


def _path(field: Field) -> str | None:
    """Return the JSON path of a field, or None when SQLite has no exact way to write it."""
    quoted = [json.dumps(key, ensure_ascii=False) for key in field.keys]
    escaped = any(text != f'"{key}"' for text, key in zip(quoted, field.keys, strict=True))
    return None if escaped else ".".join(("$", *quoted))


def _written(leaf: Exists | OneOf | Compare | Contains) -> str:
    """Return a condition on metadata in the filter language, for :func:`metadata_holds` to read again."""
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


def metadata_holds(metadata: str, written: str) -> bool:
    """Return whether metadata meet a condition as `_written` writes it."""
    values = json.loads(metadata)
    return holds(_read(written), lambda field: value_at(values, field.keys))


@lru_cache(maxsize=256)
def _read(written: str) -> Filter:
    return parse(json.loads(written))
