"""What a filter selects, case by case, on one memory."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from memorata.model.entity import Place
from memorata.model.memory import Memory, Source, Tier
from memorata.store.filters import And, Field, Has, Kind, OneOf, Or, holds, matches, parse, value_at

TEA = Memory(
    id="m7",
    content="Die STRASSE zum Teehaus",
    created_at=datetime(2026, 5, 7, 12, tzinfo=UTC),
    category="preference",
    tier=Tier.EPISODIC,
    confidence=0.75,
    importance=0.5,
    tags=("tea", "Berlin"),
    entities=("Anna Keller",),
    source=Source(speaker="Anna", session="", position=3, link=""),
    place=Place(52.5, 13.4),
    valid_from=datetime(2026, 5, 1, tzinfo=UTC),
    mentions=2,
    metadata={
        "room": 12,
        "ratio": 12.0,
        "text": "12",
        "yes": True,
        "one": 1,
        "nothing": None,
        "empty": "",
        "list": [12],
        "deep": {"a": {"b": "x"}},
        "a.b": "dotted",
        "back\\slash": "escaped",
    },
)
BARE = Memory(id="m8", content="x", created_at=datetime(2026, 5, 8, tzinfo=UTC))


@pytest.mark.parametrize(
    ("filter", "expected"),
    [
        ({}, True),
        ({"category": "preference"}, True),
        ({"category": "Preference"}, False),
        ({"category": {"!=": "fact"}, "id": {"in": ["m6", "m7"]}}, True),
        ({"category": "preference", "id": "m6"}, False),
        ({"id": {">": "m10", "<=": "m7"}}, True),
        ({"id": {"not in": ["m7"]}}, False),
        ({"id": {"in": []}}, False),
        ({"id": {"not in": []}}, True),
        ({"tier": "episodic"}, True),
        ({"tier": Tier.EPISODIC}, True),
        ({"tier": {"not in": ["working", "semantic"]}}, True),
        ({"content": {"contains": "straße ZUM"}}, True),
        ({"content": {"contains": "teehaus"}}, True),
        ({"content": {"contains": "haus tee"}}, False),
        ({"content": {"contains": ""}}, True),
        ({"confidence": {">=": 0.75, "<": 0.8}}, True),
        ({"confidence": {">": 0.75}}, False),
        ({"mentions": 2.0}, True),
        ({"position": {"<": 3}}, False),
        ({"access_count": 0}, True),
    ],
)
def test_text_and_numbers(filter: dict[str, Any], expected: bool) -> None:
    assert matches(parse(filter), TEA) is expected


@pytest.mark.parametrize(
    ("filter", "expected"),
    [
        ({"created_at": "2026-05-07T12:00:00Z"}, True),
        ({"created_at": "2026-05-07T14:00:00+02:00"}, True),
        ({"created_at": datetime(2026, 5, 7, 14, tzinfo=timezone(timedelta(hours=2)))}, True),
        ({"created_at": {">=": "2026-05-07", "<": "2026-05-08"}}, True),
        ({"created_at": {">": "2026-05-07T12:00:00Z"}}, False),
        ({"valid_from": "2026-05-01"}, True),
        ({"valid_from": {"in": ["2026-05-01", None]}}, True),
    ],
)
def test_times_are_instants_and_a_date_is_its_midnight_in_utc(filter: dict[str, Any], expected: bool) -> None:
    assert matches(parse(filter), TEA) is expected


@pytest.mark.parametrize(
    ("filter", "expected"),
    [
        ({"tags": "tea"}, True),
        ({"tags": "Tea"}, False),
        ({"tags": {"any": ["coffee", "tea"]}}, True),
        ({"tags": {"all": ["coffee", "tea"]}}, False),
        ({"tags": {"all": ["Berlin", "tea"]}}, True),
        ({"tags": {"none": ["coffee", "milk"]}}, True),
        ({"tags": {"none": ["coffee", "tea"]}}, False),
        ({"tags": {"any": []}}, False),
        ({"tags": {"all": []}}, True),
        ({"tags": {"none": []}}, True),
        ({"entities": {"any": ["Anna Keller"]}}, True),
        ({"entities": "Anna"}, False),
    ],
)
def test_lists(filter: dict[str, Any], expected: bool) -> None:
    assert matches(parse(filter), TEA) is expected


@pytest.mark.parametrize(
    ("filter", "expected"),
    [
        ({"metadata.room": 12}, True),
        ({"metadata.room": 12.0}, True),
        ({"metadata.ratio": 12}, True),
        ({"metadata.room": "12"}, False),
        ({"metadata.text": 12}, False),
        ({"metadata.text": "12"}, True),
        ({"metadata.yes": True}, True),
        ({"metadata.yes": 1}, False),
        ({"metadata.one": True}, False),
        ({"metadata.yes": {"!=": 1}}, True),
        ({"metadata.yes": {">=": 0}}, False),
        ({"metadata.room": {"in": [True, "x", 12]}}, True),
        ({"metadata.room": {"not in": [True, "x", 12]}}, False),
        ({"metadata.room": {"<": "13"}}, False),
        ({"metadata.text": {"<": "13"}}, True),
        ({"metadata.text": {"contains": "2"}}, True),
        ({"metadata.room": {"contains": "2"}}, False),
        ({"metadata.list": {"!=": 12}}, True),
        ({"metadata.list": 12}, False),
        ({"metadata.deep.a.b": "x"}, True),
        ({"metadata.deep.a": "x"}, False),
        ({"metadata.deep.a": {"exists": True}}, True),
        ({"metadata.deep.a.b.c": {"exists": True}}, False),
        ({"metadata.list.0": {"exists": True}}, False),
        ({"metadata.a.b": {"exists": True}}, False),
        ({"metadata.a\\.b": "dotted"}, True),
        ({"metadata.back\\\\slash": "escaped"}, True),
    ],
)
def test_metadata_never_compares_two_types(filter: dict[str, Any], expected: bool) -> None:
    assert matches(parse(filter), TEA) is expected


@pytest.mark.parametrize("name", ["speaker", "session", "link", "embedder", "position", "valid_from", "tags",
                                  "entities", "place", "metadata.x", "last_accessed_at"])  # fmt: skip
def test_missing_is_empty_text_an_empty_list_and_none(name: str) -> None:
    assert matches(parse({name: None}), BARE)
    assert matches(parse({name: {"exists": False}}), BARE)
    assert not matches(parse({name: {"exists": True}}), BARE)


@pytest.mark.parametrize("name", ["id", "category", "tier", "confidence", "created_at", "mentions", "speaker",
                                  "position", "valid_from", "tags", "entities", "place", "metadata.room",
                                  "metadata.empty", "metadata.yes", "metadata.list"])  # fmt: skip
def test_what_is_there_exists(name: str) -> None:
    assert matches(parse({name: {"exists": True}}), TEA)
    assert not matches(parse({name: None}), TEA)


@pytest.mark.parametrize("name", ["metadata.nothing", "metadata.nowhere"])
def test_json_null_is_missing_and_meets_only_negations(name: str) -> None:
    assert matches(parse({name: None}), TEA)
    assert matches(parse({name: {"=": None}}), TEA)
    assert matches(parse({name: {"in": [None, 5]}}), TEA)
    assert matches(parse({name: {"!=": 5, "not in": ["x"]}}), TEA)
    assert not matches(parse({name: {"!=": None}}), TEA)
    for condition in ({"=": 5}, {"<": 5}, {">=": ""}, {"in": [5, ""]}, {"contains": ""}):
        assert not matches(parse({name: condition}), TEA)


def test_a_missing_position_or_time_is_in_no_order() -> None:
    assert not matches(parse({"or": [{"position": {"<": 9}}, {"position": {">=": 0}}]}), BARE)
    assert not matches(
        parse({"or": [{"expires_at": {"<": "2999-01-01"}}, {"expires_at": "2026-05-07"}]}), BARE
    )
    assert matches(parse({"position": {"!=": 3}, "expires_at": {"not in": ["2026-05-07"]}}), BARE)


def test_an_unknown_speaker_still_compares_as_the_empty_text() -> None:
    assert matches(parse({"speaker": ""}), BARE)
    assert matches(parse({"speaker": {"<": "A"}}), BARE)


def test_and_or_not() -> None:
    yes, no = {"id": "m7"}, {"id": "m8"}
    assert matches(parse({"or": [no, yes]}), TEA)
    assert not matches(parse({"or": [no, no]}), TEA)
    assert not matches(parse({"and": [yes, no]}), TEA)
    assert matches(parse({"and": [yes, {"not": no}], "not": {"and": [yes, no]}}), TEA)
    assert not matches(parse({"not": {}}), TEA)


def test_text_is_ordered_by_code_point() -> None:
    # UTF-16 would put the emoji, written with surrogates, before U+FFFD.
    memory = Memory(id="m1", content="x", created_at=BARE.created_at, category="\N{GRINNING FACE}")
    assert matches(parse({"category": {">": "\N{REPLACEMENT CHARACTER}"}}), memory)
    assert matches(parse({"category": {">": "z"}}), memory)


def test_nodes_of_two_types_are_two_nodes_even_where_python_says_1_is_true() -> None:
    assert OneOf(Field("metadata", ("x",)), Kind.FLAG, (True,)) == parse({"metadata.x": True})
    assert parse({"metadata.x": True}) != parse({"metadata.x": 1})


def test_empty_combinations() -> None:
    assert holds(And(()), lambda field: None)
    assert not holds(Or(()), lambda field: None)
    assert not holds(Has(Field("tags"), "tea"), lambda field: None)


def test_value_at_walks_objects_only() -> None:
    assert value_at({"a": {"": 5}}, ("a", "")) == 5
    assert value_at("text", ("a",)) is None
    assert value_at({"a": 1}, ()) == {"a": 1}
