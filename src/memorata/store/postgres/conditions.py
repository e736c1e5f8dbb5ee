"""A parsed filter as a condition in SQL, selecting what `filter_tree.matches` says, or a little more.

The SQL is made of fixed pieces only; every value and every key is a parameter. No piece is ever NULL, so that
``NOT`` is a true complement. What a server cannot decide exactly it leaves in, and says so: then each memory
is looked at in Python as well. That is

- ``contains``, which folds case as Python does, and no server does;
- comparisons of metadata with numbers from 2**53 on, where JSON's digits and a float's value part.

Below that they do not part: the shortest digits of two floats are in the order of the floats, and on the same
side of every whole number.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Final, TypeAlias, assert_never

from memorata._frozen import frozen
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
from memorata.store.instants import microseconds


@frozen
class Condition:
    """SQL with placeholders on ``memories AS m``, the values to put there, and whether it says it all.

    One that is not `exact` lets through everything that passes, and maybe more.
    """

    sql: str
    values: tuple[object, ...] = ()
    exact: bool = True


def compiled(filter: Filter) -> Condition:
    """Return the condition that selects what a parsed filter lets through.

    Examples
    --------
    >>> from memorata.store.filters import parse
    >>> compiled(parse({"category": "preference", "confidence": {">=": 0.5}}))
    Condition(sql='(m.category = ANY (%s) AND m.confidence >= %s)', values=(['preference'], 0.5), exact=True)
    """
    match filter:
        case And(parts):
            return _joined(" AND ", parts, "TRUE")
        case Or(parts):
            return _joined(" OR ", parts, "FALSE")
        case Not(part):
            inner = compiled(part)
            return Condition(f"(NOT {inner.sql})", inner.values) if inner.exact else _ANYTHING
        case Has(field, value):
            return Condition(f"(%s::text = ANY (m.{field.name}))", (value,))
        case Contains():
            return _ANYTHING
        case Exists() | OneOf() | Compare():
            return _in_metadata(filter) if filter.field.keys else _in_column(filter)
    assert_never(filter)


_ANYTHING: Final = Condition("TRUE", (), exact=False)
_NULLABLE: Final = frozenset(
    {"position", "valid_from", "valid_to", "expires_at", "supported_at", "last_accessed_at"}
)
_FRACTIONS: Final = frozenset({"confidence", "importance"})
_COUNTS: Final = frozenset({"position", "mentions", "access_count"})
_TEXTS: Final = frozenset({"id", "content", "category", "tier", "speaker", "session", "link", "embedder"})
_CERTAIN: Final = 2**53
_ORDERS: Final = frozenset({"<", "<=", ">", ">="})

_Leaf: TypeAlias = Exists | OneOf | Compare


def _joined(word: str, parts: tuple[Filter, ...], empty: str) -> Condition:
    conditions = [compiled(part) for part in parts]
    sql = f"({word.join(each.sql for each in conditions)})" if conditions else empty
    values = tuple(value for each in conditions for value in each.values)
    return Condition(sql, values, all(each.exact for each in conditions))


def _in_column(leaf: _Leaf) -> Condition:
    name = leaf.field.name
    column = f"m.{name}"
    if isinstance(leaf, Exists):
        return Condition(_present(name, column))
    # A whole number and a fraction are compared exactly as decimals; a fraction and a fraction as they are.
    read = f"{column}::numeric" if name in _COUNTS else column
    bound = _exactly if name in _COUNTS else _fraction if name in _FRACTIONS else _plain
    condition = _test(read, leaf, bound, "::numeric" if name in _COUNTS else "")
    if name in _NULLABLE:
        return Condition(f"({column} IS NOT NULL AND {condition.sql})", condition.values)
    return condition


def _present(name: str, column: str) -> str:
    if name == "place":
        return "(m.lat IS NOT NULL)"
    if name in _NULLABLE:
        return f"({column} IS NOT NULL)"
    if name in ("tags", "entities"):
        return f"(cardinality({column}) > 0)"
    return f"({column} <> '')" if name in _TEXTS else "TRUE"


def _in_metadata(leaf: _Leaf) -> Condition:
    found = "m.facets" + " -> %s::text" * len(leaf.field.keys)
    keys = _keys(leaf.field)
    if isinstance(leaf, Exists):
        return Condition(f"(coalesce(jsonb_typeof({found}), 'null') <> 'null')", keys)
    if leaf.kind is Kind.FLAG:
        assert isinstance(leaf, OneOf)  # flags have no order
        wanted = ["true" if value else "false" for value in leaf.values]
        return Condition(f"coalesce(({found}) = ANY (%s::jsonb[]), FALSE)", (*keys, wanted))
    if leaf.kind is Kind.NUMBER:
        if any(abs(value) >= _CERTAIN for value in _numbers(leaf)):
            return _ANYTHING
        test = _test(f"({found})::numeric", leaf, _digits, "::numeric")
        return Condition(_if_typed("number", found, test.sql), (*keys, *keys, *test.values))
    test = _test(f"(({found}) #>> '{{}}') COLLATE \"C\"", leaf, _plain, "::text")
    return Condition(_if_typed("string", found, test.sql), (*keys, *keys, *test.values))


def _if_typed(kind: str, found: str, test: str) -> str:
    # CASE, for AND promises no order, and what is no number cannot be cast to one.
    return f"(CASE WHEN jsonb_typeof({found}) = '{kind}' THEN {test} ELSE FALSE END)"


def _test(read: str, leaf: OneOf | Compare, bound: Callable[[Scalar], object], cast: str) -> Condition:
    """Return the test of a value that is known to be there and of the right type."""
    if isinstance(leaf, OneOf):
        several = f"{cast}[]" if cast else ""
        return Condition(f"{read} = ANY (%s{several})", ([bound(value) for value in leaf.values],))
    assert leaf.operator in _ORDERS  # the parser gives no other
    return Condition(f"{read} {leaf.operator} %s{cast}", (bound(leaf.value),))


def _plain(value: Scalar) -> object:
    return microseconds(value) if isinstance(value, datetime) else value


def _exactly(value: Scalar) -> object:
    assert isinstance(value, int | float)  # the parser gives no other
    return Decimal(value)


def _digits(value: Scalar) -> object:
    # The shortest digits that mean a float, as JSON writes it.
    return Decimal(repr(value))


def _fraction(value: Scalar) -> object:
    assert isinstance(value, int | float)  # the parser gives no other
    # Every fraction is on the same side of a number that is too large for a float.
    return float(value) if abs(value) < _CERTAIN else math.copysign(math.inf, value)


def _numbers(leaf: OneOf | Compare) -> list[int | float]:
    values = leaf.values if isinstance(leaf, OneOf) else (leaf.value,)
    return [value for value in values if isinstance(value, int | float)]


def _keys(field: Field) -> tuple[object, ...]:
    return tuple(field.keys)
