from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import ValidationError

import memorata
from memorata.model.entity import Place
from memorata.model.memory import Memory, Source
from memorata.service.codec import memory_json, recall_json
from memorata_server.answers import MemoryAnswer, RecallAnswer
from memorata_server.schemas import MemoryDetails, NewMemory

NOW = datetime(2026, 5, 7, 12, tzinfo=UTC)
MEMORY = Memory(
    id="m1",
    content="Zoë",
    created_at=NOW,
    tags=("tea",),
    metadata={"a": [1]},
    source=Source("Anna", "s1", 3, "link"),
    place=Place(1.5, 2.5, "here"),
    valid_from=NOW,
    supersedes=("m0",),
)


def test_a_memory_is_shown_whole_and_as_described() -> None:
    shown = memory_json(MEMORY)
    assert set(shown) == {each.name for each in fields(Memory)}
    described = MemoryAnswer.model_validate(shown).model_dump()
    assert described.keys() == shown.keys()
    assert (described["created_at"], described["place"]["name"]) == (NOW, "here")
    assert memory_json(replace(MEMORY, place=None))["place"] is None


def test_a_recall_is_shown_whole_and_as_described() -> None:
    with memorata.open(":memory:", embedder="lexical", clock=lambda: NOW) as engine:
        engine.remember("Anna visited Porto", valid_from=datetime(2026, 4, 8, tzinfo=UTC))
        shown = recall_json(engine.recall("What did Anna do in April?"), explain=True)
    described = RecallAnswer.model_validate(shown).model_dump()
    assert described.keys() == shown.keys()
    assert described["period"].keys() == shown["period"].keys()
    assert described["hits"][0].keys() == shown["hits"][0].keys()


def test_what_was_left_out_is_not_given() -> None:
    assert NewMemory.model_validate({"content": "x", "id": None, "expires_at": None}).set_fields() == {
        "content": "x",
        "expires_at": None,
    }


@pytest.mark.parametrize(
    "bad",
    [
        {"confidence": "1"},
        {"confidence": True},
        {"confidence": float("nan")},
        {"pinned": "yes"},
        {"tags": ("x" * 1001,)},
        {"tags": ["x"] * 101},
        {"valid_from": 0},
        {"valid_from": "0"},
        {"valid_from": "2026-05-07T00:00:00"},
        {"place": {"lat": 1, "lon": "2"}},
        {"nobody": 1},
    ],
)
def test_nothing_is_read_as_something_else(bad: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        MemoryDetails.model_validate(bad)


@pytest.mark.parametrize("time", ["2026-05-07T12:00:00Z", "2026-05-07T14:00+02:00", NOW])
def test_a_time_has_its_zone(time: Any) -> None:
    assert MemoryDetails.model_validate({"valid_from": time}).valid_from == NOW
