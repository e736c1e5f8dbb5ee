r"""Filters on lists, parts of texts and metadata in JSON, decided by SQLite as `filter_tree.matches` does.

Its own functions do the reading wherever they are exact. Where they are not, a Python function that
:mod:`~memorata.store.sqlite.database` adds to the connection decides instead:

- ``lower`` and ``LIKE`` know the case of ASCII letters only, so ``contains`` is always Python's;
- the JSON functions end a text at an escaped NUL (``\u0000``);
- they read a whole number beyond 64 bits, and on some machines the last bit of a fraction, only roughly,
  which matters to comparisons with a number close by;
- a JSON path cannot name a key that JSON writes with an escape (a quote, a backslash, a control character).
"""

from __future__ import annotations

import json
from typing import Final

from memorata.store.conditions import Leaf, Part, bound
from memorata.store.filter_tree import Compare, Contains, Exists, Field, Has, Kind, OneOf
from memorata.store.rows import marks

_RELATIVE_ERROR: Final = 1e-9
"""Relative error of SQLite's reading of fractions, with a wide margin: it is some 1e-15."""
_ABSOLUTE_ERROR: Final = 1e-300
"""Room among the smallest numbers, which have no relative precision left."""


def compiled_leaf(leaf: Leaf) -> Part:
    """Return the SQL of a leaf of a filter that is no comparison of a column.

    >>> compiled_leaf(Contains(Field("content"), "tea"))
    ('memorata_contains(m.content, ?)', ['tea'], True)
    """
    sql, values = _decided(leaf)
    return sql, values, True


def _decided(leaf: Leaf) -> tuple[str, list[object]]:
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
        numbers, tested = [value for value in values if isinstance(value, int | float)], [*map(bound, values)]
    if numbers:
        # Outside of this range, with room for what SQLite misreads, a number is on the same side in truth.
        floats = [float(number) for number in numbers]
        low, high = min(floats), max(floats)
        bounds = (
            low - _RELATIVE_ERROR * abs(low) - _ABSOLUTE_ERROR,
            high + _RELATIVE_ERROR * abs(high) + _ABSOLUTE_ERROR,
        )
        # json_extract reads true as 1, which only json_type can tell from a number.
        return (
            f"CASE typeof({read}) WHEN 'real' THEN CASE WHEN {read} BETWEEN ? AND ? THEN {slow} "
            f"ELSE {sql} END WHEN 'integer' THEN json_type(m.metadata, ?) = 'integer' AND {sql} ELSE 0 END"
        ), [path, path, *bounds, written, path, *floats, path, path, *tested]
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
