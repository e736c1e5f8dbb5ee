"""The rows of many memories at once are those of each of them, whatever they leave as it is."""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model.entity import Place
from memorata.model.memory import Memory, Source, Tier
from memorata.store.memory.insertion import insertion
from memorata.store.rows import COLUMNS, row
from memorata.store.rows import memory as read
from memorata.store.sqlite.connection import connect
from memorata.store.sqlite.dialect import SqliteDialect

place = SqliteDialect().number


DAY = datetime(2026, 5, 7, tzinfo=UTC)
MOMENTS = st.datetimes(datetime(1990, 1, 1), datetime(2040, 1, 1)).map(lambda day: day.replace(tzinfo=UTC))
TEXTS = st.text(st.characters(codec="utf-8"), max_size=5)
LISTS = st.lists(TEXTS, max_size=2).map(tuple)
MEMORIES = st.fixed_dictionaries(
    {"content": TEXTS.map(lambda text: f"tea {text}"), "created_at": MOMENTS},
    optional={
        "category": st.sampled_from(["fact", "it's", ""]),
        "tier": st.sampled_from(Tier),
        "confidence": st.floats(0, 1),
        "importance": st.floats(0, 1),
        "pinned": st.booleans(),
        "tags": LISTS,
        "metadata": st.dictionaries(TEXTS, st.integers(0, 9) | TEXTS | st.none(), max_size=2),
        "source": st.builds(Source, TEXTS, TEXTS, st.none() | st.integers(0, 9), TEXTS),
        "entities": LISTS,
        "place": st.none() | st.builds(Place, st.floats(-90, 90), st.floats(-180, 180), TEXTS),
        "valid_from": st.just(DAY - timedelta(days=3)),
        "valid_to": st.none() | st.just(DAY),
        "expires_at": st.none() | MOMENTS,
        "supersedes": st.lists(TEXTS, max_size=2, unique=True).map(tuple),
        "superseded_by": st.none() | st.just("other"),
        "mentions": st.integers(1, 9),
        "supported_at": st.none() | MOMENTS,
        "access_count": st.integers(0, 9),
        "last_accessed_at": st.none() | MOMENTS,
        "version": st.integers(1, 9),
        "fingerprint": st.sampled_from(["", "ab" * 16]),
        "embedder": st.sampled_from(["", "static"]),
    },
)


@given(st.lists(MEMORIES, min_size=1, max_size=4))
def test_every_memory_gets_the_row_it_has_alone(given: list[dict[str, Any]]) -> None:
    memories = [Memory(id=f"m{number}", **values) for number, values in enumerate(given)]
    with closing(connect(":memory:")) as connection:
        connection.execute("INSERT INTO namespaces (number, path) VALUES (3, 'acme')")
        connection.executemany(*insertion(connection.dialect, 3, 7, memories))
        found = connection.execute(
            f"SELECT number, namespace, slot, {', '.join(COLUMNS)}, forgotten_at FROM memories ORDER BY slot"
        ).fetchall()
    assert found == [(place(3, slot), 3, slot, *row(memory), None) for slot, memory in enumerate(memories, 7)]
    # Each has the checksum of what comes back, to the sign of a zero.
    assert [read((*values[3:-1], "acme")).content for values in found] == [each.content for each in memories]


def bound(*memories: Memory) -> tuple[int, Iterator[tuple[Any, ...]]]:
    statement, values = insertion(SqliteDialect(), 1, 0, memories)
    return statement.count("?"), values


@pytest.mark.parametrize(
    ("changes", "columns"), [({}, 0), ({"tags": ("tea",)}, 1), ({"source": Source("Ann")}, 6)]
)
def test_only_what_is_unusual_is_handed_over(changes: dict[str, Any], columns: int) -> None:
    plain = Memory(id="m0", content="I like tea", created_at=DAY)
    # A place, a namespace and a slot; id, content, time, fingerprint, embedder, checksum and statement.
    count, values = bound(plain, Memory(id="m1", content="I like tea", created_at=DAY, **changes))
    assert count == 10 + columns
    assert [len(each) for each in values] == [count, count]
