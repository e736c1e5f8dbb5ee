"""What mem0 returns: the text, its times and owners, and nothing of it lost."""

import json
from typing import Any

import pytest

from memorata.extend.transfer import Record
from memorata_agents.importers.memory_stores import mem0 as records

FULL = {
    "id": "8f1",
    "memory": "Likes green tea",
    "hash": "abc",
    "metadata": {"room": 3},
    "created_at": "2026-05-07T10:00:00-07:00",
    "updated_at": None,
    "user_id": "anna",
    "run_id": "breakfast",
    "actor_id": "Anna",
    "categories": ["drinks"],
    "expiration_date": "2027-01-01",
    "score": 0.3,
}


def found(value: Any) -> list[Record]:
    return list(records(json.dumps(value).encode()).records)


def test_a_memory_brings_everything_along() -> None:
    [record] = found([FULL])
    id_ = record.fields.pop("id")
    assert record.fields == {
        "content": "Likes green tea",
        "metadata": {
            "room": 3,
            "mem0": {
                "id": "8f1", "hash": "abc", "user_id": "anna", "run_id": "breakfast", "actor_id": "Anna",
            },
        },
        "tags": ["drinks"],
        "source": {"speaker": "Anna", "session": "breakfast"},
        "created_at": "2026-05-07T10:00:00-07:00",
        "expires_at": "2027-01-01T23:59:59.999999+00:00",
    }  # fmt: skip
    assert found({"results": [{**FULL, "memory": "Likes tea"}]})[0].fields["id"] == id_
    assert found([{**FULL, "id": "other"}])[0].fields["id"] != id_


def test_little_is_enough() -> None:
    first, again, other = found([{"memory": "tea"}, {"memory": "tea"}, {"memory": "tea", "user_id": "bob"}])
    assert (first.fields["content"], first.fields["metadata"]) == ("tea", {})
    assert first.fields["id"] == again.fields["id"] != other.fields["id"]


@pytest.mark.parametrize("keys", [("relationship", "target"), ("relation", "destination")])
def test_relations_of_the_graph_are_relations(keys: tuple[str, str]) -> None:
    [record] = found({"results": [], "relations": [{"source": "anna", keys[0]: "likes", keys[1]: "tea"}]})
    assert record.fields == {"kind": "relation", "source": "anna", "type": "likes", "target": "tea"}


def test_what_cannot_be_read_is_reported_and_the_rest_goes_on() -> None:
    value = {
        "results": [
            {"memory": 1},
            "text",
            {"memory": " "},
            {"memory": "a", "metadata": "x"},
            {"memory": "b", "created_at": "yesterday"},
            {"memory": "c", "created_at": 5},
            {"memory": "fine", "created_at": "2026-05-07T10:00:00"},
        ],
        "relations": [{"source": "anna"}, 3],
    }
    said = [(record.place, record.problem or record.skipped) for record in found(value)]
    assert said == [
        ("memory 1", "no memory: an object whose memory is a text"),
        ("memory 2", "no memory: an object whose memory is a text"),
        ("memory 3", "an empty memory"),
        ("memory 4", "its metadata is no object"),
        ("memory 5", "its created_at is no time: 'yesterday'"),
        ("memory 6", "its created_at is no time: 5"),
        ("memory 7", ""),
        ("relation 1", "a relation without source, relationship and target"),
        ("relation 2", "a relation without source, relationship and target"),
    ]
    assert found(value)[6].fields["created_at"] == "2026-05-07T10:00:00+00:00"


@pytest.mark.parametrize("value", [3, {"memories": 3}, {"results": [], "relations": 3}])
def test_another_file_is_refused(value: Any) -> None:
    [record] = found(value)
    assert record.problem == "neither a list of memories nor an object with results"


@pytest.mark.parametrize(
    ("given", "tags"), [("drinks", ["drinks"]), (["a", 1, "b"], ["a", "b"]), (True, None)]
)
def test_categories_are_a_list_or_one(given: Any, tags: list[str] | None) -> None:
    assert found([FULL | {"categories": given}])[0].fields.get("tags") == tags


def test_an_example_of_records() -> None:
    file = b'{"results": [{"id": "1", "memory": "Likes tea", "created_at": "2026-05-07T10:00:00-07:00"}]}'
    assert [record.fields["content"] for record in records(file).records] == ["Likes tea"]
