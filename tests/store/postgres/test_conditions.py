"""Compiled conditions select what `matches` says: exactly, or with what Python then looks at itself."""

import math
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memorata.model.memory import Memory, Source, Tier
from memorata.model.place import Place
from memorata.store.filter_tree import Field
from memorata.store.filters import FIELDS, matches, parse
from memorata.store.postgres.conditions import compiled
from memorata.store.postgres.connection import Server, prepare
from memorata.store.postgres.rows import COLUMNS, OWN, memory, row

EPOCH = datetime(2026, 5, 7, tzinfo=UTC)
Selected = tuple[list[int], bool]


@pytest.fixture(scope="module")
def server(used: str) -> Iterator[Server]:
    with Server.connect(used, autocommit=True) as connection:
        prepare(connection, patience=30, statement_seconds=30)
        connection.execute(
            f"CREATE TEMP TABLE memories AS SELECT slot, {', '.join(COLUMNS)} FROM memories LIMIT 0"
        )
        yield connection


def insert(server: Server, memories: list[Memory]) -> None:
    server.execute("DELETE FROM memories")
    for slot, known in enumerate(memories):
        server.execute(
            f"INSERT INTO memories (slot, {', '.join(COLUMNS)}) VALUES (%s{', %s' * len(COLUMNS)})",
            (slot, *row(known)),
        )


def selected(server: Server, filter: dict[str, Any]) -> list[int]:
    """Return the slots that a filter selects, by both steps; the first must lose nothing."""
    parsed = parse(filter)
    condition = compiled(parsed)
    rows = server.execute(
        f"SELECT m.slot, {OWN} FROM memories m WHERE {condition.sql} ORDER BY m.slot", condition.values
    ).fetchall()
    if condition.exact:
        return [slot for slot, *_ in rows]
    return [slot for slot, *known in rows if matches(parsed, memory(known, "default"))]


def expected(memories: list[Memory], filter: dict[str, Any]) -> list[int]:
    return [slot for slot, known in enumerate(memories) if matches(parse(filter), known)]


def remembered(**known: Any) -> Memory:
    return Memory(**{"id": "m1", "content": "x", "created_at": EPOCH, **known})


TEXTS = st.sampled_from(
    ["", "a", "A", "b", "a\x00b", "a\x00", "\x00", "\x01", "\x01\x01", "\x02", "\\u0000", '"', "\\", "'", "%",
     "%s", "_", "ß", "SS", "é", "İ", "\N{GRINNING FACE}", "\n", "1", "true", "null", "{}", "' OR 1 --"]
) | st.text(max_size=3)  # fmt: skip
NUMBERS = st.sampled_from(
    [0, 1, -1, 0.0, -0.0, 1.0, 0.1, 0.30000000000000004, 0.3, 2**53 - 1, 2**53, 2**53 + 1, float(2**53),
     2**63, float(2**63), -(2**63) - 1, 2**70 + 1, float(2**70), 1e23, 10**23, 5e-324,
     1.7976931348623157e308, 10**300]
) | st.integers(-3, 3) | st.floats(allow_nan=False, allow_infinity=False)  # fmt: skip
KEYS = st.sampled_from(["a", "b", "a.b", "0", '"', "\\", "a\nb", "a\x00", "a\x01", "'", "é", "%s", "%(x)s"])
SCALARS = TEXTS | NUMBERS | st.booleans() | st.none()
METADATA = st.dictionaries(
    KEYS,
    st.recursive(
        SCALARS,
        lambda inner: st.dictionaries(KEYS, inner, max_size=2) | st.lists(inner, max_size=2),
        max_leaves=4,
    ),
    max_size=3,
)
TIMES = st.integers(-2, 2).map(lambda n: EPOCH + timedelta(microseconds=n)) | st.sampled_from(
    [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)]
)
COUNTS = st.integers(1, 3) | st.just(2**63 - 1)
MEMORIES = st.builds(
    remembered,
    id=st.sampled_from(["m1", "m2", "M1"]),
    content=TEXTS.map(lambda text: text + "x"),
    created_at=TIMES,
    category=TEXTS,
    tier=st.sampled_from(Tier),
    confidence=st.sampled_from([0, 0.3, 0.1 + 0.2, 1]) | st.floats(0, 1),
    tags=st.lists(TEXTS, max_size=3),
    entities=st.lists(TEXTS, max_size=2),
    source=st.builds(Source, speaker=TEXTS, session=TEXTS, position=st.none() | COUNTS, link=TEXTS),
    place=st.none() | st.just(Place(1, 2)),
    valid_to=st.none() | TIMES,
    expires_at=st.none() | TIMES,
    pinned=st.booleans(),
    mentions=COUNTS,
    embedder=TEXTS,
    metadata=METADATA,
)


def conditions(values: st.SearchStrategy[Any], *others: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    optional = values | st.none()
    return optional | st.one_of(
        st.dictionaries(st.sampled_from(["=", "!="]), optional, min_size=1, max_size=1),
        st.dictionaries(st.sampled_from(["<", "<=", ">", ">="]), values, min_size=1, max_size=2),
        st.dictionaries(st.sampled_from(["in", "not in"]), st.lists(optional, max_size=3), min_size=1),
        st.fixed_dictionaries({"exists": st.booleans()}),
        *others,
    )


def on(names: str, wanted: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.sampled_from(names.split()), wanted, min_size=1, max_size=2)


CONTAINS = st.fixed_dictionaries({"contains": TEXTS})
HELD = st.dictionaries(st.sampled_from(["any", "all", "none"]), st.lists(TEXTS, max_size=3), min_size=1)
PRESENCE = st.fixed_dictionaries({"exists": st.booleans()}) | st.none()
PATHS = st.lists(KEYS, min_size=1, max_size=2).map(lambda keys: str(Field("metadata", tuple(keys))))
ON_METADATA = conditions(TEXTS | NUMBERS, CONTAINS, st.booleans())
CONDITIONS = st.one_of(
    on("id content category speaker session link embedder", conditions(TEXTS, CONTAINS)),
    on("confidence importance position mentions access_count", conditions(NUMBERS)),
    on("created_at valid_from valid_to expires_at supported_at last_accessed_at", conditions(TIMES)),
    on("pinned", st.booleans() | st.fixed_dictionaries({"!=": st.booleans()}) | PRESENCE),
    on("tier", st.sampled_from(Tier) | PRESENCE),
    on("tags entities", HELD | TEXTS | PRESENCE),
    on("place", PRESENCE),
    st.dictionaries(PATHS, ON_METADATA, min_size=1, max_size=2),
)
FILTERS = st.recursive(
    CONDITIONS,
    lambda inner: st.one_of(
        st.dictionaries(st.sampled_from(["and", "or"]), st.lists(inner, min_size=1, max_size=3), min_size=1),
        st.fixed_dictionaries({"not": inner}),
    ),
    max_leaves=5,
)


@settings(max_examples=100)
@given(st.lists(MEMORIES, min_size=1, max_size=4), st.lists(FILTERS, min_size=1, max_size=6))
@example([remembered(metadata={"a": 2**70 + 1})], [{"metadata.a": float(2**70)}])
@example([remembered(metadata={"a": 1e23})], [{"metadata.a": 10**23}, {"metadata.a": {"<": 10**23}}])
@example([remembered(metadata={"a": True})], [{"metadata.a": {"in": [1, 0]}}])
@example([remembered(metadata={"a": [1]})], [{"metadata.a.0": 1}])
@example(
    [remembered(metadata={"a": "b\x00c"})],
    [{"metadata.a": {"contains": "C"}}, {"metadata.a": {"<": "b\x01"}}],
)
def test_sql_and_python_agree(server: Server, memories: list[Memory], filters: list[dict[str, Any]]) -> None:
    distinct = list({known.id: known for known in memories}.values())
    insert(server, distinct)
    for filter in filters:
        found = selected(server, filter)
        assert found == expected(distinct, filter)
        assert sorted(found + selected(server, {"not": filter})) == list(range(len(distinct)))


@settings(max_examples=100)
@given(METADATA, st.data())
def test_sql_and_python_agree_on_values_that_are_there(
    server: Server, metadata: dict[str, Any], data: st.DataObject
) -> None:
    known = remembered(metadata=metadata)
    insert(server, [known])
    for keys, value in paths(metadata):
        near = ON_METADATA
        if isinstance(value, str):
            near = conditions(st.just(value)) | st.just({"contains": value.swapcase()})
        elif isinstance(value, bool | int | float):
            near = conditions(st.just(value + 0))
        filter = {str(Field("metadata", keys)): data.draw(near | ON_METADATA)}
        assert selected(server, filter) == expected([known], filter)


def paths(value: object, keys: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if keys and all(keys):
        yield keys, value
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from paths(inner, (*keys, key))


HOSTILE = "x') OR 1=1; DROP TABLE memories; --"


@pytest.mark.parametrize(
    "filter",
    [
        {"category": HOSTILE},
        {"content": {"contains": HOSTILE}},
        {"id": {"in": [HOSTILE, "%s", "' OR ''='"]}},
        {"tags": {"any": [HOSTILE, '"] OR 1']}},
        {f"metadata.{HOSTILE}": HOSTILE},
        {'metadata.$"': {"in": [HOSTILE, 1]}},
    ],
)
def test_no_value_or_path_reaches_the_sql(server: Server, filter: dict[str, Any]) -> None:
    insert(server, [remembered()])
    condition = compiled(parse(filter))
    assert "DROP" not in condition.sql
    assert condition.sql.count("%s") == len(condition.values)
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


def test_what_a_server_can_decide_is_left_to_it() -> None:
    exact = (
        {"metadata.a": 0.5},
        {"tags": "x"},
        {"content": "x"},
        {"mentions": {">": 10**30}},
        {"pinned": True},
    )
    left = ({"content": {"contains": "x"}}, {"metadata.a": 2**53}, {"not": {"speaker": {"contains": "x"}}})
    assert all(compiled(parse(each)).exact for each in exact)
    assert not any(compiled(parse(each)).exact for each in left)
