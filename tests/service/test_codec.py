"""A memory as JSON and back, exactly."""

import json
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorata.model.entity import Place, Relation
from memorata.model.errors import InvalidArgument
from memorata.model.memory import Memory, Source, Tier
from memorata.service.codec import FIELDS, memory_arguments, memory_json, plain, relation_json, time_from_json
from memorata.store.entries import Hidden

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
TIMES = st.datetimes(datetime(1970, 1, 2), datetime(2100, 1, 1), timezones=st.just(UTC))
IDS = st.from_regex(r"[a-z0-9-]{1,20}", fullmatch=True)
NOW = datetime(2026, 5, 7, tzinfo=UTC)


@st.composite
def memories(draw: st.DrawFn) -> Memory:
    start = draw(st.none() | TIMES)
    return Memory(
        id="this",
        content=draw(TEXT.filter(str.strip)),
        created_at=draw(TIMES),
        namespace=draw(st.sampled_from(["default", "acme/alice"])),
        category=draw(TEXT),
        tier=draw(st.sampled_from(Tier)),
        confidence=draw(st.floats(0, 1)),
        importance=draw(st.floats(0, 1)),
        tags=tuple(draw(st.lists(TEXT, max_size=3))),
        metadata=draw(st.dictionaries(TEXT, TEXT | st.integers() | st.booleans() | st.none(), max_size=3)),
        source=Source(draw(TEXT), draw(TEXT), draw(st.none() | st.integers(0, 99)), draw(TEXT)),
        entities=tuple(draw(st.lists(TEXT, max_size=3))),
        place=draw(st.none() | st.builds(Place, st.floats(-90, 90), st.floats(-180, 180), TEXT)),
        valid_from=start,
        valid_to=None if start is None else start + draw(st.timedeltas(timedelta(0), timedelta(9))),
        expires_at=draw(st.none() | TIMES),
        supersedes=tuple(draw(st.lists(IDS.filter(lambda id_: id_ != "this"), max_size=2, unique=True))),
        superseded_by=draw(st.none() | IDS.filter(lambda id_: id_ != "this")),
        mentions=draw(st.integers(1, 99)),
        access_count=draw(st.integers(0, 99)),
        last_accessed_at=draw(st.none() | TIMES),
        version=draw(st.integers(1, 99)),
        fingerprint=draw(TEXT),
        embedder=draw(TEXT),
    )


@given(memories())
def test_every_field_comes_back_through_json_as_it_was(memory: Memory) -> None:
    line = json.dumps(memory_json(memory), ensure_ascii=False, allow_nan=False)
    assert Memory(**memory_arguments(json.loads(line))) == memory


def test_no_field_is_left_out() -> None:
    memory = Memory(id="m1", content="x", created_at=datetime(2026, 1, 1, tzinfo=UTC))
    assert list(memory_json(memory)) == list(FIELDS) == [each.name for each in fields(Memory)]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (
            {"contents": "x"},
            r"field must be one that a memory has \(did you mean content\?\), got 'contents'",
        ),
        ({"created_at": 5}, "created_at must be a time in ISO 8601"),
        ({"created_at": "2026-01-01T10:00"}, "created_at must be a time with its zone"),
        ({"source": {"who": "Anna"}}, "source must be an object with the keys speaker, session, position"),
        ({"place": {"lat": 1}}, "place must be an object with the keys lat, lon, name"),
        ({"place": {"lat": 91, "lon": 0}}, "lat must be a number from -90 to 90"),
    ],
)
def test_what_no_memory_has_is_refused(data: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidArgument, match=words):
        memory_arguments(data)


def test_everything_becomes_what_json_can_hold() -> None:
    given = {
        "n": np.float32(0.5),
        "all": np.array([1, 2]),
        "none": [float("inf"), float("nan"), None],
        "when": NOW,
        "tier": Tier.WORKING,
        "set": {"b", "a"},
        1: True,
        "hidden": Hidden("m1", NOW, NOW, True, "near"),
    }
    assert plain(given) == {
        "n": 0.5,
        "all": [1, 2],
        "none": [None, None, None],
        "when": "2026-05-07T00:00:00+00:00",
        "tier": "working",
        "set": ["a", "b"],
        "1": True,
        "hidden": {
            "memory_id": "m1",
            "forgotten_at": "2026-05-07T00:00:00+00:00",
            "superseded_at": "2026-05-07T00:00:00+00:00",
            "end_given": True,
            "repeat": "near",
        },
    }


def test_a_memory_is_shown_by_its_id_alone() -> None:
    assert plain([Memory(id="m1", content="marmalade", created_at=NOW)]) == ["m1"]


def test_what_has_no_plain_form_is_an_error() -> None:
    with pytest.raises(TypeError, match="no JSON form"):
        plain(object())


def test_plain_keeps_what_is_plain() -> None:
    assert plain({"a": [True, None, "x", 1, 0.5]}) == {"a": [True, None, "x", 1, 0.5]}


def test_an_example_of_memory_json() -> None:
    tea = Memory(id="m1", content="Anna likes tea", created_at=datetime(2026, 5, 7, tzinfo=UTC))
    assert memory_json(tea)["created_at"] == "2026-05-07T00:00:00+00:00"
    assert Memory(**memory_arguments(memory_json(tea))) == tea


def test_an_example_of_relation_json() -> None:
    assert relation_json(Relation("Anna", "knows", "Ben"))["object"] == "Ben"


def test_an_example_of_plain() -> None:
    assert plain({"at": (Place(1.0, 2.0),), "p": float("nan")}) == {
        "at": [{"lat": 1.0, "lon": 2.0, "name": ""}],
        "p": None,
    }


def test_an_example_of_time_from_json() -> None:
    assert time_from_json("created_at", "2026-05-07") == datetime(2026, 5, 7, tzinfo=UTC)
