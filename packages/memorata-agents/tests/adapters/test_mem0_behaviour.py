"""What mem0 documents, asked of mem0 itself and of the drop-in: both must give the same.

mem0 runs where `make test-adapters` installs it: with `infer=False`, an embedder in the process that hashes
words, and a folder for its vectors. No language model is called.
"""

import asyncio
import hashlib
import importlib.util
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import memorata
from memorata_agents.mem0 import AsyncMemory, Memory

os.environ |= {"MEM0_TELEMETRY": "false", "MEM0_DIR": tempfile.mkdtemp()}
ANNA = {"user_id": "anna"}
BOB = {"user_id": "bob"}
DIMENSION = 256


class WordEmbedder:
    """An embedder of mem0's: texts with the same words have the same vector."""

    config = type("Config", (), {"embedding_dims": DIMENSION})()

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        vector = [0.001] * DIMENSION
        for word in re.findall(r"\w+", text.lower()):
            vector[int(hashlib.sha256(word.encode()).hexdigest(), 16) % DIMENSION] += 1.0
        return vector

    def embed_batch(self, texts: list[str], memory_action: str = "add") -> list[list[float]]:
        return [self.embed(text) for text in texts]


KINDS = ("drop-in", "mem0") if importlib.util.find_spec("mem0") else ("drop-in",)


@pytest.fixture(params=KINDS)
def memory(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """An empty memory of each kind."""
    if request.param == "drop-in":
        with memorata.open(":memory:", embedder="lexical") as engine:
            yield Memory(engine=engine)
        return
    import mem0
    from mem0.utils.factory import EmbedderFactory

    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setattr(EmbedderFactory, "create", lambda *details: WordEmbedder())
    place = {"path": str(tmp_path / "vectors"), "embedding_model_dims": DIMENSION}
    with mem0.Memory.from_config(
        {
            "vector_store": {"provider": "qdrant", "config": place},
            "history_db_path": str(tmp_path / "history.db"),
        }
    ) as other:
        yield other


def add(memory: Any, messages: Any, **details: Any) -> list[str]:
    """Add messages, and return the ids."""
    return [row["id"] for row in memory.add(messages, infer=False, **details)["results"]]


def texts(result: dict[str, Any]) -> set[str]:
    return {row["memory"] for row in result["results"]}


def test_a_message_is_a_memory_with_role_name_and_metadata(memory: Any) -> None:
    said = [
        {"role": "system", "content": "You are helpful."},
        {"role": "user", "content": "I drink green tea.", "name": "Anna"},
        {"role": "assistant", "content": "Noted."},
        {"role": "assistant", "content": None, "tool_calls": []},
    ]
    rows = memory.add(said, user_id="anna", run_id="r1", metadata={"topic": "drinks"}, infer=False)["results"]
    assert [(row["memory"], row["event"], row["role"], row["actor_id"]) for row in rows] == [
        ("I drink green tea.", "ADD", "user", "Anna"),
        ("Noted.", "ADD", "assistant", None),
    ]
    first, second = (memory.get(row["id"]) for row in rows)
    assert (
        first["created_at"] == first["updated_at"] == datetime.fromisoformat(first["created_at"]).isoformat()
    )
    expected = {"user_id": "anna", "run_id": "r1", "metadata": {"topic": "drinks"}}
    assert {
        **first,
        **expected,
        "id": rows[0]["id"],
        "memory": "I drink green tea.",
        "actor_id": "Anna",
    } == first
    assert {**second, **expected, "role": "assistant"} == second
    assert "actor_id" not in second
    assert first["hash"] != second["hash"]


def test_texts_messages_and_lists_of_either_are_taken(memory: Any) -> None:
    add(memory, "One.", user_id="anna")
    add(memory, {"role": "user", "content": "Two."}, user_id="anna")
    add(memory, [{"role": "user", "content": [{"type": "text", "text": "Three."}]}], user_id="anna")
    assert add(memory, [], user_id="anna") == []
    assert texts(memory.get_all(filters=ANNA)) == {"One.", "Two.", "Three."}


@pytest.mark.parametrize("given", [42, 0, "  42 ", "42"])
def test_an_id_is_a_text_without_the_white_space_around_it(memory: Any, given: Any) -> None:
    expected = str(given).strip()
    add(memory, "Tea.", user_id=given)
    (row,) = memory.get_all(filters={"user_id": given})["results"]
    assert row["user_id"] == expected
    assert texts(memory.search("tea", filters={"user_id": expected})) == {"Tea."}
    memory.delete_all(user_id=given)
    assert texts(memory.get_all(filters={"user_id": expected})) == set()


@pytest.mark.parametrize(("given", "problem"), [("   ", "empty"), ("", "empty"), ("an na", "whitespace")])
@pytest.mark.parametrize("scope", ["user_id", "agent_id", "run_id"])
def test_a_blank_id_is_refused(memory: Any, scope: str, given: str, problem: str) -> None:
    calls: list[Callable[[], Any]] = [
        lambda: memory.add("Tea.", infer=False, **{scope: given}),
        lambda: memory.search("tea", filters={scope: given}),
        lambda: memory.get_all(filters={scope: given}),
        lambda: memory.delete_all(**{scope: given}),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=f"Invalid {scope}.*{problem}"):
            call()


def test_metadata_names_no_owner(memory: Any) -> None:
    forged = {"user_id": "victim", "agent_id": "other", "run_id": "r", "actor_id": "boss", "topic": "drinks"}
    (id_,) = add(memory, "The secret is tea.", agent_id="bot", metadata=forged)
    row = memory.get(id_)
    assert (row["agent_id"], row["metadata"]) == ("bot", {"topic": "drinks"})
    assert not row.keys() & {"user_id", "run_id", "actor_id"}
    memory.update(id_, metadata={"agent_id": "victim", "user_id": "victim", "actor_id": "boss", "n": 1})
    row = memory.get(id_)
    assert (row["agent_id"], row["metadata"]) == ("bot", {"topic": "drinks", "n": 1})
    assert not row.keys() & {"user_id", "actor_id"}
    for scope in ({"user_id": "victim"}, {"agent_id": "victim"}, {"agent_id": "other"}, {"run_id": "r"}):
        assert texts(memory.search("secret", filters=scope)) == set()
        assert texts(memory.get_all(filters=scope)) == set()
    assert forged["user_id"] == "victim"


def test_no_metadata_changes_what_mem0_keeps_of_a_memory(memory: Any) -> None:
    (id_,) = add(memory, "Tea.", user_id="anna", metadata={"role": "system", "tags": ["a", {"b": None}]})
    row = memory.get(id_)
    assert (row["memory"], row["role"], row["metadata"]["tags"]) == ("Tea.", "user", ["a", {"b": None}])


def test_a_search_returns_all_however_unlike_best_first(memory: Any) -> None:
    for text in ("Anna drinks green tea.", "Anna plays the cello.", "Anna lives in Porto."):
        add(memory, text, user_id="anna")
    add(memory, "Bob drinks green tea.", user_id="bob")
    rows = memory.search("who drinks green tea", filters=ANNA, threshold=0.0)["results"]
    assert len(rows) == 3
    assert rows[0]["memory"] == "Anna drinks green tea."
    assert all(0 <= row["score"] <= 1 for row in rows)
    assert texts(memory.search("who drinks green tea", filters=ANNA, top_k=1)) == {"Anna drinks green tea."}
    assert texts(memory.search("who drinks green tea", filters=ANNA, top_k=0)) == set()
    row = memory.search("  green tea ", filters=ANNA, explain=True, threshold=0.0)["results"][0]
    assert row["score_details"]["final_score"] == row["score"]


def test_a_threshold_is_the_least_score(memory: Any) -> None:
    for text in ("Anna drinks green tea.", "Anna plays the cello.", "The train leaves at nine."):
        add(memory, text, user_id="anna")
    every = memory.search("Anna drinks green tea", filters=ANNA, threshold=0.0)["results"]
    for threshold in (0.3, 0.5, 1.0):
        some = memory.search("Anna drinks green tea", filters=ANNA, threshold=threshold)["results"]
        assert [row["memory"] for row in some] == [
            row["memory"] for row in every if row["score"] >= threshold
        ]
    assert 0 < len(memory.search("Anna drinks green tea", filters=ANNA, threshold=0.5)["results"]) < 3


@pytest.mark.parametrize(
    ("query", "options", "problem"),
    [
        ("", {}, "Invalid query"),
        ("\n\t ", {}, "Invalid query"),
        (None, {}, "Invalid query"),
        ("tea", {"threshold": 1.5}, "Invalid threshold"),
        ("tea", {"threshold": -0.5}, "Invalid threshold"),
        ("tea", {"top_k": -5}, "Invalid top_k"),
        ("tea", {"top_k": "5"}, "top_k"),
        ("tea", {"top_k": True}, "top_k"),
        ("tea", {"user_id": "anna"}, "user_id.*filters"),
    ],
)
def test_arguments_of_a_search_are_checked(
    memory: Any, query: Any, options: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ValueError, match=problem):
        memory.search(query, **{"filters": ANNA, **options})


def test_arguments_of_a_listing_are_checked(memory: Any) -> None:
    for filters in ({}, None, {"topic": "x"}):
        with pytest.raises(ValueError, match="must contain at least one of"):
            memory.get_all(filters=filters)
    with pytest.raises(ValueError, match="Invalid top_k"):
        memory.get_all(filters=ANNA, top_k=-1)
    with pytest.raises(ValueError, match=r"user_id.*filters"):
        memory.get_all(user_id="anna")
    with pytest.raises(ValueError, match="At least one"):
        memory.delete_all()
    assert memory.get_all(filters=ANNA, top_k=0)["results"] == []


def test_a_listing_stops_at_top_k(memory: Any) -> None:
    for number in range(5):
        add(memory, f"Memory {number}.", user_id="anna")
    assert len(memory.get_all(filters=ANNA, top_k=3)["results"]) == 3
    assert len(memory.get_all(filters=ANNA)["results"]) == 5


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"n": 2}, {"two"}),
        ({"n": {"eq": 2}}, {"two"}),
        ({"n": {"gte": 2}}, {"two", "three"}),
        ({"n": {"gt": 1, "lt": 3}}, {"two"}),
        ({"n": {"ne": 2}}, {"one", "three"}),
        ({"n": {"in": [1, 3]}}, {"one", "three"}),
        ({"n": {"nin": [1, 3]}}, {"two"}),
        ({"AND": [{"n": {"gt": 1}}, {"n": {"lt": 3}}]}, {"two"}),
        ({"OR": [{"n": 1}, {"n": 2}]}, {"one", "two"}),
        ({"NOT": [{"n": 1}]}, {"two", "three"}),
        ({"NOT": [{"n": 1}, {"n": 2}]}, {"three"}),
        ({"word": "three", "n": {"lte": 3}}, {"three"}),
        ({"role": "user"}, {"one", "two", "three"}),
        ({"role": "assistant"}, set()),
    ],
)
def test_filters_of_a_search(memory: Any, filters: dict[str, Any], expected: set[str]) -> None:
    for number, word in enumerate(("one", "two", "three"), 1):
        add(memory, word, user_id="anna", metadata={"n": number, "word": word})
        add(memory, word, user_id="bob", metadata={"n": number, "word": word})
    found = memory.search("one two three", filters={**ANNA, **filters}, threshold=0.0)
    assert texts(found) == expected
    assert {row["user_id"] for row in found["results"]} <= {"anna"}


@pytest.mark.parametrize(
    "filters", [{"n": {"near": 3}}, {"NOT": []}, {"OR": []}, {"NOT": "n"}, {"OR": 3}, {"AND": 3}]
)
def test_filters_that_mean_nothing_are_refused(memory: Any, filters: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"operator|filter"):
        memory.search("tea", filters={**ANNA, **filters})


def test_ids_are_joined_and_exact(memory: Any) -> None:
    add(memory, "Both.", user_id="anna", agent_id="bot")
    add(memory, "Hers.", user_id="anna")
    assert texts(memory.get_all(filters=ANNA)) == {"Both.", "Hers."}
    assert texts(memory.get_all(filters={"user_id": "anna", "agent_id": "bot"})) == {"Both."}
    assert texts(memory.get_all(filters={"agent_id": "bot"})) == {"Both."}
    assert texts(memory.get_all(filters={"user_id": "ann"})) == set()
    assert texts(memory.get_all(filters={"user_id": "Anna"})) == set()


def test_what_has_expired_is_shown_on_demand(memory: Any) -> None:
    today = datetime.now(UTC).date()
    (gone,) = add(memory, "Old tea.", user_id="anna", expiration_date="2020-01-01")
    add(memory, "Fresh tea.", user_id="anna", expiration_date=today)
    for result in (memory.get_all(filters=ANNA), memory.search("tea", filters=ANNA, threshold=0.0)):
        (row,) = result["results"]
        assert (row["memory"], row["expiration_date"]) == ("Fresh tea.", today.isoformat())
    assert texts(memory.get_all(filters=ANNA, show_expired=True)) == {"Old tea.", "Fresh tea."}
    assert texts(memory.search("tea", filters=ANNA, threshold=0.0, show_expired=True)) == {
        "Old tea.",
        "Fresh tea.",
    }
    assert memory.get(gone)["expiration_date"] == "2020-01-01"
    memory.update(gone, expiration_date="2999-01-01")
    assert texts(memory.get_all(filters=ANNA)) == {"Old tea.", "Fresh tea."}
    memory.update(gone, expiration_date="2020-01-01")
    memory.update(gone, expiration_date=None)
    assert texts(memory.get_all(filters=ANNA)) == {"Old tea.", "Fresh tea."}
    for wrong in ("tomorrow", "2020-13-01", 7):
        with pytest.raises(ValueError, match="expiration_date"):
            memory.add("Tea.", user_id="anna", expiration_date=wrong, infer=False)


def test_an_update_keeps_id_owner_and_creation(memory: Any) -> None:
    (id_,) = add(memory, "Anna drinks tea.", user_id="anna", metadata={"a": 1, "b": 1})
    before = memory.get(id_)
    assert memory.update(id_, "Anna drinks coffee.") == {"message": "Memory updated successfully!"}
    after = memory.get(id_)
    assert (after["memory"], after["metadata"], after["user_id"]) == (
        "Anna drinks coffee.",
        {"a": 1, "b": 1},
        "anna",
    )
    assert after["hash"] != before["hash"]
    assert after["created_at"] == before["created_at"]
    assert after["updated_at"] > before["updated_at"]
    memory.update(id_, metadata={"b": 2, "c": 3})
    last = memory.get(id_)
    assert (last["memory"], last["metadata"]) == ("Anna drinks coffee.", {"a": 1, "b": 2, "c": 3})
    assert last["updated_at"] > after["updated_at"]
    assert texts(memory.search("coffee", filters=ANNA, threshold=0.0)) == {"Anna drinks coffee."}
    (listed,) = memory.get_all(filters=ANNA)["results"]
    assert (listed["created_at"], listed["updated_at"]) == (last["created_at"], last["updated_at"])


def test_the_older_name_of_the_text_is_taken_and_told(memory: Any, caplog: pytest.LogCaptureFixture) -> None:
    (id_,) = add(memory, "One.", user_id="anna")
    memory.update(id_, data="Two.")
    assert memory.get(id_)["memory"] == "Two."
    assert "deprecated" in caplog.text
    memory.update(id_, text="Three.", data="Four.")
    assert memory.get(id_)["memory"] == "Three."


def test_updates_and_deletions_of_what_is_not_there_are_refused(memory: Any) -> None:
    missing = "00000000-0000-4000-8000-000000000000"
    (id_,) = add(memory, "One.", user_id="anna")
    with pytest.raises(ValueError, match="At least one of"):
        memory.update(id_)
    for call in (memory.delete, lambda name: memory.update(name, "Two.")):
        with pytest.raises(ValueError, match=f"Memory with id {missing} not found"):
            call(missing)
    assert memory.get(missing) is None
    assert memory.history(missing) == []


def test_the_history_has_every_text_and_the_end(memory: Any) -> None:
    said = {"role": "user", "content": "One.", "name": "Anna"}
    (id_,) = add(memory, [said], user_id="anna")
    memory.update(id_, "Two.")
    assert memory.delete(id_) == {"message": "Memory deleted successfully!"}
    assert memory.get(id_) is None
    events = memory.history(id_)
    assert [(event["event"], event["old_memory"], event["new_memory"]) for event in events] == [
        ("ADD", None, "One."),
        ("UPDATE", "One.", "Two."),
        ("DELETE", "Two.", None),
    ]
    assert [event["is_deleted"] for event in events] == [False, False, True]
    assert {event["memory_id"] for event in events} == {id_}
    assert {event["actor_id"] for event in events} == {"Anna"}
    assert {event["role"] for event in events} == {"user"}
    assert len({event["id"] for event in events}) == 3
    assert len({event["created_at"] for event in events}) == 1


def test_delete_all_keeps_to_its_scope(memory: Any) -> None:
    for number in range(3):
        add(memory, f"Anna {number}.", user_id="anna")
    add(memory, "Bob.", user_id="bob")
    assert memory.delete_all(user_id="anna") == {"message": "Memories deleted successfully!"}
    assert texts(memory.get_all(filters=ANNA)) == set()
    assert texts(memory.get_all(filters=BOB)) == {"Bob."}
    memory.delete_all(user_id="anna")


def test_a_reset_empties_also_what_is_empty(memory: Any) -> None:
    memory.reset()
    (id_,) = add(memory, "One.", user_id="anna")
    memory.reset()
    assert texts(memory.get_all(filters=ANNA, show_expired=True)) == set()
    assert memory.history(id_) == []
    memory.reset()
    add(memory, "Two.", user_id="anna")
    assert texts(memory.get_all(filters=ANNA)) == {"Two."}


def test_the_callers_metadata_is_not_changed(memory: Any) -> None:
    given = {"tags": ["a"], "nested": {"b": 1}}
    (id_,) = add(memory, "One.", user_id="anna", metadata=given)
    memory.update(id_, metadata=given)
    assert given == {"tags": ["a"], "nested": {"b": 1}}
    assert memory.get(id_)["metadata"] == given


def test_a_configuration_of_mem0s_opens_the_drop_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = pytest.importorskip("mem0.configs.base", reason="make test-adapters installs it")
    monkeypatch.setenv("MEMORATA_EMBEDDER", "lexical")
    monkeypatch.setenv("MEMORATA_DB", str(tmp_path / "m.db"))
    with Memory(base.MemoryConfig()) as memory:
        add(memory, "One.", user_id="anna")

    async def main() -> dict[str, Any]:
        async with AsyncMemory(base.MemoryConfig()) as awaited:
            listed: dict[str, Any] = await awaited.get_all(filters=ANNA)
            return listed

    assert texts(asyncio.run(main())) == {"One."}
