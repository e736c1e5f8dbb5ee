"""Compiled conditions select exactly what `matches` says, for any memories and any filter."""

import json
import math
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memorata.model.memory import Memory
from memorata.store.filters import FIELDS, MAX_DEPTH, MAX_TERMS, MAX_VALUES, Field, parse
from memorata.store.rows import COLUMNS, row
from memorata.store.sqlite.connection import connect
from memorata.store.sqlite.database import register
from memorata.store.sqlite.dialect import SqliteDialect
from memorata.store.sqlite.session import SqliteSession
from memorata.testing.filter_samples import (
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

place = SqliteDialect().number


@pytest.fixture(scope="module")
def database() -> Iterator[SqliteSession]:
    connection = connect(":memory:")
    register(connection)
    connection.execute("INSERT INTO namespaces (number, path) VALUES (1, 'default')")
    yield connection
    connection.close()


def insert(database: SqliteSession, memories: list[Memory]) -> None:
    database.execute("DELETE FROM memories")
    marks = ", ".join("?" for _ in COLUMNS)
    for slot, memory in enumerate(memories):
        database.execute(
            f"INSERT INTO memories (number, namespace, slot, {', '.join(COLUMNS)}) VALUES (?, 1, ?, {marks})",
            (place(1, slot), slot, *row(memory)),
        )


def selected(database: SqliteSession, filter: dict[str, Any]) -> list[int]:
    condition = database.dialect.condition(parse(filter))
    assert condition.rest is None
    sql = f"SELECT m.slot FROM memories m WHERE {condition.sql} ORDER BY m.slot"
    found = database.execute(sql, condition.values)
    return [slot for (slot,) in found]


@settings(max_examples=2 * settings().max_examples)
@given(st.lists(MEMORIES, min_size=1, max_size=4), st.lists(FILTERS, min_size=1, max_size=6))
@example([remembered(metadata={"a": 2**70 + 1})], [{"metadata.a": float(2**70)}])
@example([remembered(metadata={"a": 2e30})], [{"metadata.a": {"<": 2**70}}])
@example([remembered(metadata={"a": True})], [{"metadata.a": {"in": [1, 0]}}])
@example([remembered(tags=["a", "b", ", \x00"])], [{"tags": ", "}])
@example([remembered(metadata={"a": "b\x00c"})], [{"metadata.a": {"contains": "C"}}])
def test_sql_and_python_agree(
    database: SqliteSession, memories: list[Memory], filters: list[dict[str, Any]]
) -> None:
    distinct = list({memory.id: memory for memory in memories}.values())
    insert(database, distinct)
    for filter in filters:
        found = selected(database, filter)
        assert found == expected(distinct, filter)
        assert sorted(found + selected(database, {"not": filter})) == list(range(len(distinct)))


@settings(max_examples=2 * settings().max_examples)
@given(METADATA, st.data())
def test_sql_and_python_agree_on_values_that_are_there(
    database: SqliteSession, metadata: dict[str, Any], data: st.DataObject
) -> None:
    """Random filters rarely ask for what a memory has; these name its paths, and often its value."""
    memory = remembered(metadata=metadata)
    insert(database, [memory])
    for keys, value in paths(metadata):
        near = ON_METADATA
        if isinstance(value, str):
            near = conditions(st.just(value), st.just(value)) | st.just({"contains": value.swapcase()})
        elif isinstance(value, bool | int | float):
            near = conditions(st.just(value), st.just(value + 0))
        filter = {str(Field("metadata", keys)): data.draw(near | ON_METADATA)}
        assert selected(database, filter) == expected([memory], filter)


@pytest.mark.parametrize(
    "key",
    ["room", "a.b", "a[0]", '"', 'a"b', '"a"', "\\", "\\u0000", "a\x00b", "$", "$.a", "#-1", "'", "é", " ",
     "'); DROP TABLE memories; --", "\n", "?", "?1", ":x", "\x7f"],
)  # fmt: skip
def test_any_key_can_be_named(database: SqliteSession, key: str) -> None:
    insert(
        database,
        [remembered(metadata={key: {key: "deep"}}), remembered(id="m2", metadata={"other": {"x": 1}})],
    )
    name = str(Field("metadata", (key, key)))
    assert selected(database, {name: "deep"}) == [0]
    assert selected(database, {name: {"exists": False}}) == [1]


@pytest.mark.parametrize(
    "filter",
    [
        {"category": HOSTILE},
        {"content": {"contains": HOSTILE}},
        {"id": {"in": [HOSTILE, "?", "' OR ''='"]}},
        {"speaker": {"<": HOSTILE, ">": HOSTILE}},
        {"tags": {"any": [HOSTILE, '"] OR 1']}},
        {f"metadata.{HOSTILE}": HOSTILE},
        {f"metadata.{HOSTILE}": {"contains": HOSTILE}},
        {'metadata.$"': {"in": [HOSTILE, 1]}},
    ],
)
def test_no_value_or_path_reaches_the_sql(database: SqliteSession, filter: dict[str, Any]) -> None:
    insert(database, [remembered()])
    condition = database.dialect.condition(parse(filter))
    assert "DROP" not in condition.sql
    assert condition.sql.count("?") == len(condition.values)
    assert selected(database, filter) == []
    assert database.execute("SELECT count(*) FROM memories").fetchone() == (1,)


def test_contains_folds_case_beyond_ascii(database: SqliteSession) -> None:
    insert(database, [remembered(content="Die Straße in ÅRHUS", metadata={"city": "ΑΘΉΝΑ"})])
    assert selected(database, {"content": {"contains": "STRASSE in århus"}}) == [0]
    assert selected(database, {"metadata.city": {"contains": "αθήν"}}) == [0]
    assert selected(database, {"content": {"contains": "arhus"}}) == []


@pytest.mark.parametrize(
    ("tags", "there", "not_there"),
    [
        (["a", "b"], ["a", "b"], ["", "c", ", ", "A", 'a", "b', "ab"]),
        (['say "hi"', "\\"], ['say "hi"', "\\"], ["hi", '"hi"', "\\\\", '"']),
        (["a\x00b", "c"], ["a\x00b", "c"], ["a", "a\x00", "\x00", "b", ", ", "\\u0000"]),
        (["\\u0000", "é", ""], ["\\u0000", "é", ""], ["\x00", "\\", "e", "É"]),
        (["a", "b", ", \x00"], ["a", ", \x00"], [", "]),
        (["1", "true"], ["1", "true"], ["null"]),
        ([], [], ["", "[]"]),
    ],
)
def test_a_tag_is_matched_whole(
    database: SqliteSession, tags: list[str], there: list[str], not_there: list[str]
) -> None:
    insert(database, [remembered(tags=tags, entities=tags)])
    for name in ("tags", "entities"):
        assert [tag for tag in there + not_there if selected(database, {name: tag})] == there


@pytest.mark.parametrize(
    "number", [2**53 + 1, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 2**70 + 1, 0.1 + 0.2]
)
def test_neighbouring_numbers_are_told_apart(database: SqliteSession, number: float) -> None:
    def near(value: float, step: int) -> float:
        return value + step if isinstance(value, int) else math.nextafter(value, step * math.inf)

    insert(database, [remembered(metadata={"n": number})])
    below, above = near(number, -1), near(number, 1)
    assert selected(database, {"metadata.n": {"=": number, "<=": number, ">": below, "<": above}}) == [0]
    assert selected(database, {"metadata.n": {"in": [below, above]}}) == []
    assert (
        selected(database, {"metadata.n": {"<=": below}})
        == selected(database, {"metadata.n": {">=": above}})
        == []
    )


@pytest.mark.parametrize("name", [*FIELDS[:-1], "metadata.x"])
def test_every_field_is_there_or_missing(database: SqliteSession, name: str) -> None:
    insert(database, [remembered()])
    exists, missing = {name: {"exists": True}}, {name: {"exists": False}}
    assert selected(database, exists) == expected([remembered()], exists)
    assert len(selected(database, exists)) + len(selected(database, missing)) == 1


def test_the_largest_filters_run(database: SqliteSession) -> None:
    insert(database, [remembered(tags=["t1"], metadata={"k1": 1.5})])
    tags = {"tags": {"any": [f"t{n}" for n in range(MAX_TERMS - 2)]}}
    paths_ = {"or": [{f"metadata.k{n}": {"<": 2}} for n in range((MAX_TERMS - 1) // 3)]}
    values = {"id": {"in": [f"m{n}" for n in range(MAX_VALUES)]}}
    deep: dict[str, Any] = {"or": [{"id": "m1"}, {"tags": "t1"}]}
    for _ in range((MAX_DEPTH - 2) // 2):
        deep = {"not": {"and": [deep, {"metadata.k1": {"!=": "x"}}]}}
    for filter in (tags, paths_, values, deep):
        assert selected(database, filter) == expected([remembered(tags=["t1"], metadata={"k1": 1.5})], filter)
    assert selected(database, tags) == selected(database, paths_) == selected(database, values) == [0]


def test_a_condition_can_be_joined_to_others(database: SqliteSession) -> None:
    insert(database, [remembered(category="a"), remembered(id="m2", category="b")])
    for filter in (
        {"or": [{"category": "a"}, {"category": "b"}]},
        {"metadata.x": None},
        {"category": {"<": "c"}},
    ):
        condition = database.dialect.condition(parse(filter))
        sql = f"SELECT count(*) FROM memories m WHERE m.slot = ? AND {condition.sql} AND m.number > ?"
        assert database.execute(sql, [1, *condition.values, 0]).fetchone() == (1,)


def test_lists_are_stored_as_the_search_for_an_item_expects() -> None:
    """A condition looks for an item's JSON in the stored text, so both must be written alike."""
    stored = dict(zip(COLUMNS, row(remembered(tags=["é\n", "b"])), strict=True))["tags"]
    assert json.dumps("é\n", ensure_ascii=False) in stored
