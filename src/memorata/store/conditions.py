"""A parsed filter as a condition in SQL on ``memories AS m`` that selects what `filter_tree.matches` says.

The SQL is made of fixed pieces only; every value is a parameter. No piece is ever NULL, so that ``NOT`` is a
true complement. Columns are compared by the database. What it cannot decide exactly (parts of texts, lists,
metadata in JSON) it leaves in, and each memory is looked at in Python as well, unless its dialect has SQL for
such a leaf of the tree.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Final, TypeAlias

from memorata.store.database import Condition
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
    matches,
)
from memorata.store.rows import marks, microseconds

Leaf: TypeAlias = Exists | OneOf | Compare | Contains | Has
Part: TypeAlias = tuple[str, list[object], bool]
"""SQL, its values, and whether it says all of a part of a filter; if not, it lets more through."""
ANYTHING: Final[Part] = ("1 = 1", [], False)

_NULLABLE: Final = frozenset(
    {"position", "valid_from", "valid_to", "expires_at", "supported_at", "last_accessed_at"}
)
_PRESENT: Final = {
    **dict.fromkeys(
        ("confidence", "importance", "created_at", "mentions", "access_count", "pinned"), "1 = 1"
    ),
    **{name: f"(m.{name} IS NOT NULL)" for name in _NULLABLE},
    **{name: f"(m.{name} <> '[]')" for name in ("tags", "entities")},
    "place": "(m.lat IS NOT NULL)",
}
"""The condition that a field is present; a text is if it is not empty."""
_WHOLE: Final = range(-(2**63), 2**63)


def compiled(
    filter: Filter, leaf: Callable[[Leaf], Part] = lambda leaf: ANYTHING, *, numbers: bool = False
) -> Condition:
    """Return the condition that selects what a parsed filter lets through.

    `leaf`: the SQL of a dialect for what is no comparison of a column. `numbers`: whether it compares whole
    numbers and fractions exactly.

    >>> from memorata.store.filters import parse
    >>> condition = compiled(parse({"category": "preference", "metadata.cups": 3}))
    >>> condition.sql, condition.values, condition.rest is None
    ('(m.category IN (?) AND 1 = 1)', ['preference'], False)
    """

    def part(filter: Filter) -> Part:
        match filter:
            case And(parts):
                return joined(" AND ", parts, "1 = 1")
            case Or(parts):
                return joined(" OR ", parts, "1 = 0")
            case Not(inner):
                sql, values, exact = part(inner)
                return (f"(NOT {sql})", values, True) if exact else ANYTHING
            case Exists(Field(name, ())):
                return _PRESENT.get(name, f"(m.{name} <> '')"), [], True
            case OneOf(Field(name, ()), kind, values) if numbers or kind is not Kind.NUMBER:
                return _compared(name, f"IN ({marks(values)})", values)
            case Compare(Field(name, ()), kind, operator, value) if numbers or kind is not Kind.NUMBER:
                return _compared(name, f"{operator} ?", (value,))
            case _:
                return leaf(filter)

    def joined(word: str, filters: tuple[Filter, ...], empty: str) -> Part:
        parts = [part(filter) for filter in filters]
        sql = f"({word.join(sql for sql, _, _ in parts)})" if parts else empty
        return sql, [value for _, values, _ in parts for value in values], all(exact for *_, exact in parts)

    sql, values, exact = part(filter)
    return Condition(sql, values, None if exact else partial(matches, filter))


def _compared(name: str, test: str, values: tuple[Scalar, ...]) -> Part:
    sql = f"m.{name} {test}"
    return f"(m.{name} IS NOT NULL AND {sql})" if name in _NULLABLE else sql, [*map(bound, values)], True


def bound(value: Scalar) -> object:
    """Return a value of a filter as a column is compared with it."""
    if isinstance(value, datetime):
        return microseconds(value)
    if isinstance(value, int) and value not in _WHOLE:
        # Every whole number that a column holds is below (or above) this one, as it is infinity.
        return math.copysign(math.inf, value)
    return value
