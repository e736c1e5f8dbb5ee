import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model.entity import Place
from memorata.model.errors import StoreCorrupt
from memorata.model.memory import Memory, Source, Tier
from memorata.store.rows import COLUMNS, marks, memory, row, sound

times = st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=30))])).filter(
    lambda value: 2 <= value.year <= 9998
)
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
names = st.text(st.characters(exclude_categories=["Cs", "Z", "C"]), min_size=1, max_size=8)
chances = st.floats(0, 1)


@st.composite
def memories(draw: st.DrawFn) -> Memory:
    begin, end = sorted([draw(times), draw(times)])
    values: dict[str, Any] = {
        "id": draw(names),
        "content": "x" + draw(words),
        "created_at": draw(times),
        "category": draw(words),
        "tier": draw(st.sampled_from(Tier)),
        "confidence": draw(chances),
        "importance": draw(chances),
        "tags": tuple(draw(st.lists(words, max_size=3))),
        "metadata": draw(st.dictionaries(words, st.none() | st.booleans() | st.integers() | words | chances)),
        "source": draw(st.builds(Source, words, words, st.none() | st.integers(0, 99), words)),
        "entities": tuple(draw(st.lists(words, max_size=3))),
        "place": draw(st.none() | st.builds(Place, st.floats(-90, 90), st.floats(-180, 180), words)),
        "valid_from": draw(st.none() | st.just(begin)),
        "valid_to": draw(st.none() | st.just(end)),
        "expires_at": draw(st.none() | times),
        "supersedes": tuple(draw(st.lists(names.map(lambda name: name + "-old"), max_size=2, unique=True))),
        "mentions": draw(st.integers(1, 9)),
        "access_count": draw(st.integers(0, 9)),
        "last_accessed_at": draw(st.none() | times),
        "version": draw(st.integers(1, 9)),
        "fingerprint": draw(words),
        "embedder": draw(words),
    }
    return Memory(**values)


@given(memories())
def test_a_memory_is_the_same_after_being_a_row(given: Memory) -> None:
    values = row(given)
    assert len(values) == len(COLUMNS)
    assert memory([*values, given.namespace]) == given


def test_no_value_has_no_mark() -> None:
    assert marks([]) == ""


@given(
    st.dictionaries(
        words, words | st.integers() | st.booleans() | st.none() | chances | st.lists(words), min_size=1
    )
)
def test_metadata_is_written_as_json_writes_it(metadata: dict[str, Any]) -> None:
    given_ = Memory(id="m", content="tea", created_at=datetime(2026, 5, 7, tzinfo=UTC), metadata=metadata)
    written = row(given_)[COLUMNS.index("metadata")]
    assert written == json.dumps(metadata, ensure_ascii=False)


@given(memories())
def test_what_was_written_is_sound(given: Memory) -> None:
    assert sound([*row(given), given.namespace]) == given


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("id", ""),
        ("content", b"tea"),
        ("category", b""),
        ("confidence", 1.5),
        ("confidence", "high"),
        ("tags", "[1]"),
        ("mentions", 0),
        ("access_count", -1),
        ("version", "two"),
        ("superseded_by", 7),
        ("fingerprint", b"ab"),
    ],
)
def test_a_row_that_says_what_no_memory_can_is_not(column: str, value: object) -> None:
    tea = Memory(id="m1", content="tea", created_at=datetime(2026, 5, 7, tzinfo=UTC))
    values = list(row(tea))
    values[COLUMNS.index(column)] = value
    with pytest.raises(StoreCorrupt, match=f"{column}.* must be"):
        sound([*values, "acme"])
