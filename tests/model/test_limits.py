"""What is too large is refused by name, whatever interface it came through; what fits comes back out."""

import json
from typing import Any

import pytest

import memorata
from memorata.model.errors import InvalidArgument
from memorata.model.memory import (
    MAX_CONTENT,
    MAX_METADATA,
    MAX_METADATA_DEPTH,
    MAX_NAME,
    MAX_NAMES,
    Source,
    depth,
)
from memorata.service.transfer import export_rows


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("content", "x" * (MAX_CONTENT + 1)),
        ("category", "x" * (MAX_NAME + 1)),
        ("tags", ["tea", "x" * (MAX_NAME + 1)]),
        ("tags", [str(number) for number in range(MAX_NAMES + 1)]),
        ("entities", ["x" * (MAX_NAME + 1)]),
        ("source", Source(speaker="x" * (MAX_NAME + 1))),
        ("source", Source(link="x" * (MAX_NAME + 1))),
        ("metadata", {"a": nested(MAX_METADATA_DEPTH)}),
        ("metadata", {"a": nested(900)}),
        ("metadata", {"a": nested(100_000)}),
        ("metadata", {"a": "x" * MAX_METADATA}),
        ("metadata", {str(number): number for number in range(MAX_METADATA // 10)}),
    ],
)
def test_what_is_too_large_is_refused_and_named(field: str, value: object) -> None:
    with memorata.open(":memory:", embedder=None) as memory:
        fields: dict[str, Any] = {"content": "tea", field: value}
        with pytest.raises(InvalidArgument, match=field):
            memory.remember(**fields)
        with pytest.raises(InvalidArgument, match=field):
            memory.remember_many([fields])
        assert memory.list().memories == ()


def test_the_largest_that_fits_can_be_listed_exported_and_checked() -> None:
    with memorata.open(":memory:", embedder=None) as memory:
        memory.remember(
            "tea",
            category="c" * MAX_NAME,
            tags=[f"{number:05} {'x' * 10}" for number in range(1_000)],
            source=Source("s" * MAX_NAME, "t" * MAX_NAME, 1, "l" * MAX_NAME),
            metadata={"deep": nested(MAX_METADATA_DEPTH - 1), "long": "x" * 900_000},
        )
        assert len(memory.list().memories) == 1
        assert len(json.dumps(list(export_rows(memory, "default")))) > 900_000
        assert memory.admin.check() == []


@pytest.mark.parametrize(("value", "levels"), [(1, 0), ([], 1), ({"a": {"b": ()}}, 3), (nested(5_000), 65)])
def test_depth_is_counted_without_recursion(value: object, levels: int) -> None:
    assert depth(value) == levels
