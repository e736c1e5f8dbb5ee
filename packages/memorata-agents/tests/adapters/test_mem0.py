"""What the drop-in for mem0 does beside, and other than, mem0; test_mem0_behaviour.py has what both do."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import memorata
from memorata_agents.mem0 import AsyncMemory, Memory

ANNA = {"user_id": "anna"}


@pytest.fixture
def memory() -> Iterator[Memory]:
    with memorata.open(":memory:", embedder="lexical") as engine:
        yield Memory(engine=engine)


def texts(found: dict[str, Any]) -> list[str]:
    return [row["memory"] for row in found["results"]]


def test_messages_of_parts_and_all_or_none(memory: Memory, caplog: pytest.LogCaptureFixture) -> None:
    picture = [{"type": "text", "text": "My cat."}, {"type": "image_url", "image_url": {"url": "cat.png"}}]
    part = {"type": "text", "text": "My dog."}
    added = memory.add(
        [{"role": "user", "content": picture}, {"role": "user", "content": part}], user_id="anna"
    )
    assert [row["memory"] for row in added["results"]] == ["My cat.", "My dog."]
    assert "messages[0]: image_url is not remembered" in caplog.text
    with pytest.raises(ValueError, match="10,000"):
        memory.add([{"content": "Fine."}, {"content": "Not.", "name": "x" * 10_001}], user_id="bob")
    assert memory.get_all(filters={"user_id": "bob"})["results"] == []


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ({"type": "image_url", "image_url": {"url": "cat.png"}}, "image_url"),
        ([{"type": "image_url", "image_url": {"url": "cat.png"}}], "image_url"),
        ([{"type": "input_audio"}, {"type": "text", "text": " "}], "input_audio"),
        (7, "int"),
    ],
)
def test_what_is_no_text_is_refused_with_the_reason(memory: Memory, content: Any, kind: str) -> None:
    said = [{"role": "user", "content": "Fine."}, {"role": "user", "content": content}]
    with pytest.raises(ValueError, match=rf"messages\[1\] holds {kind} and no text"):
        memory.add(said, user_id="anna")
    assert memory.get_all(filters=ANNA)["results"] == []


def test_a_search_is_ungated_unless_asked(memory: Memory) -> None:
    memory.add("Anna drinks green tea.", user_id="anna")
    memory.add("Bob drinks green tea.", user_id="bob")
    assert texts(memory.search("zebra", filters=ANNA)) == ["Anna drinks green tea."]
    assert texts(memory.search("zebra", filters=ANNA, threshold=0)) == ["Anna drinks green tea."]
    assert texts(memory.search("zebra", filters=ANNA, threshold=0.5)) == []
    assert texts(memory.search("what does Anna drink?", filters=ANNA, threshold=0.5)) == [
        "Anna drinks green tea."
    ]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"user_id": "anna", "word": {"icontains": "HRE"}}, {"three"}),
        ({"user_id": "anna", "word": "*"}, {"one", "two", "three"}),
        ({"user_id": ["anna", "bob"]}, {"one", "two", "three"}),
        ({"AND": [{"user_id": "anna"}, {"OR": [{"n": 1}, {"n": 2}]}]}, {"one", "two"}),
        ({"user_id": {"in": ["anna", 7]}}, {"one", "two", "three"}),
        ({"OR": [{"user_id": "bob"}, {"AND": {"user_id": "anna", "n": 1}}]}, {"one"}),
        ({"user_id": "anna", "NOT": {"n": 1}}, {"two", "three"}),
        ({"user_id": "anna", "NOT": {"n": 1, "word": "two"}}, {"one", "two", "three"}),
        ({"user_id": "anna", "metadata": {"word": "two", "n": {"gt": 1}}}, {"two"}),
        ({"user_id": "anna", "NOT": {"metadata": {"word": "two"}}}, {"one", "three"}),
        ({"user_id": "anna", "metadata": {"user_id": "anna"}}, set()),
        ({"user_id": "anna", "created_at": {"gte": "2020-01-01"}}, {"one", "two", "three"}),
        ({"user_id": "anna", "updated_at": {"lt": "2020-01-01T00:00:00Z"}}, set()),
    ],
)
def test_filters(memory: Memory, filters: dict[str, Any], expected: set[str]) -> None:
    for number, word in enumerate(("one", "two", "three"), 1):
        memory.add(word, user_id="anna", metadata={"n": number, "word": word})
    assert set(texts(memory.get_all(filters=filters))) == expected


def test_times(memory: Memory) -> None:
    day = datetime(2026, 5, 7, tzinfo=UTC)
    (old,) = memory.add("Old.", user_id="anna", timestamp=day.timestamp())["results"]
    memory.add("New.", user_id="anna", timestamp="2026-05-08T02:00:00+02:00")
    memory.update(old["id"], "Old tea.")
    rows = {row["memory"]: row for row in memory.get_all(filters=ANNA)["results"]}
    assert rows["Old tea."]["created_at"] == day.isoformat()
    before = {"user_id": "anna", "created_at": {"lt": "2026-05-08"}}
    assert texts(memory.get_all(filters=before)) == ["Old tea."]
    changed = {"user_id": "anna", "updated_at": {"gte": rows["Old tea."]["updated_at"]}}
    assert texts(memory.get_all(filters=changed)) == ["Old tea."]
    for moment in (1e300, float("nan"), "yesterday"):
        with pytest.raises(ValueError, match=r"time|isoformat|NaN"):
            memory.add("Tea.", user_id="anna", timestamp=moment)


def test_mistakes_are_those_of_mem0(memory: Memory) -> None:
    with pytest.raises(ValueError, match="At least one of"):
        memory.add("Tea.")
    with pytest.raises(ValueError, match="Invalid user_id"):
        memory.search("tea", filters={"user_id": None, "agent_id": "bot"})
    for owner in ("", "  ", "an na", ["anna"], {"a": 1}, True, b"anna", 1.5):
        with pytest.raises(ValueError, match="Invalid user_id"):
            memory.add("Tea.", user_id=owner)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="limit"):
        memory.get_all(filters=ANNA, limit=3)
    for threshold in ("0.5", [0.5], float("nan")):
        with pytest.raises(ValueError, match=r"Invalid threshold.*between 0 and 1"):
            memory.search("tea", filters=ANNA, threshold=threshold)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="messages must be"):
        memory.add(7, user_id="anna")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="metadata must be"):
        memory.add("Tea.", user_id="anna", metadata="x")  # type: ignore[arg-type]
    for filters in ("anna", {"AND": "user_id"}, {"user_id": "anna", "NOT": [7]}):
        with pytest.raises(ValueError, match="filter"):
            memory.get_all(filters=filters)  # type: ignore[arg-type]


def test_what_other_verbs_wrote_into_the_namespace_is_read_and_updated(memory: Memory) -> None:
    memory.engine.put(
        "tea", "Anna drinks tea.", namespace="mem0", metadata={"user_id": "anna", "metadata": "x"}
    )
    memory.update("tea", metadata={"n": 1})
    row = memory.get("tea")
    assert row is not None
    assert (row["memory"], row["metadata"], row["user_id"]) == ("Anna drinks tea.", {"n": 1}, "anna")


def test_a_batch_with_one_bad_change_changes_nothing(memory: Memory) -> None:
    ids = [memory.add(text, user_id="anna")["results"][0]["id"] for text in ("One.", "Two.")]
    with pytest.raises(ValueError, match="expiration_date"):
        memory.update_many(
            [{"memory_id": ids[0], "text": "Three."}, {"memory_id": ids[1], "expiration_date": "soon"}]
        )
    assert sorted(texts(memory.get_all(filters=ANNA))) == ["One.", "Two."]


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
