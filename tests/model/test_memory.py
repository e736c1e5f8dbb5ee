import copy
import pickle
from dataclasses import FrozenInstanceError, fields, replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest

from memorata.model import InvalidArgument, Memory, Place, Source, Tier
from memorata.model.memory import build_memory, json_object, trusted_memory

DAY = datetime(2026, 5, 7, tzinfo=UTC)
LOCAL = datetime(2026, 5, 7, 2, tzinfo=timezone(timedelta(hours=2)))


def memory(**changes: Any) -> Memory:
    values: dict[str, Any] = {"id": "m1", "content": "I prefer green tea.", "created_at": DAY}
    return Memory(**values | changes)


FULL = memory(
    namespace="acme/alice",
    category="preference",
    tier="episodic",
    confidence=1,
    importance=0,
    tags=["tea", "drink"],
    metadata={"room": 12, "deep": {"list": [1, None, "x"]}},
    source=Source(speaker="Alice", session="s1", position=0, link="https://example.org"),
    entities=["Alice"],
    place=Place(48.8566, 2.3522, "Paris"),
    valid_from=LOCAL,
    valid_to=LOCAL + timedelta(days=1),
    expires_at=LOCAL,
    supersedes=["m0"],
    superseded_by="m2",
    last_accessed_at=LOCAL,
)


def test_what_is_not_said_has_a_sensible_default() -> None:
    plain = memory()
    assert (plain.namespace, plain.category, plain.tier) == ("default", "fact", Tier.SEMANTIC)
    assert (plain.confidence, plain.importance, plain.mentions, plain.version) == (1.0, 0.5, 1, 1)
    assert plain.metadata == {}
    assert plain.source == Source()


def test_everything_given_is_brought_to_its_form() -> None:
    assert FULL.tier is Tier.EPISODIC
    assert (FULL.confidence, FULL.importance) == (1.0, 0.0)
    assert type(FULL.confidence) is float
    assert FULL.tags == ("tea", "drink")
    assert FULL.supersedes == ("m0",)
    for moment in (FULL.valid_from, FULL.valid_to, FULL.expires_at, FULL.last_accessed_at):
        assert moment is not None
        assert moment.tzinfo is UTC
    assert FULL.valid_from == DAY


def test_whole_numbers_and_flags_of_numpy_become_plain_ones() -> None:
    counts: dict[str, Any] = {"mentions": np.int64(3), "access_count": np.uint8(2), "version": np.int32(4)}
    counted = memory(**counts, pinned=np.bool_(True), source=Source(position=np.int16(7)))  # type: ignore[arg-type]
    given = (counted.mentions, counted.access_count, counted.version, counted.source.position)
    assert given == (3, 2, 4, 7)
    assert {type(number) for number in given} == {int}
    assert counted.pinned is True


def test_the_event_is_when_it_holds_or_else_when_it_was_learnt() -> None:
    assert memory().event_time == DAY
    assert memory(valid_from=DAY - timedelta(days=9)).event_time == DAY - timedelta(days=9)


def test_content_is_kept_to_the_letter() -> None:
    content = "  Tea,\n\tplease! \U0001f375 " + "x" * 100_000
    assert memory(content=content).content == content


def test_a_memory_does_not_change() -> None:
    notes = {"room": 12}
    kept = memory(metadata=notes)
    notes["room"] = 13
    assert kept.metadata["room"] == 12
    with pytest.raises(TypeError):
        kept.metadata["room"] = 14  # type: ignore[index]
    with pytest.raises(FrozenInstanceError):
        kept.content = "coffee"  # type: ignore[misc]
    changed = replace(kept, confidence=0.5)
    assert (changed.confidence, changed.metadata) == (0.5, {"room": 12})


def test_the_engine_stamps_what_it_derives() -> None:
    stamped = FULL.stamped(fingerprint="f" * 32, embedder="static")
    assert stamped == replace(FULL, fingerprint="f" * 32, embedder="static")
    assert FULL.fingerprint == ""
    with pytest.raises(InvalidArgument, match="fingerprint must be a string"):
        FULL.stamped(fingerprint=None, embedder="static")  # type: ignore[arg-type]


def test_names_that_were_read_are_checked_and_nothing_else_changes() -> None:
    assert FULL.mentioning(("Anna", "Ўля")) == replace(FULL, entities=("Anna", "Ўля"))
    for bad in ("Anna", ["Anna", 3], ("half \ud83c",)):
        with pytest.raises(InvalidArgument):
            FULL.mentioning(bad)  # type: ignore[arg-type]


def test_a_trusted_memory_has_a_value_for_every_field() -> None:
    values = [getattr(FULL, each.name) for each in fields(FULL)]
    assert trusted_memory(values) == FULL
    with pytest.raises(InvalidArgument, match="values"):
        trusted_memory(values[1:])


def test_a_memory_that_is_made_of_values_is_one_like_any_other() -> None:
    values = {each.name: getattr(FULL, each.name) for each in fields(FULL)}
    for given in (values, {name: values[name] for name in ("id", "content", "created_at")}):
        kept = build_memory(given)
        assert (type(kept), kept) == (Memory, Memory(**given))
        with pytest.raises(FrozenInstanceError):
            kept.content = "coffee"  # type: ignore[misc]
        assert pickle.loads(pickle.dumps(kept)) == kept
    with pytest.raises(TypeError, match="mood"):
        build_memory({**values, "mood": "good"})


@pytest.mark.parametrize("kept", [memory(), FULL], ids=["plain", "full"])
def test_memories_can_be_copied_pickled_and_kept_in_sets(kept: Memory) -> None:
    for copied in (copy.copy(kept), copy.deepcopy(kept), pickle.loads(pickle.dumps(kept))):
        assert copied == kept
        assert hash(copied) == hash(kept)
    assert {kept, copy.copy(kept)} == {kept}


@pytest.mark.parametrize(
    ("changes", "argument"),
    [
        ({"id": ""}, "id"),
        ({"id": "m 1"}, "id"),
        ({"content": " \n"}, "content"),
        ({"content": None}, "content"),
        ({"created_at": datetime(2026, 5, 7)}, "created_at"),
        ({"created_at": None}, "created_at"),
        ({"namespace": "acme/../bob"}, "namespace"),
        ({"category": 5}, "category"),
        ({"tier": "eternal"}, "tier"),
        ({"confidence": 1.01}, "confidence"),
        ({"confidence": float("nan")}, "confidence"),
        ({"importance": -0.1}, "importance"),
        ({"importance": "high"}, "importance"),
        ({"tags": "tea"}, "tags"),
        ({"tags": ["tea", 1]}, "tags[1]"),
        ({"metadata": None}, "metadata"),
        ({"metadata": {1: "a"}}, "metadata"),
        ({"source": "Alice"}, "source"),
        ({"entities": "Alice"}, "entities"),
        ({"place": (48.9, 2.4)}, "place"),
        ({"valid_from": "May"}, "valid_from"),
        ({"valid_from": DAY, "valid_to": DAY - timedelta(seconds=1)}, "valid_to"),
        ({"expires_at": 0}, "expires_at"),
        ({"last_accessed_at": datetime(2026, 5, 7)}, "last_accessed_at"),
        ({"supersedes": "m0"}, "supersedes"),
        ({"supersedes": ["m0", "m1"]}, "supersedes"),
        ({"supersedes": ["m0", "m0"]}, "supersedes"),
        ({"superseded_by": "m1"}, "superseded_by"),
        ({"superseded_by": ""}, "superseded_by"),
        ({"mentions": 0}, "mentions"),
        ({"access_count": -1}, "access_count"),
        ({"version": 0}, "version"),
        ({"version": 1.5}, "version"),
        ({"fingerprint": None}, "fingerprint"),
        ({"embedder": None}, "embedder"),
    ],
)
def test_a_bad_memory_is_refused(changes: dict[str, Any], argument: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        memory(**changes)
    assert caught.value.argument == argument
    with pytest.raises(InvalidArgument) as also:
        build_memory({"id": "m1", "content": "I prefer green tea.", "created_at": DAY} | changes)
    assert str(also.value) == str(caught.value)


@pytest.mark.parametrize(
    ("changes", "argument"),
    [
        ({"speaker": 1}, "speaker"),
        ({"session": None}, "session"),
        ({"link": b"x"}, "link"),
        ({"position": -1}, "position"),
        ({"position": True}, "position"),
    ],
)
def test_a_bad_source_is_refused(changes: dict[str, Any], argument: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        Source(**changes)
    assert caught.value.argument == argument


@pytest.mark.parametrize(
    "value",
    [{}, {"a": [1, 2.5, "x", None, True]}, {"a": {"b": {"c": []}}}, {"": "empty keys are keys"}],
)
def test_what_json_keeps_is_kept(value: dict[str, Any]) -> None:
    assert json_object("metadata", value) == value


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    "value",
    [
        [],
        "text",
        {1: "a"},
        {"a": (1, 2)},
        {"a": {2}},
        {"a": float("nan")},
        {"a": float("inf")},
        {"a": b"x"},
        {"a": DAY},
        {"a": 10**5000},
        nested(100_000),
    ],
    ids=["list", "text", "number key", "tuple", "set", "nan", "inf", "bytes", "time", "long", "deep"],
)
def test_what_json_would_change_or_lose_is_refused(value: object) -> None:
    with pytest.raises(InvalidArgument) as caught:
        json_object("metadata", value)
    assert caught.value.argument == "metadata"


@pytest.mark.parametrize(
    "given",
    [
        {"content": "half a cup \ud83c"},
        {"category": "\udf75"},
        {"tags": ("tea", "\ud800")},
        {"entities": ("\ud800",)},
        {"metadata": {"cup": "\ud83c"}},
        {"metadata": {"\ud83c": 1}},
        {"id": "m\ud83c"},
    ],
)
def test_text_that_utf8_cannot_hold_is_refused(given: dict[str, Any]) -> None:
    fields: dict[str, Any] = {"id": "m1", "content": "tea", "created_at": datetime(2026, 5, 7, tzinfo=UTC)}
    with pytest.raises(InvalidArgument):
        Memory(**(fields | given))
    with pytest.raises(InvalidArgument):
        Source(speaker="\ud83c")
    with pytest.raises(InvalidArgument):
        Place(0, 0, "\ud83c")
