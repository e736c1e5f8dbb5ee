"""The filter language: what is accepted, what is refused, and how the refusal reads."""

import json
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import pytest

from memorata.model.errors import InvalidArgument
from memorata.store.filters import (
    FIELDS,
    MAX_DEPTH,
    MAX_TERMS,
    MAX_VALUES,
    And,
    Compare,
    Contains,
    Exists,
    Field,
    Has,
    Kind,
    Not,
    OneOf,
    Or,
    parse,
)

ROOM = Field("metadata", ("room",))


def test_no_filter_lets_everything_through() -> None:
    assert parse(None) == parse({}) == And(())


def test_a_bare_value_is_equality() -> None:
    assert parse({"category": "event"}) == OneOf(Field("category"), Kind.TEXT, ("event",))
    assert parse({"category": "event"}) == parse({"category": {"=": "event"}})
    assert parse({"tags": "tea"}) == Has(Field("tags"), "tea")
    assert parse({"place": None}) == Not(Exists(Field("place")))


def test_negative_operators_are_negations() -> None:
    assert parse({"id": {"!=": "m1"}}) == Not(OneOf(Field("id"), Kind.TEXT, ("m1",)))
    assert parse({"metadata.room": {"!=": None}}) == Not(Not(Exists(ROOM)))
    assert parse({"tags": {"none": ["a", "b"]}}) == Not(
        Or((Has(Field("tags"), "a"), Has(Field("tags"), "b")))
    )


def test_values_of_several_types_become_one_test_each() -> None:
    assert parse({"metadata.room": {"in": [1, "a", True, 2.5, None]}}) == Or(
        (
            OneOf(ROOM, Kind.NUMBER, (1, 2.5)),
            OneOf(ROOM, Kind.TEXT, ("a",)),
            OneOf(ROOM, Kind.FLAG, (True,)),
            Not(Exists(ROOM)),
        )
    )


def test_several_fields_and_operators_must_all_hold() -> None:
    assert parse({"position": {">": 1, "<=": 3}, "content": {"contains": "TEA"}}) == And(
        (
            And(
                (
                    Compare(Field("position"), Kind.NUMBER, ">", 1),
                    Compare(Field("position"), Kind.NUMBER, "<=", 3),
                )
            ),
            Contains(Field("content"), "tea"),
        )
    )


def test_times() -> None:
    noon = Compare(Field("created_at"), Kind.TIME, "<", datetime(2026, 5, 7, 12, tzinfo=UTC))
    for written in ("2026-05-07T12:00:00Z", "2026-05-07 14:00+02:00", "20260507T120000.000Z"):
        assert parse({"created_at": {"<": written}}) == noon
    midnight = Compare(Field("created_at"), Kind.TIME, "<", datetime(2026, 5, 7, tzinfo=UTC))
    assert parse({"created_at": {"<": "2026-05-07"}}) == midnight


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("metadata.room", ("room",)),
        ("metadata.a.b", ("a", "b")),
        (r"metadata.a\.b", ("a.b",)),
        (r"metadata.a\\.b", ("a\\", "b")),
        ("metadata.a[0]", ("a[0]",)),
        ('metadata."a"', ('"a"',)),
        ("metadata.metadata", ("metadata",)),
        ("metadata. ", (" ",)),
    ],
)
def test_metadata_paths_split_at_dots_and_can_be_written_back(name: str, keys: tuple[str, ...]) -> None:
    assert parse({name: {"exists": True}}) == Exists(Field("metadata", keys))
    assert str(Field("metadata", keys)) == name


def test_whole_numbers_keep_their_digits() -> None:
    assert parse({"metadata.room": 2**53 + 1}) == OneOf(ROOM, Kind.NUMBER, (2**53 + 1,))
    assert parse({"metadata.room": np.int64(5)}) == OneOf(ROOM, Kind.NUMBER, (5,))
    parsed = parse({"confidence": np.float32(0.5)})
    assert isinstance(parsed, OneOf)
    assert type(parsed.values[0]) is float


@pytest.mark.parametrize(
    ("filter", "path"),
    [
        ([], "filter"),
        ("category", "filter"),
        ({"categroy": "event"}, "filter"),
        ({"metadata": {"room": 1}}, "filter"),
        ({"namespace": "other"}, "filter"),
        ({3: 4}, "filter"),
        ({"metadata.": 1}, "filter"),
        ({"metadata.a..b": 1}, "filter"),
        ({"metadata.a\\": 1}, "filter"),
        ({"metadata.a\\n": 1}, "filter"),
        ({"metadata.\ud800": 1}, "filter.metadata.\ud800"),
        ({"metadata" + ".a" * 21: 1}, "filter"),
        ({"category": {}}, "filter.category"),
        ({"category": {"==": "event"}}, "filter.category"),
        ({"category": {3: "event"}}, "filter.category"),
        ({"category": {"any": ["event"]}}, "filter.category"),
        ({"category": 3}, "filter.category"),
        ({"category": ["event"]}, "filter.category"),
        ({"category": "\ud800"}, "filter.category"),
        ({"category": {"in": "event"}}, "filter.category.in"),
        ({"category": {"in": {"event"}}}, "filter.category.in"),
        ({"category": {"in": ["event", 3]}}, "filter.category.in[1]"),
        ({"category": {"exists": 1}}, "filter.category.exists"),
        ({"category": {"<": None}}, "filter.category.<"),
        ({"category": {"contains": None}}, "filter.category.contains"),
        ({"tier": "forever"}, "filter.tier"),
        ({"tier": {"<": "working"}}, "filter.tier"),
        ({"tier": {"contains": "work"}}, "filter.tier"),
        ({"confidence": {">=": "0.5"}}, "filter.confidence.>="),
        ({"confidence": {">=": float("nan")}}, "filter.confidence.>="),
        ({"confidence": {"<": float("inf")}}, "filter.confidence.<"),
        ({"confidence": True}, "filter.confidence"),
        ({"confidence": {"<": 10**400}}, "filter.confidence.<"),
        ({"confidence": {"contains": "5"}}, "filter.confidence"),
        ({"created_at": {"<": datetime(2026, 5, 7)}}, "filter.created_at.<"),
        ({"created_at": {"<": "2026-05-07T12:00:00"}}, "filter.created_at.<"),
        ({"created_at": {"<": "yesterday"}}, "filter.created_at.<"),
        ({"created_at": {"<": "0001-01-01T00:00:00+02:00"}}, "filter.created_at.<"),
        ({"created_at": {"<": 1_778_100_000}}, "filter.created_at.<"),
        ({"created_at": {"<": date(2026, 5, 7)}}, "filter.created_at.<"),
        ({"tags": ["tea"]}, "filter.tags"),
        ({"tags": {"in": ["tea"]}}, "filter.tags"),
        ({"tags": {"any": "tea"}}, "filter.tags.any"),
        ({"tags": {"all": ["tea", 3]}}, "filter.tags.all[1]"),
        ({"place": "Paris"}, "filter.place"),
        ({"place": {"=": None}}, "filter.place"),
        ({"metadata.room": [1]}, "filter.metadata.room"),
        ({"metadata.room": {"=": {"a": 1}}}, "filter.metadata.room.="),
        ({"metadata.room": {"in": [1, [2]]}}, "filter.metadata.room.in[1]"),
        ({"metadata.room": {"<": True}}, "filter.metadata.room.<"),
        ({"metadata.room": {"<": None}}, "filter.metadata.room.<"),
        ({"metadata.room": float("nan")}, "filter.metadata.room"),
        ({"metadata.room": datetime(2026, 5, 7, tzinfo=UTC)}, "filter.metadata.room"),
        ({"metadata.room": b"x"}, "filter.metadata.room"),
        ({"or": []}, "filter.or"),
        ({"and": []}, "filter.and"),
        ({"or": {"id": "m1"}}, "filter.or"),
        ({"or": [{"id": "m1"}, 5]}, "filter.or[1]"),
        ({"not": [{"id": "m1"}]}, "filter.not"),
        ({"not": {"and": [{"or": [{}, {"position": {"<=": "x"}}]}]}}, "filter.not.and[0].or[1].position.<="),
    ],
)
def test_bad_input_is_refused_with_the_path_to_it(filter: Any, path: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        parse(filter)
    assert caught.value.argument == path


def test_an_unknown_field_is_answered_with_the_known_ones() -> None:
    with pytest.raises(InvalidArgument, match="got 'categroy'") as caught:
        parse({"categroy": "event"})
    assert all(name in str(caught.value) for name in FIELDS)


def test_a_field_that_is_misspelt_is_asked_about() -> None:
    with pytest.raises(InvalidArgument, match=r"or, not \(did you mean category\?\), got 'categry'"):
        parse({"categry": "fact"})
    with pytest.raises(InvalidArgument, match=r"or, not, got 7"):
        parse({7: "fact"})  # type: ignore[dict-item]


def test_an_unknown_operator_is_answered_with_those_of_the_field() -> None:
    with pytest.raises(InvalidArgument, match="'any', 'all', 'none', 'exists', got 'in'"):
        parse({"tags": {"in": ["tea"]}})


def test_a_time_without_a_zone_says_what_is_missing() -> None:
    with pytest.raises(InvalidArgument, match="a time with its zone"):
        parse({"created_at": "2026-05-07T12:00:00"})


def test_messages_stay_short() -> None:
    with pytest.raises(InvalidArgument) as caught:
        parse({"metadata." + "x" * 100_000: float("nan")})
    assert len(str(caught.value)) < 200


def nested(depth: int) -> dict[str, Any]:
    filter: dict[str, Any] = {"id": "m1"}
    for _ in range(depth - 1):
        filter = {"not": filter}
    return filter


def test_nesting_is_limited() -> None:
    parse(nested(MAX_DEPTH))
    with pytest.raises(InvalidArgument, match=f"nested at most {MAX_DEPTH} deep"):
        parse(nested(MAX_DEPTH + 1))
    endless: dict[str, Any] = {}
    endless["not"] = endless
    with pytest.raises(InvalidArgument, match="nested"):
        parse(endless)


@pytest.mark.parametrize(
    "filter",
    [
        {"tags": {"any": ["x"] * MAX_TERMS}},
        {"or": [{}] * MAX_TERMS},
        {f"metadata.k{n}": n for n in range(MAX_TERMS + 1)},
    ],
)
def test_the_number_of_terms_is_limited(filter: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument, match=f"at most {MAX_TERMS} terms, got at least {MAX_TERMS + 1}"):
        parse(filter)


def test_as_many_terms_as_allowed() -> None:
    parse({f"metadata.k{n}": n for n in range(MAX_TERMS)})
    parse({"tags": {"any": ["x"] * (MAX_TERMS - 2)}})


def test_the_number_of_values_is_limited() -> None:
    half = [f"m{n}" for n in range(MAX_VALUES // 2)]
    parse({"id": {"in": half}, "category": {"not in": half}})
    with pytest.raises(InvalidArgument, match=f"at most {MAX_VALUES} values"):
        parse({"id": {"in": half}, "category": {"not in": half}, "speaker": "Anna"})


def test_a_filter_is_plain_json() -> None:
    filter = {
        "or": [{"metadata.room": {"in": [1, None, True]}}, {"created_at": {"<": "2026-05-07"}}],
        "not": {"tags": {"all": ["a"]}},
    }
    assert parse(json.loads(json.dumps(filter))) == parse(filter)
