"""Compiled conditions select what `matches` says: exactly, or with more that Python then looks at itself."""

import math
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from psycopg import Connection

from memorata.model.memory import Memory
from memorata.store.conditions import compiled
from memorata.store.filters import FIELDS, MAX_DEPTH, MAX_TERMS, MAX_VALUES, Field, parse
from memorata.store.rows import COLUMNS, OWN, memory, row
from memorata.testing.filter_samples import (
    EPOCH,
    FILTERS,
    HOSTILE,
    MEMORIES,
    METADATA,
    ON_METADATA,
    conditions,
    expected,
    paths,
    remembered,
)
from memorata_postgres.dialect import register
from memorata_postgres.session import translated

Server = Connection[Any]


@pytest.fixture(scope="module")
def server(used: str) -> Iterator[Server]:
    """A connection as sessions have it, to a table of memories that only it sees."""
    with psycopg.connect(used, autocommit=True) as connection:
        register(connection)
        connection.execute(
            f"CREATE TEMP TABLE memories AS SELECT slot, {', '.join(COLUMNS)} FROM memories LIMIT 0"
        )
        yield connection


def insert(server: Server, memories: list[Memory]) -> None:
    server.execute("DELETE FROM memories")
    for slot, stored in enumerate(memories):
        server.execute(
            f"INSERT INTO memories (slot, {', '.join(COLUMNS)}) VALUES (%s{', %s' * len(COLUMNS)})",
            (slot, *row(stored)),
        )


def selected(server: Server, filter: dict[str, Any]) -> list[int]:
    """Return the slots that a filter selects, by both steps; the first must lose nothing."""
    condition = compiled(parse(filter))
    sql = f"SELECT m.slot, {OWN}, 'default' FROM memories m WHERE {condition.sql} ORDER BY m.slot"
    rows = server.cursor(binary=True).execute(translated(sql), condition.values or None).fetchall()
    return [slot for slot, *columns in rows if condition.passes(memory(columns))]


@settings(max_examples=2 * settings().max_examples)
@given(st.lists(MEMORIES, min_size=1, max_size=4), st.lists(FILTERS, min_size=1, max_size=6))
@example([remembered(metadata={"a": 2**70 + 1})], [{"metadata.a": float(2**70)}])
@example([remembered(metadata={"a": 1e23})], [{"metadata.a": 10**23}, {"metadata.a": {"<": 10**23}}])
@example([remembered(metadata={"a": True})], [{"metadata.a": {"in": [1, 0]}}])
@example([remembered(metadata={"a": [1]})], [{"metadata.a.0": 1}])
@example([remembered(category="a\x00")], [{"category": {"<": "a\x01"}}, {"category": {">": "a"}}])
@example([remembered(category="é"), remembered(id="m2", category="Z")], [{"category": {">": "a"}}])
@example(
    [remembered(metadata={"a": "b\x00c"})],
    [{"metadata.a": {"contains": "C"}}, {"metadata.a": {"<": "b\x01"}}],
)
@example([remembered(category="a")], [{"not": {"or": [{"category": "a"}, {"tags": "x"}]}}])
@example([remembered()], [{"not": {"valid_to": {"<": EPOCH}}}, {"valid_to": {"!=": EPOCH}}])
def test_sql_and_python_agree(server: Server, memories: list[Memory], filters: list[dict[str, Any]]) -> None:
    distinct = list({stored.id: stored for stored in memories}.values())
    insert(server, distinct)
    for filter in filters:
        slots = selected(server, filter)
        assert slots == expected(distinct, filter)
        assert sorted(slots + selected(server, {"not": filter})) == list(range(len(distinct)))


@settings(max_examples=2 * settings().max_examples)
@given(METADATA, st.data())
def test_sql_and_python_agree_on_values_that_are_there(
    server: Server, metadata: dict[str, Any], data: st.DataObject
) -> None:
    """Random filters rarely ask for what a memory has; these name its paths, and often its value."""
    stored = remembered(metadata=metadata)
    insert(server, [stored])
    for keys, value in paths(metadata):
        near = ON_METADATA
        if isinstance(value, str):
            near = conditions(st.just(value), st.just(value)) | st.just({"contains": value.swapcase()})
        elif isinstance(value, bool | int | float):
            near = conditions(st.just(value), st.just(value + 0))
        filter = {str(Field("metadata", keys)): data.draw(near | ON_METADATA)}
        assert selected(server, filter) == expected([stored], filter)


@pytest.mark.parametrize(
    "filter",
    [
        {"category": HOSTILE},
        {"content": {"contains": HOSTILE}},
        {"id": {"in": [HOSTILE, "%s", "?", "' OR ''='"]}},
        {"speaker": {"<": HOSTILE, ">": HOSTILE}},
        {"tags": {"any": [HOSTILE, '"] OR 1']}},
        {f"metadata.{HOSTILE}": HOSTILE},
        {'metadata.$"': {"in": [HOSTILE, 1]}},
    ],
)
def test_no_value_or_path_reaches_the_sql(server: Server, filter: dict[str, Any]) -> None:
    insert(server, [remembered()])
    condition = compiled(parse(filter))
    assert "DROP" not in condition.sql
    assert condition.sql.count("?") == len(condition.values)
    assert selected(server, filter) == []
    assert server.execute("SELECT count(*) FROM memories").fetchone() == (1,)


@pytest.mark.parametrize("number", [2**53 - 1, 2**53 + 1, 2**63, -(2**63) - 1, 2**70 + 1, 0.1 + 0.2])
def test_neighbouring_numbers_are_told_apart(server: Server, number: float) -> None:
    def near(value: float, step: int) -> float:
        return value + step if isinstance(value, int) else math.nextafter(value, step * math.inf)

    insert(server, [remembered(metadata={"n": number})])
    below, above = near(number, -1), near(number, 1)
    assert selected(server, {"metadata.n": {"=": number, "<=": number, ">": below, "<": above}}) == [0]
    assert selected(server, {"metadata.n": {"in": [below, above]}}) == []


@pytest.mark.parametrize("name", [*FIELDS[:-1], "metadata.x"])
def test_every_field_is_there_or_missing(server: Server, name: str) -> None:
    insert(server, [remembered()])
    exists, missing = {name: {"exists": True}}, {name: {"exists": False}}
    assert selected(server, exists) == expected([remembered()], exists)
    assert len(selected(server, exists)) + len(selected(server, missing)) == 1


def test_the_largest_filters_run(server: Server) -> None:
    stored = remembered(tags=["t1"], metadata={"k1": 1.5})
    insert(server, [stored])
    tags = {"tags": {"any": [f"t{n}" for n in range(MAX_TERMS - 2)]}}
    values = {"id": {"in": [f"m{n}" for n in range(MAX_VALUES)]}}
    deep: dict[str, Any] = {"or": [{"id": "m1"}, {"tags": "t1"}]}
    for _ in range((MAX_DEPTH - 2) // 2):
        deep = {"not": {"and": [deep, {"category": {"!=": "x"}}]}}
    for filter in (tags, values, deep):
        assert selected(server, filter) == expected([stored], filter)


def test_what_a_server_can_decide_is_left_to_it() -> None:
    exact: list[dict[str, Any]] = [
        {"content": "x"},
        {"created_at": {">": EPOCH}},
        {"not": {"valid_to": None}},
        {"id": {"in": []}},
    ]
    left: list[dict[str, Any]] = [
        {"content": {"contains": "x"}},
        {"metadata.a": 2**53},
        {"not": {"speaker": {"contains": "x"}}},
        {"category": "x", "tags": "x"},
    ]
    assert all(compiled(parse(filter)).rest is None for filter in exact)
    assert all(compiled(parse(filter)).rest is not None for filter in left)


def test_what_is_left_to_python_is_narrowed_down_by_the_server(server: Server) -> None:
    insert(server, [remembered(category="a", tags=["t"]), remembered(id="m2", category="b", tags=["t"])])
    condition = compiled(parse({"category": "a", "tags": "t"}))
    sql = f"SELECT m.slot FROM memories m WHERE {condition.sql}"
    assert server.execute(translated(sql), condition.values).fetchall() == [(0,)]
