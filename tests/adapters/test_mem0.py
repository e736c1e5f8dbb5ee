"""What a program written for mem0 does and gets."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import memorata
from memorata.adapters.mem0 import AsyncMemory, Memory

ANNA = {"user_id": "anna"}


@pytest.fixture
def memory() -> Iterator[Memory]:
    with memorata.open(":memory:", embedder="lexical") as engine:
        yield Memory(engine=engine)


def texts(found: dict[str, Any]) -> list[str]:
    return [row["memory"] for row in found["results"]]


def test_messages_are_kept_as_they_were_said(memory: Memory) -> None:
    added = memory.add(
        [
            {"role": "system", "content": "You are helpful."},
            {"role": "user", "content": "I drink green tea.", "name": "Anna"},
            {"role": "assistant", "content": "Noted."},
        ],
        user_id="anna",
        run_id="r1",
        metadata={"topic": "drinks"},
    )
    assert [(each["memory"], each["event"]) for each in added["results"]] == [
        ("I drink green tea.", "ADD"),
        ("Noted.", "ADD"),
    ]
    row = memory.get(added["results"][0]["id"])
    assert row is not None
    assert (
        row.items()
        >= {
            "id": added["results"][0]["id"],
            "memory": "I drink green tea.",
            "metadata": {"topic": "drinks"},
            "user_id": "anna",
            "run_id": "r1",
            "role": "user",
            "actor_id": "Anna",
            "updated_at": None,
        }.items()
    )


def test_messages_of_parts_and_all_or_none(memory: Memory) -> None:
    picture = [{"type": "text", "text": "My cat."}, {"type": "image_url", "image_url": {"url": "cat.png"}}]
    part = {"type": "text", "text": "My dog."}
    added = memory.add(
        [{"role": "user", "content": picture}, {"role": "user", "content": part}], user_id="anna"
    )
    assert [row["memory"] for row in added["results"]] == ["My cat.", "My dog."]
    with pytest.raises(ValueError, match="10,000"):
        memory.add([{"content": "Fine."}, {"content": "Not.", "name": "x" * 10_001}], user_id="bob")
    assert memory.get_all(filters={"user_id": "bob"})["results"] == []


def test_search_finds_in_its_scope_alone(memory: Memory) -> None:
    memory.add("Anna drinks green tea.", user_id="anna")
    memory.add("Bob drinks green tea.", user_id="bob")
    found = memory.search("who drinks tea?", filters=ANNA)
    assert texts(found) == ["Anna drinks green tea."]
    assert found["results"][0]["score"] > 0.1
    assert "score_details" in memory.search("tea", filters=ANNA, explain=True)["results"][0]
    assert texts(memory.search("zebra", filters=ANNA)) == []
    assert texts(memory.search("zebra", filters=ANNA, threshold=0)) == ["Anna drinks green tea."]


def test_an_update_keeps_the_id_and_leaves_a_history(memory: Memory) -> None:
    (added,) = memory.add("Anna drinks tea.", user_id="anna", metadata={"a": 1})["results"]
    created = memory.get(added["id"])
    memory.update(added["id"], "Anna drinks coffee.")
    row = memory.get(added["id"])
    assert row is not None
    assert created is not None
    assert (row["memory"], row["metadata"], row["user_id"]) == ("Anna drinks coffee.", {"a": 1}, "anna")
    assert row["created_at"] == created["created_at"] <= row["updated_at"]
    memory.update(added["id"], metadata={"b": 2})
    assert (memory.get(added["id"]) or {})["metadata"] == {"b": 2}
    assert [
        (each["old_memory"], each["new_memory"], each["event"]) for each in memory.history(added["id"])
    ] == [
        (None, "Anna drinks tea.", "ADD"),
        ("Anna drinks tea.", "Anna drinks coffee.", "UPDATE"),
    ]
    assert texts(memory.get_all(filters=ANNA)) == ["Anna drinks coffee."]


def test_delete_and_delete_all_and_reset(memory: Memory) -> None:
    (first,) = memory.add("Anna drinks tea.", user_id="anna")["results"]
    memory.add("Anna sings.", user_id="anna")
    memory.add("Bob sings.", user_id="bob")
    assert memory.delete(first["id"])["message"] == "Memory deleted successfully!"
    assert memory.get(first["id"]) is None
    with pytest.raises(ValueError, match="not found"):
        memory.delete(first["id"])
    memory.delete_all(user_id="anna")
    assert texts(memory.get_all(filters=ANNA)) == []
    assert texts(memory.get_all(filters={"user_id": "bob"})) == ["Bob sings."]
    memory.reset()
    assert texts(memory.get_all(filters={"user_id": "*"})) == []


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"user_id": "anna", "n": 2}, {"two"}),
        ({"user_id": "anna", "n": {"gte": 2}}, {"two", "three"}),
        ({"user_id": "anna", "n": {"gt": 1, "lt": 3}}, {"two"}),
        ({"user_id": "anna", "n": {"ne": 2}}, {"one", "three"}),
        ({"user_id": "anna", "n": {"in": [1, 3]}}, {"one", "three"}),
        ({"user_id": "anna", "n": {"nin": [1, 3]}}, {"two"}),
        ({"user_id": "anna", "word": {"icontains": "HRE"}}, {"three"}),
        ({"user_id": "anna", "word": "*"}, {"one", "two", "three"}),
        ({"user_id": ["anna", "bob"]}, {"one", "two", "three"}),
        ({"AND": [{"user_id": "anna"}, {"OR": [{"n": 1}, {"n": 2}]}]}, {"one", "two"}),
        ({"user_id": "anna", "NOT": [{"n": 1}, {"n": 2}]}, {"three"}),
    ],
)
def test_filters(memory: Memory, filters: dict[str, Any], expected: set[str]) -> None:
    for number, word in enumerate(("one", "two", "three"), 1):
        memory.add(word, user_id="anna", metadata={"n": number, "word": word})
    assert set(texts(memory.get_all(filters=filters))) == expected


def test_times(memory: Memory) -> None:
    day = datetime(2026, 5, 7, tzinfo=UTC)
    memory.add("Old.", user_id="anna", timestamp=day.timestamp())
    memory.add("Gone.", user_id="anna", expiration_date=(datetime.now(UTC) - timedelta(days=2)).date())
    memory.add("Cello.", user_id="anna", expiration_date="2999-01-01")
    rows = {row["memory"]: row for row in memory.get_all(filters=ANNA)["results"]}
    assert rows["Old."]["created_at"] == day.isoformat()
    assert texts(memory.search("Gone", filters=ANNA)) == []
    assert texts(memory.search("cello", filters=ANNA)) == ["Cello."]
    assert rows.keys() == {"Old.", "Cello."}
    assert len(memory.get_all(filters=ANNA, show_expired=True)["results"]) == 3


def test_mistakes_are_those_of_mem0(memory: Memory) -> None:
    with pytest.raises(ValueError, match="At least one of"):
        memory.add("Tea.")
    with pytest.raises(ValueError, match="at least one of"):
        memory.search("tea", filters={"topic": "drinks"})
    with pytest.raises(ValueError, match="in filters"):
        memory.search("tea", user_id="anna")
    with pytest.raises(TypeError, match="limit"):
        memory.get_all(filters=ANNA, limit=3)
    with pytest.raises(ValueError, match="unknown operator"):
        memory.get_all(filters={"user_id": "anna", "n": {"near": 3}})
    with pytest.raises(ValueError, match="messages must be"):
        memory.add(7, user_id="anna")  # type: ignore[arg-type]


def test_awaited(memory: Memory) -> None:
    async def main() -> dict[str, Any]:
        awaited = AsyncMemory(engine=memory.engine)
        await awaited.add("Anna drinks tea.", user_id="anna")
        found: dict[str, Any] = await awaited.search("tea", filters=ANNA)
        return found

    assert texts(asyncio.run(main())) == ["Anna drinks tea."]


def test_a_file_of_its_own_is_written_in_one_process_and_read_in_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORATA_EMBEDDER", "lexical")
    for _ in range(2):
        memory = Memory.from_config({"path": tmp_path / "m.db", "llm": {"provider": "openai"}})
        memory.add("Anna drinks tea.", user_id="anna")
        memory.close()
    again = Memory({"path": tmp_path / "m.db"})
    assert texts(again.get_all(filters=ANNA)) == ["Anna drinks tea.", "Anna drinks tea."]
    again.close()
